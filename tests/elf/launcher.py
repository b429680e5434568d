#!/usr/bin/env python3
"""Launchers start the program beside them, on their own machine or under qemu."""

import os
import pathlib
import shutil
import subprocess

from libcheck import HERE, Skip, main, need, on_each_machine, run, runner, test

MAKE_ELF = os.environ["MAKE_ELF"]
SHOW = os.environ["SHOW_ARGS"]


def tree(folder, machine, relpath="../libexec/real", link=True):
    """bin/tool is a launcher for `relpath`, where a program that shows its arguments lies."""
    start = folder / "bin/tool"
    start.parent.mkdir(parents=True)
    run(MAKE_ELF, "launcher", machine, relpath, start)
    if link:
        real = os.path.normpath(os.path.join(os.fsencode(start.parent), os.fsencode(relpath)))
        os.makedirs(os.path.dirname(real), exist_ok=True)
        shutil.copy(SHOW, real)
    return start


def started(machine, *argv, env=None, executable=None, **how):
    """Status, the arguments the program saw, its $SHOWN, and stderr."""
    before = runner(machine)
    if executable:
        argv = ["-0", argv[0], executable, *argv[1:]] if before else argv
    env = dict(os.environ, **(env or {}))
    done = subprocess.run([*before, *argv], capture_output=True, check=False, env=env,
                          executable=None if before else executable, **how)
    *seen, shown = done.stdout.split(b"\0") if done.stdout else (b"",)
    return done.returncode, seen, shown, done.stderr


@on_each_machine
def arguments_environment_and_status_are_passed(folder, machine):
    start = tree(folder, machine)
    odd = ["", " two words ", "line\nfeed", "'\"$HOME\\", "\u00e4\u4e2d", "x" * 100000]
    status, seen, shown, errors = started(machine, str(start), *odd,
                                          env={"SHOWN": "a b\nc=d", "STATUS": "7"})
    assert (status, errors) == (7, b""), (status, errors)
    assert seen == [os.fsencode(a) for a in [str(start), *odd]], seen[:6]
    assert shown == b"a b\nc=d"


@on_each_machine
def the_first_argument_stays_as_it_is(folder, machine):
    start = tree(folder, machine)
    _, seen, _, errors = started(machine, "another name", "1", executable=str(start))
    assert seen == [b"another name", b"1"], (seen, errors)


@on_each_machine
def a_launcher_reached_by_a_link_finds_its_own_folder(folder, machine):
    start = tree(folder, machine)
    (folder / "elsewhere/deep").mkdir(parents=True)
    (folder / "elsewhere/deep/t").symlink_to("../u")
    (folder / "elsewhere/u").symlink_to(start)
    status, seen, _, errors = started(machine, str(folder / "elsewhere/deep/t"), "x")
    assert (status, seen[1:]) == (0, [b"x"]), (status, seen, errors)


@on_each_machine
def a_launcher_found_in_the_search_path_or_here_works(folder, machine):
    start = tree(folder, machine)
    if machine == HERE:
        env = dict(os.environ, PATH=f"{start.parent}:/usr/bin")
        assert run("sh", "-c", "exec tool a", env=env).startswith(b"tool\0a\0")
    status, seen, _, errors = started(machine, "./tool", "a", cwd=start.parent)
    assert (status, seen) == (0, [b"./tool", b"a"]), (status, seen, errors)


@on_each_machine
def a_program_that_is_not_there_is_one_line_and_status_127(folder, machine):
    start = tree(folder, machine, link=False)
    status, seen, _, errors = started(machine, str(start), "x")
    want = f"{start}: cannot start {start.parent}/../libexec/real (error 2)\n"
    assert (status, seen, errors) == (127, [], want.encode()), (status, seen, errors)
    (folder / "libexec").mkdir()
    (folder / "libexec/real").write_text("no program")
    if os.getuid():
        assert b"(error 13)" in started(machine, str(start))[3]
    (folder / "libexec/real").chmod(0o755)
    assert b"(error 8)" in started(machine, str(start))[3]


@on_each_machine
def a_missing_first_argument_does_no_harm(folder, machine):
    if machine != HERE:
        raise Skip("qemu gives one")
    start = tree(folder, machine, link=False)
    code = ("import ctypes,sys;c=ctypes.CDLL(None);v=(ctypes.c_char_p*1)(None);"
            "c.execve(sys.argv[1].encode(),v,v)")
    done = subprocess.run([need("python3"), "-c", code, str(start)], capture_output=True,
                          check=False)
    assert done.returncode == 127 and b": cannot start " in done.stderr, done


