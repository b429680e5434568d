"""The development files are unpacked: once, by one of many, again after a crash, and never elsewhere.

Uses the Python that goes into packages, in a site folder made by hand.
"""

import csv
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import time

from libpack import TEMPLATES, Skip, environment, main, run, test

VERSION = "7.0"
TOP = "_rocm_sdk_devel"
LIBRARY = b"library\n" * 1000


def fill(text):
    for name, value in (("VERSION", VERSION), ("PROFILER_DIST", "rocm-sdk-profiler"),
                        ("PROFILER_MODULE", "rocm_sdk_profiler"), ("PLATFORM", TOP),
                        ("DIST", "rocm-sdk-devel"), ("MODULE", "rocm_sdk_devel")):
        text = text.replace(f"@{name}@", value)
    return text


class Site:
    """A site folder with `rocm`, a core package, and rocm-sdk-devel with the members of a list."""

    def __init__(self, path, members, kpack=False):
        self.path = path
        shutil.copytree(TEMPLATES / "meta/src/rocm_sdk", path / "rocm_sdk")
        shutil.copytree(TEMPLATES / "devel", path / "rocm_sdk_devel")
        tail = [f"__version__ = {VERSION!r}", "DEFAULT_TARGET_FAMILY = 'gfx942'",
                "AVAILABLE_TARGET_FAMILIES.append('gfx942')"]
        if kpack:
            tail.append("ALL_PACKAGES['libraries'].dist_package_template = 'rocm-sdk-libraries'")
        info = fill((TEMPLATES / "_dist_info.py").read_text()) + "\n".join(tail) + "\n"
        for name in ("rocm_sdk", "rocm_sdk_devel"):
            (path / name / "_dist_info.py").write_text(info)
        self.write("_rocm_sdk_core/lib/libx.so.1", LIBRARY)
        self.write("_rocm_sdk_core/bin/tool", b"tool\n", 0o755)
        self.archive = path / "rocm_sdk_devel/_devel.tar"
        write_tar(self.archive, members)
        self.tree = path / TOP
        self.record = path / f"rocm_sdk_devel-{VERSION}.dist-info/RECORD"
        self.record.parent.mkdir()
        self.record.write_text("rocm_sdk_devel/_devel.tar,sha256=x,1\nother,,\n")

    def write(self, name, data, mode=0o644):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)
        return file

    def command(self, *args):
        return [sys.executable, "-m", "rocm_sdk", *(args or ("init", "--quiet"))]

    def env(self):
        return environment(PYTHONPATH=str(self.path), PYTHONDONTWRITEBYTECODE="1")

    def tool(self, *args, **how):
        return subprocess.run(self.command(*args), env=self.env(), capture_output=True, text=True,
                              check=False, **how)

    def expand(self):
        done = self.tool()
        assert done.returncode == 0, done.stderr

    def refuses(self, *words):
        """Nothing is made, and one line says why."""
        before = self.names()
        done = self.tool()
        assert done.returncode == 1, done
        lines = done.stderr.splitlines()
        assert len(lines) == 2 and all(line.startswith("ERROR: ") for line in lines), done.stderr
        assert all(word in lines[1] for word in words), (words, lines)
        assert self.archive.exists() and not self.tree.exists()
        assert self.names() == before

    def names(self):
        return {str(p.relative_to(self.path)) for p in self.path.rglob("*")}

    def rows(self, dist="rocm_sdk_devel"):
        text = (self.path / f"{dist}-{VERSION}.dist-info/RECORD").read_text(encoding="utf-8")
        return list(csv.reader(io.StringIO(text, newline="")))

    def state(self):
        """What the tree is: kind, mode, link text or content, and what shares its inode."""
        found = {}
        for path in self.tree.rglob("*"):
            name = str(path.relative_to(self.tree))
            if path.is_symlink():
                found[name] = "link", os.readlink(path)
            elif path.is_dir():
                found[name] = ("folder",)
            else:
                found[name] = "file", path.stat().st_mode & 0o777, path.read_bytes(), path.stat().st_nlink
        return found


def member(name, data=None, link=None, mode=0o644, kind=None):
    info = tarfile.TarInfo(name)
    info.mode = mode
    if kind or link is not None or data is None:
        info.type = kind or (tarfile.SYMTYPE if link is not None else tarfile.DIRTYPE)
        info.linkname = link or ""
        return info, b""
    info.size = len(data)
    return info, data


def write_tar(path, members):
    with tarfile.open(path, "w") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))


