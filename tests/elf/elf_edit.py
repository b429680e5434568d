#!/usr/bin/env python3
"""Programs and libraries built in many ways, given another RPATH, and used.

Each is edited, run or loaded with its library found by the new RPATH alone, stripped by several
programs, edited again, and compared with what it was: names, code, debug information, what
eu-elflint says of it.
"""

import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

import lib_elf
from lib_elf import call, edit, must

CC = os.environ.get("ROCKIT_TEST_CC", "gcc")
CXX = os.environ.get("ROCKIT_TEST_CXX", "g++")
SHORT = "$ORIGIN/deps:$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib"
LONG = "$ORIGIN/deps:" + ":".join(f"/no/such/place/{i:04}" for i in range(500))
STRIPPERS = [["strip"], ["eu-strip"]]
EDITS = [(SHORT, "rpath"), (LONG, "rpath")]
if lib_elf.FULL:
    STRIPPERS += [["strip", "-g"], ["llvm-strip"], ["llvm-strip-14"]]
    EDITS += [(SHORT, "runpath"), (LONG, "runpath")]

DEP = "int dep(void) { return 42; }\n"

# The program's headers as the kernel and the loader tell them, its notes, and things that are
# initialised in a way of their own.
MAIN = r"""
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
int dep(void);
static char big[BSS] = { 0 };
static __thread int thread_value = 7;
static int chosen(void) { return 3; }
static int (*choose(void))(void) { return chosen; }
int indirect(void) __attribute__((ifunc("choose")));
static int seen;
__attribute__((constructor)) static void begin(void) { seen = 5; }
static int look(struct dl_phdr_info *i, size_t size, void *arg)
{
	int loads = 0;
	unsigned sum = 0;

	(void)size;
	for (int k = 0; k < i->dlpi_phnum; k++) {
		const ElfW(Phdr) *p = &i->dlpi_phdr[k];
		const unsigned char *b = (const unsigned char *)(i->dlpi_addr + p->p_vaddr);

		loads += p->p_type == PT_LOAD;
		for (size_t n = 0; p->p_type == PT_NOTE && n < p->p_filesz; n++)
			sum = sum * 31 + b[n];
	}
	if (*(int *)arg == 0)
		printf("loads %d, notes %08x, table %d\n", loads > 1, sum,
		       ENTRY || (unsigned long)i->dlpi_phdr == getauxval(AT_PHDR));
	++*(int *)arg;
	return 0;
}
int FUNCTION(void)
{
	int n = ENTRY ? -1 : 0;

	big[BSS / 2] = 1;
	dl_iterate_phdr(look, &n);
	printf("%d %d %d %d %d\n", dep(), thread_value, indirect(), seen, big[BSS / 2] + big[1]);
	return fflush(stdout);
}
"""

CXX_MAIN = r"""
#include <cstdio>
#include <stdexcept>
#include <string>
extern "C" int dep(void);
struct thrown : std::runtime_error { using std::runtime_error::runtime_error; };
static void fall(int n) { std::string s(n, 'x'); if (n > 3) throw thrown(s); fall(n + 1); }
extern "C" int FUNCTION(void)
{
	try { fall(0); } catch (const std::exception &e) { std::printf("caught %s %d\n", e.what(), dep()); }
	return std::fflush(stdout);
}
"""

LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *h = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*f)(void) = h ? (int (*)(void))dlsym(h, "function") : NULL;
	if (!f) { puts(dlerror()); return 1; }
	return f();
}
"""
VERSIONS = "V_1 { global: function; local: *; };\n"

PLAIN = [
    ("plain", []),
    ("noseparate", ["-Wl,-z,noseparate-code"]),
    ("separate", ["-Wl,-z,separate-code"]),
    ("large pages", ["-Wl,-z,max-page-size=65536"]),
    ("huge pages", ["-Wl,-z,max-page-size=2097152"]),
    ("sysv hash", ["-Wl,--hash-style=sysv"]),
    ("both hashes", ["-Wl,--hash-style=both"]),
    ("no build id", ["-Wl,--build-id=none"]),
    ("short rpath", ["-Wl,-rpath,/x", "-Wl,--disable-new-dtags"]),
    ("short runpath", ["-Wl,-rpath,/x", "-Wl,--enable-new-dtags"]),
    ("long runpath", ["-Wl,-rpath," + "/x" * 300]),
    ("big bss", ["-DBSS=268435456"]),
    ("stripped", ["-s"]),
    ("norelro", ["-Wl,-z,norelro"]),
    ("bind now", ["-Wl,-z,now"]),
    ("gold", ["-fuse-ld=gold"]),
    ("lld", ["-fuse-ld=lld", "-Blld"]),
    ("lld with rpath", ["-fuse-ld=lld", "-Blld", "-Wl,-rpath,/x"]),
]
PROGRAMS = PLAIN + [("no pie", ["-no-pie"]), ("pie", ["-pie", "-fPIE"]),
                    ("no pie, no relro", ["-no-pie", "-Wl,-z,norelro"])]
LIBRARIES = PLAIN + [("versioned", ["-Wl,--version-script=versions"]),
                     ("soname", ["-Wl,-soname,libother.so.3"]),
                     ("symbolic", ["-Wl,-Bsymbolic", "-Wl,-z,nodelete"]),
                     ("no start files", ["-nostartfiles", "-Wl,--build-id=none"])]


class Skip(Exception):
    """With the reason."""


def find_lld():
    """Debian's has its version in the name."""
    found = shutil.which("ld.lld") or shutil.which("ld.lld-14") or shutil.which("ld.lld-18")
    os.mkdir("lld")
    if found:
        os.symlink(found, "lld/ld.lld")


def build(source, out, options, library, compiler=CC):
    if "-fuse-ld=lld" in options and not os.path.exists("lld/ld.lld"):
        raise Skip("no lld")
    if "-fuse-ld=gold" in options and not shutil.which("ld.gold"):
        raise Skip("no gold")
    kind = ["-shared", "-fPIC", "-DFUNCTION=function", "-DENTRY=1"] if library else \
        ["-DFUNCTION=main", "-DENTRY=0"]
    bss = [] if any(o.startswith("-DBSS") for o in options) else ["-DBSS=100"]
    must(compiler, "-g", "-O1", "-w", *kind, *bss, "-o", out, source, "-Ldeps",
         "-Wl,--no-as-needed", *options, "-ldep")


def use(path, library, env=None):
    argv = ["./loader", f"./{path}"] if library else [f"./{path}"]
    return call(*argv, env=dict(os.environ, **(env or {})), timeout=60)


def check_used(path, library, want):
    got = use(path, library)
    if got != want:
        raise AssertionError(f"{path}: {got}, not {want}")


def check_same_content(old, new):
    """Code, constants and debug information."""
    for section in (".text", ".rodata", ".data", ".eh_frame"):
        content = []
        for path in (old, new):
            call("objcopy", "-O", "binary", "-j", section, path, "section")
            content.append(pathlib.Path("section").read_bytes())
        if content[0] != content[1]:
            raise AssertionError(f"{section} has changed")
    dumps = [call("readelf", "--debug-dump=info", path)[1] for path in (old, new)]
    if dumps[0] != dumps[1]:
        raise AssertionError("debug information has changed")


def check_strippers(old, new, library, want):
    for argv in STRIPPERS:
        if not shutil.which(argv[0]):
            continue
        # some make a file that does not run, or say something, of the old one already
        shutil.copy(old, "before")
        shutil.copy(new, "stripped")
        if call(*argv, "before")[0] != 0 or use("before", library, FOUND) != want:
            continue
        must(*argv, "stripped")
        check_used("stripped", library, want)
        lib_elf.check_lint("before", "stripped")
        # and again: an edit of a stripped, edited file
        edit("stripped", "again", LONG + "/again")
        check_used("again", library, want)
        lib_elf.check_lint("before", "again")


