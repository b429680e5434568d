#!/usr/bin/env python3
"""index.py - the manual is complete and true to the tree.

docs/README.md has every page of docs/, docs/internals has a page for every room of src/, no link leads nowhere, and every
path of the tree that a page names exists.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
PATH = re.compile(r"`((?:src|include|collectors|data|tests|tools|cmake|web|python|examples)/[\w./-]*[\w/])`")
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def links(page):
    """The files that a page leads to, as it names them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return [target for target, _ in LINK.findall(text) if not re.match(r"[a-z]+:", target)]


def main():
    docs = ROOT / "docs"
    pages = sorted(docs.glob("*.md"))
    inner = sorted((docs / "internals").glob("*.md"))
    faults = [f"{page.relative_to(ROOT)}: '{target}' is not there"
              for page in [*pages, *inner, ROOT / "README.md"] for target in links(page)
              if not (page.parent / target).exists()]
    for page in [*pages, *inner, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        faults += [f"{page.relative_to(ROOT)}: there is no '{path}'" for path in PATH.findall(page.read_text())
                   if not (ROOT / path).exists()]
    faults += [f"src/{room.name} has no page in docs/internals" for room in sorted((ROOT / "src").iterdir())
               if room.is_dir() and not (docs / "internals" / f"{room.name}.md").exists()]
    listed = {(docs / target).resolve() for target in links(docs / "README.md")}
    for page in [*pages, *sorted((docs / "man").glob("rockit-*.1"))]:
        if page.resolve() not in listed and page.name != "README.md":
            faults.append(f"docs/README.md does not name {page.relative_to(docs)}")
    print("\n".join(faults))
    print(f"{len(pages) + len(inner)} pages, {len(faults)} faults")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
