#!/usr/bin/env python3
"""Every mangled name in the recorded files is shown as c++filt shows it.

The names are searched for in the raw bytes of the files that ROCKIT_RECORDED_DATA holds, whatever
their format, and are given to rockit as the kernels of one trace. Skipped (77) without the folder.
`c++filt -r`: without -r it gives up on the deepest names.
"""

import csv
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROCKIT = os.environ.get("ROCKIT", "rockit")
NAME = re.compile(rb"_Z[A-Za-z0-9_$]{3,20000}")
INSIDE = re.compile(rb"[A-Za-z0-9_$]")  # before it: the end of a longer word
HEADER = ["Kind", "Agent_Id", "Queue_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
          "Start_Timestamp", "End_Timestamp"]


def names_of(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError):  # some are damaged on purpose
            return set()
    return {m[0].decode() for m in NAME.finditer(data)
            if not INSIDE.match(data, max(0, m.start() - 1), m.start())}


def main():
    folder = os.environ.get("ROCKIT_RECORDED_DATA")
    if not folder or not os.path.isdir(folder):
        print("skipped: ROCKIT_RECORDED_DATA names no recorded output")
        return 77
    names = sorted(set().union(*(names_of(p) for p in pathlib.Path(folder).rglob("*") if p.is_file())))
    filt = subprocess.run(["c++filt", "-r"], input="\n".join(names) + "\n", capture_output=True,
                          text=True, check=True)
    csv.field_size_limit(1 << 30)
    with tempfile.TemporaryDirectory() as temp:
        trace = os.path.join(temp, "names_kernel_trace.csv")
        with open(trace, "w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(HEADER)
            for i, name in enumerate(names):
                rows.writerow(["KERNEL_DISPATCH", 1, 1, i, name, i, 1000 * i, 1000 * i + 500])
        run = subprocess.run([ROCKIT, "convert", "-q", "--table", "kernels", "-f", "csv", "-o", "-",
                              trace], capture_output=True, text=True, check=True, timeout=300)
    shown = sorted((int(r["start_ns"]) // 1000, r["kernel_name"])
                   for r in csv.DictReader(run.stdout.splitlines(keepends=True)))
    failed = 0
    for name, want, (_, got) in zip(names, filt.stdout.splitlines(), shown, strict=True):
        if got != want:
            failed += 1
            print(f"FAIL {name[:200]}\n  is   {got[:200]}\n  not  {want[:200]}")
    print(f"{len(names) - failed} names agree, {failed} do not")
    return 1 if failed or len(names) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
