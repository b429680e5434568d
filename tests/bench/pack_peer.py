#!/usr/bin/env python3
"""pack_peer.py ARTIFACTS DEST - the steps by which ROCm's wheels are made without rockit.

One thread of Python: every file is copied into a staging tree, each edit of an ELF file is a patchelf
process (SONAME asked for, an entry added for each dependency, the path asked for, the path set as
DT_RPATH), each link to a program becomes a launcher compiled by the C compiler; the tree is copied
twice more, as setuptools does, and zipped by zlib at level 6, each member read whole. What a file is,
libmagic says, where it is installed. Left out, in favour of this side: starting Python and setuptools
for each wheel, egg-info.

Prints JSON: seconds of each step, bytes of each wheel, sizes of edited files before and after.
"""
import base64
import csv
import ctypes
import ctypes.util
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import time
import zipfile

CORE = """amd-dbgapi amd-llvm aqlprofile base core-amdsmi core-hip core-kpack core-ocl core-hipinfo
core-runtime hipfile hipify host-blas host-suite-sparse rocdecode rocgdb rocjpeg rocprofiler-sdk
rocr-debug-agent sysdeps sysdeps-amd-mesa sysdeps-expat sysdeps-gmp sysdeps-mpfr sysdeps-ncurses
sysdeps-util-linux""".split()
LIBRARIES = """blas fft hipdnn miopen miopenprovider hipblasltprovider hipkernelprovider rand rccl
rpp""".split()
PROFILER = ["rocprofiler-compute", "rocprofiler-systems"]
DEVEL_ALSO = ["prim", "rocwmma", "flatbuffers", "nlohmann-json", "rocjitsu", "mirage"]
# Of the tree that a package takes, and what its ELF files find in the core package.
PROFILER_PATHS = re.compile(r"bin/rocprof-|include/rocprofiler-systems/|lib/librocprof-sys|"
                            r"lib/libprofiler-hub\.so|lib/python/site-packages/rocprofsys/|"
                            r"(lib|libexec)/rocprofiler-(systems|compute)/|"
                            r"share/(.*/)?rocprofiler-(systems|compute)/")
CORE_NOT = re.compile(r"(.*/)?cmake/|bin/rocprof-(sys-|compute)|.*rocprofiler-systems|"
                      r"lib/librocprof-sys|lib/python/site-packages/rocprofsys/")
DEPENDENCIES = {
    "core": ["lib/llvm/lib", "lib/rocm_sysdeps/lib"],
    "libraries": ["lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib"],
    "profiler": ["lib", "lib/llvm/lib", "lib/rocm_sysdeps/lib"],
}
BY_NAME = (".txt", ".h", ".hpp")  # what is known without looking
LAUNCHER = """#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
	char own[PATH_MAX], to[2 * PATH_MAX], real[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	if (n < 0) return 1;
	own[n] = 0;
	snprintf(to, sizeof(to), "%%s/%%s", dirname(own), "%s");
	execv(realpath(to, real) ? real : to, argv);
	perror(to);
	return argc > 0;
}
"""


