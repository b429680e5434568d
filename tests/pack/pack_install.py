"""Packages are installed with pip, used, and uninstalled: they work together and leave nothing."""

import contextlib
import email
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

from libpack import (FAMILIES, FULL, Skip, Venv, artifacts, build, environment, main, pack, packages, run,
                     shared, test)

FAMILY = "gfx94X-dcgpu"
EVERYTHING = "rocm[libraries,devel,profiler]"


def one_family():
    return packages(FAMILY)


@functools.lru_cache(None)
def full():
    """All packages for one family, in an environment that has no setuptools."""
    venv = Venv(shared() / "full")
    with contextlib.suppress(AssertionError):
        venv.pip("uninstall", "-q", "-y", "setuptools")
    venv.before = venv.files()
    venv.install([one_family()], EVERYTHING)
    return venv


def metadata(text):
    """Requirements and extras of a METADATA or PKG-INFO, as sets."""
    fields = email.message_from_string(text)
    spaces = {r.replace(" ", "").replace("'", '"') for r in fields.get_all("Requires-Dist") or []}
    return {"name": fields["Name"], "version": fields["Version"], "python": fields["Requires-Python"],
            "requires": spaces, "extras": set(fields.get_all("Provides-Extra") or [])}


def members(sdist):
    with tarfile.open(sdist) as tar:
        return {m.name.split("/", 1)[1]: tar.extractfile(m).read().decode() for m in tar if m.isreg()}


@test
def pip_alone_installs_the_sdist_and_all_its_extras(_):
    names = full().installed()
    names.pop("pip")
    assert set(names) == {"rocm", "rocm-sdk-core", f"rocm-sdk-libraries-{FAMILY}", "rocm-sdk-devel",
                          "rocm-sdk-profiler"}, names
    assert len(set(names.values())) == 1, names
    full().pip("check")


@test
def the_checks_that_come_with_the_packages_pass(_):
    said = full().start("rocm-sdk", "test")
    assert "\nOK" in said and "NOTE" not in said, said


@test
def the_profilers_answer(_):
    for script in ("rocprofv3", "rocprof-sys-run", "rocprof-compute"):
        assert script in full().start(script, "--help"), script


@test
def programs_of_the_profiler_see_its_libraries_first(folder):
    """rocprof-sys-python starts python3: here one that shows its environment."""
    (folder / "python3").write_text("#!/bin/sh\necho $LD_LIBRARY_PATH\necho $PYTHONPATH\necho $@\n")
    (folder / "python3").chmod(0o755)
    venv = full()
    said = venv.start("rocprof-sys-python", "a b", PATH=f"{folder}:{os.environ['PATH']}",
                      LD_LIBRARY_PATH="/before").splitlines()
    root, core = venv.site / "_rocm_sdk_profiler", venv.site / "_rocm_sdk_core"
    assert said == [f"{root}/lib:{core}/lib/rocm_sysdeps/lib:/before",
                    f"{root}/libexec/rocprofiler-compute", "-m rocprofsys a b"], said


@test
def the_tool_prints_paths_version_and_targets(_):
    venv = full()
    root = venv.site / "_rocm_sdk_devel"
    assert venv.start("rocm-sdk", "path", "--root").strip() == str(root)
    assert venv.start("rocm-sdk", "path", "--bin").strip() == str(root / "bin")
    assert venv.start("rocm-sdk", "path", "--cmake").strip() == str(root / "lib/cmake")
    assert venv.start("rocm-sdk", "version").strip() == venv.installed()["rocm"]
    assert FAMILY in venv.start("rocm-sdk", "targets").strip().split(";")
    assert str(root) in venv.start("rocm-sdk", "init")
    assert venv.start("rocm-sdk", "init", "--quiet") == ""
    for words in ((), ("path",), ("path", "--root", "--bin"), ("nothing",)):
        done = venv.start("rocm-sdk", *words, check=False)
        assert done.returncode == 2 and "usage:" in done.stderr, done


@test
def a_framework_that_was_built_with_rocm_initialises_itself(folder):
    """Its _rocm_init.py comes from `rockit pack rocm-init`."""
    venv = full()
    version = venv.installed()["rocm"]
    done = pack("rocm-init", "--preload", "amd_comgr,amdhip64,hipblas", "--check-version", version)
    assert done.returncode == 0, done.stderr
    (folder / "framework").mkdir()
    (folder / "framework/_rocm_init.py").write_text(done.stdout)
    (folder / "framework/__init__.py").write_text("from . import _rocm_init\n_rocm_init.initialize()\n")
    said = venv.code("import framework, rocm_sdk; print(*rocm_sdk._ALL_CDLLS)", PYTHONPATH=str(folder),
                     PYTHONWARNINGS="error")
    assert said.split() == ["amd_comgr", "amdhip64", "hipblas"], said


