#!/usr/bin/env python3
"""The closure prover: good packages hold, and each way to break one is found."""

import json
import os
import re
import subprocess
import tarfile
import warnings
import zipfile

from libwheel import MAKE_ELF, TAG, Wheel, alias, bare, core, devel, library, sdist
from libcheck import HERE, main, run, test  # libwheel knows where it is

warnings.filterwarnings("ignore", "Duplicate name")
PROVE = os.environ["PACK_PROVE"]
OTHER = "aarch64" if HERE == "x86_64" else "x86_64"


# ---- what the prover says ----

def prove(*args):
    """The status and the proof."""
    env = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run([PROVE, "--json", *map(str, args)], capture_output=True, check=False, env=env)
    assert done.returncode in (0, 1), done
    return done.returncode, json.loads(done.stdout)


def kinds(*args):
    status, proof = prove(*args)
    found = {(f["kind"], f["path"]) for f in proof["findings"]}
    assert status == (1 if any(not f["note"] for f in proof["findings"]) else 0)
    assert proof["holds"] == (status == 0)
    return found


def finds(where, *want):
    """Exactly these findings."""
    got = kinds(where)
    assert got == set(want), f"\n got {sorted(got)}\nwant {sorted(want)}"


# ---- good ones ----

@test
def good_packages_have_no_findings(folder):
    dist = folder / "dist"
    core(folder).save(dist)
    sdist(dist)
    devel([("_rocm_sdk_devel/__init__.py", None, b""),
           ("_rocm_sdk_devel/lib/libb.so", "libb.so.2", b""),
           ("_rocm_sdk_devel/lib/libb.so.2", "../../_rocm_sdk_core/lib/libb.so.2", b""),
           ("_rocm_sdk_devel/llvm", "lib", b""),
           ("_rocm_sdk_devel/x", "llvm/../bin/tool", b""),
           ("_rocm_sdk_devel/bin/tool", None, b"#!/bin/sh\n")]).save(dist)
    finds(dist)
    text = subprocess.run([PROVE, dist], capture_output=True, text=True, check=True).stdout
    assert text.startswith("3 packages, 24 files, 4 programs and libraries: OK; glibc 2."), text


@test
def the_output_is_the_same_whatever_the_number_of_jobs(folder):
    w = core(folder)
    for i in range(40):
        w.add(f"_rocm_sdk_core/lib/n{i}.so", alias(folder, f"n{i}.so", f"missing{i}.so.1"), 0o755)
    w.save(folder / "dist")
    one, four = (run_anyhow(PROVE, "--json", "--jobs", n, folder / "dist") for n in ("1", "4"))
    assert one == four and one.count(b"needed-unresolved") == 40


def run_anyhow(*argv):
    return subprocess.run(list(map(str, argv)), capture_output=True, check=False).stdout


@test
def names_that_need_quotes_in_record_are_read(folder):
    w = core(folder)
    for name in ("a,b", 'q"q', "\u00e4\u4e2d", "sp ace", ".hidden"):
        w.add(f"_rocm_sdk_core/{name}", "x")
    w.save(folder / "dist")
    finds(folder / "dist")


# ---- the archive ----

@test
def a_file_that_is_not_an_archive_is_a_finding(folder):
    (folder / "dist").mkdir()
    (folder / "dist" / f"x-1.0-{TAG}.whl").write_bytes(b"no zip")
    (folder / "dist" / "y-1.0.tar.gz").write_bytes(b"no tar")
    status, proof = prove(folder / "dist")
    found = {f["kind"]: f for f in proof["findings"]}
    assert status == 1 and "unreadable" in found and "archive-damaged" in found, found


@test
def damaged_members_are_found(folder):
    path = core(folder).save(folder / "dist")
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as z:
        at = z.getinfo("_rocm_sdk_core/bin/program").header_offset + 300
    data[at] ^= 0xff
    path.write_bytes(data)
    assert ("member-damaged", "_rocm_sdk_core/bin/program") in kinds(folder / "dist")


@test
def file_names_of_another_form_are_found(folder):
    w = core(folder)
    w.file = "rocm_sdk_core.whl"
    w.save(folder / "dist")
    assert ("file-name", "") in kinds(folder / "dist")


