#!/usr/bin/env python3
"""rockit report on recorded profiler output says what an independent reader found in it.

ROCKIT_RECORDED_DATA names the folder; its EXPECTED.json holds, for each file, rows, sums, first
start, last end and the five biggest names. Skipped (77) without it. Kinds that rockit does not
read are counted, not failed.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

ROCKIT = os.environ.get("ROCKIT", "rockit")

# kind of the recorded file -> table of the report that holds its rows
TABLE = {
    "rocprofv3_api_trace": "api",
    "rocprofv3_memory_copy_trace": "memcpy",
    "rocprofv3_memory_allocation_trace": "memalloc",
    "rocprofv3_scratch_memory_trace": "memalloc",
    "rocprofv3_pc_sampling": "pc_samples",
    "rocprofv3_agent_info": "agents",
}
SECTION = {"kernel": "kernels", "api": "api", "copy": "copies", "domain": "domains",
           "marker": "markers", "memory": "memory"}
KERNELS = ("rocprofv3_kernel_trace", "rocprofv3_counter_collection", "rocpd")
UNREADABLE = ("sci_notation_timestamps",)  # digits were lost before the file reached us


def read_report(path):
    run = subprocess.run([ROCKIT, "report", "--format", "json", str(path)], capture_output=True,
                         text=True, timeout=120)
    if run.returncode != 0:
        return None, f"exit status {run.returncode}: {run.stderr.strip()}"
    return json.loads(run.stdout), ""


def totals(rows):
    """The five biggest; files without times have no totals, or zeros in the expected ones."""
    return sorted(((r["total_ns"] or 0, r["calls"]) for r in rows), reverse=True)[:5]


def compare(what, got, want, faults):
    if want is not None and got != want:
        faults.append(f"{what} is {got}, not {want}")


def compare_kernels(report, want, faults):
    compare("kernel_rows", report["kernel_rows"],
            want.get("dispatches", want.get("kernel_rows")), faults)
    if want.get("timing_unusable") or want.get("negative_dur"):
        return
    compare("sum_duration_ns", report["sum_duration_ns"], want.get("sum_dur_ns"), faults)
    compare("min_start_ns", report["min_start_ns"], want.get("min_start"), faults)
    compare("max_end_ns", report["max_end_ns"], want.get("max_end"), faults)
    if want.get("top5"):
        compare("top kernels", totals(report["kernels"]), totals(want["top5"]), faults)


def compare_stats(report, want, faults):
    section = SECTION.get(report["stats_of"])
    if not section:
        faults.append(f"stats_of is {report['stats_of']}")
        return
    rows = report[section]
    compare("sum of calls", sum(r["calls"] for r in rows), want["sum_calls"], faults)
    compare("sum of totals", sum(r["total_ns"] for r in rows), want["sum_total_ns"], faults)


def compare_file(kind, report, want):
    faults = []
    if kind in KERNELS:
        compare_kernels(report, want, faults)
    elif kind == "rocprofv3_stats":
        compare_stats(report, want, faults)
    else:
        tables = report["tables"]
        rows = tables[TABLE[kind]] + (tables["markers"] if kind == "rocprofv3_api_trace" else 0)
        compare("rows", rows, want["rows"], faults)
    return faults


def main():
    folder = os.environ.get("ROCKIT_RECORDED_DATA")
    if not folder or not (pathlib.Path(folder) / "EXPECTED.json").exists():
        print("skipped: ROCKIT_RECORDED_DATA names no recorded output")
        return 77
    folder = pathlib.Path(folder)
    passed, other, failed = collections.Counter(), collections.Counter(), 0
    for name, want in json.loads((folder / "EXPECTED.json").read_text()).items():
        kind = want.get("kind")
        known = kind in KERNELS or kind in TABLE or kind == "rocprofv3_stats"
        if not known or any(key in want for key in UNREADABLE) or not (folder / name).exists():
            other[str(kind)] += 1
            continue
        report, error = read_report(folder / name)
        faults = compare_file(kind, report, want) if report else [error]
        for fault in faults:
            print(f"FAIL {name}: {fault}")
        failed += bool(faults)
        passed[kind] += not faults
    print(f"{sum(passed.values())} files agree, {failed} do not, {sum(other.values())} not compared")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
