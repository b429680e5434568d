"""`rockit pack build`: the same input, the same bytes; packages that others accept; errors that say
which file; and nothing half-written, whatever happens."""

import contextlib
import ctypes
import functools
import hashlib
import io
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile

from libpack import (FULL, ROCKIT, Skip, archived, artifacts, build, environment, main, need, pack,
                     packages, run, shared, test)

STAGE = "base/aux-overlay/stage"


def files(top):
    """Path below top -> sha256."""
    return {str(p.relative_to(top)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(pathlib.Path(top).rglob("*")) if p.is_file()}


def copy_in_another_order(tree, to):
    """The same artifacts, made last first, with other times and without write permission."""
    for path in sorted(tree.rglob("*"), reverse=True):
        there = to / path.relative_to(tree)
        there.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            os.symlink(os.readlink(path), there)
        elif path.is_dir():
            there.mkdir(exist_ok=True)
        else:
            shutil.copyfile(path, there)
            there.chmod(path.stat().st_mode & 0o7777)
            os.utime(there, (1e9, 1e9))
    return to


@functools.lru_cache(None)
def small():
    """The base artifacts and a profiler: enough for every kind of package but libraries."""
    tree = shared() / "small"
    for name in ("base_lib_generic", "base_run_generic", "base_dev_generic", "sysdeps_lib_generic",
                 "rocprofiler-systems_lib_generic", "rocprofiler-systems_run_generic",
                 "rocprofiler-compute_lib_generic", "rocprofiler-compute_run_generic"):
        shutil.copytree(artifacts() / name, tree / name, symlinks=True)
    return tree


def own(folder):
    return pathlib.Path(shutil.copytree(small(), folder / "artifacts", symlinks=True))


def archive(tree, name, members=None):
    """An artifact as an archive, of members (name, content or TarInfo) or of what the folder holds."""
    with tarfile.open(tree / f"{name}.tar.xz", "w:xz", preset=0) as tar:
        for member, data in members or ():
            info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
            if info.isreg():
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return tree / f"{name}.tar.xz"


def failed(done, *words, status=1):
    """It said so in one line that holds these words, warnings apart. Misuse has status 2."""
    errors = [line for line in done.stderr.splitlines() if ": warning: " not in line]
    assert done.returncode == status, done
    assert len(errors) == 1 and all(word in errors[0] for word in words), (words, done.stderr)


def refused(tree, folder, *words, **how):
    """... and nothing is made."""
    done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / "out", **how)
    failed(done, *words)
    made = [p for p in (folder / "out").rglob("*") if p.is_file()]
    assert not made, made
    return done


@test
def two_runs_give_the_same_bytes_whatever_differs(folder):
    """Order and times of the files, time zone, umask, threads, locale."""
    for mode in ("legacy", "kpack"):
        first = build(artifacts(mode), folder / mode, "--jobs", "1", env=environment(TZ="Pacific/Apia"))
        tree = copy_in_another_order(artifacts(mode), folder / f"{mode}-copy")
        before = os.umask(0o077)
        try:
            second = build(tree, folder / f"{mode}-2", "--jobs", "3", env=environment(
                TZ="America/New_York", LC_ALL="C"))
        finally:
            os.umask(before)
        assert files(first) == files(second)
        assert len(files(first)) >= 7


@test
def archives_give_the_same_bytes_as_folders(folder):
    expected = files(build(artifacts("legacy"), folder / "folders", "--level", "1"))
    for how in ("xz", "zst"):
        if how == "zst":
            need("zstd")
        tree = archived(artifacts("legacy"), folder / f"archives-{how}", how)
        assert files(build(tree, folder / how, "--level", "1")) == expected, how


@test
def python_reads_every_member_and_record_names_it(_):
    for mode in ("legacy", "kpack"):
        wheels = sorted(packages(mode).rglob("*.whl"))
        assert wheels
        for path in wheels:
            with zipfile.ZipFile(path) as wheel:
                assert wheel.testzip() is None
                names = wheel.namelist()
                assert len(names) == len(set(names)) and names[-1].endswith(".dist-info/RECORD")
                for info in wheel.infolist():
                    kind = info.external_attr >> 28
                    assert kind in (0o10, 0), (path, info.filename, oct(info.external_attr))


