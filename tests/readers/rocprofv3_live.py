#!/usr/bin/env python3
"""Four formats that one rocprofv3 wrote of the same run say the same wherever they hold the same fact.

ROCKIT_RECORDED_DATA/rocprofv3_live has the recordings; its EXPECTED.json has counts, totals and names
of each database, read with SQL. Skipped (77) without it.
"""

import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROCKIT = os.environ.get("ROCKIT", "rockit")

# Columns that a format does not have, or that mean something else there.
NOT_IN = {
    "csv": {
        # the tool writes 0 where a kernel has LDS that it declares itself
        "kernels": {"pid", "node", "source", "shared_mem"},
        "memcpy": {"bytes", "pid", "tid", "node"},
        "memalloc": {"pid", "tid", "node"},
        "api": {"node"}, "markers": {"node"}, "counters": {"node"},
        "agents": {"max_mclk_mhz", "memory_bytes", "node"},
    },
    "json": {"kernels": {"source"}, "processes": {"ppid"}},
    "pftrace": {
        # queues are counted from 0 there, sizes are only products
        "kernels": {"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "grid_items_x",
                    "grid_items_y", "grid_items_z", "queue_id", "dispatch_id", "node", "source"},
        "memcpy": {"node"}, "markers": {"node"}, "counters": {"dispatch_id", "node"},
        "api": {"domain", "node"},
    },
}
# Tables that a format does not have.
NO_TABLE = {"csv": {"processes"}, "json": set(), "pftrace": {"memalloc", "agents", "processes"}}
# Values that must be missing, not invented.
MISSING = {
    "csv": {"agents": ["memory_bytes"]},
    "pftrace": {"kernels": ["dispatch_id", "grid_x", "block_y", "grid_items_x"],
                "counters": ["dispatch_id"]},
}

faults = []


def fault(text):
    faults.append(text)


