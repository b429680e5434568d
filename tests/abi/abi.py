#!/usr/bin/env python3
"""abi.py [--update] - the C API keeps its promise.

Exported symbols, headers, and cmake/rockit.map name the same functions. Sizes and offsets of all
structs and the values of all enums are those of rockit-1.0.txt, on x86-64 and aarch64; each header
compiles by itself as C17 and as C++17. --update adds new entries to the list and refuses to change
existing ones.

A struct may change in two ways: the library's own, which callers only point to, grow at their ends;
in others a field takes words of `reserved`.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCKIT_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
LIST = pathlib.Path(__file__).with_name("rockit-1.0.txt")
HEADERS = sorted((SOURCE / "include/rockit").glob("*.h"))
INCLUDE = ["-I", str(SOURCE / "include")]
COMPILER = os.environ.get("ROCKIT_CC", "cc")
# Made by the library and never part of an array: they may grow.
GROW = {"rk_report", "rk_metrics", "rk_diff", "rk_doctor", "rk_hotspots", "rk_preset", "rk_ranks",
        "rk_counter_plan", "rk_planned", "rk_pack_proof"}


def text_of(header):
    text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
    return re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


def functions():
    """Names that headers declare."""
    return {name for h in HEADERS for name in re.findall(r"\b(rk_\w+)\s*\(", text_of(h))}


def fields_of(body):
    for part in body.split(";"):
        part = " ".join(part.split())
        if not part:
            continue
        pointer = re.search(r"\(\*(\w+)\)", part)
        if pointer:
            yield pointer.group(1)
            continue
        for one in part.split(","):
            yield re.search(r"(\w+)(?:\[[^\]]*\])*$", one.strip()).group(1)


def structs():
    """[(struct, [field])] in the order of the headers."""
    for header in HEADERS:
        for name, body in re.findall(r"\bstruct (\w+) \{(.*?)\n\}", text_of(header), re.S):
            yield name, list(fields_of(body))


def constants():
    for header in HEADERS:
        for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", text_of(header), re.S):
            for part in body.split(","):
                if part.strip():
                    yield re.match(r"\s*(\w+)", part).group(1)


def program():
    """A C program that prints the list."""
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += [f"#include <rockit/{h.name}>" for h in HEADERS]
    lines += ["#define S(s) printf(\"struct %s %zu\\n\", #s, sizeof(struct s))",
              "#define F(s, f) printf(\"  %s.%s %zu %zu\\n\", #s, #f, offsetof(struct s, f), "
              "sizeof(((struct s *)0)->f))", "#define E(e) printf(\"enum %s %lld\\n\", #e, (long long)(e))",
              "int main(void)\n{"]
    for name, fields in structs():
        lines.append(f"S({name});")
        lines += [f"F({name}, {f});" for f in fields]
    lines += [f"E({c});" for c in constants()]
    return "\n".join(lines) + "\nreturn 0;\n}\n"


def measured():
    with tempfile.TemporaryDirectory(prefix="rockit-abi-") as top:
        path = pathlib.Path(top, "list.c")
        path.write_text(program())
        subprocess.run([COMPILER, "-std=c17", *INCLUDE, str(path), "-o", top + "/list"], check=True)
        return subprocess.run([top + "/list"], check=True, capture_output=True,
                              text=True).stdout.splitlines()


def entries(lines):
    """{"struct NAME" | "NAME.FIELD" | "enum NAME": numbers}"""
    found = {}
    for line in lines:
        words = line.split()
        if words and not line.startswith("#"):
            key = " ".join(words[:2]) if words[0] in ("struct", "enum") else words[0]
            found[key] = [int(w) for w in words if re.fullmatch(r"-?\d+", w)]
    return found


def broken(old, new):
    """Entries of the old list that have changed."""
    for key, numbers in old.items():
        struct = key.removeprefix("struct ").split(".")[0]
        now = new.get(key)
        if key.endswith(".reserved") and struct not in GROW:
            continue  # the size of the struct says whether it was used as it should be
        if now is None:
            yield f"{key} is gone"
        elif key.startswith("struct ") and struct in GROW and now[0] >= numbers[0]:
            continue
        elif now != numbers:
            yield f"{key} was {numbers}, is {now}"


def check_layout(update):
    lines = measured()
    new = entries(lines)
    old = entries(LIST.read_text().splitlines()) if LIST.exists() else {}
    faults = list(broken(old, new))
    added = [k for k in new if k not in old]
    if update and not faults:
        LIST.write_text("# Layouts and constants of the C API, by tests/abi/abi.py --update.\n" +
                        "\n".join(lines) + "\n")
        print(f"{len(new)} entries, {len(added)} new")
        return []
    if added and not update:
        faults.append(f"not in {LIST.name} yet, see abi.py --update: {', '.join(added[:8])}")
    return faults


def check_symbols():
    wanted = functions()
    map_text = (SOURCE / "cmake/rockit.map").read_text()
    mapped = set(re.findall(r"^\t(rk_\w+);", map_text, re.M))
    faults = [f"{n} is declared, but cmake/rockit.map does not name it" for n in wanted - mapped]
    faults += [f"{n} is in cmake/rockit.map, but no header declares it" for n in mapped - wanted]
    library = pathlib.Path(os.environ["ROCKIT"]).parent / "librockit.so.1"
    out = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True,
                         capture_output=True, text=True).stdout
    exported = re.findall(r"^\w+ (\w) (\S+)$", out, re.M)
    names = {n.split("@")[0] for kind, n in exported if kind != "A"}
    faults += [f"{n} is not exported" for n in wanted - names]
    faults += [f"{n} is exported and should not be" for n in names - wanted]
    faults += [f"{n} has no version" for kind, n in exported
               if kind != "A" and not re.search(r"@@ROCKIT_1\.\d+$", n)]
    dynamic = subprocess.run(["readelf", "-d", str(library)], check=True, capture_output=True,
                             text=True).stdout
    faults += ["text relocations"] if "TEXTREL" in dynamic else []
    faults += [f"needs {n}" for n in re.findall(r"\[(libstdc\+\+\S*|libgcc\S*)\]", dynamic)]
    return faults


def compiles(argv, code, suffix):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
        file.write(code)
        file.flush()
        done = subprocess.run([*argv, *INCLUDE, "-fsyntax-only", file.name], capture_output=True,
                              text=True, check=False)
    return done.stderr if done.returncode else ""


def check_headers():
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    languages = [([COMPILER, "-std=c17", "-Wstrict-prototypes", *strict], ".c")]
    if shutil.which("g++"):
        languages.append((["g++", "-std=c++17", *strict], ".cc"))
    for argv, suffix in languages:
        for header in HEADERS:
            # twice, for its guard, and alone, for what it includes
            code = f"#include <rockit/{header.name}>\n" * 2 + "int nothing_else;\n"
            fault = compiles(argv, code, suffix)
            if fault:
                yield f"{header.name} as {suffix[1:]}: {fault}"


def check_other_machine():
    """The same sizes and offsets for ARM, where a clang is that can say so."""
    clang = next((c for c in ("clang-14", "clang", "clang-18") if shutil.which(c)), None)
    if not clang:
        return
    lines = [f"#include <rockit/{h.name}>" for h in HEADERS]
    for key, numbers in entries(LIST.read_text().splitlines()).items():
        if key.startswith("struct "):
            lines.append(f"_Static_assert(sizeof({key}) == {numbers[0]}, \"\");")
        elif not key.startswith("enum "):
            struct, field = key.split(".")
            lines.append(f"_Static_assert(offsetof(struct {struct}, {field}) == {numbers[0]}, \"\");")
    argv = [clang, "--target=aarch64-linux-gnu", "-std=c17", "-ffreestanding"]
    fault = compiles(argv, "\n".join(lines) + "\n", ".c")
    if fault:
        yield f"aarch64: {fault}"


def check_page():
    """docs/api.md names every header, and nothing that is not there."""
    page = (SOURCE / "docs/api.md").read_text()
    known = functions() | {name for name, _ in structs()}
    known |= set(re.findall(r"\b(?:struct|enum) (rk_\w+)", "".join(map(text_of, HEADERS))))
    for name in sorted(set(re.findall(r"\brk_\w+", page)) - known):
        yield f"docs/api.md: no {name}"
    for header in HEADERS:
        if f"`{header.name}`" not in page and header.name != "decls.h":
            yield f"docs/api.md: nothing about {header.name}"


def main():
    if "--update" in sys.argv[1:]:
        faults = check_layout(True)
    else:
        faults = [*check_layout(False), *check_symbols(), *check_headers(), *check_page(),
                  *check_other_machine()]
    for fault in faults:
        print(f"FAIL {fault}")
    if not faults:
        print(f"ok   {len(functions())} functions, {len(list(structs()))} structs, "
              f"{len(HEADERS)} headers")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