class Peer:
    def __init__(self, artifacts, dest):
        self.dest = pathlib.Path(dest)
        self.artifacts = [tuple(p.name.split("_")) + (p,) for p in sorted(pathlib.Path(artifacts).iterdir())
                          if p.is_dir() and p.name.count("_") == 2]
        self.seconds = {}
        self.counts = {"patchelf": 0, "cc": 0, "copied": 0}
        self.edited = []  # package, path, bytes before, after
        self.wheels = {}
        self.magic = open_magic()
        self.owner = {}  # path -> platform folder of the package that holds it
        self.alias = {}  # path -> SONAME

    def timed(self, step, call, *args):
        start = time.perf_counter()
        try:
            return call(*args)
        finally:
            self.seconds[step] = self.seconds.get(step, 0) + time.perf_counter() - start

    # -- what goes in -----------------------------------------------------------------------

    def tree(self, names, components, keep=lambda path: True):
        """Relative path -> file, all base folders over each other."""
        found = {}
        for name, component, _, folder in self.artifacts:
            manifest = folder / "artifact_manifest.txt"
            if name not in names or component not in components or not manifest.exists():
                continue
            for base in filter(None, manifest.read_text().splitlines()):
                for top, dirs, files in os.walk(folder / base):
                    links = [d for d in dirs if os.path.islink(os.path.join(top, d))]
                    for entry in files + links:
                        path = pathlib.Path(top, entry)
                        rel = path.relative_to(folder / base).as_posix()
                        if keep(rel):
                            found[rel] = path
        return dict(sorted(found.items()))

    def kind(self, path):
        if self.magic and path.suffix not in BY_NAME:
            self.timed("libmagic", self.magic, str(path))
        return kind_of(path)

    # -- tools ------------------------------------------------------------------------------

    def patchelf(self, *args):
        self.counts["patchelf"] += 1
        start = time.perf_counter()
        run = subprocess.run(["patchelf", *map(str, args)], capture_output=True, text=True)
        self.seconds["patchelf"] = self.seconds.get("patchelf", 0) + time.perf_counter() - start
        return run.stdout.strip() if run.returncode == 0 else ""

    def copy(self, source, to):
        to.parent.mkdir(parents=True, exist_ok=True)
        self.timed("stage", shutil.copy2, source, to)
        to.chmod(to.stat().st_mode | 0o200)
        self.counts["copied"] += to.stat().st_size

    def compile_launcher(self, text, to):
        to.parent.mkdir(parents=True, exist_ok=True)
        self.counts["cc"] += 1
        source = self.dest / "launcher.c"
        source.write_text(LAUNCHER % text)
        argv = [os.environ.get("CC", "gcc"), "-fPIE", "-o", str(to), str(source), "-ldl"]
        self.timed("cc", lambda: subprocess.run(argv, check=True))

    # -- runtime packages -------------------------------------------------------------------

    def edit(self, package, rel, path):
        """One process for each step."""
        if path.suffix in (".hsaco", ".co") or kind_of(path) not in ("exe", "so"):
            return
        before = path.stat().st_size
        up = "../" * rel.count("/") + ".."
        for where in DEPENDENCIES[package]:
            self.patchelf("--add-rpath", f"$ORIGIN/{up}/_rocm_sdk_core/{where}", path)
        runpath = self.patchelf("--print-rpath", path)
        if runpath:
            self.patchelf("--set-rpath", runpath, "--force-rpath", path)
        self.edited.append((package, rel, before, path.stat().st_size))

    def put(self, package, rel, path, stage):
        source = path.resolve() if path.is_symlink() else path
        if not source.is_file():
            return
        kind = self.kind(source)
        if kind == "so":
            soname = self.patchelf("--print-soname", source)
            if soname and soname != path.name:
                self.alias[rel] = soname
                return
        elif kind == "exe" and path.is_symlink():
            self.compile_launcher(os.readlink(path), stage / rel)
            return
        self.copy(source, stage / rel)
        self.edit(package, rel, stage / rel)

    def runtime(self, package, platform, tree):
        stage = self.dest / "stage" / package / platform
        stage.mkdir(parents=True)
        (stage / "__init__.py").write_text("")
        for rel, path in tree.items():
            self.put(package, rel, path, stage)
            self.owner.setdefault(rel, platform)
        if package == "profiler":
            self.profiler_aliases(stage / "lib")
        self.wheel(package, stage.parent)

    def profiler_aliases(self, folder):
        """Links to the names without a version, which the wheel then holds as copies."""
        for path in sorted(folder.glob("lib*.so.*")):
            if path.name.startswith(("librocprof-sys", "libprofiler-hub")):
                path.with_suffix("").symlink_to(path.name)

    # -- devel ------------------------------------------------------------------------------

    def devel_entry(self, rel, path, stage):
        to = stage / rel
        to.parent.mkdir(parents=True, exist_ok=True)
        if rel in self.alias:
            to.symlink_to(self.alias[rel])
        elif rel in self.owner:
            to.symlink_to("../" * (rel.count("/") + 1) + self.owner[rel] + "/" + rel)
        elif path.is_symlink():
            to.symlink_to(os.readlink(path))
        else:
            self.copy(path, to)
            if self.kind(to) in ("exe", "so"):
                runpath = self.patchelf("--print-rpath", to)
                if runpath:
                    self.patchelf("--set-rpath", runpath, "--force-rpath", to)

    def devel(self, tree):
        top = self.dest / "stage" / "devel"
        stage = self.dest / "stage" / "devel-tree"
        for rel, path in tree.items():
            self.devel_entry(rel, path, stage)
        (top / "rocm_sdk_devel").mkdir(parents=True)

        def tar():
            with tarfile.open(top / "rocm_sdk_devel/_devel.tar", "w", format=tarfile.PAX_FORMAT) as t:
                t.add(stage, "_rocm_sdk_devel")
        self.timed("tar", tar)
        shutil.rmtree(stage)
        self.wheel("devel", top)

    # -- wheels -----------------------------------------------------------------------------

    def wheel(self, package, tree):
        """As build_py, install_lib and bdist_wheel: two more copies, then the archive."""
        for name in ("build-lib", "bdist"):
            copy = self.dest / name / package
            self.timed("copies", lambda src=tree, to=copy: shutil.copytree(src, to, symlinks=True))
            tree = copy
        path = self.dest / f"{package}.whl"
        self.timed("zip", zip_tree, tree, path)
        shutil.rmtree(tree)
        self.wheels[package] = path.stat().st_size


