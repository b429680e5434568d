#!/usr/bin/env python3
"""zip_corpus.py - writes tests/fuzz/corpus/zip: small archives, good ones and such that lie.

Run it from the root of the tree. The same bytes each time.
"""
import io
import pathlib
import struct
import zipfile

WHERE = pathlib.Path("tests/fuzz/corpus/zip")


def archive(members, **how):
    """A zip file of (name, bytes, method)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **how) as z:
        for name, data, method in members:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o100644 << 16
            info.compress_type = method
            z.writestr(info, data)
    return out.getvalue()


def zip64(name, data):
    """One stored member whose numbers are all in Zip64 records."""
    ones = 0xffffffff
    extra = struct.pack("<HHQQQ", 1, 24, len(data), len(data), 0)
    crc = zipfile.crc32(data)
    local = struct.pack("<IHHHIIIIHH", 0x04034b50, 45, 0, 0, 0x21 << 16, crc, ones, ones, len(name),
                        len(extra)) + name + extra + data
    entry = struct.pack("<IHHHHIIIIHHHHHII", 0x02014b50, 0x32d, 45, 0, 0, 0x21 << 16, crc, ones,
                        ones, len(name), len(extra), 0, 0, 0, 0o100644 << 16, ones) + name + extra
    end64 = struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, 1, 1, len(entry), len(local))
    locator = struct.pack("<IIQI", 0x07064b50, 0, len(local) + len(entry), 1)
    end = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 0xffff, 0xffff, ones, ones, 0)
    return local + entry + end64 + locator + end


def main():
    stored, packed = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
    two = archive([("a.txt", b"hello", stored), ("b/c.txt", b"x" * 500, packed)])
    seeds = {
        "two": two,
        "empty": archive([]),
        "comment": archive([("a", b"", stored)])[:-2] + b"\4\0note",
        "wide": zip64(b"wide.bin", b"0123456789"),
        "cut": two[:-30],
        "method": archive([("a", b"hello", zipfile.ZIP_LZMA)]),
        "utf8": archive([("\u00e4/\u4e2d", b"x", stored)]),
        "twice": archive([("a", b"1", stored), ("a", b"22", packed)]),
        "late": b"#!/bin/sh\n" + two,
    }
    WHERE.mkdir(parents=True, exist_ok=True)
    for name, data in seeds.items():
        (WHERE / f"{name}.zip").write_bytes(data)


if __name__ == "__main__":
    main()
