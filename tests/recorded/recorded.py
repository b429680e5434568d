#!/usr/bin/env python3
"""Recorded profiler output, file by file: report and convert agree with an independent reader.

ROCKIT_RECORDED_DATA names the folder; its EXPECTED.json says what is in each file. Every file whose
kind rockit reads is checked: rows, calls, copies, operations, sums, first start, last end, the five
biggest names, counters; then converted to Parquet and CSV. Exit 77 without the folder.
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROCKIT = os.environ.get("ROCKIT", "rockit")

# kind -> (section of the report with its names, table to convert)
KINDS = {
    "rocpd": ("kernels", "kernels"),
    "rocprofv3_kernel_trace": ("kernels", "kernels"),
    "rocprofv3_counter_collection": ("kernels", "counters"),
    "rocprofv3_api_trace": ("api markers", "api"),
    "rocprofv3_memory_copy_trace": ("copies", "memcpy"),
    "rocprofv3_memory_allocation_trace": ("memory", "memalloc"),
    "rocprofv3_scratch_memory_trace": ("memory", "memalloc"),
    "rocprofv3_pc_sampling": (None, "pc_samples"),
    "rocprofv3_agent_info": (None, "agents"),
    "rocprofv3_stats": ("kernels api copies domains markers memory", "stats"),
    "rocprofv3_att_stats": (None, "instructions"),
}


def clean(name):
    """A name as written in the file, without the tools' suffixes."""
    return re.sub(r"(\.kd| \[clone \.kd\]| \(\.kd\))$", "", name).strip()


class Check:
    def __init__(self, want, report):
        self.want, self.report, self.faults = want, report, []

    def same(self, what, got, want):
        if got != want:
            self.faults.append(f"{what} is {got}, not {want}")

    def near(self, what, got, want):
        if got is None or abs(got - want) > 1e-9 * max(1.0, abs(want)):
            self.faults.append(f"{what} is {got}, not {want}")

    def if_told(self, key, what, got):
        if self.want.get(key) is not None:
            self.same(what, got, self.want[key])

    def section(self):
        names = KINDS[self.want["kind"]][0]
        return [row for name in (names or "").split() for row in self.report[name]]

    def rows(self):
        want, tables = self.want, self.report["tables"]
        if want["kind"] == "rocprofv3_stats":
            self.same("rows", len(self.section()), want["rows"])
            self.same("sum of calls", self.report["kernel_rows"], want["sum_calls"])
            total = sum(row["total_ns"] for row in self.section())
            self.same("sum of totals", total, want["sum_total_ns"])
            return
        self.if_told("kernel_rows", "kernel_rows", self.report["kernel_rows"])
        if "counters" in want:
            self.same("dispatches", self.report["kernel_rows"], want["dispatches"])
            self.same("counters", tables["counters"], want["rows"])
        self.if_told("copies", "memcpy", tables["memcpy"])
        self.if_told("calls", "api and markers", tables["api"] + tables["markers"])
        self.if_told("ops", "memalloc", tables["memalloc"])
        for kind, table in (("pc_sampling", "pc_samples"), ("agent_info", "agents")):
            if want["kind"] == "rocprofv3_" + kind:
                self.same(table, tables[table], want["rows"])

    def times(self):
        want, report = self.want, self.report
        kinds = {warning["kind"] for warning in report["warnings"]}
        if want.get("timing_unusable"):
            self.same("damaged times are told", "damaged-time" in kinds, True)
            self.same("min_start_ns", report["min_start_ns"], None)
            return
        if "sum_dur_ns" not in want:
            return
        total = sum(row["total_ns"] or 0 for row in self.section())
        if want.get("negative_dur"):
            self.same("negative durations are told", "negative-duration" in kinds, True)
        else:
            self.same("sum of durations", total, want["sum_dur_ns"])
        if "api" not in want["kind"]:  # a file of calls and markers has a span for each
            self.if_told("min_start", "min_start_ns", report["min_start_ns"])
            self.if_told("max_end", "max_end_ns", report["max_end_ns"])

    def names(self):
        got = {row["name"]: (row["calls"], row["total_ns"] or 0) for row in self.section()}
        for row in self.want.get("top5", []):
            if self.want.get("timing_unusable") or self.want.get("negative_dur"):
                self.same(clean(row["name"]), clean(row["name"]) in got, True)
            else:
                self.same(clean(row["name"]), got.get(clean(row["name"])),
                          (row["calls"], row["total_ns"]))

    def counters(self):
        got = {counter["name"]: counter for counter in self.report.get("counters", [])}
        for name, want in self.want.get("counters", {}).items():
            if name not in got:
                self.faults.append(f"no counter {name}")
                continue
            self.same(name + " rows", got[name]["rows"], want["rows"])
            self.near(name + " sum", got[name]["sum"], want["sum"])


def convert(path, want, temp):
    table, faults = KINDS[want["kind"]][1], []
    for suffix in ("parquet", "csv"):
        out = pathlib.Path(temp) / ("out." + suffix)
        run = subprocess.run([ROCKIT, "convert", "-q", str(path), "-o", str(out), "--table", table],
                             capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            faults.append(f"convert to {suffix}: {run.returncode} {run.stderr.strip()}")
            continue
        if suffix == "csv" and table not in ("api", "kernels") and "rows" in want:
            csv.field_size_limit(1 << 30)
            with open(out, newline="", encoding="utf-8") as text:
                rows = sum(1 for _ in csv.reader(text)) - 1
            if rows != want["rows"]:
                faults.append(f"csv has {rows} rows, not {want['rows']}")
    return faults


def check(path, want, temp):
    run = subprocess.run([ROCKIT, "report", "--format", "json", str(path)], capture_output=True,
                         text=True, timeout=300)
    if run.returncode != 0:
        return [f"report: {run.returncode} {run.stderr.strip()}"]
    c = Check(want, json.loads(run.stdout))
    c.rows()
    c.times()
    c.names()
    c.counters()
    return c.faults + convert(path, want, temp)


def main():
    folder = os.environ.get("ROCKIT_RECORDED_DATA")
    if not folder or not (pathlib.Path(folder) / "EXPECTED.json").exists():
        print("skipped: ROCKIT_RECORDED_DATA names no recorded output")
        return 77
    passed = failed = 0
    expected = json.loads((pathlib.Path(folder) / "EXPECTED.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temp:
        for name, want in expected.items():
            if want.get("kind") not in KINDS:
                continue
            faults = check(pathlib.Path(folder) / name, want, temp)
            for fault in faults:
                print(f"FAIL {name}: {fault}")
            failed += bool(faults)
            passed += not faults
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
