#!/usr/bin/env python3
"""rockit report and convert on recorded profiler output say what an independent reader found in it.

ROCKIT_RECORDED_DATA names the folder; its EXPECTED.json holds, for each file, rows, sums, first
start, last end, the five biggest names, counters, samples. Skipped (77) without it. Names are held
against c++filt's text of what was recorded. Every kind is checked: a file of a kind in CHECKS must
be read and agree, one of a kind in REFUSED must be refused in one line. An argument is a part of a
kind or file name: only those are checked.
"""

import collections
import contextlib
import csv
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

ROCKIT = os.environ.get("ROCKIT", "rockit")

SECTION = {"kernel": "kernels", "api": "api", "copy": "copies", "domain": "domains",
           "marker": "markers", "memory": "memory"}

# Standard metrics of the recorded samples, by the column they come from.
METRIC = {"power_watts": "power_w", "socket_power": "power_w", "temp_edge_celsius": "temp_c",
          "vram_used_bytes": "vram_used_bytes"}


class Refused(Exception):
    pass


def run_rockit(*args):
    run = subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        raise Refused(f"exit status {run.returncode}: {run.stderr.strip()}")
    return run.stdout


def clean(name):
    """A name as written in the file, without the tools' suffixes and the quotes of a database."""
    name = name.strip('"')
    return re.sub(r"(\.kd| \[clone \.kd\]| \(\.kd\))$", "", name).strip()


def demangled(names):
    """Names as binutils' c++filt prints them; without -r it refuses the deepest."""
    names = list(names)
    text = "".join(n + "\n" for n in names if n.startswith("_Z") and " " not in n)
    run = subprocess.run(["c++filt", "-r"], input=text, capture_output=True, text=True, check=True)
    printed = iter(run.stdout.splitlines())
    return [next(printed) if n.startswith("_Z") and " " not in n else n for n in names]


class File:
    """One recorded file: what is expected of it, and what rockit says."""

    def __init__(self, path, want):
        self.path, self.want, self.faults = path, want, []
        self.report = json.loads(run_rockit("report", "--format", "json", path))
        self.tables = self.report["tables"]
        self.warned = {w["kind"]: w["count"] for w in self.report["warnings"]}

    def rows(self, table):
        text = run_rockit("convert", "-q", "--table", table, "-f", "csv", "-o", "-", self.path)
        return list(csv.DictReader(text.splitlines(keepends=True)))

    def same(self, what, got, want):
        if want is not None and got != want:
            self.faults.append(f"{what} is {got}, not {want}")

    def near(self, what, got, want):
        if got is None or abs(got - want) > 1e-6 * max(1.0, abs(want)):
            self.faults.append(f"{what} is {got}, not {want}")

    def told(self, kind):
        self.same(f"warning {kind}", kind in self.warned, True)

    def top(self, section, want):
        """The five biggest: calls and totals, and the names where they stand as written."""
        rows = self.report[section]
        got = sorted(((r["total_ns"] or 0, r["calls"]) for r in rows), reverse=True)
        expected = sorted(((round(r["total_ns"]), r["calls"]) for r in want), reverse=True)
        if any(total for total, _ in expected):  # without times all are as big
            self.same("top of " + section, got[:len(expected)], expected)
        names = {r["name"]: (r["total_ns"] or 0, r["calls"]) for r in rows}
        for row, name in zip(want, demangled(clean(row["name"]) for row in want)):
            self.same(f"'{name[:60]}' in {section}", names.get(name),
                      (round(row["total_ns"]), row["calls"]))

    def kernel_names(self):
        """The names of the biggest 20 kernels, against c++filt's text of the recorded ones."""
        if self.want["kind"] == "rocpd":  # has a name to show beside the mangled one
            with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
                recorded = [clean(name) for name, in db.execute(
                    "SELECT display_name FROM rocpd_kernel_dispatch d"
                    " JOIN rocpd_info_kernel_symbol s ON s.id = d.kernel_id AND s.guid = d.guid")]
        else:
            text = run_rockit("convert", "-q", "--mangled", "--table", "kernels", "-f", "csv",
                              "-o", "-", self.path)
            rows = csv.DictReader(text.splitlines(keepends=True))
            recorded = [clean(r["kernel_name"]) for r in rows]
        readable = dict(zip(set(recorded), demangled(set(recorded))))
        calls = collections.Counter(readable[name] for name in recorded)
        for row in sorted(self.report["kernels"], key=lambda r: -(r["total_ns"] or 0))[:20]:
            self.same(f"calls of '{row['name'][:60]}'", row["calls"], calls[row["name"]])