@test
def a_link_to_a_program_starts_it_under_its_own_name(_):
    venv = full()
    said = venv.start("amdclang++", "--argv0").strip()
    assert os.path.basename(said) == "amdclang++", said


@test
def uninstalling_leaves_nothing(folder):
    """Unpacked (by four at once) or not: dangling links, odd names, compiled Python files."""
    venv = Venv(folder / "venv")
    for use in (False, True):
        venv.install([one_family()], EVERYTHING)
        if use:
            crowd = [subprocess.Popen([venv.path / "bin/rocm-sdk", "path", "--root"], env=environment(),
                                      stdout=subprocess.PIPE, text=True) for _ in range(4)]
            said = {process.communicate(timeout=60)[0].strip() for process in crowd}
            assert said == {str(venv.site / "_rocm_sdk_devel")}, said
            venv.code("import rocm_sdk; rocm_sdk.preload_libraries('amdhip64')")
            # Its target goes first: what is left to remove is a link to nothing.
            assert (venv.site / "_rocm_sdk_devel/bin/amdclang").is_symlink()
        assert venv.uninstall_all() == [], use


@test
def a_package_that_is_missing_is_named_with_its_extra(folder):
    venv = Venv(folder / "venv")
    venv.install([one_family()], "rocm")
    text = "import rocm_sdk\ntry:\n    rocm_sdk.find_libraries(%s)\n" \
        "except ModuleNotFoundError as e:\n    print(e)"
    version = venv.installed()["rocm"]
    said = venv.code(text % "'amdhip64', 'hipblas', 'rccl'")
    assert f"'rocm[libraries]=={version}'" in said and "'hipblas', 'rccl'" in said, said
    assert "known are: amd_comgr" in venv.code(text % "'cublas'")
    done = venv.start("rocm-sdk", "path", "--root", check=False)
    assert done.returncode == 1 and "rocm[devel]" in done.stderr and not done.stdout, done
    # Console scripts do without the development files.
    assert "clang" in venv.start("amdclang", "--help")
    assert venv.start("hipconfig", "--rocmpath").strip() == str(venv.site / "_rocm_sdk_core")


@test
def the_profiler_can_have_the_other_name(folder):
    dist = packages(FAMILY, "--profiler-name", "rocm-profiler")
    venv = Venv(folder / "venv")
    venv.install([dist], "rocm[profiler]")
    assert set(venv.installed()) >= {"rocm", "rocm-sdk-core", "rocm-profiler"}
    assert (venv.site / "_rocm_profiler/bin").is_dir() and (venv.site / "rocm_profiler").is_dir()
    assert "rocprof-compute" in venv.start("rocprof-compute", "--help")
    if FULL:
        assert "\nOK" in venv.start("rocm-sdk", "test")
    assert venv.uninstall_all() == []


@test
def each_of_several_families_has_its_own_sdist_and_devel(folder):
    dist = packages("legacy")
    for family in FAMILIES["legacy"] if FULL else FAMILIES["legacy"][:1]:
        venv = Venv(folder / family)
        venv.install([dist, dist / family], EVERYTHING)
        assert f"rocm-sdk-libraries-{family}" in venv.installed()
        path = venv.code("import rocm_sdk; print(*rocm_sdk.find_libraries('hipblas'))")
        assert f"_rocm_sdk_libraries_{family.replace('-', '_')}/lib/" in path, path
        assert "\nOK" in venv.start("rocm-sdk", "test")
        shared_file = venv.site / "_rocm_sdk_devel/lib" / os.path.basename(path.strip())
        assert shared_file.samefile(path.strip())


@test
def device_packages_come_and_go_beside_the_libraries(folder):
    dist = packages("kpack")
    venv = Venv(folder / "venv")
    venv.install([dist], "rocm[libraries,device,devel]", ROCM_SDK_TARGET_FAMILY="gfx942")
    assert "rocm-sdk-device-gfx942" in venv.installed()
    assert "rocm-sdk-device-gfx1100" not in venv.installed()
    assert "\nOK" in venv.start("rocm-sdk", "test", ROCM_SDK_TARGET_FAMILY="gfx942")
    tree = venv.site / "_rocm_sdk_devel"
    count = lambda: sum("gfx942" in str(p) for p in tree.rglob("*"))
    assert count() > 10
    venv.install([dist], "rocm[device-all]")
    venv.start("rocm-sdk", "init")
    assert any("gfx1100" in str(p) for p in tree.rglob("*"))
    venv.pip("uninstall", "-q", "-y", "rocm-sdk-device-gfx942")
    assert count() == 0 and any("gfx1100" in str(p) for p in tree.rglob("*"))
    venv.code("import rocm_sdk; rocm_sdk.preload_libraries('hipblas')")
    # Those that share a folder, in either order: nothing is left of it.
    venv.pip("uninstall", "-q", "-y", "rocm-sdk-libraries")
    assert venv.uninstall_all() == []


