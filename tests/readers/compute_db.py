#!/usr/bin/env python3
"""The analysis database of rocprof-compute reads as its recorded expectation says.

ROCKIT_RECORDED_DATA names the folder; skipped (77) without it. The numbers are those of
new_formats/EXPECTED.json, which were taken from the database with SQL, not with rockit.
"""

import csv
import io
import json
import math
import os
import pathlib
import subprocess
import sys

ROCKIT = os.environ.get("ROCKIT", "rockit")
NAME = "rocprof_compute_23ed6f36.db"


def table(path, name):
    out = subprocess.run([ROCKIT, "convert", "-q", "--mangled", "--table", name, "-f", "csv",
                          "-o", "-", path], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(out)))


def main():
    data = os.environ.get("ROCKIT_RECORDED_DATA")
    path = pathlib.Path(data or "", "new_formats", NAME + ".gz")
    if not data or not path.exists():
        print("skipped: ROCKIT_RECORDED_DATA has no", NAME)
        return 77
    want = json.loads((path.parent / "EXPECTED.json").read_text())[NAME]
    faults = []

    def check(what, got, expected):
        if got != expected:
            faults.append(f"{what}: {got}, expected {expected}")

    kernels = table(path, "kernels")
    check("dispatches", [len(kernels), sum(int(k["duration_ns"]) for k in kernels)],
          want["dispatches"])
    check("kernels", len({k["kernel_name"] for k in kernels}), want["kernels"])
    samples = table(path, "samples")
    metrics = [s for s in samples if s["metric"].endswith(")")]
    check("values of the workload", len(metrics), want["workload_values"])
    values = {(s["metric"], s["unit"]): float(s["value"]) for s in metrics if s["value"]}
    for number, name, unit, what, value in want["example"]:
        got = values.get((f"{number} {name} ({what})", unit), math.nan)
        if not math.isclose(got, value, rel_tol=1e-12, abs_tol=0):
            faults.append(f"{name} ({what}): {got}, expected {value}")
    check("agents", len(table(path, "agents")), 1)

    # what is not read is counted
    warnings = json.loads(subprocess.run([ROCKIT, "report", "--format", "json", path], check=True,
                                         capture_output=True, text=True).stdout)["warnings"]
    check("values of kernels", [w["count"] for w in warnings if w["kind"] == "kernel-metrics"],
          [want["kernel_values"]])

    # the benchmark in the database is the roof
    roof = json.loads(subprocess.run([ROCKIT, "metrics", "-q", "--format", "json", path], check=True,
                                     capture_output=True, text=True).stdout)["ceilings"]
    measured = {c["name"]: c["measured"] for c in roof}
    if not measured.get("hbm") or not 4885 < measured["hbm"] < 4886:
        faults.append(f"measured HBM: {measured.get('hbm')}")
    print("\n".join(faults) or f"{len(kernels)} dispatches, {len(metrics)} values of metrics agree")
    return 1 if faults else 0


sys.exit(main())
