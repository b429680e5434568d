#!/usr/bin/env python3
"""Programs that nobody here wrote, with the ROCm collector: what it recorded is what the device's ledger has."""

import re
import subprocess
import sys

import vgpu
from collect import compare, loaded, tables
from real_programs import (backend_ops_bench, hipblaslt_bench, known, llama_benches, rocblas_bench,
                           small_programs)
from vgpu import case, must, same

vgpu.CASES.clear()


def steady(text):
    """What a program prints, without the numbers: times and speeds differ from run to run."""
    return re.sub(r"[0-9.]+ *(ms|us|s|milliseconds)?", "#", text)


def demangle(ledger):
    """The device has names as they are in the code objects, our tables as c++filt prints them."""
    rows = [row for row in ledger.of("dispatch") if row["name"]]
    text = "".join(row["name"] + "\n" for row in rows)
    names = subprocess.run(["c++filt", "-r"], input=text, capture_output=True, text=True, check=True).stdout
    for row, name in zip(rows, names.splitlines(), strict=True):
        row["name"] = name


def collect(s, program):
    """Every dispatch that has a name is recorded, with the ledger's shape and times. Returns how many."""
    raw, env = loaded(s)
    options = {**program.options, "env": {**program.options.get("env", {}), **env}}
    r = s.run(program.path, *program.args, **options)
    kernels = tables(raw)["rocprof_kernels"]
    demangle(r.ledger)
    compare(r.ledger, kernels)
    known(program, r.rc, [k["kernel_name"] for k in kernels])
    return r, len(kernels)


@case("rocRAND's and rocFFT's tests and clpeak are recorded whole, and print the same", full=True)
def small(s):
    for program in small_programs(s):
        plain = s.run(program.path, *program.args, **program.options)
        r, _ = collect(s, program)
        same(f"output of {program.path}", steady(r.out), steady(plain.out))
        same(f"errors of {program.path}", steady(r.err), steady(plain.err))


@case("rocblas-bench is recorded whole, names of 400 characters included", large="trixie-large")
def rocblas(s):
    collect(s, rocblas_bench())


@case("hipblaslt-bench is recorded whole", large="sid-large")
def hipblaslt(s):
    collect(s, hipblaslt_bench())


@case("llama-bench is recorded whole, kernels of graphs included", large="sid-large")
def llama(s):
    for program in llama_benches(s):
        collect(s, program)


@case("test-backend-ops is recorded whole at full speed", large="sid-large")
def backend_ops(s):
    _, kernels = collect(s, backend_ops_bench(s))
    must(kernels > 10_000, f"{kernels} kernels")


if __name__ == "__main__":
    sys.exit(vgpu.main())
