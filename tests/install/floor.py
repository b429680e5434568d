#!/usr/bin/env python3
"""What is handed to others runs with glibc 2.28 and needs nothing but the C library.

Every ELF file of the tarballs and wheels in build/dist and of build/floor*: the versions that it
asks for, and the libraries. For `make test-full`, which makes them first; elsewhere skipped.
"""
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

FLOOR = (2, 28)
BUILD = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"]) / "build"
ALLOWED = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux-(x86-64|aarch64)\.so\.\d+"
                     r"|librockit\.so\.1")
MACHINES = {"x86_64": "X86-64", "aarch64": "AArch64"}


def readelf(path, *options):
    return subprocess.run(["readelf", "-W", *options, path], capture_output=True, text=True,
                          check=True).stdout


def faults(path):
    """What is wrong with one file: above the floor, other libraries, a place to look for them."""
    for version in sorted(set(re.findall(r"GLIBC_([0-9]+\.[0-9]+)", readelf(path, "-V")))):
        if tuple(map(int, version.split("."))) > FLOOR:
            yield f"needs GLIBC_{version}"
    for other in sorted(set(re.findall(r"Name: (?!GLIBC_)(\w+_[0-9.]+)", readelf(path, "-V")))):
        if not other.startswith("ROCKIT_"):
            yield f"needs {other}"
    dynamic = readelf(path, "-d")
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not ALLOWED.fullmatch(library):
            yield f"needs {library}"
    for where in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        if not all(part.startswith("$ORIGIN") for part in where.split(":")):
            yield f"looks for libraries in {where}"
    if "(TEXTREL)" in dynamic:
        yield "has text relocations"
    asked = set(re.findall(r" UND (\w+)@GLIBC", readelf(path, "--dyn-syms")))
    if "memcpy" not in asked:  # a linker may bring slower ones
        yield "has a memcpy of its own"


def is_elf(path):
    with open(path, "rb") as file:
        return path.is_file() and file.read(4) == b"\x7fELF"


def unpacked(archive, folder):
    """All ELF files of an archive, laid below a folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder)
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
    return [p for p in sorted(pathlib.Path(folder).rglob("*"))
            if p.is_file() and not p.is_symlink() and is_elf(p)]


def check(name, path, machine):
    found = list(faults(path))
    if machine and MACHINES[machine] not in readelf(path, "-h"):
        found.append(f"is not for {machine}")
    for fault in found:
        print(f"FAIL {name}: {fault}")
    if not found:
        print(f"ok   {name}")
    return not found


def runs_emulated(archive, folder):
    """The command of another machine's tarball says its version, where there is an emulator."""
    machine = next(m for m in MACHINES if m in archive.name)
    qemu = shutil.which(f"qemu-{machine}-static") or shutil.which(f"qemu-{machine}")
    libraries = pathlib.Path(f"/usr/{machine}-linux-gnu")
    if machine == platform.machine() or not qemu or not libraries.exists():
        return []
    command = next(pathlib.Path(folder).glob("*/bin/rockit"))
    done = subprocess.run([qemu, "-L", libraries, command, "version"], capture_output=True,
                          text=True, check=False)
    good = done.returncode == 0 and done.stdout.startswith("rockit ")
    print(f"{'ok  ' if good else 'FAIL'} {archive.name} runs under {qemu}{done.stderr}")
    return [good]


def packed_again(archive):
    """A tarball that is packed again from the same build has the same bytes."""
    build = BUILD / "floor"
    if platform.machine() not in archive.name or not (build / "CMakeCache.txt").exists():
        return []
    sums = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["sh", BUILD.parent / "tools/make-tarball", build, folder, "86400"],
                           check=True, capture_output=True)
            made = next(pathlib.Path(folder).glob("*.tar.gz"))
            sums.append(hashlib.sha256(made.read_bytes()).hexdigest())
    print(f"{'ok  ' if sums[0] == sums[1] else 'FAIL'} {archive.name} is the same when packed again")
    return [sums[0] == sums[1]]


def self_test():
    """A program of this system is seen to be above the floor or to be an old system's."""
    libc = next(pathlib.Path("/").glob("lib*/*/libc.so.6"), None) or pathlib.Path("/lib64/libc.so.6")
    newest = max(tuple(map(int, v.split("."))) for v in
                 re.findall(r"GLIBC_([0-9]+\.[0-9]+)", readelf(libc, "-V")))
    probe = pathlib.Path(sys.executable).resolve()
    above = [f for f in faults(probe) if f.startswith("needs")]
    assert newest <= FLOOR or above, f"nothing is wrong with {probe}?"


def main():
    archives = [*BUILD.glob("dist/*.tar.gz"),
                *(w for w in BUILD.glob("dist/*.whl") if "manylinux" in w.name)]
    if os.environ.get("ROCKIT_TEST_FULL") != "1" or not archives:
        return 77
    self_test()
    results = []
    for archive in sorted(archives):
        machine = next((m for m in MACHINES if m in archive.name), None)
        with tempfile.TemporaryDirectory() as folder:
            files = unpacked(archive, folder)
            names = {p.name for p in files}
            for wanted in ("rockit", "librockit-opencl.so", "librockit-cupti.so", "librockit-rocm.so",
                           "librockit-range.so"):
                assert wanted in names, f"{archive.name} has no {wanted}"
            assert any(n.startswith("librockit.so") for n in names), f"{archive.name}: no library"
            for linked in ("libarchive", "libsqlite3", "libzstd", "liblzma"):
                assert any(pathlib.Path(folder).rglob(f"licenses/{linked}")), linked
            results += [check(f"{archive.name}: {p.relative_to(folder)}", p, machine) for p in files]
            if archive.suffix == ".gz":
                results += runs_emulated(archive, folder) + packed_again(archive)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
