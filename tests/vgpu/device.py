"""The virtual GPU itself: what AMD's runtime and programs do on it is what its ledger has."""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from real_programs import (backend_ops_bench, check, hipblaslt_bench, llama_benches, rocblas_bench,
                           small_programs)
from vgpu import FULL, HERE, ROCKIT, Ledger, case, in_order, must, same


@case("rocminfo shows the chip and two of them")
def shows_the_chip(s):
    for chip in s.chips():
        r = s.run("usr/bin/rocminfo", chip=chip, gpus=2)
        same("exit status", r.rc, 0)
        same(chip, len(re.findall(rf"^  Name: +{chip}\b", r.out, re.M)), 2)


@case("threads, streams and graphs launch what the ledger has, on every chip")
def matrix(s):
    for chip in s.chips():
        _, ledger = s.counted("many", chip=chip)
        in_order(ledger)


@case("eight GPUs work side by side")
def eight(s):
    said, ledger = s.counted("many", "2", "6", gpus=8)
    same("GPUs", said["gpus"], 8)
    same("GPUs in the ledger", len({r["gpu"] for r in ledger.kernels()}), 8)


@case("a launch is found in the ledger by what the program put into its arguments")
def joined(s):
    _, ledger = s.counted("many", "4", "30")
    seen = collections.Counter()
    for row in ledger.kernels():
        words = [int(row["arg"][i:i + 8], 16) for i in (8, 0, 24, 16)]
        if words[3] == 1:
            seen[tuple(words[:3])] += 1
    same("launches", seen, collections.Counter({(t, n, n % 2): 1 for t in range(4) for n in range(30)}))


@case("every kind of copy and fill moves the right bytes")
def copies(s):
    for chip, gpus in (("gfx942", 2), ("gfx90a", 1), ("gfx1100", 2)):
        s.counted("copies", chip=chip, gpus=gpus)


