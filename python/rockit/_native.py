"""The C library: where it is, its structs and calls, its errors as exceptions.

Calls release the interpreter lock. A long call runs in another thread while the main thread waits
for it or for ^C; the call asks `progress` now and then whether to continue.
"""

from __future__ import annotations

import ctypes as C
import itertools
import json
import os
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, TypeVar, Union

from . import _errors

Path = Union[str, "os.PathLike[str]", bytes, "os.PathLike[bytes]"]
Progress = Callable[[int, int], Any]
T = TypeVar("T")

TEXT, JSON, CSV = range(3)  # enum rk_report_format


class Struct(C.Structure):
    """A struct of the library; tests compare its layout with the C compiler's."""


class RkError(Struct):
    _fields_ = [
        ("code", C.c_int),
        ("line", C.c_uint64),
        ("offset", C.c_uint64),
        ("file", C.c_char * 256),
        ("message", C.c_char * 512),
        ("reserved", C.c_uint64 * 4),
    ]


PROGRESS = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_uint64, C.c_uint64)
LINE = C.CFUNCTYPE(None, C.c_void_p, C.c_char_p)


class RkRunOptions(Struct):
    _fields_ = [
        ("threads", C.c_uint),
        ("tmpdir", C.c_char_p),
        ("mangled", C.c_bool),
        ("truncate", C.c_bool),
        ("hide_secrets", C.c_bool),
        ("redact", C.c_bool),
        ("progress", PROGRESS),
        ("progress_arg", C.c_void_p),
        ("reserved", C.c_uint64 * 8),
    ]


class RkRunFile(Struct):
    _fields_ = [
        ("path", C.c_char_p),
        ("format", C.c_char_p),
        ("used", C.c_bool),
        ("reason", C.c_char_p),
        ("reserved", C.c_uint64 * 4),
    ]


class RkWarning(Struct):
    _fields_ = [
        ("kind", C.c_char_p),
        ("file", C.c_char_p),
        ("line", C.c_uint64),
        ("count", C.c_uint64),
        ("message", C.c_char_p),
        ("reserved", C.c_uint64 * 4),
    ]


class RkConvertOptions(Struct):
    _fields_ = [
        ("out", C.c_char_p),
        ("format", C.c_char_p),
        ("table", C.c_char_p),
        ("dataset", C.c_bool),
        ("shard", C.c_uint),
        ("nshards", C.c_uint),
        ("inputs", C.POINTER(C.c_char_p)),
        ("ninputs", C.c_size_t),
        ("reserved", C.c_uint64 * 8),
    ]


class RkConvertResult(Struct):
    _fields_ = [("rows", C.c_uint64), ("files", C.c_uint), ("reserved", C.c_uint64 * 8)]


class RkReportOptions(Struct):
    _fields_ = [("by", C.c_char_p), ("reserved", C.c_uint64 * 8)]


class RkRenderOptions(Struct):
    _fields_ = [
        ("format", C.c_int),
        ("color", C.c_bool),
        ("utf8", C.c_bool),
        ("columns", C.c_uint),
        ("top", C.c_size_t),
        ("reserved", C.c_uint64 * 8),
    ]


class RkHtmlOptions(Struct):
    _fields_ = [
        ("path", C.c_char_p),
        ("title", C.c_char_p),
        ("report", C.c_void_p),
        ("by", C.c_char_p),
        ("arch", C.c_char_p),
        ("kernel_regex", C.c_char_p),
        ("redact", C.c_bool),
        ("reserved", C.c_uint64 * 8),
    ]


class RkMetricsOptions(Struct):
    _fields_ = [
        ("arch", C.c_char_p),
        ("sysinfo", C.c_char_p),
        ("metrics", C.c_char_p),
        ("kernel_regex", C.c_char_p),
        ("normal", C.c_int),
        ("begin", C.c_void_p),
        ("dispatch", C.c_void_p),
        ("arg", C.c_void_p),
        ("reserved", C.c_uint64 * 8),
    ]


class RkMetricsLook(Struct):
    _fields_ = [
        ("look", RkRenderOptions),
        ("groups", C.c_char_p),
        ("all", C.c_bool),
        ("absent", C.c_bool),
        ("no_roofline", C.c_bool),
        ("reserved", C.c_uint64 * 8),
    ]


