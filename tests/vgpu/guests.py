#!/usr/bin/env python3
"""The ROCm collector beside another tool in the same process (guests/guest.c), loaded before and after it.

When we are first both see everything, with the device's times. When we are not we still see every
dispatch, and say that the times came through the other tool.
"""

import json
import subprocess
import sys

import vgpu
from collect import COLLECTOR, NEAR_NS, ROCKIT, compare, ledger_shape, loaded, shape, tables
from vgpu import HERE, case, must, same

vgpu.CASES.clear()
WAYS = ("replace", "intercept", "signal", "barrier")


def guest(s):
    path = s.temp / "guest.so"
    if not path.exists():
        subprocess.run(["gcc", "-std=gnu17", "-O1", "-g", "-Wall", "-shared", "-fPIC", "-fvisibility=hidden",
                        f"-I{HERE.parent.parent / 'collectors/rocm'}", "-o", path, HERE / "guests/guest.c"], check=True)
    return path


def beside(s, way, first, program, *args):
    """Runs a program with both, and alone for comparison. Returns ledger, our tables, what the guest saw."""
    plain = s.run(program, *args)
    raw, env = loaded(s)
    libraries = [COLLECTOR, guest(s)] if first else [guest(s), COLLECTOR]
    out = s.temp / "guest.json"
    out.unlink(missing_ok=True)
    r = s.run(program, *args, env={**env, "HSA_TOOLS_LIB": " ".join(map(str, libraries)), "GUEST": way,
                                   "GUEST_OUT": str(out)})
    if program != "hsa":  # which prints times
        same(f"result of {program} with {way}", (r.rc, r.out, r.err), (plain.rc, plain.out, plain.err))
    same("exit status", r.rc, plain.rc)
    return r, raw, json.loads(out.read_text())


def named(ledger):
    return [row for row in ledger.of("dispatch") if row["name"]]


@case("beside a tool that comes after it the collector is complete, and so is the tool")
def first(s):
    for way in WAYS:
        r, raw, saw = beside(s, way, True, "many", "4", "20")
        compare(r.ledger, tables(raw)["rocprof_kernels"])
        truth = named(r.ledger)
        must(saw["queues"] > 0, f"{way} saw no queue")
        if way != "replace":
            same(f"kernels that {way} saw", saw["kernels"], len(truth))
        if way in ("signal", "barrier"):
            same(f"kernels with times of {way}", (saw["timed"], saw["wrong"]), (len(truth), 0))
            took = sum(int(row["end"]) - int(row["start"]) for row in truth)
            must(abs(saw["ns"] - took) <= NEAR_NS * len(truth), f"{way} measured {saw['ns']} ns of {took}")


@case("beside a tool that was there before it the collector is complete, and marks the times")
def second(s):
    for way in WAYS:
        r, raw, saw = beside(s, way, False, "many", "4", "20")
        got, want = tables(raw)["rocprof_kernels"], named(r.ledger)
        same(f"kernels beside {way}", sorted(map(shape, got)), sorted(map(ledger_shape, want)))
        run = subprocess.run([ROCKIT, "report", raw], capture_output=True, text=True)
        must("another tool was loaded before" in run.stdout + run.stderr, f"no warning beside {way}: {run.stderr}")
        if way != "replace":
            same(f"kernels that {way} saw", saw["kernels"], len(want))


@case("a program's own signals keep their times beside another tool, whichever is first")
def own_signals(s):
    for way in WAYS:
        for is_first in (True, False):
            r, raw, _ = beside(s, way, is_first, "hsa", "12")
            times = json.loads(r.out.splitlines()[-1])["times"]
            rows = sorted(named(r.ledger), key=lambda row: int(row["arg"][:8], 16))
            same("dispatches that we have", len(tables(raw)["rocprof_kernels"]), len(rows))
            for (start, end), row in zip(times, rows, strict=True):
                if way == "barrier":  # the program's signal is the barrier's: it shows when that ended
                    must(start >= int(row["end"]) - NEAR_NS, f"{start} is before the kernel's end")
                else:
                    off = max(abs(start - int(row["start"])), abs(end - int(row["end"])))
                    must(off <= NEAR_NS, f"{off} ns from the ledger beside {way}, first: {is_first}")


if __name__ == "__main__":
    sys.exit(vgpu.main())
