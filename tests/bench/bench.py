#!/usr/bin/env python3
"""bench.py - rockit beside DuckDB and polars on the same files, in one run.

For the peers the engine's call alone is timed, for rockit the whole process, start included.
Rounds are interleaved and the best of each counts. Prints a table and which bars hold; slow is
not a failure, wrong output is.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import collector_costs
import metrics
import pack
import pages
import pyframes
import ranks
import runs
import traces

HERE = pathlib.Path(__file__).resolve().parent
ROWS = 2_000_000


class Bench:
    def __init__(self, args):
        self.build = pathlib.Path(args.build).resolve()
        self.work = pathlib.Path(args.work).resolve()
        self.rounds = args.rounds
        self.rows = args.rows
        self.times = {}  # (what, threads) -> best seconds
        self.rss = {}  # (what, threads) -> largest peak, MB
        self.sizes = {}  # what -> bytes
        self.bars = []  # (text, holds)
        self.wrong = []

    # -- inputs ---------------------------------------------------------------------------

    def input(self, name, *options):
        """A generated file, reused when it is there."""
        path = self.work / name
        if not path.exists():
            print(f"making {path.name}", file=sys.stderr)
            part = path.with_name(path.name + ".part")
            run = [self.build / "gen-trace", *options, part]
            subprocess.run([str(a) for a in run], check=True)
            part.rename(path)
        return path

    def csv(self, rows, shuffled=False):
        name = f"{'shuffled' if shuffled else 'sorted'}-{rows}.csv"
        options = ["--shuffle"] if shuffled else []
        return self.input(name, "--rows", rows, "--seed", 1, *options, "-o")

    def json(self, rows):
        """As rocprofv3 writes it: few names, then a record for each dispatch."""
        path = self.work / f"rocprofv3-{rows}.json"
        if path.exists():
            return path
        print(f"making {path.name}", file=sys.stderr)
        part = path.with_name(path.name + ".part")
        with open(part, "w") as out:
            out.write('{"rocprofiler-sdk-tool":[{"metadata":{"node":{"hostname":"n"},"pid":7},'
                      '"agents":[{"id":{"handle":900},"type":2,"node_id":4,"name":"gfx942"}],'
                      '"kernel_symbols":[')
            out.write(",".join('{"kernel_id":%d,"formatted_kernel_name":"kernel_%d(int*, float)",'
                               '"sgpr_count":32,"arch_vgpr_count":16,"accum_vgpr_count":4}' % (k, k)
                               for k in range(1, 65)))
            out.write('],"buffer_records":{"kernel_dispatch":[')
            for i in range(rows):
                start = 63857982592000 + 5000 * i
                out.write('%s{"size":184,"kind":11,"operation":2,"thread_id":908,"correlation_id":'
                          '{"internal":%d,"external":0},"start_timestamp":%d,"end_timestamp":%d,'
                          '"dispatch_info":{"size":72,"agent_id":{"handle":900},"queue_id":'
                          '{"handle":16},"kernel_id":%d,"dispatch_id":%d,"private_segment_size":0,'
                          '"group_segment_size":1024,"workgroup_size":{"x":256,"y":1,"z":1},'
                          '"grid_size":{"x":65536,"y":1,"z":1}},"stream_id":{"handle":0}}'
                          % ("," if i else "", i + 1, start, start + 2840, i % 64 + 1, i + 1))
            out.write("]}}]}")
        part.rename(path)
        return path

    def rocpd(self, rows):
        return self.input(f"rocpd-{rows}.db", "--rows", rows, "--seed", 1, "--rocpd")

    # -- measuring ------------------------------------------------------------------------

    def note(self, what, threads, seconds, rss_mb=None):
        key = (what, threads)
        self.times[key] = min(seconds, self.times.get(key, seconds))
        if rss_mb is not None:
            self.rss[key] = max(rss_mb, self.rss.get(key, 0))

    def process(self, what, threads, argv):
        """A whole process, fork and exec included; its peak memory from wait4."""
        with open(self.work / "log", "wb") as log:
            start = time.perf_counter()
            child = subprocess.Popen([str(a) for a in argv], stdout=log, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            tail = (self.work / "log").read_text(errors="replace")[-300:]
            raise RuntimeError(f"{what}: exit status {child.returncode}: {tail.strip()}")
        self.note(what, threads, seconds, usage.ru_maxrss / 1024)

    def peer(self, task, src, out, threads):
        argv = [sys.executable, HERE / "peers.py", task, src, out, threads]
        run = subprocess.run([str(a) for a in argv], check=True, capture_output=True, text=True)
        return json.loads(run.stdout)

    def peer_timed(self, what, task, src, out, threads):
        self.note(what, threads, self.peer(task, src, out, threads)["seconds"])

    def rockit(self, what, threads, *argv):
        self.process(what, threads, [self.build / "rockit", *argv, "--threads", threads])

    def check(self, src, parquet):
        result = self.peer("check", src, parquet, 2)
        if not (result["same"] and result["sorted"]):
            self.wrong.append(f"{parquet.name}: {result}")

    def bar(self, text, holds):
        self.bars.append((text, holds))

    # -- tasks ----------------------------------------------------------------------------

    def convert(self, kind, bars):
        src = self.csv(self.rows, kind == "shuffled")
        out = {e: self.work / f"{kind}-{e}.parquet" for e in ("duckdb", "polars", "sort", "rockit")}
        for _ in range(self.rounds):
            for threads in (1, 2):
                self.peer_timed(f"{kind} DuckDB", "duckdb-convert", src, out["duckdb"], threads)
                self.peer_timed(f"{kind} polars", "polars-convert", src, out["polars"], threads)
                if kind == "shuffled":
                    what = f"{kind} DuckDB ORDER BY"
                    self.peer_timed(what, "duckdb-sort", src, out["sort"], threads)
                self.rockit(f"{kind} rockit", threads, "convert", src, "-o", out["rockit"])
        self.check(src, out["rockit"])
        for engine, path in out.items():
            if path.exists():
                self.sizes[f"{kind} {engine}"] = path.stat().st_size
        self.table(f"CSV to Parquet, zstd, {kind} input", src, kind)
        for threads in (1, 2):
            for peer, factor in bars.items():
                self.ratio_bar(f"{kind} convert", f"{kind} {peer}", f"{kind} rockit", threads, factor)
            rss = self.rss[(f"{kind} rockit", threads)]
            self.bar(f"{kind} convert, {threads} threads: peak memory {rss:.1f} MB <= 64", rss <= 64)
        ours, theirs = self.sizes[f"{kind} rockit"], self.sizes[f"{kind} duckdb"]
        text = f"{kind} file {ours / 1e6:.2f} MB <= DuckDB's {theirs / 1e6:.2f} MB"
        self.bar(text, ours <= theirs)

    def report(self):
        src = self.csv(self.rows)
        for _ in range(self.rounds):
            for threads in (1, 2):
                self.peer_timed("group DuckDB", "duckdb-group", src, "-", threads)
                self.peer_timed("group polars", "polars-group", src, "-", threads)
                self.rockit("group rockit", threads, "report", src, "--format", "json")
        self.table("report from CSV (peers: GROUP BY without medians)", src, "group")
        for threads in (1, 2):
            self.ratio_bar("report", "group DuckDB", "group rockit", threads, 4)
            self.ratio_bar("report", "group polars", "group rockit", threads, 4)

    def diff(self):
        """Two runs of the same program, as Parquet: kernels match, their numbers do not."""
        inputs = []
        for seed in (1, 2):
            src = self.input(f"diff-{seed}-{self.rows}.csv", "--rows", self.rows, "--seed", seed, "-o")
            inputs.append(src.with_suffix(".parquet"))
            if not inputs[-1].exists():
                self.rockit("diff convert", 2, "convert", src, "-o", inputs[-1])
        for _ in range(self.rounds):
            for threads in (1, 2):
                self.rockit("diff rockit", threads, "diff", *inputs, "--format", "json")
        self.table("diff of two Parquet files, each of", inputs[0], "diff")
        for threads in (1, 2):
            seconds, rss = self.times[("diff rockit", threads)], self.rss[("diff rockit", threads)]
            self.bar(f"diff, {threads} threads: {seconds:.2f} s < 1", seconds < 1)
            self.bar(f"diff, {threads} threads: peak memory {rss:.1f} MB <= 64", rss <= 64)

    def databases(self):
        src = self.rocpd(self.rows)
        out = self.work / "rocpd-rockit.parquet"
        for _ in range(self.rounds):
            self.process("rocpd sqlite3_step loop", 1, [self.build / "sqlite-scan", src])
            self.process("rocpd loop, report's columns", 1,
                         [self.build / "sqlite-scan", src, "narrow"])
            for threads in (1, 2):
                self.rockit("rocpd rockit", threads, "convert", src, "-o", out)
                self.rockit("rocpd rockit report", threads, "report", src, "--format", "json")
        self.check(self.csv(self.rows), out)
        self.table("rocpd to Parquet", src, "rocpd")
        for verb, ours, loop in (
            ("convert", "rocpd rockit", "rocpd sqlite3_step loop"),
            ("report", "rocpd rockit report", "rocpd loop, report's columns"),
        ):
            for threads in (1, 2):
                share = self.times[(loop, 1)] / self.times[(ours, threads)]
                text = f"rocpd {verb}, {threads} threads: {100 * share:.0f} % of a bare step loop"
                self.bar(f"{text} >= 80 %", share >= 0.8)

    def json_text(self):
        src = self.json(self.rows // 4)
        out = self.work / "json-rockit.parquet"
        peer = self.build / "yajl-scan"  # built where yajl is
        for _ in range(self.rounds):
            if peer.exists():
                self.process("json yajl, all tokens", 1, [peer, src])
            self.process("json rockit, all tokens", 1, [self.build / "json-scan", src])
            self.process("json rockit, skipped", 1, [self.build / "json-scan", "--skip", src])
            for threads in (1, 2):
                self.rockit("json rockit convert", threads, "convert", src, "-o", out)
        self.table("rocprofv3 JSON", src, "json", self.rows // 4)
        seconds = self.times[("json rockit, all tokens", 1)]
        speed = src.stat().st_size / 1e6 / seconds
        ratio = self.times[("json yajl, all tokens", 1)] / seconds if peer.exists() else 0
        self.bar(f"JSON tokens: {speed:.0f} MB/s >= 400 or {ratio:.2f}x yajl >= 2x",
                 speed >= 400 or ratio >= 2)
        rss = self.rss[("json rockit convert", 2)]
        self.bar(f"JSON convert: peak memory {rss:.1f} MB <= 64", rss <= 64)

    def linear(self, factors):
        print("rows against time, one thread")
        first = None
        for factor in factors:
            src = self.csv(self.rows * factor)
            what = f"linear {factor}x"
            for _ in range(self.rounds if factor == 1 else 1):
                self.rockit(what, 1, "convert", src, "-o", self.work / "linear.parquet")
            per_row = self.times[(what, 1)] / (self.rows * factor)
            first = first or per_row
            print(f"  {factor:3d}x  {self.times[(what, 1)]:7.2f} s  {1e9 * per_row:6.0f} ns a row"
                  f"  {per_row / first:5.2f}  peak {self.rss[(what, 1)]:.1f} MB")
            self.bar(f"{factor}x rows: {per_row / first:.2f} of the time a row, <= 1.15",
                     per_row <= 1.15 * first)
            self.bar(f"{factor}x rows: peak memory {self.rss[(what, 1)]:.1f} MB <= 64",
                     self.rss[(what, 1)] <= 64)
        print()

    def runs(self):
        """What rockit adds to a program that it starts, and what looking costs."""
        rockit = self.build / "rockit"
        before, after = runs.overhead(rockit, self.work, 20)
        doctor = runs.doctor(rockit, 10)
        percent = runs.monitor(rockit, self.work, 10)
        print(f"run: {before:.1f} ms before the program, {after:.1f} ms after it (medians of 20)\n"
              f"doctor: {doctor:.1f} ms\n"
              f"monitor: {percent:.2f} % of a core for 8 GPUs at 10 Hz, start included\n")
        self.bar(f"run: {before:.1f} ms before the program < 20", before < 20)
        self.bar(f"run: {after:.1f} ms after it < 50", after < 50)
        self.bar(f"doctor: {doctor:.1f} ms < 200", doctor < 200)
        self.bar(f"monitor: {percent:.2f} % of a core < 1", percent < 1)

    # -- printing -------------------------------------------------------------------------

    def table(self, title, src, prefix, rows=None):
        megabytes = src.stat().st_size / 1e6
        print(f"{title}: {rows or self.rows} rows, {megabytes:.0f} MB")
        print(f"  {'':28s} {'1 thread':>22s} {'2 threads':>22s} {'peak MB':>9s}")
        names = sorted({w for w, _ in self.times if w.startswith(prefix + " ")})
        for what in names:
            cells = []
            for threads in (1, 2):
                seconds = self.times.get((what, threads))
                cells.append(f"{seconds:8.3f} s {megabytes / seconds:6.0f} MB/s" if seconds else "")
            rss = self.rss.get((what, 2)) or self.rss.get((what, 1))
            print(f"  {what:28s} {cells[0]:>22s} {cells[1]:>22s} {f'{rss:.1f}' if rss else '':>9s}")
        for what, size in self.sizes.items():
            if what.startswith(prefix + " "):
                print(f"  file of {what:20s} {size / 1e6:8.2f} MB")
        print(flush=True)

    def ratio_bar(self, what, peer, ours, threads, factor):
        ratio = self.times[(peer, threads)] / self.times[(ours, threads)]
        peer = peer.split(" ", 1)[1]
        self.bar(f"{what}, {threads} threads: {ratio:.2f}x {peer} >= {factor}x", ratio >= factor)

    def summary(self):
        print("bars")
        for text, holds in self.bars:
            print(f"  {'holds ' if holds else 'MISSED'}  {text}")
        for text in self.wrong:
            print(f"  WRONG   {text}")
        print(f"{sum(h for _, h in self.bars)} of {len(self.bars)} bars hold")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", help="folder of the built programs")
    parser.add_argument("--work", default="build/bench", help="folder for inputs and outputs")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="16 times the rows as well")
    parser.add_argument("--only", default="sorted,shuffled,report,diff,rocpd,json,metrics,traces,pages,runs,linear,pack,ranks,python,collectors")
    return parser.parse_args()


def main():
    args = parse_args()
    bench = Bench(args)
    bench.work.mkdir(parents=True, exist_ok=True)
    tasks = {
        "sorted": lambda: bench.convert("sorted", {"DuckDB": 4, "polars": 3}),
        "shuffled": lambda: bench.convert("shuffled", {"DuckDB": 2, "polars": 2}),
        "report": bench.report,
        "diff": bench.diff,
        "rocpd": bench.databases,
        "json": bench.json_text,
        "metrics": lambda: metrics.run(bench, args.full),
        "traces": lambda: traces.run(bench, args.full),
        "pages": lambda: pages.run(bench, args.full),
        "runs": bench.runs,
        "linear": lambda: bench.linear([1, 4, 16] if args.full else [1, 4]),
        "pack": lambda: pack.run(bench, args.full),
        "ranks": lambda: ranks.run(bench),
        "python": lambda: pyframes.run(bench),
        "collectors": lambda: collector_costs.run(bench),
    }
    for name in args.only.split(","):
        try:
            tasks[name]()
        except (RuntimeError, OSError) as error:
            print(f"{name}: not measured: {error}\n")
    bench.summary()
    return 1 if bench.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