def kernels(f):
    want, report = f.want, f.report
    f.same("kernel_rows", report["kernel_rows"], want.get("dispatches", want.get("kernel_rows")))
    if want.get("timing_unusable"):
        f.told("damaged-time")
        f.same("min_start_ns", str(report["min_start_ns"]), "None")
        return
    if want.get("negative_dur"):
        f.told("negative-duration")
        return
    f.same("sum_duration_ns", report["sum_duration_ns"] or 0, want.get("sum_dur_ns"))
    f.same("min_start_ns", report["min_start_ns"], want.get("min_start"))
    f.same("max_end_ns", report["max_end_ns"], want.get("max_end"))
    f.top("kernels", want.get("top5_demangled") or want.get("top5") or [])
    f.kernel_names()


def counters(f):
    got = {c["name"]: c for c in f.report.get("counters", [])}
    for name, want in f.want.get("counters", {}).items():
        f.same(f"{name} rows", got.get(name, {}).get("rows"), want["rows"])
        f.near(f"{name} sum", got.get(name, {}).get("sum"), want["sum"])
    for name, want in f.want.get("counter_sums_first6", {}).items():
        f.near(f"{name} sum", got.get(name, {}).get("sum"), want)


def kernels_and_counters(f):
    kernels(f)
    counters(f)


def stats(f):
    section = SECTION.get(f.report["stats_of"])
    if not section:
        f.faults.append(f"stats_of is {f.report['stats_of']}")
        return
    rows = f.report[section]
    f.same("rows", len(rows), f.want["rows"])
    f.same("sum of calls", sum(r["calls"] for r in rows), f.want["sum_calls"])
    f.same("sum of totals", sum(r["total_ns"] for r in rows), f.want["sum_total_ns"])


def trace(*tables):
    """Rows, durations and names of a file of calls, copies or operations."""
    def check(f):
        f.same("rows", sum(f.tables[t] for t in tables), f.want["rows"])
        sections = [{"memcpy": "copies", "memalloc": "memory"}.get(t, t) for t in tables]
        rows = [row for s in sections for row in f.report.get(s) or []]
        if not f.want.get("negative_dur"):
            total = sum(row["total_ns"] or 0 for row in rows)
            f.same("sum of durations", total, f.want.get("sum_dur_ns"))
        names = {row["name"]: (row["calls"], row["total_ns"] or 0) for row in rows}
        for row in f.want.get("top5", []):
            f.same(row["name"], names.get(row["name"]), (row["calls"], row["total_ns"]))
    return check


def rows_of(table):
    def check(f):
        f.same("rows", f.tables[table], f.want["rows"])
    return check


def kineto(f):
    kernels(f)
    f.same("copies", f.tables["memcpy"], f.want["copies"])
    f.same("calls", f.tables["api"], f.want["calls"])


def nsys(f):
    kernels(f)
    rows = f.rows("memcpy")
    copies = [r for r in rows if not r["direction"].upper().startswith("MEMSET")]
    f.same("copies", len(copies), f.want["n_memcpy"])
    f.same("memsets", len(rows) - len(copies), f.want.get("n_memset"))
    f.same("bytes", sum(int(r["bytes"]) for r in copies), f.want["memcpy_bytes"])
    calls = [r for r in f.rows("api") if r["domain"].startswith("CUDA_")]
    f.same("calls", len(calls), f.want["n_runtime"])


def v1_db(f):
    ops = f.want.get("ops")
    if ops:  # the kernels of a HIP trace are here
        f.want = {**f.want, **ops}
    kernels(f)
    if f.want.get("copy"):
        f.same("copies", f.tables["memcpy"], f.want["copy"]["kernel_rows"])
        f.top("copies", f.want["copy"]["top5"])
    if f.want.get("hip"):
        f.same("calls", f.tables["api"], f.want["hip"]["kernel_rows"])
        f.top("api", f.want["hip"]["top5"])


def analysis_db(f):
    f.same("dispatches", f.report["kernel_rows"], f.want["dispatches"])
    f.same("kernels", len(f.report["kernels"]), f.want["kernels"])


def dispatch_info(f):
    f.same("kernel_rows", f.report["kernel_rows"], f.want["kernel_rows"])
    f.same("names", len(f.report["kernels"]), f.want["distinct_names"])


def power(f):
    metric, want = METRIC[f.want["value_column"]], f.want
    rows = [r for r in f.rows("samples") if r["metric"] == metric]
    f.same("samples", len(rows), want["samples_total"])
    for device, expected in want["per_device"].items():
        values = [float(r["value"]) for r in rows if r["device_id"] == device.strip("card")]
        f.same(f"{device} samples", len(values), expected["n"])
        if values:
            f.near(f"{device} min", min(values), expected["min"])
            f.near(f"{device} max", max(values), expected["max"])
            f.near(f"{device} mean", sum(values) / len(values), expected["mean"])
    times = {int(r["time_ns"]) for r in rows}
    f.same("times", (min(times), max(times)), (want["min_ts"] * 10**9, want["max_ts"] * 10**9))
    odd = f.warned.get("short-row", 0) + f.warned.get("cut-row", 0)
    f.same("short rows", odd, want.get("short_rows", 0))


def energy(f):
    got = {r["device_id"]: float(r["value"]) for r in f.rows("samples") if r["metric"] == "energy_j"}
    f.same("energy", got, f.want["per_device"])


