#!/usr/bin/env python3
"""rockit metrics on recorded counters says what another evaluator makes of the same definitions.

ROCKIT_RECORDED_DATA names the folder; skipped (77) without it. The definitions are data/metrics of
this tree; parsing them, finding counters, joining passes, evaluating and adding up are done here
once more, in another way: rows are dictionaries, passes are joined by the n-th run of a kernel and
not by number, times are decimals. Every metric of every directory of rocprof-compute is compared,
for all four normalisers, over all dispatches and kernel by kernel. Counter files of rocprof and
rocprofv3 must be evaluated when they know their chip.
"""

import csv
import decimal
import fnmatch
import gzip
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROCKIT = os.environ.get("ROCKIT", "rockit")
DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "metrics"
NORMALS = {"per_kernel": "1", "per_wave": "waves", "per_cycle": "G", "per_second": "T/1e9"}
FIXED = ("Grid_Size", "Workgroup_Size", "Arch_VGPR", "Accum_VGPR", "SGPR", "LDS_Per_Workgroup",
         "Scratch_Per_Workitem")
# What formulas call columns of sysinfo.csv.
CHIP = {"cus": "cu_per_gpu", "ses": "se_per_gpu", "sqcs": "sqc_per_gpu", "simds": "simd_per_cu",
        "banks": "lds_banks_per_cu", "wslots": "max_waves_per_cu", "sclk": "max_sclk",
        "mclk": "max_mclk", "l2ch": "total_l2_chan", "hbmch": "num_hbm_channels",
        "xcds": "num_xcd", "pipes": "pipes_per_gpu", "wave": "wave_size"}
# What the JSON calls them where it has longer names.
DEVICE = {"wslots": "wave_slots", "sclk": "sclk_mhz", "mclk": "mclk_mhz", "l2ch": "l2_channels",
          "hbmch": "hbm_channels", "wave": "wave_size"}
VERDICTS = re.compile(r"memory:(hbm|dram|l2|l1|lds)|compute:(valu|mfma)|latency|launch|communication|"
                      r"balanced|mixed|unusable")


class Absent(Exception):
    """A name in a formula was not recorded."""


# ---- expressions: text becomes a function of a dispatch ----

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?)|([A-Za-z_][\w.]*)|(.))")


def tokens(text):
    for number, name, sign in TOKEN.findall(text):
        yield ("number", float(number)) if number else ("name", name) if name else ("sign", sign)
    yield ("end", "")


def divide(a, b):
    return a / b if b else math.nan


OPERATORS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": divide}


class Parser:
    """`find(name)` and `level(name)` give functions of a dispatch, or raise Absent."""

    def __init__(self, text, find, level):
        self.left, self.find, self.level = list(tokens(text)), find, level

    def take(self, *signs):
        kind, value = self.left[0]
        if kind == "sign" and value in signs:
            return self.left.pop(0)[1]
        return None

    def whole(self):
        value = self.chain(lambda: self.chain(self.factor, "*/"), "+-")
        assert self.left[0][0] == "end", self.left
        return value

    def chain(self, part, signs):
        value = part()
        while sign := self.take(*signs):
            value = (lambda f, a, b: lambda d: f(a(d), b(d)))(OPERATORS[sign], value, part())
        return value

    def factor(self):
        if self.take("-"):
            inner = self.factor()
            return lambda d: -inner(d)
        if self.take("("):
            return self.closed()
        kind, value = self.left.pop(0)
        if kind == "number":
            return lambda d: value
        assert kind == "name", (kind, value)
        return self.call(value) if self.take("(") else self.find(value)

    def closed(self):
        inner = self.chain(lambda: self.chain(self.factor, "*/"), "+-")
        assert self.take(")"), self.left
        return inner

    def part(self, end):
        """What comes before the sign `end` of this depth, taken out with it, not yet looked up."""
        depth, inner = 0, Parser("", self.find, self.level)
        inner.left.clear()
        while depth or self.left[0] != ("sign", end):
            depth += {("sign", "("): 1, ("sign", ")"): -1}.get(self.left[0], 0)
            inner.left.append(self.left.pop(0))
        self.left.pop(0)
        inner.left.append(("end", ""))
        return inner

    def call(self, word):
        if word == "LVL":
            name = self.left.pop(0)[1]
            assert self.take(")")
            return self.level(name)
        if word == "or":
            first, second = self.part(","), self.part(")")
            try:
                return first.whole()
            except Absent:
                return second.whole()
        assert word == "MAX0", word
        inner = self.closed()
        return lambda d: max(inner(d), 0.0) if inner(d) == inner(d) else math.nan


