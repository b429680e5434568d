#!/usr/bin/env python3
"""troubleshooting.py - every heading of docs/troubleshooting.md is a message of rockit.

Each heading of the third order has to be what some format string of the sources can print. Where an
entry has an example, the example is typed, and prints the message of its heading.
"""
import ast
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tutorial
from tutorial import ROCKIT, ROOT

PAGE = ROOT / "docs/troubleshooting.md"
# Comments, characters, strings, in the order in which C sees them.
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\])+\'|"((?:\\.|[^"\\])*)"|PRI[a-zA-Z0-9]+|\s+|.', re.S)
CONVERSION = re.compile(r"%%|%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]?")
ESCAPES = {"\\n": "", "\\t": " ", '\\"': '"', "\\\\": "\\", "\\'": "'"}
FEWEST = 14  # characters of a format that are not conversions: '%s: %s' could print anything


def strings(text):
    """The string literals of a C source, neighbours joined; PRIu64 ends a conversion."""
    joined = None
    for match in TOKEN.finditer(text):
        token = match.group(0)
        if match.group(1) is not None:
            joined = (joined or "") + match.group(1)
        elif joined is not None and token.startswith("PRI"):
            joined += "u"
        elif joined is not None and not token.isspace() and not token.startswith(("/*", "//")):
            yield joined
            joined = None


def pattern_of(literal):
    """A regular expression for what a format prints, and how much of it is fixed."""
    literal = literal.removeprefix("# ")  # plans are comments
    for escape, plain in ESCAPES.items():
        literal = literal.replace(escape, plain)
    fixed, out, at = 0, "", 0
    for match in CONVERSION.finditer(literal):
        part = literal[at:match.start()]
        fixed += len(part.replace(" ", ""))
        out += re.escape(part) + ("%" if match.group(0) == "%%" else ".*")
        at = match.end()
    fixed += len(literal[at:].replace(" ", ""))
    return out + re.escape(literal[at:]), fixed


def python_strings(text):
    """Texts of a Python source; what is put into them is %s."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value.replace("%", "%%") if isinstance(part, ast.Constant) else "%s"
                          for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.replace("%", "%%")


def formats():
    for path in sorted((ROOT / "python/rockit").glob("*.py")):
        for text in python_strings(path.read_text()):
            pattern, fixed = pattern_of(text)
            if fixed >= FEWEST:
                yield re.compile(pattern, re.S)
    for folder in ("src", "collectors"):
        for path in sorted((ROOT / folder).rglob("*.c")):
            for literal in strings(path.read_text()):
                pattern, fixed = pattern_of(literal)
                if fixed >= FEWEST:
                    yield re.compile(pattern, re.S)
    for row in json.loads((ROOT / "data/tools/hazards.json").read_text())["hazards"]:
        yield re.compile(re.escape(": ".join(row[k] for k in ("symptom", "advice") if k in row)))


def entries(text):
    """Each message with the text of its entry."""
    parts = re.split(r"^#+ (.*)\n", text, flags=re.M)
    levels = re.findall(r"^(#+) ", text, flags=re.M)
    return [(head, body) for level, head, body in zip(levels, parts[1::2], parts[2::2]) if level == "###"]


def is_message(message, known):
    """Whether a format can print the whole of it."""
    return any(p.fullmatch(message) for p in known)


def check_itself(known):
    """A text that is not a message is not found."""
    for false in ("the collector was loaded twice", "no profiler output", "unknown counter"):
        assert not is_message(false, known), false


def run_examples(text, env, folder):
    """The outputs of each block's commands, and what did not come as the page says."""
    bash = tutorial.Bash(folder, env)
    faults = []
    for message, body in entries(text):
        printed = []
        for need, commands in tutorial.blocks(body):
            if tutorial.lacking(need, env):
                continue
            for i, (command, want) in enumerate(commands):
                asked = i + 1 < len(commands) and commands[i + 1][0] == "echo $?"
                got, status = bash.type(command)
                printed += got
                faults.append(tutorial.fault_of(command, want, got, status, asked))
        words = re.split(r"'[^']*'|\d+", message)
        if printed and not any(all(word in line for word in words) for line in printed):
            faults.append(f"the example of '{message}' does not print it:\n" + "\n".join(printed))
    bash.process.stdin.close()
    bash.process.wait()
    return [fault for fault in faults if fault]


def main():
    text = PAGE.read_text()
    known = list(formats())
    check_itself(known)
    messages = [message for message, _ in entries(text)]
    faults = [f"nothing in the sources prints: {m}" for m in messages if not is_message(m, known)]
    faults += [f"twice: {m}" for m in set(messages) if messages.count(m) > 1]
    if (ROCKIT.parent / "example-inference").exists():
        with tempfile.TemporaryDirectory(prefix="rockit-trouble-") as folder:
            env = tutorial.surroundings(folder)
            env["ROCKIT_SYSFS_ROOT"] = str(pathlib.Path(folder, "no-devices"))
            faults += run_examples(text, env, folder)
    print("\n\n".join(faults))
    print(f"{PAGE.name}: {len(messages)} messages, {len(faults)} faults")
    return 1 if faults or len(messages) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