@on_each_machine
def odd_bytes_in_paths_are_bytes(folder, machine):
    start = tree(folder / "a b\n'\u00e4", machine, relpath="../lib exec/\u4e2d $x")
    assert started(machine, str(start), "x")[1][1:] == [b"x"]
    raw = os.fsencode(folder) + b"/\xff\xfe/bin"
    os.makedirs(raw)
    os.makedirs(raw + b"/../lib exec")
    shutil.copy(start, raw + b"/tool")
    shutil.copy(SHOW, raw + "/../lib exec/\u4e2d $x".encode())
    assert started(machine, raw + b"/tool", "x")[1][1:] == [b"x"]


def deep(folder, length):
    """A folder whose path has `length` bytes, made step by step; we are in it afterwards."""
    os.chdir(folder)
    left = length - len(os.fsencode(folder))
    while left > 0:
        # never leave a single byte: a name and its slash need two
        step = min(left, 201) if left - min(left, 201) != 1 else min(left, 201) - 1
        os.mkdir("d" * (step - 1))
        os.chdir("d" * (step - 1))
        left -= step


@on_each_machine
def paths_of_4000_bytes_and_nearly_4096_work(folder, machine):
    start = tree(folder / "from", machine, relpath="r")
    back = pathlib.Path.cwd()
    try:
        for length in (4000, 4090, 4093):
            top = folder / str(length)
            top.mkdir()
            deep(top, length)
            shutil.copy(start, "t")
            shutil.copy(SHOW, "r")
            status, seen, _, errors = started(machine, "./t", "x")
            assert (status, seen[1:]) == (0, [b"x"]), (length, status, errors)
    finally:
        os.chdir(back)


@on_each_machine
def a_path_that_does_not_fit_is_one_line(folder, machine):
    relpath = "../" * 300 + "x"
    start = tree(folder / "from", machine, relpath=relpath, link=False)
    back = pathlib.Path.cwd()
    try:
        deep(folder, 3500)
        shutil.copy(start, "t")
        status, _, _, errors = started(machine, "./t")
    finally:
        os.chdir(back)
    want = f"./t: cannot start {relpath} (error 36)\n"
    assert (status, errors) == (127, want.encode()), (status, errors[:200])


@test
def without_proc_the_name_it_was_started_by_counts(folder):
    start = tree(folder, HERE)
    inside = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    need("unshare")
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        raise Skip("no mounts may be made here")
    assert run(*inside, start, "x").startswith(os.fsencode(start) + b"\0x\0")
    assert run(*inside, "./tool", "x", cwd=start.parent).startswith(b"./tool\0x\0")


@on_each_machine
def other_programs_accept_the_file_and_strip_leaves_it_whole(folder, machine):
    start = tree(folder, machine)
    print(f"# launcher for {machine}: {start.stat().st_size} bytes with a path of 15")
    assert start.stat().st_size <= 2048
    assert run(MAKE_ELF, "target", start) == b"../libexec/real\n"
    page = {"x86_64": 0x1000, "aarch64": 0x10000}[machine]
    seen = run(need("readelf"), "-W", "-a", start)
    assert b"RWE" not in seen and f"R E 0x{page:x}".encode() in seen, seen
    assert b"GNU_STACK" in seen and b"Warning" not in seen
    if shutil.which("file"):
        kind = run("file", start)
        assert b"statically linked" in kind and b"executable" in kind, kind
    if shutil.which("eu-elflint"):
        assert run("eu-elflint", "--gnu-ld", start) == b"No errors\n"
    for strip in (f"{machine}-linux-gnu-strip", "eu-strip"):
        if shutil.which(strip):
            run(strip, start)
            assert started(machine, str(start), "x")[1][1:] == [b"x"], strip


@on_each_machine
def the_largest_launcher_is_below_2_kb(folder, machine):
    run(MAKE_ELF, "launcher", machine, "x" * 1024, folder / "most")
    size = (folder / "most").stat().st_size
    print(f"# launcher for {machine}: {size} bytes with a path of 1024")
    assert size <= 2048
    assert run(MAKE_ELF, "target", folder / "most") == b"x" * 1024 + b"\n"


if __name__ == "__main__":
    main()