def sysinfo(f):
    agent, want = f.rows("agents"), f.want
    f.same("agents", len(agent), want["rows"])
    f.same("gfx", agent[0]["gfx"], want.get("gpu_arch", want.get("gpu_soc")))
    f.same("name", agent[0]["name"], want.get("gpu_model"))
    f.same("cu_count", agent[0]["cu_count"], want.get("cu_per_gpu", want.get("numcu")))
    f.same("xcc", agent[0]["xcc"], want.get("num_xcd"))
    if "command" in want["header"]:
        f.same("processes", f.tables["processes"], want["rows"])


def roofline(f):
    rows = f.rows("samples")
    f.same("samples", len(rows), f.want["devices"] * (f.want["columns"] - 1))
    f.same("HBMBw", [float(r["value"]) for r in rows if r["metric"] == "HBMBw"], f.want["hbmbw"])
    f.same("units", {r["unit"] for r in rows}, {"GB/s", "GFLOP/s", "GOP/s"})


def raw_text(f):
    """The few texts that are traces: a record a line, ends of ranges and the preamble aside."""
    records = sum(1 for line in f.path.read_text().splitlines()
                  if re.match(r"\d+:\d+ |\d+ \d+:\d+ [013]:|Domain\(.*(_API_|ROCTX_Message)", line))
    f.same("rows", sum(f.tables.values()), records)


CHECKS = {
    "rocpd": kernels,
    "rocprofv3_kernel_trace": kernels,
    "rocprofv3_counter_collection": kernels_and_counters,
    "rocprofv3_api_trace": trace("api", "markers"),
    "rocprofv3_memory_copy_trace": trace("memcpy"),
    "rocprofv3_memory_allocation_trace": trace("memalloc"),
    "rocprofv3_scratch_memory_trace": trace("memalloc"),
    "rocprofv3_pc_sampling": rows_of("pc_samples"),
    "rocprofv3_agent_info": rows_of("agents"),
    "rocprofv3_stats": stats,
    "rocprofv3_json": kernels,
    "rocprof_v1_results": kernels_and_counters,
    "rocprof_v1_stats": stats,
    "rocprof_v1_db": v1_db,
    "rocprof_v1_chrome_json": kernels,
    "rocprofv2_results": kernels_and_counters,
    "rocprofv2_api_trace": trace("api", "markers"),
    "rocprof_compute_pmc": kernels_and_counters,
    "rocprof_compute_pmc_long": kernels_and_counters,
    "rocprof_compute_dispatch_info": dispatch_info,
    "rocprof_compute_kernel_top": stats,
    "rocprof_compute_analysis_db": analysis_db,
    "rocprof_compute_sysinfo": sysinfo,
    "rocprof_compute_roofline": roofline,
    "kineto_json": kineto,
    "nsys_sqlite": nsys,
    "nsys_nvtx_pushpop_trace_csv": trace("markers"),
    "power_samples": power,
    "amd_smi_energy": energy,
    "text": raw_text,
}
REFUSED = ("text", "invalid_json")


def must_refuse(name, want):
    return want["kind"] in REFUSED and "golden_txt" not in name


def check_refused(path):
    try:
        run_rockit("report", "--format", "json", path)
    except Refused as error:
        lines = str(error).splitlines()
        return [] if len(lines) == 1 and str(path) in lines[0] else [f"refused with {lines}"]
    return ["is read, though it is not profiler output"]


def check_file(path, want, temp):
    try:
        f = File(path, want)
        CHECKS[want["kind"]](f)
        run_rockit("convert", "-q", path, "-o", tempfile.mkdtemp(dir=temp) + "/")
    except Refused as error:
        return [str(error)]
    return f.faults


def wanted(name, want):
    parts = sys.argv[1:]
    return not parts or any(part in name or part in str(want.get("kind")) for part in parts)


def main():
    folder = os.environ.get("ROCKIT_RECORDED_DATA")
    if not folder or not (pathlib.Path(folder) / "EXPECTED.json").exists():
        print("skipped: ROCKIT_RECORDED_DATA names no recorded output")
        return 77
    folder = pathlib.Path(folder)
    csv.field_size_limit(1 << 30)
    passed, failed = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as temp:
        for name, want in json.loads((folder / "EXPECTED.json").read_text()).items():
            if not (folder / name).exists() or not wanted(name, want):
                continue
            if must_refuse(name, want):
                faults = check_refused(folder / name)
            elif want["kind"] in CHECKS:
                faults = check_file(folder / name, want, temp)
            else:
                faults = [f"kind {want['kind']} is not checked"]
            for fault in faults:
                print(f"FAIL {name}: {fault}")
            (failed if faults else passed)[want["kind"]] += 1
    for kind in sorted(set(passed) | set(failed)):
        print(f"{kind:36} {passed[kind]:4} agree {failed[kind]:4} do not")
    print(f"{passed.total()} files agree, {failed.total()} do not")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
