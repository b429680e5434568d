"""Programs of Debian's ROCm packages: how they are started, and what is known of what they launch."""

import collections
import subprocess
import sys

from vgpu import HERE, same

# status: kernels compute nothing, so results may be wrong; kernels and names: None where it depends on the
# machine. ROCr's own copies, which have no name, are not counted.
Program = collections.namedtuple("Program", "path args status kernels names options")


def small_programs(s):
    """In the suite trixie; elsewhere none."""
    (s.temp / "icd").mkdir(exist_ok=True)
    (s.temp / "icd/amd.icd").write_text("libamdocl64.so\n")
    options = {"chip": "gfx90a", "limit": 180,
               "env": {"OCL_ICD_VENDORS": str(s.temp / "icd"), "ROCFFT_RTC_PROCESS": "0",
                       "ROCFFT_RTC_CACHE_PATH": str(s.temp / "rocfft.db")}}
    for path, args, status, kernels, names in (
            ("libexec/rocm/librocrand1-tests/test_rocrand_generate", (), 0, 150, 50),
            ("libexec/rocm/librocrand1-tests/test_rocrand_basic", (), 0, 8, 4),
            ("bin/clpeak", ("--compute-sp",), 0, 160, 5),
            ("libexec/rocm/librocfft0-tests/rocfft-test", ("--gtest_filter=manual*", "--length", "1024"), 1, 3, 3)):
        if (s.root / "usr" / path).exists():
            yield Program("usr/" + path, args, status, kernels, names, options)


def rocblas_bench():
    return Program("usr/libexec/rocm/librocblas0-bench/rocblas-bench",
                   "-f gemm -r f32_r -m 1024 -n 1024 -k 1024 -i 20 -j 2".split(), 0, 22, 1,
                   {"chip": "gfx1100", "limit": 300})


def hipblaslt_bench():
    return Program("usr/libexec/rocm/libhipblaslt1-bench/hipblaslt-bench",
                   "-f matmul -r f16_r -m 512 -n 512 -k 512 --iters 20 --cold_iters 2".split(), 0, 27, 3,
                   {"chip": "gfx90a", "limit": 300})


def backends(s):
    """llama.cpp looks for its backends in the working directory."""
    folder = s.temp / "ggml"
    folder.mkdir(exist_ok=True)
    for library in (s.lib / "ggml/backends0").glob("*.so"):
        if not (folder / library.name).exists():
            (folder / library.name).symlink_to(library)
    return folder


def llama_benches(s):
    for kind, chip, kernels, names in (("q4_0", "gfx90a", 9763, 19), ("q4_0", "gfx1100", 9663, 17),
                                       ("f16", "gfx90a", 7104, 19)):
        model = s.temp / f"{kind}.gguf"
        subprocess.run([sys.executable, HERE / "tiny_model.py", model, kind], check=True)
        yield Program("usr/bin/llama-bench", ["-m", model, *"-p 64 -n 32 -r 3 -ngl 99 -t 2".split()], 0, kernels, names,
                      {"chip": chip, "limit": 300, "cwd": backends(s)})


def backend_ops_bench(s):
    return Program("usr/libexec/x86_64-linux-gnu/ggml/test-backend-ops", "perf -o ADD -b ROCm0".split(), 0, None, 2,
                   {"chip": "gfx90a", "limit": 300, "cwd": backends(s)})


def known(program, status, names):
    """What ran is what is known of it; `names` has one for each kernel. Returns how many, and how many different."""
    found = len(names), len(set(names))
    want = program.kernels if program.kernels is not None else found[0], program.names
    same(f"status, kernels, names of {program.path}", (status, *found), (program.status, *want))
    return found


def check(s, program):
    r = s.run(program.path, *program.args, **program.options)
    return known(program, r.rc, [row["name"] for row in r.ledger.of("dispatch") if row["name"]])
