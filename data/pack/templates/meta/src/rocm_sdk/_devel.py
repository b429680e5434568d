"""The development files: one archive in the wheel, unpacked beside it when they are first asked for.

A wheel cannot hold links, so rocm-sdk-devel carries its tree as an archive. Unpacking makes
_rocm_sdk_devel out of it: in a folder of another name, which gets its own name as the last step, so
that the tree is there whole or not at all. One process does it, others wait for it; one that was
killed is no harm to the next. All of it is written down in RECORD before, for pip to remove.
"""

import contextlib
import csv
import errno
import fcntl
import importlib.util
import io
import json
import os
import re
import shutil
import sys
import tarfile
import warnings
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

from . import _dist_info

ARCHIVES = ("_devel.tar", "_devel.tar.xz")
PARTIAL = ".partial"  # behind the name of a tree that is being unpacked

# Compilers look for their files beside the program that a link leads to: these stay links.
STAY_LINKS = {
    "bin/" + name
    for name in (
        "amdclang",
        "amdclang++",
        "amdclang-cl",
        "amdclang-cpp",
        "amdflang",
        "amdlld",
        "amdllvm",
    )
}


class ExpandError(RuntimeError):
    """The archive or the installation is not as it should be."""


class _Place:
    """Where the package is installed."""

    def __init__(self):
        spec = importlib.util.find_spec("rocm_sdk_devel")
        if spec is None or not spec.origin:
            raise ModuleNotFoundError(
                "no package 'rocm_sdk_devel' in this Python environment", name="rocm_sdk_devel"
            )
        self.pure = Path(spec.origin).parent
        self.site = self.pure.parent
        self.tree = self.site / _dist_info.ALL_PACKAGES["devel"].get_py_package_name()

    def archives(self) -> List[Path]:
        return [self.pure / name for name in ARCHIVES if (self.pure / name).is_file()]

    def is_expanded(self) -> bool:
        return (self.tree / "__init__.py").is_file() and not self.archives()


def _record_of(site: Path, dist: str) -> Path:
    """The RECORD of an installed distribution."""
    wanted = re.sub(r"[-_.]+", "_", dist).lower()
    for info in sorted(site.glob("*.dist-info")):
        name = info.name.split("-", 1)[0]
        if re.sub(r"[-_.]+", "_", name).lower() == wanted and (info / "RECORD").is_file():
            return info / "RECORD"
    raise ExpandError(
        "'%s' has no RECORD of the package %s, so nothing may be added to it: "
        "install it with pip or uv" % (site, dist)
    )


