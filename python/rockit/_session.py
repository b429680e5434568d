"""Profiling a program: the plan, and its execution in a separate process."""

from __future__ import annotations

import contextlib
import ctypes as C
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import IO, Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _errors, _native
from ._native import Path
from ._run import Run
from ._run import open as _open

Words = Union[str, Sequence[str]]

_LISTS = ("traces", "counters", "spm", "monitor", "library_trace", "ranks", "snap_on")
_TEXTS = (
    "preset",
    "tool_version",
    "arch",
    "tool_args",
    "context",
    "context_file",
    "dir",
    "kernel_regex",
    "replay",
    "range",
    "every",
)
_FLAGS = ("force", "keep_going", "baseline", "redact", "verdicts", "stats", "thread_trace", "window")
_NUMBERS = ("timeout", "grace", "delay", "duration", "monitor_interval_ms", "max_size", "last", "keep", "sample")


@dataclass(frozen=True)
class Pass:
    """One execution of the program: command line, additions to the environment, counters."""

    what: str
    argv: List[str]
    env: Dict[str, str]
    dir: str
    counters: List[str]


@dataclass(frozen=True)
class Plan:
    """The plan; `data` is the JSON of `rockit run --dry-run --format json`."""

    tool: str
    tool_version: Optional[str]
    arch: Optional[str]
    dir: str
    passes: List[Pass]
    notes: List[str]
    hazards: List[str]
    data: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Result:
    """The result of profiling a program.

    `status` is the program's own exit status (128 + N if a signal ended it); `usable` says whether
    anything was recorded. `notes` and `warnings` are those that `rockit run` prints: requests that
    cannot be delivered, progress, problems with the result.
    """

    status: int
    dir: str
    ran: bool
    profiled: bool
    usable: bool
    kernels: int
    passes_done: int
    passes: int
    notes: List[str]
    warnings: List[str]

    @property
    def ok(self) -> bool:
        """The program succeeded, and something was recorded."""
        return self.status == 0 and self.usable

    def open(self, **options: Any) -> Run:
        """Opens what was recorded; takes the options of rockit.open()."""
        return _open(self.dir, **options)

    def check(self) -> "Result":
        """Raises if the program failed or nothing was recorded; otherwise returns the result."""
        if self.status:
            raise _errors.Error(f"the program exited with status {self.status}", code="status", path=self.dir)
        if self.profiled and not self.usable:
            why = self.warnings[-1] if self.warnings else "nothing was recorded"
            raise _errors.Error(why, code="empty", path=self.dir)
        return self


def _command(command: Words) -> List[str]:
    if isinstance(command, (str, bytes)):
        raise _errors.UsageError(
            f"the command is a list of words, not one text: {command!r}.split(), or ['sh', '-c', ...]",
            code="usage",
        )
    words = [os.fsdecode(w) for w in command]
    if not words:
        raise _errors.UsageError("no program to run", code="usage")
    return words


def _settings(command: Words, options: Dict[str, Any]) -> Dict[str, Any]:
    """Options as plain data, for the library in this process or another."""
    made: Dict[str, Any] = {"argv": _command(command)}
    for name, value in options.items():
        if value is None:
            continue
        if name == "tool":
            made[name] = [value] if isinstance(value, str) else [str(v) for v in value]
        elif name in _LISTS:
            made[name] = value if isinstance(value, str) else ",".join(str(v) for v in value)
        elif name in _TEXTS:
            made[name] = os.fsdecode(value)
        elif name in _FLAGS:
            made[name] = bool(value)
        elif name in _NUMBERS:
            made[name] = _whole(name, value)
    return made


