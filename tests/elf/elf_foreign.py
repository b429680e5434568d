#!/usr/bin/env python3
"""Programs and libraries for aarch64 or x86-64, whichever this machine is not: edited and run by qemu.

Needs a compiler for the other machine; skipped without.
"""

import os
import platform
import sys
import tempfile

import lib_elf

OTHER = "aarch64" if platform.machine() == "x86_64" else "x86_64"
PREFIX = f"{OTHER}-linux-gnu-"
ROOT = f"/usr/{OTHER}-linux-gnu"
os.environ["ROCKIT_TEST_CC"] = PREFIX + "gcc"

import elf_edit  # pylint: disable=wrong-import-position

# 64 KiB pages are what aarch64 has; 4 KiB is what some link with.
WAYS = [("plain", []), ("small pages", ["-Wl,-z,max-page-size=4096"]),
        ("large pages", ["-Wl,-z,max-page-size=65536"]), ("separate", ["-Wl,-z,separate-code"]),
        ("no build id", ["-Wl,--build-id=none"]), ("rpath", ["-Wl,-rpath,/x"]),
        ("big bss", ["-DBSS=67108864"])]


def run(path, library, env=None):
    emulator = [f"qemu-{OTHER}-static", "-L", ROOT]
    for name, value in (env or {}).items():
        emulator += ["-E", f"{name}={value}"]
    argv = ["./loader", f"./{path}"] if library else [f"./{path}"]
    return lib_elf.call(*emulator, *argv, timeout=120)


def main():
    lacking = lib_elf.missing(PREFIX + "gcc", PREFIX + "strip", f"qemu-{OTHER}-static",
                              "eu-elflint", "readelf")
    if lacking or not os.path.isdir(ROOT):
        print("skipped: no", *lacking)
        return lib_elf.SKIPPED
    elf_edit.use = run
    elf_edit.STRIPPERS = [[PREFIX + "strip"], ["eu-strip"]]
    elf_edit.check_same_content = lambda old, new: None  # this machine's objcopy may not know it
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rockit-elf-") as folder:
        os.chdir(folder)
        elf_edit.prepare()
        for library in (False, True):
            for name, options in WAYS + ([] if library else [("no pie", ["-no-pie"])]):
                title = f"{OTHER} {'library' if library else 'program'}, {name}"
                failed += elf_edit.attempt(
                    title, lambda o=options, k=library: elf_edit.check_build("main.c", o, k))
        os.chdir("/")
    print(f"{failed} failed; edits by way: {dict(sorted(elf_edit.ways.items()))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
