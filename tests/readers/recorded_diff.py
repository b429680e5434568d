#!/usr/bin/env python3
"""recorded_diff.py - comparisons of recorded profiler output: sums hold whatever the input.

Each file below $ROCKIT_RECORDED_DATA that holds kernels or copies is compared with itself, which
must give nothing but zeros, and with the one before it, both ways round. A sample of files, always
the same; all of them with ROCKIT_TEST_FULL=1.
"""
import json
import os
import pathlib
import subprocess
import sys

ROCKIT = os.environ["ROCKIT"]
SKIPPED = 77
BYTES_MAX = 4_000_000  # of a file: the larger ones are not another kind of input
STEP = 1 if os.environ.get("ROCKIT_TEST_FULL") == "1" else 3


def rockit(*args):
    return subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True, timeout=300,
                          check=False)


def diff(a, b):
    done = rockit("diff", "-q", "--format", "json", a, b)
    if done.returncode != 0:
        raise AssertionError(f"{a} {b}: exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def files(top):
    """Those that hold kernels or copies, each with its difference from itself."""
    paths = [p for p in sorted(top.rglob("*")) if p.is_file() and "malformed" not in p.parts]
    for path in paths[::STEP]:
        if path.stat().st_size > BYTES_MAX:
            continue
        done = rockit("diff", "-q", "--format", "json", path, path)
        if done.returncode == 1 and done.stderr.count("\n") == 1:
            continue  # no profiler output: the line says so
        assert done.returncode == 0, (path, done.returncode, done.stderr)
        same = json.loads(done.stdout)
        if same["kernels"] or same["copies"]:
            yield path, same


def check_sums(d):
    for name in ("gpu", "wall"):
        whole = d[name]
        if whole is None:
            continue
        assert whole["b_ns"] - whole["a_ns"] == whole["delta_ns"], name
        for key in ("a_ns", "b_ns", "delta_ns"):
            assert sum(p[key] for p in whole["parts"]) == whole[key], (name, key)
    assert sum(k["delta_ns"] for k in d["kernels"]) == d["gpu"]["delta_ns"]
    for k in d["kernels"]:
        assert k["speed_ns"] + k["calls_ns"] == k["delta_ns"], k["name"]
    if d["copy"]:
        assert sum(c["delta_ns"] for c in d["copies"]) == d["copy"]["delta_ns"]


def check_nothing(d):
    assert d["gpu"]["delta_ns"] == 0
    assert not d["wall"] or all(p["delta_ns"] == 0 for p in d["wall"]["parts"])
    for k in d["kernels"]:
        assert (k["match"], k["speed_ns"], k["calls_ns"]) == ("same", 0, 0), k["name"]
        assert not k["significant"] and "grids" not in k, k["name"]


def check_minus(there, back):
    assert there["gpu"]["delta_ns"] == -back["gpu"]["delta_ns"]
    assert sorted(k["delta_ns"] for k in there["kernels"]) == sorted(
        -k["delta_ns"] for k in back["kernels"])
    assert sorted(k["speed_ns"] for k in there["kernels"]) == sorted(
        -k["speed_ns"] for k in back["kernels"])
    assert sum(k["match"] == "renamed" for k in there["kernels"]) == sum(
        k["match"] == "renamed" for k in back["kernels"])


def main():
    top = os.environ.get("ROCKIT_RECORDED_DATA", "")
    if not top or not pathlib.Path(top).is_dir():
        print("skipped: ROCKIT_RECORDED_DATA names no folder of recorded files")
        return SKIPPED
    before, failed, count = None, 0, 0
    for path, same in files(pathlib.Path(top)):
        try:
            check_sums(same)
            check_nothing(same)
            if before:
                there, back = diff(before, path), diff(path, before)
                check_sums(there)
                check_sums(back)
                check_minus(there, back)
        except AssertionError as error:
            failed += 1
            print(f"FAIL {path}: {error}")
        before = path
        count += 1
    print(f"{count} recorded files compared, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
