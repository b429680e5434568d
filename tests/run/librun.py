"""What the tests of `rockit run` share: ROCm trees of the stand-in, runs and their results."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROCKIT = os.environ["ROCKIT"]
SOURCE = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
VERSIONS = ("6.2", "6.3", "6.4", "7.0", "7.13", "10.1")
PRESETS = ("compute", "memory", "communication", "full", "lightweight", "perfetto", "api_overhead",
           "pc_sampling", "roofline", "compute_bound", "memory_bound", "multi_gpu", "comprehensive",
           "multinode")
KERNELS = 6

_tests = []


class Skip(Exception):
    """Raised by a test that cannot be made here, with the reason."""


def test(function):
    """Marks a test; its name is a sentence."""
    _tests.append(function)
    return function


def main():
    only = sys.argv[1:]
    failed = passed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="rockit-run-") as top:
        for function in _tests:
            name = function.__name__
            if only and not any(word in name for word in only):
                continue
            place = pathlib.Path(top, name[:60])
            place.mkdir()
            try:
                with contextlib.chdir(place) if hasattr(contextlib, "chdir") else _chdir(place):
                    function(Place(place))
                passed += 1
                print("ok   " + name.replace("_", " "), flush=True)
            except Skip as why:
                skipped += 1
                print(f"skip {name.replace('_', ' ')}: {why}", flush=True)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print("FAIL " + name.replace("_", " "))
                print("".join("# " + line for line in traceback.format_exc().splitlines(True)))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


@contextlib.contextmanager
def _chdir(path):
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@contextlib.contextmanager
def running(argv, env):
    """A process that is killed at the end of the block, however that ends."""
    child = subprocess.Popen([str(a) for a in argv], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def switch(verb, target):
    """`rockit start` or `rockit stop`; returns the time at which it had been done."""
    done = subprocess.run([ROCKIT, verb, str(target)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (verb, done.stderr)
    return boot_ns()


class Run:
    """A finished `rockit run` and its directory."""

    def __init__(self, done, directory):
        self.status, self.out, self.err, self.dir = done.returncode, done.stdout, done.stderr, directory

    @property
    def json(self):
        return json.loads(pathlib.Path(self.dir, "run.json").read_text())

    @property
    def ledger(self):
        return self.json["ledger"]

    def report(self):
        out = subprocess.run([ROCKIT, "report", "--format", "json", str(self.dir)],
                             capture_output=True, text=True, timeout=180, check=True)
        return json.loads(out.stdout)


class Place:
    """An own folder, an own ROCm tree, an environment with nothing inherited that matters."""

    def __init__(self, path):
        self.path = path
        self.root = path / "root"
        self.root.mkdir()
        self.bin = None
        self.log = path / "sim.log"

    def rocm(self, version, *tools):
        tree = subprocess.run(["sh", str(SOURCE / "tests/sim/make-tree.sh"), str(self.root),
                               version, *tools], capture_output=True, text=True, check=True)
        self.bin = pathlib.Path(tree.stdout.strip(), "bin")
        return self.bin

    def env(self, **more):
        keep = {k: v for k, v in os.environ.items()
                if not k.startswith(("ROCPROF", "ROCKIT_SIM_", "SLURM", "OMPI", "PMI", "RANK"))}
        keep["PATH"] = f"{self.bin}:/usr/bin:/bin" if self.bin else "/usr/bin:/bin"
        keep.update(ROCKIT_SYSFS_ROOT=str(self.root), ROCKIT_SIM_LOG=str(self.log),
                    HOME=str(self.path))
        keep.update(more)
        keep.pop("ROCM_PATH", None)
        return keep

    def rockit(self, *args, timeout=180, **env):
        return subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True,
                              timeout=timeout, env=self.env(**env), stdin=subprocess.DEVNULL,
                              errors="replace")

    def run(self, *args, app=("sh", "-c", "echo out; echo err >&2"), name="r", **env):
        directory = self.path / name
        done = self.rockit("run", "--arch", "gfx942", "-d", directory, *args, "--", *app, **env)
        return Run(done, directory)

    def plan(self, *args, app=("./app",), **env):
        done = self.rockit("run", "--dry-run", "--format", "json", *args, "--", *app, **env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def calls(self):
        """What the stand-in was called with, call by call."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def start(place, *args, app, **env):
    """A rockit that goes on in the background, in a group of its own."""
    return subprocess.Popen([ROCKIT, "run", "--arch", "gfx942", *map(str, args), "--", *app],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=place.env(**env), stdin=subprocess.DEVNULL,
                            start_new_session=True)


def interrupt(process, number=signal.SIGINT):
    process.send_signal(number)
    out, err = process.communicate(timeout=180)
    return process.returncode, out, err
