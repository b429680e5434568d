#!/usr/bin/env python3
"""make_artifacts.py - a ROCm-like tree of build artifacts for tests of packaging.

Writes folders called NAME_COMPONENT_FAMILY below --out. Each has an artifact_manifest.txt and one or
more ".../stage" folders, each of them a slice of an install tree. All ELF files are compiled and
linked with the local C compiler, so that loaders, patchers and packagers can be tried without GPU,
ROCm or network.

What matters for tests:
  * SONAME chains       libx.so -> libx.so.N -> libx.so.N.M.P (the file comes last)
  * NEEDED across packages, and run paths as a build leaves them
  * programs, links to programs (also to such links), scripts, links to scripts and to folders,
    dangling links, read-only files
  * big libraries, most of them in allocated sections (.hip_fatbin, .text)
  * many small data files, headers, CMake files, Python modules, documents, tests, debug files
  * the same bytes for the same --seed, --size-mb and compiler

Needs nothing but Python's own modules.
"""
import argparse
import concurrent.futures as cf
import hashlib
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

BLOBGEN_C = r"""
/* blobgen [SEED BYTES KIND OUT]... : pseudo machine code / tables / noise */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint64_t s[2];
static inline uint64_t rnd(void) {
    uint64_t a = s[0], b = s[1];
    s[0] = b; a ^= a << 23; a ^= a >> 18; a ^= b ^ (b >> 5); s[1] = a;
    return a + b;
}
static int blob(char **v) {
    s[0] = strtoull(v[1], 0, 0) * 0x9E3779B97F4A7C15ull + 1; s[1] = 0xD1B54A32D192ED03ull ^ s[0];
    uint64_t n = strtoull(v[2], 0, 0); int kind = v[3][0];
    FILE *f = fopen(v[4], "wb"); if (!f) return 1;
    for (int i = 0; i < 64; i++) rnd();
    /* dictionary of "opcodes" picked with a skewed distribution */
    uint32_t dict[4096]; for (int i = 0; i < 4096; i++) dict[i] = (uint32_t)rnd();
    static unsigned char buf[1 << 20]; uint64_t done = 0;
    while (done < n) {
        size_t k = 0;
        while (k + 64 < sizeof buf) {
            uint64_t r = rnd();
            if (kind == 'n') { memcpy(buf + k, &r, 8); k += 8; continue; }
            if (kind == 't') {            /* table: small ints, slow ramps */
                uint32_t w[4] = { (uint32_t)(done + k) >> 6, (uint32_t)(r & 255), (uint32_t)((r >> 8) & 4095), 0 };
                memcpy(buf + k, w, 16); k += 16; continue;
            }
            /* code: skewed opcode, sometimes a wide immediate, sometimes a run */
            unsigned a = (r & 4095), b = ((r >> 12) & 4095), ix = (a * b) >> 12; ix = (ix * ((r >> 24) & 4095)) >> 12;
            memcpy(buf + k, &dict[ix], 4); k += 4;
            unsigned sel = (r >> 40) & 15;
            if (sel < 5) { uint32_t im = (uint32_t)(r >> 44) & (sel < 2 ? 0xfffff : 0xff); memcpy(buf + k, &im, 4); k += 4; }
            else if (sel == 15 && k > 4096) { unsigned d = 64 + ((r >> 44) & 2047), l = 8 + ((r >> 56) & 31); for (unsigned j = 0; j < l && k + 1 < sizeof buf; j++, k++) buf[k] = buf[k - d]; }
        }
        if (k > n - done) k = (size_t)(n - done);
        if (fwrite(buf, 1, k, f) != k) return 1;
        done += k;
    }
    return fclose(f) != 0;
}
int main(int c, char **v) {
    if (c % 4 != 1) return 2;
    for (; c > 4; c -= 4, v += 4)
        if (blob(v)) return 1;
    return 0;
}
"""

INTERPRETER = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}.get(platform.machine(), "/lib/ld.so")

LIB_C = r"""
#define CAT_(a,b) a##b
#define CAT(a,b) CAT_(a,b)
extern const char blob_start[] __attribute__((weak));
@EXTERNS@
int CAT(@SYM@,_value)(void) { return @N@ @CALLS@; }
const char *CAT(@SYM@,_name)(void) { return "@SYM@"; }
"""

EXE_C = r"""
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern const char blob_start[] __attribute__((weak));
@EXTERNS@
int main(int argc, char **argv) {
    char self[PATH_MAX]; ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0) return 1;
    self[n] = 0;
    if (@CALLS0@ == -12345) puts("unreachable");
    if (argc > 1 && !strcmp(argv[1], "--rocmpath")) {   /* <root>/bin/tool -> <root> */
        for (int i = 0; i < 2; i++) { char *p = strrchr(self, '/'); if (p) *p = 0; }
        puts(self); return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "--argv0")) { puts(argv[0]); return 0; }
    if (argc > 1 && !strcmp(argv[1], "--self")) { puts(self); return 0; }
    puts("@BANNER@");
    return 0;
}
"""


class Lib:
    """One shared library: stem 'amdhip64', version '7.1.0' => SONAME major."""

    def __init__(self, stem, version, *, needs=(), weight=0.0, libdir="lib", runpath=None,
                 soname=True, flat=False, alias=(), section=".hip_fatbin", kind="c", starts=False):
        self.stem, self.version, self.needs = stem, version, tuple(needs)
        self.weight, self.libdir, self.runpath = weight, libdir, runpath
        self.soname, self.flat, self.alias = soname, flat, tuple(alias)
        self.section, self.kind = section, kind
        self.starts = starts    # can be started like a program: it has an interpreter


