#!/usr/bin/env python3
"""Recordings of other tools agree with what independent readers found in them.

ROCKIT_RECORDED_DATA names the folder; new_formats/ in it has the recordings, rpd_expected.json the
results for databases of rocmProfileData, EXPECTED.json those for JAX and Proton. Skipped (77) without it. An argument is a part of a file
name: only those are checked.
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


def rockit(*args):
    run = subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        raise AssertionError(f"{args[0]} ends with {run.returncode}: {run.stderr.strip()}")
    return run.stdout


def table(path, name):
    text = rockit("convert", "-q", "--table", name, "-f", "csv", "-o", "-", path)
    return list(csv.DictReader(text.splitlines(keepends=True)))


def total(rows, column="duration_ns"):
    return sum(int(row[column]) for row in rows if row[column])


def same(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got}, expected {want}")


def clean(name):
    return re.sub(r"(\.kd| \[clone \.kd\])$", "", name)


def near(what, got_ns, want_ps, within_ns):
    if abs(got_ns * 1000 - want_ps) > within_ns * 1000:
        raise AssertionError(f"{what}: {got_ns} ns, expected {want_ps} ps")


def rpd(path, want):
    types = {name: (rows, time) for name, rows, time in want["optypes"]}
    kernels = [types.get(name, (0, 0)) for name in ("KernelExecution", "Task")]
    copies = [row for name, row in types.items() if name.startswith(("Copy", "Fill"))]
    report = json.loads(rockit("report", "-f", "json", path))
    same("operations", sum(row[0] for row in kernels + copies), want["ops"][0])
    same("kernels", report["kernel_rows"], sum(row[0] for row in kernels))
    same("kernel time", sum(k["total_ns"] for k in report["kernels"]), sum(row[1] for row in kernels))

    tables = report["tables"]
    same("copies", tables.get("memcpy", 0), sum(row[0] for row in copies))
    markers = sum(rows for name, rows, time in want["top_api"] if name == "UserMarker")
    same("calls", tables.get("api", 0), want["apis"][0] - markers)
    same("markers", tables.get("markers", 0), markers)
    same("samples", tables.get("samples", 0), sum(row[3] for row in want["monitor"]))
    rows = table(path, "kernels")
    same("devices", sorted({int(row["device_id"]) for row in rows}),
         sorted({row[0] for row in want["gpu_queue"]}))
    same("kernels with a call", sum(1 for row in rows if row["correlation_id"]),
         want["kernels_joined"][0])
    if tables.get("memcpy"):
        rows = table(path, "memcpy")
        same("copy time", total(rows), sum(row[1] for row in copies))
        same("bytes", total(rows, "bytes"), want["copies_joined"][2] or 0)
    times = [(int(row["start_ns"]), int(row["duration_ns"]))
             for name in ("kernels", "memcpy") if tables.get(name) for row in table(path, name)]
    same("span", [min(start for start, _ in times), max(start + time for start, time in times)],
         want["ops"][1:3])


def xplane(path, want):
    """Each end of an event is rounded to the nearest nanosecond, so a sum is within a nanosecond per event."""
    rows = [(row, row["kernel_name"], int(row["device_id"])) for row in table(path, "kernels")]
    rows += [(row, "CopyDeviceToDevice", int(row["src_device"])) for row in table(path, "memcpy")]
    same("events", len(rows), want["gpu_events"])
    near("time", total([row for row, _, _ in rows]), want["gpu_ps"], len(rows))
    for plane in want["planes"]:
        if not plane["name"].startswith("/device:GPU:"):
            continue
        its = [row for row, _, device in rows if device == int(plane["name"].split(":")[-1])]
        same(f"events of {plane['name']}", len(its), plane["events"])
        near(f"time of {plane['name']}", total(its), plane["sum_duration_ps"], len(its))
    for name, count, time in want["top_gpu_names"]:
        its = [row for row, its_name, _ in rows if its_name == clean(name)]
        same(f"calls of {name}", len(its), count)
        near(f"time of {name}", total(its), time, count)
    same("hosts", sorted({row["node"] for row, _, _ in rows}), want["hostnames"])


def proton(path, want):
    report = json.loads(rockit("report", "-f", "json", path))
    same("time", sum(k["total_ns"] for k in report["kernels"]), want["sum_time_ns"])
    rows = table(path, "stats")
    same("nodes with a time", len(rows), want["leaves"])
    same("devices", sorted(row["device_id"] for row in table(path, "agents")),
         sorted(device for devices in want["devices"].values() for device in devices))


def cases(folder):
    for name, want in json.loads((folder / "EXPECTED.json").read_text()).items():
        if name.endswith(".xplane.pb"):
            yield xplane, folder / (name + ".gz"), want
        if name.startswith("proton_"):
            yield proton, folder / name, want
    for name, want in json.loads((folder / "rpd_expected.json").read_text()).items():
        yield rpd, folder / (name + ".gz"), want


def main():
    folder = pathlib.Path(os.environ.get("ROCKIT_RECORDED_DATA", ""), "new_formats")
    if not (folder / "rpd_expected.json").exists():
        print("skipped: ROCKIT_RECORDED_DATA names no recorded output")
        return 77
    csv.field_size_limit(1 << 30)
    agree = failed = 0
    for check, path, want in cases(folder):
        if not path.exists() or (sys.argv[1:] and not any(a in path.name for a in sys.argv[1:])):
            continue
        try:
            check(path, want)
            with tempfile.TemporaryDirectory() as temp:
                rockit("convert", "-q", path, "-o", temp + "/tables/")
            agree += 1
        except AssertionError as fault:
            print(f"FAIL {path.name}: {fault}")
            failed += 1
    print(f"{agree} files agree, {failed} do not")
    return 1 if failed or not agree else 0


if __name__ == "__main__":
    sys.exit(main())
