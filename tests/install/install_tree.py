#!/usr/bin/env python3
"""What `cmake --install` lays down is all there, and works wherever it is moved to."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import traceback

SOURCE = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["ROCKIT"]).resolve().parent
COMPILER = os.environ.get("ROCKIT_CC", "cc")
EXAMPLE = BUILD / "example-inference"
COLLECTORS = ("librockit-opencl.so", "librockit-cupti.so", "librockit-range.so", "librockit-rocm.so")


class Skip(Exception):
    """Raised by a test that cannot be made here, with the reason."""


def clean_env(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCKIT_COLLECT", "OPENCL_"))}
    return {**env, **more}


def run(*argv, env=None, **more):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=300,
                          env=env or clean_env(), stdin=subprocess.DEVNULL, check=False, **more)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


def lib_dir(prefix):
    """Where the build puts libraries: lib, lib64, or with the machine's name below."""
    return next(p.parent for p in prefix.rglob("rockit") if (p / COLLECTORS[1]).exists())


def built_collectors():
    return [c for c in COLLECTORS if (BUILD / c).exists()]


def layer_of(rockit, **env):
    """The OpenCL layer that a run would load."""
    plan = json.loads(run(rockit, "run", "--tool", "opencl", "--dry-run", "--format", "json", "-d",
                          "nowhere", "--", "true", env=clean_env(**env)))
    return pathlib.Path(plan["passes"][0]["env"]["OPENCL_LAYERS"])


def test_everything_is_installed_below_destdir(place, _):
    run("cmake", "--install", BUILD, env=clean_env(DESTDIR=str(place / "root")))
    commands = list((place / "root").rglob("bin/rockit"))
    assert len(commands) == 1, commands
    prefix = commands[0].parents[1]
    lib = lib_dir(prefix)
    wanted = [prefix / "include/rockit" / h.name for h in SOURCE.glob("include/rockit/*.h")]
    wanted += [prefix / "share/man/man1" / m.name for m in SOURCE.glob("docs/man/*.1")]
    wanted += [lib / "rockit" / c for c in built_collectors()]
    wanted += [lib / "librockit.a", lib / "pkgconfig/rockit.pc", prefix / "share/doc/rockit/LICENSE",
               prefix / "share/bash-completion/completions/rockit",
               prefix / "share/zsh/site-functions/_rockit",
               prefix / "share/fish/vendor_completions.d/rockit.fish"]
    missing = [str(w) for w in wanted if not w.exists()]
    assert not missing, missing
    assert len(wanted) > 30, wanted


def test_no_text_names_the_place_it_was_installed_to(_, tree):
    text = [p for p in tree.rglob("*") if p.is_file() and p.suffix in (".pc", ".cmake", ".h", ".md")]
    assert text
    for path in text:
        words = path.read_text()
        assert str(tree) not in words and str(BUILD) not in words, path


def test_a_moved_tree_finds_its_collectors(place, tree):
    moved = place / "else where" / "rk"
    moved.parent.mkdir()
    shutil.move(tree, moved)
    lib = lib_dir(moved)
    assert layer_of(moved / "bin/rockit").resolve() == lib / "rockit" / COLLECTORS[0]
    (place / "link").symlink_to(moved / "bin/rockit")
    assert layer_of(place / "link").resolve() == lib / "rockit" / COLLECTORS[0]
    env = {"PATH": f"{moved}/bin:{os.environ['PATH']}"}
    assert run("rockit", "version", env=clean_env(**env)).startswith("rockit ")


def test_collectors_are_found_in_all_library_folders(place, tree):
    found = lib_dir(tree) / "rockit"
    for folder in ("lib", "lib64", f"lib/{platform.machine()}-linux-gnu"):
        there = place / "tree" / folder / "rockit"
        (place / "tree/bin").mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree / "bin/rockit", place / "tree/bin/rockit")
        shutil.copytree(found, there)
        assert layer_of(place / "tree/bin/rockit").resolve() == there / COLLECTORS[0], folder
        shutil.rmtree(place / "tree")