class Exe:
    def __init__(self, relpath, banner, *, needs=(), weight=0.0, runpath=None, links=()):
        self.relpath, self.banner, self.needs = relpath, banner, tuple(needs)
        self.weight, self.runpath, self.links = weight, runpath, tuple(links)


class Data:
    """count files below `where`; weight>0 spreads that share of the budget over them."""

    def __init__(self, where, pattern, count, *, weight=0.0, each=0, kind="c"):
        self.where, self.pattern, self.count = where, pattern, count
        self.weight, self.each, self.kind = weight, each, kind


class Text:
    def __init__(self, relpath, text, mode=0o644):
        self.relpath, self.text, self.mode = relpath, text, mode


class Link:
    def __init__(self, relpath, target):
        self.relpath, self.target = relpath, target


def headers(where, n, tag):
    return [Text(f"{where}/{tag}_{i:03d}.h",
                 f"#ifndef {tag}_{i}\n#define {tag}_{i}\n" +
                 "".join(f"int {tag}_fn_{i}_{j}(void* handle, const float* a, int lda, float* c, int ldc);\n" for j in range(12 + i % 30)) +
                 "#endif\n") for i in range(n)]


def cmake(name, libs=()):
    body = f"set({name}_FOUND TRUE)\nget_filename_component(_P \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n"
    body += "".join(f"add_library({name}::{l} SHARED IMPORTED)\nset_target_properties({name}::{l} PROPERTIES IMPORTED_LOCATION \"${{_P}}/lib/lib{l}.so\")\n" for l in libs)
    return [Text(f"lib/cmake/{name}/{name}-config.cmake", body),
            Text(f"lib/cmake/{name}/{name}-config-version.cmake", f"set(PACKAGE_VERSION 1.0)\n")]


def pymods(where, n, tag):
    return [Text(f"{where}/{tag}_{i:03d}.py", f'"""module {tag} {i}"""\n\n' + "".join(f"def fn_{j}(x):\n    return x * {j + i}\n\n\n" for j in range(8 + i % 20))) for i in range(n)]


def docs(name, n=3):
    return [Text(f"share/doc/{name}/{'LICENSE.txt' if i == 0 else f'page_{i}.md'}", f"{name} document {i}\n" * (20 + 5 * i)) for i in range(n)]


PY = "#!/usr/bin/env python3\n"
SH = "#!/bin/sh\n"
ORIG = "$ORIGIN"
SYSDEP_RP = "$ORIGIN:$ORIGIN/rocm_sysdeps/lib:$ORIGIN/llvm/lib"


