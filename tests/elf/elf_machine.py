#!/usr/bin/env python3
"""Edits of the ELF files of this machine, against patchelf, eu-elflint and the loader.

Each file gets a longer RPATH. It must have the names that patchelf gives it, nothing that eu-elflint
did not say before, and the same libraries and relocations when the loader maps it, also when it was
stripped afterwards. A sample of files, always the same; all of them with ROCKIT_TEST_FULL=1.
"""

import collections
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import lib_elf

TOPS = ("/usr", "/lib", "/bin")
SAMPLE = 20
SAMPLE_BYTES = 32 << 20  # larger files in the full run alone
PATCHELF_BYTES = STRIP_BYTES = 128 << 20
MORE = ":".join("$ORIGIN/../../_rocm_sdk_core/" + d
                for d in ("lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib"))
LOADED = re.compile(r"\s*\(0x[0-9a-f]+\)")
LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"


def is_wanted(path):
    """A program or library of 64 bits in this byte order, by its header."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return head[:6] == b"\x7fELF\x02\x01" and head[16:18] in (b"\x02\x00", b"\x03\x00")


def files_of(tops):
    seen = set()
    for top in tops:
        device = os.stat(top).st_dev
        for folder, folders, names in os.walk(top):
            folders[:] = [f for f in folders
                          if os.lstat(os.path.join(folder, f)).st_dev == device]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                info = os.stat(path)
                if info.st_size >= 64 and info.st_ino not in seen and is_wanted(path):
                    seen.add(info.st_ino)
                    yield path, info.st_size


def chosen():
    found = sorted(files_of(TOPS), key=lambda f: hashlib.sha256(f[0].encode()).digest())
    if lib_elf.FULL:
        return [path for path, _ in found], len(found)
    small = [path for path, size in found if size <= SAMPLE_BYTES]
    return small[:SAMPLE], len(found)


def mapped(path, search):
    """What the loader does with a file, relocations included, running nothing of it."""
    env = dict(os.environ, LD_TRACE_LOADED_OBJECTS="1", LD_WARN="yes", LD_BIND_NOW="yes",
               LD_LIBRARY_PATH=search)
    text = lib_elf.call(interpreter(), path, env=env, timeout=120)[1]
    # the file's own name is not the same, and the order of complaints is that of the file
    return collections.Counter(LOADED.sub("", line).replace(str(path), "FILE")
                               for line in text.splitlines())


@functools.cache
def interpreter():
    return next(iter(lib_elf.printed(sys.executable)["interpreter"]), "/lib64/ld-linux-x86-64.so.2")


@functools.cache
def own_machine():
    return lib_elf.printed(sys.executable)["machine"]


def check_read(path):
    """What rockit reads is what binutils reads. False: not a dynamic file."""
    said = lib_elf.printed(path)
    names = lib_elf.dynamic(path)
    if said is None:
        raise AssertionError(f"{path} is treated as broken")
    mine = lib_elf.Dynamic(said["soname"], said["needed"], said["rpath"], said["runpath"])
    if said["dynamic"] == ["1"] and mine != names:
        raise AssertionError(f"{path}: read {mine}, readelf has {names}")
    return said["dynamic"] == ["1"], said, names


def check_patchelf(path, new, rpath, folder):
    if os.path.getsize(path) > PATCHELF_BYTES:
        return "too-large"
    peer = folder / "peer"
    shutil.copyfile(path, peer)
    peer.chmod(0o700)
    status, _ = lib_elf.call("patchelf", "--force-rpath", "--set-rpath", rpath, peer)
    if status != 0:
        return "refused"
    if lib_elf.dynamic(peer) != lib_elf.dynamic(new):
        raise AssertionError(f"{path}: patchelf gives {lib_elf.dynamic(peer)}, "
                             f"not {lib_elf.dynamic(new)}")
    return "equal"


def check_mapped(path, before, new, paths):
    after = mapped(new, paths)
    if before != after:
        raise AssertionError(f"{path} is not mapped as before: {after - before} {before - after}")


def check_stripped(path, before, new, paths, counts):
    """What others make of the edited file works as well, as long as they can strip the old one."""
    if os.path.getsize(path) > STRIP_BYTES:
        return
    for program in ("strip", "eu-strip"):
        copy = new.with_name(program)
        if not shutil.which(program) or \
                lib_elf.call(program, "-o", copy, path)[0] != 0 or mapped(copy, paths) != before:
            continue
        lib_elf.must(program, "-o", copy, new)
        check_mapped(path, before, copy, paths)
        counts["mapped after " + program] += 1
        copy.unlink()


def check_loads(path, new, said, names, counts):
    """In the file's own folder its $ORIGIN is right; for the copy LD_LIBRARY_PATH says where."""
    if said["machine"] != own_machine() or any("/" in name for name in names.needed):
        return
    home = os.path.dirname(os.path.realpath(path))
    paths = ":".join(names.rpath + names.runpath).replace("${ORIGIN}", home).replace("$ORIGIN", home)
    before = mapped(path, paths)
    check_mapped(path, before, new, paths)
    counts["mapped"] += 1
    check_stripped(path, before, new, paths, counts)
    if said["kind"] != ["library"] or ".so" not in path or "/python3" in path:
        return
    env = dict(os.environ, LD_BIND_NOW="1", LD_LIBRARY_PATH=paths)
    results = [subprocess.run([sys.executable, "-c", LOAD, str(p)], env=env, timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode
               for p in (path, new)]
    if results[0] != results[1]:
        raise AssertionError(f"{path} was loaded with {results[0]}, edited with {results[1]}")
    counts["loaded"] += results[0] == 0


def check_file(path, top):
    counts = collections.Counter()
    with tempfile.TemporaryDirectory(dir=top) as name:
        folder = pathlib.Path(name)
        is_dynamic, said, names = check_read(path)
        rpath = ":".join((names.runpath or names.rpath) + [MORE])
        new = folder / os.path.basename(path)
        way, grown = lib_elf.edit(path, new, rpath)
        if way is None:
            counts["stays: " + grown.partition(": ")[2].partition(": ")[2]] += 1
            return counts
        if not is_dynamic:
            raise AssertionError(f"{path} has no dynamic section and was edited")
        lib_elf.check_dynamic(path, new, rpath)
        lib_elf.check_lint(path, new)
        counts["patchelf: " + check_patchelf(path, new, rpath, folder)] += 1
        check_loads(path, new, said, names, counts)
        counts["edited"] += 1
        counts["way: " + way] += 1
        check_growth(path, grown, rpath)
    return counts


def check_growth(path, grown, rpath):
    """At most a page, the moved string table and the text."""
    text = lib_elf.must("readelf", "-SW", path)
    match = re.search(r"\.dynstr\s+STRTAB\s+\S+\s+\S+\s+([0-9a-f]+)", text)
    limit = 4096 + (int(match[1], 16) if match else 0) + len(rpath) + 1
    if grown > limit:
        raise AssertionError(f"{path} has grown by {grown}, more than {limit}")


def main():
    lacking = lib_elf.missing("patchelf", "eu-elflint", "readelf")
    if lacking:
        print("skipped: no", *lacking)
        return lib_elf.SKIPPED
    paths, total = chosen()
    counts, faults = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="rockit-elf-") as top, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {pool.submit(check_file, path, top): path for path in paths}
        for job in concurrent.futures.as_completed(jobs):
            try:
                counts += job.result()
            except Exception:  # report this file and try the next
                faults += 1
                print(f"not ok - {jobs[job]}\n{traceback.format_exc(limit=-2)}")
    print(f"{len(paths)} of {total} ELF files, {faults} faults")
    for name, count in sorted(counts.items()):
        print(f"  {count:5} {name}")
    return 1 if faults or not counts["edited"] else 0


if __name__ == "__main__":
    sys.exit(main())