@test
def twine_accepts_all_packages(_):
    twine = pathlib.Path(sys.executable).parent / "twine"
    if not twine.exists():
        raise Skip("no twine here")
    for mode in ("legacy", "kpack"):
        paths = [p for p in packages(mode).rglob("*") if p.suffix in (".whl", ".gz")]
        run(twine, "check", "--strict", *paths, env=environment())


# W001: the artifacts have a .pyc among them. W002: a wheel cannot hold links, so what they lead to is
# there twice. W004: Python files of ROCm's own folders are not for import. W009: the platform folder
# and the Python package are two top levels by design. W008 and W010: a device package has neither.
IGNORED = "W001,W002,W004,W008,W009,W010"


@test
def check_wheel_contents_accepts_all_wheels(_):
    program = pathlib.Path(sys.executable).parent / "check-wheel-contents"
    if not program.exists():
        raise Skip("no check-wheel-contents here")
    for mode in ("legacy", "kpack"):
        run(program, "--ignore", IGNORED, *packages(mode).rglob("*.whl"), env=environment())


@test
def the_packages_prove_to_be_closed(folder):
    """`rockit pack verify`: every NEEDED, link, script and RECORD line holds; and not when one wheel is
    missing or a byte is changed."""
    dist = packages("gfx94X-dcgpu")
    done = pack("verify", dist)
    assert done.returncode == 0, done.stdout + done.stderr
    for path in dist.glob("rocm_sdk_profiler*.whl"):
        shutil.copy(path, folder)
    done = pack("verify", folder)
    assert done.returncode == 1 and "librocprofiler-sdk.so.1" in done.stdout + done.stderr, done
    path = next(folder.glob("*.whl"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xff
    path.write_bytes(data)
    assert pack("verify", dist / next(dist.glob("rocm_sdk_core*.whl")).name, path).returncode == 1


@test
def a_library_that_can_be_started_is_packed_as_a_library(folder):
    """libcap has an interpreter; its linker names are links to libraries of another stem."""
    dist = packages("gfx94X-dcgpu")
    place = "lib/rocm_sysdeps/lib"
    with zipfile.ZipFile(next(dist.glob("rocm_sdk_core-*.whl"))) as wheel:
        names = set(wheel.namelist())
        for stem in ("cap", "psx"):
            path = f"_rocm_sdk_core/{place}/librocm_sysdeps_{stem}.so.2"
            assert path in names and f"_rocm_sdk_core/{place}/lib{stem}.so" not in names, stem
            ctypes.CDLL(wheel.extract(path, folder))
    with zipfile.ZipFile(next(dist.glob("rocm_sdk_devel-*.whl"))) as wheel:
        inner = next(n for n in wheel.namelist() if "/_devel.tar" in n)
        with tarfile.open(fileobj=io.BytesIO(wheel.read(inner))) as tar:
            links = {m.name.partition("/")[2]: m.linkname for m in tar if m.issym()}
    assert links[f"{place}/libcap.so"] == "librocm_sysdeps_cap.so.2", links
    assert links[f"{place}/libpsx.so"] == "librocm_sysdeps_psx.so.2", links


@test
def the_profiler_has_the_extra_and_the_python_package_of_upstream(folder):
    """compute-analyze requires the lines of rocprof-compute's file; the trace decoder's Python package,
    which is an artifact of rocprofiler-sdk, can be imported."""
    tree = own(folder)
    stage = next(tree.glob("rocprofiler-compute_*/**/libexec/rocprofiler-compute"))
    (stage / "requirements.txt").write_text(
        "# analysis\n\n-r other.txt\nnumpy>=1.17.5  # arrays\n  pandas>=1.4.3;python_version<'4'\r\n"
        "./not/a/package\nname\x01\n", encoding="utf-8")
    artifact = tree / "rocprofiler-sdk_lib_generic"
    stage = artifact / "profiler/rocprof-trace-decoder/stage"
    for name in ("__init__.py", "codegen/__init__.py", "data/table.json"):
        path = stage / "lib/python3/site-packages/rocprof_trace_decoder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("VALUE = 42\n", encoding="utf-8")
    (artifact / "artifact_manifest.txt").write_text("profiler/rocprof-trace-decoder/stage\n", encoding="utf-8")
    done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / "out")
    assert done.returncode == 0, done.stderr
    assert "requirements.txt' has a line that is not a requirement of a package" in done.stderr, done.stderr
    core, profiler = (next((folder / "out/dist").glob(f"rocm_sdk_{n}-*.whl")) for n in ("core", "profiler"))
    with zipfile.ZipFile(profiler) as wheel:
        info = {n.partition("/")[2]: wheel.read(n).decode() for n in wheel.namelist() if ".dist-info/" in n}
        assert "_rocm_sdk_profiler/lib/python3/site-packages/rocprof_trace_decoder/__init__.py" in wheel.namelist()
        wheel.extractall(folder / "site")
    assert [line for line in info["METADATA"].splitlines() if line.startswith(("Provides", "Requires-Dist"))] == [
        "Requires-Dist: pyelftools>=0.31", "Provides-Extra: compute-analyze",
        'Requires-Dist: numpy>=1.17.5; extra == "compute-analyze"',
        "Requires-Dist: pandas>=1.4.3; (python_version<'4') and extra == \"compute-analyze\""], info["METADATA"]
    assert info["top_level.txt"].split() == ["_rocm_sdk_profiler", "rocm_sdk_profiler", "rocprof_trace_decoder"]
    assert (folder / "site/rocprof_trace_decoder/data/table.json").exists()
    run(sys.executable, "-c", "from rocprof_trace_decoder.codegen import VALUE; assert VALUE == 42",
        env=dict(os.environ, PYTHONPATH=str(folder / "site")))
    with zipfile.ZipFile(core) as wheel:
        assert not [n for n in wheel.namelist() if "trace_decoder" in n or "roc-obj" in n]
    assert "trace_decoder" not in pack("verify", folder / "out/dist").stdout


@test
def a_dry_run_writes_nothing_and_names_every_file(folder):
    out = folder / "out"
    done = pack("build", "--artifact-dir", small(), "--dest-dir", out, "--dry-run")
    assert done.returncode == 0 and not out.exists(), done.stderr
    for words in ("rocm_sdk_core-", "_rocm_sdk_core/lib/librocm-core.so.1", "rocm_sdk_profiler-",
                  "_rocm_sdk_profiler/bin/rocprof-compute", "rocm_sdk_devel-", "setup.py"):
        assert words in done.stdout, words


@test
def a_profiler_that_is_missing_is_named_by_build_and_verify(folder):
    tree = own(folder)
    for path in tree.glob("rocprofiler-compute_*"):
        shutil.rmtree(path)
    for more in ((), ("--dry-run",), ("--profiler-name", "rocm-profiler")):
        done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / "out", *more)
        assert done.returncode == 0, done.stderr
        assert "made without rocprof-compute: no artifact has its program" in done.stderr, done.stderr
    for name in ("rocm_sdk_profiler", "rocm_profiler"):
        path = next((folder / "out/dist").glob(f"{name}-*.whl"))
        with zipfile.ZipFile(path) as wheel:
            text = next(wheel.read(n).decode() for n in wheel.namelist() if n.endswith("/METADATA"))
        assert text.endswith("\n\nThis build is without `rocprof-compute`.\n"), text
        assert "made without rocprof-compute [script-absent, note]" in pack("verify", path).stdout
    assert "rocprof-compute" not in pack("verify", packages("gfx94X-dcgpu")).stdout


