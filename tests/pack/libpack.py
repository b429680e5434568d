"""What the tests of packages share: artifacts, builds, Python environments."""

import atexit
import fcntl
import functools
import hashlib
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "elf"))

from libcheck import FULL, SOURCE, Skip, main, need, run, test  # noqa: E402, pylint: disable=wrong-import-position

ROCKIT = os.environ["ROCKIT"]
TEMPLATES = SOURCE / "data/pack/templates"
FAMILIES = {"legacy": ("gfx110X-all", "gfx94X-dcgpu"), "kpack": ("gfx1100", "gfx942")}


@functools.lru_cache(None)
def shared():
    """A folder for what several tests use."""
    path = tempfile.mkdtemp(prefix="rockit-pack-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return pathlib.Path(path)


def artifacts(mode="legacy"):
    """A tree of build artifacts for two families; made once for all scripts, and kept in the build."""
    maker = SOURCE / "tests/pack/make_artifacts.py"
    mark = hashlib.sha256(maker.read_bytes() + pathlib.Path(__file__).read_bytes()).hexdigest()[:8]
    place = pathlib.Path.cwd().parent
    out = (place if place.name == "scratch" else shared()) / f"artifacts-{mode}-{mark}"
    with open(out.parent / "artifacts.lock", "w", encoding="utf-8") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        if not out.exists():
            half = out.with_suffix(".half")
            run(sys.executable, maker, "--out", half, "--size-mb", "6", "--mode", mode, "--families",
                ",".join(FAMILIES[mode]), "--edge", "--jobs", "2", "--force", "--cc",
                os.environ.get("ROCKIT_CC", "cc"), "--mtime", "1700000000")
            half.rename(out)
    return out


def link_or_copy(source, to):
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)


def one_family(family):
    """The artifacts of this family alone."""
    out = shared() / f"legacy-{family}"
    if not out.exists():
        others = [f"*_{other}" for other in FAMILIES["legacy"] if other != family]
        shutil.copytree(artifacts(), out, symlinks=True, copy_function=link_or_copy,
                        ignore=shutil.ignore_patterns(*others))
    return out


def archived(tree, out, how):
    """The same artifacts as archives: the manifest comes first, links to folders are not folders."""
    out.mkdir()
    for artifact in sorted(tree.iterdir()):
        path = out / f"{artifact.name}.tar"
        with tarfile.open(path, "w") as tar:
            names = [p.relative_to(artifact) for p in sorted(artifact.rglob("*"))]
            for name in sorted(names, key=lambda n: n.name != "artifact_manifest.txt"):
                tar.add(artifact / name, str(name), recursive=False)
        if how == "xz":
            pathlib.Path(f"{path}.xz").write_bytes(lzma.compress(path.read_bytes(), preset=0))
            path.unlink()
        else:
            run(need("zstd"), "-q", "--rm", "-1", path)
    return out


def environment(**more):
    keep = {k: v for k, v in os.environ.items()
            if not k.startswith(("ROCM", "PIP_", "PYTHON", "SOURCE_DATE"))}
    return {**keep, **more}


def pack(*args, **how):
    """`rockit pack ...` as it ended."""
    how.setdefault("env", environment())
    return subprocess.run([ROCKIT, "pack", *map(str, args)], capture_output=True, text=True,
                          errors="replace", check=False, stdin=subprocess.DEVNULL, timeout=300, **how)


def build(tree, dest, *args, **how):
    """The folder of packages made from a tree."""
    done = pack("build", "--artifact-dir", tree, "--dest-dir", dest, *args, **how)
    assert done.returncode == 0, done.stderr
    return pathlib.Path(dest, "dist")


@functools.lru_cache(None)
def packages(what="legacy", *args):
    """Packages that several tests look at: of a mode, or of a family."""
    tree = artifacts(what) if what in FAMILIES else one_family(what)
    return build(tree, shared() / "-".join(("packages", what, *args)), "--level", "1", *args)


@functools.lru_cache(None)
def empty_venv():
    path = shared() / "venv"
    run(sys.executable, "-m", "venv", path, env=environment())
    return path


class Venv:
    """A Python environment of its own with pip, and nothing to fetch from."""

    def __init__(self, path):
        self.path = path
        shutil.copytree(empty_venv(), path, symlinks=True)
        self.python = path / "bin" / "python"
        self.site = next(path.glob("lib/python3*/site-packages"))
        self.before = self.files()

    def files(self):
        """What is there, without what Python writes for itself."""
        return {str(p.relative_to(self.path)) for p in self.path.rglob("*")
                if "__pycache__" not in p.parts}

    def pip(self, *args, **env):
        return run(self.python, "-m", "pip", "--disable-pip-version-check", *args,
                   env=environment(PIP_NO_INDEX="1", PIP_NO_CACHE_DIR="1", **env)).decode()

    def install(self, folders, *names, **env):
        links = [word for folder in folders for word in ("--find-links", folder)]
        return self.pip("install", "-q", "--no-compile", *links, *names, **env)

    def installed(self):
        return {d["name"]: d["version"] for d in json.loads(self.pip("list", "--format", "json"))}

    def uninstall_all(self):
        """Everything but pip and setuptools; what is left besides."""
        names = [n for n in self.installed() if n not in ("pip", "setuptools")]
        self.pip("uninstall", "-q", "-y", *names)
        return sorted(self.files() - self.before)

    def start(self, name, *args, check=True, **env):
        """A console script's output."""
        done = subprocess.run([self.path / "bin" / name, *args], capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL, env=environment(**env))
        assert not check or done.returncode == 0, (name, args, done.stdout, done.stderr)
        return done.stdout if check else done

    def code(self, text, *args, **env):
        """What Python prints."""
        return run(self.python, "-c", text, *args, env=environment(**env)).decode()


__all__ = ["FAMILIES", "FULL", "ROCKIT", "SOURCE", "TEMPLATES", "Skip", "Venv", "archived", "artifacts",
           "build", "environment", "main", "need", "one_family", "pack", "packages", "run", "shared", "test"]
