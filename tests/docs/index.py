#!/usr/bin/env python3
"""index.py - docs/README.md has every page of docs/, and no link of the manual leads nowhere."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def links(page):
    """The files that a page leads to, as it names them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return [target for target, _ in LINK.findall(text) if not re.match(r"[a-z]+:", target)]


def main():
    docs = ROOT / "docs"
    pages = sorted(docs.glob("*.md"))
    faults = [f"{page.relative_to(ROOT)}: '{target}' is not there"
              for page in [*pages, ROOT / "README.md"] for target in links(page)
              if not (page.parent / target).exists()]
    listed = {(docs / target).resolve() for target in links(docs / "README.md")}
    for page in [*pages, *sorted((docs / "man").glob("rockit-*.1"))]:
        if page.resolve() not in listed and page.name != "README.md":
            faults.append(f"docs/README.md does not name {page.relative_to(docs)}")
    print("\n".join(faults))
    print(f"{len(pages)} pages, {len(faults)} faults")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
