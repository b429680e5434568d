#!/usr/bin/env python3
"""Makes the small files of the flight recorder that fuzz_rkraw begins with."""
import os
import struct
import sys

BLOCK = 16 << 10
MASK = (1 << 64) - 1
FACTOR = 0x9fb21c651e98df25
DATA, DEFINITIONS = 1, 2
OPEN, SEALED = 1, 2
WINDOW, SWITCHED = 1, 2


def mix(h, data):
    """rk_raw_sum of base/rkraw.h."""
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        h = (h ^ word) * FACTOR & MASK
        h ^= h >> 29
    word = len(data) - whole
    for byte in data[whole:]:
        word = (word << 8 | byte) & MASK
    h = (h ^ word) * FACTOR & MASK
    return h ^ h >> 32


def varint(v):
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7f | 0x80])
        v >>= 7
    return out + bytes([v])


def zigzag(v):
    return v << 1 if v >= 0 else -v * 2 - 1


def record(tag, *fields):
    body = b"".join(f if isinstance(f, bytes) else varint(f) for f in fields)
    return tag, bytes([tag]) + varint(len(body)) + body


def block(kind, sequence, records, state=SEALED):
    payload = b"".join(data for _, data in records)
    types = 0
    for tag, _ in records:
        types |= 1 << tag
    published = len(records) << 32 | len(payload)
    fixed = struct.pack("<QQQQ", published, sequence, kind << 32 | 40, types)
    total = mix(mix(0x4c424b52, fixed), payload) if state == SEALED else 0
    head = struct.pack("<IIQQIIII16xQ", 0x4c424b52, state, published, sequence, kind, 40, types, 0,
                       total)
    return (head + payload).ljust(BLOCK, b"\0")


def header(flags=0, clean=1, begun=0, collector=b"opencl", skipped=(0, 0, 0, 0)):
    clocks = struct.pack("<5q", 5000, 4000, 4100, 1700000000, 60)
    fixed = struct.pack("<8sIIIIIIiiQQ", b"rkraw\r\n\x1a", 1, 0x01020304, BLOCK, flags, 99, 1, 3, 1,
                        8, flags & WINDOW) + clocks
    fixed += struct.pack("<32s256s1024s4096sII", collector, b"n1", b"/usr/bin/a", b"a\0-b\0", 5, 0)
    fixed += struct.pack("<Q", mix(0, fixed))
    moving = struct.pack("<8QQ", 1, 0, 0, 2, 0, 0, 0, 0, 7 if flags & WINDOW else 0).ljust(112, b"\0")
    moving += struct.pack("<6Q16x", begun, 1, *skipped) + bytes(31 * 64)
    moving += struct.pack("<II", clean, 0) + clocks * 3
    if flags & SWITCHED:
        moving += struct.pack("<IIQQ", 1, 1, 77, 9 if flags & WINDOW else 0)
    return (fixed + moving).ljust(BLOCK, b"\0")


NAMES = [
    record(16, 1, b"void gemm<float>(float *)"),
    record(17, 2, 0, 1, 1, 0, 0, 104, 1700, 64, 1 << 36),
    record(18, 3, 2, 0, 0),
    record(19, 4, 1, 2, 97, 0, 1025),
    record(20, 5, 4, 4097, 1000, 3, 1, 64, 2, 1),
    record(21, 2, zigzag(100), zigzag(5000), zigzag(100), zigzag(30)),
    record(21, 2, zigzag(2 * 10**9), zigzag(2 * 10**9 + 4900), zigzag(1), zigzag(30)),
]
ROWS = [
    record(2, 5, 3, 0, zigzag(1), zigzag(1000), zigzag(10), zigzag(20), zigzag(500)),
    record(3, 1, 3, 4096, 0, zigzag(1), zigzag(-50), 0, zigzag(20), zigzag(500)),
    record(4, 1, 3, zigzag(5), zigzag(1), zigzag(700), 0, 0, 0),
    record(5, 1, 7, zigzag(10**6), zigzag(30)),
    record(6, 1, 2, zigzag(-300), zigzag(10**5)),
    record(7, 1, 2, 1 << 40, 4096, zigzag(10), zigzag(1)),
    record(8, 12),
    record(1, 77),
    record(2, 4, 3, 0, zigzag(9), zigzag(2000), 0, 0, zigzag(100)),
]

# A device with its address and number, a stream on a hardware queue, a function with all registers.
ROCM = NAMES + [
    record(17, 6, 1, 1, 1, 0, 0, 304, 2100, 64, 1 << 37, 1, 1 + (3 << 8), 0x1a2b3c4d5e6f7081),
    record(18, 7, 6, 2, 0, 4),
    record(19, 8, 1, 6, 41, 0, 0, 9, 41),
]
LAUNCHES = [
    record(13, 1, 1 + zigzag(41), zigzag(10**6), zigzag(900)),
    record(11, zigzag(1), zigzag(0), 5, 3, 0, zigzag(100)),
    record(11, zigzag(1), zigzag(1), 8, 7, zigzag(2), zigzag(50), 3, zigzag(5 - (3 << 32))),
    record(13, 1, 0, zigzag(70), zigzag(20), 77, 1),
    record(11, zigzag(2), zigzag(0), 5, 3, 0, zigzag(1)),
    record(11, zigzag(0), zigzag(0), 5, 3, 0, zigzag(1)),
    record(5, 1, 7, zigzag(10**6), zigzag(30)),
    record(9, 1, 1, 0, 40, zigzag(5), zigzag(9)),
    record(1, 90),
    record(11, zigzag(7), zigzag(50), 99, 98, 0, zigzag(10**6)),
]
TIMES = [
    record(12, zigzag(2), zigzag(2000), zigzag(300)),
    record(12, zigzag(-1), zigzag(-500), zigzag(200), 1),
    record(12, zigzag(3), 0, 0, 2),
    record(12, zigzag(0), zigzag(9), zigzag(9)),
    record(12, zigzag(90), zigzag(9), zigzag(-9)),
]


def main():
    out = sys.argv[1]
    files = {
        "clean": header() + block(DEFINITIONS, 1, NAMES) + block(DATA, 2, ROWS),
        "killed": header(clean=0, begun=9) + block(DEFINITIONS, 1, NAMES, OPEN) +
                  block(DATA, 2, ROWS) + block(DATA, 3, ROWS[:3], OPEN),
        "window": header(flags=1) + block(DEFINITIONS, 1, NAMES) + block(DATA, 9, ROWS) +
                  block(DATA, 7, ROWS[:4]),
        "launches": header(SWITCHED, collector=b"rocm", skipped=(3, 0, 2, 1)) +
                    block(DEFINITIONS, 1, ROCM) + block(DATA, 3, TIMES) + block(DATA, 2, LAUNCHES),
        "launches-killed": header(SWITCHED, clean=0, begun=9, collector=b"rocm") +
                           block(DEFINITIONS, 1, ROCM, OPEN) + block(DATA, 2, LAUNCHES, OPEN) +
                           block(DATA, 3, TIMES[:1], OPEN),
        "launches-window": header(SWITCHED | WINDOW) + block(DEFINITIONS, 4, ROCM[3:]) +
                           block(DATA, 9, TIMES) + block(DATA, 8, LAUNCHES),
    }
    os.makedirs(out, exist_ok=True)
    for name, data in files.items():
        with open(os.path.join(out, name + ".rkraw"), "wb") as f:
            f.write(data.rstrip(b"\0").ljust(len(data) - BLOCK + 512, b"\0"))


if __name__ == "__main__":
    main()