# ---- definitions ----

def closest(cases, arch):
    """The case of the longest pattern that fits; a text is one for all."""
    if not isinstance(cases, dict):
        return cases
    fits = [(len(p), text) for names, text in cases.items() for p in names.split()
            if fnmatch.fnmatchcase(arch, p)]
    return max(fits)[1] if fits else None


def definitions():
    metrics, terms = {}, {}
    for path in sorted(DATA.glob("[0-9]*.json")):
        doc = json.loads(path.read_text())
        terms.update(doc.get("terms", {}))
        metrics.update({m["id"]: m for m in doc.get("metrics", [])})
    return metrics, terms


# ---- recorded files ----

def rows_of(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="") as f:
        return list(csv.DictReader(f))


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def duration(row):
    """NaN where the stamps have lost their last digits to a spreadsheet."""
    if "E" in row["End_Timestamp"].upper():
        return math.nan
    return float(decimal.Decimal(row["End_Timestamp"]) - decimal.Decimal(row["Start_Timestamp"]))


def clean(name):
    return re.sub(r"(\.kd| \[clone \.kd\]| \(\.kd\))$", "", name).strip()


def long_rows(rows):
    """One row of all counters for each dispatch; its time is the median over its rows."""
    found = {}
    for r in rows:
        one = found.setdefault((int(r["Dispatch_ID"]), r["Kernel_Name"]), dict(r, times=[]))
        one[r["Counter_Name"]] = r["Counter_Value"]
        one["times"].append(duration(r))
    for one in found.values():
        one["T"] = statistics.median(one.pop("times"))
    return list(found.values())


def nth(rows):
    """Each row under its kernel, its grid, and how many of these came before."""
    seen, found = {}, {}
    for r in sorted(rows, key=lambda r: int(r["Dispatch_ID"])):
        key = (r["Kernel_Name"], r["Grid_Size"])
        seen[key] = seen.get(key, 0) + 1
        found[key + (seen[key],)] = r
    return found


def channels_of(names):
    """The columns "X[0]", "X[1]", ... under X."""
    found = {}
    for name in names:
        if part := re.fullmatch(r"(.*)\[\d+\]", name):
            found.setdefault(part[1], []).append(name)
    return found


class Workload:
    """A directory of rocprof-compute."""

    def __init__(self, folder):
        [main] = [p for p in folder.iterdir() if p.name in ("pmc_perf.csv", "pmc_perf.csv.gz")]
        rows = rows_of(main)
        if "Counter_Name" in rows[0]:
            rows = long_rows(rows)
        else:
            for r in rows:
                r["T"] = duration(r)
        self.dispatches = [{"": r} for r in rows]
        self.passes = {p.stem: rows_of(p) for p in sorted(folder.glob("SQ_*.csv"))}
        by_key = {key: d for d in self.dispatches for key, r in nth(rows).items() if r is d[""]}
        for level, others in self.passes.items():
            for key, r in nth(others).items():
                if key in by_key:
                    by_key[key][level] = r
        self.columns = {"": set(rows[0])}
        self.columns.update({level: set(r[0]) for level, r in self.passes.items() if r})
        self.channels = {level: channels_of(names) for level, names in self.columns.items()}
        self.known = {}
        self.describe(rows_of(folder / "sysinfo.csv")[0])

    def describe(self, info):
        self.arch = info["gpu_arch"]
        self.chip = {ours: number(info.get(theirs)) for ours, theirs in CHIP.items()}
        # the tool counts too few channels on one chip; the bandwidth it gives is right
        width = self.chip["mclk"] * 32 / 1000
        if number(info.get("hbm_bw")) > 0 and width > 0:
            self.chip["hbmch"] = number(info["hbm_bw"]) / width

    def spellings(self, name):
        """The names a counter may have, best first."""
        if not name.startswith("EA."):
            return [name]
        both = ["TCC_EA_" + name[3:], "TCC_EA0_" + name[3:]]
        return both if self.arch in ("gfx906", "gfx90a") else both[::-1]

    def look_in(self, level, name):
        """The columns that add up to the counter in one pass, [] for none."""
        columns = self.columns.get(level, ())
        for spelling in self.spellings(name):
            base = spelling.removesuffix("_sum")
            if base + "_sum" in columns:
                return [base + "_sum"]
            if base in self.channels.get(level, {}):
                return self.channels[level][base]
            if base in columns:
                return [base]
        return []

    def place(self, name, wanted):
        """The pass and its columns: the wanted pass, the main one, any other."""
        for level in dict.fromkeys([wanted, "", *self.passes]):
            match = self.look_in(level, name)
            if match:
                return level, match
        return None, []

    def counter(self, name, wanted):
        if (name, wanted) not in self.known:
            level, match = self.place(name, wanted)
            self.known[name, wanted] = match and {
                id(d): math.fsum(number(d.get(level, {}).get(c)) for c in match)
                for d in self.dispatches}
        values = self.known[name, wanted]
        if not values:
            raise Absent(name)
        return lambda d: values[id(d)]

    def level(self, name):
        if name + "_ACCUM" in self.columns[""]:
            return lambda d: number(d[""].get(name + "_ACCUM"))
        if "SQ_ACCUM_PREV_HIRES" in self.columns.get(name, []):
            return lambda d: number(d.get(name, {}).get("SQ_ACCUM_PREV_HIRES"))
        raise Absent(f"integral of {name}")


