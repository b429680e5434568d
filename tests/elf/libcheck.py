"""What scripts of tests about ELF files and packages share: tests that say their name, skips, programs."""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import traceback

SOURCE = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
HERE = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}.get(platform.machine(), "")
FULL = bool(os.environ.get("ROCKIT_TEST_FULL"))

_tests = []


class Skip(Exception):
    """Raised by a test that cannot be made here, with the reason."""


def test(function):
    """Marks a test, called with a folder of its own; its name is a sentence."""
    _tests.append((function.__name__, function))
    return function


def on_each_machine(function):
    """Marks a test that is made once for each machine: called with the folder and the machine."""
    for machine in ("x86_64", "aarch64"):
        _tests.append((f"{function.__name__}_on_{machine}",
                       lambda folder, machine=machine: function(folder, machine)))
    return function


def main():
    """Runs all tests, or those whose name holds one of the arguments. 77: all were skipped."""
    only = sys.argv[1:]
    failed = passed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="rockit-check-") as top:
        for number, (name, function) in enumerate(_tests):
            if only and not any(word in name for word in only):
                continue
            folder = pathlib.Path(top, str(number))
            folder.mkdir()
            try:
                function(folder)
                passed += 1
                print(f"ok - {name.replace('_', ' ')}")
            except Skip as why:
                skipped += 1
                print(f"ok - {name.replace('_', ' ')} # SKIP {why}")
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok - {name.replace('_', ' ')}\n{traceback.format_exc()}")
    print(f"{passed} passed, {skipped} skipped, {failed} failed")
    sys.exit(1 if failed else 77 if not passed else 0)


def need(program):
    """The program's path, or the test is skipped."""
    path = shutil.which(program)
    if not path:
        raise Skip(f"no {program} here")
    return path


def run(*argv, **how):
    """The program's output as bytes; a status that is not 0 is an error that shows all of it."""
    done = subprocess.run([str(a) if not isinstance(a, bytes) else a for a in argv],
                          capture_output=True, check=False, **how)
    if done.returncode:
        raise AssertionError(f"{argv}: status {done.returncode}\n{done.stdout!r}\n{done.stderr!r}")
    return done.stdout


def runner(machine):
    """The prefix for a program of this machine: nothing, or qemu."""
    if machine == HERE:
        return []
    for name in (f"qemu-{machine}-static", f"qemu-{machine}"):
        if shutil.which(name):
            return [shutil.which(name)]
    raise Skip(f"no qemu-user for {machine} here")