def with_member(folder, name, mode=0o100644, data=b"x", utf8=None):
    w = core(folder)
    info = zipfile.ZipInfo("placeholder")
    info.filename = name
    info.external_attr = mode << 16
    path = w.save(folder / "dist", [(info, data)])
    if utf8 is not None:
        raw = path.read_bytes().replace("\u00e4.txt".encode(), utf8)
        path.write_bytes(raw)
    return folder / "dist"


@test
def names_that_cannot_be_installed_are_found(folder):
    for number, (name, kind) in enumerate((("/abs", "name-absolute"), ("../up", "name-escapes"),
                                           ("a/../../b", "name-escapes"), ("a\\b", "name-backslash"),
                                           ("a//b", "name-bad"), ("./a", "name-bad"),
                                           ("l\nf", "name-bad"), ("l\u2028f", "name-bad"))):
        sub = folder / str(number)
        sub.mkdir()
        assert (kind, name) in kinds(with_member(sub, name)), name


@test
def a_name_with_nul_is_found(folder):
    where = with_member(folder, "a_b.txt")
    path = next(where.iterdir())
    path.write_bytes(path.read_bytes().replace(b"a_b.txt", b"a\0b.txt"))
    assert ("name-bad", "a") in kinds(where)


@test
def names_that_are_not_utf_8_are_found(folder):
    found = kinds(with_member(folder, "\u00e4.txt", utf8=b"\xe4\xe4.txt"))
    assert any(kind == "name-encoding" for kind, _ in found), found


@test
def links_and_devices_as_members_are_found(folder):
    (folder / "1").mkdir()
    (folder / "2").mkdir()
    assert ("member-link", "l") in kinds(with_member(folder / "1", "l", 0o120777, b"target"))
    assert ("member-special", "d") in kinds(with_member(folder / "2", "d", 0o020644, b""))


@test
def members_twice_and_names_that_differ_by_case_are_found(folder):
    w = core(folder)
    w.add("_rocm_sdk_core/Data", "1")
    w.add("_rocm_sdk_core/data", "2")
    info = zipfile.ZipInfo("_rocm_sdk_core/data")
    w.save(folder / "dist", [(info, b"2")])
    finds(folder / "dist", ("member-twice", "_rocm_sdk_core/data"), ("name-case", "_rocm_sdk_core/data"))
    _, proof = prove(folder / "dist")
    assert [f["note"] for f in proof["findings"]] == [False, True]


# ---- RECORD ----

@test
def every_kind_of_wrong_record_is_found(folder):
    info = "rocm_sdk_core-7.0.dist-info"
    cli = "rocm_sdk_core/_cli.py"
    cases = (
        (lambda t: None, ("record-absent", f"{info}/RECORD")),
        (lambda t: t + "gone.txt,sha256=x,1\n", ("record-extra", "gone.txt")),
        (lambda t: t.replace(f"{cli},sha256=", f"{cli},sha256=A"), ("record-hash", cli)),
        (lambda t: t.replace(f"{cli},sha256=", f"{cli},md5="), ("record-hash", cli)),
        (lambda t: re.sub(f"({cli},.*),25\n", "\\1,26\n", t), ("record-size", cli)),
        (lambda t: "".join(l for l in t.splitlines(True) if cli not in l), ("record-missing", cli)),
        (lambda t: t + next(l for l in t.splitlines(True) if cli in l), ("record-twice", cli)),
        (lambda t: t + "one cell\n", ("record-form", f"{info}/RECORD")),
        (lambda t: t + 'a,"open\n', ("record-form", f"{info}/RECORD")),
        (lambda t: t + "\0", ("record-form", f"{info}/RECORD")),
        (lambda t: t.replace("RECORD,,", "RECORD,sha256=x,1"), ("record-form", f"{info}/RECORD")),
    )
    good = core(folder)
    for number, (change, want) in enumerate(cases):
        good.record = change
        where = folder / str(number)
        good.save(where)
        finds(where, want)


@test
def crlf_and_blank_lines_in_record_are_fine(folder):
    w = core(folder)
    w.record = lambda t: t.replace("\n", "\r\n") + "\r\n"
    w.save(folder / "dist")
    finds(folder / "dist")


# ---- metadata ----