@case("bytes that the copy engines and copy kernels moved are those of the program")
def bytes_moved(s):
    said, ledger = s.counted("many", "1", "1")
    filled = sum(int(r["bytes"]) for r in ledger.of("fill"))
    must(sum(int(r["bytes"]) for r in ledger.of("copy")) + filled >= said["copied"] // 4, "bytes in the ledger")


@case("a training loop runs with its ranges")
def training(s):
    said, _ = s.counted("train", "5", "6")
    same("kernels", said["kernels"], 5 * (2 * 6 + 12 + 2))


@case("streams of several threads overlap in time")
def concurrent(s):
    _, ledger = s.counted("many", "4", "40", env={"VGPU_TIME": "fixed=300000"})
    spans = sorted((int(r["start"]), int(r["end"]), r["queue"]) for r in ledger.kernels())
    overlaps = sum(1 for a, b in zip(spans, spans[1:]) if b[0] < a[1] and a[2] != b[2])
    must(overlaps > 10, f"{overlaps} overlaps")


@case("times follow the model that was asked for")
def model(s):
    _, ledger = s.counted("train", "1", "2", env={"VGPU_TIME": "base=5000,group=100,gemm=70000"})
    for row in ledger.kernels():
        groups = int(row["grid"].split(",")[0]) // 64
        want = 70000 if row["name"] == "gemm" else 5000 + 100 * groups
        same(f"time of {row['name']}", int(row["end"]) - int(row["start"]), want)


@case("a program without HIP gets the times that the device gave")
def without_hip(s):
    # a GPU's clock that drifts: the runtime compares the clocks from time to time
    for clock, most in (("0", 20), ("300", 100_000), ("-300", 100_000)):
        said, ledger = s.counted("hsa", "12", env={"VGPU_CLOCK": clock})
        rows = sorted(ledger.kernels(), key=lambda r: int(r["arg"][:8], 16))
        for (start, end), row in zip(said["times"], rows, strict=True):
            off = max(abs(start - int(row["start"])), abs(end - int(row["end"])))
            must(off <= most, f"{off} ns from the ledger with a clock of {clock} ppm")


@case("without the profiling bit there are no times")
def not_profiled(s):
    said, ledger = s.counted("hsa", "3", "0")
    same("profiled", {r["profiled"] for r in ledger.kernels()}, {"0"})
    for start, end in said["times"]:
        must(start == end and abs(start - int(ledger.kernels()[0]["start"])) > 10**9, f"times {start} to {end}")


@case("counters of aqlprofile come back from the right places")
def counters(s):
    if not (s.lib / "libhsa-amd-aqlprofile64.so.1").exists():
        return  # in experimental only
    sq, grbm, tcc, waves = 6, 3, 12, 100 * 256 // 64
    r = s.run("counters", "3", f"{sq}:4", f"{grbm}:0", f"{tcc}:3", chip="gfx90a", env={"VGPU_TIME": "fixed=10000"})
    same("exit status", r.rc, 0)
    cycles = 3 * 10000 * 1700 // 1000
    same("values", json.loads(r.out.splitlines()[-1])["values"], [[3 * waves, 8], [cycles, 1], [3 * waves * 4, 1]])


@case("a server that is killed leaves a whole ledger")
def killed(s):
    p = s.start("serve", "1")
    answered = [p.stdout.readline() for _ in range(20)]
    p.send_signal(signal.SIGKILL)
    p.communicate()
    must(len(Ledger(s.ledger).kernels()) >= 9 * len(answered), "kernels of answered requests")


@case("an idle device uses less than 1 % of a core")
def idle(s):
    p = s.start("serve", "1", "3")
    for _ in range(3):
        p.stdout.readline()
    time.sleep(1)

    def used():  # by the device's own threads, in ns
        return sum(int((task / "schedstat").read_text().split()[0])
                   for task in pathlib.Path(f"/proc/{p.pid}/task").iterdir()
                   if (task / "comm").read_text().startswith("vgpu-"))
    before, seconds = used(), 3
    time.sleep(seconds)
    share = (used() - before) / seconds / 1e9
    end(p)
    must(share < 0.01, f"{share:.2%} of a core")


def end(process):
    process.kill()
    process.communicate()


def stuck(s, fault, what):
    """The program waits for ever for what the device does not do, and is killed."""
    p = s.start("many", "1", "3", env={"VGPU_FAULT": fault})
    for _ in range(100):
        if Ledger(s.ledger).of(what):
            break
        time.sleep(0.1)
    time.sleep(0.3)
    alive = p.poll() is None
    end(p)
    same("faults in the ledger", len(Ledger(s.ledger).of(what)), 1)
    must(alive, "the program ended")


@case("a kernel that never ends holds its queue until the program is killed")
def hang(s):
    stuck(s, "hang=reduce", "fault")


@case("a program waits for a signal that is lost")
def lost_signal(s):
    stuck(s, "lost=1", "lost")


@case("an aborted queue is an error of the runtime, not of the device")
def aborted(s):
    r = s.run("many", env={"VGPU_FAULT": "abort=reduce"})
    must(r.rc != 0 and "abort" in (r.out + r.err).lower(), f"exit status {r.rc}: {r.err[-200:]}")
    same("aborted kernels", len(r.ledger.of("fault")), 1)


@case("a GPU that is lost while it works ends the program with a word from the runtime")
def lost(s):
    r = s.run("many", env={"VGPU_FAULT": "lose=reduce"})
    must(r.rc != 0 and re.search("HW Exception|hipErrorLaunchFailure", r.out + r.err), f"status {r.rc}: {r.err[-200:]}")


@case("without memory or without a device HIP says so")
def nothing(s):
    r = s.run("many", env={"VGPU_FAULT": "gone"})
    same("exit status", r.rc, 3)
    must("hipInit" in r.err, r.err)
    r = s.run("many", env={"VGPU_FAULT": "nomem=1000000"})
    must(r.rc != 0, "it ran")


@case("devices are swapped and hidden by each variable")
def visible(s):
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        said, ledger = s.counted("many", "1", "2", gpus=2, env={name: "1,0"})
        same("first GPU with " + name, (said["gpus"], ledger.kernels()[0]["gpu"]), (2, "1"))
        if FULL:
            said, ledger = s.counted("many", "1", "2", gpus=2, env={name: "1"})
            same(name, (said["gpus"], {r["gpu"] for r in ledger.kernels()}), (1, {"1"}))


@case("the GPU's clock may run ahead, and events still take their time")
def drift(s):
    s.counted("many", "1", "5", env={"VGPU_CLOCK": "200"})


@case("Debian's own programs run unmodified and launch what they always launch")
def real_programs(s):
    for program in small_programs(s):
        check(s, program)


@case("a chain of programs and two ranks at once find the GPU")
def chain(s):
    many = s.build("many")
    run = s.shell("sh", "-c", f"env sh -c 'exec {many} 1 3' && {sys.executable} -c 'import os; os.execv(\"{many}\", "
                  f"[\"many\", \"1\", \"3\"])'")
    same("exit status", (run.returncode, run.stderr), (0, run.stderr))
    said = [json.loads(line) for line in run.stdout.splitlines()]
    same("kernels in the ledger", len(Ledger(s.ledger).kernels()), sum(x["kernels"] for x in said))
    same("programs", len(said), 2)
    run = s.shell("sh", "-c", f"HIP_VISIBLE_DEVICES=0 {many} 2 9 & HIP_VISIBLE_DEVICES=1 {many} 2 9 & wait", gpus=2)
    said = [json.loads(line) for line in run.stdout.splitlines()]
    same("ranks", len(said), 2)
    by_gpu = collections.Counter(r["gpu"] for r in Ledger(s.ledger).kernels())
    same("kernels of the ranks", sorted(by_gpu.values()), sorted(x["kernels"] for x in said))


@case("doctor and monitor see the same GPU")
def rockit_sees_it(s):
    run = s.shell(ROCKIT, "doctor", "--format", "json", chip="gfx1100", gpus=2)
    gpus = json.loads(run.stdout)["gpus"]
    same("chips", [g["gfx"] for g in gpus], ["gfx1100", "gfx1100"])
    same("PCI addresses", [g["pci"] for g in gpus], ["0000:03:00.0", "0000:04:00.0"])
    run = s.shell("rocminfo", chip="gfx1100", gpus=2)
    same("in rocminfo", len(re.findall(r"^  Name: +gfx1100", run.stdout, re.M)), 2)
    run = s.shell(ROCKIT, "monitor", "-q", "--format", "json", "--interval", "10", "-d", s.temp / "monitor", "--force",
                  "--", s.build("many"), "1", "2", chip="gfx1100", gpus=2)
    same("status of monitor", run.returncode, 0)
    said = json.loads(run.stdout[run.stdout.index('{\n'):])  # after the program's own line
    same("what monitor sampled", (said["gpus"], "power" in said["metrics"], said["samples"] > 0), (2, True, True))


@case("the threaded program ends every time")
def often(s):
    for _ in range(int(os.environ.get("VGPU_ROUNDS", "100" if FULL else "3"))):
        s.counted("many", "8", "25")


@case("every chip works alone, in twos and in eights", full=True)
def grid(s):
    for chip in s.chips():
        for gpus in (1, 2, 8):
            said, ledger = s.counted("many", "4", "10", chip=chip, gpus=gpus)
            same("GPUs in the ledger", len({r["gpu"] for r in ledger.kernels()}), gpus)
            in_order(ledger)
            s.counted("copies", chip=chip, gpus=gpus)


@case("the whole process runs under the address sanitizer", full=True)
def sanitized(s):
    """Device, program and runtime: its checks see every access that the runtime's libc calls make."""
    flags = ["-std=gnu17", "-g", "-O1", "-fsanitize=address", "-fno-omit-frame-pointer"]
    library, program = s.temp / "libvgpu-asan.so", s.temp / "many-asan"
    sources = [HERE / f"{n}.c" for n in "counters device intercept kernels kfd ledger memory queue sdma".split()]
    subprocess.run(["gcc", *flags, "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, *sources, "-lpthread", "-ldl"],
                   check=True)
    s.build("many", program, flags)
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout
    r = s.run("many", path=program, preload=(os.path.realpath(asan.strip()),), library=library,
              env={"ASAN_OPTIONS": "detect_leaks=0"}, limit=300)
    same("exit status", (r.rc, "ERROR: AddressSanitizer" in r.err), (0, False))
    same("kernels", len(r.ledger.kernels()), json.loads(r.out.splitlines()[-1])["kernels"])


@case("rocblas-bench launches what it always launches", large="trixie-large")
def rocblas(s):
    check(s, rocblas_bench())


@case("hipblaslt-bench launches what it always launches", large="sid-large")
def hipblaslt(s):
    check(s, hipblaslt_bench())


@case("llama-bench launches what it always launches, and another quantisation other kernels", large="sid-large")
def llama(s):
    for program in llama_benches(s):
        check(s, program)


@case("test-backend-ops launches all it can in its time", large="sid-large")
def backend_ops(s):
    kernels, _ = check(s, backend_ops_bench(s))
    must(kernels > 10_000, f"{kernels} kernels")
