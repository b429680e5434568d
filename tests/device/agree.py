#!/usr/bin/env python3
"""agree.py --rockit R --python P - rockit's kernels against PyTorch's own profiler, on an NVIDIA GPU.

Each case is run twice: under rockit and under Kineto. Names and counts of kernels must be equal, total
times within SPREAD of each other. Several processes: the kernels of all of them. A C program: as many
kernels as it says it has launched.
"""
import json
import pathlib
import subprocess
import sys

import libdevice

HERE = pathlib.Path(__file__).resolve().parent
SPREAD = 0.25


def capture(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{command}: exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def recorded(args, place, command):
    capture([args.rockit, "run", "-q", "--tool", "cupti", "-d", place, "--", *command])
    return json.loads(capture([args.rockit, "report", place, "--format", "json"]))


def compare(seen, truth):
    calls = sum(k["calls"] for k in seen["kernels"])
    want = sum(c for c, _ in truth.values())
    mine = sum(k["total_ns"] for k in seen["kernels"])
    theirs = sum(t for _, t in truth.values())
    assert calls == want, f"{calls} kernels recorded, Kineto has {want}"
    assert len(seen["kernels"]) == len(truth), f"{len(seen['kernels'])} names, Kineto has {len(truth)}"
    assert abs(mine / theirs - 1) < SPREAD, f"{mine} ns recorded, Kineto has {theirs}"
    return f"{calls} kernels of {len(truth)} names, {mine / 1e6:.3f} ms (Kineto {theirs / 1e6:.3f} ms)"


def kineto_case(args, folder, case):
    seen = recorded(args, folder / case, [args.python, HERE / "loops.py", case])
    out = capture([args.python, HERE / "loops.py", case, "kineto"])
    truth = json.loads([line for line in out.splitlines() if line.startswith("{")][-1])["kernels"]
    return compare(seen, truth)


def processes_case(args, folder):
    seen = recorded(args, folder / "processes", [args.python, HERE / "loops.py", "processes"])
    tiny = [k["calls"] for k in seen["kernels"] if k["calls"] >= 1500]
    assert sorted(tiny) == [1500, 1500], seen["kernels"]
    return f"{seen['kernel_rows']} kernels of three processes"


def c_case(args, folder):
    program = folder / "launches"
    subprocess.run([args.nvcc, "-o", program, HERE / "launches.cu"], check=True)
    told = json.loads(capture([program]))
    seen = recorded(args, folder / "c", [program])
    assert {k["name"].split("(")[0]: k["calls"] for k in seen["kernels"]} == told["kernels"], seen["kernels"]
    assert seen["tables"]["memcpy"] >= told["copies"], seen["tables"]
    return f"{seen['kernel_rows']} kernels, {seen['tables']['memcpy']} copies and fills"


def main():
    args, folder = libdevice.arguments(__doc__, "agree")
    cases = {name: (lambda n=name: kineto_case(args, folder, n)) for name in ("eager", "graphs", "streams")}
    cases["processes"] = lambda: processes_case(args, folder)
    cases["c program"] = lambda: c_case(args, folder)
    return libdevice.tell(cases)


if __name__ == "__main__":
    sys.exit(main())