@test
def wrong_metadata_is_found(folder):
    info = "rocm_sdk_core-7.0.dist-info"
    cases = (
        ("metadata", None, ("metadata-missing", f"{info}/METADATA")),
        ("metadata", "Name: rocm-sdk-core\nVersion: 7.0\n", ("metadata-wrong", f"{info}/METADATA")),
        ("metadata", "Metadata-Version: 2.1\nName: other\nVersion: 7.0\n", ("metadata-wrong", f"{info}/METADATA")),
        ("metadata", "Metadata-Version: 2.1\nName: rocm-sdk-core\nVersion: 7.1\n",
         ("metadata-wrong", f"{info}/METADATA")),
        ("metadata", "Metadata-Version: 2.1\nName: rocm-sdk-core\n\nVersion: 7.0\n",
         ("metadata-wrong", f"{info}/METADATA")),
        ("wheel", None, ("metadata-missing", f"{info}/WHEEL")),
        ("wheel", f"Wheel-Version: 2.0\nRoot-Is-Purelib: false\nTag: {TAG}\n", ("wheel-wrong", f"{info}/WHEEL")),
        ("wheel", f"Wheel-Version: 1.0\nTag: {TAG}\n", ("wheel-wrong", f"{info}/WHEEL")),
        ("wheel", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n", ("wheel-wrong", f"{info}/WHEEL")),
        ("wheel", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
         ("wheel-wrong", f"{info}/WHEEL")),
    )
    for number, (what, text, want) in enumerate(cases):
        w = core(folder)
        setattr(w, what, text)
        w.save(folder / str(number))
        finds(folder / str(number), want)


@test
def a_wheel_without_metadata_folder_is_found(folder):
    with zipfile.ZipFile(folder / f"x-1.0-{TAG}.whl", "w") as z:
        z.writestr("x.py", "")
    finds(folder, ("metadata-missing", ""))


# ---- tags ----

@test
def files_for_another_machine_than_the_tag_are_found(folder):
    w = core(folder)
    w.add("_rocm_sdk_core/lib/libf.so", alias(folder, "libf.so", "libc.so.6", OTHER), 0o755)
    w.save(folder / "a")
    finds(folder / "a", ("tag-machine", "_rocm_sdk_core/lib/libf.so"))
    w = Wheel("pure", tag="py3-none-any")
    w.add("pure/lib.so", alias(folder, "lib.so", "libc.so.6"), 0o755)
    w.save(folder / "b")
    finds(folder / "b", ("tag-machine", "pure/lib.so"))


@test
def a_glibc_that_the_tag_does_not_promise_is_found(folder):
    tag = f"py3-none-manylinux_2_17_{HERE}.manylinux2014_{HERE}"
    w = Wheel(tag=tag)
    program = library(folder, "", text="int main(void) { return 0; }", shared=False)
    w.add("_rocm_sdk_core/bin/program", program, 0o755)
    w.save(folder / "dist")
    wants = any(f"GLIBC_2.{n}\0".encode() in program for n in range(18, 60))
    assert wants, "the compiler's glibc is too old for this test"
    finds(folder / "dist", ("tag-glibc", "_rocm_sdk_core/bin/program"))
    _, proof = prove(folder / "dist")
    assert proof["platform_tag"] == f"manylinux_{proof['glibc'].replace('.', '_')}_{HERE}"
    w = Wheel(tag=f"py3-none-{proof['platform_tag']}")
    w.add("_rocm_sdk_core/bin/program", program, 0o755)
    w.save(folder / "good")
    finds(folder / "good")


# ---- several wheels ----

@test
def a_path_in_two_wheels_and_a_distribution_twice_are_found(folder):
    core(folder).save(folder / "a")
    w = Wheel("rocm_sdk_other")
    w.add("_rocm_sdk_core/__init__.py", "")
    w.save(folder / "a")
    finds(folder / "a", ("path-twice", "_rocm_sdk_core/__init__.py"))
    core(folder).save(folder / "b")
    w = Wheel(version="7.1")
    w.save(folder / "b")
    finds(folder / "b", ("distribution-twice", ""))


@test
def folders_with_a_family_each_are_alternatives(folder):
    dist = folder / "dist"
    core(folder).save(dist)
    for family in ("gfx94X", "gfx110X"):
        w = devel([("_rocm_sdk_devel/l", "../_rocm_sdk_core/bin/program", b"")])
        w.add("rocm_sdk_devel/family", family)
        w.save(dist / family)
    finds(dist)
    finds(folder)


# ---- closure ----

@test
def libraries_that_are_not_found_are_named_with_where_they_are(folder):
    w = core(folder)
    w.add("_rocm_sdk_core/lib/deep/libc2.so",
          bare(folder, "libc2.so", "-Wl,--no-as-needed", folder / "libb.so.2", "-Wl,-rpath,$ORIGIN"), 0o755)
    w.add("_rocm_sdk_core/lib/libd.so", alias(folder, "libd.so", "libnowhere.so.1"), 0o755)
    w.save(folder / "dist")
    finds(folder / "dist", ("needed-unresolved", "_rocm_sdk_core/lib/deep/libc2.so"),
          ("needed-unresolved", "_rocm_sdk_core/lib/libd.so"))
    _, proof = prove(folder / "dist")
    assert "'_rocm_sdk_core/lib/libb.so.2'" in proof["findings"][0]["text"], proof
    got = prove("--system", "libnowhere.so.1", folder / "dist")[1]["findings"]
    assert [f["path"] for f in got] == ["_rocm_sdk_core/lib/deep/libc2.so"]


@test
def libraries_of_another_package_are_found_through_the_run_path(folder):
    core(folder).save(folder / "dist")
    w = Wheel("rocm_sdk_libraries")
    for where, rpath in (("lib", "$ORIGIN/../../_rocm_sdk_core/lib"),
                         ("lib/x", "${ORIGIN}/../../../_rocm_sdk_core/lib/../lib")):
        w.add(f"_rocm_sdk_libraries/{where}/libl.so.1",
              bare(folder, "libl.so.1", "-Wl,--no-as-needed", folder / "libb.so.2", f"-Wl,-rpath,{rpath}"), 0o755)
    path = w.save(folder / "dist")
    finds(folder / "dist")
    assert {kind for kind, _ in kinds(path)} == {"needed-unresolved"}


@test
def a_library_for_another_machine_does_not_count(folder):
    w = Wheel()
    w.add("_rocm_sdk_core/lib/libx.so", alias(folder, "libx.so", "libx.so.1"), 0o755)
    w.add("_rocm_sdk_core/lib/libx.so.1", alias(folder, "libx.so.1", "libc.so.6", OTHER), 0o755)
    w.save(folder / "dist")
    assert ("needed-unresolved", "_rocm_sdk_core/lib/libx.so") in kinds(folder / "dist")


@test
def run_paths_that_leave_or_belong_to_one_machine_are_found(folder):
    for number, (rpath, kind) in enumerate((("/opt/rocm/lib", "rpath-absolute"),
                                            ("$ORIGIN/../../../../x", "rpath-escapes"),
                                            ("$ORIGIN::$ORIGIN", "rpath-empty"),
                                            ("lib", "rpath-relative"))):
        w = Wheel()
        w.add("_rocm_sdk_core/lib/libr.so", bare(folder, "libr.so", f"-Wl,-rpath,{rpath}"), 0o755)
        w.save(folder / str(number))
        finds(folder / str(number), (kind, "_rocm_sdk_core/lib/libr.so"))


@test
def damaged_elf_files_are_found(folder):
    w = core(folder)
    data = bytearray(bare(folder, "libz.so"))
    data[32:40] = b"\xff" * 8  # program headers elsewhere
    w.add("_rocm_sdk_core/lib/libz.so", bytes(data), 0o755)
    w.save(folder / "dist")
    finds(folder / "dist", ("elf-damaged", "_rocm_sdk_core/lib/libz.so"))


@test
def large_libraries_go_through_a_file(folder):
    """Above what is held in memory; zeros, so that the wheel stays small."""
    w = Wheel()
    big = library(folder, "libbig.so.1", "-nostdlib", text="static char x[6 << 20] = { 1 }; char *f(void) { return x; }")
    assert len(big) > 6 << 20
    w.add("_rocm_sdk_core/lib/libbig.so.1", big, 0o755)
    w.add("_rocm_sdk_core/lib/libbig.so", alias(folder, "libbig.so", "libbig.so.1"), 0o755)
    w.save(folder / "dist")
    finds(folder / "dist")


@test
def a_library_without_the_name_that_programs_dlopen_is_found(folder):
    w = Wheel()
    w.add("_rocm_sdk_core/lib/libamdhip64.so.7", bare(folder, "libamdhip64.so.7"), 0o755)
    w.save(folder / "a")
    finds(folder / "a", ("dlopen-missing", "_rocm_sdk_core/lib/libamdhip64.so.7"))
    w.add("_rocm_sdk_core/lib/libamdhip64.so", alias(folder, "libamdhip64.so", "libamdhip64.so.7"), 0o755)
    w.save(folder / "b")
    finds(folder / "b")


@test
def launchers_without_their_program_are_found(folder):
    w = core(folder)
    run(MAKE_ELF, "launcher", HERE, "../libexec/gone", folder / "launcher")
    w.add("_rocm_sdk_core/bin/broken", (folder / "launcher").read_bytes(), 0o755)
    w.modes["_rocm_sdk_core/bin/program"] = 0o644
    w.save(folder / "dist")
    finds(folder / "dist", ("launcher-target", "_rocm_sdk_core/bin/broken"),
          ("launcher-target", "_rocm_sdk_core/bin/other"), ("not-executable", "_rocm_sdk_core/bin/program"))


# ---- devel ----

@test
def links_of_devel_that_lead_nowhere_are_found(folder):
    for number, (mode, name) in enumerate((("w", "_devel.tar"), ("w:xz", "_devel.tar.xz"))):
        where = folder / str(number)
        core(folder).save(where)
        devel([("_rocm_sdk_devel/dangling", "nothing", b""), ("_rocm_sdk_devel/absolute", "/usr/bin/env", b""),
               ("_rocm_sdk_devel/escapes", "../../x", b""), ("_rocm_sdk_devel/circle", "circle2", b""),
               ("_rocm_sdk_devel/circle2", "circle", b""), ("_rocm_sdk_devel/good", "../_rocm_sdk_core/lib", b""),
               ("_rocm_sdk_devel/through", "good/libb.so.2", b""),
               ("_rocm_sdk_devel/wrong", "../_rocm_sdk_core/lib/libb.so.2/x", b"")], name, mode).save(where)
        # One that dangles in the tree as it was built gives a note; packages do not promise it.
        assert [f["path"] for f in prove(where)[1]["findings"] if f["note"]] == ["_rocm_sdk_devel/dangling"]
        finds(where, ("link-dangling", "_rocm_sdk_devel/dangling"), ("link-absolute", "_rocm_sdk_devel/absolute"),
              ("link-escapes", "_rocm_sdk_devel/escapes"), ("link-circle", "_rocm_sdk_devel/circle"),
              ("link-circle", "_rocm_sdk_devel/circle2"), ("link-dangling", "_rocm_sdk_devel/wrong"))


@test
def libraries_in_devel_are_proved_too(folder):
    core(folder).save(folder / "dist")
    devel([("_rocm_sdk_devel/lib/libq.so", None, alias(folder, "libq.so", "libgone.so.1")),
           ("_rocm_sdk_devel/x/liba.so.1", "../../_rocm_sdk_core/lib/liba.so.1", b"")]).save(folder / "dist")
    # loaded from x/, liba looks for libb there
    finds(folder / "dist", ("needed-unresolved", "_rocm_sdk_devel/lib/libq.so"),
          ("needed-unresolved", "_rocm_sdk_devel/x/liba.so.1"))


@test
def bad_names_and_kinds_in_devel_are_found(folder):
    core(folder).save(folder / "dist")
    w = devel([("../up", None, b"x"), ("/abs", None, b"x"), ("_rocm_sdk_devel/\u00e4", None, b"x")],
              format=tarfile.PAX_FORMAT)
    w.save(folder / "dist")
    finds(folder / "dist", ("name-escapes", "../up"), ("name-absolute", "/abs"))


@test
def a_devel_archive_that_is_cut_is_found(folder):
    w = devel([("_rocm_sdk_devel/x", None, os.urandom(5000))])
    w.files["rocm_sdk_devel/_devel.tar"] = w.files["rocm_sdk_devel/_devel.tar"][:3000]
    w.save(folder / "dist")
    finds(folder / "dist", ("archive-damaged", "rocm_sdk_devel/_devel.tar"))


# ---- Python ----

@test
def names_that_python_cannot_import_are_found(folder):
    w = Wheel("rocm_sdk_libraries")
    w.files = {"rocm_sdk_libraries_gfx94X-dcgpu/__init__.py": b"", "class.py": b"", "1x/__init__.py": b"",
               "good_1/__init__.py": b"", f"{w.info}/top_level.txt": b"good_1\nnot-good\n"}
    w.save(folder / "dist")
    finds(folder / "dist", ("name-import", "rocm_sdk_libraries_gfx94X-dcgpu/__init__.py"), ("name-import", "class.py"),
          ("name-import", "1x/__init__.py"), ("name-import", f"{w.info}/top_level.txt"))


@test
def scripts_without_their_function_are_found(folder):
    info = "rocm_sdk_core-7.0.dist-info/entry_points.txt"
    cases = (
        ("a = rocm_sdk_core._cli:gone", "script-function"),
        ("a = rocm_sdk_core._cli:inner", "script-function"),
        ("a = rocm_sdk_core._cli:amd", "script-function"),
        ("a = rocm_sdk_core.gone:main", "script-module"),
        ("a = rocm_sdk_core._cli", "script-form"),
        ("nonsense", "script-form"),
    )
    for number, (entry, kind) in enumerate(cases):
        w = core(folder)
        w.add("rocm_sdk_core/_cli.py", "def amdclang():\n    def inner():\n        pass\n")
        w.add(info, f"[other]\nx = y\n[console_scripts]\n{entry}\n")
        w.save(folder / str(number))
        finds(folder / str(number), (kind, info))


@test
def functions_are_found_however_they_are_made(folder):
    w = core(folder)
    names = {"one": "def one():\n    pass\n", "two": "async def two(): pass\n", "Three": "class Three:\n    x = 1\n",
             "four": "four = print\n", "five": "a, five = 1, 2\n", "six": "six: int = 3\n",
             "seven": "import os as seven\n", "eight": "from os import (\n    path,\n    sep as eight,\n)\n",
             "nine": "from os import path, nine\n", "ten": "x = ten = 4\n"}
    w.add("rocm_sdk_core/_cli.py", "".join(names.values()))
    w.add("rocm_sdk_core/star.py", "from os import *\n")
    w.add("rocm_sdk_core/lazy.py", "def __getattr__(name):\n    return print\n")
    w.add("rocm_sdk_core/sub/__init__.py", "def main(): pass\n")
    w.add(f"{w.info}/entry_points.txt", "[console_scripts]\n" +
          "".join(f"{n} = rocm_sdk_core._cli:{n}\n" for n in names) +
          "s = rocm_sdk_core.star:x\nl=rocm_sdk_core.lazy:y\nm = rocm_sdk_core.sub:main [extra]\n"
          "t = rocm_sdk_core._cli:Three.x\n")
    w.save(folder / "dist")
    finds(folder / "dist")


@test
def the_sdist_is_looked_at_too(folder):
    sdist(folder, "rocm_sdk.__main__:gone")
    finds(folder, ("script-function", "rocm-7.0/src/rocm.egg-info/entry_points.txt"))
    sdist(folder, version="8.0")
    finds(folder, ("metadata-wrong", "rocm-7.0/PKG-INFO"))


# ---- asking ----

@test
def what_cannot_be_asked_is_an_error(folder):
    for args in ((folder,), (folder / "absent.whl2",), ()):
        done = subprocess.run([PROVE, *map(str, args)], capture_output=True, check=False)
        assert done.returncode == 2 and done.stderr, done
    (folder / "x.whl").symlink_to("nowhere")
    assert prove(folder / "x.whl")[0] == 1


@test
def control_characters_of_names_do_not_reach_a_terminal(folder):
    text = run_anyhow(PROVE, with_member(folder, "../a\x1b[31m\n"))
    assert b"\x1b" not in text and b"\\x1b" in text


if __name__ == "__main__":
    main()
