#!/usr/bin/env python3
"""The ROCm collector on the virtual GPU: what it recorded is what the device's ledger has.

The device writes the ledger and knows of no collector. Suites and arguments as for vgpu.py; the collector
is in ROCKIT_ROCM, else next to the command ($ROCKIT).
"""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import time

import vgpu
from vgpu import HERE, case, must, same

ROCKIT = pathlib.Path(vgpu.ROCKIT)
COLLECTOR = pathlib.Path(os.environ.get("ROCKIT_ROCM", ROCKIT.parent / "librockit-rocm.so")).resolve()
FULL = os.environ.get("ROCKIT_TEST_FULL") == "1"
NEAR_NS = 20
vgpu.CASES.clear()


def loaded(s, settings=""):
    """A fresh folder and the variables that load the collector."""
    raw = s.temp / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    raw.mkdir()
    return raw, {"HSA_TOOLS_LIB": str(COLLECTOR), "ROCKIT_COLLECT": f"dir={raw}{settings}"}


def tables(raw):
    """The tables of a folder of raw files, as lists of dictionaries."""
    out = raw.parent / "tables"
    shutil.rmtree(out, ignore_errors=True)
    run = subprocess.run([ROCKIT, "convert", raw, "-o", f"{out}/", "-f", "jsonl"], capture_output=True, text=True)
    same("exit status of rockit convert", (run.returncode, run.stderr if run.returncode else ""), (0, ""))
    found = collections.defaultdict(list)
    for path in out.glob("*.jsonl"):
        found[path.stem] = [json.loads(line) for line in path.read_text().splitlines()]
    return found


def collected(s, program, *args, env=None, settings="", **options):
    """Runs a program with the collector; returns its result and what was recorded."""
    raw, more = loaded(s, settings)
    r = s.run(program, *args, env={**more, **(env or {})}, **options)
    return r, tables(raw)


def result(r):
    """ROCr 6.4 itself does not always leave the same number of signals."""
    return r.rc, r.out, re.sub(r"\d+ Signals leaked", "Signals leaked", r.err)


def shape(row):
    return (row["kernel_name"], *(row[f"grid_items_{d}"] for d in "xyz"), *(row[f"block_{d}"] for d in "xyz"),
            row["shared_mem"])


def ledger_shape(row):
    return (row["name"], *map(int, row["grid"].split(",")), *map(int, row["block"].split(",")), int(row["lds"]))


def queues_of(rows, key, start):
    """Rows of each queue in the order of their start, which only grows in a queue."""
    found = collections.defaultdict(list)
    for row in sorted(rows, key=start):
        found[key(row)].append(row)
    return sorted(found.values(), key=lambda q: (start(q[0]), len(q)))


def compare(ledger, kernels):
    """Each dispatch that has a name (those of ROCr's own have none) is recorded once, with its times.
    C++ names are demangled in tables: one for each. Returns the pairs."""
    pairs, demangled = [], {}
    named = [r for r in ledger.of("dispatch") if r["name"]]
    same("kernels", len(kernels), len(named))
    same("kernels without times", sum(k["start_ns"] is None for k in kernels), 0)
    unmatched = queues_of(kernels, lambda r: (r["device_id"], r["queue_id"]), lambda r: r["start_ns"])
    for want in queues_of(named, lambda r: (int(r["gpu"]), r["queue"]), lambda r: int(r["start"])):
        got = next((q for q in unmatched if abs(q[0]["start_ns"] - int(want[0]["start"])) <= NEAR_NS and
                    q[0]["device_id"] == int(want[0]["gpu"]) and len(q) == len(want) and
                    shape(q[0])[1:] == ledger_shape(want[0])[1:]), None)
        must(got, f"no queue has {len(want)} kernels from {want[0]} on")
        unmatched.remove(got)
        for a, b in zip(got, want):
            same("kernel", shape(a)[1:], ledger_shape(b)[1:])
            known = demangled.setdefault(b["name"], a["kernel_name"] if b["name"].startswith("_Z") else b["name"])
            same("name", a["kernel_name"], known)
            off = a["start_ns"] - int(b["start"])
            longer = a["duration_ns"] - (int(b["end"]) - int(b["start"]))
            must(abs(off) <= NEAR_NS and abs(longer) <= NEAR_NS, f"{shape(a)}: {off} ns late, {longer} ns longer")
            pairs.append((a, b))
    same("different names", len(set(demangled.values())), len(demangled))
    return pairs


