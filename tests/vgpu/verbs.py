#!/usr/bin/env python3
"""rockit's verbs with the ROCm collector on the virtual GPU: what they say is what the device's ledger has.

Suites and arguments as for vgpu.py; the command is $ROCKIT.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import vgpu
from real_programs import backends
from vgpu import HERE, Ledger, case, must, same

ROCKIT = pathlib.Path(os.environ.get("ROCKIT", "rockit")).resolve()
vgpu.CASES.clear()


def fresh(s, name):
    place = s.temp / name
    shutil.rmtree(place, ignore_errors=True)
    return place


def rockit(*args):
    run = subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True, timeout=120)
    must(run.returncode == 0, f"rockit {args[0]}: {run.stderr}")
    return run.stdout


def names(ledger):
    """How often each named kernel ran, the runtime's own copies and fills too."""
    return collections.Counter(r["name"] for r in ledger.of("dispatch") if r["name"])


def reported(place):
    return {k["name"]: k["calls"] for k in json.loads(rockit("report", "-f", "json", "-n", "0", place))["kernels"]}


@case("a run with the ROCm collector is a run like any other")
def run(s):
    place = fresh(s, "run")
    r = s.shell(ROCKIT, "run", "--tool", "rocm", "--html", "-d", place, "--", s.build("train"))
    same("exit status", (r.returncode, r.stderr), (0, r.stderr))
    said = json.loads(r.stdout.splitlines()[-1])
    ledger = Ledger(s.ledger)
    same("kernels in the ledger", len(ledger.kernels()), said["kernels"])
    record = json.loads((place / "run.json").read_text())
    same("tool and state", (record["tool"]["name"], record["state"]), ("rocm", "done"))
    same("kernels in run.json", record["ledger"]["delivered"]["tables"]["kernels"], sum(names(ledger).values()))
    lost = {k: v for k, v in record["ledger"]["dropped"].items() if k in ("records", "operations", "end")}
    same("what was lost", lost, {})
    same("kernels by name", reported(place), names(ledger))
    must((place / "report.html").stat().st_size > 10000, "the page is empty")
    rockit("metrics", place)
    rockit("diff", place, place)
    rockit("convert", place, "-o", s.temp / "run.pftrace")


@case("a recording of a program that is killed has every kernel that ran, and so has its snapshot")
def record(s):
    place = fresh(s, "record")
    script = f"(sleep 3; kill -KILL $$) & exec {s.build('serve')} 1"
    r = s.shell(ROCKIT, "record", "--tool", "rocm", "--max-size", "64M", "--snap-on", "crash", "-d", place, "--",
                "/bin/sh", "-c", script)
    same("exit status", (r.returncode, r.stderr), (128 + signal.SIGKILL, r.stderr))
    ran = names(Ledger(s.ledger))
    must(sum(ran.values()) > 100, "the program did nothing")
    for where in (place, place / "snap-001"):
        got = reported(where)
        for name, calls in ran.items():
            must(got.get(name, 0) >= calls, f"{name} ran {calls} times, {where.name} has {got.get(name, 0)}")
        same("names", set(got), set(ran))


@case("only the seconds that were asked for are recorded")
def part(s):
    place = fresh(s, "part")
    r = s.shell(ROCKIT, "record", "--tool", "rocm", "--delay", "3", "--duration", "3", "--timeout", "8", "-d", place,
                "--", s.build("serve"), "1")
    must("by --timeout" in r.stderr, r.stderr)
    report = json.loads(rockit("report", "-f", "json", place))
    ran = sum(names(Ledger(s.ledger)).values())
    must(0 < report["kernel_rows"] < ran, f"{report['kernel_rows']} of {ran}")
    must(report["max_end_ns"] - report["min_start_ns"] < 3.6e9, report)
    must("asleep" in json.loads((place / "run.json").read_text())["ledger"]["dropped"], "what was left out is not counted")


@case("only ranges of one name are recorded, or one of several")
def ranges(s):
    for args, times in ((), 3), (("--every", "1:3"), 1):
        place = fresh(s, "range")
        r = s.shell(ROCKIT, "run", "--tool", "rocm", "--range", "forward", *args, "-d", place, "--", s.build("train"))
        same("exit status", (r.returncode, r.stderr), (0, r.stderr))
        same(f"kernels with {args}", reported(place), {"gemm": 4 * times, "add": 4 * times})
        dropped = json.loads((place / "run.json").read_text())["ledger"]["dropped"]
        must("range" in dropped, dropped)
        must(("every" in dropped) == (times == 1), dropped)


@case("a step that takes too long makes a snapshot")
def slow_step(s):
    place = fresh(s, "slow")
    # stopped often enough that one stop is in a step
    script = f"""(sleep 3; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
        kill -STOP $$; sleep 0.1; kill -CONT $$; sleep 0.03; done; sleep 1; kill -KILL $$) & exec {s.build('train')} 1000000"""
    r = s.shell(ROCKIT, "record", "--tool", "rocm", "--max-size", "16M", "--range", "forward", "--snap-on", "slow-step:300%",
                "-d", place, "--", "/bin/sh", "-c", script)
    must("snap-001: a step took" in r.stderr, r.stderr)
    markers = json.loads(rockit("report", "-f", "json", place / "snap-001"))["markers"]
    must("forward" in {m["name"] for m in markers}, markers)


@case("two quantisations in llama-bench, recorded, reported and compared", large="sid-large")
def llama(s):
    places = []
    for kind, kernels in ("q4_0", 9763), ("f16", 7104):
        place, model = fresh(s, kind), s.temp / f"{kind}.gguf"
        subprocess.run([sys.executable, HERE / "tiny_model.py", model, kind], check=True)
        command = f"{ROCKIT} run --tool rocm --html -d {place} -- llama-bench -m {model} -p 64 -n 32 -r 3 -ngl 99 -t 2"
        r = s.shell("/bin/sh", "-c", f"cd {backends(s)} && exec {command}", chip="gfx90a")
        same("exit status", (r.returncode, r.stderr), (0, r.stderr))
        same(f"kernels of {kind}", sum(names(Ledger(s.ledger)).values()), kernels)
        # names are cleaned in reports
        same("calls of each kernel", sorted(reported(place).values()), sorted(names(Ledger(s.ledger)).values()))
        places.append(place)
    changed = json.loads(rockit("diff", "-f", "json", *places))
    must(any("f16" in k["name"] or "half" in k["name"] for k in changed["kernels"]), "the diff names no other kernel")


if __name__ == "__main__":
    sys.exit(vgpu.main())
