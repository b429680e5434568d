#!/usr/bin/env python3
"""What the cases on the virtual GPU share: suites, programs that run on them, and the device's ledger.

Programs of programs/ are built against each suite's headers and started with the suite's own loader and
libvgpu.so. Suites: VGPU_SUITES (comma separated), else trixie. A suite that cannot be had is skipped (77)
with one line, or fails where ROCKIT_NEED_VGPU is set. Arguments: words of the cases to run.

Run by itself it runs the cases of the device (device.py).
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("VGPU_BUILD", HERE.parent.parent / "build/dev/vgpu"))  # libvgpu.so, vgpu-device
# ELF flags of a code object for each chip: Debian 12's compiler knows gfx90a only, and nothing is executed.
FLAGS = {"gfx90a": "53f", "gfx942": "54c", "gfx950": "54f", "gfx1100": "41", "gfx1201": "4e"}
SINCE = {"gfx950": ("experimental",), "gfx1201": ("sid", "experimental")}  # else all suites
ROCKIT = os.environ.get("ROCKIT", str(BUILD.parent / "rockit"))
FULL = "ROCKIT_TEST_FULL" in os.environ
LIMIT = 60
CASES = []


class Fault(Exception):
    pass


def case(name, full=False, large=None):
    """A case by its sentence. full: in make test-full, or when asked for; large: of that suite alone."""
    def add(function):
        CASES.append((name, function, full, large))
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


def compilers():
    """The compiler and the linker of kernels; None: it is not here."""
    return (next(filter(shutil.which, names), None) for names in (("clang-14", "clang"), ("ld.lld-14", "ld.lld")))


class Suite:
    def __init__(self, name, temp):
        self.name, self.temp = name, temp
        run = subprocess.run([HERE / "get-suite", name], capture_output=True, text=True)
        if run.returncode != 0:
            raise Fault(run.stderr.strip())
        self.root = pathlib.Path(run.stdout.strip())
        self.lib = self.root / "usr/lib/x86_64-linux-gnu"
        self.libs = [self.lib, *sorted((self.root / "usr/lib").glob("llvm-*/lib")), self.lib / "llama"]
        self.code = temp / "kernels.co"
        versions = self.root / "versions"  # not there in a ROCKIT_ROCM_ROOT
        self.versions = versions.read_text().splitlines() if versions.exists() else [f"in {self.root}"]

    def chips(self):
        return [chip for chip in FLAGS if self.name in SINCE.get(chip, (self.name,))]

    def command(self, program, *args, chip="gfx942", gpus=1, env=None, preload=(), path=None, library=None):
        """How a program of the suite, or one of ours by its name, is started: its words and variables.
        path, library: others in their place."""
        device = self.temp / f"{chip}-{gpus}"
        if not device.exists():
            subprocess.run([BUILD / "vgpu-device", device, chip, str(gpus)], check=True)
        self.ledger = self.temp / f"ledger-{time.monotonic_ns()}"
        path = path or (self.root / program if "/" in program else self.build(program))
        command = [self.lib / "ld-linux-x86-64.so.2", "--library-path", ":".join(map(str, self.libs)),
                   "--preload", " ".join(map(str, [*preload, library or BUILD / "libvgpu.so"])), path, *args]
        return list(map(str, command)), {"VGPU_DEVICE": str(device), "VGPU_LEDGER": str(self.ledger),
                                         "VGPU_CODE": str(self.code), "VGPU_FLAGS": FLAGS[chip], **(env or {})}

    def start(self, program, *args, chip="gfx942", gpus=1, env=None, preload=(), path=None, library=None, **options):
        """The program as a process."""
        command, more = self.command(program, *args, chip=chip, gpus=gpus, env=env, preload=preload, path=path,
                                     library=library)
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **more}, **options)

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

    def build(self, program, path=None, flags=()):
        path = path or self.temp / program
        if not path.exists():
            subprocess.run(["gcc", "-std=gnu11", "-O1", "-g", "-Wall", *flags, "-o", path, HERE / "programs" / f"{program}.c",
                            f"-I{self.root}/usr/include", f"-L{self.lib}", "-lamdhip64", "-lhsa-runtime64",
                            "-lpthread", "-ldl", "-Wl,--unresolved-symbols=ignore-all"], check=True)
        return path

    def compile(self, clang, lld):
        """The kernels of our programs."""
        subprocess.run([clang, "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-O2",
                        "-c", HERE / "programs/kernels.cl", "-o", self.temp / "kernels.o"], check=True)
        subprocess.run([lld, "-shared", "-o", self.code, self.temp / "kernels.o"], check=True)

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


def run_suite(suite, words):
    passed = failed = 0
    for name, function, full, large in CASES:
        text = f"{suite.name} {function.__module__} {function.__name__} {name}"
        if words and not any(w in text for w in words):
            continue
        if (full and not FULL and not words) or (large != suite.name if large else suite.name.endswith("-large")):
            continue
        try:
            function(suite)
            passed += 1
            print(f"ok {suite.name}: {name}", flush=True)
        except Exception as error:  # whatever it is, the other cases run
            failed += 1
            print(f"not ok {suite.name}: {name}\n  {type(error).__name__}: {error}", flush=True)
    return passed, failed


def main():
    needed = os.environ.get("ROCKIT_NEED_VGPU")
    passed = failed = 0
    clang, lld = compilers()
    if not clang or not lld or not shutil.which("gcc"):
        print(f"{'failed' if needed else 'skipped'}: no clang, lld or gcc here")
        return 1 if needed else 77
    known = [line for line in (HERE / "suites").read_text().splitlines() if not line.startswith("#")]
    for name in os.environ.get("VGPU_SUITES", "trixie").split(","):
        with tempfile.TemporaryDirectory() as temp:
            temp = pathlib.Path(temp)
            try:
                suite = Suite(name, temp)
            except Fault as error:
                print(f"{'failed' if needed else 'skipped'}: {error}")
                if needed:
                    return 1
                continue
            which = f"{name.removesuffix('-large')}: {', '.join(suite.versions)}"
            print(f"# {which}{'' if which in known else ' (not yet listed in tests/vgpu/suites)'}", flush=True)
            suite.compile(clang, lld)
            p, f = run_suite(suite, sys.argv[1:])
            passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    if needed and passed < int(os.environ.get("VGPU_COUNT", "1")):
        print(f"only {passed} cases of {os.environ.get('VGPU_COUNT', '1')}")
        return 1
    if not passed and not failed:
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    import device  # noqa: F401
    import vgpu  # this file again, under the name by which the cases know it
    sys.exit(vgpu.main())
