#!/usr/bin/env python3
"""Hotspots of recorded PC samples, counted once more.

ROCKIT_RECORDED_DATA names the folder; skipped (77) without it. Each CSV file of PC samples is read
with the csv module, and `rockit report --hotspots` must have the same samples by instruction, line
and stall reason.
"""

import collections
import csv
import json
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
PREFIX = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"


def hotspots(path):
    out = subprocess.run([os.environ["ROCKIT"], "report", "-q", "--hotspots", "--format", "json",
                          str(path)], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def stall_of(row):
    issued = row.get("Wave_Issued_Instruction") == "1"
    return None if issued else (row.get("Stall_Reason") or "").removeprefix(PREFIX) or None


def recount(path):
    spots, lines, stalls = (collections.Counter() for _ in range(3))
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            source = row["Instruction_Comment"] or None
            spots[row["Instruction"], source] += 1
            if source:
                lines[source] += 1
            if stall_of(row):
                stalls[row["Instruction"], source, stall_of(row)] += 1
    return spots, lines, stalls


def check(path):
    spots, lines, stalls = recount(path)
    got = hotspots(path)
    assert len(got["hotspots"]) == 1 and got["hotspots"][0]["kernel"] is None
    kernel = got["hotspots"][0]
    assert got["samples"] == kernel["samples"] == sum(spots.values())
    assert kernel["stalled"] == sum(stalls.values())
    assert {(i["instruction"], i["source"]): i["samples"] for i in kernel["instructions"]} == spots
    assert {line["source"]: line["samples"] for line in kernel["lines"]} == lines
    assert {(i["instruction"], i["source"], reason): n for i in kernel["instructions"]
            for reason, n in i["stalls"].items()} == stalls
    counts = [i["samples"] for i in kernel["instructions"]]
    assert counts == sorted(counts, reverse=True)
    return got["samples"]


def main():
    folder = os.environ.get("ROCKIT_RECORDED_DATA")
    if not folder or not pathlib.Path(folder).is_dir():
        print("skipped: ROCKIT_RECORDED_DATA names no recorded output")
        return SKIPPED
    paths = sorted(pathlib.Path(folder).glob("pc_sampling/*.csv"))
    total = sum(check(path) for path in paths)
    print(f"{len(paths)} files of PC samples, {total} samples counted alike")
    return 0 if paths else 1


if __name__ == "__main__":
    sys.exit(main())