def tables(inputs, work):
    """The tables of some files of one process, as rows by table."""
    source, out = work / "in", work / "out"
    for place in (source, out):
        shutil.rmtree(place, ignore_errors=True)
    source.mkdir()
    for path in inputs:
        shutil.copy(path, source)
    run = subprocess.run([ROCKIT, "convert", "-q", "-f", "csv", source, "-o", f"{out}/"],
                         capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        fault(f"{inputs[0]}: {run.stderr.strip()}")
        return {}
    found = {}
    for path in out.glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            found[path.stem.replace("rocprof_", "")] = list(csv.DictReader(file))
    return found


def projected(rows, without):
    return collections.Counter(tuple((k, v) for k, v in sorted(row.items()) if k not in without)
                               for row in rows)


def compare(what, kind, ours, reference):
    for table, rows in reference.items():
        if table in NO_TABLE[kind] or not rows:
            continue
        without = NOT_IN[kind].get(table, set())
        a, b = projected(rows, without), projected(ours.get(table, []), without)
        if a != b:
            odd = next(iter((b - a) or (a - b)))
            fault(f"{what}: {table} of {kind} differs from the database "
                  f"({sum((a - b).values())} of {len(rows)} rows): {dict(odd)}")
    for table, columns in MISSING.get(kind, {}).items():
        for column in columns:
            if any(row[column] for row in ours.get(table, [])):
                fault(f"{what}: {table} of {kind} has an invented {column}")


def check_expected(what, want, found):
    """The database against what SQL found in it."""
    kernels = found.get("kernels", [])
    names = collections.defaultdict(lambda: [0, 0])
    for row in kernels:
        names[row["kernel_name"]][0] += 1
        names[row["kernel_name"]][1] += int(row["duration_ns"])
    # --mangled-kernels: the names here are demangled, the sums are the same
    mangled = any(name.startswith("_Z") for name in want["names"])
    got_names, want_names = dict(names), {n: list(v) for n, v in want["names"].items()}
    if mangled:
        got_names, want_names = (sorted(n.values()) for n in (got_names, want_names))
    marks = [row for row in found.get("markers", []) if row["kind"] == "mark"]
    copies = found.get("memcpy", [])
    for name, got, expected in [
            ("kernels", len(kernels), want["kernels"]),
            ("kernel time", sum(int(r["duration_ns"]) for r in kernels), want["kernel_ns"]),
            ("kernel names", got_names, want_names),
            ("copies", len(copies), want["copies"]),
            ("bytes copied", sum(int(r["bytes"]) for r in copies), want["copy_bytes"] or 0),
            ("allocations", len(found.get("memalloc", [])), want["allocations"]),
            ("regions", len(found.get("api", [])) + len(found.get("markers", [])) - len(marks),
             want["regions"]),
            ("marks", len(marks), want["samples"]),
            ("processes", len(found.get("processes", [])), want["processes"]),
            ("agents", len(found.get("agents", [])), want["agents"]),
            ("any counters", bool(found.get("counters")), bool(want["pmc_events"]))]:
        if got != expected:
            fault(f"{what}: {name}: {got}, not {expected}")


def queues_agree(what, ours, reference):
    """Perfetto counts queues from 0: the numbers differ, the queues do not."""
    pairs = collections.defaultdict(set)
    reference = {(r["start_ns"], r["kernel_name"]): r for r in reference.get("kernels", [])}
    for row in ours.get("kernels", []):
        other = reference.get((row["start_ns"], row["kernel_name"]))
        if other:
            pairs[row["device_id"], row["queue_id"]].add(other["queue_id"])
    if any(len(found) != 1 for found in pairs.values()):
        fault(f"{what}: queues of pftrace are not those of the database: {dict(pairs)}")


def by_type(agents, csvs, work, reference, what):
    """The same run with --agent-index type-relative: "GPU 0" is not "CPU 0"."""
    names, counts = {}, collections.Counter()
    for row in sorted(agents, key=lambda r: int(r["device_id"])):
        names[row["device_id"]] = f'{row["type"]} {counts[row["type"]]}'
        counts[row["type"]] += 1
    place = work / "typed"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for path in csvs:
        text = subprocess.run(["gzip", "-dcf"], stdin=open(path, "rb"), capture_output=True,
                              check=True).stdout.decode()
        text = re.sub(r'"Agent (\d+)"', lambda m: f'"{names[m[1]]}"', text)
        (place / path.name.removesuffix(".gz")).write_text(text)
    compare(what + " by type", "csv", tables(sorted(place.iterdir()), work), reference)


def check(folder, database, want, work):
    stem = database.name.split("_results")[0]
    mine = sorted(p for p in database.parent.iterdir() if p.name.startswith(stem + "_"))
    what = f"{folder}/{stem}"
    reference = tables([database], work)
    check_expected(what, want, reference)
    sets = {"json": [p for p in mine if "_results.json" in p.name],
            "pftrace": [p for p in mine if ".pftrace" in p.name],
            "csv": [p for p in mine if ".csv" in p.name and "_stats" not in p.name]}
    for kind, files in sets.items():
        if not files:
            continue
        ours = tables(files, work)
        compare(what, kind, ours, reference)
        if kind == "pftrace":
            queues_agree(what, ours, reference)
    by_type(reference["agents"], sets["csv"], work, reference, what)
    # all files together: nothing counts twice
    compare(what + " whole", "json", tables(mine, work), reference)


def main():
    data = os.environ.get("ROCKIT_RECORDED_DATA")
    live = pathlib.Path(data or "/nonexistent") / "rocprofv3_live"
    if not live.is_dir():
        print("skipped: ROCKIT_RECORDED_DATA has no rocprofv3_live")
        return 77
    expected = json.loads((live / "EXPECTED.json").read_text())
    with tempfile.TemporaryDirectory() as work:
        for name, want in expected.items():
            check(name.split("/")[0], live / name, want, pathlib.Path(work))
    for text in faults:
        print(text)
    print(f"{len(expected)} runs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
