"""Profiler output as one run: open, inspect, convert."""

from __future__ import annotations

import _thread
import contextlib
import ctypes as C
import os
import stat
import sys
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, NoReturn, Optional, Sequence, TypeVar, Union

from . import _errors, _native
from ._native import Path, Progress
from ._results import Diff, Hotspots, Metrics, Report
from ._table import Table

Paths = Union[Path, Sequence[Path]]
T = TypeVar("T")

NORMALS = ("per_kernel", "per_wave", "per_cycle", "per_second")


@dataclass(frozen=True)
class RunFile:
    """An input file: its reader, or why it is not used."""

    path: str
    format: str
    used: bool
    reason: str


@dataclass(frozen=True)
class RunWarning:
    """Something unexpected in the input, and how often."""

    kind: str
    file: str
    line: int
    count: int
    message: str


def _as_list(paths: Paths) -> List[Path]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        return [paths]
    return list(paths)


class Run:
    """Files and directories as one run. Created by rockit.open().

    Any thread may use it; calls wait for each other. A context manager: leaving it closes the run.
    """

    def __init__(self, paths: Paths, options: Dict[str, Any], progress: Optional[Progress]) -> None:
        self._handle: Optional[int] = None
        self._paths = [_native.bytes_of(p) or b"" for p in _as_list(paths)]
        self._options, self._process = options, os.getpid()
        self._lock, self._owner = threading.Lock(), 0
        self._watch = _native.Watch(progress)
        self.name = os.fsdecode(self._paths[0]) if self._paths else ""
        try:
            self._handle = _native.interruptible(lambda: self._opened(self._watch), self._watch.call)
        except BaseException:
            self._watch.forget()
            raise

    def _opened(self, watch: Optional[_native.Watch]) -> int:
        options = _native.RkRunOptions(**self._options)
        if watch:
            options.progress, options.progress_arg = _native.ask, watch.number
        handle, err = C.c_void_p(), _native.RkError()
        paths = (C.c_char_p * (len(self._paths) + 1))(*self._paths, None)
        rc = _native.lib().rk_run_open(
            paths, len(self._paths), C.byref(options), C.byref(handle), C.byref(err)
        )
        _native.check(rc, err, watch)
        return handle.value or 0

    def _again(self, watch: Optional[_native.Watch] = None) -> int:
        """The same files under a new handle that shares nothing with this one."""
        with self._using():
            pass
        for path in self._paths:
            with contextlib.suppress(OSError):
                mode = os.stat(path).st_mode
                if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    raise _errors.UsageError(
                        f"'{os.fsdecode(path)}' can be read only once: use to_arrow(), to_pandas() or to_dict()",
                        code="usage",
                    )
        return self._opened(watch)

    @contextlib.contextmanager
    def _holding(self) -> Iterator[None]:
        """One call at a time. A call from inside another (a progress callback) would deadlock."""
        if threading.get_ident() in (self._owner, self._watch.thread):
            raise _errors.UsageError(f"the run '{self.name}' is in the middle of a call", code="usage")
        with self._lock:
            self._owner = threading.get_ident()
            try:
                yield
            finally:
                self._owner = 0

    @contextlib.contextmanager
    def _using(self, call: Optional[_native.Call] = None) -> Iterator[int]:
        if self._process != os.getpid():
            raise _errors.ClosedError(
                "this run was opened before a fork: open it again in this process", code="usage"
            )
        with self._holding():
            if self._handle is None:
                raise _errors.ClosedError(f"the run '{self.name}' is closed", code="usage")
            self._watch.call = call or _native.Call()
            yield self._handle

    def _call(self, function: Callable[[int], T]) -> T:
        """Calls function(handle), which may take long; ^C stops it."""

        call = _native.Call()

        def work() -> T:
            with self._using(call) as handle:
                return function(handle)

        if threading.get_ident() in (self._owner, self._watch.thread):
            return work()  # raises: the run is closed
        return _native.interruptible(work, call)

    def close(self) -> None:
        """Releases files and threads; may be called twice. Data returned by tables stays valid."""
        if self._process != os.getpid():
            return  # its threads exist only in the parent
        with self._holding():
            handle, self._handle = self._handle, None
            self._watch.forget()
            if handle is not None:
                _native.lib().rk_run_close(handle)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            if getattr(self, "_handle", None) is not None and not sys.is_finalizing():
                self.close()
        except KeyboardInterrupt:  # would be lost in __del__: raise it later
            _thread.interrupt_main()

    def __reduce__(self) -> NoReturn:
        # A copy would share the handle, and close it.
        raise TypeError(f"{self!r} cannot be copied or pickled: open its path again")

    def __repr__(self) -> str:
        return f"<rockit.Run {self.name!r}{'' if self._handle is not None else ', closed'}>"

    # ---- contents ----

    def table(self, name: str, columns: Optional[Sequence[str]] = None, *, sorted: bool = False) -> Table:
        """A table by name, with these columns or all; as recorded, or `sorted` by time."""
        known = _table_names()
        if name not in known:
            raise _errors.UsageError(f"no table '{name}'; there are {', '.join(known)}", code="usage")
        if isinstance(columns, str):
            raise _errors.UsageError("columns must be a list of names", code="usage")
        made = Table(self, name, None if columns is None else list(columns), sorted)
        if columns is not None:
            made._schema()  # raises an error for unknown columns
        return made

    def __getitem__(self, name: str) -> Table:
        return self.table(name)

    def __contains__(self, name: object) -> bool:
        return name in self.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    @property
    def tables(self) -> List[str]:
        """Tables that at least one file of the run provides."""
        with self._using() as handle:
            found: List[str] = []
            while True:
                name = _native.lib().rk_run_table_at(handle, len(found))
                if name is None:
                    return found
                found.append(name.decode())

    @property
    def files(self) -> List[RunFile]:
        """All files found, and how each is used: nothing is counted twice."""
        with self._using() as handle:
            n = C.c_size_t()
            got = _native.lib().rk_run_files(handle, C.byref(n))
            text = _native.text_of
            return [
                RunFile(text(f.path), text(f.format), f.used, text(f.reason))
                for f in (got[i] for i in range(n.value))
            ]

    @property
    def warnings(self) -> List[RunWarning]:
        """All warnings so far; reading more of the run may add some."""
        with self._using() as handle:
            n = C.c_size_t()
            got = _native.lib().rk_run_warnings(handle, C.byref(n))
            text = _native.text_of
            return [
                RunWarning(text(w.kind), text(w.file), w.line, w.count, text(w.message))
                for w in (got[i] for i in range(n.value))
            ]

    # ---- analysis ----

    def report(self, by: Optional[str] = None, top: int = 20) -> Report:
        """Kernels, copies and calls by duration; str() of it is a table of the `top` ones."""
        lib, made, err = _native.lib(), C.c_void_p(), _native.RkError()
        options = _native.RkReportOptions(by=_native.bytes_of(by))

        def work(handle: int) -> Report:
            rc = lib.rk_run_report(handle, C.byref(options), C.byref(made), C.byref(err))
            _native.check(rc, err, self._watch)
            try:
                return Report(*_both(lib.rk_report_render, made, top))
            finally:
                lib.rk_report_free(made)

        return self._call(work)

    def metrics(
        self,
        *,
        arch: Optional[str] = None,
        sysinfo: Optional[Path] = None,
        definitions: Optional[Path] = None,
        kernel_regex: Optional[str] = None,
        normal: str = "per_kernel",
        top: int = 5,
    ) -> Metrics:
        """What the counters mean: metrics of each kernel, roofline, verdicts."""
        if normal not in NORMALS:
            raise _errors.UsageError(f"normal is one of {', '.join(NORMALS)}, not '{normal}'", code="usage")
        options = _native.RkMetricsOptions(
            arch=_native.bytes_of(arch),
            sysinfo=_native.bytes_of(sysinfo),
            metrics=_native.bytes_of(definitions),
            kernel_regex=_native.bytes_of(kernel_regex),
            normal=NORMALS.index(normal),
        )
        lib, made, err = _native.lib(), C.c_void_p(), _native.RkError()

        def work(handle: int) -> Metrics:
            rc = lib.rk_run_metrics(handle, C.byref(options), C.byref(made), C.byref(err))
            _native.check(rc, err, self._watch)
            try:
                json, text = (_native.RkMetricsLook(look=look) for look in _looks(top))
                data = _native.parsed(_native.rendered(lib.rk_metrics_render, made, C.byref(json)))
                shown = _native.rendered(lib.rk_metrics_render, made, C.byref(text))
                return Metrics(data, _native.text_of(shown))
            finally:
                lib.rk_metrics_free(made)

        return self._call(work)

    def hotspots(self, top: int = 10) -> Hotspots:
        """Instructions, source lines and stall reasons, from PC samples and thread traces."""
        lib, made, err = _native.lib(), C.c_void_p(), _native.RkError()

        def work(handle: int) -> Hotspots:
            rc = lib.rk_run_hotspots(handle, C.byref(made), C.byref(err))
            _native.check(rc, err, self._watch)
            try:
                return Hotspots(*_both(lib.rk_hotspots_render, made, top))
            finally:
                lib.rk_hotspots_free(made)

        return self._call(work)

    def html(self, path: Path, *, title: Optional[str] = None, redact: bool = False) -> None:
        """The whole run as one self-contained HTML page."""
        if os.fsencode(path) == b"-":
            raise _errors.UsageError("path must be a file", code="usage")
        options = _native.RkHtmlOptions(path=_native.bytes_of(path), title=_native.bytes_of(title), redact=redact)
        err = _native.RkError()

        def work(handle: int) -> None:
            rc = _native.lib().rk_run_html(handle, C.byref(options), None, C.byref(err))
            _native.check(rc, err, self._watch)

        self._call(work)

    def convert(
        self, out: Path, *, format: Optional[str] = None, table: Optional[str] = None, dataset: bool = False
    ) -> int:
        """Writes the run as Parquet, csv, jsonl, Perfetto or Chrome trace, chosen by the suffix of `out`
        or by `format`; into a directory, one Parquet file per table. Returns the number of rows."""
        inputs = (C.c_char_p * (len(self._paths) + 1))(*self._paths, None)
        options = _native.RkConvertOptions(
            out=_native.bytes_of(out),
            format=_native.bytes_of(format),
            table=_native.bytes_of(table),
            dataset=dataset,
            inputs=C.cast(inputs, C.POINTER(C.c_char_p)),
            ninputs=len(self._paths),
        )
        if options.out == b"-":
            raise _errors.UsageError("out must be a file or a directory", code="usage")
        did, err = _native.RkConvertResult(), _native.RkError()

        def work(handle: int) -> int:
            rc = _native.lib().rk_run_convert(handle, C.byref(options), C.byref(did), C.byref(err))
            _native.check(rc, err, self._watch)
            return int(did.rows)

        return self._call(work)

    def _profile(self, structure: bool) -> C.c_void_p:
        made, err = C.c_void_p(), _native.RkError()
        name = os.fsencode(self.name)

        def work(handle: int) -> C.c_void_p:
            rc = _native.lib().rk_run_profile(handle, name, structure, C.byref(made), C.byref(err))
            _native.check(rc, err, self._watch)
            return made

        return self._call(work)