@test
def files_that_get_into_no_package_are_reported(folder):
    tree = own(folder)
    shutil.copytree(artifacts() / "rdc_lib_generic", tree / "rdc_lib_generic", symlinks=True)
    stage = next(tree.glob("rocprofiler-systems_run_generic/**/stage"))
    for name in ("bin/omnitrace-run", "etc/rocprof-sys.cfg"):
        (stage / name).parent.mkdir(exist_ok=True)
        (stage / name).write_text("x")
    plan = "build", "--artifact-dir", tree, "--dry-run"
    left = pack(*plan).stdout.split("\nleft out:\n")[1]
    assert "  rdc_lib_generic: whole artifact; no package uses 'rdc'\n" in left, left
    assert "  rocprofiler-systems_run_generic: 2 files; no package uses files of this name\n" in left, left
    assert "omnitrace" not in left
    assert "rocprofiler-systems_run_generic: bin/omnitrace-run; no" in pack(*plan, "-v").stdout
    listed = json.loads(pack(*plan, "--format", "json").stdout)["left_out"]
    assert {"artifact": "rocprofiler-systems_run_generic", "path": "etc/rocprof-sys.cfg",
            "reason": "no package uses files of this name"} in listed, listed
    make = "build", "--artifact-dir", tree, "--dest-dir", folder / "out"
    assert "left out: 1 artifact, 2 files of others" in pack(*make).stdout
    assert "left out: rdc_lib_generic; no package uses 'rdc'\n" in pack(*make, "-v").stdout
    assert pack(*make, "-q").stdout == ""
    (tree / "rdc_lib_generic").rename(tree / "ev\x1b[31mil_lib_generic")
    assert "\x1b" not in pack(*plan).stdout + pack(*plan, "-v").stdout
    shutil.rmtree(tree / "ev\x1b[31mil_lib_generic")
    assert "\nleft out: 2 files ('-v' names them)\n" in pack(*make).stdout