def usual():
    """Files, folders, links to files of other packages, to each other, to folders, to nothing."""
    return [member(f"{TOP}/__init__.py", b""), member(f"{TOP}/include", mode=0o755),
            member(f"{TOP}/include/x.h", b"int x;\n"), member(f"{TOP}/bin/own", b"own\n", mode=0o4755),
            member(f"{TOP}/lib/libx.so.1", link="../../_rocm_sdk_core/lib/libx.so.1"),
            member(f"{TOP}/lib/libx.so", link="libx.so.1"), member(f"{TOP}/lib/z.so", link="libx.so"),
            member(f"{TOP}/bin/tool", link="../../_rocm_sdk_core/bin/tool"),
            member(f"{TOP}/bin/amdclang", link="../../_rocm_sdk_core/bin/tool"),
            member(f"{TOP}/hip", link="include"), member(f"{TOP}/gone", link="nowhere/at/all"),
            member(f"{TOP}/loop", link="loop"), member(f"{TOP}/a,b \"c\".h", b"comma\n"),
            member(f"{TOP}/two\nlines.h", b"newline\n"), member(f"{TOP}/\u00e9.h", b"accent\n"),
            member(f"{TOP}/\udcff.h", b"not UTF-8\n")]


@test
def links_to_files_become_these_files_and_others_stay(folder):
    site = Site(folder / "site", usual())
    site.expand()
    library = site.path / "_rocm_sdk_core/lib/libx.so.1"
    for name in ("lib/libx.so.1", "lib/libx.so", "lib/z.so"):
        assert not (site.tree / name).is_symlink() and (site.tree / name).samefile(library), name
    assert (site.tree / "bin/tool").stat().st_mode & 0o777 == 0o755
    assert os.readlink(site.tree / "bin/amdclang") == "../../_rocm_sdk_core/bin/tool"
    assert os.readlink(site.tree / "hip") == "include" and (site.tree / "hip/x.h").exists()
    assert os.readlink(site.tree / "gone") == "nowhere/at/all"
    assert (site.tree / "bin/own").stat().st_mode & 0o7777 == 0o755
    assert not site.archive.exists()


@test
def the_order_of_the_archive_makes_no_difference(folder):
    states = []
    for number, members in enumerate((usual(), usual()[::-1], sorted(usual(), key=lambda m: m[0].name))):
        site = Site(folder / str(number), members)
        site.expand()
        states.append(site.state())
    assert states[0] == states[1] == states[2]


@test
def record_is_csv_that_names_everything_once(folder):
    site = Site(folder / "site", usual())
    site.expand()
    names = [row[0] for row in site.rows()]
    assert len(names) == len(set(names)) and all(len(row) == 3 for row in site.rows())
    assert "other" in names and TOP in names and f'{TOP}/a,b "c".h' in names and f"{TOP}/\u00e9.h" in names
    # A file name with a line end, or one that is not text, is removed with the folder.
    assert not any("\n" in name or "udcff" in ascii(name) for name in names)
    assert not any(name.endswith((".partial", ".tar")) for name in names)


@test
def a_second_time_changes_nothing(folder):
    site = Site(folder / "site", usual())
    site.expand()
    before = site.state(), site.record.read_bytes(), site.record.stat().st_ino
    site.expand()
    assert (site.state(), site.record.read_bytes(), site.record.stat().st_ino) == before


