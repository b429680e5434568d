#!/usr/bin/env python3
"""record and run --window: a program goes on for ever, its file stays small, and its newest part is kept.

With the OpenCL collector and a real OpenCL runtime on the CPU. Skipped where the collector was not built
or there is no OpenCL device.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import librun
from librun import ROCKIT, test

BUILD = pathlib.Path(ROCKIT).resolve().parent
ENDLESS = str(BUILD / "cl-endless")
SKIPPED = 77
CACHE = tempfile.mkdtemp(prefix="rockit-pocl-")
SIZE = 4 << 20


class Recording:
    """A rockit that records a program in the background."""

    def __init__(self, place, *args, verb="record", app=(ENDLESS, "wait")):
        self.dir = place.path / "r"
        self.process = subprocess.Popen(
            [ROCKIT, verb, "--tool", "opencl", "-d", str(self.dir), *map(str, args), "--", *app],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
            start_new_session=True, env=place.env(POCL_CACHE_DIR=CACHE))

    def launches(self, least):
        """Reads what the program says until it made so many launches."""
        for line in self.process.stdout:
            if int(line) >= least:
                return int(line)
        raise AssertionError(self.process.stderr.read())

    def pid(self):
        return int(next(self.dir.glob("rocprof_raw/*.rkraw")).stem)

    def end(self, number=signal.SIGTERM):
        """Ends the program, not rockit. What rockit said and its status."""
        os.kill(self.pid(), number)
        _, err = self.process.communicate(timeout=180)
        return err, self.process.returncode

    def run_json(self):
        return json.loads((self.dir / "run.json").read_text())

    def snaps(self):
        return sorted(p.name for p in self.dir.glob("snap-*"))


def wait_for(what, seconds=60):
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.05)


def kernels(place, path):
    done = place.rockit("report", "-f", "json", path)
    assert done.returncode == 0, done.stderr
    return sum(k["calls"] for k in json.loads(done.stdout)["kernels"])


@test
def a_recording_has_a_fixed_size_and_ends_with_its_program(place):
    r = Recording(place, "--max-size", "4M")
    made = r.launches(400_000)
    file = r.dir / "rocprof_raw" / f"{r.pid()}.rkraw"
    assert file.stat().st_size <= SIZE, file.stat().st_size
    assert file.stat().st_mode & 0o777 == 0o600
    err, status = r.end()
    assert status == 128 + signal.SIGTERM, (status, err)
    assert not list(r.dir.glob("*.parquet")), "record converts nothing"
    assert 10_000 < kernels(place, r.dir) < made
    run = r.run_json()
    assert run["window"]["bytes"] == SIZE and run["exit_status"] == status


@test
def a_run_with_a_window_is_converted_at_its_end(place):
    r = Recording(place, "--window", "--max-size", "4M", verb="run")
    r.launches(200_000)
    err, status = r.end()
    assert status == 128 + signal.SIGTERM, (status, err)
    assert (r.dir / "rocprof_kernels.parquet").exists(), err
    assert kernels(place, r.dir) > 10_000


@test
def a_signal_makes_a_snapshot_and_the_program_goes_on(place):
    r = Recording(place, "--max-size", "4M", "--snap-on", "signal")
    made = r.launches(1000)
    r.process.send_signal(signal.SIGUSR2)
    wait_for(lambda: (r.dir / "snap-001" / "run.json").exists())
    r.process.send_signal(signal.SIGUSR2)  # too early
    r.launches(made + 1000)
    err, _ = r.end()
    assert r.snaps() == ["snap-001"], (r.snaps(), err)
    assert "snap-001: SIGUSR2" in err and "less than 10 s ago" in err, err
    assert r.run_json()["window"]["snaps"] == {"snap-001": "SIGUSR2"}
    assert kernels(place, r.dir / "snap-001") >= 1000
    # the copies do not count with the run
    whole = kernels(place, r.dir)
    shutil.rmtree(r.dir / "snap-001")
    assert kernels(place, r.dir) == whole


@test
def a_snapshot_says_how_much_of_its_time_the_window_holds(place):
    r = Recording(place, "--max-size", "1M", "--last", "60s", "--snap-on", "crash")
    r.launches(200_000)
    err, _ = r.end(signal.SIGKILL)
    found = re.search(r"it holds (\d+) of 60 s, --max-size (\d+)M would hold all", err)
    assert found and int(found[1]) < 60 and int(found[2]) > 1, err


@test
def only_the_newest_snapshots_are_kept(place):
    r = Recording(place, "--max-size", "4M", "--snap-on", "signal,crash", "--keep", "1")
    r.launches(1000)
    r.process.send_signal(signal.SIGUSR2)
    wait_for(lambda: (r.dir / "snap-001" / "run.json").exists())
    err, status = r.end(signal.SIGKILL)  # one at a crash comes however early
    assert status == 128 + signal.SIGKILL
    assert r.snaps() == ["snap-002"], (r.snaps(), err)
    assert "snap-002: the program was ended by signal 9" in err, err
    assert kernels(place, r.dir / "snap-002") >= 1000


@test
def a_program_that_was_stopped_through_rockit_did_not_crash(place):
    r = Recording(place, "--snap-on", "crash")
    r.launches(1000)
    r.process.send_signal(signal.SIGTERM)
    _, err = r.process.communicate(timeout=180)
    assert r.process.returncode == 128 + signal.SIGTERM, err
    assert r.snaps() == [], err


@test
def without_that_trigger_the_signal_is_the_programs(place):
    r = Recording(place, "--snap-on", "crash")
    r.launches(1000)
    r.process.send_signal(signal.SIGUSR2)
    _, err = r.process.communicate(timeout=180)
    assert r.process.returncode == 128 + signal.SIGUSR2, err


@test
def a_time_without_kernels_makes_a_snapshot(place):
    r = Recording(place, "--snap-on", "gap:300ms", "--max-size", "4M")
    r.launches(20_000)
    os.kill(r.pid(), signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(r.pid(), signal.SIGCONT)
    r.launches(21_000)
    wait_for(lambda: r.snaps())
    err, _ = r.end()
    assert "snap-001: no kernel ran for" in err, err


@test
def the_first_seconds_are_left_out_and_so_is_the_rest(place):
    r = Recording(place, "--delay", "2", "--duration", "2s", "--max-size", "64M")
    wait_for(lambda: list(r.dir.glob("rocprof_raw/*.rkraw")))
    begin = time.monotonic()
    made = 0
    while time.monotonic() < begin + 7:
        made = r.launches(made + 1)
    err, _ = r.end()
    done = place.rockit("report", "-f", "json", r.dir)
    report = json.loads(done.stdout)
    assert 0 < kernels(place, r.dir) < made, (made, done.stderr, err)
    assert report["max_end_ns"] - report["min_start_ns"] < 3.0e9, report
    asleep = r.run_json()["ledger"]["dropped"]["asleep"]
    assert int(asleep.split(":")[0]) > 0, asleep


@test
def options_that_a_tool_cannot_honour_are_misuse(place):
    v3 = ["--tool", "rocprofv3", "--tool-version", "7.0"]
    for args in ([*v3, "--window"], [*v3, "--sample", "1/10"], [*v3, "--every", "1:2"],
                 ["--tool", "opencl", "--range", "x"], ["--max-size", "4M", "--tool", "opencl"]):
        done = place.rockit("run", *args, "--", "true")
        assert done.returncode == 2 and done.stderr.count("\n") == 1, (args, done.stderr)


def main():
    if not (BUILD / "librockit-opencl.so").exists() or not pathlib.Path(ENDLESS).exists():
        print("skipped: the OpenCL collector was not built")
        return SKIPPED
    probe = subprocess.run([BUILD / "cl-cases", "queries"], capture_output=True, check=False,
                           env={**os.environ, "POCL_CACHE_DIR": CACHE})
    if probe.returncode == SKIPPED:
        print("skipped: no OpenCL device")
        return SKIPPED
    return librun.main()


if __name__ == "__main__":
    try:
        STATUS = main()
    finally:
        shutil.rmtree(CACHE, ignore_errors=True)
    sys.exit(STATUS)