def _whole(name: str, value: float) -> int:
    """Rounds parts of a second up: 0 would mean no limit."""
    if not 0 < value < 2**53:
        raise _errors.UsageError(f"{name} is a number above 0, not {value!r}", code="usage")
    return int(-(-value // 1))


def session(settings: Mapping[str, Any]) -> C.c_void_p:
    """A planned session with the first installed tool; freed by rk_session_free."""
    tools = settings.get("tool") or [None]
    for tool in tools[:-1]:
        with contextlib.suppress(_errors.UnsupportedError):
            return _planned(settings, tool)
    return _planned(settings, tools[-1])


def _planned(settings: Mapping[str, Any], tool: Optional[str]) -> C.c_void_p:
    argv = _native.list_of(settings["argv"])
    options = _native.RkSessionOptions(
        argv=C.cast(argv, C.POINTER(C.c_char_p)),
        tool=_native.bytes_of(tool),
        timeout_s=settings.get("timeout", 0),
        grace_s=settings.get("grace", 0),
        delay_s=settings.get("delay", 0),
        duration_s=settings.get("duration", 0),
        monitor_interval_ms=settings.get("monitor_interval_ms", 0),
        max_size=settings.get("max_size", 0),
        last_s=settings.get("last", 0),
        keep=settings.get("keep", 0),
        sample=settings.get("sample", 0),
    )
    for name in _LISTS + _TEXTS:
        setattr(options, name, _native.bytes_of(settings.get(name)))
    for name in _FLAGS:
        setattr(options, name, settings.get(name, False))
    options.root = _native.bytes_of(os.environ.get("ROCKIT_SYSFS_ROOT"))  # same as in the command
    made, err = C.c_void_p(), _native.RkError()
    _native.check(_native.lib().rk_session_plan(C.byref(options), C.byref(made), C.byref(err)), err)
    return made


def plan(
    command: Words,
    *,
    preset: Optional[str] = None,
    traces: Optional[Words] = None,
    counters: Optional[Words] = None,
    tool: Optional[Words] = None,
    tool_version: Optional[str] = None,
    arch: Optional[str] = None,
    tool_args: Optional[str] = None,
    context: Optional[str] = None,
    context_file: Optional[Path] = None,
    dir: Optional[Path] = None,
    timeout: Optional[float] = None,
    grace: Optional[float] = None,
    monitor: Optional[Words] = None,
    monitor_interval_ms: Optional[int] = None,
    library_trace: Optional[Words] = None,
    kernel_regex: Optional[str] = None,
    spm: Optional[Words] = None,
    replay: Optional[str] = None,
    range: Optional[str] = None,
    delay: Optional[float] = None,
    duration: Optional[float] = None,
    every: Optional[str] = None,
    sample: Optional[int] = None,
    window: bool = False,
    max_size: Optional[int] = None,
    last: Optional[float] = None,
    snap_on: Optional[Words] = None,
    keep: Optional[int] = None,
    thread_trace: bool = False,
    ranks: Optional[Words] = None,
    force: bool = False,
    keep_going: bool = False,
    baseline: bool = False,
    redact: bool = False,
    verdicts: bool = False,
    stats: bool = False,
) -> Plan:
    """What run() would do. With tool, tool_version and arch given, nothing has to be installed."""
    given = dict(locals())
    made = session(_settings(given.pop("command"), given))
    lib = _native.lib()
    try:
        data = _native.parsed(_native.rendered(lib.rk_session_render, made, _native.JSON))
    finally:
        lib.rk_session_free(made)
    passes = [
        Pass(p.get("what") or "", p["argv"], p["env"], p["dir"], p["counters"]) for p in data["passes"]
    ]
    return Plan(
        data["tool"],
        data["tool_version"],
        data.get("arch"),
        data.get("dir") or "",
        passes,
        data.get("notes") or [],
        data.get("hazards") or [],
        data,
    )


def run(
    command: Words,
    *,
    preset: Optional[str] = None,
    traces: Optional[Words] = None,
    counters: Optional[Words] = None,
    tool: Optional[Words] = None,
    tool_version: Optional[str] = None,
    arch: Optional[str] = None,
    tool_args: Optional[str] = None,
    context: Optional[str] = None,
    context_file: Optional[Path] = None,
    dir: Optional[Path] = None,
    timeout: Optional[float] = None,
    grace: Optional[float] = None,
    monitor: Optional[Words] = None,
    monitor_interval_ms: Optional[int] = None,
    library_trace: Optional[Words] = None,
    kernel_regex: Optional[str] = None,
    spm: Optional[Words] = None,
    replay: Optional[str] = None,
    range: Optional[str] = None,
    delay: Optional[float] = None,
    duration: Optional[float] = None,
    every: Optional[str] = None,
    sample: Optional[int] = None,
    window: bool = False,
    max_size: Optional[int] = None,
    last: Optional[float] = None,
    snap_on: Optional[Words] = None,
    keep: Optional[int] = None,
    thread_trace: bool = False,
    ranks: Optional[Words] = None,
    force: bool = False,
    keep_going: bool = False,
    baseline: bool = False,
    redact: bool = False,
    verdicts: bool = False,
    stats: bool = False,
    cwd: Optional[Path] = None,
    env: Optional[Mapping[str, str]] = None,
    stdin: Union[int, IO[Any], None] = None,
    stdout: Union[int, IO[Any], None] = None,
    stderr: Union[int, IO[Any], None] = None,
) -> Result:
    """Runs a program under the installed profiler; the result can be opened as a run.

    The program's failure is part of the result. Exceptions mean that rockit itself failed: unknown
    preset, no profiler, a directory in use; FileNotFoundError and PermissionError if the program
    could not be started. `timeout` is in seconds per pass: first SIGTERM, then, `grace` seconds later
    or when the output no longer grows, SIGKILL. Lists may be texts with commas; of several tools the first installed one is used. `cwd`, `env`, `stdin`,
    `stdout` and `stderr` apply to the program, as in subprocess.run(); `dir` stays relative to the
    caller's directory. ^C goes to the program; its output is collected before KeyboardInterrupt
    is raised.
    """
    given = dict(locals())
    ours = {k: given.pop(k) for k in ("cwd", "env", "stdin", "stdout", "stderr")}
    settings = _settings(given.pop("command"), given)
    if cwd is not None:
        _from_here(settings)
    return _in_process(settings, ours)


def _from_here(settings: Dict[str, Any]) -> None:
    """`cwd` applies to the program: paths given by the caller stay relative to the caller."""
    for name in ("dir", "context_file", "preset", "counters"):
        value = settings.get(name)
        # Not a file: a preset or a list of counters.
        if value and (name == "dir" or os.path.isfile(value)):
            settings[name] = os.path.abspath(value)


def _in_process(settings: Mapping[str, Any], how: Dict[str, Any]) -> Result:
    """Runs in a separate process, so that signals, directory and environment of the program do
    not affect this interpreter."""
    import json
    import tempfile

    if not sys.executable:
        raise _errors.UnsupportedError("there is no sys.executable to run the session with", code="unsupported")
    runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_runner.py")
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said:
        asked.write(json.dumps(settings).encode())
        asked.seek(0)
        fds = (asked.fileno(), said.fileno())
        argv = [sys.executable, "-I", "-S", runner, str(fds[0]), str(fds[1])]
        interrupted = _wait(subprocess.Popen(argv, pass_fds=fds, **how))
        said.seek(0)
        lines = [json.loads(line) for line in said]
    if interrupted is not None:
        raise interrupted
    return _result(lines, settings["argv"][0])


def _has_terminal() -> bool:
    """Whether the terminal sends ^C to us; then the session got it as well."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _wait(child: "subprocess.Popen[bytes]") -> Optional[BaseException]:
    """Waits for the end. Forwards an interrupt to the program once; if ignored, sends SIGTERM."""
    first: Optional[BaseException] = None
    steps = [signal.SIGINT, signal.SIGINT, signal.SIGTERM]
    while True:
        try:
            child.wait()
            return first
        except KeyboardInterrupt as interrupt:
            sig = steps.pop(0) if len(steps) > 1 else steps[0]
            if first is not None or not _has_terminal():
                child.send_signal(sig)
            first = interrupt
        except BaseException:
            child.send_signal(signal.SIGTERM)
            child.wait()
            raise


def _result(lines: Sequence[Dict[str, Any]], program: str) -> Result:
    notes = [line["say"] for line in lines if "say" in line]
    warnings = [line["warn"] for line in lines if "warn" in line]
    unable = 0
    for line in lines:
        unable = line.get("unable", unable)
        if "error" in line and unable:
            kind = _errors.InputNotFoundError if unable == 127 else _errors.InputPermissionError
            raise kind(line["error"][1], code="io", path=program)
        if "error" in line:
            raise _errors.make(*line["error"])
        if "result" in line:
            return Result(notes=notes, warnings=warnings, **line["result"])
    raise _errors.Error("the session ended without a result: it was killed", code="killed")
