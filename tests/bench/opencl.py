#!/usr/bin/env python3
"""opencl.py - what the OpenCL layer costs a program, as the table of docs/performance.md.

    python3 tests/bench/opencl.py --build build/release

An empty kernel is launched without the layer, with a layer that only counts, and with one that
records. The rounds of the three are interleaved; what is printed is the median over the rounds of
the difference within a round, with the interval that holds the true median in 95 of 100 cases.
Instructions come from callgrind, sizes from the bundled program. Slow is not a failure.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

MODES = {"no layer": None, "counts": "count=1", "records": ""}
HOWS = {"async": "clFinish after 1000", "sync": "clFinish after each", "event": "waits for an event"}


class Bench:
    def __init__(self, args):
        self.build = pathlib.Path(args.build).resolve()
        self.layer = pathlib.Path(args.layer or self.build / "librockit-opencl.so").resolve()
        self.rounds, self.launches = args.rounds, args.launches
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="rockit-bench-"))
        (self.work / "raw").mkdir()

    def environment(self, mode):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("OPENCL_", "ROCKIT_COLLECT", "POCL_"))}
        env["POCL_CACHE_DIR"] = str(self.work / "pocl")
        if MODES[mode] is not None:
            env["OPENCL_LAYERS"] = str(self.layer)
            env["ROCKIT_COLLECT"] = ",".join(filter(None, [f"dir={self.work / 'raw'}",
                                                           MODES[mode]]))
        return env

    def rate(self, mode, how):
        done = subprocess.run([self.build / "cl-rate", how, str(self.launches)],
                              env=self.environment(mode), capture_output=True, text=True,
                              check=True)
        for file in (self.work / "raw").iterdir():
            file.unlink()
        return json.loads(done.stdout)

    # -- times ----------------------------------------------------------------------------

    def times(self, how):
        found = {mode: [] for mode in MODES}
        for mode in MODES:
            self.rate(mode, how)  # fills the runtime's cache
        for i in range(self.rounds):
            order = list(MODES)
            for mode in order[i % 3:] + order[:i % 3]:
                found[mode].append(self.rate(mode, how))
        return found

    def time_table(self):
        print(f"| {self.launches} launches, {self.rounds} rounds | | thread CPU | process CPU | wall |")
        print("|---|---|---|---|---|")
        for how, text in HOWS.items():
            found = self.times(how)
            for mode in MODES:
                cells = [microseconds([r[k] for r in found[mode]])
                         for k in ("thread_ns", "process_ns", "wall_ns")]
                print(f"| {text} | {mode} | " + " | ".join(cells) + " |")
            for mode, base in (("records", "counts"), ("records", "no layer")):
                cells = [microseconds([a[k] - b[k] for a, b in zip(found[mode], found[base])])
                         for k in ("thread_ns", "process_ns", "wall_ns")]
                print(f"| | {mode} - {base} | " + " | ".join(cells) + " |")
            sys.stdout.flush()

    # -- instructions ---------------------------------------------------------------------

    def instructions(self, mode, how, launches):
        """By thread: the program's own first, ours last where there is one."""
        out = self.work / "callgrind"
        out.mkdir()
        subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes",
                        f"--callgrind-out-file={out}/cg", self.build / "cl-rate", how,
                        str(launches)], env=self.environment(mode), capture_output=True, check=True)
        sums = [int(re.search(r"^(?:summary|totals): (\d+)", f.read_text(errors="replace"),
                              re.M).group(1)) for f in sorted(out.glob("cg-*"))]
        shutil.rmtree(out)
        return sums

    def instruction_table(self):
        if not shutil.which("valgrind"):
            print("no valgrind here: no instructions")
            return
        few, many = 1000, 6000
        print("| instructions for a launch | | calling thread | layer's thread |")
        print("|---|---|---|---|")
        self.instructions("no layer", "async", 1)  # callgrind's processor has a cache of its own
        for how in ("async", "sync"):
            plain = None
            for mode in MODES:
                low, high = (self.instructions(mode, how, n) for n in (few, many))
                own = (high[0] - low[0]) / (many - few)
                plain = own if plain is None else plain
                ours = (high[-1] - low[-1]) / (many - few) if mode == "records" else 0
                print(f"| {HOWS[how]} | {mode} | {own:.0f} (+{own - plain:.0f}) | {ours:.0f} |")
                sys.stdout.flush()

    # -- sizes ----------------------------------------------------------------------------

    def sizes(self, steps):
        raw = self.work / f"raw{steps}"
        raw.mkdir()
        env = self.environment("records")
        env["ROCKIT_COLLECT"] = f"dir={raw}"
        done = subprocess.run([self.build / "example-inference", str(steps)], env=env, check=True,
                              capture_output=True, text=True)
        truth = json.loads(done.stdout)
        launches = sum(truth["kernels"].values())
        subprocess.run([self.build / "rockit", "convert", raw, "-o", str(raw) + ".parquet"],
                       check=True)
        return (launches, sum(f.stat().st_size for f in raw.iterdir()),
                os.path.getsize(str(raw) + ".parquet"))

    def size_table(self):
        print("| bundled program | launches | raw file | a launch | Parquet | a launch |")
        print("|---|---|---|---|---|---|")
        for steps in (100, 1000):
            n, raw, parquet = self.sizes(steps)
            print(f"| {steps} steps | {n} | {raw} | {raw / n:.1f} | {parquet} | {parquet / n:.1f} |")


def microseconds(values):
    """Median in us, and the interval of the median at 95 %: ranks of a binomial distribution."""
    ordered = sorted(values)
    n = len(ordered)
    k = max(0, round((n - 1.96 * n ** 0.5) / 2) - 1)
    low, high = ordered[k] / 1000, ordered[n - 1 - k] / 1000
    return f"{statistics.median(ordered) / 1000:.2f} ({low:.2f} to {high:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--layer", help="another layer than the build's")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--launches", type=int, default=50000)
    parser.add_argument("--only", choices=("times", "instructions", "sizes"))
    args = parser.parse_args()
    bench = Bench(args)
    try:
        for part, print_table in (("times", bench.time_table),
                                  ("instructions", bench.instruction_table),
                                  ("sizes", bench.size_table)):
            if args.only in (None, part):
                print_table()
                print()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
