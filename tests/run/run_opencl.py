#!/usr/bin/env python3
"""The OpenCL layer in real programs: what it records is what they did, and they do not notice.

Every program is run with the layer and without it, and has to say the same and end the same way.
Skipped where the layer was not built or there is no OpenCL device.
"""
import csv
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import librun
from librun import ROCKIT, test

BUILD = pathlib.Path(ROCKIT).resolve().parent
LAYER = BUILD / "librockit-opencl.so"
FULL = os.environ.get("ROCKIT_TEST_FULL") == "1"
KILLS = 200 if FULL else 20
FULL_KILLS, FEW_KILLS = 100, 5  # of the program that counts its launches itself
SKIPPED = 77
DIRECTIONS = {
    "host to device": "MEMORY_COPY_HOST_TO_DEVICE",
    "device to host": "MEMORY_COPY_DEVICE_TO_HOST",
    "device to device": "MEMORY_COPY_DEVICE_TO_DEVICE",
    "fill": "MEMORY_FILL",
    "map": "MEMORY_MAP",
    "unmap": "MEMORY_UNMAP",
    "migrate": "MEMORY_MIGRATE",
}

# Compiled kernels are kept from test to test, apart from the user's own.
CACHE = tempfile.mkdtemp(prefix="rockit-pocl-")


def sanitizer():
    """The sanitizer the layer was built with: other people's programs cannot load it then."""
    data = LAYER.read_bytes()
    return "asan" if b"__asan_init" in data else "tsan" if b"__tsan_init" in data else None


