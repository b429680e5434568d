#!/usr/bin/env python3
"""Our declarations of NVML against NVIDIA's header.

tools/setup.sh puts the header of PyPI's package nvidia-nvml-dev below build/nvml-headers; without
it this is skipped.
"""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
HEADERS = pathlib.Path(os.environ.get("ROCKIT_NVML_HEADERS", SOURCE / "build" / "nvml-headers"))
SKIPPED = 77


def main():
    found = sorted(HEADERS.rglob("nvml.h"))
    failed = 0
    for header in found:
        done = subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-fsyntax-only", "-w",
                               f"-I{SOURCE / 'src'}", f"-I{header.parent}",
                               str(SOURCE / "tests/sim/nvml/nvml_layout.c")],
                              capture_output=True, text=True, check=False)
        print("ok  " if done.returncode == 0 else "FAIL", header, done.stderr)
        failed += done.returncode != 0
    if not found:
        print(f"skip: no nvml.h below {HEADERS}; tools/setup.sh brings it")
    return 1 if failed else 0 if found else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