def topology(a):
    """-> {artifact: {"family": bool, "stages": {stage: {component: [items]}}}}"""
    T = {}
    big = a.big_mb / a.size_mb      # floor for the two largest libraries

    def art(name, family=False):
        T[name] = {"family": family, "stages": {}}

        def stage(path, **comps):
            T[name]["stages"].setdefault(path, {}).update({k: list(v) for k, v in comps.items()})
        return stage

    def lib(*p, **k):
        return Lib(*p, **k)

    st = art("base")
    st("base/rocm_smi_lib/stage",
       lib=[lib("rocm_smi64", "8.1.0", needs=["rocm-core"], runpath=SYSDEP_RP)],
       run=[Text("libexec/rocm_smi/rocm_smi.py", PY + "print('System Management Interface')\n", 0o755), Link("bin/rocm-smi", "../libexec/rocm_smi/rocm_smi.py")],
       dev=headers("include/rocm_smi", 6, "rsmi") + cmake("rocm_smi", ["rocm_smi64"]), doc=docs("rocm_smi"), dbg=[Data("lib/.build-id/aa", "{:04x}.debug", 2, each=20000)])
    st("base/rocm-core/stage", lib=[lib("rocm-core", "1.0.0"), Text(".info/version", "10.1.0\n")],
       dev=headers("include/rocm-core", 3, "rocmcore") + [Text("lib/rocmmod", "#%Module1.0\n")] + cmake("rocm-core", ["rocm-core"]), doc=docs("rocm-core"))
    st("base/rocprofiler-register/stage", lib=[lib("rocprofiler-register", "0.6.0", runpath=ORIG)], dev=cmake("rocprofiler-register"),
       test=[Text("share/rocprofiler-register/tests/CMakeLists.txt", "project(t)\n")])
    st("base/half/stage", dev=headers("include/half", 2, "half"), doc=docs("half", 1))
    fams = a.families
    st("base/aux-overlay/stage",
       lib=[Text("share/therock/therock_manifest.json", json.dumps({"the_rock_commit": "0" * 40, "submodules": [], "flags": {"KPACK_SPLIT_ARTIFACTS": a.mode == "kpack"}}, indent=2) + "\n"),
            Text("share/therock/dist_info.json", json.dumps({"dist_amdgpu_targets": ";".join(fams)}, indent=2) + "\n"),
            Text("lib/cmake/redirect/redirect-config.cmake", "include(x)\n"),
            # links into another artifact: dangling until trees are merged
            Link("llvm", "lib/llvm"), Link("amdgcn", "lib/llvm/amdgcn")] +
           [Link(f"bin/{t}", f"../lib/llvm/bin/{t}") for t in ("amdclang", "amdclang++", "amdclang-cl", "amdclang-cpp", "amdflang", "amdlld")])

    st = art("sysdeps")
    for n, v in (("zstd", "1"), ("liblzma", "5"), ("sqlite3", "0"), ("elf", "1"), ("numa", "1"), ("z", "1")):
        real = f"rocm_sysdeps_{n}"
        st(f"third-party/sysdeps/linux/{n}/build/stage", lib=[lib(real, v, libdir="lib/rocm_sysdeps/lib", flat=True, alias=[f"lib{n.removeprefix('lib')}.so"], weight=0.003, section=".rodata.blob")],
           dev=headers("lib/rocm_sysdeps/include", 2, f"sd_{n}"))

    # libcap can be started, and its libraries have names of their own: the linker's names are links to other stems
    for n in ("cap", "psx"):
        st(f"third-party/sysdeps/linux/libcap/{n}/stage", lib=[lib(f"rocm_sysdeps_{n}", "2", libdir="lib/rocm_sysdeps/lib", flat=True, alias=[f"lib{n}.so"], starts=True)])

    st = art("host-blas")
    st("third-party/host-blas/stage", lib=[lib("rocm-openblas", "0.3", libdir="lib/host-math/lib", weight=0.03, section=".text.blob")], dev=headers("lib/host-math/include", 2, "cblas"))

    st = art("amd-llvm")
    llvm_links = [("clang", "clang-20"), ("clang++", "clang"), ("clang-cpp", "clang"), ("clang-cl", "clang"), ("amdclang", "clang"), ("amdclang++", "clang++"), ("amdclang-cpp", "clang-cpp"), ("amdclang-cl", "clang-cl"), ("flang", "clang"), ("amdflang", "flang")]
    rp_llvm = "$ORIGIN/../lib:$ORIGIN/../../../lib:$ORIGIN/../../rocm_sysdeps/lib"
    st("compiler/amd-llvm/stage",
       lib=[lib("LLVM", "20.0git", libdir="lib/llvm/lib", weight=max(0.16, big), needs=["rocm_sysdeps_zstd"], runpath="$ORIGIN:$ORIGIN/../../rocm_sysdeps/lib", section=".text.blob"),
            lib("clang-cpp", "20.0git", libdir="lib/llvm/lib", needs=["LLVM"], weight=0.07, runpath=ORIG, section=".text.blob"),
            Lib("omp", "", libdir="lib/llvm/lib", weight=0.004, runpath=ORIG),
            Data("lib/llvm/amdgcn/bitcode", "oclc_{:03d}.bc", 40, weight=0.004)] + headers("lib/llvm/lib/clang/20/include", 120, "builtin"),
       run=[Exe("lib/llvm/bin/clang-20", "OVERVIEW: clang LLVM compiler", needs=["clang-cpp", "LLVM"], weight=0.02, runpath=rp_llvm, links=llvm_links),
            Exe("lib/llvm/bin/lld", "USAGE: ld.lld [options]", needs=["LLVM"], weight=0.03, runpath=rp_llvm, links=[("ld.lld", "lld"), ("amdlld", "ld.lld")]),
            Exe("lib/llvm/bin/offload-arch", fams[0].split(":")[0], runpath=rp_llvm, links=[("amdgpu-arch", "offload-arch")]),
            Text("lib/llvm/bin/git-clang-format", PY + "print('x')\n", 0o755)],
       dev=headers("lib/llvm/include/llvm", 300, "llvmh") + [Text("lib/llvm/lib/cmake/llvm/LLVMConfig.cmake", "set(LLVM_FOUND 1)\n")] + [Data("lib/llvm/lib", "libLLVMPart{:02d}.a", 6, weight=0.02)],
       doc=docs("llvm"), dbg=[Data("lib/llvm/lib/.build-id/bb", "{:04x}.debug", 2, each=40000)])
    st("compiler/amd-comgr/stage", lib=[lib("amd_comgr", "3.0.0", needs=["rocm_sysdeps_zstd", "LLVM"], weight=0.08, runpath=SYSDEP_RP, section=".text.blob")], dev=headers("include/amd_comgr", 1, "comgr") + cmake("amd_comgr", ["amd_comgr"]))
    st("compiler/hipcc/stage", run=[Exe("bin/hipcc", "OVERVIEW: clang LLVM compiler", runpath="$ORIGIN/../lib"), Exe("bin/hipconfig", "HIP version: 10.1.0", runpath="$ORIGIN/../lib"), Link("bin/hipcc.bin", "hipcc")])

    st = art("hipify")
    st("compiler/hipify/stage", run=[Exe("bin/hipify-clang", "USAGE: hipify-clang [options]", needs=["clang-cpp"], runpath="$ORIGIN/../lib/llvm/lib"), Text("bin/hipify-perl", "#!/usr/bin/env perl\nprint \"USAGE: hipify-perl\\n\";\n", 0o755)])

    st = art("core-runtime")
    st("core/ROCR-Runtime/stage", lib=[lib("hsa-runtime64", "1.18.0", needs=["rocm_sysdeps_elf", "rocm_sysdeps_numa", "rocprofiler-register"], weight=0.01, runpath=SYSDEP_RP)],
       dev=headers("include/hsa", 8, "hsa") + cmake("hsa-runtime64", ["hsa-runtime64"]), doc=docs("rocr"), dbg=[Data("lib/.build-id/cc", "{:04x}.debug", 1, each=30000)])
    st("core/rocminfo/stage", run=[Exe("bin/rocminfo", "ROCk module is loaded", needs=["hsa-runtime64"], runpath="$ORIGIN/../lib"), Text("bin/rocm_agent_enumerator", PY + "print('gfx000')\n", 0o755)], doc=docs("rocminfo", 1))

    st = art("core-hip")
    st("core/clr/stage",
       lib=[lib("amdhip64", "10.1.0", needs=["hsa-runtime64", "amd_comgr", "rocprofiler-register"], weight=0.03, runpath=SYSDEP_RP, section=".text.blob"),
            lib("hiprtc", "10.1.0", needs=["amd_comgr"], weight=0.005, runpath=SYSDEP_RP), lib("hiprtc-builtins", "10.1.0", needs=["amd_comgr"], runpath=SYSDEP_RP),
            Text("lib/.hipInfo", "HIP_RUNTIME=rocclr\n"), Text("share/hip/version", "HIP_VERSION_MAJOR=10\n")],
       run=[Text("bin/roc-obj", SH + "echo roc-obj\n", 0o755), Text("bin/roc-obj-ls", "#!/usr/bin/perl\nprint 1;\n", 0o755), Link("bin/roc-obj-extract", "roc-obj-ls")],
       dev=headers("include/hip", 90, "hip") + cmake("hip", ["amdhip64"]) + cmake("hiprtc", ["hiprtc"]) + [Text("lib/pkgconfig/hip.pc", "Name: hip\n")], doc=docs("hip"), dbg=[Data("lib/.build-id/dd", "{:04x}.debug", 1, each=90000)],
       test=[Text("share/hip/tests/CMakeLists.txt", "project(hiptests)\n")])

    st = art("core-kpack")
    st("core/kpack/stage", lib=[lib("rocm_kpack", "0.1.0", needs=["rocm_sysdeps_zstd"], runpath=SYSDEP_RP)], dev=headers("include/rocm_kpack", 2, "kpack"))
    st = art("core-amdsmi")
    st("core/amdsmi/stage", lib=[lib("amd_smi", "26.0.0", runpath=SYSDEP_RP)], run=[Text("libexec/amdsmi_cli/amdsmi_cli.py", PY + "print('AMD-SMI 26')\n", 0o755), Link("bin/amd-smi", "../libexec/amdsmi_cli/amdsmi_cli.py")] + pymods("share/amd_smi/amdsmi", 12, "amdsmi"), dev=headers("include/amd_smi", 2, "amdsmi") + cmake("amd_smi"))
    for n, v in (("hipfile", "0.2.0"), ("rocdecode", "1.0.0"), ("rocjpeg", "1.0.0")):
        st = art(n)
        st(f"media/{n}/stage", lib=[lib(n, v, needs=["amdhip64"], runpath=SYSDEP_RP)], dev=headers(f"include/{n}", 2, n), doc=docs(n, 1))
    st = art("aqlprofile")
    st("profiler/aqlprofile/stage", lib=[lib("hsa-amd-aqlprofile64", "1.0.0", needs=["hsa-runtime64"], runpath=SYSDEP_RP)])

    st = art("rocprofiler-sdk")
    st("profiler/rocprofiler-sdk/stage",
       lib=[lib("rocprofiler-sdk", "1.1.0", needs=["hsa-runtime64", "amd_comgr", "rocm_sysdeps_sqlite3"], weight=0.02, runpath=SYSDEP_RP), lib("rocprofiler-sdk-roctx", "1.1.0", runpath=SYSDEP_RP),
            Lib("rocprofiler-sdk-tool", "1.1.0", libdir="lib/rocprofiler-sdk", needs=["rocprofiler-sdk"], runpath="$ORIGIN/.."), Text("libexec/rocprofiler-sdk/attach.py", PY)],
       run=[Text(f"bin/{t}", PY + f"print('{t}')\n", 0o755) for t in ("rocprofv3", "rocprofv3-avail", "rocprofv3-attach", "rocpd", "rocpd2csv", "rocpd2otf2", "rocpd2pftrace", "rocpd2summary")] + pymods("lib/python3/site-packages/rocpd", 20, "rocpd"),
       dev=headers("include/rocprofiler-sdk", 30, "rps") + cmake("rocprofiler-sdk"), test=[Exe("share/rocprofiler-sdk/tests/bin/transpose", "transpose ok", needs=["amdhip64"], runpath="$ORIGIN/../../../../lib")], doc=docs("rocprofiler-sdk"), dbg=[])
    st("profiler/roctracer/stage", lib=[lib("roctx64", "4.1.0", runpath=ORIG), lib("roctracer64", "4.1.0", runpath=ORIG), Lib("file_plugin", "", libdir="lib/roctracer", runpath="$ORIGIN/..")], dev=headers("include/roctracer", 4, "roctracer"))

    st = art("rocprofiler-systems")
    sysrp = "$ORIGIN/../lib:$ORIGIN/../lib/rocprofiler-systems:$ORIGIN/../lib/llvm/lib"
    st("profiler/rocprofiler-systems/stage",
       lib=[lib("profiler-hub", "0.1.0", runpath=ORIG), lib("rocprof-sys", "1.3.0", needs=["profiler-hub", "rocprofiler-sdk", "rocprofiler-sdk-roctx"], weight=0.03, runpath="$ORIGIN:$ORIGIN/rocprofiler-systems"),
            lib("rocprof-sys-dl", "1.3.0", runpath=ORIG), lib("rocprof-sys-rt", "11.0.1", runpath=ORIG), lib("rocprof-sys-user", "1.3.0", needs=["rocprof-sys-dl"], runpath=ORIG)] + pymods("lib/python/site-packages/rocprofsys", 10, "rps") + [Text("libexec/rocprofiler-systems/rocprof-sys-launch-compiler", SH, 0o755)],
       run=[Exe(f"bin/rocprof-sys-{t}", f"rocprof-sys-{t} v1.3.0", needs=["rocprof-sys"] if t != "run" else ["rocprof-sys-dl"], runpath=sysrp) for t in ("avail", "causal", "instrument", "run", "sample", "attach")] +
           [Text("bin/rocprof-sys-python", SH + "exec python3 -m rocprofsys \"$@\"\n", 0o755), Text("share/rocprofiler-systems/setup-env.sh", "export X=1\n"), Text("share/modulefiles/rocprofiler-systems/1.3.0", "#%Module\n")],
       dev=headers("include/rocprofiler-systems", 5, "rpsys") + cmake("rocprofiler-systems"), doc=docs("rocprofiler-systems"), test=[Text("share/rocprofiler-systems/tests/t.py", PY)], dbg=[Data("lib/.build-id/ee", "{:04x}.debug", 1, each=50000)])
    st = art("rocprofiler-compute")
    st("profiler/rocprofiler-compute/stage",
       lib=[Text("libexec/rocprofiler-compute/rocprof-compute", PY + "print('rocprof-compute 3.3')\n", 0o755)] + pymods("libexec/rocprofiler-compute/rocprof_compute_base", 40, "rpc") + [Data("libexec/rocprofiler-compute/rocprof_compute_soc/analysis_configs", "panel_{:04d}.yaml", 60, each=6000, kind="t")],
       run=[Link("bin/rocprof-compute", "../libexec/rocprofiler-compute/rocprof-compute"), Text("share/rocprofiler-compute/sample.sh", SH)], doc=docs("rocprofiler-compute"), test=[], dev=[], dbg=[])

    # ---- target specific -------------------------------------------------
    kp = a.mode == "kpack"
    mrp = "$ORIGIN:$ORIGIN/rocm_sysdeps/lib:$ORIGIN/host-math/lib:$ORIGIN/llvm/lib"

    def host(name):  # host part: per family in legacy mode, generic in kpack mode
        return art(name, family=not kp)

    devw = {"rocblas": 0.10, "hipblaslt": 0.14, "miopen": 0.03}
    st = host("blas")
    st("math-libs/BLAS/rocBLAS/stage", lib=[lib("rocblas", "5.2.0", needs=["amdhip64", "rocm-openblas"], weight=0.0 if kp else max(0.22, big), runpath=mrp)] + ([] if kp else [Data("lib/rocblas/library", "Kernels_{:04d}.dat", 260, weight=0.05, kind="t"), Data("lib/rocblas/library", "Tensile_{:04d}.co", 120, weight=0.03), Data("lib/rocblas/library", "Tensile_{:04d}.hsaco", 80, weight=0.02)]),
       dev=headers("include/rocblas", 25, "rocblas") + cmake("rocblas", ["rocblas"]), test=[Exe("bin/rocblas-test", "rocblas-test", needs=["rocblas"], weight=0.02, runpath="$ORIGIN/../lib")], doc=docs("rocblas"), dbg=[Data("lib/.build-id/ff", "{:04x}.debug", 1, each=80000)])
    st("math-libs/BLAS/hipBLAS/stage", lib=[lib("hipblas", "3.2.0", needs=["rocblas", "rocsolver"], runpath=mrp)], dev=headers("include/hipblas", 5, "hipblas") + cmake("hipblas", ["hipblas"]))
    st("math-libs/BLAS/hipBLASLt/stage", lib=[lib("hipblaslt", "1.2.0", needs=["amdhip64", "origami"], weight=0.02, runpath=mrp)] + ([] if kp else [Data("lib/hipblaslt/library", "TensileLibrary_{:04d}.co", 150, weight=0.09), Data("lib/hipblaslt/library", "extop_{:04d}.dat", 150, weight=0.03, kind="t")]), dev=headers("include/hipblaslt", 4, "hipblaslt") + cmake("hipblaslt"))
    st("math-libs/BLAS/origami/stage", lib=[lib("origami", "0.1.0", needs=["amdhip64"], runpath=mrp)])
    for n, v in (("rocsolver", "0.7.0"), ("rocsparse", "1.0.0"), ("hipsparse", "4.1.0"), ("hipsolver", "1.1.0"), ("hipsparselt", "0.2.0")):
        st(f"math-libs/BLAS/{n}/stage", lib=[lib(n, v, needs=["amdhip64"], weight=0.015, runpath=mrp)], dev=headers(f"include/{n}", 6, n) + cmake(n, [n]))
    st = host("fft")
    st("math-libs/rocFFT/stage", lib=[lib("rocfft", "0.1.0", needs=["amdhip64", "hiprtc"], weight=0.02, runpath=mrp), lib("hipfft", "0.1.0", needs=["rocfft"], runpath=mrp)], dev=headers("include/rocfft", 3, "rocfft") + cmake("hipfft"))
    st = host("rand")
    st("math-libs/rocRAND/stage", lib=[lib("rocrand", "1.1.0", needs=["amdhip64"], weight=0.02, runpath=mrp), lib("hiprand", "1.1.0", needs=["rocrand"], runpath=mrp)], dev=headers("include/rocrand", 12, "rocrand") + cmake("hiprand"))
    st = host("rccl")
    st("comm-libs/rccl/stage", lib=[lib("rccl", "1.0.0", needs=["amdhip64", "rocm_smi64"], weight=0.05, runpath=mrp)], dev=headers("include/rccl", 2, "rccl") + cmake("rccl"))
    st = host("miopen")
    st("ml-libs/MIOpen/stage", lib=[lib("MIOpen", "1.0.0", needs=["rocblas", "hipblaslt", "amd_comgr", "hiprtc", "rocm_sysdeps_sqlite3"], weight=0.04, runpath=mrp)] + ([] if kp else [Data("share/miopen/db", "gfx_{:03d}.kdb", 20, weight=0.03, kind="n")]), dev=headers("include/miopen", 3, "miopen") + cmake("miopen"))
    st = host("hipdnn")
    st("ml-libs/hipDNN/stage", lib=[lib("hipdnn_backend", "0.1.0", needs=["amdhip64"], runpath=mrp), Lib("hipdnn_test_plugin", "", libdir="lib/hipdnn_plugins/engines", runpath="$ORIGIN/../..", soname=False)], dev=headers("include/hipdnn", 8, "hipdnn"))
    st = art("rpp")
    st("cv-libs/rpp/stage", lib=[lib("rpp", "2.1.0", needs=["amdhip64", "omp"], weight=0.01, runpath=mrp)], dev=headers("include/rpp", 5, "rpp"))
    for n in ("prim", "rocwmma", "flatbuffers", "nlohmann-json"):
        st = art(n, family=n in ("prim", "rocwmma") and not kp)
        st(f"math-libs/{n}/stage", dev=headers(f"include/{n}", 80 if n == "prim" else 25, n.replace("-", "_")) + cmake(n), doc=docs(n, 1), **({"test": [Exe(f"bin/{n}/test_{n}", f"test_{n}", needs=["amdhip64"], runpath="$ORIGIN/../../lib")]} if n == "prim" else {}))
    # not in any wheel at all: must be left out everywhere
    st = art("kfdtest")
    st("core/kfdtest/stage", run=[Exe("bin/kfdtest", "kfdtest")], test=[Text("share/kfdtest/x.txt", "x\n")])
    st = art("rdc")
    st("dctools/rdc/stage", lib=[lib("rdc", "1.1.0")], run=[Exe("bin/rdcd", "rdcd")])

    if kp:
        for f in fams:
            b = f.split(":")[0]
            T[f"@dev/{f}"] = {"family": f, "stages": {}, "multi": {
                "blas": {"math-libs/BLAS/rocBLAS/stage": [Data("lib/rocblas/library", "Kernels_" + b + "_{:04d}.dat", 200, weight=devw["rocblas"] / 4 / len(fams), kind="t"), Data("lib/rocblas/library", "Tensile_" + b + "_{:04d}.co", 120, weight=devw["rocblas"] / len(fams)), Data("lib/.kpack", "rocblas_" + b + "_{:d}.kpack", 1, weight=devw["rocblas"] / len(fams), kind="n")],
                         "math-libs/BLAS/hipBLASLt/stage": [Data("lib/hipblaslt/library", "TensileLibrary_" + b + "_{:04d}.co", 150, weight=devw["hipblaslt"] / len(fams))]},
                "miopen": {"ml-libs/MIOpen/stage": [Data("share/miopen/db", b + "_{:03d}.kdb", 8, weight=devw["miopen"] / len(fams), kind="n"), Lib("MIOpenCKGroupedConv_" + b, "", needs=["amdhip64"], weight=0.02 / len(fams), runpath=mrp)]},
                "rccl": {"comm-libs/rccl/stage": [Data("lib/.kpack", "rccl_" + b + "_{:d}.kpack", 1, weight=0.02 / len(fams), kind="n")]}}}
    # an odd corner collection, kept in an artifact that core takes
    if a.edge:
        st = art("hipfile")
        st("media/hipfile/stage", lib=[Lib("hipfile", "0.2.0", needs=["amdhip64"], runpath=SYSDEP_RP), Lib("edge_noversion", "", runpath=ORIG), Lib("edge_nosoname", "", soname=False, runpath=ORIG), Lib("edge_norpath", "2.0.0"),
                                       Text("share/edge/readonly.txt", "ro\n", 0o444), Text("share/edge/unicode_\u00e9.txt", "u\n"), Text("share/edge/with space.txt", "s\n"), Text("share/edge/comma,name.txt", "c\n"), Text("share/edge/__pycache__/x.cpython-311.pyc", "nope\n"), Text("share/edge/.hidden/.dot", "h\n"),
                                       Link("share/edge/dangling", "nowhere/at/all"), Link("share/edge/dirlink", "../hip"), Link("share/edge/text_link", "readonly.txt"), Link("lib/libedge_dirlinked.so", "rocprofiler-sdk"), Link("share/edge/abs_link", "/etc/hostname")],
           run=[Exe("bin/edge-tool", "edge"), Link("bin/edge-tool-l1", "edge-tool"), Link("bin/edge-tool-l2", "edge-tool-l1"), Link("libexec/edge/deep/edge-tool", "../../../bin/edge-tool")], dev=headers("include/hipfile", 2, "hipfile"))
    return T