def environment(place, **more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OPENCL_", "ROCKIT_COLLECT", "POCL_"))}
    env.update(POCL_CACHE_DIR=CACHE, HOME=str(place.path), **more)
    # The runtime's own leaks and races are not ours to report.
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    env["TSAN_OPTIONS"] = env.get("TSAN_OPTIONS", "") + ":ignore_noninstrumented_modules=1"
    return env


def with_layer(place, settings="", name="raw"):
    """The environment that loads the layer, and the directory it writes to."""
    raw = place.path / name
    raw.mkdir(exist_ok=True)
    return raw, environment(place, OPENCL_LAYERS=str(LAYER),
                            ROCKIT_COLLECT=f"dir={raw}" + (f",{settings}" if settings else ""))


def execute(argv, env, timeout=300):
    return subprocess.run([str(a) for a in argv], capture_output=True, env=env, timeout=timeout,
                          stdin=subprocess.DEVNULL, check=False)


def rows(raw, table):
    """The rows of a table, as dictionaries of text."""
    done = subprocess.run([ROCKIT, "convert", str(raw), "--table", table, "-f", "csv", "-o", "-"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def count(values):
    found = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    return found


def tables(raw):
    """How many rows each table has; without a warning that anything was lost."""
    done = subprocess.run([ROCKIT, "report", "--format", "json", str(raw)], capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["tables"], done.stderr


def compare(raw, truth):
    """Records against what the program says it did; kernels that never ran have no times."""
    ran = [r for r in rows(raw, "kernels") if r["start_ns"]]
    assert count(r["kernel_name"] for r in ran) == truth["kernels"]
    copies = {}
    for r in rows(raw, "memcpy"):
        entry = copies.setdefault(r["direction"], [0, 0])
        entry[0] += 1
        entry[1] += int(r["bytes"])
    assert copies == {DIRECTIONS[k]: v for k, v in truth["copies"].items()}, copies
    assert len(rows(raw, "markers")) == truth["syncs"]
    builds = [r for r in rows(raw, "api") if r["domain"] == "OPENCL_BUILD"]
    assert len(builds) == truth["builds"], builds


def last_json(text):
    return json.loads(text.decode().strip().splitlines()[-1])


def same(plain, watched):
    assert watched.returncode == plain.returncode, (plain.returncode, watched.returncode,
                                                    watched.stderr[-2000:])
    assert watched.stdout == plain.stdout, (plain.stdout, watched.stdout)
    assert watched.stderr == plain.stderr, (plain.stderr, watched.stderr)


def alike(argv, place, settings="", timeout=300):
    """Runs it without and with the layer; returns what it printed and where its records are."""
    plain = execute(argv, environment(place), timeout)
    raw, env = with_layer(place, settings)
    same(plain, execute(argv, env, timeout))
    return plain.stdout, raw


# ---- cases of our own ----

# These end with commands that are under way; how many are over by then is not certain.
UNCERTAIN = {"exit-busy"}


def add_case(name):
    def behaves(place):
        argv = [BUILD / "cl-cases", name]
        plain = execute(argv, environment(place))
        raw, env = with_layer(place)
        same(plain, execute(argv, env))
        calls, env = with_layer(place, "api=1", "calls")
        same(plain, execute(argv, env))
        assert tables(calls)[0]["api"] > 0
        truth, files = last_json(plain.stdout), 1
        if name == "fork-first" and b"child: 0\n" in plain.stdout:  # parent and child do the same, and have a file each
            files = 2
            truth = {k: v * 2 if isinstance(v, int) else {n: c * 2 for n, c in v.items()}
                     for k, v in truth.items()}
        assert len(list(raw.glob("*.rkraw"))) == files
        if name not in UNCERTAIN:
            compare(raw, truth)

    behaves.__name__ = f"case_{name.replace('-', '_')}_is_recorded_and_not_disturbed"
    test(behaves)


@test
def the_example_is_recorded_whole(place):
    out, raw = alike([BUILD / "example-inference", "10"], place)
    compare(raw, last_json(out))
    _, said = tables(raw)
    assert said == "", said


@test
def a_program_that_loads_opencl_itself_and_lets_go_is_recorded(place):
    out, raw = alike([BUILD / "cl-dlopen"], place)
    compare(raw, last_json(out))


@test
def launches_have_their_sizes(place):
    _, raw = alike([BUILD / "cl-cases", "launches"], place)
    found = {(r["grid_x"], r["grid_y"], r["grid_z"], r["block_x"], r["block_y"], r["block_z"])
             for r in rows(raw, "kernels") if r["kernel_name"] == "empty" and r["block_x"]}
    assert found == {("2", "1", "1", "4", "1", "1"), ("2", "2", "1", "4", "3", "1"),
                     ("2", "2", "2", "4", "3", "2")}, found
    open_size = [r for r in rows(raw, "kernels") if r["kernel_name"] == "empty" and
                 not r["block_x"]]
    assert len(open_size) == 3
    assert sorted(r["grid_items_z"] for r in open_size) == ["1", "1", "4"]


@test
def local_memory_of_arguments_is_in_the_rows(place):
    _, raw = alike([BUILD / "cl-cases", "local-memory"], place)
    first, *more = [int(r["shared_mem"]) for r in rows(raw, "kernels")]
    assert first >= 256 and [n - first for n in more] == [256, 768], (first, more)


@test
def local_memory_of_many_arguments_is_that_of_the_launch(place):
    _, raw = alike([BUILD / "cl-cases", "local-arguments"], place)
    first, second = [int(r["shared_mem"]) for r in rows(raw, "kernels")]
    assert first >= 8 * 64 + 256 and second - first == 256 - 64, (first, second)


@test
def times_lie_in_the_run_and_queues_keep_their_order(place):
    raw, env = with_layer(place)
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    done = execute([BUILD / "example-inference", "20"], env)
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    assert done.returncode == 0
    kernels = rows(raw, "kernels")
    assert kernels
    ends = {}
    for r in sorted(kernels, key=lambda r: int(r["dispatch_id"])):
        start, end = int(r["start_ns"]), int(r["start_ns"]) + int(r["duration_ns"])
        assert before <= start <= end <= after, (before, start, end, after)
        assert start >= ends.get(r["queue_id"], 0), "an in-order queue runs two at a time"
        ends[r["queue_id"]] = end
    assert len(ends) == 2
    # The first launch compiles: that is waiting, not running.
    assert max(int(r["duration_ns"]) for r in kernels) < (after - before) / 2


@test
def calls_carry_the_number_of_their_launch(place):
    _, raw = alike([BUILD / "cl-cases", "launches"], place, "api=1")
    launches = {r["correlation_id"] for r in rows(raw, "kernels")}
    calls = [r["correlation_id"] for r in rows(raw, "api")
             if r["function"] == "clEnqueueNDRangeKernel"]
    assert set(calls) == launches and len(calls) == len(launches)
    names = count(r["function"] for r in rows(raw, "api") if r["domain"] != "OPENCL_BUILD")
    assert names["clCreateKernel"] == 4 and names["clBuildProgram"] == 1, names
    assert names["clFinish"] == 1 and names["clReleaseContext"] == 1, names


@test
def a_program_without_launches_leaves_an_empty_record(place):
    raw, env = with_layer(place)
    assert execute([BUILD / "cl-cases", "errors"], env).returncode == 0
    assert tables(raw)[0]["kernels"] == 0 and len(list(raw.iterdir())) == 1


@test
def without_settings_the_layer_does_nothing(place):
    plain = execute([BUILD / "cl-cases", "launches"], environment(place))
    for settings in (None, "", "dir=/nowhere/at/all", "limit=1", "dir=", "nonsense,,=,%"):
        env = environment(place, OPENCL_LAYERS=str(LAYER))
        if settings is not None:
            env["ROCKIT_COLLECT"] = settings
        done = execute([BUILD / "cl-cases", "launches"], env)
        assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)


@test
def the_layer_named_twice_records_once(place):
    raw, env = with_layer(place)
    env["OPENCL_LAYERS"] = f"{LAYER}:{LAYER}"
    done = execute([BUILD / "cl-cases", "launches"], env)
    assert done.returncode == 0
    compare(raw, last_json(done.stdout))


@test
def a_small_limit_loses_records_and_says_so(place):
    raw, env = with_layer(place, "limit=128K")
    done = execute([BUILD / "cl-rate", "async", "20000"], env)
    assert done.returncode == 0, done.stderr
    kept, said = tables(raw)
    assert 0 < kept["kernels"] < 20100
    assert "drop" in said or "lost" in said, said


@test
def a_window_keeps_the_last_records(place):
    raw, env = with_layer(place, "limit=256K,window=1")
    assert execute([BUILD / "cl-rate", "async", "50000"], env).returncode == 0
    ids = sorted(int(r["dispatch_id"]) for r in rows(raw, "kernels"))
    # two threads record: a block that one of them has open may hold older records than the rest
    assert ids[-5000:] == list(range(45101, 50101)), (ids[-5000], ids[-1])
    assert ids[len(ids) // 2] > 25000 and len(ids) < 30000, (len(ids), ids[len(ids) // 2])


# ---- a fake runtime ----

def fake(place, case, expected, settings="", before=()):
    raw, env = with_layer(place, settings)
    done = execute([*before, BUILD / "cl-fake", LAYER, case], env)
    assert done.returncode == 0, done.stderr
    if expected is not None:
        assert done.stdout.decode() == expected, done.stdout.decode()
    return raw, done.stdout.decode()


@test
def profiling_stays_on_below_and_answers_as_it_was_set(place):
    raw, _ = fake(place, "change", "made: properties 0, below 2, times -7\n"
                  "was 0\non: properties 2, below 2, times 0\n"
                  "was 2\noff: properties 0, below 2, times -7\n"
                  "asked for: properties 2, below 2, times 0\n"
                  "not any more: properties 0, below 2, times -7\n")
    assert tables(raw)[0]["kernels"] == 5


@test
def a_queue_that_is_refused_with_profiling_is_made_without(place):
    raw, _ = fake(place, "refuse", "on the device: 5\n"
                  "refused: properties 0, below 0, times -7\n"
                  "asked for: none\nqueues made: 2\n")
    assert [r["start_ns"] for r in rows(raw, "kernels")] == [""]
    _, said = tables(raw)
    assert "kernels that the device gave no times for" in said, said


@test
def queues_of_the_extension_are_recorded(place):
    raw, _ = fake(place, "extended", "any platform: properties 0, below 2, times -7\n"
                  "extension: properties 0, below 2, times -7\nothers: none\n")
    assert tables(raw)[0]["kernels"] == 2


@test
def commands_that_fail_or_have_no_times_are_let_go(place):
    raw, _ = fake(place, "odd", "then: properties 0, below 2, times -7\nevents left: 0\n")
    assert [bool(r["start_ns"]) for r in rows(raw, "kernels")].count(True) == 1
    kept, said = tables(raw)
    assert kept["kernels"] == 3 and "the device gave no times for (2 times" in said, (kept, said)


@test
def commands_the_device_had_nothing_to_do_for_are_recorded_when_they_were_enqueued(place):
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    raw, _ = fake(place, "idle", "events left: 0\n")
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    found = rows(raw, "markers")
    assert [r["name"] for r in found] == ["clEnqueueMarkerWithWaitList"] * 3, found
    for r in found:
        assert before <= int(r["start_ns"]) <= after and r["duration_ns"] == "0", r
    _, said = tables(raw)
    assert said == "", said


@test
def the_device_timer_is_used_where_the_runtime_has_one(place):
    for case, asked in (("timer", "yes"), ("no-timer", "no")):
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        raw, out = fake(place, case, None)
        after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        assert f"timer was asked: {asked}" in out
        for r in rows(raw, "kernels"):
            assert before <= int(r["start_ns"]) <= after, case
        shutil.rmtree(raw)


@test
def barriers_without_events_are_markers_in_the_time_of_their_calls(place):
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    raw, _ = fake(place, "barriers", "refused: -36 -30\nevents left: 0\n")
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    found = rows(raw, "markers")
    assert count(r["name"] for r in found) == {"clEnqueueBarrier": 5, "clEnqueueWaitForEvents": 5}
    for r in found:
        assert before <= int(r["start_ns"]) <= int(r["start_ns"]) + int(r["duration_ns"]) <= after
    _, said = tables(raw)
    assert said == "", said


@test
def a_sub_device_that_may_be_gone_is_not_asked_for_its_timer(place):
    raw, _ = fake(place, "part", "part: properties 0, below 2, times -7\ntimer was asked: yes\n")
    assert tables(raw)[0]["kernels"] == 1


@test
def events_that_were_waited_for_are_not_touched_again(place):
    raw, _ = fake(place, "waited", "nothing: -30\none: 0\n")
    assert tables(raw)[0]["kernels"] == 1


@test
def launches_of_more_queues_than_there_are_places_for_count_as_lost(place):
    raw, _ = fake(place, "crowd", "")
    kept, said = tables(raw)
    lost = int(re.search(r"never seen to finish \((\d+) times", said).group(1))
    assert 3000 < kept["kernels"] < 6000 and kept["kernels"] + lost == 6000, (kept, said)


def a_limited_address_space_is_left_to_the_program(place):
    raw, _ = fake(place, "space", "launch: properties 0, below 2, times -7\nroom: yes\n",
                  before=["prlimit", f"--as={256 << 20}"])
    assert tables(raw)[0]["kernels"] == 1


@test
def registers_wave_size_and_address_are_asked_of_vendors_that_tell(place):
    for case, regs, wave, pci in (("amd", "84", "64", "0000:1b:03.1"), ("intel", "128", "", "0001:1a:02.0"),
                                  ("nvidia", "", "32", "0005:1c:04.0"), ("nobody", "", "", "")):
        raw, _ = fake(place, case, None)
        found = {(r["regs"], r["vgpr"], r["wave_size"]) for r in rows(raw, "kernels")}
        assert found == {(regs, regs, wave)}, (case, found)
        assert [r["pci"] for r in rows(raw, "agents")] == [pci], case
        shutil.rmtree(raw)


@test
def commands_that_never_end_have_a_limit(place):
    raw, out = fake(place, "hold", None, "limit=256M")
    assert out.startswith("kept: 1048576\n"), out
    kept, said = tables(raw)
    assert kept["kernels"] == 1100000 and "never seen to finish (51424 times" in said, said


@test
def every_kernel_in_a_window_has_its_name_and_size_however_many_there_were(place):
    raw, _ = fake(place, "shapes", "", "limit=4M,window=1")
    kept = rows(raw, "kernels")
    numbers = sorted(int(r["correlation_id"]) for r in kept)
    assert len(kept) > 10000 and numbers[-1] == 1000000, (len(kept), numbers[-1:])
    for r in kept:
        n = int(r["correlation_id"])
        assert r["kernel_name"] and r["grid_items_x"] == str(n) and r["queue_id"] == str((n - 1) // 1000), r
    assert sum(f.stat().st_size for f in raw.iterdir()) <= 4 << 20


def ten_million_launches_stay_small_and_fast(place):
    raw, out = fake(place, "millions", None)
    cost = json.loads(out)
    # Some may be on their way out, in the hands of our thread.
    assert cost["left"] < 1024 and cost["grown_kb"] < 4096, cost
    assert cost["last_s"] < 3 * cost["first_s"] + 1, cost
    assert tables(raw)[0]["kernels"] == 10_000_000
    assert sum(f.stat().st_size for f in raw.iterdir()) < 48 * 10_000_000


# ---- ends ----

@test
def what_was_waited_for_survives_a_kill(place):
    chance = random.Random(5)
    for i in range(KILLS):
        raw, env = with_layer(place, name=f"kill{i}")
        child = subprocess.Popen([BUILD / "cl-endless", "wait"], stdout=subprocess.PIPE, env=env)
        child.stdout.readline()
        time.sleep(chance.random() * 0.2)
        child.send_signal(signal.SIGKILL)
        said = child.stdout.read().split(b"\n")[:-1]
        child.wait()
        over = int(said[-1]) if said else 7
        ids = {int(r["correlation_id"]) for r in rows(raw, "kernels")}
        missing = set(range(1, over + 1)) - ids
        assert not missing, (i, over, sorted(missing)[:5])
        shutil.rmtree(raw)


@test
def no_launch_that_returned_is_lost_by_a_kill(place):
    """Four threads on two queues count in a mapped file which of their launches have returned."""
    chance = random.Random(7)
    seen = running = 0
    for i in range(FULL_KILLS if FULL else FEW_KILLS):
        raw, env = with_layer(place, name=f"killed{i}")
        ledger = place.path / f"ledger{i}"
        child = subprocess.Popen([BUILD / "cl-endless", "counted", ledger], stdout=subprocess.PIPE, env=env)
        assert child.stdout.readline() == b"launching\n"
        while sum(struct.unpack("<8Q", ledger.read_bytes())[1::2]) < 1000:  # the first ones compile
            time.sleep(0.01)
        time.sleep(chance.random() * 0.1)
        child.kill()
        child.wait()
        words = struct.unpack("<8Q", ledger.read_bytes())
        returned = {str(tid): n for tid, n in zip(words[::2], words[1::2]) if tid}
        found = rows(raw, "kernels") if returned else []
        known = count(r["tid"] for r in found)
        for tid, n in returned.items():
            assert n <= known.get(tid, 0) <= n + 1, (i, tid, n, known)
        seen += sum(returned.values())
        running += sum(1 for r in found if not r["start_ns"])
        shutil.rmtree(raw)
    print(f"# {seen} launches returned, all recorded; {running} were running when they were killed")
    assert seen > 0


def thread_wakes(pid):
    """How often each of our threads went to sleep."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().startswith("rockit"):
            lines = (task / "status").read_text().splitlines()
            found[task.name] = next(line.split()[1] for line in lines if line.startswith("voluntary"))
    return found


@test
def nothing_under_way_wakes_nobody(place):
    raw, env = with_layer(place, "switch=1")
    child = subprocess.Popen([BUILD / "cl-endless", "never"], stdout=subprocess.PIPE, env=env)
    assert child.stdout.readline() == b"launched\n"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and sum(1 for r in rows(raw, "kernels") if r["start_ns"]) < 1000:
        time.sleep(0.1)
    time.sleep(0.2)
    before = thread_wakes(child.pid)
    time.sleep(0.5)
    after = thread_wakes(child.pid)
    child.kill()
    child.wait()
    assert len(before) == 2 and before == after, (before, after)


@test
def a_layer_that_sleeps_records_nothing(place):
    _, raw = alike([BUILD / "cl-cases", "launches"], place, "switch=1,asleep=1,api=1")
    kept, _ = tables(raw)
    assert (kept["kernels"], kept["memcpy"], kept["api"]) == (0, 0, 0), kept


@test
def it_is_started_and_stopped_from_outside(place):
    raw, env = with_layer(place, "switch=1,asleep=1")
    times = []
    with librun.running([BUILD / "cl-endless", "counted", place.path / "ledger"], env) as child:
        assert child.stdout.readline() == b"launching\n"
        time.sleep(0.5)
        assert rows(raw, "kernels") == []
        for verb in ("start", "stop", "start", "stop"):
            before = librun.boot_ns()
            times.append((before, librun.switch(verb, raw)))
            time.sleep(0.3)
    found = rows(raw, "kernels")
    starts = sorted(int(r["start_ns"]) for r in found if r["start_ns"])
    assert len(starts) == len(found), "what was launched before the stop has its times"
    slack_ns = 100_000_000  # a kernel that was launched before the stop begins later
    for (on, _), (_, off) in (times[:2], times[2:]):
        assert [s for s in starts if on <= s < off + slack_ns], (on, off)
    outside = [s for s in starts if not any(on <= s < off + slack_ns for (on, _), (_, off) in (times[:2], times[2:]))]
    assert not outside, (outside[:5], times)


@test
def asleep_queues_can_be_left_without_profiling(place):
    for settings, below in (("switch=1,asleep=1", 2), ("switch=1,asleep=1,kernels=0", 0), ("kernels=0", 2)):
        raw, out = fake(place, "change", None, settings)
        assert out.startswith(f"made: properties 0, below {below}, times -7\n"), (settings, out)
        shutil.rmtree(raw)


@test
def calls_that_launch_and_wait_can_be_recorded_alone(place):
    _, raw = alike([BUILD / "cl-cases", "launches"], place, "api=launches")
    names = count(r["function"] for r in rows(raw, "api") if r["domain"] != "OPENCL_BUILD")
    assert names["clFinish"] == 1 and names["clEnqueueNDRangeKernel"] > 0, names
    assert all(n.startswith("clEnqueue") or n in ("clFinish", "clFlush", "clWaitForEvents") for n in names), names


@test
def a_sample_of_the_calls_is_a_sample(place):
    raw, env = with_layer(place, "api=launches,sample=20")
    assert execute([BUILD / "cl-rate", "async", "20000"], env).returncode == 0
    assert len(rows(raw, "kernels")) == 20100
    assert 500 < len(rows(raw, "api")) < 2000, len(rows(raw, "api"))


@test
def what_was_never_waited_for_is_recorded_soon(place):
    raw, env = with_layer(place)
    child = subprocess.Popen([BUILD / "cl-endless", "never"], stdout=subprocess.PIPE, env=env)
    assert child.stdout.readline() == b"launched\n"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and sum(1 for r in rows(raw, "kernels") if r["start_ns"]) < 1000:
        time.sleep(0.1)
    child.kill()
    child.wait()
    assert sum(1 for r in rows(raw, "kernels") if r["start_ns"]) == 1000


# ---- other people's programs ----

def add_foreign(name, function):
    """A test with a program nobody here wrote."""
    function.__name__ = name
    test(function)


def recorded(place, argv, timeout=300, env=None):
    raw, layered = with_layer(place)
    layered.update(env or {})
    done = execute(argv, layered, timeout)
    assert done.returncode == 0, done.stderr[-2000:].decode(errors="replace")
    return rows(raw, "kernels"), raw


def clfft(place):
    first, raw = recorded(place, ["clFFT-client", "-x", "1024", "-y", "64", "-p", "50"])
    assert len(first) == 204, len(first)
    assert len(rows(raw, "memcpy")) == 3


def ffmpeg(place):
    found, _ = recorded(place, [
        "ffmpeg", "-v", "error", "-init_hw_device", "opencl=ocl", "-filter_hw_device", "ocl", "-f",
        "lavfi", "-i", "testsrc=size=320x180:rate=25:duration=1", "-vf",
        "format=yuv420p,hwupload,avgblur_opencl,unsharp_opencl,hwdownload,format=yuv420p", "-f",
        "null", "-"])
    assert len(found) == 9 * 25, len(found)


def clblast(place):
    found, raw = recorded(place, ["clblast_test_xgemm", "-precision", "32"])
    assert len(found) == 8704, len(found)
    assert len({r["queue_id"] for r in found}) <= 10 and len(rows(raw, "memcpy")) > 80000


def has_module(name):
    return subprocess.run(["/usr/bin/python3", "-c", f"import {name}"], capture_output=True,
                          check=False).returncode == 0


PYOPENCL = """
import numpy, pyopencl, pyopencl.array
c = pyopencl.create_some_context(interactive=False)
q = pyopencl.CommandQueue(c)
a = pyopencl.array.to_device(q, numpy.arange(4096, dtype=numpy.float32))
for i in range(10):
    b = a + a
print(float(pyopencl.array.sum(a).get()), float(b.get()[3]))
"""


def pyopencl(place):
    found, _ = recorded(place, ["/usr/bin/python3", "-c", PYOPENCL])
    assert sum(n for name, n in count(r["kernel_name"] for r in found).items()
               if "axpbyz" in name) == 10, count(r["kernel_name"] for r in found)


OPENCV = """
import cv2, numpy
cv2.ocl.setUseOpenCL(True)
m = cv2.UMat(numpy.ones((256, 256), numpy.uint8))
for i in range(5):
    m = cv2.GaussianBlur(m, (5, 5), 1.5)
print(m.get().sum() > 0, cv2.ocl.haveOpenCL())
"""


def opencv(place):
    found, _ = recorded(place, ["/usr/bin/python3", "-c", OPENCV],
                        env={"OPENCV_OPENCL_DEVICE": ":CPU:"})
    assert len(found) >= 5, count(r["kernel_name"] for r in found)


OPENMM = """
import random
from openmm import *
from openmm.unit import *
random.seed(1)
s = System(); n = 1000; f = NonbondedForce(); f.setNonbondedMethod(NonbondedForce.CutoffPeriodic)
f.setCutoffDistance(1.0*nanometer)
side = 3.6
s.setDefaultPeriodicBoxVectors(Vec3(side,0,0),Vec3(0,side,0),Vec3(0,0,side))
pos = []
for i in range(n):
    s.addParticle(39.9); f.addParticle(0, 0.34, 0.99)
    pos.append(Vec3(i % 10, i // 10 % 10, i // 100) * 0.36)
s.addForce(f)
i = LangevinIntegrator(120*kelvin, 1/picosecond, 0.002*picoseconds); i.setRandomNumberSeed(1)
c = Context(s, i, Platform.getPlatformByName("OpenCL"))
c.setPositions(pos)
i.step(500)
print(c.getState(getEnergy=True).getPotentialEnergy() is not None)
"""


# The forces are computed at each of 500 steps and once more for the energy.
OPENMM_LAUNCHES = {
    **dict.fromkeys(["clearThreeBuffers", "findBlockBounds", "sortShortList", "sortBoxData",
                     "findBlocksWithInteractions", "computeNonbonded", "reduceForces"], 501),
    **dict.fromkeys(["integrateLangevinPart1", "integrateLangevinPart2"], 500),
    "generateRandomNumbers": 125,
    **dict.fromkeys(["determineNativeAccuracy", "computeParameters", "reduceEnergy",
                     "timeShiftVelocities"], 1),
}


def openmm(place):
    assert (sum(OPENMM_LAUNCHES.values()), len(OPENMM_LAUNCHES)) == (4636, 14)
    for _ in range(2):
        found, raw = recorded(place, ["/usr/bin/python3", "-c", OPENMM])
        names = count(r["kernel_name"] for r in found)
        assert names == OPENMM_LAUNCHES, names
        ways = count(r["direction"] for r in rows(raw, "memcpy"))
        assert ways["MEMORY_COPY_HOST_TO_DEVICE"] == 23, ways
        assert ways["MEMORY_COPY_DEVICE_TO_HOST"] == 510, ways
        shutil.rmtree(raw)


def add_programs():
    """Those that are installed."""
    if shutil.which("clFFT-client"):
        add_foreign("clfft_has_its_204_launches", clfft)
    if shutil.which("ffmpeg"):
        add_foreign("ffmpeg_has_9_launches_a_frame", ffmpeg)
    if shutil.which("clblast_test_xgemm") and FULL:
        add_foreign("clblast_has_its_8704_launches", clblast)
    if has_module("pyopencl"):
        add_foreign("pyopencl_is_recorded", pyopencl)
    if has_module("cv2"):
        add_foreign("opencv_which_loads_opencl_itself_is_recorded", opencv)
    if has_module("openmm"):
        add_foreign("openmm_has_its_4636_launches_of_14_names_every_time", openmm)


def main():
    if not LAYER.exists() or not (BUILD / "cl-cases").exists():
        print("skipped: the OpenCL layer was not built")
        return SKIPPED
    probe = subprocess.run([BUILD / "cl-cases", "queries"], capture_output=True, check=False,
                           env={**os.environ, "POCL_CACHE_DIR": CACHE})
    if probe.returncode == SKIPPED:
        print("skipped: no OpenCL device")
        return SKIPPED
    names = subprocess.run([BUILD / "cl-cases", "list"], capture_output=True, text=True, check=True)
    for name in names.stdout.split():
        add_case(name)
    if not sanitizer():
        if FULL:
            test(ten_million_launches_stay_small_and_fast)
        test(a_limited_address_space_is_left_to_the_program)
        add_programs()
    return librun.main()


if __name__ == "__main__":
    try:
        STATUS = main()
    finally:
        shutil.rmtree(CACHE, ignore_errors=True)
    sys.exit(STATUS)