@test
def eight_processes_at_once_make_one_tree(folder):
    site = Site(folder / "site", usual() + [member(f"{TOP}/d/{i}", bytes(5000)) for i in range(400)])
    crowd = [subprocess.Popen(site.command("path", "--root"), env=site.env(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) for _ in range(8)]
    for process in crowd:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out.strip() == str(site.tree), err
    names = [row[0] for row in site.rows()]
    assert len(names) == len(set(names)) and len(list((site.tree / "d").iterdir())) == 400


@test
def one_that_was_killed_does_not_harm_the_next(folder):
    """At whatever moment: after each, all there is below the site is named by RECORD."""
    members = usual() + [member(f"{TOP}/d{i % 7}/{i}", bytes(3000)) for i in range(600)]
    site = Site(folder / "whole", members)
    site.expand()
    whole = site.state()
    killed = 0
    for number in range(12):
        site = Site(folder / str(number), members)
        original = site.names() | {str(site.archive.relative_to(site.path))}
        process = subprocess.Popen(site.command(), env=site.env())
        partial = site.path / (TOP + ".partial")
        while process.poll() is None and not partial.exists():
            time.sleep(0.001)
        time.sleep(0.004 * number)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        recorded = {row[0] for row in site.rows()}
        left = {name.split("/")[0] for name in site.names() - original}
        assert left <= recorded, (left, recorded)
        site.expand()
        assert site.state() == whole and not partial.exists()
    assert killed > 2


@test
def archives_that_lead_elsewhere_are_refused(folder):
    cases = [
        (member("/etc/x", b"x"), "is not below"), (member("other/x", b"x"), "is not below"),
        (member(f"{TOP}/../x", b"x"), "lead out"), (member(f"{TOP}/a/./x", b"x"), "lead out"),
        (member(f"{TOP}/up", link="../../etc"), "leads out"), (member(f"{TOP}/abs", link="/etc"), "leads out"),
        (member(f"{TOP}/d/up", link="../x/../../../etc"), "leads out"),
        (member(f"{TOP}/pipe", kind=tarfile.FIFOTYPE), "neither file"),
        (member(f"{TOP}/dev", kind=tarfile.CHRTYPE), "neither file"),
        (member(f"{TOP}/hard", link=f"{TOP}/x", kind=tarfile.LNKTYPE), "neither file"),
        (member(f"{TOP}/include/x.h", b"again"), "twice"),
    ]
    for number, ((info, data), words) in enumerate(cases):
        Site(folder / str(number), usual() + [(info, data)]).refuses(info.name, words)


@test
def nothing_is_written_through_a_link(folder):
    for number, order in enumerate((1, -1)):
        out = folder / f"out{number}"
        out.mkdir()
        bad = [member(f"{TOP}/d", link=f"../../out{number}"), member(f"{TOP}/d/x", b"x")][::order]
        Site(folder / f"site{number}", usual() + bad).refuses(f"{TOP}/d", "leads out")
        inside = [member(f"{TOP}/e", link="include"), member(f"{TOP}/e/x", b"x")][::order]
        Site(folder / f"inside{number}", usual() + inside).refuses("'e' in", "something else")
        assert not list(out.iterdir())


@test
def a_damaged_archive_is_named(folder):
    site = Site(folder / "site", usual())
    data = site.archive.read_bytes()
    for damaged in (data[:700], data[:1024], data[:-tarfile.RECORDSIZE + 512], b"", b"no tar at all" * 200, data[:600] + b"\xff" * 400 + data[1000:]):
        site.archive.write_bytes(damaged)
        site.refuses("_devel.tar")


@test
def an_installation_without_record_is_left_alone(folder):
    site = Site(folder / "site", usual())
    site.record.unlink()
    site.refuses("RECORD", "pip")


@test
def a_full_disk_leaves_no_tree(folder):
    site = Site(folder / "site", usual() + [member(f"{TOP}/big", bytes(2000000))])
    limit = "import resource,runpy;resource.setrlimit(resource.RLIMIT_FSIZE,(1000000,1000000));" \
        "import signal;signal.signal(signal.SIGXFSZ,signal.SIG_IGN);import sys;sys.argv[1:]=['init'];" \
        "runpy.run_module('rocm_sdk',run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", limit], env=site.env(), capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1 and "ERROR: " in done.stderr and "Traceback" not in done.stderr, done
    assert not site.tree.exists() and not list(site.path.glob("*.partial"))
    site.expand()


@test
def where_hard_links_cannot_be_there_are_links(folder):
    """Across mounts; here os.link is made to fail as it does there."""
    site = Site(folder / "site", usual())
    text = "import os,errno\ndef no(*a,**k): raise OSError(errno.EXDEV,'another mount')\nos.link=no\n" \
        "from rocm_sdk._devel import get_devel_root\nget_devel_root()"
    run(sys.executable, "-c", text, env=site.env())
    assert os.readlink(site.tree / "lib/libx.so") == "libx.so.1"
    assert (site.tree / "lib/z.so").read_bytes() == LIBRARY


@test
def a_tree_of_an_earlier_version_is_replaced(folder):
    site = Site(folder / "site", usual())
    site.write(f"{TOP}/old.h", b"old\n")
    site.write(f"{TOP}/__init__.py", b"")
    site.expand()
    assert not (site.tree / "old.h").exists() and (site.tree / "include/x.h").exists()


def device(site, version=VERSION, relpath="lib/kernels/a.co"):
    """A device package, as installed."""
    file = site.write(f"_rocm_sdk_libraries/{relpath}", b"code\n")
    up = "../" * (relpath.count("/") + 1)
    site.write("_rocm_sdk_libraries/.devel_links/gfx942.json", json.dumps(
        {"version": version, "links": [{"relpath": relpath,
                                        "target": f"{up}_rocm_sdk_libraries/{relpath}"}]}).encode())
    site.write(f"rocm_sdk_device_gfx942-{VERSION}.dist-info/RECORD", b"x,,\n")
    return file


@test
def files_of_device_packages_are_added_and_recorded_by_them(folder):
    site = Site(folder / "site", usual(), kpack=True)
    site.expand()
    file = device(site)  # comes later
    for _ in range(2):
        site.expand()
        assert (site.tree / "lib/kernels/a.co").samefile(file)
        assert site.rows("rocm_sdk_device_gfx942") == [["x", "", ""], [f"{TOP}/lib/kernels/a.co", "", ""]]