def open_magic():
    """A function that describes a file, or None."""
    name = ctypes.util.find_library("magic")
    if not name:
        return None
    magic = ctypes.CDLL(name)
    magic.magic_open.restype = ctypes.c_void_p
    magic.magic_load.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    magic.magic_file.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    magic.magic_file.restype = ctypes.c_char_p
    handle = magic.magic_open(0)
    magic.magic_load(handle, None)
    return lambda path: magic.magic_file(handle, path.encode())


def kind_of(path):
    """exe, so, or other: by name, then by the first bytes, as libmagic says it, too."""
    if path.suffix in BY_NAME:
        return "other"
    with open(path, "rb") as f:
        head = f.read(64)
        if len(head) < 64 or head[:4] != b"\x7fELF":
            return "other"
        kind, at, size, count = (struct.unpack_from("<H", head, 16)[0], *struct.unpack_from("<Q", head, 32),
                                 *struct.unpack_from("<HH", head, 54))
        f.seek(at)
        table = f.read(size * count)
    if kind == 2:
        return "exe"
    types = [struct.unpack_from("<I", table, i * size)[0] for i in range(count)]
    return "other" if kind != 3 else "exe" if 3 in types else "so"


def zip_tree(tree, path):
    """As wheel does: a member is read, summed and written whole."""
    record = io.StringIO()
    lines = csv.writer(record, lineterminator="\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for top, dirs, files in os.walk(tree):
            dirs.sort()
            for name in sorted(files):
                file = os.path.join(top, name)
                with open(file, "rb") as f:
                    data = f.read()
                info = zipfile.ZipInfo(os.path.relpath(file, tree), (1980, 1, 1, 0, 0, 0))
                info.external_attr = os.stat(file).st_mode << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                z.writestr(info, data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                lines.writerow((info.filename, "sha256=" + digest, len(data)))
        z.writestr("x.dist-info/RECORD", record.getvalue())


def main():
    peer = Peer(*sys.argv[1:3])
    runtime = ("lib", "run")
    core = peer.tree(CORE, runtime, lambda p: not CORE_NOT.match(p))
    core.update(peer.tree(["core-hip", "core-ocl"], ("dev",), lambda p: not CORE_NOT.match(p)))
    peer.runtime("core", "_rocm_sdk_core", core)
    peer.runtime("profiler", "_rocm_profiler", peer.tree(PROFILER, runtime, PROFILER_PATHS.match))
    peer.runtime("libraries", "_rocm_sdk_libraries", peer.tree(LIBRARIES, ("lib",)))
    peer.devel(peer.tree(CORE + LIBRARIES + DEVEL_ALSO, ("lib", "run", "dbg", "dev", "doc", "test")))
    json.dump({"seconds": peer.seconds, "counts": peer.counts, "wheels": peer.wheels,
               "edited": peer.edited}, sys.stdout)


if __name__ == "__main__":
    main()
