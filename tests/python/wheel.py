#!/usr/bin/env python3
"""The wheel itself: what it holds, that it is the same each time, and what others say of it."""

import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile

from libpy import FULL, ROCKIT, SOURCE, Skip, main, test, trace

VENVS = pathlib.Path(os.environ["ROCKIT_VENVS"])
BUILD = pathlib.Path(ROCKIT).parent
(WHEEL,) = (VENVS / "wheels").glob("rockit-*.whl")
BASE = pathlib.Path(os.environ["ROCKIT_PYTHON"])  # with pip, twine and others, where these are


def make(folder, **env):
    argv = [sys.executable, SOURCE / "tools/make-wheel", "--from", BUILD, "--out", folder]
    subprocess.run(argv, check=True, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (made,) = folder.glob("*.whl")
    return made


def program(name):
    path = BASE.parent / name
    if not path.exists():
        raise Skip(f"no {name} here")
    return path


@test
def the_record_is_right(_):
    with zipfile.ZipFile(WHEEL) as archive:
        assert archive.testzip() is None
        names = [n for n in archive.namelist() if n.endswith("RECORD")]
        rows = list(csv.reader(io.StringIO(archive.read(names[0]).decode())))
        assert sorted(r[0] for r in rows) == sorted(archive.namelist())
        for path, digest, size in rows:
            data = archive.read(path)
            if path == names[0]:
                assert not digest and not size
                continue
            want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert digest == "sha256=" + want and int(size) == len(data), path


@test
def it_has_all_of_the_package_and_nothing_else(_):
    with zipfile.ZipFile(WHEEL) as archive:
        names = set(archive.namelist())
        modes = {i.filename: i.external_attr >> 16 for i in archive.infolist()}
    for path in (SOURCE / "python/rockit").glob("*.py"):
        assert f"rockit/{path.name}" in names
    assert "rockit/py.typed" in names
    assert {n.split("/")[0].split("-")[0] for n in names} == {"rockit"}
    for native in ("bin/rockit", "lib/librockit.so.1"):
        assert modes[f"rockit/_native/{native}"] == 0o100755
    assert modes["rockit/__init__.py"] == 0o100644
    assert not any(n.endswith((".pyc", ".c", ".h")) for n in names)


@test
def the_same_build_gives_the_same_bytes(folder):
    again = make(folder, SOURCE_DATE_EPOCH="1700000000")
    assert again.read_bytes() == WHEEL.read_bytes()
    with zipfile.ZipFile(again) as archive:
        assert {i.date_time for i in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}


@test
def its_name_says_what_it_needs(folder):
    machine = re.search(r"(x86_64|aarch64)\.whl$", WHEEL.name).group(1)
    with zipfile.ZipFile(WHEEL) as archive:
        files = [n for n in archive.namelist() if n.startswith("rockit/_native/")]
        archive.extractall(folder, files)
    needs = "".join(subprocess.run(["readelf", "-W", "-d", "-V", folder / f], capture_output=True, text=True,
                                   check=True).stdout for f in files)
    newest = max((int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", needs))
    others = [n for n in re.findall(r"NEEDED.*?\[(.*?)\]", needs) if not n.startswith(("libc.", "libm.", "ld-linux"))]
    if newest <= (2, 28) and not others:
        assert f"manylinux_2_28_{machine}" in WHEEL.name
    elif newest > (2, 28):
        assert f"none-linux_{machine}" in WHEEL.name


@test
def the_command_travels_along(folder):
    bin_dir = VENVS / "plain/bin"
    said = subprocess.run([bin_dir / "rockit", "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split()[1] in WHEEL.name
    assert said == subprocess.run([bin_dir / "python", "-m", "rockit", "--version"], capture_output=True, text=True,
                                  check=True).stdout
    done = subprocess.run([bin_dir / "rockit", "report", trace(folder), "--format", "json"], capture_output=True)
    assert done.returncode == 0 and json.loads(done.stdout)["kernel_rows"] == 1000
    assert subprocess.run([bin_dir / "rockit", "nothing"], capture_output=True).returncode == 2


@test
def a_moved_environment_still_works(folder):
    (site,) = (VENVS / "plain").glob("lib/python3.*/site-packages")
    shutil.copytree(site / "rockit", folder / "else where/rockit")
    code = "import rockit; print(rockit.__file__); rockit.presets(); print(rockit.plan(['x'], tool='cupti').passes[0].env)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(folder / 'else where')!r}); "
                           + code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(folder / "else where") in done.stdout.splitlines()[0]
    if (site / "rockit/_native/lib/rockit/librockit-cupti.so").exists():
        assert str(folder) in done.stdout.splitlines()[1], done.stdout


@test
def a_broken_library_is_an_exception(folder):
    (folder / "librockit.so.1").write_bytes(b"\x7fELF, and no more")
    code = "import rockit\ntry:\n    rockit.version()\nexcept rockit.UnsupportedError as why:\n    print(why)"
    env = {**os.environ, "ROCKIT_LIBRARY": str(folder / "librockit.so.1")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0 and "librockit.so.1" in done.stdout, done


@test
def twine_accepts_it(_):
    subprocess.run([program("twine"), "check", "--strict", WHEEL], check=True, stdout=subprocess.DEVNULL)


@test
def check_wheel_contents_accepts_it(_):
    # W004: it takes the collectors for modules with names that cannot be imported
    argv = [program("check-wheel-contents"), "--ignore", "W004", WHEEL]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


@test
def mypy_finds_nothing(folder):
    if not FULL:
        raise Skip("in make test-full")
    argv = [program("mypy"), "--config-file", SOURCE / "python/mypy.ini", "--cache-dir", folder, "rockit"]
    done = subprocess.run(argv, cwd=SOURCE / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@test
def the_wheel_for_everybody_passes_the_same_tests(folder):
    found = sorted((SOURCE / "build/dist").glob(f"rockit-*manylinux*_{platform.machine()}.whl"))
    if not FULL or not found:
        raise Skip("after `make wheel`, in make test-full")
    with zipfile.ZipFile(found[-1]) as archive:
        archive.extractall(folder)
    os.chmod(folder / "rockit/_native/bin/rockit", 0o755)
    for name in ("plain", "sessions"):
        argv = [sys.executable, SOURCE / f"tests/python/{name}.py"]
        done = subprocess.run(argv, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    main()