class RkDiffOptions(Struct):
    _fields_ = [
        ("gated", C.c_bool),
        ("gate_percent", C.c_double),
        ("structure", C.c_bool),
        ("reserved", C.c_uint64 * 8),
    ]


class RkSessionOptions(Struct):
    _fields_ = [
        *[
            (name, C.c_char_p)
            for name in (
                "preset traces counters tool tool_version arch tool_args context context_file dir "
                "monitor library_trace kernel_regex ranks"
            ).split()
        ],
        ("monitor_interval_ms", C.c_uint64),
        ("timeout_s", C.c_uint64),
        ("force", C.c_bool),
        ("keep_going", C.c_bool),
        ("baseline", C.c_bool),
        ("redact", C.c_bool),
        ("verdicts", C.c_bool),
        ("stats", C.c_bool),
        ("root", C.c_char_p),
        ("argv", C.POINTER(C.c_char_p)),
        ("grace_s", C.c_uint64),
        ("spm", C.c_char_p),
        ("replay", C.c_char_p),
        ("range", C.c_char_p),
        ("attach_pid", C.c_uint64),
        ("delay_s", C.c_uint64),
        ("duration_s", C.c_uint64),
        ("thread_trace", C.c_bool),
        ("ask_installed", C.c_bool),
        ("snap_on", C.c_char_p),
        ("every", C.c_char_p),
        ("max_size", C.c_uint64),
        ("last_s", C.c_uint64),
        ("keep", C.c_uint64),
        ("sample", C.c_uint64),
        ("window", C.c_bool),
        ("record", C.c_bool),
        ("reserved", C.c_uint64 * 1),
    ]


class RkSessionHooks(Struct):
    _fields_ = [("say", LINE), ("warn", LINE), ("arg", C.c_void_p), ("reserved", C.c_uint64 * 8)]


class RkSessionResult(Struct):
    _fields_ = [
        ("status", C.c_int),
        ("ran", C.c_bool),
        ("profiled", C.c_bool),
        ("usable", C.c_bool),
        ("kernels", C.c_uint64),
        ("passes_done", C.c_uint),
        ("passes", C.c_uint),
        ("raw_files", C.c_uint64),
        ("reserved", C.c_uint64 * 7),
    ]


class RkPresetNames(Struct):
    _fields_ = [("names", C.POINTER(C.c_char_p)), ("n", C.c_size_t), ("reserved", C.c_uint64 * 2)]


class RkStreamOptions(Struct):
    _fields_ = [
        ("table", C.c_char_p),
        ("columns", C.POINTER(C.c_char_p)),
        ("batch_rows", C.c_size_t),
        ("plain_strings", C.c_bool),
        ("sorted", C.c_bool),
        ("reserved", C.c_uint64 * 8),
    ]


_ERR = C.POINTER(RkError)
_TEXT = [C.POINTER(C.c_void_p), C.POINTER(C.c_size_t)]
_NAMES = C.POINTER(C.c_char_p)
_P, _S, _N, _INT = C.c_void_p, C.c_char_p, C.c_size_t, C.c_int

