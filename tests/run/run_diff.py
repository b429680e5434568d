#!/usr/bin/env python3
"""`rockit diff` on real runs of the bundled example, recorded by the OpenCL layer.

Repeated runs have the same structure however loaded the machine is; a launch that is done twice,
another order, another grid are found. Skipped where there is no layer or no OpenCL device.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import librun
from librun import ROCKIT, SOURCE, test

BUILD = pathlib.Path(ROCKIT).resolve().parent
LAYER = BUILD / "librockit-opencl.so"
EXAMPLE = BUILD / "example-inference"
FULL = os.environ.get("ROCKIT_TEST_FULL") == "1"
SKIPPED = 77
CACHE = tempfile.mkdtemp(prefix="rockit-pocl-")
WITHIN, BEYOND, UNKNOWN = 0, 3, 4


def sanitized():
    """Programs that are built without the sanitizer cannot load the layer then."""
    data = LAYER.read_bytes()
    return b"__asan_init" in data or b"__tsan_init" in data


def repeats():
    """A sanitizer makes each run ten times as long and tells nothing new about it."""
    return 1000 if FULL and not sanitized() else 30


def environment(**more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OPENCL_", "ROCKIT_COLLECT", "POCL_"))}
    env.update(POCL_CACHE_DIR=CACHE, **more)
    # The runtime's own leaks and races are not ours to report.
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    env["TSAN_OPTIONS"] = env.get("TSAN_OPTIONS", "") + ":ignore_noninstrumented_modules=1"
    return env


def record(place, name, *argv, **more):
    """A program with the layer; the folder of its records."""
    raw = place.path / name
    raw.mkdir()
    env = environment(OPENCL_LAYERS=str(LAYER), ROCKIT_COLLECT=f"dir={raw}", **more)
    done = subprocess.run([str(a) for a in argv or (EXAMPLE, 2)], env=env, capture_output=True,
                          timeout=300, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stderr
    return raw


def diff(*args):
    done = subprocess.run([ROCKIT, "diff", *map(str, args)], capture_output=True, text=True,
                          timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def structure(a, b):
    return diff("--structure", a, b)


def difference(a, b):
    status, out, err = diff("--structure", "--format", "json", a, b)
    assert status == BEYOND, (status, err)
    found = json.loads(out)["structure"]["differences"]
    return {kind: [f for f in found if f["kind"] == kind] for kind in {f["kind"] for f in found}}


@test
def repeated_runs_have_the_same_structure(place):
    first = record(place, "first")
    for i in range(repeats() - 1):
        again = record(place, "again", POCL_MAX_PTHREAD_COUNT=str(1 + i % 4))
        status, out, err = structure(first, again)
        assert (status, err) == (WITHIN, ""), (i, status, out, err)
        shutil.rmtree(again)


def changed(place, name, old, new):
    """The example with a line changed, compiled."""
    compiler = shutil.which("cc")
    if not compiler or sanitized():
        raise librun.Skip("no compiler, or a layer for programs with a sanitizer only")
    text = (SOURCE / "examples/inference.c").read_text()
    assert text.count(old) == 1, old
    source = place.path / f"{name}.c"
    source.write_text(text.replace(old, new))
    subprocess.run([compiler, "-o", str(place.path / name), str(source), "-lOpenCL", "-lm"],
                   check=True, capture_output=True)
    return place.path / name


GELU = "launch(MAIN, GELU, 1, &global, NULL, NULL, NULL);"


@test
def a_launch_that_is_done_twice_is_found(place):
    program = changed(place, "twice", GELU, GELU + GELU)
    found = difference(record(place, "a"), record(place, "b", program, 2))
    assert [(f["subject"], f["a"], f["b"]) for f in found["launches"]] == [("gelu", 4, 8)], found
    sequence, = found["sequence"]
    assert sequence["b"] == sequence["a"] + 4
    assert "[gelu" in sequence["around_b"] and "[gelu" not in sequence["around_a"], sequence
    assert "bytes" not in found and "copies" not in found, found


@test
def another_size_of_a_launch_is_found(place):
    program = changed(place, "other", GELU, "global /= 2;" + GELU)
    found = difference(record(place, "a"), record(place, "b", program, 2))
    assert "launches" not in found and {f["subject"] for f in found["grids"]} == {"gelu"}, found


@test
def another_number_of_steps_is_found_in_launches_and_bytes(place):
    found = difference(record(place, "a"), record(place, "b", EXAMPLE, 3))
    assert {f["subject"] for f in found["launches"]} == {
        "gemm", "softmax", "layer_norm", "gelu", "residual", "reduce_sum"}
    assert len(found["bytes"]) == 3 and len(found["copies"]) == 3, found


@test
def parts_of_real_runs_sum(place):
    runs = [record(place, name, EXAMPLE, 3) for name in ("a", "b", "c")]
    for a, b in ((runs[:1], runs[1:2]), (runs[:2], runs[2:])):
        status, out, err = diff("--format", "json", *a, "--", *b)
        assert status == 0, err
        there = json.loads(out)
        back = json.loads(diff("--format", "json", *b, "--", *a)[1])
        for whole in ("gpu", "wall"):
            parts = there[whole]["parts"]
            for key in ("a_ns", "b_ns", "delta_ns"):
                assert sum(p[key] for p in parts) == there[whole][key], (whole, key)
            assert there[whole]["delta_ns"] == -back[whole]["delta_ns"]
        assert sum(k["delta_ns"] for k in there["kernels"]) == there["gpu"]["delta_ns"]
        assert sum(c["delta_ns"] for c in there["copies"]) == there["copy"]["delta_ns"]
    nothing = json.loads(diff("--format", "json", runs[0], runs[0])[1])
    assert nothing["gpu"]["delta_ns"] == nothing["wall"]["delta_ns"] == 0


@test
def gpu_time_is_that_of_the_report(place):
    raw = record(place, "a", EXAMPLE, 3)
    report = json.loads(subprocess.run([ROCKIT, "report", "--format", "json", str(raw)],
                                       capture_output=True, text=True, check=True).stdout)
    side = json.loads(diff("--format", "json", raw, raw)[1])
    assert side["gpu"]["a_ns"] == report["sum_duration_ns"]
    assert side["a"]["kernel_calls"] == report["kernel_rows"]


@test
def a_program_that_was_killed_is_not_judged(place):
    whole = record(place, "whole", EXAMPLE, 50)
    raw = place.path / "killed"
    raw.mkdir()
    env = environment(OPENCL_LAYERS=str(LAYER), ROCKIT_COLLECT=f"dir={raw}")
    with subprocess.Popen([EXAMPLE, "100000"], env=env, stdout=subprocess.DEVNULL) as child:
        while not any(f.stat().st_size for f in raw.glob("*.rkraw")):
            assert child.poll() is None
        signal.sigtimedwait([], 1)
        child.send_signal(signal.SIGKILL)
    for option in (("--structure",), ("--gate", "1000000")):
        status, out, err = diff(*option, whole, raw)
        assert status == UNKNOWN, (option, status, out, err)
    assert diff(whole, raw)[0] == 0


@test
def directories_of_rockit_run_compare(place):
    for name in ("one", "two"):
        done = subprocess.run([ROCKIT, "run", "--tool", "opencl", "-q", "-d",
                               str(place.path / name), "--", str(EXAMPLE), "2"],
                              env=environment(), capture_output=True, text=True, timeout=300,
                              check=False)
        assert done.returncode == 0, done.stderr
    status, out, err = structure(place.path / "one", place.path / "two")
    assert (status, err) == (WITHIN, ""), (status, out, err)
    status, out, err = diff("--gate", "100000", place.path / "one", place.path / "two")
    assert status == WITHIN, (status, out, err)
    record_file = place.path / "two" / "run.json"
    text = record_file.read_text()
    record_file.chmod(0o644)
    record_file.write_text(text.replace('"state": "done"', '"state": "running"'))
    assert structure(place.path / "one", place.path / "two")[0] == UNKNOWN


def main():
    if not LAYER.exists() or not EXAMPLE.exists():
        print("skipped: the OpenCL layer was not built")
        return SKIPPED
    probe = subprocess.run([EXAMPLE, "1"], capture_output=True, env=environment(), check=False)
    if probe.returncode != 0 and b"no OpenCL" in probe.stderr:
        print("skipped: no OpenCL device")
        return SKIPPED
    return librun.main()


if __name__ == "__main__":
    try:
        STATUS = main()
    finally:
        shutil.rmtree(CACHE, ignore_errors=True)
    sys.exit(STATUS)
