#!/usr/bin/env python3
"""The machine code of the launchers is what an assembler makes of the words beside it."""

import re
import shutil

from libcheck import HERE, SOURCE, Skip, main, on_each_machine, run

BYTES = re.compile(r"^\t((?:0x[0-9a-f]{2},\s*)+)(?:/\* (.*) \*/)?$")


def listing_of(machine):
    """The bytes of the C file, and the assembler's words for them with a label for the path."""
    data, words, waiting = bytearray(), [], False
    for line in (SOURCE / f"src/pack/elf/launcher_{machine}.c").read_text().splitlines():
        match = BYTES.match(line)
        if not match:
            assert "0x" not in line, line
            continue
        data += bytes(int(byte, 16) for byte in re.findall("0x..", match[1]))
        waiting = not match[2]
        if match[2]:
            words.append(match[2])
    assert words and not waiting
    return bytes(data), "\n".join(words + ["path:", ""])


def tool(machine, name):
    found = shutil.which(f"{machine}-linux-gnu-{name}")
    if not found and machine == HERE:
        found = shutil.which(name)
    if not found:
        raise Skip(f"no assembler for {machine} here")
    return found


@on_each_machine
def the_bytes_are_those_of_the_listing(folder, machine):
    data, words = listing_of(machine)
    (folder / "listing.s").write_text(words)
    run(tool(machine, "as"), "-o", folder / "listing.o", folder / "listing.s")
    run(tool(machine, "objcopy"), "-O", "binary", "-j", ".text", folder / "listing.o",
        folder / "listing.bin")
    again = (folder / "listing.bin").read_bytes()
    # sections are padded to whole words
    assert again[:len(data)] == data, "the listing gives other bytes"
    assert len(again) - len(data) < 8 and not any(again[len(data):])


if __name__ == "__main__":
    main()
