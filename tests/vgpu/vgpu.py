#!/usr/bin/env python3
"""AMD's runtime, as Debian builds it, runs on a virtual GPU, and the device's ledger is what ran.

Programs of programs/ are built against each suite's headers and started with the suite's own loader
and libvgpu.so. Suites: VGPU_SUITES (comma separated), else trixie. A suite that cannot be had is
skipped (77) with one line, or fails where ROCKIT_NEED_VGPU is set. Arguments: words of the cases to run.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("VGPU_BUILD", "."))  # libvgpu.so, vgpu-device
# ELF flags of a code object for each chip: Debian 12's compiler knows gfx90a only, and nothing is executed.
FLAGS = {"gfx90a": "53f", "gfx942": "54c", "gfx950": "54f", "gfx1100": "41", "gfx1201": "4e"}
SINCE = {"gfx950": ("experimental",), "gfx1201": ("sid", "experimental")}  # else all suites
LIMIT = 60
CASES = []


class Fault(Exception):
    pass


def case(name):
    def add(function):
        CASES.append((name, function))
        return function
    return add


def must(holds, what):
    if not holds:
        raise Fault(what)


def same(what, got, want):
    must(got == want, f"{what} is {got}, not {want}")


class Ledger(list):
    """Lines of the device as dictionaries; "what" is the first word."""

    def __init__(self, path):
        super().__init__()
        for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
            what, _, rest = line.partition(" ")
            row = dict(re.findall(r"(\w+)=((?<=name=).*|\S*)", rest))
            self.append({"what": what, **row})

    def of(self, what):
        return [row for row in self if row["what"] == what]

    def kernels(self):
        """Those of the program: the runtime's own copies and fills are left out."""
        return [r for r in self.of("dispatch") if r["name"] and not r["name"].startswith("__amd_rocclr_")]


class Suite:
    def __init__(self, name, temp):
        self.name, self.temp = name, temp
        run = subprocess.run([HERE / "get-suite", name], capture_output=True, text=True)
        if run.returncode != 0:
            raise Fault(run.stderr.strip())
        self.root = pathlib.Path(run.stdout.strip())
        self.lib = self.root / "usr/lib/x86_64-linux-gnu"
        self.libs = [self.lib, *sorted((self.root / "usr/lib").glob("llvm-*/lib"))]
        self.code = temp / "kernels.co"
        self.versions = (self.root / "versions").read_text().split("\n")[:-1]

    def start(self, program, *args, chip="gfx942", gpus=1, env=None, preload=(), **options):
        """A program of the suite, or one of ours by its name, as a process."""
        device = self.temp / f"{chip}-{gpus}"
        if not device.exists():
            subprocess.run([BUILD / "vgpu-device", device, chip, str(gpus)], check=True)
        self.ledger = self.temp / f"ledger-{time.monotonic_ns()}"
        path = self.root / program if "/" in program else self.build(program)
        command = [self.lib / "ld-linux-x86-64.so.2", "--library-path", ":".join(map(str, self.libs)),
                   "--preload", " ".join(map(str, [*preload, BUILD / "libvgpu.so"])), path, *args]
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "VGPU_DEVICE": str(device), "VGPU_LEDGER": str(self.ledger),
                                     "VGPU_CODE": str(self.code), "VGPU_FLAGS": FLAGS[chip], **(env or {})},
                                **options)

    def shell(self, *command, chip="gfx942", gpus=1, env=None):
        """A command in which programs of the suite find the GPU by themselves, as in `make vgpu-shell`."""
        self.ledger = self.temp / f"ledger-{time.monotonic_ns()}"
        return subprocess.run([HERE / "shell", BUILD, *map(str, command)], capture_output=True, text=True, timeout=LIMIT,
                              env={**os.environ, "SUITE": self.name, "CHIP": chip, "GPUS": str(gpus),
                                   "VGPU_LEDGER": str(self.ledger), "VGPU_CODE": str(self.code),
                                   "VGPU_FLAGS": FLAGS[chip], **(env or {})})

    def run(self, program, *args, limit=LIMIT, **options):
        process = self.start(program, *args, **options)
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Fault(f"{program} did not end in {limit} s") from None
        result = collections.namedtuple("Result", "rc out err ledger")
        return result(process.returncode, out, err, Ledger(self.ledger))

    def build(self, program):
        path = self.temp / program
        if not path.exists():
            subprocess.run(["gcc", "-std=gnu11", "-O1", "-g", "-Wall", "-o", path, HERE / "programs" / f"{program}.c",
                            f"-I{self.root}/usr/include", f"-L{self.lib}", "-lamdhip64", "-lhsa-runtime64",
                            "-lpthread", "-ldl", "-Wl,--unresolved-symbols=ignore-all"], check=True)
        return path

    def counted(self, program, *args, **options):
        """Runs to its end; what it says it did is what the ledger has. Returns both."""
        r = self.run(program, *args, **options)
        same("exit status", r.rc, 0)
        said = json.loads(r.out.splitlines()[-1])
        same("wrong", said.get("wrong", 0), 0)
        same("kernels in the ledger", len(r.ledger.kernels()), said["kernels"])
        for row in r.ledger.of("dispatch"):
            must(int(row["start"]) < int(row["end"]), f"times of {row}")
        return said, r.ledger


