#!/usr/bin/env python3
"""A library that is only another name: what dlopen and other programs make of it."""

import os
import pathlib
import shutil
import subprocess
import sys

from libcheck import HERE, Skip, main, need, on_each_machine, run, runner, test

MAKE_ELF = os.environ["MAKE_ELF"]
CC = os.environ.get("ROCKIT_CC", "cc")
F = {"x86_64": "mov $42, %eax\nret\n", "aarch64": "mov w0, #42\nret\n"}
START = {"x86_64": "call f@plt\nmov %eax, %edi\nmov $60, %eax\nsyscall\n",
         "aarch64": "bl f\nmov x8, #93\nsvc #0\n"}


def library(folder, extra=()):
    """libx.so.1 with a function that says 42, and libx.so, its alias."""
    (folder / "x.c").write_text("int f(void) { return 42; }\n")
    run(CC, "-shared", "-fPIC", "-Wl,-soname,libx.so.1", *extra, "-o", folder / "libx.so.1",
        folder / "x.c")
    run(MAKE_ELF, "alias", HERE, "libx.so", "libx.so.1", folder / "libx.so")


def python(text, folder):
    """What a fresh interpreter prints, started elsewhere."""
    return run(sys.executable, "-c", "import ctypes, sys\n" + text, folder, cwd="/").decode()


@test
def dlopen_of_the_alias_finds_the_functions_of_the_library(folder):
    library(folder)
    assert python("print(ctypes.CDLL(sys.argv[1] + '/libx.so').f())", folder) == "42\n"


@test
def the_loader_never_takes_one_for_the_other(folder):
    """In both orders: two objects, one library, whose function has one address."""
    library(folder)
    text = """
at = lambda name: ctypes.CDLL(sys.argv[1] + '/' + name)
address = lambda lib: ctypes.cast(lib.f, ctypes.c_void_p).value
first, second = at(%r), at(%r)
print(first._handle != second._handle, address(first) == address(second))
print(ctypes.CDLL('libx.so.1')._handle in (first._handle, second._handle), ctypes.CDLL('libx.so')._handle
      in (first._handle, second._handle))
print(sum('libx.so.1' in line and 'r-xp' in line for line in open('/proc/self/maps')))
"""
    for order in (("libx.so", "libx.so.1"), ("libx.so.1", "libx.so")):
        assert python(text % order, folder) == "True True\nTrue True\n1\n"


@test
def an_alias_that_moves_with_its_library_still_finds_it(folder):
    library(folder)
    (folder / "moved").mkdir()
    for name in ("libx.so", "libx.so.1"):
        (folder / name).rename(folder / "moved" / name)
    assert python("print(ctypes.CDLL(sys.argv[1] + '/moved/libx.so').f())", folder) == "42\n"


@test
def without_its_library_the_alias_says_which_one_is_missing(folder):
    library(folder)
    (folder / "libx.so.1").unlink()
    text = "try: ctypes.CDLL(sys.argv[1] + '/libx.so')\nexcept OSError as e: print(e)"
    assert "libx.so.1" in python(text, folder)


@test
def a_program_under_asan_loads_it(folder):
    library(folder)
    (folder / "m.c").write_text("""
#include <dlfcn.h>
int main(int n, char **v)
{
	void *h = dlopen(v[n - 1], RTLD_NOW);
	int (*f)(void) = h ? (int (*)(void))dlsym(h, "f") : 0;
	int got = f ? f() : 0;
	return h && dlclose(h) ? 1 : got;
}
""")
    built = subprocess.run([CC, "-fsanitize=address", "-w", "-o", folder / "m", folder / "m.c", "-ldl"],
                           capture_output=True, check=False)
    if built.returncode:
        raise Skip("no AddressSanitizer here")
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    done = subprocess.run([folder / "m", folder / "libx.so"], capture_output=True, check=False,
                          env=env)
    assert done.returncode == 42, done


