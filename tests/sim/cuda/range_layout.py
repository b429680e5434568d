#!/usr/bin/env python3
"""Our declarations of CUPTI's range profiler against NVIDIA's headers, CUDA 12.6 and later.

The headers are those of cupti_layout.py; without them this is skipped.
"""
import pathlib
import sys
import tempfile

from cupti_layout import CUDA_H, HEADERS, HERE, SKIPPED, compile_c


def main():
    failed = checked = 0
    with tempfile.TemporaryDirectory() as stubs:
        pathlib.Path(stubs, "cuda.h").write_text(CUDA_H)
        pathlib.Path(stubs, "builtin_types.h").write_text("typedef int cudaError_t;\n")
        pathlib.Path(stubs, "string").write_text("")  # one of them asks for C++'s
        for include in sorted(HEADERS.glob("*")):
            if not (include / "cupti_range_profiler.h").exists():
                continue
            mig = "MIG_DEVICE_NOT_SUPPORTED" in (include / "cupti_result.h").read_text(
                errors="replace")
            good, said = compile_c(HERE / "range_layout.c", f"-I{stubs}", f"-I{include}",
                                   *(["-DHAS_MIG"] if mig else []))
            print(f"{'ok  ' if good else 'FAIL'} {include.name}", said,
                  sep="\n" if said else "")
            checked += 1
            failed += not good
    return 1 if failed else 0 if checked else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