class _Record:
    """The list of a distribution's files, locked as long as this is open.

    It is replaced, never written in place: it may be a hard link into an installer's cache. Whoever
    waits for the old file sees that it is another one by now and waits for that.
    """

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self):
        while True:
            self._file = open(str(self.path), "r+b")
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(self._file.fileno()), os.stat(str(self.path))):
                    return self
            except BaseException:
                self._file.close()
                raise
            self._file.close()

    def __exit__(self, *_):
        self._file.close()

    def rows(self) -> List[List[str]]:
        # Through the handle with the lock: closing another one would end a POSIX lock.
        self._file.seek(0)
        text = self._file.read().decode("utf-8")
        return [row for row in csv.reader(io.StringIO(text, newline="")) if row]

    def change(self, add: List[str], drop: Set[str]) -> None:
        rows = self.rows()
        new = [row for row in rows if row[0] not in drop]
        known = {row[0] for row in new}
        new += [[name, "", ""] for name in dict.fromkeys(add) if name not in known]
        if new != rows:
            self._replace(new)

    def _replace(self, rows: List[List[str]]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        temp = self.path.with_name("RECORD.new")
        file = open(str(temp), "w+b")
        try:
            file.write(text.getvalue().encode("utf-8"))
            file.flush()
            os.fchmod(file.fileno(), os.fstat(self._file.fileno()).st_mode & 0o777)
            fcntl.lockf(file, fcntl.LOCK_EX)
            os.replace(str(temp), str(self.path))
        except BaseException:
            file.close()
            with contextlib.suppress(OSError):
                temp.unlink()
            raise
        self._file.close()
        self._file = file


class _Member(tarfile.TarInfo):
    """tarfile takes a damaged header for the end of the archive, unless it is the first one."""

    @classmethod
    def fromtarfile(cls, archive):
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # zeros: that is the end
            raise
        except tarfile.HeaderError as e:
            raise ExpandError("'%s' is damaged: %s" % (archive.name, e))


def _can_be_recorded(name: str) -> bool:
    """Installers read RECORD as UTF-8 text, line by line; the rest goes with its folder."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return len(name.splitlines()) == 1


class _Unpacker:
    """One archive into one folder that did not exist before."""

    def __init__(self, archive: Path, place: _Place):
        self.archive = archive
        self.place = place
        self.into = place.site / (place.tree.name + PARTIAL)
        self.links: Dict[str, str] = {}  # path in the tree -> text
        self.names: List[str] = []

    def _bad(self, member: str, what: str) -> ExpandError:
        return ExpandError("'%s' in '%s' %s" % (member, self.archive, what))

    def _path_in_tree(self, member: str) -> str:
        parts = member.rstrip("/").split("/")
        if parts[0] != self.place.tree.name or "\0" in member:
            raise self._bad(member, "is not below '%s'" % self.place.tree.name)
        if any(part in ("", ".", "..") for part in parts[1:]):
            raise self._bad(member, "is a path that could lead out of its folder")
        return "/".join(parts[1:])

    def _check_link(self, member: str, path: str, text: str) -> None:
        """It may point at a neighbour of the tree, at nothing that is further up."""
        depth = path.count("/") + 1
        for part in text.split("/"):
            depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
            if depth < 0:
                break
        if text.startswith("/") or not text or depth < 0:
            raise self._bad(member, "is a link that leads out of '%s'" % self.place.site)

    def _file(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        # Nothing here is a link yet, so no part of the path can lead elsewhere.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            fd = os.open(str(self.into / path), flags, member.mode & 0o755 | 0o600)
        except FileExistsError:
            raise self._bad(member.name, "is there twice")
        with open(fd, "wb") as out:
            shutil.copyfileobj(tar.extractfile(member), out, 1 << 20)

    def _member(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = self._path_in_tree(member.name)
        if member.isdir():
            (self.into / path).mkdir(parents=True, exist_ok=True)
            return
        if not path:
            raise self._bad(member.name, "is not a folder")
        (self.into / path).parent.mkdir(parents=True, exist_ok=True)
        self.names.append(path)
        if member.isreg():
            self._file(tar, member, path)
        elif member.issym():
            self._check_link(member.name, path, member.linkname)
            if self.links.setdefault(path, member.linkname) != member.linkname:
                raise self._bad(member.name, "is there twice")
        else:
            raise self._bad(member.name, "is neither file, folder nor link")

    def unpack(self) -> None:
        _remove(self.into)  # of one that was killed
        self.into.mkdir()
        try:
            with tarfile.open(str(self.archive), "r|*", tarinfo=_Member) as tar:
                for member in tar:
                    self._member(tar, member)
        except tarfile.TarError as e:
            raise ExpandError("'%s' is damaged: %s" % (self.archive, e))
        except (FileExistsError, NotADirectoryError) as e:
            raise ExpandError("'%s' has a file where a folder should be: %s" % (self.archive, e))
        self._make_links()
        init = self.into / "__init__.py"
        if not init.exists():
            init.touch()

    def _make_links(self) -> None:
        """First all as links, so that what one leads to does not depend on the order; then those
        that end at a file become that file. Programs find their own folder, and libraries their
        neighbours, by the path they are started from."""
        for path, text in self.links.items():
            try:
                os.symlink(text, str(self.into / path))
            except FileExistsError:
                raise self._bad(path, "is a link and something else")
        ends = {}
        for path in sorted(self.links):
            end = os.path.realpath(str(self.into / path))
            if path not in STAY_LINKS and os.path.isfile(end):
                ends[path] = end
        top = os.path.realpath(str(self.place.site)) + os.sep
        for path, end in ends.items():
            if not end.startswith(top):
                raise self._bad(path, "is a link that leads out of '%s'" % self.place.site)
            _same_file(end, self.links[path], self.into / path)


def _same_file(end: str, text: str, path: Path) -> None:
    """`path` becomes the file `end`; a link where hard links cannot be, across mounts for example;
    a copy where neither can."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    try:
        os.link(end, str(path))
    except OSError:
        try:
            os.symlink(text, str(path))
        except OSError:
            shutil.copy2(end, str(path))


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(str(path))


def _expand(place: _Place, record: _Record) -> None:
    archive = place.archives()[0]
    top, partial = place.tree.name, place.tree.name + PARTIAL
    # The folders first: whatever happens from here on, an uninstall removes it.
    record.change([top, partial], set())
    work = _Unpacker(archive, place)
    try:
        work.unpack()
    except BaseException:
        shutil.rmtree(str(work.into), ignore_errors=True)
        raise
    names = ["%s/%s" % (top, name) for name in work.names]
    record.change([name for name in names if _can_be_recorded(name)], set())
    _remove(place.tree)
    os.rename(str(work.into), str(place.tree))
    archives = place.archives()
    for path in archives:
        path.unlink()
    record.change([], {partial} | {"%s/%s" % (place.pure.name, a.name) for a in archives})


def _without_post(version: str) -> str:
    return re.sub(r"\.post\d+$", "", version)


class _Manifest:
    """What a device package adds to the tree: its files, by their names in the libraries' folder."""

    def __init__(self, place: _Place, path: Path):
        self.place = place
        self.target = path.stem
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            self.version = str(data["version"])
            self.links = [(str(x["relpath"]), str(x["target"])) for x in data["links"]]
        except (ValueError, KeyError, TypeError) as e:
            raise ExpandError("'%s' is damaged: %r" % (path, e))
        for relpath, target in self.links:
            self._check(path, relpath, target)

    def _check(self, path: Path, relpath: str, target: str) -> None:
        end = os.path.normpath(os.path.join(self.place.tree.name, os.path.dirname(relpath), target))
        parts = relpath.split("/")
        if any(p in ("", ".", "..") for p in parts) or end.startswith(("/", "..")):
            raise ExpandError("'%s' names '%s', which leads out of its folder" % (path, relpath))

    def missing(self) -> List[Tuple[str, str]]:
        """Links that are not there, or are of an earlier installation."""
        found = []
        for relpath, target in self.links:
            path = self.place.tree / relpath
            end = path.parent / target
            try:
                if os.path.samefile(str(path), str(end)):
                    continue
            except OSError:
                pass
            found.append((relpath, target))
        return found

    def add(self) -> None:
        dist = "rocm-sdk-device-" + self.target
        with _Record(_record_of(self.place.site, dist)) as record:
            ours = {row[0] for row in record.rows()}
            todo = []
            for relpath, target in self.missing():
                name = "%s/%s" % (self.place.tree.name, relpath)
                if name in ours or not os.path.lexists(str(self.place.site / name)):
                    todo.append((name, target))
            record.change([name for name, _ in todo if _can_be_recorded(name)], set())
            for name, target in todo:
                path = self.place.site / name
                path.parent.mkdir(parents=True, exist_ok=True)
                end = os.path.realpath(str(path.parent / target))
                if os.path.isfile(end):
                    _same_file(end, target, path)


def _device_manifests(place: _Place) -> Iterator[_Manifest]:
    libraries = _dist_info.ALL_PACKAGES["libraries"]
    if libraries.is_target_specific:
        return
    folder = place.site / libraries.get_py_package_name() / ".devel_links"
    for path in sorted(folder.glob("*.json")):
        yield _Manifest(place, path)


def _device_work(place: _Place, warn: bool) -> List[_Manifest]:
    """Device packages of which the tree lacks something. Those of another version stay out."""
    work = []
    for manifest in _device_manifests(place):
        if not manifest.missing():
            continue
        if _without_post(manifest.version) == _without_post(_dist_info.__version__):
            work.append(manifest)
        elif warn:
            warnings.warn(
                "rocm-sdk-device-%s is of version %s, the development files are of %s: "
                "its files are not added to them"
                % (manifest.target, manifest.version, _dist_info.__version__)
            )
    return work


def get_devel_root(expand: bool = True) -> Path:
    """The folder of the development files, unpacked if need be.

    ModuleNotFoundError when they are not installed, ExpandError when they cannot be unpacked, or
    are not and `expand` is false.
    """
    place = _Place()
    if not expand:
        if not place.is_expanded():
            raise ExpandError("'%s' is not yet unpacked: run rocm-sdk init" % place.tree)
        return place.tree
    if place.is_expanded() and not _device_work(place, True):
        return place.tree
    try:
        return _expand_all(place)
    except OSError as e:
        if e.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        raise ExpandError(
            "'%s' cannot be written: whoever installed the packages there has to run "
            "'rocm-sdk init' once, for everybody (%s)" % (place.site, e)
        )


def _expand_all(place: _Place) -> Path:
    with _Record(_record_of(place.site, "rocm-sdk-devel")) as record:
        if not place.is_expanded():
            if not place.archives():
                raise ExpandError(
                    "neither '%s' nor its archive is there: install rocm-sdk-devel again"
                    % place.tree
                )
            _expand(place, record)
        for manifest in _device_work(place, False):
            manifest.add()
    return place.tree


def find_tool_root(core: Path, expand: bool) -> Path:
    """Where programs are started from: the development tree if there is one, else the core package.

    Trouble with the former is no reason not to start the latter.
    """
    try:
        return get_devel_root(expand)
    except ModuleNotFoundError:
        return core
    except (ExpandError, OSError) as e:
        if expand:
            print("rocm-sdk: the development files of ROCm are not used: %s" % e, file=sys.stderr)
        return core


__all__ = ["ExpandError", "find_tool_root", "get_devel_root"]