def who(row):
    """Thread, number, stream and tag that the program put into the arguments."""
    return tuple(int(row["arg"][i:i + 8], 16) for i in (8, 0, 24, 16))


def right_threads(pairs):
    """The launching thread is the same for all kernels of a thread of the program, and for no others."""
    tids = collections.defaultdict(set)
    for a, b in pairs:
        if who(b)[3] == 1:
            tids[b["gpu"], who(b)[0]].add(a["tid"])
    for key, found in tids.items():
        same(f"threads that launched for {key}", len(found), 1)
    for gpu in {key[0] for key in tids}:
        mine = [next(iter(found)) for key, found in tids.items() if key[0] == gpu]
        same("different threads", len(set(mine)), len(mine))


def right_calls(pairs, api):
    """Each kernel has the HIP call that launched it: by what the program put into its arguments, the
    n-th launch of its thread; for those of graphs, copies and fills by the call's name."""
    calls = {row["correlation_id"]: row for row in api}
    launches, streams = collections.defaultdict(list), collections.defaultdict(set)
    for row in sorted(api, key=lambda r: r["start_ns"]):
        if row["function"] == "hipModuleLaunchKernel":
            launches[row["tid"]].append(row["correlation_id"])
    for a, b in pairs:
        must(a["correlation_id"] in calls, f"no call launched {a}")
        call = calls[a["correlation_id"]]
        must(call["start_ns"] < a["start_ns"], f"{a} began before {call}")
        tag = who(b)[3] if not b["name"].startswith("__amd_rocclr_") else 0
        same("graph", a["graph_id"] is not None, tag == 2)
        if tag == 1:
            same("number of the launch", launches[a["tid"]].index(a["correlation_id"]), who(b)[1])
            streams[a["tid"], who(b)[2]].add(a["stream_id"])
        else:
            want = {0: ("hipMemcpy", "hipMemset", "hipModuleLaunchKernel"), 2: ("hipGraphLaunch",),
                    3: ("hipModuleLaunchKernel",)}[tag]
            must(call["function"] in want, f"{b['name']} by {call['function']}")
        must(call["tid"] == a["tid"], f"{a} is of another thread than {call}")
    for key, found in streams.items():
        same(f"streams of {key}", len(found), 1)
    for tid, number in streams:
        must(number == 1 or streams[tid, 0] != streams.get((tid, 1)), f"streams of thread {tid} are the same")


@case("the layouts that the collector declares are those of AMD's headers")
def layout(s):
    include = s.root / "usr/include"
    run = subprocess.run(["g++", "-std=c++17", "-DAMD_INTERNAL_BUILD", "-fsyntax-only", "-w",
                          f"-I{HERE.parent.parent / 'collectors/rocm'}", f"-I{include}", f"-I{include / 'hsa'}",
                          HERE / "hsa_layout.cpp"], capture_output=True, text=True)
    same("exit status of the compiler", (run.returncode, run.stderr[:500]), (0, ""))


@case("programs print and return the same with the collector, and every dispatch is recorded")
def same_output(s):
    for program, *args in (("many",), ("copies",), ("train",), ("queues", "60", "2")):
        plain = s.run(program, *args)
        r, t = collected(s, program, *args)
        same(f"result of {program}", result(r), result(plain))
        compare(r.ledger, t["rocprof_kernels"])