class Builder:
    def __init__(self, a):
        self.a = a
        self.out = Path(a.out)
        self.tmp = Path(tempfile.mkdtemp(prefix="mkart_"))
        self.stubs = self.tmp / "stubs"
        self.stubs.mkdir()
        self.budget = a.size_mb * (1 << 20)
        self.jobs = []
        self.links = []
        gen = self.tmp / "blobgen.c"
        gen.write_text(BLOBGEN_C)
        # It runs here, whatever the artifacts are for.
        subprocess.run([a.host_cc, "-w", str(gen), "-O2", "-o", str(self.tmp / "blobgen")], check=True)

    def cc(self, args):
        subprocess.run([self.a.cc, "-w"] + args, check=True)

    def blobs(self, wanted):
        """Files of (path, size, kind, key), all by one process."""
        args = []
        for path, nbytes, kind, key in wanted:
            seed = int.from_bytes(hashlib.sha256(f"{self.a.seed}/{key}".encode()).digest()[:7], "little")
            args += [str(seed), str(int(nbytes)), kind, str(path)]
        subprocess.run([str(self.tmp / "blobgen")] + args, check=True)

    # Link-time stand-ins: one tiny .so per library, so that link order, and
    # hence parallelism, does not matter; only SONAME ends up in DT_NEEDED.
    def make_stub(self, lib):
        c = self.stubs / f"{lib.stem}.c"
        c.write_text(f"int {self.sym(lib.stem)}_value(void){{return 0;}}\n")
        args = ["-shared", "-fPIC", "-o", str(self.stubs / f"lib{lib.stem}.so"), str(c)]
        if lib.soname:
            args.append(f"-Wl,-soname,{self.soname(lib)}")
        self.cc(args)

    @staticmethod
    def sym(stem):
        return "m_" + "".join(ch if ch.isalnum() else "_" for ch in stem)

    @staticmethod
    def soname(lib):
        if not lib.version:
            return f"lib{lib.stem}.so"
        if lib.flat:
            return f"lib{lib.stem}.so.{lib.version}"
        major = lib.version if lib.version.endswith("git") else lib.version.split(".")[0]
        return f"lib{lib.stem}.so.{major}"

    def asm_blob(self, nbytes, section, kind, key):
        tag = hashlib.md5(key.encode()).hexdigest()[:10]
        b = self.tmp / f"{tag}.bin"
        self.blobs([(b, nbytes, kind, key)])
        flags = '"ax",%progbits' if section.startswith(".text") else '"a",%progbits'
        s = self.tmp / f"{tag}.S"
        s.write_text(f'.section {section},{flags}\n.balign 4096\n.globl blob_start\n.hidden blob_start\nblob_start:\n.incbin "{b}"\n.section .note.GNU-stack,"",%progbits\n')
        return [str(s)], b

    def common(self, needs, key, weight, section, kind):
        ext = "".join(f"extern int {self.sym(n)}_value(void);\n" for n in needs)
        calls = " ".join(f"+ {self.sym(n)}_value()" for n in needs)
        args, blob = ([], None)
        if weight > 0:
            args, blob = self.asm_blob(weight * self.budget, section, kind, key)
        args += ["-L", str(self.stubs), "-Wl,--no-as-needed"] + [f"-l{n}" for n in needs] + ["-Wl,--allow-shlib-undefined"]
        return ext, calls, args, blob

    def build_lib(self, stage, lib, key):
        d = stage / lib.libdir
        d.mkdir(parents=True, exist_ok=True)
        ext, calls, args, blob = self.common(lib.needs, key, lib.weight, lib.section, lib.kind)
        c = self.tmp / (hashlib.md5(key.encode()).hexdigest() + ".c")
        if lib.starts:
            ext += f'const char interpreter[] __attribute__((section(".interp"))) = "{INTERPRETER}";\n'
        c.write_text(LIB_C.replace("@EXTERNS@", ext).replace("@CALLS@", calls).replace("@SYM@", self.sym(lib.stem)).replace("@N@", "1"))
        soname = self.soname(lib)
        real = soname if (lib.flat or not lib.version or lib.version.endswith("git")) else f"lib{lib.stem}.so.{lib.version}"
        args = ["-shared", "-fPIC", "-O1", "-g0", "-o", str(d / real), str(c)] + args
        if lib.soname:
            args.append(f"-Wl,-soname,{soname}")
        if lib.runpath:
            args.append(f"-Wl,{'--disable-new-dtags' if self.a.dt_rpath else '--enable-new-dtags'},-rpath,{lib.runpath}")
        self.cc(args)
        if blob:
            blob.unlink()
        if real != soname:
            os.symlink(real, d / soname)
        dev = f"lib{lib.stem}.so"
        if dev not in (soname, real) and not lib.flat:
            os.symlink(soname, d / dev)
        for al in lib.alias:
            os.symlink(real, d / al)

    def build_exe(self, stage, exe, key):
        p = stage / exe.relpath
        p.parent.mkdir(parents=True, exist_ok=True)
        ext, calls, args, blob = self.common(exe.needs, key, exe.weight, ".text.blob", "c")
        c = self.tmp / (hashlib.md5(key.encode()).hexdigest() + ".c")
        c.write_text(EXE_C.replace("@EXTERNS@", ext).replace("@CALLS0@", "0 " + calls).replace("@BANNER@", exe.banner))
        args = ["-fPIE", "-pie", "-O1", "-g0", "-o", str(p), str(c)] + args
        if exe.runpath:
            args.append(f"-Wl,{'--disable-new-dtags' if self.a.dt_rpath else '--enable-new-dtags'},-rpath,{exe.runpath}")
        self.cc(args)
        if blob:
            blob.unlink()
        for name, tgt in exe.links:
            os.symlink(tgt, p.parent / name)

    def build_data(self, stage, d, key):
        w = stage / d.where
        w.mkdir(parents=True, exist_ok=True)
        rng = random.Random(key)
        shares = [0.2 + rng.random() for _ in range(d.count)]
        total = d.weight * self.budget if d.weight else d.each * d.count
        self.blobs([(w / d.pattern.format(i), max(16, total * s / sum(shares)), d.kind, f"{key}/{i}")
                    for i, s in enumerate(shares)])

    def add(self, artdir, stagepath, items, key):
        stage = artdir / stagepath
        stage.mkdir(parents=True, exist_ok=True)
        for n, it in enumerate(items):
            k = f"{key}/{stagepath}/{n}"
            if isinstance(it, Lib):
                self.jobs.append((self.build_lib, stage, it, k))
            elif isinstance(it, Exe):
                self.jobs.append((self.build_exe, stage, it, k))
            elif isinstance(it, Data):
                self.jobs.append((self.build_data, stage, it, k))
            elif isinstance(it, Text):
                p = stage / it.relpath
                p.parent.mkdir(parents=True, exist_ok=True)
                p.write_text(it.text)
                p.chmod(it.mode)
            elif isinstance(it, Link):
                p = stage / it.relpath
                p.parent.mkdir(parents=True, exist_ok=True)
                if not p.is_symlink():
                    os.symlink(it.target, p)

    def run(self):
        a = self.a
        if self.out.exists():
            if not a.force:
                sys.exit(f"{self.out} exists (use --force)")
            shutil.rmtree(self.out)
        self.out.mkdir(parents=True)
        T = topology(a)
        libs = {}
        for t in T.values():
            for comps in t["stages"].values():
                for items in comps.values():
                    for it in items:
                        if isinstance(it, Lib):
                            libs.setdefault(it.stem, it)
        with cf.ThreadPoolExecutor(a.jobs) as ex:
            list(ex.map(self.make_stub, libs.values()))
        plan = []      # (artifact, component, family, stage, items)
        for name, t in T.items():
            if name.startswith("@dev/"):
                for art, stages in t["multi"].items():
                    for sp, items in stages.items():
                        plan.append((art, "lib", t["family"], sp, items))
                continue
            fams = a.families if t["family"] else ["generic"]
            for f in fams:
                for sp, comps in t["stages"].items():
                    for comp, items in comps.items():
                        plan.append((name, comp, f, sp, items))
        manifests = {}
        for name, comp, fam, sp, items in plan:
            artdir = self.out / f"{name}_{comp}_{fam}"
            artdir.mkdir(exist_ok=True)
            manifests.setdefault(artdir, [])
            if sp not in manifests[artdir]:
                manifests[artdir].append(sp)
            self.add(artdir, sp, items, f"{name}/{comp}/{fam}")
        for d, m in manifests.items():
            (d / "artifact_manifest.txt").write_text("".join(x + "\n" for x in m))
        with cf.ThreadPoolExecutor(a.jobs) as ex:
            for f in [ex.submit(fn, *args) for fn, *args in self.jobs]:
                f.result()
        shutil.rmtree(self.tmp)
        if a.mtime is not None:
            for root, ds, fs in os.walk(self.out, topdown=False):
                for n in fs + ds:
                    os.utime(os.path.join(root, n), (a.mtime, a.mtime), follow_symlinks=False)
        if a.archive:
            for d in sorted(self.out.iterdir()):
                pack(d, a.archive)
        total = files = links = 0
        for root, ds, fs in os.walk(self.out):
            for n in fs:
                st = os.lstat(os.path.join(root, n))
                links += os.path.islink(os.path.join(root, n))
                files += 1
                total += st.st_size
        print(json.dumps({"out": str(self.out), "artifacts": len(manifests), "files": files, "symlinks": links, "bytes": total}))