def check_again(new, library, want, rpath):
    """A second edit costs its text, and going to and fro costs nothing."""
    size = os.path.getsize(new)
    for i in range(4):
        text = rpath + ":/some/more" if i % 2 == 0 else rpath
        edit(new, "again", text)
        shutil.move("again", new)
    if os.path.getsize(new) > size + len(":/some/more"):
        raise AssertionError(f"{new} grows with each edit: {size}, {os.path.getsize(new)}")
    check_used(new, library, want)


FOUND = {"LD_LIBRARY_PATH": "deps"}


def check_edits(old, library):
    """The dependency is in deps/: only an RPATH that is right finds it."""
    want = use(old, library, FOUND)
    if want[0] != 0:
        raise AssertionError(f"{old} does not run: {want}")
    if use(old, library)[0] == 0:
        raise AssertionError("the library is found without an RPATH")
    for rpath, tag in EDITS:
        way, grown = edit(old, "new", rpath, tag)
        if way is None:
            raise AssertionError(grown)
        lib_elf.check_dynamic(old, "new", rpath, tag)
        lib_elf.check_lint(old, "new")
        check_used("new", library, want)
        if tag == "rpath" and (lib_elf.FULL or rpath == LONG):
            check_same_content(old, "new")
            check_strippers(old, "new", library, want)
            check_again("new", library, want, rpath)
        ways.setdefault(way, 0)
        ways[way] += 1


ways = {}


def without_sections(path, out):
    data = bytearray(pathlib.Path(path).read_bytes())
    data[40:48] = bytes(8)   # e_shoff
    data[58:64] = bytes(6)   # e_shentsize, e_shnum, e_shstrndx
    pathlib.Path(out).write_bytes(data)
    shutil.copymode(path, out)


def check_without_sections(library):
    build("main.c", "whole", [], library)
    want = use("whole", library, FOUND)
    must("strip", "whole")
    without_sections("whole", "bare")
    for rpath in (SHORT, LONG):
        way, why = edit("bare", "new", rpath)
        if way is None:
            raise AssertionError(why)
        check_used("new", library, want)


def check_patchelfed(library):
    """patchelf was here before; where its file does not run, ours need not. Version 0.19 makes a
    segment for the string table alone; if that becomes empty, strip breaks the file."""
    if not shutil.which("patchelf"):
        raise Skip("no patchelf")
    for options in ([], ["-no-pie"]):
        if library and options:
            continue
        build("main.c", "first", options, library)
        must("patchelf", "--force-rpath", "--set-rpath", LONG, "first")
        must("patchelf", "--replace-needed", "libdep.so", "lib_with_a_longer_name_than_before.so",
             "first")
        want = use("first", library)
        if want[0] != 0:
            raise AssertionError("patchelf broke it")
        for rpath in (SHORT, LONG + "/x" * 4000):
            edit("first", "new", rpath)
            lib_elf.check_dynamic("first", "new", rpath)
            check_used("new", library, want)
            check_strippers("first", "new", library, want)


def check_static(options):
    if call(CC, "-o", "fixed", "fixed.c", *options)[0] != 0:
        raise Skip("cannot be linked here")
    way, why = edit("fixed", "new", SHORT)
    if way is not None or os.path.exists("new"):
        raise AssertionError(f"a static program was edited: {way}")
    if "static" not in why:
        raise AssertionError(why)


def check_split_debug():
    build("main.c", "whole", [], False)
    want = use("whole", False, FOUND)
    must("objcopy", "--only-keep-debug", "whole", "whole.debug")
    must("strip", "-g", "whole")
    must("objcopy", "--add-gnu-debuglink=whole.debug", "whole")
    edit("whole", "new", LONG)
    check_used("new", False, want)
    lines = [call("readelf", "--string-dump=.gnu_debuglink", p)[1] for p in ("whole", "new")]
    if lines[0].splitlines()[1:] != lines[1].splitlines()[1:]:
        raise AssertionError(lines)
    if edit("whole.debug", "new.debug", LONG)[0] is not None:
        raise AssertionError("a file of debug information was edited")