@case("names, sizes, times, threads and calls are those of the ledger on every chip")
def matrix(s):
    for chip in ("gfx90a", "gfx942", "gfx1100"):
        r, t = collected(s, "many", "8", "25", chip=chip)
        same("exit status", r.rc, 0)
        pairs = compare(r.ledger, t["rocprof_kernels"])
        right_threads(pairs)
        right_calls(pairs, t["api"])
        same("chip", [a["gfx"] for a in t["agents"]], [chip])


@case("several GPUs have their own identity, whatever hides or swaps them")
def several(s):
    for gpus in (2, 8):
        r, t = collected(s, "many", "2", "6", gpus=gpus)
        right_threads(compare(r.ledger, t["rocprof_kernels"]))
        same("addresses", len({a["pci"] for a in t["agents"]}), gpus)
        same("identities", len({a["unique_id"] for a in t["agents"]}), gpus)
    _, t = collected(s, "many", "1", "2", gpus=2)
    pci = [a["pci"] for a in t["agents"]]
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        r, t = collected(s, "many", "1", "2", gpus=2, env={name: "1"})
        used = {r["device_id"] for r in t["rocprof_kernels"]}
        same(f"address with {name}", [a["pci"] for a in t["agents"] if a["device_id"] in used], pci[1:])


@case("threads on shared queues have the calls that the program says they made")
def threads(s):
    for _ in range(50 if FULL else 1):
        r, t = collected(s, "many", "8", "60")
        pairs = compare(r.ledger, t["rocprof_kernels"])
        right_threads(pairs)
        right_calls(pairs, t["api"])


@case("signals of the program keep their times")
def own_signals(s):
    for clock in ("0", "300", *["0"] * 10):
        r, t = collected(s, "hsa", "12", env={"VGPU_CLOCK": clock})
        same("exit status", r.rc, 0)
        times = json.loads(r.out.splitlines()[-1])["times"]
        for (start, end), row in zip(times, sorted(t["rocprof_kernels"], key=lambda k: k["dispatch_id"]), strict=True):
            off = max(abs(start - row["start_ns"]), abs(end - row["start_ns"] - row["duration_ns"]))
            must(off < 100_000 if clock == "300" else off <= NEAR_NS, f"{off} ns from what the program got")


@case("copies have their bytes, direction and devices")
def copies(s):
    r, t = collected(s, "copies", gpus=2)
    same("exit status", r.rc, 0)
    ledger = collections.Counter()
    for row in r.ledger.of("copy"):
        ledger["bytes"] += int(row["bytes"])
    must(t["memcpy"], "no copies")
    for row in t["memcpy"]:
        must(row["duration_ns"] > 0 and row["bytes"] > 0, f"{row}")
    same("bytes", sum(row["bytes"] for row in t["memcpy"]), ledger["bytes"])


@case("memory is recorded where it is asked for")
def memory(s):
    _, t = collected(s, "many", "1", "1", settings=",alloc=1")
    counts = collections.Counter(row["operation"] for row in t["memalloc"])
    must(counts["MEMORY_ALLOCATION_ALLOCATE"] > 3 and counts["MEMORY_ALLOCATION_FREE"] > 1, f"{counts}")
    _, t = collected(s, "many", "1", "1")
    same("without asking", len(t["memalloc"]), 0)


@case("without intercepted queues nothing but copies is recorded")
def no_kernels(s):
    r, t = collected(s, "many", "1", "3", settings=",kernels=0")
    same("result", (r.rc, len(t["rocprof_kernels"])), (0, 0))
    must(t["memcpy"], "no copies")


def ended(s, mode, launches="40"):
    counts = s.temp / "returned"
    plain = s.run("ends", mode, launches, counts)
    raw, env = loaded(s)
    r = s.run("ends", mode, launches, counts, env=env)
    same(f"result of {mode}", result(r), result(plain))
    same("files", len(list(raw.iterdir())), 1)
    return sum(struct.unpack("<200Q", counts.read_bytes())), tables(raw)["rocprof_kernels"]