@test
def the_required_manifest_is_asked_for(folder):
    tree = own(folder)
    (tree / f"base_lib_generic/{STAGE}/share/therock/therock_manifest.json").unlink()
    refused(tree, folder, "therock_manifest.json")
    (tree / f"base_lib_generic/{STAGE}/share/therock/therock_manifest.json").write_text("{not json")
    refused(tree, folder, "therock_manifest.json")


@test
def an_artifact_without_manifest_is_left_out_with_a_warning(folder):
    tree = own(folder)
    (tree / "sysdeps_lib_generic/artifact_manifest.txt").unlink()
    done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / "out")
    assert done.returncode == 0 and "sysdeps_lib_generic" in done.stderr, done


@test
def an_unknown_component_is_named(folder):
    tree = own(folder)
    (tree / "base_unknown_generic").mkdir()
    (tree / "base_unknown_generic/artifact_manifest.txt").write_text("base/x/stage\n")
    refused(tree, folder, "'unknown'", "base_unknown_generic")


@test
def names_of_another_form_are_left_out(folder):
    tree = own(folder)
    (tree / "README").write_text("no artifact\n")
    (tree / "no-artifact").mkdir()
    build(tree, folder / "out")


@test
def a_broken_library_is_named(folder):
    tree = own(folder)
    path = next(tree.glob("base_lib_generic/**/librocm-core.so.1.0.0"))
    data = path.read_bytes()
    for broken in (data[:100], data[:len(data) // 2], data[:24] + b"\xff" * 40 + data[64:]):
        path.write_bytes(broken)
        refused(tree, folder, "librocm-core.so.1.0.0")


@test
def a_broken_developer_file_does_not_change_the_platform_tag(folder):
    tree = own(folder)
    stage = next(tree.glob("base_dev_generic/**/stage"))
    (stage / "broken.so").write_bytes(b"\x7fELF\2\1\1" + b"\xff" * 20)
    done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / "out", "--platform-tag",
                "manylinux_2_99_" + os.uname().machine)
    assert done.returncode == 0 and "broken.so" in done.stderr, done


@test
def links_that_lead_out_or_nowhere_take_nothing_along(folder):
    """Dangling and looping links are left out; a file of this machine never gets into a package."""
    tree = own(folder)
    stage = tree / "base_lib_generic" / STAGE
    secret = folder / "secret"
    secret.write_text("do not pack this")
    for name, target in (("share/dangling", "nowhere"), ("share/loop", "loop"), ("share/a", "b"),
                         ("share/b", "a"), ("share/absolute", str(secret)),
                         ("share/up", "../" * 12 + str(secret).lstrip("/"))):
        os.symlink(target, stage / name)
    done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / "out")
    if done.returncode:
        assert done.returncode == 1 and ("share/absolute" in done.stderr or "share/up" in done.stderr), done
        (stage / "share/absolute").unlink()
        (stage / "share/up").unlink()
        done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / "out")
    assert done.returncode == 0, done.stderr
    for path in (folder / "out").rglob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                assert b"do not pack this" not in wheel.read(name), name


