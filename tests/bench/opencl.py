#!/usr/bin/env python3
"""opencl.py - what the OpenCL layer costs a program, as the table of docs/performance.md.

    python3 tests/bench/opencl.py --build build/release

An empty kernel is launched without the layer, with a layer that sleeps, and with one that records.
Instructions come from callgrind, sizes from the bundled program; times are in collector_costs.py.
Slow is not a failure.

With its thread the layer's work falls to whoever comes first, and callgrind, under which time
stands nearly still for sleepers, gives another share in every run. Instructions are therefore
counted without that thread: the calling thread does everything, which is the most it can cost.
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

MODES = {"no layer": None, "asleep": "asleep=1", "records": ""}
REPEATS = 3
HOWS = {"async": "clFinish after 1000", "sync": "clFinish after each"}


class Bench:
    def __init__(self, args):
        self.build = pathlib.Path(args.build).resolve()
        self.layer = pathlib.Path(args.layer or self.build / "librockit-opencl.so").resolve()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="rockit-bench-"))
        (self.work / "raw").mkdir()

    def environment(self, mode, more=None):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("OPENCL_", "ROCKIT_COLLECT", "POCL_"))}
        env["POCL_CACHE_DIR"] = str(self.work / "pocl")
        if MODES[mode] is not None:
            env["OPENCL_LAYERS"] = str(self.layer)
            env["ROCKIT_COLLECT"] = ",".join(filter(None, [f"dir={self.work / 'raw'}",
                                                           MODES[mode], more]))
        return env

    # -- instructions ---------------------------------------------------------------------

    def instructions(self, mode, how, launches):
        """Of the program's own thread."""
        out = self.work / "callgrind"
        out.mkdir()
        subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes",
                        f"--callgrind-out-file={out}/cg", self.build / "cl-rate", how,
                        str(launches)], env=self.environment(mode, "thread=0"),
                       capture_output=True, check=True)
        for file in (self.work / "raw").iterdir():
            file.unlink()
        first = sorted(out.glob("cg-*"))[0].read_text(errors="replace")
        shutil.rmtree(out)
        return int(re.search(r"^(?:summary|totals): (\d+)", first, re.M).group(1))

    def instructions_each(self, mode, how, few=1000, many=6000):
        """Of a launch: what more launches cost more, several times."""
        return [(self.instructions(mode, how, many) - self.instructions(mode, how, few)) /
                (many - few) for _ in range(REPEATS)]

    def instruction_table(self):
        if not shutil.which("valgrind"):
            print("no valgrind here: no instructions")
            return
        print(f"| instructions for a launch, {REPEATS} times | | calling thread | over no layer |")
        print("|---|---|---|---|")
        self.instructions("no layer", "async", 1)  # callgrind's processor has a cache of its own
        for how in HOWS:
            plain = None
            for mode in MODES:
                own = self.instructions_each(mode, how)
                plain = plain or statistics.median(own)
                print(f"| {HOWS[how]} | {mode} | {statistics.median(own):.0f} "
                      f"({min(own):.0f} to {max(own):.0f}) | {statistics.median(own) - plain:.0f} |")
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


    # -- many -----------------------------------------------------------------------------

    def child(self, argv):
        """What it printed, and the most memory it had, in KB."""
        with subprocess.Popen(argv, env=self.environment("records"), stdout=subprocess.PIPE,
                              text=True) as process:
            said = json.loads(process.stdout.read())
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, argv
        files = list((self.work / "raw").iterdir())
        said.update(rss_kb=usage.ru_maxrss, bytes=sum(f.stat().st_size for f in files))
        for file in files:
            file.unlink()
        return said

    def many_table(self):
        print("| ten million launches | thread CPU a launch | most memory | file, a launch |")
        print("|---|---|---|---|")
        self.child([self.build / "cl-rate", "async", "1000"])  # fills the runtime's cache
        for n in (100_000, 1_000_000, 10_000_000):
            r = self.child([self.build / "cl-rate", "async", str(n)])
            print(f"| PoCL, {n} | {r['thread_ns'] / 1000:.2f} us | {r['rss_kb'] / 1024:.1f} MB | "
                  f"{r['bytes'] / n:.1f} B |")
            sys.stdout.flush()
        r = self.child([self.build / "cl-fake", self.layer, "millions"])
        for name in ("first", "last"):
            print(f"| synthetic runtime, the {name} million | {r[name + '_s']:.2f} us | | |")
        print(f"| synthetic runtime, all | | {r['rss_kb'] / 1024:.1f} MB, {r['grown_kb'] / 1024:.1f} "
              f"of them after the first million | {r['bytes'] / 10_000_000:.1f} B |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--layer", help="another layer than the build's")
    parser.add_argument("--only", choices=("instructions", "sizes", "many"))
    args = parser.parse_args()
    bench = Bench(args)
    try:
        for part, print_table in (("instructions", bench.instruction_table),
                                  ("sizes", bench.size_table), ("many", bench.many_table)):
            if args.only in (None, part):
                print_table()
                print()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