def pack(d, how):
    """Archive form of an artifact: manifest first, then everything else."""
    dst = d.with_name(d.name + ".tar." + how)
    raw = d.with_name(d.name + ".tar") if how == "zst" else dst
    with tarfile.open(raw, "w" if how == "zst" else "w:xz") as tf:
        tf.add(d / "artifact_manifest.txt", "artifact_manifest.txt")
        for root, ds, fs in os.walk(d):
            ds.sort()
            for n in sorted(fs) + [x for x in ds if os.path.islink(os.path.join(root, x))]:
                p = os.path.join(root, n)
                rel = os.path.relpath(p, d)
                if rel != "artifact_manifest.txt":
                    tf.add(p, rel, recursive=False)
    if how == "zst":
        subprocess.run(["zstd", "-q", "--rm", "-T0", str(raw), "-o", str(dst)], check=True)
    shutil.rmtree(d)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", required=True)
    p.add_argument("--size-mb", type=float, default=50, help="approximate payload volume (default 50)")
    p.add_argument("--big-mb", type=float, default=0, help="make the two largest libraries at least this big")
    p.add_argument("--families", default="gfx94X-dcgpu", help="comma list of target families (legacy) / targets (kpack)")
    p.add_argument("--mode", choices=["legacy", "kpack"], default="legacy")
    p.add_argument("--edge", action="store_true", help="add awkward names, links and ELF files")
    p.add_argument("--dt-rpath", action="store_true", help="link with DT_RPATH rather than DT_RUNPATH")
    p.add_argument("--archive", choices=["xz", "zst"], help="turn artifact directories into archives")
    p.add_argument("--mtime", type=int, help="set every mtime to this epoch second")
    p.add_argument("--seed", default="rockit")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--cc", default=os.environ.get("CC", "gcc"), help="may be of another machine")
    p.add_argument("--host-cc", default="cc")
    p.add_argument("--force", action="store_true")
    a = p.parse_args()
    a.families = [f for f in a.families.split(",") if f]
    Builder(a).run()


if __name__ == "__main__":
    main()
