#!/usr/bin/env python3
"""Makes the small ELF files that fuzz_elf begins with: elf_corpus.py FOLDER."""
import os
import struct
import sys

PAGE = 4096
LOAD, DYNAMIC, INTERP, NOTE, PHDR = 1, 2, 3, 4, 6
R, RW = 4, 6
INTERPRETER = b"/lib64/ld-linux-x86-64.so.2\0"
BUILD_ID = struct.pack("<III4s20s", 4, 20, 3, b"GNU\0", bytes(range(20)))


class Elf:
    """A file that is written from front to back; addresses are offsets, a page more when written to."""

    def __init__(self, nsegments):
        self.data = bytearray(64 + nsegments * 56)
        self.segments, self.sections = [], [bytes(64)]
        self.strings, self.entries = bytearray(b"\0"), []

    def text(self, s):
        s = s.encode() + b"\0"
        at = self.strings.find(s)
        if at < 0:
            at = len(self.strings)
            self.strings += s
        return at

    def put(self, data):
        self.data += bytes(-len(self.data) % 8)
        self.data += data
        return len(self.data) - len(data)

    def segment(self, kind, flags, at, size, shift=0):
        align = PAGE if kind == LOAD else 8
        self.segments.append(struct.pack("<IIQQQQQQ", kind, flags, at, at + shift, at + shift, size,
                                         size, align))

    def section(self, kind, at, size, flags=2, shift=0, entsize=0):
        self.sections.append(struct.pack("<IIQQQQIIQQ", 0, kind, flags, at + shift, at, size, 0, 0,
                                         1, entsize))

    def finish(self, kind, has_sections):
        shoff = self.put(b"".join(self.sections)) if has_sections else 0
        head = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, kind, 62, 1, 0, 64, shoff, 0,
                           64, 56, len(self.segments), 64, len(self.sections) if shoff else 0, 0)
        self.data[:64] = head
        table = b"".join(self.segments)
        self.data[64:64 + len(table)] = table
        return bytes(self.data)


def make(program=False, sections=True, room=False, note=True, run_paths=(29,), spare=1,
         own_header=False):
    e = Elf(3 + program + note + own_header)
    names = {15: e.text("$ORIGIN/a"), 29: e.text("$ORIGIN/old/place")}
    if own_header:
        e.segment(PHDR, R, 64, len(e.data) - 64)
    if program:
        at = e.put(INTERPRETER)
        e.segment(INTERP, R, at, len(INTERPRETER))
        e.section(1, at, len(INTERPRETER))
    load = len(e.segments)
    e.segments.append(b"")
    if note:
        at = e.put(BUILD_ID)
        e.segment(NOTE, R, at, len(BUILD_ID))
        e.section(7, at, len(BUILD_ID))
    entries = [(1, e.text("liby.so.2")), (14, e.text("libx.so"))]
    entries += [(tag, names[tag]) for tag in run_paths]
    hash_table = struct.pack("<5I", 1, 2, 1, 0, 0)
    at = e.put(hash_table)
    e.section(5, at, len(hash_table))
    entries.append((4, at))
    symbols = bytes(24) + struct.pack("<IBBHQQ", e.text("place"), 0x12, 0, 0, 0, 0)
    at = e.put(symbols)
    e.section(11, at, len(symbols), entsize=24)
    entries.append((6, at))
    needs = struct.pack("<HHIII", 1, 1, e.text("liby.so.2"), 16, 0)
    needs += struct.pack("<IHHII", 7, 0, 2, e.text("Y_2"), 0)
    at = e.put(needs)
    e.section(0x6ffffffe, at, len(needs))
    entries += [(0x6ffffffe, at), (0x6fffffff, 1)]
    at = e.put(e.strings)
    e.section(3, at, len(e.strings))
    entries += [(5, at), (10, len(e.strings))]
    e.put(b"rest")
    e.segments[load] = struct.pack("<IIQQQQQQ", LOAD, R, 0, 0, 0, len(e.data), len(e.data), PAGE)
    if room:
        e.data += bytes(512)
    entries += [(0, 0)] * (1 + spare)
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    at = e.put(dynamic)
    e.segment(LOAD, RW, at, len(dynamic), PAGE)
    e.segment(DYNAMIC, RW, at, len(dynamic), PAGE)
    e.section(6, at, len(dynamic), 3, PAGE)
    return e.finish(3, sections)


def main():
    files = {
        "library": make(),
        "bare": make(sections=False),
        "no_note": make(note=False, run_paths=(15, 29)),
        "first": make(run_paths=()),
        "full": make(run_paths=(), spare=0),
        "room": make(room=True),
        "program": make(program=True, own_header=True),
        "own_header": make(sections=False, note=False, own_header=True),
    }
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, data in files.items():
        with open(os.path.join(sys.argv[1], name + ".elf"), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
