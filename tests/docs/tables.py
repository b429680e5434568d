#!/usr/bin/env python3
"""tables.py - docs/tables.md lists every table and column that src/table/table.c defines, with its type."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
TYPES = {"RK_I64": "int64", "RK_I32": "int32", "RK_F64": "float64", "RK_STR": "string", "RK_BOOL": "bool"}


def of_code():
    """Table -> [(column, type)], in the order of the code."""
    text = (ROOT / "src/table/table.c").read_text()
    arrays = {name: [(column, TYPES[kind]) for column, kind in re.findall(r'\{ "(\w+)", (RK_\w+) \}', body)]
              for name, body in re.findall(r"struct rk_field (\w+)\[\w+\] = \{(.*?)\n\};", text, re.S)}
    tables = re.findall(r'\[RK_\w+\] = \{ "(\w+)",\s*\{ RK_\w+, RK_\w+, (\w+),', text)
    return {name: arrays[array] for name, array in tables}


def of_page():
    """The same of the page."""
    text = (ROOT / "docs/tables.md").read_text()
    return {name: re.findall(r"^\| (\w+) \| (int64|int32|float64|string|bool) \| \S", body, re.M)
            for name, body in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.M | re.S)}


def main():
    code, page = of_code(), of_page()
    faults = [f"table {name}: " + ("not in docs/tables.md" if name in code else "not in the code")
              for name in code.keys() ^ page.keys()]
    for name in code.keys() & page.keys():
        if code[name] != page[name]:
            faults.append(f"table {name}: the page has {page[name]}, the code has {code[name]}")
    print("\n".join(faults))
    columns = sum(map(len, code.values()))
    print(f"{len(code)} tables, {columns} columns, {len(faults)} faults")
    return 1 if faults or len(code) < 13 or columns < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
