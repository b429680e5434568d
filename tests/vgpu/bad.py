#!/usr/bin/env python3
"""The ROCm collector where things go wrong: the program ends as it does without it, and what was not
recorded is counted."""

import json
import resource
import subprocess
import sys
import time

import vgpu
from collect import COLLECTOR, compare, loaded, tables
from vgpu import FULL, Ledger, case, must, same

vgpu.CASES.clear()


def fate(r):
    return r.rc, r.out, r.err


def both(s, program, *args, **options):
    """The same program without and with the collector ends in the same way. Returns result and folder."""
    env = options.pop("env", {})
    plain = s.run(program, *args, env=env, **options)
    raw, more = loaded(s)
    r = s.run(program, *args, env={**more, **env}, **options)
    same(f"how {program} {' '.join(args)} ends", fate(r), fate(plain))
    return r, raw


def limits(**limits):
    """Sets resource limits in the child: limits(FSIZE=1000)."""
    def set_all():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    return set_all


@case("a limit of the size of files costs records, not the program")
def file_size(s):
    for size in (0, 100_000, 1_000_000):
        # the device's ledger is a file too
        both(s, "many", "2", "5", env={"VGPU_LEDGER": ""}, preexec_fn=limits(FSIZE=size))


@case("a limit of open files costs records, not the program")
def open_files(s):
    enough = False
    for n in (16, 20, 24, 28, 32, 40, 64) if FULL else (16, 24, 64):
        r, _ = both(s, "many", "2", "5", preexec_fn=limits(NOFILE=n))
        enough = enough or r.rc == 0
    must(enough, "the program never ran")


@case("a limit of memory costs records, not the program")
def memory(s):
    p = s.start("many", "2", "5")
    peak = 0
    while p.poll() is None:
        for line in open(f"/proc/{p.pid}/status"):
            if line.startswith("VmPeak"):
                peak = max(peak, int(line.split()[1]) * 1024)
        time.sleep(0.002)
    p.communicate()
    limit = limits(AS=peak + (200 << 20))  # threads of the runtime vary by as much
    r, _ = both(s, "many", "2", "5", preexec_fn=limit)
    same("exit status", r.rc, 0)


@case("a full disk costs records, not the program")
def full_disk(s):
    """A tmpfs of 256 kB in a mount namespace of its own."""
    folder = s.temp / "small"
    folder.mkdir(exist_ok=True)
    mount = f"mount -t tmpfs -o size=256k none {folder} && "
    wrap = ["unshare", "-rm", "sh", "-c", mount + '"$@"', "sh"]
    if subprocess.run([*wrap, "true"], capture_output=True).returncode != 0:
        return  # not allowed here
    many = s.build("many")
    plain = s.shell(many, "4", "40")
    run = s.shell(*wrap, "env", f"HSA_TOOLS_LIB={COLLECTOR}", f"ROCKIT_COLLECT=dir={folder}", many, "4", "40")
    same("result", (run.returncode, run.stdout, run.stderr), (plain.returncode, plain.stdout, plain.stderr))


@case("thousands of threads come and go, and every launch is recorded")
def crowd(s):
    r, raw = both(s, "crowd", "2000", "50")
    same("exit status", r.rc, 0)
    pairs = compare(r.ledger, tables(raw)["rocprof_kernels"])
    same("kernels of the program", sum(b["name"] == "scale" for _, b in pairs), 4000)
    same("threads", len({a["tid"] for a, b in pairs if b["name"] == "scale"} - {None}) > 40, True)


@case("queues by the hundred are all seen")
def queues(s):
    r, raw = both(s, "queues", *(("300", "2") if FULL else ("120", "1")))
    same("exit status", r.rc, 0)
    compare(r.ledger, tables(raw)["rocprof_kernels"])


@case("a program that becomes another one without HIP keeps what it recorded")
def become(s):
    r, raw = both(s, "fork", "become")
    same("what the other program said", json.loads(r.out), {"kernels": 1})
    same("kernels", sum(k["kernel_name"] == "scale" for k in tables(raw)["rocprof_kernels"]), 1)


@case("a child forked while the device works neither records nor harms its parent")
def forked(s):
    for how in ("exit", "_exit", "exec", "hip"):
        r, raw = both(s, "fork", how)
        same("files", len(list(raw.glob("*.rkraw"))), 1)
        compare(r.ledger, tables(raw)["rocprof_kernels"])


@case("a lost GPU, a failed queue and missing memory end the program as without the collector")
def device_errors(s):
    for fault in ("lose=reduce", "abort=reduce", "nomem=1000000", "nomem=200000000", "gone"):
        plain = s.run("many", "1", "3", env={"VGPU_FAULT": fault})
        raw, env = loaded(s)
        r = s.run("many", "1", "3", env={**env, "VGPU_FAULT": fault})
        # addresses in messages differ from run to run; and HIP 7.2 prints the kernel that failed out of the
        # queue's ring, which is ROCr's own for every tool that intercepts packets, and empty by then
        same(f"status with {fault}", r.rc, plain.rc)
        if not (fault.startswith("abort") and s.name == "experimental"):
            same(f"output with {fault}", (r.out, len(r.err.splitlines())), (plain.out, len(plain.err.splitlines())))
        if r.ledger.kernels():
            named = [row for row in r.ledger.of("dispatch") if row["name"]]
            must(len(tables(raw)["rocprof_kernels"]) >= len(named), f"kernels recorded with {fault}")


@case("a program that hangs is killed, and its launches are there without times")
def hang(s):
    raw, env = loaded(s)
    p = s.start("many", "1", "3", env={**env, "VGPU_FAULT": "hang=reduce"})
    for _ in range(100):
        if Ledger(s.ledger).of("fault"):
            break
        time.sleep(0.1)
    time.sleep(0.3)
    must(p.poll() is None, "the program ended")
    p.kill()
    p.communicate()
    hung = [k for k in tables(raw)["rocprof_kernels"] if k["kernel_name"] == "reduce"]
    same("hanging kernels", [k["start_ns"] for k in hung], [None])


if __name__ == "__main__":
    sys.exit(vgpu.main())
