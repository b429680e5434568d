#!/usr/bin/env python3
"""artifacts_corpus.py DIR - seeds for fuzz_artifacts: small archives of artifacts, good and bad."""
import gzip
import io
import lzma
import pathlib
import sys
import tarfile

STAGE = "x/stage"


def member(name, text=None, kind=None, link=""):
    info = tarfile.TarInfo(name)
    info.type = kind or (tarfile.REGTYPE if text is not None else tarfile.DIRTYPE)
    info.linkname = link
    info.size = len(text) if text is not None and kind is None else 0
    return info, (text or "").encode()


def archive(members, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for info, data in [member("artifact_manifest.txt", STAGE + "\n")] + members:
            tar.addfile(info, io.BytesIO(data) if info.size else None)
    used = out.getvalue().rstrip(b"\0")
    return used + bytes(-len(used) % 512 + 1024)


FILE = member(STAGE + "/lib/libx.so.1", "bytes")
LONG = STAGE + "/deep/" + "/".join("0123456789" * 5 for _ in range(4))
SEEDS = {
    "plain": [FILE],
    "folders": [member("x"), member(STAGE), member(STAGE + "/empty"), FILE],
    "links": [FILE, member(STAGE + "/lib/libx.so", kind=tarfile.SYMTYPE, link="libx.so.1"),
              member(STAGE + "/a", kind=tarfile.SYMTYPE, link="lib/../b"),
              member(STAGE + "/b", kind=tarfile.SYMTYPE, link="a")],
    "out": [member(STAGE + "/abs", kind=tarfile.SYMTYPE, link="/etc/hostname"),
            member(STAGE + "/up", kind=tarfile.SYMTYPE, link="../../x")],
    "hard": [FILE, member(STAGE + "/y", kind=tarfile.LNKTYPE, link=STAGE + "/lib/libx.so.1")],
    "hard_forward": [member(STAGE + "/y", kind=tarfile.LNKTYPE, link=STAGE + "/z"), FILE],
    "long": [member(LONG, "x")],
    "unicode": [member(STAGE + "/\u00e9,.txt", "")],
    "twice": [FILE, FILE],
    "escape": [member(STAGE + "/../../x", "x")],
    "pipe": [member(STAGE + "/p", kind=tarfile.FIFOTYPE)],
    "below": [member(STAGE + "/d", kind=tarfile.SYMTYPE, link="/"), member(STAGE + "/d/x", "x")],
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, members in SEEDS.items():
        (folder / f"{name}.tar.gz").write_bytes(gzip.compress(archive(members), mtime=0))
    (folder / "raw.tar").write_bytes(archive([FILE])[:-1024])  # 2 KB that are easily changed
    (folder / "plain.tar.xz").write_bytes(lzma.compress(archive([FILE]), preset=0))
    gnu = archive([member(LONG, "x")], tarfile.GNU_FORMAT)
    (folder / "gnu.tar.gz").write_bytes(gzip.compress(gnu, mtime=0))
    (folder / "cut.tar.gz").write_bytes(gzip.compress(archive([FILE])[:1700], mtime=0))


if __name__ == "__main__":
    main()