@test
def a_device_package_of_another_version_stays_out_with_a_warning(folder):
    site = Site(folder / "site", usual(), kpack=True)
    device(site, "6.4")
    done = site.tool()
    assert done.returncode == 0 and not (site.tree / "lib/kernels").exists()
    done = site.tool()
    assert "is of version 6.4" in done.stderr, done.stderr
    device(site, VERSION + ".post3")
    site.expand()
    assert (site.tree / "lib/kernels/a.co").exists()


@test
def a_manifest_that_leads_elsewhere_is_refused(folder):
    site = Site(folder / "site", usual(), kpack=True)
    device(site, relpath="../../x")
    done = site.tool()
    assert done.returncode == 1 and "leads out" in done.stderr, done


@test
def without_the_package_the_tool_says_what_to_install(folder):
    site = Site(folder / "site", usual())
    shutil.rmtree(site.path / "rocm_sdk_devel")
    done = site.tool("path", "--root")
    assert done.returncode == 1 and "rocm[devel]" in done.stderr and done.stdout == "", done


@test
def a_read_only_installation_is_an_error_without_a_traceback(folder):
    if os.geteuid() == 0:
        raise Skip("root may write everywhere")
    site = Site(folder / "site", usual())
    site.record.chmod(0o444)
    site.record.parent.chmod(0o555)
    site.path.chmod(0o555)
    try:
        done = site.tool()
        assert done.returncode == 1 and "Traceback" not in done.stderr, done
    finally:
        site.path.chmod(0o755)
        site.record.parent.chmod(0o755)


# Of somebody else: whoever runs the tests may be root, so opening RECORD is made to fail.
FOREIGN = """
import sys, unittest
from rocm_sdk import _devel
def no(self):
    raise PermissionError(13, "Permission denied", str(self.path))
_devel._Record.__enter__ = no
"""


def foreign(site, text):
    return subprocess.run([sys.executable, "-c", FOREIGN + text], env=site.env(), capture_output=True,
                          text=True, check=False)


@test
def what_belongs_to_somebody_else_has_to_be_unpacked_by_him(folder):
    site = Site(folder / "site", usual())
    done = foreign(site, "from rocm_sdk.__main__ import main; main(['path', '--root'])")
    assert done.returncode == 1 and "Traceback" not in done.stderr, done
    assert "'rocm-sdk init' once" in done.stderr and str(site.path) in done.stderr, done.stderr
    done = foreign(site, "print(_devel.find_tool_root('core', True))")
    assert done.stdout == "core\n" and done.returncode == 0, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("rocm-sdk: ") and "'rocm-sdk init' once" in lines[0], lines
    site.expand()
    done = foreign(site, "print(_devel.find_tool_root('core', True))")
    assert done.stdout.strip() == str(site.tree) and not done.stderr, done


def check_devel(site, prefix=""):
    """The checks of the development files: what failed, and how many were skipped."""
    text = """
from rocm_sdk.tests import devel_test
suite = unittest.TestLoader().loadTestsFromModule(devel_test)
done = unittest.TextTestRunner(stream=sys.stderr).run(suite)
print(*[t.id().split(".")[-1] for t, _ in done.failures], len(done.errors), len(done.skipped))
"""
    return subprocess.run([sys.executable, "-c", (prefix or "import sys, unittest") + text], env=site.env(),
                          capture_output=True, text=True, check=False)


@test
def a_check_fails_where_they_cannot_be_unpacked(folder):
    done = check_devel(Site(folder / "site", usual()), FOREIGN)
    assert done.stdout == "test_development_files_are_unpacked 0 8\n", done
    assert "'rocm-sdk init' once" in done.stderr, done.stderr


@test
def a_check_fails_where_they_are_for_another_family(folder):
    site = Site(folder / "site", usual())
    name = "test_they_are_for_the_family_of_the_other_packages"
    assert name not in check_devel(site).stdout.split()
    with open(site.path / "rocm_sdk_devel/_dist_info.py", "a", encoding="utf-8") as info:
        info.write("THIS_TARGET_FAMILY = 'gfx90a'\n")
    done = check_devel(site)
    assert name in done.stdout.split() and "is for gfx90a" in done.stderr, done


@test
def without_core_the_checks_say_so(folder):
    done = Site(folder / "site", usual()).tool("test")
    assert done.returncode == 1 and "rocm-sdk-core is not installed" in done.stderr, done
    assert "Traceback" not in done.stderr, done.stderr


if __name__ == "__main__":
    main()
