"""What the tests of ELF edits share: the tool, and what other programs say about a file."""

import collections
import os
import re
import shutil
import subprocess

TOOL = os.environ["ELF_TOOL"]
FULL = os.environ.get("ROCKIT_TEST_FULL") == "1"
SKIPPED = 77
STAYS = 3  # elf-tool: the file must stay as it is

Dynamic = collections.namedtuple("Dynamic", "soname needed rpath runpath")
ENTRY = re.compile(r"\((NEEDED|SONAME|RPATH|RUNPATH)\)\s+[^:]+: \[(.*)\]$")


def call(*argv, **more):
    """Output and error in one text, and the status."""
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="backslashreplace", check=False, **more)
    return done.returncode, done.stdout


def must(*argv, **more):
    status, text = call(*argv, **more)
    if status != 0:
        raise AssertionError(f"{' '.join(map(str, argv))}: status {status}\n{text}")
    return text


def edit(path, out, rpath, tag="rpath"):
    """(way, bytes grown); (None, why) when the file must stay as it is."""
    status, text = call(TOOL, "edit", path, out, "-" if rpath is None else rpath, tag)
    if status == STAYS:
        return None, text.strip()
    if status != 0:
        raise AssertionError(f"elf-tool edit {path}: status {status}\n{text}")
    shutil.copymode(path, out)
    way, grown = text.split()
    return way, int(grown)


def dynamic(path):
    """The names of a file's dynamic section, as binutils has them."""
    found = {"NEEDED": [], "SONAME": [], "RPATH": [], "RUNPATH": []}
    for line in call("readelf", "-dW", path)[1].splitlines():
        match = ENTRY.search(line)
        if match:
            found[match[1]].append(match[2])
    return Dynamic(found["SONAME"], found["NEEDED"], found["RPATH"], found["RUNPATH"])


def printed(path):
    """The same as rockit reads them; None when the file is broken."""
    status, text = call(TOOL, "print", path)
    if status != 0:
        return None
    found = collections.defaultdict(list)
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        found[name].append(value)
    return found


def empty_sections(path):
    """Where these are counted to is anybody's choice."""
    sizes = re.findall(r"\] (\S+)\s+\S+\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) ",
                       call("readelf", "-SW", path)[1])
    return [f"'{name}'" for name, size in sizes if int(size, 16) == 0]


def lint(path):
    """What eu-elflint objects to, without the numbers that an edit changes."""
    text = call("eu-elflint", "--gnu-ld", path)[1]
    lines = [line for line in text.splitlines() if line and line != "No errors"]
    if lines:
        empty = empty_sections(path)
        lines = [line for line in lines if not any(name in line for name in empty)]
    return collections.Counter(re.sub(r"0x[0-9a-f]+|\d+", "N", line) for line in lines)


def check_lint(old, new):
    now = lint(new)
    more = now - lint(old) if now else None
    if more:
        raise AssertionError(f"eu-elflint has something new about {new}: {dict(more)}")


def check_dynamic(old, new, rpath, tag="rpath"):
    """Exactly the wanted run path, all else as it was."""
    was, now = dynamic(old), dynamic(new)
    want = was._replace(rpath=[rpath] if tag == "rpath" else [],
                        runpath=[rpath] if tag == "runpath" else [])
    if now != want:
        raise AssertionError(f"{new}: {now}, not {want}")


def missing(*programs):
    return [p for p in programs if not shutil.which(p)]