@test
def odd_names_get_through_or_are_named(folder):
    for number, name in enumerate((b"comma,name", b'quote"d', b"two\nlines", b"not\xffutf8", b" blank ")):
        (folder / str(number)).mkdir()
        tree = own(folder / str(number))
        path = os.fsencode(tree / "base_lib_generic" / STAGE / "share") + b"/" + name
        with open(path, "wb") as f:
            f.write(b"odd\n")
        done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / str(number) / "out")
        if done.returncode:
            failed(done, "base_lib_generic")
            assert name in (b"two\nlines", b"not\xffutf8"), done
            continue
        core = next((folder / str(number) / "out").rglob("rocm_sdk_core*.whl"))
        with zipfile.ZipFile(core) as wheel:
            assert any(n.endswith("share/" + name.decode()) for n in wheel.namelist()), name


@test
def archives_that_lead_elsewhere_are_refused(folder):
    link = tarfile.TarInfo("a/stage/lib")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    pipe = tarfile.TarInfo("a/stage/pipe")
    pipe.type = tarfile.FIFOTYPE
    hard = tarfile.TarInfo("a/stage/hard")
    hard.type, hard.linkname = tarfile.LNKTYPE, "../../etc/passwd"
    manifest = ("artifact_manifest.txt", b"a/stage\n")
    cases = {
        "escape": [manifest, ("a/stage/../../../x", b"x")],
        "absolute": [manifest, ("/a/stage/x", b"x")],
        "outside": [manifest, ("b/stage/x", b"x")],
        "fifo": [manifest, (pipe, b"")],
        "hardlink": [manifest, (hard, b"")],
        "through": [manifest, (link, b""), ("a/stage/lib/x", b"x")],
        "twice": [manifest, ("a/stage/x", b"x"), ("a/stage/x", b"y")],
        "late": [("a/stage/x", b"x"), manifest],
        "manifest": [("artifact_manifest.txt", b"../../etc\n")],
    }
    for name, members in cases.items():
        (folder / name).mkdir()
        tree = own(folder / name)
        archive(tree, "rocgdb_lib_generic", members)
        refused(tree, folder / name, "rocgdb_lib_generic")