PROBE = r"""
#include <rockit/doctor.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
	struct rk_doctor_options look = { 0 };
	struct rk_doctor *d = NULL;

	if (rk_doctor_new(&look, &d, NULL) < 0)
		return 1;
	for (size_t i = 0; i < d->nchecks; i++)
		if (!strcmp(d->checks[i].id, "opencl"))
			puts(d->checks[i].text);
	rk_doctor_free(d);
	return 0;
}
"""


def test_the_shared_library_finds_the_collectors_near_it(place, tree):
    """For a program outside the installed tree."""
    moved = place / "moved"
    shutil.move(tree, moved)
    lib = lib_dir(moved)
    (place / "probe.c").write_text(PROBE)
    run(COMPILER, "-I", moved / "include", place / "probe.c", "-o", place / "probe", "-L", lib,
        "-lrockit")
    env = clean_env(LD_LIBRARY_PATH=str(lib))
    absent = "librockit-opencl.so is missing\n"
    assert run(place / "probe", env=env) not in ("", absent)
    (lib / "rockit" / COLLECTORS[0]).unlink()
    assert run(place / "probe", env=env) == absent


def record_example(place, prefix):
    """The bundled program under the collector, by the command of a tree; its kernels."""
    if not EXAMPLE.exists() or not any(pathlib.Path("/etc/OpenCL/vendors").glob("*.icd")):
        raise Skip("no OpenCL here")
    run(prefix / "bin/rockit", "run", "--tool", "opencl", "-d", place / "out", "--", EXAMPLE,
        env=clean_env(HOME=str(place), POCL_CACHE_DIR=str(place / "pocl")))
    report = run(prefix / "bin/rockit", "report", place / "out", "--format", "json")
    return json.loads(report)["kernel_rows"]


def test_a_moved_tree_records_an_opencl_program(place, tree):
    shutil.move(tree, place / "moved")
    assert record_example(place, place / "moved") > 0


def unpacked_tarball(place):
    """The tarball of this release and machine, where there is one."""
    version = run(os.environ["ROCKIT"], "version").split()[1]
    name = f"rockit-{version}-linux-{platform.machine()}"
    tarball = SOURCE / "build/dist" / f"{name}.tar.gz"
    if os.environ.get("ROCKIT_TEST_FULL") != "1" or not tarball.exists():
        raise Skip("for make test-full")
    run("tar", "-C", place, "-xf", tarball)
    return place / name


def test_the_tarball_records_an_opencl_program(place, _):
    assert record_example(place, unpacked_tarball(place)) > 0


def test_programs_are_linked_with_the_tarball_by_pkg_config(place, _):
    """No library of this system is asked for: all is linked in."""
    lib = unpacked_tarball(place) / "lib"
    pc = {"PKG_CONFIG_LIBDIR": str(lib / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "rockit", env=clean_env(**pc)).split()
    (place / "probe.c").write_text(PROBE)
    run(COMPILER, place / "probe.c", "-o", place / "probe", *flags)
    assert run(place / "probe", env=clean_env(LD_LIBRARY_PATH=str(lib)))
    assert not list(lib.glob("*.a")) and not (lib / "pkgconfig/rockit-static.pc").exists()


TESTS = [f for name, f in list(globals().items()) if name.startswith("test_")]


def main():
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    for function in TESTS:
        name, why = function.__name__[5:].replace("_", " "), ""
        with tempfile.TemporaryDirectory(prefix="rockit-install-") as folder:
            place = pathlib.Path(folder).resolve()
            try:
                run("cmake", "--install", BUILD, "--prefix", place / "prefix")
                function(place, place / "prefix")
                verdict = "ok"
            except Skip as skip:
                verdict, why = "skip", f": {skip}"
            except Exception:  # pylint: disable=broad-except
                verdict, why = "FAIL", "\n" + traceback.format_exc()
        counts[verdict] += 1
        print(f"{verdict:4} {name}{why}", flush=True)
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