def check_huge():
    """More than 3 GB between the segments and the section headers, most of it a hole."""
    build("main.c", "lib.so", [], True)
    want = use("lib.so", True, FOUND)
    data = bytearray(pathlib.Path("lib.so").read_bytes())
    shoff, = struct.unpack_from("<Q", data, 40)
    headers = data[shoff:]
    struct.pack_into("<Q", data, 40, 3 << 30)
    with open("huge.so", "wb") as file:
        file.write(data)
        file.seek(3 << 30)
        file.write(headers)
    way, grown = edit("huge.so", "new", LONG)
    if way != "segment" or os.path.getsize("new") < 3 << 30 or grown > 20000:
        raise AssertionError((way, grown))
    lib_elf.check_dynamic("huge.so", "new", LONG)
    check_used("new", True, want)
    os.unlink("new")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if peak > 256 << 10:
        raise AssertionError(f"{peak} kB of memory for a file of 3 GB")


def check_build(source, options, library, compiler=CC):
    build(source, "old", options, library, compiler)
    check_edits("old", library)


def cases():
    for name, options in PROGRAMS:
        yield f"program, {name}", lambda o=options: check_build("main.c", o, False)
    for name, options in LIBRARIES:
        yield f"library, {name}", lambda o=options: check_build("main.c", o, True)
    if shutil.which(CXX):
        yield "program, exceptions", lambda: check_build("main.cc", [], False, CXX)
        yield "library, exceptions", lambda: check_build("main.cc", [], True, CXX)
    for library in (False, True):
        kind = "library" if library else "program"
        yield f"{kind} without section headers", lambda k=library: check_without_sections(k)
        yield f"{kind} that patchelf has changed", lambda k=library: check_patchelfed(k)
    yield "static program", lambda: check_static(["-static"])
    yield "static program anywhere", lambda: check_static(["-static-pie"])
    yield "debug information apart", check_split_debug
    yield "file of 3 GB", check_huge


def prepare():
    os.mkdir("deps")
    find_lld()
    pathlib.Path("fixed.c").write_text("int main(void) { return 0; }\n")
    for name, text in (("dep.c", DEP), ("main.c", MAIN), ("main.cc", CXX_MAIN),
                       ("loader.c", LOADER), ("versions", VERSIONS)):
        pathlib.Path(name).write_text(text)
    must(CC, "-shared", "-fPIC", "-o", "deps/libdep.so", "dep.c")
    os.symlink("libdep.so", "deps/lib_with_a_longer_name_than_before.so")
    must(CC, "-o", "loader", "loader.c", "-ldl")


def attempt(name, check):
    for path in ("new", "again", "stripped", "old"):
        pathlib.Path(path).unlink(missing_ok=True)
    try:
        check()
        print("ok   " + name, flush=True)
        return 0
    except Skip as why:
        print(f"skip {name}: {why}", flush=True)
        return 0
    except (AssertionError, OSError, subprocess.TimeoutExpired):
        print(f"FAIL {name}\n{traceback.format_exc()}", flush=True)
        return 1


def main():
    lacking = lib_elf.missing(CC, "readelf", "eu-elflint", "strip", "objcopy")
    if lacking:
        print("skipped: no", *lacking)
        return lib_elf.SKIPPED
    only = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rockit-elf-") as folder:
        os.chdir(folder)
        prepare()
        for name, check in cases():
            if not only or any(word in name for word in only):
                failed += attempt(name, check)
        os.chdir("/")
    print(f"{failed} failed; edits by way: {dict(sorted(ways.items()))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
