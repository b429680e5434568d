#!/usr/bin/env python3
"""The ROCm collector on the virtual GPU: what it recorded is what the device's ledger has.

The device writes the ledger and knows of no collector. Suites and arguments as for vgpu.py; the collector
is in ROCKIT_ROCM, else next to the command ($ROCKIT).
"""

import os
import pathlib
import shutil
import subprocess
import sys

import vgpu
from vgpu import HERE, case, must, same

ROCKIT = pathlib.Path(os.environ.get("ROCKIT", "rockit"))
COLLECTOR = pathlib.Path(os.environ.get("ROCKIT_ROCM", ROCKIT.parent / "librockit-rocm.so")).resolve()
vgpu.CASES.clear()


def collected(s, program, *args, env=None, settings="", **options):
    """Runs a program with the collector; returns its result and the folder of what was recorded."""
    raw = s.temp / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    raw.mkdir()
    r = s.run(program, *args, env={"HSA_TOOLS_LIB": str(COLLECTOR), "ROCKIT_COLLECT": f"dir={raw}{settings}",
                                   **(env or {})}, **options)
    return r, raw


@case("the layouts that the collector declares are those of AMD's headers")
def layout(s):
    include = s.root / "usr/include"
    run = subprocess.run(["g++", "-std=c++17", "-DAMD_INTERNAL_BUILD", "-fsyntax-only", "-w",
                          f"-I{HERE.parent.parent / 'collectors/rocm'}", f"-I{include}", f"-I{include / 'hsa'}",
                          HERE / "hsa_layout.cpp"], capture_output=True, text=True)
    same("exit status of the compiler", (run.returncode, run.stderr[:500]), (0, ""))


@case("programs print and return the same with the collector")
def same_output(s):
    for program, *args in (("many",), ("copies",), ("train",)):
        plain = s.run(program, *args)
        r, raw = collected(s, program, *args)
        same(f"result of {program}", (r.rc, r.out, r.err), (plain.rc, plain.out, plain.err))
        same("files", len(list(raw.glob("*.rkraw"))), 1)


if __name__ == "__main__":
    sys.exit(vgpu.main())