class Evaluator:
    def __init__(self, workload, metrics, terms, normal):
        self.w, self.metrics, self.terms = workload, metrics, terms
        self.normal = normal

    def compiled(self, text, wanted):
        return Parser(text, lambda name: self.find(name, wanted), self.w.level).whole()

    def find(self, name, wanted):
        try:
            return self.w.counter(name, "" if name.startswith("GRBM_") else wanted)
        except Absent:
            pass
        if name in FIXED or name == "T":
            if name not in self.w.columns[""] and name != "T":
                raise Absent(name)
            return lambda d: number(d[""][name])
        text = NORMALS[self.normal] if name == "D" else closest(self.terms.get(name), self.w.arch)
        if text is not None:
            return self.compiled(text, wanted)
        if math.isnan(self.w.chip.get(name, math.nan)):
            raise Absent(name)
        return lambda d: self.w.chip[name]

    def values(self, metric):
        """(value, time, kernel) of each dispatch that has one."""
        text = closest(metric["expr"], self.w.arch)
        archs = metric.get("archs", ["*"])
        if text is None or not any(fnmatch.fnmatchcase(self.w.arch, a) for a in archs):
            return []
        try:
            value = self.compiled(text, metric.get("pass", ""))
        except Absent:
            return []
        found = [(value(d), d[""]["T"], clean(d[""]["Kernel_Name"])) for d in self.w.dispatches]
        return [v for v in found if math.isfinite(v[0])]

    def peak(self, metric):
        text = closest(metric.get("peak"), self.w.arch)
        try:
            value = self.compiled(text, "")({}) if text is not None else None
        except Absent:
            return None
        return value


def cells(values, peak, median):
    """What rockit says of a metric: None where it can say nothing."""
    v = [x[0] for x in values]
    time = sum(x[1] for x in values if x[1] > 0)
    avg = math.fsum(v) / len(v)
    return {"avg": avg, "min": min(v), "max": max(v),
            "weighted": math.fsum(x[0] * x[1] for x in values if x[1] > 0) / time if time else None,
            "median": statistics.median(v) if median else None,
            "peak": peak, "percent_of_peak": 100 * avg / peak if peak else None}


def close(a, b):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


class Count:
    def __init__(self):
        self.equal = self.blank = self.bad = 0

    def metric(self, where, want, got):
        """`want` None: no value."""
        if want is None or got is None:
            same = want is None and got is None
            self.blank += same
            if not same:
                self.fault(f"{where}: {got} where {want} was expected")
            return
        for cell, value in want.items():
            if close(value, got.get(cell)):
                self.equal += 1
            else:
                self.fault(f"{where} {cell}: {got.get(cell)} where {value} was expected")

    def fault(self, text):
        self.bad += 1
        print("FAIL", text)


