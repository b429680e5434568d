#!/usr/bin/env python3
"""Running programs: snap while they record and after they were killed, start, stop, env."""

import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from librun import ROCKIT, main, test

PROBE = str(pathlib.Path(ROCKIT).parent / "recorder-probe")


def settings(folder, *more):
    return dict(os.environ, ROCKIT_COLLECT=",".join((f"dir={folder}",) + more))


def rockit(*args, status=0, cwd=None, env=None):
    done = subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True, timeout=120,
                          cwd=cwd, env=env)
    assert done.returncode == status, (args, done.returncode, done.stdout, done.stderr)
    return done


class Program:
    """The probe, recording without end; killed at the end of the test."""

    def __init__(self, folder, *more, threads=2, argv=None):
        self.process = subprocess.Popen(argv or [PROBE, "told", "0", str(threads)],
                                        stdout=subprocess.DEVNULL, env=settings(folder, *more))
        self.pid = self.process.pid
        self.path = pathlib.Path(folder, f"{self.pid}.rkraw")
        end = time.monotonic() + 30
        while not self.path.exists():
            assert time.monotonic() < end and self.process.poll() is None, "no file"
            time.sleep(0.01)

    def __enter__(self):
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        self.kill()


def kernels(run):
    done = rockit("convert", run, "--table", "kernels", "-f", "csv", "-o", "-", "-v")
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def record_of(run):
    return json.loads(pathlib.Path(run, "run.json").read_text())


@test
def a_snap_of_a_running_program_is_a_run_like_any_other(place):
    with Program(place.path, "limit=2M", "window=1") as program:
        time.sleep(0.5)
        first = place.path / "first"
        said = rockit("snap", program.pid, "-o", first).stderr
        assert re.match(r"rockit snap: \d+ records of 1 file in ", said), said
        assert program.process.poll() is None
        time.sleep(0.2)
        rockit("snap", place.path, "-o", place.path / "second", "-q")
    rows, said = kernels(first)
    assert len(rows) > 1000 and "unclean" not in said and "damaged" not in said, said
    numbers = [int(r["correlation_id"]) for r in rows]
    assert len(set(numbers)) == len(numbers)
    for row in rows[:1000]:
        n = int(row["correlation_id"])
        assert row["kernel_name"] == ("gemm", "softmax", "layer_norm", "reduce")[n % 4], row
        assert int(row["duration_ns"]) == n % 500, row
    record = record_of(first)
    assert record["snap"]["pid"] == program.pid and record["snap"]["running"] == 1, record
    assert record["command"][0] == PROBE and record["tool"]["name"] == "probe", record
    assert record["snap"]["records"] == record["ledger"]["delivered"]["records"] >= len(rows)
    assert "softmax" in rockit("report", first).stdout
    assert json.loads(rockit("report", first, "--format", "json").stdout)["kernels"]
    rockit("metrics", first)
    rockit("diff", first, place.path / "second")
    # no copy of a copy: snap-N of an earlier trigger is left out
    assert record_of(place.path / "second")["snap"]["files"] == 1


@test
def what_a_killed_program_left_is_copied(place):
    with Program(place.path, "limit=2M", "window=1", threads=4) as program:
        time.sleep(0.3)
        program.kill()
    out = place.path / "out"
    rockit("snap", place.path, "-o", out)
    rows, said = kernels(out)
    original, _ = kernels(program.path)
    assert [r["correlation_id"] for r in rows] == [r["correlation_id"] for r in original]
    assert "did not exit normally" in said, said
    record = record_of(out)
    assert record["snap"]["running"] == 0 and "boot_id" not in record, record
    done = rockit("snap", program.pid, status=1)
    assert done.stderr == (f"rockit snap: no process {program.pid} is running; what it recorded is "
                           "in its run directory\n"), done.stderr


@test
def a_directory_with_several_processes_is_one_run(place):
    with Program(place.path, "limit=2M", "window=1") as one, Program(place.path, "limit=1M") as two:
        time.sleep(0.2)
        two.kill()
        (place.path / "3.rkraw").write_text("not a recording")
        (place.path / "4.rkraw").symlink_to(one.path)
        os.mkfifo(place.path / "5.rkraw")
        earlier = place.path / "snap-001"
        rockit("snap", one.pid, "-o", earlier)
        out = place.path / "new"
        said = rockit("snap", place.path, "-o", out).stderr
        # the newest directory, and a name that is made
        (place.path / "rockit_output" / "run").mkdir(parents=True)
        os.link(two.path, place.path / "rockit_output" / "run" / two.path.name)
        rockit("snap", cwd=place.path)
    assert "left out:" in said and "3.rkraw" in said, said
    names = sorted(p.name for p in (out / "rocprof_raw").iterdir())
    assert names == sorted([one.path.name, two.path.name]), names
    record = record_of(out)
    assert record["snap"]["files"] == 2 and record["snap"]["running"] == 1, record
    rows, _ = kernels(out)
    assert {int(r["pid"]) for r in rows} == {one.pid, two.pid}
    made = [p for p in (place.path / "rockit_output").iterdir() if p.name != "run"]
    assert len(made) == 1 and record_of(made[0])["snap"]["files"] == 1, made