@test
def a_family_that_is_not_there_is_refused_on_installing(folder):
    venv = Venv(folder / "venv")
    try:
        venv.install([one_family()], "rocm", ROCM_SDK_TARGET_FAMILY="gfx000")
    except AssertionError as e:
        assert "gfx000" in str(e) and FAMILY in str(e), e
    else:
        raise AssertionError("it was installed")


@test
def a_set_without_any_gpu_family_is_installed_all_the_same(folder):
    """Core, devel and profiler alone: no family to choose, no extras for one."""
    tree = folder / "artifacts"
    shutil.copytree(artifacts(), tree, symlinks=True, copy_function=os.link,
                    ignore=shutil.ignore_patterns("*_gfx*"))
    dist = build(tree, folder / "out", "--level", "1")
    venv = Venv(folder / "venv")
    venv.install([dist], "rocm[devel,profiler]", ROCM_SDK_TARGET_FAMILY="gfx942")
    info = metadata((next(venv.site.glob("rocm-*.dist-info")) / "METADATA").read_text())
    assert metadata(members(next(dist.glob("rocm-*.tar.gz")))["PKG-INFO"]) == info
    assert info["extras"] == {"devel", "profiler"}, info
    assert "rocprof-compute" in venv.start("rocprof-compute", "--help")
    said = venv.code("import rocm_sdk\ntry:\n    rocm_sdk.find_libraries('hipblas')\n"
                     "except ModuleNotFoundError as e:\n    print(e)")
    assert "no installed ROCm package has 'hipblas'" in said, said
    assert "\nOK" in venv.start("rocm-sdk", "test")


@test
def what_the_sdist_says_is_what_is_installed(_):
    sdist = members(next(one_family().glob("rocm-*.tar.gz")))
    info = next(full().site.glob("rocm-*.dist-info"))
    installed = metadata((info / "METADATA").read_text())
    assert metadata(sdist["PKG-INFO"]) == installed
    assert sdist["PKG-INFO"] == sdist["src/rocm.egg-info/PKG-INFO"]
    # With more static metadata installers would not ask setup.py for the family.
    assert email.message_from_string(sdist["PKG-INFO"])["Metadata-Version"] == "2.1"
    assert set(sdist) >= {"MANIFEST.in", "README.md", "pyproject.toml", "setup.cfg", "setup.py"}


@test
def setuptools_makes_the_same_of_the_sdist(folder):
    try:
        import setuptools  # noqa: F401, pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        raise Skip("no setuptools here") from None
    with tarfile.open(next(one_family().glob("rocm-*.tar.gz"))) as tar:
        tar.extractall(folder)
    root = next(folder.iterdir())
    names = ("requires.txt", "entry_points.txt", "top_level.txt")
    before = {name: (root / "src/rocm.egg-info" / name).read_text().split() for name in names}
    info = metadata((root / "PKG-INFO").read_text())
    run(sys.executable, "setup.py", "-q", "egg_info", cwd=root, env=environment())
    assert {n: (root / "src/rocm.egg-info" / n).read_text().split() for n in names} == before
    made = metadata((root / "src/rocm.egg-info/PKG-INFO").read_text())
    assert (made["name"], made["version"]) == (info["name"], info["version"])


@test
def pip_installs_from_an_index_that_was_made_here(folder):
    """PEP 503 pages; pip checks the hashes it finds there."""
    dist = folder / "dist"
    dist.mkdir()
    for file in one_family().iterdir():
        os.link(file, dist / file.name)
    done = pack("index", dist)
    assert done.returncode == 0, done.stderr
    venv = Venv(folder / "venv")
    run(venv.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-cache-dir",
        "--index-url", (dist / "simple").as_uri(), "rocm[profiler]", env=environment())
    assert "rocm-sdk-profiler" in venv.installed()
    pages = json.dumps([p.read_text() for p in pathlib.Path(dist, "simple").rglob("index.html")])
    assert "#sha256=" in pages


if __name__ == "__main__":
    main()