def rockit(*args):
    run = subprocess.run([ROCKIT, "metrics", "-q", "--format", "json", *map(str, args)],
                         capture_output=True, text=True, timeout=300)
    if run.returncode:
        raise RuntimeError(f"exit status {run.returncode}: {run.stderr.strip()}")

    def refuse(word):
        raise RuntimeError(f"{word} is no JSON")
    return json.loads(run.stdout, parse_constant=refuse)


def by_id(entries):
    return {m["id"]: m for m in entries}


def fill_chip(chip, device):
    """What sysinfo.csv leaves open is rockit's to know: its own tests hold those numbers."""
    for name, value in chip.items():
        if math.isnan(value):
            chip[name] = number(device.get(DEVICE.get(name, name)))


def compare(workload, folder, metrics, terms, normal, count):
    evaluator = Evaluator(workload, metrics, terms, normal)
    doc = rockit(folder, "--normal", normal)
    fill_chip(workload.chip, doc["device"])
    where = f"{folder.parent.name}/{folder.name} {normal}"
    got, absent = by_id(doc["metrics"]), by_id(doc["absent"])
    kernels = {k["name"]: by_id(k["metrics"]) for k in doc["kernels"]}
    for ident, metric in metrics.items():
        values, peak = evaluator.values(metric), evaluator.peak(metric)
        median = metric.get("agg") == "median"
        want = cells(values, peak, median) if values else None
        count.metric(f"{where} {ident}", want, got.get(ident))
        if (ident in got) == bool(absent.get(ident, {}).get("reason")):
            count.fault(f"{where} {ident} is not either a value or absent with a reason")
        for name, of_kernel in kernels.items():
            mine = [v for v in values if v[2] == name]
            count.metric(f"{where} {name} {ident}", cells(mine, peak, median) if mine else None,
                         of_kernel.get(ident))
    if set(kernels) != {clean(d[""]["Kernel_Name"]) for d in evaluator.w.dispatches}:
        count.fault(f"{where}: kernels are {sorted(kernels)}")
    return doc


def check_verdicts(where, doc, count):
    for k in doc["kernels"]:
        if not VERDICTS.fullmatch(k["verdict"]) or not k["reason"]:
            count.fault(f"{where}: no verdict on {k['name']}")
    if not doc["kernels"]:
        count.fault(f"{where}: no kernels")


def check_single(path, arch, count):
    """A file of counters alone, told its chip."""
    try:
        doc = rockit(path, "--arch", arch)
    except RuntimeError as error:
        count.fault(f"{path.name}: {error}")
        return
    check_verdicts(path.name, doc, count)
    if doc["arch"] != arch:
        count.fault(f"{path.name}: computed for {doc['arch']}")


def is_counter_file(path):
    """Whether it has counters of dispatches, and not only their times."""
    name = path.name.removesuffix(".gz")
    return name.endswith(("counter_collection.csv", "_results.csv", "__data_movement.csv",
                          "__bankconflicts.csv"))


def main():
    folder = os.environ.get("ROCKIT_RECORDED_DATA")
    if not folder or not (pathlib.Path(folder) / "rocprof_compute").is_dir():
        print("skipped: ROCKIT_RECORDED_DATA names no recorded output")
        return 77
    folder = pathlib.Path(folder)
    csv.field_size_limit(1 << 30)
    metrics, terms = definitions()
    count, chips, singles = Count(), {}, 0
    for work in sorted(p.parent for p in folder.glob("rocprof_compute/MI*/*/pmc_perf.csv*")):
        workload = Workload(work)
        for normal in NORMALS:
            doc = compare(workload, work, metrics, terms, normal, count)
        check_verdicts(work.name, doc, count)
        chips.setdefault(doc["arch"], []).extend(k["verdict"] for k in doc["kernels"])
    for path in sorted(folder.glob("rocprof_v1/*")) + sorted(folder.glob("rocprofv3_csv/*")):
        if is_counter_file(path):
            check_single(path, "gfx1201" if "sq8" in path.name else "gfx90a", count)
            singles += 1
    for chip, verdicts in chips.items():
        print(f"{chip}: {', '.join(sorted(set(verdicts)))}")
    print(f"{len(metrics)} metrics: {count.equal} cells equal, {count.blank} blank on both sides, "
          f"{count.bad} not; {singles} counter files evaluated")
    return 1 if count.bad or not count.equal or not singles else 0


if __name__ == "__main__":
    sys.exit(main())
