"""RocprofWrapper: profile a command and get its kernels."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Union

from . import _errors
from ._native import Path
from ._run import Run
from ._run import open as _open
from ._session import Result, run
from ._table import Table

if TYPE_CHECKING:
    import pandas

COLUMNS = [
    "kernel_name",
    "start_ns",
    "duration_ns",
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "regs",
    "shared_mem",
    "stream_id",
]

# The name says AMD: prefer these profilers whatever GPU is found.
TOOLS = ["rocprofv3", "rocprofv2", "rocprof", "auto"]


class RocprofWrapper:
    """Profiles commands into one directory.

    `output_dir` gets rocprof_raw/ with the profiler's own files, rocprof_kernels.parquet, and
    run.json; a second profile() replaces the results of the first. `hip_trace` and
    `hsa_trace` record those calls; kernels are always recorded. The profiler is rocprofv3,
    rocprofv2 or rocprof, as installed, unless `tool` says another. `stats` adds the statistics by
    name: rocprof_raw/results.stats.csv (kernels), results.hip_stats.csv, results.hsa_stats.csv and
    results.copy_stats.csv, those that have rows.
    """

    def __init__(
        self,
        output_dir: Path = "profiler_output",
        hip_trace: bool = True,
        hsa_trace: bool = False,
        stats: bool = True,
        **options: Any,
    ) -> None:
        self.output_dir = os.fsdecode(output_dir)
        self.hip_trace, self.hsa_trace, self.stats = hip_trace, hsa_trace, stats
        self.options: Dict[str, Any] = options
        self.result: Optional[Result] = None

    def profile(self, command: Sequence[str], timeout: Optional[float] = None, **options: Any) -> Result:
        """Runs the command under the profiler. More options are those of rockit.run()."""
        traces = ["kernel", "memcpy"]
        if self.hip_trace:
            traces.append("hip")
        if self.hsa_trace:
            traces.append("hsa")
        settings: Dict[str, Any] = {
            "traces": traces,
            "force": True,
            "tool": TOOLS,
            "stats": self.stats,
            **self.options,
            **options,
        }
        self.result = run(command, timeout=timeout, dir=self.output_dir, **settings)
        return self.result

    def open(self) -> Run:
        """Everything that was recorded."""
        return _open(self.result.dir if self.result else self.output_dir)

    def parse_results(self) -> "Union[pandas.DataFrame, Table]":
        """The kernels with twelve columns: a DataFrame where pandas is installed, else a Table.

        Empty if the program launched none; result.warnings says why.
        """
        if self.result is None and not os.path.exists(self.output_dir):
            raise _errors.InputNotFoundError(
                f"nothing in '{self.output_dir}': profile() comes first", code="io", path=self.output_dir
            )
        table = self.open().table("kernels", COLUMNS)
        try:
            import pandas  # noqa: F401
        except ImportError:
            return table
        return table.to_pandas()