# Name: (result, arguments). Handles and results are void *; an out handle is void **.
_CALLS: Dict[str, Any] = {
    "rk_version": (_S, []),
    "rk_run_open": (_INT, [_NAMES, _N, C.POINTER(RkRunOptions), C.POINTER(_P), _ERR]),
    "rk_run_close": (None, [_P]),
    "rk_run_check_output": (_INT, [_P, _S, _ERR]),
    "rk_run_files": (C.POINTER(RkRunFile), [_P, C.POINTER(_N)]),
    "rk_run_warnings": (C.POINTER(RkWarning), [_P, C.POINTER(_N)]),
    "rk_run_convert": (_INT, [_P, C.POINTER(RkConvertOptions), C.POINTER(RkConvertResult), _ERR]),
    "rk_run_stream": (_INT, [_P, C.POINTER(RkStreamOptions), _P, _ERR]),
    "rk_stream_error": (_ERR, [_P]),
    "rk_run_table_at": (_S, [_P, _N]),
    "rk_table_at": (_S, [_N]),
    "rk_run_report": (_INT, [_P, C.POINTER(RkReportOptions), C.POINTER(_P), _ERR]),
    "rk_report_render": (_INT, [_P, C.POINTER(RkRenderOptions), *_TEXT, _ERR]),
    "rk_report_free": (None, [_P]),
    "rk_text_free": (None, [_P]),
    "rk_run_html": (_INT, [_P, C.POINTER(RkHtmlOptions), _P, _ERR]),
    "rk_run_metrics": (_INT, [_P, C.POINTER(RkMetricsOptions), C.POINTER(_P), _ERR]),
    "rk_metrics_render": (_INT, [_P, C.POINTER(RkMetricsLook), *_TEXT, _ERR]),
    "rk_metrics_free": (None, [_P]),
    "rk_run_hotspots": (_INT, [_P, C.POINTER(_P), _ERR]),
    "rk_hotspots_render": (_INT, [_P, C.POINTER(RkRenderOptions), *_TEXT, _ERR]),
    "rk_hotspots_free": (None, [_P]),
    "rk_run_profile": (_INT, [_P, _S, C.c_bool, C.POINTER(_P), _ERR]),
    "rk_profile_free": (None, [_P]),
    "rk_diff_make": (
        _INT,
        [C.POINTER(_P), _N, C.POINTER(_P), _N, C.POINTER(RkDiffOptions), C.POINTER(_P), _ERR],
    ),
    "rk_diff_render": (_INT, [_P, _INT, C.POINTER(RkRenderOptions), *_TEXT, _ERR]),
    "rk_diff_free": (None, [_P]),
    "rk_session_plan": (_INT, [C.POINTER(RkSessionOptions), C.POINTER(_P), _ERR]),
    "rk_session_render": (_INT, [_P, _INT, *_TEXT, _ERR]),
    "rk_session_dir": (_S, [_P]),
    "rk_session_notes": (C.POINTER(_S), [_P, C.POINTER(C.c_size_t)]),
    "rk_session_run": (_INT, [_P, C.POINTER(RkSessionHooks), C.POINTER(RkSessionResult), _ERR]),
    "rk_session_free": (None, [_P]),
    "rk_preset_list": (_INT, [C.POINTER(RkPresetNames), _ERR]),
    "rk_preset_names_release": (None, [C.POINTER(RkPresetNames)]),
    "rk_preset_load": (_INT, [_S, C.POINTER(_P), _ERR]),
    "rk_preset_free": (None, [_P]),
    "rk_presets_render": (_INT, [C.POINTER(_P), _N, C.c_bool, _INT, *_TEXT, _ERR]),
    "rk_counters_arch": (_S, [_N]),
    "rk_counters_render": (_INT, [_S, _NAMES, _N, _INT, *_TEXT, C.POINTER(_N), _ERR]),
    "rk_counters_plan": (_INT, [_S, _S, C.POINTER(_P), _ERR]),
    "rk_counter_plan_render": (_INT, [_P, _INT, *_TEXT, _ERR]),
    "rk_counter_plan_free": (None, [_P]),
    "rk_doctor_new": (_INT, [_P, C.POINTER(_P), _ERR]),
    "rk_doctor_render": (_INT, [_P, C.POINTER(RkRenderOptions), C.c_bool, *_TEXT, _ERR]),
    "rk_doctor_free": (None, [_P]),
}

_lock = threading.Lock()
_library: Optional[C.CDLL] = None


def native_dir() -> str:
    """The folder of a wheel with the command, the library and the collectors."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native")


def _find() -> str:
    named = os.environ.get("ROCKIT_LIBRARY")
    if named:
        return named
    bundled = os.path.join(native_dir(), "lib", "librockit.so.1")
    return bundled if os.path.exists(bundled) else "librockit.so.1"


def _load() -> C.CDLL:
    path = _find()
    try:
        found = C.CDLL(path)
        for name, (result, arguments) in _CALLS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as why:
        raise _errors.UnsupportedError(
            f"cannot use the library '{path}': {why}; install the wheel again, or name another "
            "in ROCKIT_LIBRARY",
            code="unsupported",
        ) from why
    return found


def lib() -> Any:
    """The library, loaded on first use."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                _library = _load()
    return _library