def _looks(top: int) -> List[_native.RkRenderOptions]:
    return [
        _native.RkRenderOptions(format=_native.JSON),
        _native.RkRenderOptions(format=_native.TEXT, utf8=True, columns=100, top=top),
    ]


def _both(render: Any, made: C.c_void_p, top: int) -> Any:
    json, text = _looks(top)
    data = _native.parsed(_native.rendered(render, made, C.byref(json)))
    return data, _native.text_of(_native.rendered(render, made, C.byref(text)))


def _table_names() -> List[str]:
    names: List[str] = []
    while True:
        name = _native.lib().rk_table_at(len(names))
        if name is None:
            return names
        names.append(name.decode())


def open(
    paths: Paths,
    *,
    threads: int = 0,
    tmpdir: Optional[Path] = None,
    mangled: bool = False,
    truncate: bool = False,
    redact: bool = False,
    progress: Optional[Progress] = None,
) -> Run:
    """Opens profiler output: files and directories of any kind that rockit reads, as one run.

    `threads`: 0 for one per CPU. `mangled` keeps kernel names as recorded, `truncate` cuts them to
    the bare function. `progress(done, total)` is called with bytes now and then; returning False
    stops the call with CancelledError, and an exception propagates to the caller. It may be
    called in another thread.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
        raise _errors.UsageError(f"threads must be a number from 0 to 1024, not {threads!r}", code="usage")
    options = {
        "threads": threads,
        "tmpdir": _native.bytes_of(tmpdir),
        "mangled": mangled,
        "truncate": truncate,
        "hide_secrets": redact,
        "redact": redact,
    }
    return Run(paths, options, progress)


def convert(
    paths: Paths,
    out: Path,
    *,
    format: Optional[str] = None,
    table: Optional[str] = None,
    dataset: bool = False,
    threads: int = 0,
    progress: Optional[Progress] = None,
) -> int:
    """Converts files or directories; see Run.convert. Returns the number of rows."""
    with open(paths, threads=threads, progress=progress) as run:
        return run.convert(out, format=format, table=table, dataset=dataset)


def report(paths: Paths, *, by: Optional[str] = None, top: int = 20) -> Report:
    """What took the time; see Run.report."""
    with open(paths) as run:
        return run.report(by, top)


def metrics(paths: Paths, **options: Any) -> Metrics:
    """What the counters mean; takes the options of Run.metrics."""
    with open(paths) as run:
        return run.metrics(**options)


def _profiles(runs: Union[Path, Run, Sequence[Union[Path, Run]]], structure: bool) -> Iterator[C.c_void_p]:
    alone = isinstance(runs, (str, bytes, os.PathLike, Run))
    for one in [runs] if alone else runs:  # type: ignore[union-attr]
        if isinstance(one, Run):
            yield one._profile(structure)
        else:
            with open(one) as run:  # type: ignore[arg-type]
                yield run._profile(structure)


def diff(
    a: Union[Path, Run, Sequence[Union[Path, Run]]],
    b: Union[Path, Run, Sequence[Union[Path, Run]]],
    *,
    gate: Optional[float] = None,
    structure: bool = False,
    top: int = 20,
) -> Diff:
    """Compares A with B: each a path, an open Run, or a list of those for repeated runs. `gate` is
    the growth of GPU time, in percent, that is acceptable."""
    lib, made, err = _native.lib(), C.c_void_p(), _native.RkError()
    options = _native.RkDiffOptions(
        gated=gate is not None, gate_percent=0.0 if gate is None else gate, structure=structure
    )
    sides: List[List[C.c_void_p]] = [[], []]
    try:
        for side, runs in zip(sides, (a, b)):
            side.extend(_profiles(runs, structure))
            if not side:
                raise _errors.UsageError("nothing to compare: a side has no runs", code="usage")
        one, two = ((C.c_void_p * len(s))(*(p.value for p in s)) for s in sides)
        rc = lib.rk_diff_make(
            one, len(sides[0]), two, len(sides[1]), C.byref(options), C.byref(made), C.byref(err)
        )
        _native.check(rc, err)
        json, text = _looks(top)
        data = _native.parsed(_native.rendered(lib.rk_diff_render, made, _native.JSON, C.byref(json)))
        shown = _native.text_of(_native.rendered(lib.rk_diff_render, made, _native.TEXT, C.byref(text)))
    finally:
        lib.rk_diff_free(made)
        for profile in sides[0] + sides[1]:
            lib.rk_profile_free(profile)
    return Diff(data, shown)
