#!/usr/bin/env python3
"""The flight recorder from outside: killed, forked, out of room; every committed record is there."""

import collections
import csv
import gzip
import io
import json
import os
import pathlib
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import time

from librun import ROCKIT, Skip, main, test

PROBE = str(pathlib.Path(ROCKIT).parent / "recorder-probe")
FULL = os.environ.get("ROCKIT_TEST_FULL") == "1"
NAMES = ("gemm", "softmax", "layer_norm", "reduce")


def settings(place, *more):
    return dict(os.environ, ROCKIT_COLLECT=",".join((f"dir={place.path}",) + more))


def probe(place, *args, more=(), check=True):
    done = subprocess.run([PROBE, *map(str, args)], env=settings(place, *more), text=True,
                          capture_output=True, timeout=300)
    assert not check or done.returncode == 0, (done.returncode, done.stderr)
    assert done.stderr == "", done.stderr
    return done


def sanitized():
    data = pathlib.Path(PROBE).read_bytes()
    return b"__asan_init" in data or b"__tsan_init" in data


def raw_files(place):
    return sorted(place.path.glob("*.rkraw"), key=lambda p: p.stat().st_mtime)


def rows_of(path, kind="csv"):
    """Kernels of a file by their number, each checked against it; and the messages about it."""
    done = subprocess.run([ROCKIT, "convert", str(path), "-o", "-", "-f", kind, "-v"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    seen = {}
    first = None
    for row in csv.DictReader(io.StringIO(done.stdout)):
        n = int(row["correlation_id"])
        assert n not in seen, f"number {n} twice"
        seen[n] = row
        assert row["kernel_name"] == NAMES[n % 4], row
        assert int(row["queue_id"]) == n % 2 and int(row["duration_ns"]) == n % 500, row
        assert int(row["grid_x"]) == 16 and int(row["grid_y"]) == n % 4 + 1, row
        offset = int(row["start_ns"]) - n * 1000
        first = offset if first is None else first
        # the line between two calibrations may tilt it
        assert abs(offset - first) < 10_000_000, row
    return seen, done.stderr


def calls_of(path):
    """How many kernels the report counts."""
    report = subprocess.run([ROCKIT, "report", "--format", "json", str(path)], check=True,
                            capture_output=True, timeout=300)
    return sum(k["calls"] for k in json.loads(report.stdout)["kernels"])


def kill_one(place, delay, threads, *more, least=0):
    """
    Numbers the program printed before it was killed, and its file. It is killed so many seconds after
    it has printed `least`: how long that takes depends on the machine.
    """
    process = subprocess.Popen([PROBE, "told", "0", str(threads)], stdout=subprocess.PIPE,
                               env=settings(place, *more))
    told = process.stdout.read(8 * least)
    os.set_blocking(process.stdout.fileno(), False)
    end = time.monotonic() + delay
    while (left := end - time.monotonic()) > 0:
        select.select([process.stdout], [], [], left)
        told += process.stdout.read(1 << 16) or b""
    process.send_signal(signal.SIGKILL)
    process.wait()
    told += process.stdout.read() or b""
    process.stdout.close()
    numbers = [n for (n,) in struct.iter_unpack("<Q", told[:len(told) // 8 * 8])]
    return numbers, place.path / f"{process.pid}.rkraw"


@test
def what_was_committed_survives_a_kill_at_any_time(place):
    rng = random.Random(5)
    total = 0
    for number in range(200):
        if total > 10000 and number >= 20 and not FULL:
            break
        delay = rng.choice((0.01, 0.03, 0.08, 0.3)) * rng.random()
        threads = rng.choice((1, 1, 4))
        told, path = kill_one(place, delay, threads)
        if not path.exists():
            assert not told
            continue
        seen, said = rows_of(path)
        lost = [n for n in told if n not in seen]
        assert not lost, f"run {number}: {len(lost)} of {len(told)} lost, {lost[:5]}"
        # at most the record that each thread was about to print
        assert len(seen) <= len(told) + threads, (len(seen), len(told))
        assert "did not exit normally" in said, said
        total += len(told)
        path.unlink()
    assert total > 10000, total


@test
def a_window_that_is_killed_has_the_newest_records(place):
    rng = random.Random(6)
    for _ in range(20 if FULL else 4):
        told, path = kill_one(place, 0.2 * rng.random(), 1, "limit=256K", "window=1", least=20000)
        seen, _ = rows_of(path)
        assert 5000 < len(seen) < len(told), (len(told), len(seen))
        newest = max(seen)
        assert newest >= told[-1]
        assert sorted(seen) == list(range(newest - len(seen) + 1, newest + 1))
        path.unlink()


@test
def a_record_is_small_and_ten_million_of_them_need_no_memory(place):
    count = 10_000_000 if FULL else 2_000_000
    words = probe(place, "run", count).stdout.split()
    (path,) = raw_files(place)
    assert path.stat().st_size / count <= 24, path.stat().st_size / count
    if not sanitized():
        assert int(words[words.index("peak") + 1]) < 16 << 10, words
    assert calls_of(path) == count


@test
def a_launch_and_its_times_are_small(place):
    count = 1_000_000
    for verb, most in (("launch", 24), ("calls", 40)):
        words = probe(place, verb, count).stdout.split()
        (path,) = raw_files(place)
        each = path.stat().st_size / count
        print(f"# {verb}: {each:.2f} bytes a kernel, {words[0]} ns a record")
        assert each <= most, each
        assert words[words.index("lost") + 1] == "0", words
        assert calls_of(path) == count
        path.unlink()


@test
def a_record_costs_few_instructions(place):
    if not shutil.which("valgrind") or sanitized():
        raise Skip("no valgrind, or a build that it would count wrong")
    count = 50000
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           "--toggle-collect=kernel", PROBE, "run", str(count)], text=True,
                          env=settings(place), capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    each = int(done.stderr.split("Collected :")[1].split()[0]) / count
    # 33 are the probe's own
    assert 50 < each <= 283, each


@test
def a_child_has_its_own_file(place):
    probe(place, "fork", 1500)
    files = [set(rows_of(path)[0]) for path in raw_files(place)]
    wanted = [set(range(3000)), set(range(1000000, 1001500)), set(range(2000000, 2001500))]
    assert collections.Counter(map(frozenset, files)) == collections.Counter(
        map(frozenset, wanted)), [len(f) for f in files]


@test
def a_program_that_becomes_another_leaves_two_files(place):
    probe(place, "exec", 100)
    names = sorted(p.name for p in raw_files(place))
    assert len(names) == 2 and names[0] == names[1].replace(".rkraw", "-1.rkraw"), names
    for path in raw_files(place):
        assert len(rows_of(path)[0]) == 100


@test
def every_way_to_end_leaves_all_records(place):
    for verb, status in (("run", 0), ("leave", 0), ("abort", -signal.SIGABRT)):
        done = probe(place, verb, 5000, check=False)
        assert done.returncode == status, (verb, done.returncode)
        (path,) = raw_files(place)
        seen, said = rows_of(path)
        assert set(seen) == set(range(5000)), verb
        assert ("did not exit normally" in said) == (verb != "run"), said
        path.unlink()


@test
def threads_signals_and_names_in_numbers(place):
    for verb, count, rows in (("brief", 300, 900), ("signals", 300000, None), ("names", 3000, None)):
        done = probe(place, verb, count)
        (path,) = raw_files(place)
        words = done.stdout.split()
        recorded = int(words[words.index("recorded") + 1])
        report = subprocess.run([ROCKIT, "report", "--format", "json", str(path)], check=True,
                                capture_output=True, timeout=300)
        calls = sum(k["calls"] for k in json.loads(report.stdout)["kernels"])
        assert calls == recorded and recorded in (rows or recorded, recorded), (verb, calls, recorded)
        assert rows is None or recorded == rows
        path.unlink()


def privately(script, place):
    """Runs a script as root of mounts of its own; None where that is not allowed."""
    where = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    try:
        if subprocess.run([*where, "mount", "-t", "tmpfs", "none", str(place.root)],
                          capture_output=True, timeout=180).returncode:
            return None
    except FileNotFoundError:
        return None
    return subprocess.run([*where, "sh", "-ec", script, PROBE, str(place.root), str(place.path)],
                          capture_output=True, text=True, timeout=300)


@test
def a_full_disk_stops_the_recording_and_not_the_program(place):
    done = privately("mount -t tmpfs -o size=2m none $1; ROCKIT_COLLECT=dir=$1 $0 run 400000; "
                     "cp $1/*.rkraw $2", place)
    if done is None:
        raise Skip("no mounts here")
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    recorded, lost = (int(words[words.index(w) + 1]) for w in ("recorded", "lost"))
    assert recorded + lost == 400000 and lost > 100000, done.stdout
    (path,) = raw_files(place)
    seen, said = rows_of(path)
    assert set(seen) == set(range(recorded))
    assert f"{lost} disk errors" in said, said


@test
def a_place_that_cannot_be_written_costs_nothing_but_the_records(place):
    done = privately("mount -t tmpfs -o ro none $1; ROCKIT_COLLECT=dir=$1 $0 run 1000", place)
    if done is None:
        raise Skip("no mounts here")
    assert done.returncode == 0 and "recorder off, recorded 0" in done.stdout, done


@test
def a_file_that_is_taken_away_does_no_harm(place):
    process = subprocess.Popen([PROBE, "told"], stdout=subprocess.PIPE, env=settings(place))
    process.stdout.read(8)
    for path in raw_files(place):
        path.unlink()
    process.stdout.read(8 * 30000)
    assert process.poll() is None
    process.kill()
    process.wait()
    process.stdout.close()


@test
def packed_files_and_pipes_are_read_too(place):
    probe(place, "run", 1000)
    (path,) = raw_files(place)
    packed = place.path / "packed.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    assert len(rows_of(packed)[0]) == 1000
    with open(path, "rb") as f:
        cat = subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE)
        done = subprocess.run([ROCKIT, "report", "--format", "json", "-"], stdin=cat.stdout,
                              capture_output=True, text=True, timeout=180)
        cat.wait()
    assert done.returncode == 0, done.stderr
    assert sum(k["calls"] for k in json.loads(done.stdout)["kernels"]) == 1000


if __name__ == "__main__":
    sys.exit(main())
