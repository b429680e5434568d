#!/usr/bin/env python3
"""The layouts we declare ourselves against NVIDIA's headers of several releases.

tools/setup.sh puts the headers of PyPI's packages below build/cupti-headers; without them this is
skipped. CUDA's own headers are not needed: the handles that CUPTI's mention are declared here.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
HEADERS = pathlib.Path(os.environ.get("ROCKIT_CUPTI_HEADERS", SOURCE / "build" / "cupti-headers"))
HERE = SOURCE / "tests" / "sim" / "cuda"
RELEASES = ("11.8", "12.0", "12.4", "12.9", "13.0", "13.4")
SKIPPED = 77

CUDA_H = "#pragma once\n#include <stddef.h>\n#include <stdint.h>\n" + "".join(
    f"typedef struct {name}_st *{name};\n" for name in
    ("CUcontext", "CUstream", "CUmodule", "CUgraph", "CUgraphNode", "CUgraphExec", "CUevent")
) + "typedef int CUdevice;\ntypedef struct { char bytes[16]; } CUuuid;\n" + "".join(
    f"typedef enum {{ {name}_value }} {name};\n" for name in
    ("CUfunc_cache", "CUsharedconfig", "CUdevice_attribute", "CUresult", "CUgraphNodeType",
     "CUclusterSchedulingPolicy", "CUstreamAttrID", "CUdevWorkqueueConfigScope")
) + "typedef struct CUaccessPolicyWindow_st CUaccessPolicyWindow;\n" \
    "typedef union CUstreamAttrValue_un CUstreamAttrValue;\n"


def newest(text, name):
    """The struct of that name with the highest number."""
    found = re.findall(rf"}}\s*(CUpti_Activity{name}(\d*));", text)
    return max(found, key=lambda f: int(f[1] or 1))[0]


def compile_c(source, *options):
    done = subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-fsyntax-only", "-w",
                           f"-I{SOURCE / 'collectors' / 'cupti'}", *options, str(source)],
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def check_cupti(release, include, stubs):
    text = (include / "cupti_activity.h").read_text(errors="replace")
    names = {"KERNEL": "Kernel", "MEMCPY": "Memcpy", "MEMCPY2": "MemcpyPtoP", "MEMSET": "Memset",
             "SYNC": "Synchronization", "MEMORY": "Memory"}
    options = [f"-D{macro}={newest(text, name)}" for macro, name in names.items()]
    if "cuptiActivityGetNextRecord_v2" in text:
        options.append("-DSHARED")
    return compile_c(HERE / "cupti_layout.c", f"-DRELEASE={release.replace('.', '_')}",
                     f"-I{stubs}", f"-I{include}", *options)


def main():
    failed = checked = 0
    with tempfile.TemporaryDirectory() as stubs:
        pathlib.Path(stubs, "cuda.h").write_text(CUDA_H)
        pathlib.Path(stubs, "builtin_types.h").write_text("typedef int cudaError_t;\n")
        for release in (*RELEASES, "nvtx"):
            include = HEADERS / release
            if not include.is_dir():
                print(f"skip {release}: no headers in {include}")
                continue
            good, said = (compile_c(HERE / "nvtx_layout.c", f"-I{include}") if release == "nvtx"
                          else check_cupti(release, include, stubs))
            print(f"{'ok  ' if good else 'FAIL'} {release}", said, sep="\n" if said else "")
            checked += 1
            failed += not good
    return 1 if failed else 0 if checked else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
