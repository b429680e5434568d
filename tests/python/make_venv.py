#!/usr/bin/env python3
"""make_venv.py BUILD PLACE - the wheel of a build, installed into two fresh environments.

PLACE/plain has Python and rockit, nothing else; PLACE/full sees the packages of the Python that
runs this as well (pandas, polars, pyarrow, duckdb, where it has them).
"""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def unpack(wheel, site, place):
    """What pip does, faster; also where there is none."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            os.chmod(archive.extract(entry, site), entry.external_attr >> 16)
    command = place / "bin/rockit"
    command.write_text(f"#!{place}/bin/python\nimport sys\nfrom rockit.__main__ import main\nsys.exit(main())\n")
    command.chmod(0o755)


def environment(place, wheel, use_pip):
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, symlinks=True)
    (site,) = place.glob("lib/python3.*/site-packages")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    asked = [*pip, "--python", place / "bin/python", "--version"]
    if not use_pip or subprocess.run(asked, capture_output=True, check=False).returncode:
        unpack(wheel, site, place)
        return site
    subprocess.run([*pip, "--python", place / "bin/python", "install", "--no-index", "--no-deps", "--no-compile",
                    wheel], check=True)
    return site


def main():
    build, place = map(pathlib.Path, sys.argv[1:])
    wheels = place / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    make = [sys.executable, SOURCE / "tools/make-wheel", "--from", build, "--out", wheels]
    subprocess.run(make, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    (wheel,) = wheels.glob("rockit-*.whl")
    environment(place / "plain", wheel, True)
    site = environment(place / "full", wheel, False)
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")


if __name__ == "__main__":
    main()