@test
def a_failure_leaves_nothing_behind(place):
    with Program(place.path, "limit=2M", "window=1") as program:
        full = place.path / "full"
        full.mkdir()
        (full / "file").write_text("")
        before = sorted(place.path.rglob("*"))
        done = rockit("snap", program.pid, "-o", full, status=1)
        assert "exists already" in done.stderr, done.stderr
        # a file size limit is a full disk
        limited = subprocess.run(["sh", "-c", f"ulimit -f 100; exec '{ROCKIT}' snap {program.pid} -o "
                                  f"'{place.path}/x'"], capture_output=True, text=True, timeout=60)
        assert limited.returncode == 1 and "cannot write" in limited.stderr, limited.stderr
        assert sorted(place.path.rglob("*")) == before


@test
def the_last_seconds_are_cut_out(place):
    with Program(place.path, "limit=4M") as program:
        time.sleep(1)
        program.kill()
    whole, out = place.path / "whole", place.path / "out"
    rockit("snap", place.path, "-o", whole)
    (place.path / "keep").mkdir()
    program.path.rename(place.path / "keep" / program.path.name)
    rockit("snap", place.path / "keep", "--last", "8760h", "-o", out)
    rows, said = kernels(whole)
    assert len(rows) == len(kernels(out)[0]) > 1000, (len(rows), said)


def rows_of(path):
    return len(kernels(path)[0])


@test
def start_and_stop_switch_a_running_program(place):
    with Program(place.path, "limit=2M", "window=1", "switch=1", "asleep=1") as program:
        time.sleep(0.2)
        assert rows_of(program.path) == 0
        done = rockit("start", program.pid)
        assert done.stderr == "rockit start: recording is on in 1 process\n", done.stderr
        time.sleep(0.2)
        assert rows_of(program.path) > 0
        assert "off in 1 process" in rockit("stop", place.path).stderr
        rows = rows_of(program.path)
        time.sleep(0.1)
        assert rows_of(program.path) == rows
        assert rockit("start", program.pid, "-q").stderr == ""


@test
def what_cannot_be_switched_says_so_in_one_line(place):
    with Program(place.path, "limit=2M", "window=1") as program:
        done = rockit("start", program.pid, status=1)
        assert "was not started so that it can be switched" in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1
    with Program(place.path, "limit=4M", "switch=1") as program:
        # it is dead, although its parent has not asked for its status
        program.process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        rockit("start", program.pid, status=1)
        done = rockit("start", place.path, status=1)
    assert done.stderr == f"rockit start: no process of '{place.path}' is running\n", done.stderr
    with Program(place.path, "limit=4M", "switch=1") as program:
        program.path.chmod(0o644)
        done = rockit("stop", program.pid, status=1)
        assert "its mode must be 0600" in done.stderr, done.stderr
        program.path.chmod(0o600)
        # a process that is stopped cannot follow, and does when it goes on
        program.process.send_signal(signal.SIGSTOP)
        done = rockit("stop", program.pid, status=1)
        assert f"process {program.pid} does not answer" in done.stderr, done.stderr
        program.process.send_signal(signal.SIGCONT)
        rockit("start", program.pid)
        # another file under the name is not the one that is mapped
        other = program.path.with_suffix(".old")
        program.path.rename(other)
        program.path.write_bytes(other.read_bytes())
        program.path.chmod(0o600)
        done = rockit("stop", program.pid, status=1)
        assert "has no recorder file" in done.stderr, done.stderr


@test
def children_are_switched_with_their_parent(place):
    script = f"'{PROBE}' told 0 1 > /dev/null & '{PROBE}' told 0 1 > /dev/null & wait"
    process = subprocess.Popen(["sh", "-c", script], env=settings(place.path, "limit=4M", "switch=1"),
                               start_new_session=True)
    try:
        end = time.monotonic() + 30
        while len(list(place.path.glob("*.rkraw"))) < 2:
            assert time.monotonic() < end
            time.sleep(0.02)
        done = rockit("stop", process.pid, status=1)
        assert "has no recorder file" in done.stderr, done.stderr
        done = rockit("stop", "--children", process.pid)
        assert "off in 2 processes" in done.stderr, done.stderr
        assert "on in 2 processes" in rockit("start", place.path).stderr
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    main()
