#!/usr/bin/env python3
"""Pages of packages: pip installs from them, and they are the same each time."""

import hashlib
import html.parser
import importlib.metadata
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

from libwheel import Wheel, sdist
from libcheck import Skip, main, run, test  # libwheel knows where it is

PROVE = os.environ["PACK_PROVE"]


class Links(html.parser.HTMLParser):
    """(href, attributes, text) of each link of a page."""

    def __init__(self, path):
        super().__init__()
        self.found, self._open = [], None
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self._open = dict(attrs)

    def handle_data(self, data):
        if self._open:
            self.found.append((self._open["href"], self._open, data))
            self._open = None


def wheel(folder, name, version="1.0", requires="", python="", data=b""):
    w = Wheel(name, version, "py3-none-any")
    if python:
        w.metadata += f"Requires-Python: {python}\n"
    if requires:
        w.metadata += f"Requires-Dist: {requires}\n"
    w.add(f"{w.pure}/data", data)
    return w.save(folder)


def index(folder):
    return int(run(PROVE, "--index", folder))


def pip(*args, check=True):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHON"))}
    if not importlib.util.find_spec("pip"):
        raise Skip("no pip here")
    done = subprocess.run([sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check",
                           *map(str, args)], capture_output=True, text=True, env=env, check=False)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def tree_of(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@test
def each_project_has_a_page_with_sums_and_metadata(folder):
    path = wheel(folder, "Rocm_SDK.core", "7.0+g1.x", python=">=3.8, <4")
    wheel(folder, "Rocm_SDK.core", "7.1")
    sdist(folder)
    (folder / "notes.txt").write_text("no package")
    (folder / "core_lib_generic.tar.gz").write_text("no sdist")
    assert index(folder) == 3
    root = Links(folder / "simple/index.html").found
    assert [(h, t) for h, _, t in root] == [("rocm/", "rocm"), ("rocm-sdk-core/", "rocm-sdk-core")]
    links = Links(folder / "simple/rocm-sdk-core/index.html").found
    assert [t for _, _, t in links] == sorted(t for _, _, t in links) and len(links) == 2
    href, attributes, text = links[0]
    assert text == path.name and "%2B" in href
    where, part = href.split("#")
    assert (folder / "simple/rocm-sdk-core" / urllib.parse.unquote(where)).resolve() == path.resolve()
    assert part == "sha256=" + hashlib.sha256(path.read_bytes()).hexdigest()
    metadata = pathlib.Path(str(path) + ".metadata").read_bytes()
    assert b"Name: Rocm-SDK.core" in metadata
    want = "sha256=" + hashlib.sha256(metadata).hexdigest()
    assert attributes["data-core-metadata"] == attributes["data-dist-info-metadata"] == want
    assert attributes["data-requires-python"] == ">=3.8, <4"
    assert "data-requires-python" not in links[1][1]


@test
def pip_downloads_and_installs_from_the_pages(folder):
    dist = folder / "a b & 'c' \u00e4#" / "dist"
    wheel(dist, "rkt_first", requires="rkt-second==2.0", python=">=3.6")
    wheel(dist, "rkt_second", "2.0")
    wheel(dist, "rkt_second", "3.0", python=">=99")
    index(dist)
    url = (dist / "simple").as_uri()
    log = pip("download", "-vv", "--index-url", url, "--dest", folder / "got", "rkt-first")
    assert {p.name for p in (folder / "got").iterdir()} == {
        "rkt_first-1.0-py3-none-any.whl", "rkt_second-2.0-py3-none-any.whl"}
    # pip since 23.2 says where it has the dependencies from: not from the wheel
    version = importlib.metadata.version("pip").split(".")
    if tuple(map(int, version[:2])) >= (23, 2):
        assert re.search(r"rkt_first-1\.0-py3-none-any\.whl\.metadata", log), log
    pip("install", "--index-url", url, "--target", folder / "installed", "--no-compile", "rkt-first")
    assert (folder / "installed/rkt_second/data").exists()


@test
def pip_refuses_a_package_that_was_changed_afterwards(folder):
    path = wheel(folder, "rkt_first")
    index(folder)
    wheel(folder, "rkt_first", data=b"another")
    log = pip("download", "--no-deps", "--index-url", (folder / "simple").as_uri(), "--dest", folder / "got",
              "rkt-first", check=False)
    assert "hash" in log.lower() and not list((folder / "got").glob("*.whl")), (log, path)


@test
def the_same_packages_give_the_same_bytes(folder):
    for name in ("b", "a", "c"):
        wheel(folder / "one", name)
    index(folder / "one")
    first = tree_of(folder / "one")
    index(folder / "one")
    assert tree_of(folder / "one") == first
    shutil.copytree(folder / "one", folder / "two", ignore=shutil.ignore_patterns("simple", "*.metadata"))
    index(folder / "two")
    assert tree_of(folder / "two") == first


@test
def old_pages_go_and_those_of_others_stay(folder):
    gone = wheel(folder, "gone")
    wheel(folder, "stays")
    index(folder)
    assert (folder / "simple/gone/index.html").exists()
    gone.unlink()
    foreign = folder / "simple/foreign/index.html"
    foreign.parent.mkdir()
    foreign.write_text("<html>by hand</html>")
    kept = folder / "simple/mixed"
    shutil.copytree(folder / "simple/gone", kept)
    (kept / "more").write_text("x")
    index(folder)
    assert not (folder / "simple/gone").exists()
    assert foreign.exists() and (kept / "index.html").exists()
    assert "gone" not in (folder / "simple/index.html").read_text()


@test
def packages_in_dist_and_family_folders_are_listed(folder):
    wheel(folder / "dist", "rkt_core")
    wheel(folder / "dist/gfx94X-dcgpu", "rkt_only")
    wheel(folder / "dist/gfx94X-dcgpu/deeper", "rkt_deep")
    assert index(folder) == 2
    href = Links(folder / "simple/rkt-only/index.html").found[0][0]
    assert href.startswith("../../dist/gfx94X-dcgpu/rkt_only-1.0"), href
    assert not (folder / "dist/gfx94X-dcgpu/simple").exists()
    assert index(folder / "dist") == 2


@test
def families_with_different_files_of_one_name_get_pages_of_their_own(folder):
    wheel(folder / "dist", "rkt_core")
    for family in ("gfx1", "gfx2"):
        wheel(folder / "dist" / family, "rkt_devel", data=family.encode())
        wheel(folder / "dist" / family, "rkt_same")
    for top in (folder, folder / "dist"):
        assert index(top) == 2  # rkt_core, and rkt_same once
        assert not (top / "simple/rkt-devel").exists()
        for family in ("gfx1", "gfx2"):
            tree = folder / "dist" / family / "simple"
            assert {p.name for p in tree.iterdir()} == {"index.html", "rkt-core", "rkt-devel", "rkt-same"}
            href = Links(tree / "rkt-devel/index.html").found[0][0].split("#")[0]
            assert (tree / "rkt-devel" / href).resolve().parent.name == family
            if top != folder:
                continue
            if family == "gfx1":
                pip("download", "--no-deps", "--index-url", tree.as_uri(), "--dest", folder / "got", "rkt-devel",
                    "rkt-core", "rkt-same")
            shutil.rmtree(tree)


@test
def every_tree_is_named_and_none_loses_what_it_has_from_above(folder):
    dist = folder / "dist"
    wheel(dist, "rkt_core")
    for family in ("gfx1", "gfx2"):
        wheel(dist / family, "rkt_devel", data=family.encode())
    said = run(os.environ["ROCKIT"], "pack", "index", dist).decode().splitlines()
    assert [line.split(",")[0] for line in said] == [
        f"1 package in {dist}/simple", f"2 packages in {dist}/gfx1/simple", f"2 packages in {dist}/gfx2/simple"]
    assert "without 2 that" in said[0], said
    before = tree_of(dist)
    done = subprocess.run([PROVE, "--index", dist / "gfx1"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "part of the index of a parent folder" in done.stderr, done
    assert tree_of(dist) == before
    shutil.rmtree(dist / "gfx1/simple")
    assert index(dist / "gfx1") == 1


@test
def names_that_no_package_can_have_are_not_listed(folder):
    """They would be markup in the pages."""
    good = wheel(folder, "rkt_good")
    for name in ("<b>x", 'x"onload=', "x&y", "a b"):
        shutil.copy(good, folder / f"{name}-1.0-py3-none-any.whl")
        (folder / f"{name}-1.0.tar.gz").write_bytes(b"x")
    assert index(folder) == 1
    assert [p.name for p in (folder / "simple").iterdir() if p.is_dir()] == ["rkt-good"]
    assert "onload" not in (folder / "simple/index.html").read_text()


@test
def a_file_that_is_not_a_wheel_stops_it_and_nothing_is_half_written(folder):
    wheel(folder, "rkt_good")
    (folder / "bad-1.0-py3-none-any.whl").write_bytes(b"no zip")
    done = subprocess.run([PROVE, "--index", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "bad-1.0" in done.stderr, done
    assert not (folder / "simple").exists()
    empty = folder / "empty"
    for what in ("is not a folder", "no packages"):
        done = subprocess.run([PROVE, "--index", empty], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and what in done.stderr, done
        empty.mkdir(exist_ok=True)


if __name__ == "__main__":
    main()
