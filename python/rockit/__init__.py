"""GPU profiles for Python: run a program under its profiler, read the results, compare runs.

    import rockit

    with rockit.open("rockit_output/20260118-101500-4711") as run:
        print(run.report())
        frame = run["kernels"].to_pandas()

Nothing is loaded before it is used: `import rockit` alone costs about a millisecond.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, without loading it
if TYPE_CHECKING:
    from typing import Any, List

    from ._errors import (
        CancelledError,
        ClosedError,
        Error,
        FileError,
        FormatError,
        InputNotFoundError,
        InputPermissionError,
        LimitError,
        OutOfMemoryError,
        UnsupportedError,
        UsageError,
    )
    from ._info import Counter, Doctor, counter_passes, counters, doctor, presets, tools, version
    from ._results import Diff, Hotspots, KernelStats, Metrics, Report
    from ._run import Run, RunFile, RunWarning, convert, diff, metrics, open, report
    from ._session import Pass, Plan, Result, plan, run
    from ._table import Column, Table
    from ._wrapper import RocprofWrapper

    __version__: str

_PLACES = {
    "_errors": "CancelledError ClosedError Error FileError FormatError InputNotFoundError "
    "InputPermissionError LimitError OutOfMemoryError UnsupportedError UsageError",
    "_info": "Counter Doctor counter_passes counters doctor presets tools version",
    "_results": "Diff Hotspots KernelStats Metrics Report",
    "_run": "Run RunFile RunWarning convert diff metrics open report",
    "_session": "Pass Plan Result plan run",
    "_table": "Column Table",
    "_wrapper": "RocprofWrapper",
}
_WHERE = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = [
    "CancelledError",
    "ClosedError",
    "Column",
    "Counter",
    "Diff",
    "Doctor",
    "Error",
    "FileError",
    "FormatError",
    "Hotspots",
    "InputNotFoundError",
    "InputPermissionError",
    "KernelStats",
    "LimitError",
    "Metrics",
    "OutOfMemoryError",
    "Pass",
    "Plan",
    "Report",
    "Result",
    "RocprofWrapper",
    "Run",
    "RunFile",
    "RunWarning",
    "Table",
    "UnsupportedError",
    "UsageError",
    "convert",
    "counter_passes",
    "counters",
    "diff",
    "doctor",
    "metrics",
    "open",
    "plan",
    "presets",
    "report",
    "run",
    "tools",
    "version",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._info import version as found

        globals()[name] = found()
        return globals()[name]
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'rockit' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module("." + where, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(__all__ + ["__version__"])
