#!/usr/bin/env python3
"""make_venv.py BUILD PLACE - the wheel of a build, installed into two fresh environments.

PLACE/plain has Python and rockit, nothing else; PLACE/full sees the packages of the Python that
runs this as well (pandas, polars, pyarrow, duckdb, where it has them).
"""
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import venv

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def environment(place, wheel):
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "--python", place / "bin/python"]
    subprocess.run([*pip, "install", "--no-index", "--no-deps", "--no-compile", wheel], check=True)
    (found,) = place.glob("lib/python3.*/site-packages")
    return found


def main():
    build, place = map(pathlib.Path, sys.argv[1:])
    wheels = place / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    make = [sys.executable, SOURCE / "tools/make-wheel", "--from", build, "--out", wheels]
    subprocess.run(make, check=True)
    (wheel,) = wheels.glob("rockit-*.whl")
    environment(place / "plain", wheel)
    site = environment(place / "full", wheel)
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")


if __name__ == "__main__":
    main()
