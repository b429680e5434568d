#!/usr/bin/env python3
"""No function of the C library that glibc 2.28 does not have, wherever it is built.

What is handed to others is compiled for glibc 2.28 in `make test-full` (floor.py looks at that).
This looks at the ordinary build, whose symbols bear this system's versions: above 2.28 only names
that older releases have too, under another version, may appear.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

FLOOR = (2, 28)
BUILD = pathlib.Path(os.environ["ROCKIT"]).resolve().parent
# Moved into libc from libpthread, libdl and librt (2.34), or until 2.33 inline over others.
MOVED = re.compile(r"pthread_.*|sem_.*|dl(open|close|sym|addr1?|error|_iterate_phdr|info|vsym)|timer_.*"
                   r"|[fl]?stat(at)?(64)?|fstatat(64)?|mknod(at)?|__libc_start_main|shm_(open|unlink)"
                   r"|mq_.*|aio_.*|call_once|cnd_.*|mtx_.*|thrd_.*|tss_.*")
# The same under a new version since a detail of them changed.
CHANGED = re.compile(r"(exp|exp2|log|log2|pow|hypot|fmod)f?|__isoc23_\w+|posix_spawnp?|qsort_r")
# Weak in the object, and looked at before it is called; or the loader's mark of relative relocations.
OPTIONAL = re.compile(r"__libc_single_threaded|GLIBC_ABI_DT_RELR")


def needs(path):
    """(symbol, version) of the C library that an ELF file asks for."""
    text = subprocess.run(["readelf", "--dyn-syms", "-W", path], capture_output=True, text=True,
                          check=True).stdout
    return {(m[1], tuple(map(int, m[2].split(".")))) for m in
            re.finditer(r" UND (\w+)@GLIBC_([0-9.]+)", text)}


def too_new(path):
    late = [name for name, version in needs(path) if version[:2] > FLOOR]
    return sorted(n for n in late if not (MOVED.fullmatch(n) or CHANGED.fullmatch(n)
                                          or OPTIONAL.fullmatch(n)))


def self_test():
    """The rules know what they are for."""
    for name in ("pthread_create", "stat64", "fstat", "dlsym", "pow", "__isoc23_strtoul"):
        assert MOVED.fullmatch(name) or CHANGED.fullmatch(name), name
    for name in ("arc4random", "close_range", "strlcpy", "gettid", "closefrom", "memcpy"):
        assert not (MOVED.fullmatch(name) or CHANGED.fullmatch(name)), name


def main():
    if not shutil.which("readelf"):
        return 77
    self_test()
    files = [BUILD / "rockit", *BUILD.glob("librockit-*.so"), *BUILD.glob("librockit.so.*")]
    failed = 0
    for path in files:
        assert needs(path) or b"__asan_init" in path.read_bytes(), f"{path} asks for nothing"
        for name in too_new(path):
            print(f"FAIL {path.name}: '{name}' is not in glibc {'.'.join(map(str, FLOOR))}")
            failed += 1
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