@test
def a_damaged_archive_is_named(folder):
    tree = own(folder)
    path = archive(tree, "rocgdb_lib_generic", [("artifact_manifest.txt", b"a/stage\n"),
                                               ("a/stage/lib/x", os.urandom(100000))])
    data = path.read_bytes()
    for damaged in (data[:len(data) // 2], b"", b"no archive\n", data[:-40] + b"\0" * 40):
        path.write_bytes(damaged)
        refused(tree, folder, "rocgdb_lib_generic.tar.xz")
    path.write_bytes(data)
    shutil.copytree(tree / "sysdeps_lib_generic", tree / "rocgdb_lib_generic", symlinks=True)
    refused(tree, folder, "rocgdb_lib_generic")


@test
def wrong_options_are_refused_in_one_line(folder):
    good = ("--artifact-dir", small(), "--dest-dir", folder / "out")
    for words in (("--version", "not a version"), ("--profiler-name", "a/b"), ("--level", "99"),
                  ("--target-families", "gfx000"), ("--platform-tag", "manylinux_2_1_x86_64"),
                  ("--platform-tag", "no tag!"), ("--jobs", "-1"), ("--devel-compression", "lzip")):
        done = pack("build", *good, *words)
        failed(done, status=2)
        assert not (folder / "out").exists() or not list((folder / "out").rglob("*.whl")), words
    done = pack("build", "--artifact-dir", folder / "none", "--dest-dir", folder / "out")
    failed(done, "none")


def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


@test
def a_file_that_may_not_grow_leaves_nothing_half_written(folder):
    tree = artifacts("legacy")
    done = pack("build", "--artifact-dir", tree, "--dest-dir", folder / "out", preexec_fn=limited)
    failed(done, ".whl", "File too large")
    for path in (folder / "out").rglob("*"):
        assert path.is_dir() or whole(path), path


@test
def a_full_disk_leaves_nothing_half_written(folder):
    disk = folder / "disk"
    disk.mkdir()
    try:
        run("mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", disk)
    except (AssertionError, FileNotFoundError):
        raise Skip("no file system can be mounted here") from None
    try:
        done = pack("build", "--artifact-dir", artifacts("legacy"), "--dest-dir", disk / "out")
        failed(done, ".whl", "No space left")
        for path in disk.rglob("*"):
            assert path.is_dir() or whole(path), path
    finally:
        run("umount", disk)


def whole(path):
    """Is it a package that can be read from end to end?"""
    if path.suffix == ".whl":
        with contextlib.suppress(zipfile.BadZipFile):
            with zipfile.ZipFile(path) as wheel:
                return wheel.testzip() is None
    if path.name.endswith(".tar.gz"):
        with contextlib.suppress(tarfile.TarError, EOFError):
            with tarfile.open(path) as tar:
                return len(tar.getnames()) > 5
    return False


@test
def killed_half_way_it_leaves_whole_packages_and_nothing_elsewhere(folder):
    """At several moments; temporary files are nowhere to be seen, in the destination or elsewhere."""
    started = time.monotonic()
    build(artifacts("legacy"), folder / "whole")
    took = time.monotonic() - started
    killed = 0
    for number in range(20 if FULL else 6):
        place = folder / str(number)
        temp = place / "tmp"
        temp.mkdir(parents=True)
        process = subprocess.Popen([ROCKIT, "pack", "build", "--artifact-dir", artifacts("legacy"),
                                    "--dest-dir", place / "out"], cwd=place, stderr=subprocess.DEVNULL,
                                   env=environment(TMPDIR=str(temp), HOME=str(place)))
        time.sleep(took * (number + 1) / (21 if FULL else 7))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        for path in place.rglob("*"):
            if path.is_file():
                assert place / "out" in path.parents and whole(path), path
        assert not list(temp.iterdir())
        again = build(artifacts("legacy"), place / "out")
        assert files(again) == files(folder / "whole/dist")
    assert killed


@test
def a_signal_stops_it_with_nothing_half_written(folder):
    process = subprocess.Popen([ROCKIT, "pack", "build", "--artifact-dir", artifacts("legacy"),
                                "--dest-dir", folder / "out"], stderr=subprocess.PIPE,
                               env=environment())
    time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    for path in (folder / "out").rglob("*"):
        assert path.is_dir() or whole(path), path


@test
def nothing_is_written_outside_the_destination(folder):
    """Not beside the artifacts, not in the current folder, not in /tmp."""
    (folder / "cwd").mkdir()
    (folder / "tmp").mkdir()
    tree = own(folder)
    before = {p: p.lstat().st_mtime_ns for p in tree.rglob("*")}
    build(tree, folder / "out", cwd=folder / "cwd", env=environment(TMPDIR=str(folder / "tmp")))
    assert before == {p: p.lstat().st_mtime_ns for p in tree.rglob("*")}
    assert not list((folder / "cwd").iterdir()) and not list((folder / "tmp").iterdir())
    assert [p.name for p in (folder / "out").iterdir()] == ["dist"]


@test
def a_link_in_the_destination_is_not_followed(folder):
    (folder / "elsewhere").mkdir()
    (folder / "out").mkdir()
    (folder / "out/dist").symlink_to(folder / "elsewhere")
    done = pack("build", "--artifact-dir", small(), "--dest-dir", folder / "out")
    failed(done, "out/dist", "is a symbolic link", "--dest-dir", status=2)
    assert list((folder / "elsewhere").iterdir()) == []


@test
def a_version_in_another_spelling_is_made_normal(folder):
    dist = build(small(), folder / "out", "--version", "7.0.0-RC1")
    assert (dist / "rocm-7.0.0rc1.tar.gz").exists(), list(dist.iterdir())


if __name__ == "__main__":
    main()