@case("a program may end in any way, and no launch is missing")
def ends(s):
    for mode in ("exit", "_exit", "abort", "wait", "threads", "fork", "exec"):
        returned, kernels = ended(s, mode)
        same(f"launches of {mode}", len(kernels), returned)
        if mode in ("wait", "threads", "fork", "exec", "exit"):
            same(f"without times in {mode}", sum(k["start_ns"] is None for k in kernels), 0)


@case("a program that is killed has recorded every launch that returned")
def killed(s):
    counts, rounds, total = s.temp / "returned", 100 if FULL else 3, 0
    for _ in range(rounds):
        raw, env = loaded(s)
        p = s.start("ends", "flood", "0", counts, env=env)
        p.stdout.readline()
        while not any(counts.read_bytes()):
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.2))
        p.kill()
        p.communicate()
        returned = sum(struct.unpack("<200Q", counts.read_bytes()))
        recorded = len(tables(raw)["rocprof_kernels"])
        must(returned <= recorded <= returned + 4, f"{returned} launches returned, {recorded} are recorded")
        total += returned
    must(total > rounds, "nothing was launched")


@case("a kernel that never ends or a queue that fails does not delay the end of the program")
def faults(s):
    counts = s.temp / "returned"
    for fault, mode in (("hang=scale", "exit"), ("hang=scale", "_exit"), ("abort=scale", "wait")):
        if s.name != "trixie" and mode == "exit":
            continue  # HIP itself waits for ever
        plain = s.run("ends", mode, "40", counts, env={"VGPU_FAULT": fault})
        raw, env = loaded(s)
        r = s.run("ends", mode, "40", counts, env={"VGPU_FAULT": fault, **env})
        # ROCr ends the program while it is still launching, or a little later
        same(f"status with {fault}", r.rc, plain.rc)
        returned, kernels = sum(struct.unpack("<200Q", counts.read_bytes())), tables(raw)["rocprof_kernels"]
        must(returned <= len(kernels) <= returned + 1, f"{returned} launches returned, {len(kernels)} are recorded")
        same("with times", sum(k["start_ns"] is not None for k in kernels), 0)


@case("a signal that is lost costs the times of one kernel")
def lost_signal(s):
    raw, env = loaded(s)
    r = s.run("ends", "wait", "400", s.temp / "returned", env={"VGPU_FAULT": "lost=50", **env})
    same("exit status", r.rc, 5)
    kernels = tables(raw)["rocprof_kernels"]
    same("launches, without times", (len(kernels), sum(k["start_ns"] is None for k in kernels)), (400, 1))


@case("nothing in flight, no wake-ups")
def idle(s):
    _, env = loaded(s)
    p = s.start("serve", "1", "3", env=env)
    for _ in range(3):
        p.stdout.readline()
    time.sleep(1)

    def switches():
        for task in pathlib.Path(f"/proc/{p.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == "rockit":
                status = (task / "status").read_text()
                return sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches" in line)
        return None
    before = switches()
    time.sleep(2)
    after = switches()
    p.kill()
    p.communicate()
    must(before is not None, "our thread is not there")
    same("wake-ups", after - before, 0)


@case("a folder that cannot be written changes nothing for the program")
def no_folder(s):
    plain = s.run("many", "1", "3")
    for where in (s.temp / "nowhere", "/proc/1"):
        r = s.run("many", "1", "3", env={"HSA_TOOLS_LIB": str(COLLECTOR), "ROCKIT_COLLECT": f"dir={where}"})
        same("result", result(r), result(plain))
    r = s.run("many", "1", "3", env={"HSA_TOOLS_LIB": str(COLLECTOR)})
    same("result without settings", result(r), result(plain))


@case("preloaded instead of named as a tool it records the same")
def preloaded(s):
    raw, env = loaded(s)
    del env["HSA_TOOLS_LIB"]
    r = s.run("many", preload=[COLLECTOR], env=env)
    same("exit status", r.rc, 0)
    compare(r.ledger, tables(raw)["rocprof_kernels"])


if __name__ == "__main__":
    sys.exit(vgpu.main())
