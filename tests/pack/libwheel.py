"""Small wheels and source distributions, made by Python's own modules."""

import base64
import hashlib
import io
import os
import pathlib
import sys
import tarfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "elf"))

from libcheck import HERE, run  # noqa: E402, pylint: disable=wrong-import-position

MAKE_ELF = os.environ["MAKE_ELF"]
CC = os.environ.get("ROCKIT_CC", "cc")
TAG = f"py3-none-linux_{HERE}"


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def line(path, data):
    quoted = '"' + path.replace('"', '""') + '"' if any(c in path for c in ',"\n') else path
    return f"{quoted},sha256={digest(data)},{len(data)}\n"


class Wheel:
    """A good wheel; what is to be wrong is changed before it is saved."""

    def __init__(self, name="rocm_sdk_core", version="7.0", tag=TAG):
        self.name, self.version, self.tag = name, version, tag
        self.info = f"{name}-{version}.dist-info"
        self.pure = name.replace("-", "_")
        self.files = {f"{self.pure}/__init__.py": b""}
        self.modes = {}
        self.metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        self.wheel = ("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n" +
                      "".join(f"Tag: {tag.rsplit('-', 1)[0]}-{p}\n" for p in tag.rsplit("-", 1)[1].split(".")))
        self.record = lambda text: text
        self.file = f"{name}-{version}-{tag}.whl"

    def add(self, path, data, mode=0o644):
        self.files[path] = data if isinstance(data, bytes) else data.encode()
        self.modes[path] = mode

    def members(self):
        yield from self.files.items()
        if self.metadata is not None:
            yield f"{self.info}/METADATA", self.metadata.encode()
        if self.wheel is not None:
            yield f"{self.info}/WHEEL", self.wheel.encode()

    def save(self, folder, extra=()):
        """`extra`: members (ZipInfo, bytes) that RECORD knows nothing of."""
        path = folder / self.file
        folder.mkdir(parents=True, exist_ok=True)
        record = f"{self.info}/RECORD"
        text = "".join(line(name, data) for name, data in self.members()) + f"{record},,\n"
        text = self.record(text)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
            for name, data in self.members():
                info = zipfile.ZipInfo(name)
                info.external_attr = (0o100000 | self.modes.get(name, 0o644)) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                z.writestr(info, data)
            for info, data in extra:
                z.writestr(info, data)
            if text is not None:
                z.writestr(record, text)
        return path


def alias(folder, name, soname, machine=HERE):
    """An ELF library that needs `soname` beside it."""
    run(MAKE_ELF, "alias", machine, name, soname, folder / "lib")
    return (folder / "lib").read_bytes()


def library(folder, soname, *flags, text="int f(void) { return 1; }", shared=True):
    """An ELF file made by the compiler."""
    source = folder / "source.c"
    source.write_text(text)
    kind = ["-shared", "-fPIC", f"-Wl,-soname,{soname}"] if shared else []
    run(CC, *kind, "-o", folder / "out", source, *flags)
    return (folder / "out").read_bytes()


def bare(folder, soname, *flags):
    """One that needs nothing but what the flags say."""
    return library(folder, soname, "-nostdlib", *flags)


def core(folder):
    """rocm-sdk-core with two libraries, one of which needs the other, a program and a launcher."""
    w = Wheel()
    w.add("_rocm_sdk_core/__init__.py", "")
    (folder / "libb.so.2").write_bytes(bare(folder, "libb.so.2"))
    w.add("_rocm_sdk_core/lib/libb.so.2", (folder / "libb.so.2").read_bytes(), 0o755)
    w.add("_rocm_sdk_core/lib/liba.so.1",
          bare(folder, "liba.so.1", "-Wl,--no-as-needed", folder / "libb.so.2", "-Wl,-rpath,$ORIGIN"), 0o755)
    w.add("_rocm_sdk_core/bin/program", library(folder, "", text="int main(void) { return 0; }", shared=False),
          0o755)
    run(MAKE_ELF, "launcher", HERE, "program", folder / "launcher")
    w.add("_rocm_sdk_core/bin/other", (folder / "launcher").read_bytes(), 0o755)
    w.add("rocm_sdk_core/_cli.py", "def amdclang():\n    pass\n")
    w.add(f"{w.info}/entry_points.txt", "[console_scripts]\namdclang = rocm_sdk_core._cli:amdclang\n")
    w.add(f"{w.info}/top_level.txt", "_rocm_sdk_core\nrocm_sdk_core\n")
    return w


def devel(members, name="_devel.tar", mode="w", **how):
    """rocm-sdk-devel with an inner archive of (path, link or None, bytes)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, **how) as tar:
        for path, link, data in members:
            info = tarfile.TarInfo(path)
            info.size = len(data)
            info.mode = 0o755
            if link is not None:
                info.type, info.linkname = tarfile.SYMTYPE, link
            tar.addfile(info, io.BytesIO(data))
    w = Wheel("rocm_sdk_devel")
    w.add(f"rocm_sdk_devel/{name}", out.getvalue())
    return w


def sdist(folder, entry="rocm_sdk.__main__:main", version="7.0"):
    path = folder / "rocm-7.0.tar.gz"
    files = {"PKG-INFO": f"Metadata-Version: 2.1\nName: rocm\nVersion: {version}\n",
             "setup.py": "", "src/rocm_sdk/__init__.py": "",
             "src/rocm_sdk/__main__.py": "import sys\n\n\ndef main():\n    return 0\n",
             "src/rocm.egg-info/entry_points.txt": f"[console_scripts]\nrocm-sdk = {entry}\n"}
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"rocm-7.0/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return path