def tool(machine, name):
    found = shutil.which(f"{machine}-linux-gnu-{name}")
    if not found and machine == HERE:
        found = shutil.which(name)
    if not found:
        raise Skip(f"no {name} for {machine} here")
    return found


def loader(machine):
    """Folder with the loader of this machine, and its name."""
    name = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}[machine]
    for root in ("/", f"/usr/{machine}-linux-gnu"):
        for lib in ("lib64", "lib"):
            if pathlib.Path(root, lib, name).exists() and (root != "/" or machine == HERE):
                return root, pathlib.Path("/", lib, name)
    raise Skip(f"no {name} here")


def assembled(folder, machine, name, text, *link):
    (folder / f"{name}.s").write_text(text)
    run(tool(machine, "as"), "-o", folder / f"{name}.o", folder / f"{name}.s")
    run(tool(machine, "ld"), "-z", "noexecstack", "-o", folder / name, folder / f"{name}.o", *link)


@on_each_machine
def a_program_that_needs_the_alias_gets_the_library(folder, machine):
    """No compiler and no libc for that machine: assembler, linker, loader."""
    root, interpreter = loader(machine)
    run(MAKE_ELF, "alias", machine, "libx.so", "libx.so.1", folder / "libx.so")
    assembled(folder, machine, "libx.so.1", f".globl f\n.type f, %function\nf: {F[machine]}",
              "-shared", "-soname", "libx.so.1")
    assembled(folder, machine, "program", f".globl _start\n_start: {START[machine]}",
              "--no-as-needed", "-dynamic-linker", interpreter, "-rpath", "$ORIGIN",
              "--copy-dt-needed-entries", folder / "libx.so", "-rpath-link", folder)
    needed = run(need("readelf"), "-d", folder / "program")
    assert b"[libx.so]" in needed, needed
    before = [*runner(machine), *(["-L", root] if machine != HERE else [])]
    done = subprocess.run([*before, folder / "program"], capture_output=True, check=False)
    assert done.returncode == 42, done


@on_each_machine
def other_programs_accept_the_file(folder, machine):
    alias = folder / "libx.so"
    run(MAKE_ELF, "alias", machine, "libx.so", "libx.so.1", alias)
    print(f"# alias library for {machine}: {alias.stat().st_size} bytes")
    assert alias.stat().st_size <= 2048
    seen = run(need("readelf"), "-W", "-a", alias).decode()
    for part in ("(NEEDED)", "[libx.so.1]", "Library soname: [libx.so]", "Library rpath: [$ORIGIN]"):
        assert part in seen, seen
    assert "Warning" not in seen and "Error" not in seen, seen
    assert "R E" not in seen and "RWE" not in seen, "a segment can be executed"
    if shutil.which("eu-elflint"):
        assert run("eu-elflint", "--gnu-ld", alias) == b"No errors\n"
    if shutil.which("patchelf"):
        assert run("patchelf", "--print-needed", alias) == b"libx.so.1\n"
        assert run("patchelf", "--print-soname", alias) == b"libx.so\n"


@test
def a_stripped_alias_still_works(folder):
    for strip in ("strip", "eu-strip"):
        if not shutil.which(strip):
            continue
        library(folder)
        run(strip, folder / "libx.so")
        assert python("print(ctypes.CDLL(sys.argv[1] + '/libx.so').f())", folder) == "42\n", strip


@test
def names_that_cannot_be_are_refused(folder):
    for own, soname in (("libx.so", "libx.so"), ("", "libx.so.1"), ("a/b", "c"), ("a", "$b"),
                        ("x" * 256, "y")):
        done = subprocess.run([MAKE_ELF, "alias", HERE, own, soname, folder / "o"],
                              capture_output=True, check=False)
        assert done.returncode == 1 and b"another name" in done.stderr, done
        assert not (folder / "o").exists()


if __name__ == "__main__":
    main()