def in_order(ledger):
    """Times of a queue only grow."""
    last = {}
    for row in ledger.of("dispatch"):
        must(int(row["start"]) > last.get(row["queue"], 0), f"{row} begins before the one before it ended")
        last[row["queue"]] = int(row["end"])


@case("rocminfo shows the chip and two of them")
def shows_the_chip(s):
    for chip in ("gfx90a", "gfx942", "gfx1100"):
        r = s.run("usr/bin/rocminfo", chip=chip, gpus=2)
        same("exit status", r.rc, 0)
        same(chip, len(re.findall(rf"^  Name: +{chip}\b", r.out, re.M)), 2)


@case("threads, streams and graphs launch what the ledger has, on every chip")
def matrix(s):
    for chip in FLAGS:
        if s.name in SINCE.get(chip, (s.name,)):
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
    for clock in ("0", "300"):
        said, ledger = s.counted("hsa", "12", env={"VGPU_CLOCK": clock})
        rows = sorted(ledger.kernels(), key=lambda r: int(r["arg"][:8], 16))
        for (start, end), row in zip(said["times"], rows, strict=True):
            off = max(abs(start - int(row["start"])), abs(end - int(row["end"])))
            must(off < 100_000, f"{off} ns from the ledger")


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
    time.sleep(2)

    def used():  # of the device's own threads
        ticks = 0
        for task in pathlib.Path(f"/proc/{p.pid}/task").iterdir():
            if (task / "comm").read_text().startswith("vgpu-"):
                fields = (task / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")
    before, seconds = used(), 8
    time.sleep(seconds)
    share = (used() - before) / seconds
    p.kill()
    p.communicate()
    must(share < 0.01, f"{share:.2%} of a core")


@case("a kernel that never ends holds its queue until the program is killed")
def hang(s):
    p = s.start("many", env={"VGPU_FAULT": "hang=reduce"})
    time.sleep(3)
    same("still there", p.poll(), None)
    p.kill()
    p.communicate()
    same("hanging kernels", len(Ledger(s.ledger).of("fault")), 1)


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


@case("devices are hidden and swapped by each variable")
def visible(s):
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        said, ledger = s.counted("many", "1", "2", gpus=2, env={name: "1"})
        same(name, (said["gpus"], {r["gpu"] for r in ledger.kernels()}), (1, {"1"}))
        said, ledger = s.counted("many", "1", "2", gpus=2, env={name: "1,0"})
        same("first GPU with " + name, (said["gpus"], ledger.kernels()[0]["gpu"]), (2, "1"))


@case("the GPU's clock may run ahead, and events still take their time")
def drift(s):
    s.counted("many", "1", "5", env={"VGPU_CLOCK": "200"})


@case("Debian's own programs run unmodified and launch what they always launch")
def real_programs(s):
    (s.temp / "icd").mkdir(exist_ok=True)
    (s.temp / "icd/amd.icd").write_text("libamdocl64.so\n")
    env = {"OCL_ICD_VENDORS": str(s.temp / "icd"), "ROCFFT_RTC_PROCESS": "0",
           "ROCFFT_RTC_CACHE_PATH": str(s.temp / "rocfft.db")}
    # program, arguments, exit status (kernels compute nothing, so results may be wrong), dispatches and
    # names; two dispatches more are ROCr's own
    for program, args, rc, kernels, names in (
            ("libexec/rocm/librocrand1-tests/test_rocrand_generate", (), 0, 150, 50),
            ("libexec/rocm/librocrand1-tests/test_rocrand_basic", (), 0, 8, 4),
            ("bin/clpeak", ("--compute-sp",), 0, 160, 5),
            ("libexec/rocm/librocfft0-tests/rocfft-test", ("--gtest_filter=manual*", "--length", "1024"), 1, 3, 3)):
        if not (s.root / "usr" / program).exists():
            continue  # in trixie only
        r = s.run("usr/" + program, *args, chip="gfx90a", env=env, limit=180)
        named = [row["name"] for row in r.ledger.of("dispatch") if row["name"]]
        same(program, (r.rc, len(named), len(set(named))), (rc, kernels, names))


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
    rockit = os.environ.get("ROCKIT", "rockit")
    run = s.shell(rockit, "doctor", "--format", "json", chip="gfx1100", gpus=2)
    gpus = json.loads(run.stdout)["gpus"]
    same("chips", [g["gfx"] for g in gpus], ["gfx1100", "gfx1100"])
    run = s.shell("rocminfo", chip="gfx1100", gpus=2)
    same("in rocminfo", len(re.findall(r"^  Name: +gfx1100", run.stdout, re.M)), 2)


@case("the threaded program ends every time")
def often(s):
    for _ in range(int(os.environ.get("VGPU_ROUNDS", "5"))):
        s.counted("many", "8", "25")


def run_suite(suite, words):
    passed = failed = 0
    for name, function in CASES:
        if words and not any(w in f"{suite.name} {name} {function.__name__}" for w in words):
            continue
        try:
            function(suite)
            passed += 1
            print(f"ok {suite.name}: {name}", flush=True)
        except (Fault, ValueError, KeyError, IndexError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"not ok {suite.name}: {name}\n  {type(error).__name__}: {error}", flush=True)
    return passed, failed


def main():
    needed = os.environ.get("ROCKIT_NEED_VGPU")
    passed = failed = 0
    clang, lld = (next(filter(shutil.which, names), None)
                  for names in (("clang-14", "clang"), ("ld.lld-14", "ld.lld")))
    if not clang or not lld or not shutil.which("gcc"):
        print("skipped: no clang, lld or gcc here")
        return 1 if needed else 77
    known = [line for line in (HERE / "suites").read_text().splitlines() if not line.startswith("#")]
    for name in os.environ.get("VGPU_SUITES", "trixie").split(","):
        with tempfile.TemporaryDirectory() as temp:
            temp = pathlib.Path(temp)
            try:
                suite = Suite(name, temp)
            except Fault as error:
                print(f"skipped: {error}")
                if needed:
                    return 1
                continue
            which = f"{name}: {', '.join(suite.versions)}"
            print(f"# {which}{'' if which in known else ' (not yet listed in tests/vgpu/suites)'}", flush=True)
            subprocess.run([clang, "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-O2",
                            "-c", HERE / "programs/kernels.cl", "-o", temp / "kernels.o"], check=True)
            subprocess.run([lld, "-shared", "-o", suite.code, temp / "kernels.o"], check=True)
            p, f = run_suite(suite, sys.argv[1:])
            passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    if not passed and not failed:
        return 77
    if needed and passed < int(os.environ.get("VGPU_COUNT", "0")):
        print(f"only {passed} cases of {os.environ['VGPU_COUNT']}")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