# ---- progress: one callback for all calls, never freed; calls are found by number ----

_watchers: Dict[int, "Watch"] = {}
_numbers = itertools.count(1)


class Call:
    """One library call: whether it should stop, and what a callback raised."""

    def __init__(self) -> None:
        self.stop = False
        self.raised: Optional[BaseException] = None


class Watch:
    """Lets the user's callback and ^C stop what a run is doing."""

    def __init__(self, progress: Optional[Progress] = None) -> None:
        self.progress = progress
        self.call = Call()  # the call in progress
        self.thread = 0  # the thread that `progress` runs in now; may be one of the library's
        self.number = next(_numbers)
        _watchers[self.number] = self

    def forget(self) -> None:
        _watchers.pop(self.number, None)


def _ask(number: int, done: int, total: int) -> int:
    watch = None
    try:
        watch = _watchers.get(number)
        if watch is None:
            return 0
        if watch.call.stop or watch.progress is None:
            return int(watch.call.stop)
        watch.thread = threading.get_ident()
        # Only False stops: a callback without a return value returns None.
        return int(watch.progress(done, total) is False)
    except BaseException as raised:  # cannot propagate through C code
        if watch is not None:
            watch.call.raised = raised
        return 1
    finally:
        if watch is not None:
            watch.thread = 0


ask = PROGRESS(_ask)
_GRACE_S = 10  # grace period for a call to stop: it checks many times a second


def interruptible(function: Callable[[], T], call: Call) -> T:
    """Calls function(); on the main thread it runs in another one.

    Python handles signals only in the main thread. Inside a callback from C the exception would
    be raised at its first instruction, where nothing can catch it.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    got: List[T] = []
    failed: List[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            got.append(function())
        except BaseException as why:
            failed.append(why)
        finally:
            done.set()

    worker = threading.Thread(target=work, name="rockit", daemon=True)
    try:
        try:
            worker.start()
        except RuntimeError:  # the interpreter is exiting
            return function()
        while not done.is_set():
            done.wait()
    except BaseException:
        call.stop = True
        if worker.ident is not None:
            done.wait(_GRACE_S)
        raise
    if failed:
        raise failed.pop()  # not kept: the traceback and our frame would refer to each other
    return got[0]


def raise_for(err: RkError, watch: Optional[Watch] = None) -> None:
    if watch is not None and watch.call.raised is not None:
        raise watch.call.raised
    raise error_of(err)


def error_of(err: RkError) -> _errors.Error:
    return _errors.make(err.code, text_of(err.message), text_of(err.file), err.line, err.offset)


def check(rc: int, err: RkError, watch: Optional[Watch] = None) -> None:
    """Raises if a call failed."""
    if rc < 0:
        raise_for(err, watch)


# ---- texts ----


def text_of(raw: Optional[bytes]) -> str:
    """A text from the library; paths and names may contain any bytes."""
    return (raw or b"").decode("utf-8", "surrogateescape")


def bytes_of(text: Optional[Path]) -> Optional[bytes]:
    """A text or path for the library; None stays NULL."""
    if text is None:
        return None
    raw = os.fsencode(text)
    if b"\0" in raw:
        raise _errors.UsageError(f"a zero byte in {text!r}", code="usage")
    return raw


def list_of(texts: Iterable[Path]) -> Any:
    """A char *[] with NULL at its end."""
    raw: List[Optional[bytes]] = [bytes_of(t) for t in texts]
    return (C.c_char_p * (len(raw) + 1))(*raw, None)


def words_of(words: Union[str, Sequence[str], None]) -> Optional[bytes]:
    """A list as the library expects it: separated by commas."""
    if words is None or isinstance(words, str):
        return bytes_of(words)
    return bytes_of(",".join(words))


def rendered(call: Callable[..., int], *args: Any) -> bytes:
    """The text of a renderer, which is called with `args` and a place for the text."""
    text, length, err = C.c_void_p(), C.c_size_t(), RkError()
    check(call(*args, C.byref(text), C.byref(length), C.byref(err)), err)
    try:
        return C.string_at(text, length.value) if text else b""
    finally:
        lib().rk_text_free(text)


def parsed(raw: bytes) -> Any:
    return json.loads(raw.decode("utf-8", "replace"))
