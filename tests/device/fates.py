#!/usr/bin/env python3
"""fates.py --rockit R --python P - programs that end badly, with and without recording, on an NVIDIA GPU.

Each fate of fates.cu is run twice: status, output and error text must be the same (rockit's own lines
apart), and the kernels that were done are recorded. What CUPTI has not given back is lost with a process
that ends by _exit at once (the child of "fork") and with a context that a fault has broken. Then PyTorch's
profiler inside the recorded program: it must see what it sees alone, at the times it should.
"""
import json
import pathlib
import subprocess
import sys

import libdevice

HERE = pathlib.Path(__file__).resolve().parent
FATES = {"return": 1000, "_exit": 1000, "kill": 1000, "abort": 1000, "memory": 100, "reset": 200,
         "callback": 100, "fault": 0, "fork": 100}
TAKEN = """
import time, torch
from torch.profiler import ProfilerActivity, profile
x = torch.ones(256, device="cuda")
for _ in range(500): x.add_(1.0)
begin = time.time_ns()
with profile(activities=[ProfilerActivity.CUDA]) as prof:
    for _ in range(500): x.mul_(0.5)
    torch.cuda.synchronize()
mine = [e for e in prof.profiler.kineto_results.events() if "MulFunctor" in e.name()]
print(len(mine), all(begin - 10**9 < e.start_ns() < time.time_ns() for e in mine))
"""


def go(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
    lines = [line for line in done.stderr.splitlines() if line.startswith("rockit")]
    other = [line for line in done.stderr.splitlines() if not line.startswith("rockit")]
    return done.returncode if done.returncode >= 0 else 128 - done.returncode, done.stdout, other, lines


def recorded(args, place, command):
    got = go([args.rockit, "run", "--tool", "cupti", "-d", place, "--", *command])
    out = subprocess.run([args.rockit, "report", place, "--format", "json"], capture_output=True, text=True)
    return got, json.loads(out.stdout) if out.returncode == 0 else {"kernel_rows": -1, "error": out.stderr}


def compare(args, place, command, at_least):
    bare = go(command)
    got, seen = recorded(args, place, command)
    assert got[:3] == bare[:3], f"alone {bare[:3]}, recorded {got[:3]}"
    assert seen["kernel_rows"] >= at_least, f"{seen['kernel_rows']} kernels of {at_least}: {got[3]} {seen.get('error')}"
    return f"status {got[0]}, {seen['kernel_rows']} kernels; {' / '.join(got[3])}"


def main():
    args, folder = libdevice.arguments(__doc__, "fates")
    program = folder / "program"
    subprocess.run([args.nvcc, "-o", program, HERE / "fates.cu"], check=True)
    cases = {fate: (lambda f=fate, n=n: compare(args, folder / f, [program, f], n)) for fate, n in FATES.items()}
    cases["profiler of PyTorch"] = lambda: compare(args, folder / "taken", [args.python, "-c", TAKEN], 500)
    return libdevice.tell(cases)


if __name__ == "__main__":
    sys.exit(main())
