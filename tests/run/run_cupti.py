#!/usr/bin/env python3
"""The CUPTI collector against a stand-in for CUDA: what it records is what the program did.

tests/sim/cuda has a driver, a CUPTI in the layouts of several releases and a program that says what
it did. Every program has to end as it does without the collector, whatever CUPTI does to us.
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
import subprocess
import sys
import time

import librun
from librun import ROCKIT, test

BUILD = pathlib.Path(ROCKIT).resolve().parent
COLLECTOR = BUILD / "librockit-cupti.so"
APP = BUILD / "fake-cuda-app"
OWN_PROFILER = BUILD / "fake-own-profiler"
FAKE = BUILD / "fake-cuda"
FULL = os.environ.get("ROCKIT_TEST_FULL") == "1"
KILLS = 100 if FULL else 10
SKIPPED = 77
RELEASES = {"11.8": "libcupti.so.11.8", "12.0": "libcupti.so.12", "12.4": "libcupti.so.12",
            "12.9": "libcupti.so.12", "13.0": "libcupti.so.13", "13.4": "libcupti.so.13"}
DRIVERS = {"11.8": "11080", "12.0": "12000", "12.4": "12040", "12.9": "12090", "13.0": "13000",
           "13.4": "13040"}
DEMANGLED = {"_ZN2at6native29vectorized_elementwise_kernelILi4EfEEviT0_":
             "void at::native::vectorized_elementwise_kernel<4, float>(int, float)",
             "_Z9layernormPKfPfi": "layernorm(float const*, float*, int)"}
# By CUPTI's number of a kind of copy; 0 is a fill.
DIRECTIONS = ["MEMORY_FILL", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
              "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
              "MEMORY_COPY_DEVICE_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_DEVICE",
              "MEMORY_COPY_DEVICE_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_DEVICE",
              "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_PEER_TO_PEER"]


def sanitizer():
    data = COLLECTOR.read_bytes()
    return "asan" if b"__asan_init" in data else "tsan" if b"__tsan_init" in data else None


def library_of(release):
    return "libfake-cupti-old.so" if release in ("11.8", "12.0", "12.4") else "libfake-cupti.so"


def fake_cuda(place, release="12.9", library="libfake-cupti.so"):
    """A folder with the driver and CUPTI of a release, and the variables that name it."""
    folder = place.path / f"cuda-{release}-{library}"
    if not folder.exists():
        folder.mkdir()
        (folder / "libcuda.so.1").symlink_to(FAKE / "libcuda.so.1")
        (folder / RELEASES.get(release, "libcupti.so.12")).symlink_to(FAKE / library)
    return folder


def environment(place, release="12.9", mode="", library=None, **more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("CUDA_", "NVTX_", "ROCKIT_COLLECT", "FAKE_"))}
    env.update(FAKE_CUPTI_RELEASE=release, FAKE_CUPTI_MODE=mode, HOME=str(place.path),
               FAKE_CUDA_DRIVER=DRIVERS.get(release, "12090"),
               LD_LIBRARY_PATH=str(fake_cuda(place, release, library or library_of(release))))
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    env.update(more)
    return env


def collected(place, settings="", name="raw", **more):
    raw = place.path / name
    raw.mkdir(exist_ok=True)
    env = environment(place, **more)
    env.update(CUDA_INJECTION64_PATH=str(COLLECTOR), NVTX_INJECTION64_PATH=str(COLLECTOR),
               ROCKIT_COLLECT=f"dir={raw}" + (f",{settings}" if settings else ""))
    return raw, env


def execute(argv, env, timeout=60):
    return subprocess.run([str(a) for a in argv], capture_output=True, env=env, timeout=timeout,
                          stdin=subprocess.DEVNULL, text=True, check=False)


def rows(raw, table):
    done = subprocess.run([ROCKIT, "convert", str(raw), "--table", table, "-f", "csv", "-o", "-"],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def warnings(raw):
    done = subprocess.run([ROCKIT, "report", str(raw)], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def count(values):
    found = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    return found


def truth_of(done):
    """What the program says it did; several processes are added up."""
    truths = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    total = {"kernels": {}, "kernel_ns": 0, "copies": {}, "syncs": 0, "allocs": 0}
    for truth in truths:
        for name, n in truth["kernels"].items():
            name = DEMANGLED.get(name, name)
            if n:
                total["kernels"][name] = total["kernels"].get(name, 0) + n
        for kind, (n, size) in enumerate(truth["copies"]):
            if n:
                entry = total["copies"].setdefault(DIRECTIONS[kind], [0, 0])
                entry[0] += n
                entry[1] += size
        for key in ("kernel_ns", "syncs", "allocs"):
            total[key] += truth[key]
    total["begin"] = min(t["begin"] for t in truths)
    total["end"] = max(t["end"] for t in truths)
    return total


def compare(raw, truth, slack_ns=0):
    """Records against what the program says it did."""
    kernels = rows(raw, "kernels")
    assert count(r["kernel_name"] for r in kernels) == truth["kernels"]
    assert sum(int(r["duration_ns"]) for r in kernels) == truth["kernel_ns"]
    for r in kernels:
        assert truth["begin"] - slack_ns <= int(r["start_ns"]) <= truth["end"] + slack_ns, r
    copies = {}
    for r in rows(raw, "memcpy"):
        entry = copies.setdefault(r["direction"], [0, 0])
        entry[0] += 1
        entry[1] += int(r["bytes"])
    assert copies == truth["copies"], (copies, truth["copies"])
    assert len(rows(raw, "markers")) == truth["syncs"]
    return kernels


def same(plain, watched, says=None):
    """The program did not notice; `says`: the one line it may have got from us."""
    assert watched.returncode == plain.returncode, (plain.returncode, watched.returncode,
                                                    watched.stderr)
    hide = re.compile(r'"(begin|end|pid)": \d+')
    assert hide.sub("", watched.stdout) == hide.sub("", plain.stdout)
    rest = [line for line in watched.stderr.splitlines() if not line.startswith("rockit: ")]
    assert rest == plain.stderr.splitlines(), watched.stderr
    ours = [line for line in watched.stderr.splitlines() if line.startswith("rockit: ")]
    if says is None:
        assert not ours, ours
    else:
        assert len(ours) == 1 and says in ours[0], (says, ours)


def alike(place, argv, settings="", says=None, **more):
    plain = execute([APP, *argv], environment(place, **more))
    raw, env = collected(place, settings, **more)
    watched = execute([APP, *argv], env)
    same(plain, watched, says)
    return watched, raw


# ---- what is recorded ----

def add_release(release):
    def records_have_the_layout(place):
        done, raw = alike(place, ["run", 2000], release=release)
        compare(raw, truth_of(done))
        assert warnings(raw) == ""

    records_have_the_layout.__name__ = f"records_of_cuda_{release.replace('.', '_')}_come_back"
    test(records_have_the_layout)


@test
def kernels_have_all_their_numbers(place):
    _, raw = alike(place, ["run", 8])
    r = next(r for r in rows(raw, "kernels") if r["kernel_name"].startswith("layernorm"))
    want = {"grid_x": "102", "grid_y": "2", "grid_z": "1", "block_x": "128", "block_y": "1",
            "block_z": "1", "regs": "34", "shared_mem": "2048", "stream_id": "19",
            "device_id": "0", "context_id": "1", "graph_id": "", "scratch_bytes": "16",
            "wave_size": "32", "grid_items_x": str(102 * 128), "clock": "boottime", "tid": "",
            "source": "rkraw", "dispatch_id": "", "vgpr": ""}
    assert {k: r[k] for k in want} == want, r


@test
def the_gpus_are_described(place):
    _, raw = alike(place, ["run", 20])
    found = {r["device_id"]: r for r in rows(raw, "agents")}
    assert set(found) == {"0", "1"}, found
    r = found["1"]
    assert (r["type"], r["name"], r["gfx"], r["cu_count"], r["max_sclk_mhz"], r["wave_size"]) == (
        "GPU", "Stand-in H200", "sm_90", "132", "1980", "32"), r
    assert r["memory_bytes"] == str(141 << 30)
    assert [found[i]["pci"] for i in ("0", "1")] == ["0000:1b:00.0", "0000:1c:00.0"], found


@test
def kernels_of_graphs_have_graph_and_node(place):
    done, raw = alike(place, ["graphs", 30])
    kernels = compare(raw, truth_of(done))
    assert len(kernels) == 150
    assert {r["graph_id"] for r in kernels} == {"12"}
    assert count(r["graph_node_id"] for r in kernels) == {str((11 << 32) + i): 30 for i in range(5)}


@test
def copies_between_devices_name_both(place):
    _, raw = alike(place, ["run", 200])
    peers = [r for r in rows(raw, "memcpy") if r["direction"] == "MEMORY_COPY_PEER_TO_PEER"]
    assert peers and all((r["src_device"], r["dst_device"]) == ("0", "1") for r in peers), peers


@test
def calls_and_allocations_come_on_request(place):
    done, raw = alike(place, ["run", 1000], "api=1,alloc=1")
    truth = truth_of(done)
    compare(raw, truth)
    calls = rows(raw, "api")
    pid = json.loads(done.stdout)["pid"]
    assert count((r["domain"], r["function"]) for r in calls) == {
        ("CUDA_RUNTIME_API", "cudaLaunchKernel"): 1200, ("CUDA_DRIVER_API", "cuLaunchKernel"): 1200,
        ("CUDA_RUNTIME_API", "cudaStreamSynchronize"): 25, ("CUDA_DRIVER_API", "cuStreamSynchronize"): 25,
        ("CUDA_RUNTIME_API", "cudaDeviceSynchronize"): 25, ("CUDA_DRIVER_API", "cuCtxSynchronize"): 25,
        ("CUDA_RUNTIME_API", "unknown"): 50, ("CUDA_DRIVER_API", "unknown"): 50}
    assert {r["tid"] for r in calls} == {str(pid)}
    assert {r["correlation_id"] for r in rows(raw, "kernels")} < {
        r["correlation_id"] for r in calls}
    found = rows(raw, "memalloc")
    assert len(found) == truth["allocs"] == 100
    assert count(r["operation"] for r in found) == {"MEMORY_ALLOCATION_ALLOCATE": 50,
                                                    "MEMORY_ALLOCATION_FREE": 50}
    assert {r["device_id"] for r in found} == {"1"} and found[0]["bytes"] == "4096"


WAITS = {name: 25 for name in ("event synchronize", "stream wait event", "stream synchronize",
                               "context synchronize")}


def waits_of(place, **more):
    """Names of synchronisations, and whether the thread is known: it is when calls are recorded too."""
    done, raw = alike(place, ["run", 1000], **more)
    found = rows(raw, "markers")
    shutil.rmtree(raw)
    pid = str(json.loads(done.stdout)["pid"])
    assert {r["tid"] for r in found} <= {pid, ""}, found[:3]
    return count(r["name"] for r in found), {r["tid"] == pid for r in found}


@test
def synchronisations_are_single_calls_where_cupti_can_record_these(place):
    for release in ("12.9", "13.0", "13.4"):
        assert waits_of(place, release=release) == (WAITS, {True}), release
    assert waits_of(place, release="13.4", library="libfake-cupti-v2.so") == (WAITS, {True})


@test
def synchronisations_are_records_of_their_own_where_it_cannot(place):
    assert waits_of(place, release="12.4") == (WAITS, {False})
    assert waits_of(place, mode="whole") == (WAITS, {False})


@test
def calls_that_were_not_asked_for_are_not_there(place):
    _, raw = alike(place, ["run", 100])
    report = subprocess.run([ROCKIT, "report", "--format", "json", str(raw)], capture_output=True,
                            text=True, check=True)
    assert json.loads(report.stdout)["tables"]["api"] == 0


@test
def synchronisations_can_be_left_out(place):
    _, raw = alike(place, ["run", 100], "sync=0")
    assert len(rows(raw, "kernels")) == 100
    report = subprocess.run([ROCKIT, "report", "--format", "json", str(raw)], capture_output=True,
                            text=True, check=True)
    assert json.loads(report.stdout)["tables"]["markers"] == 0


@test
def nvtx_ranges_and_marks_are_markers(place):
    raw, env = collected(place)
    done = execute([APP, "nvtx", 50], env)
    assert done.returncode == 0 and json.loads(done.stdout) == {"nvtx": True, "times": 50}, done
    found = rows(raw, "markers")
    assert count((r["kind"], r["name"]) for r in found) == {
        ("NVTX_RANGE", "outer"): 50, ("NVTX_RANGE", "inner \u00e9\u4e2d"): 50,
        ("NVTX_RANGE:NCCL", "step"): 50, ("NVTX_RANGE", "range"): 50, ("NVTX_MARK", "mark"): 50,
        ("NVTX_MARK:NCCL", "registered"): 50}
    by = {}
    for r in found:
        by.setdefault(r["name"], []).append((int(r["start_ns"]), int(r["duration_ns"])))
    for outer, inner, mark in zip(by["outer"], by["inner \u00e9\u4e2d"], by["mark"]):
        assert outer[0] <= inner[0] and inner[0] + inner[1] <= mark[0] <= outer[0] + outer[1]
        assert mark[1] == 0
    assert warnings(raw) == ""


@test
def nvtx_is_left_alone_when_nobody_wants_it(place):
    for settings in ("nvtx=0", None):
        _, env = collected(place, settings or "")
        if settings is None:
            del env["ROCKIT_COLLECT"]
        assert json.loads(execute([APP, "nvtx", 5], env).stdout)["nvtx"] is False


@test
def threads_are_recorded_together(place):
    done, raw = alike(place, ["run", 3000, 4], "buffer=64K")
    compare(raw, truth_of(done))


@test
def processes_have_a_file_each(place):
    done, raw = alike(place, ["spawn", 500])
    assert len(list(raw.glob("*.rkraw"))) == 3
    compare(raw, truth_of(done))


@test
def the_child_of_a_fork_does_no_harm(place):
    done, raw = alike(place, ["fork", 500])
    assert len(list(raw.glob("*.rkraw"))) == 1
    compare(raw, truth_of(done))


@test
def a_child_that_is_the_first_to_use_cuda_is_recorded(place):
    done, raw = alike(place, ["heir", 500])
    truth = truth_of(done)
    assert len(list(raw.glob("*.rkraw"))) == 2
    assert count(r["kernel_name"] for r in rows(raw, "kernels")) == truth["kernels"]
    assert [r["name"] for r in rows(raw, "markers") if r["kind"] == "NVTX_MARK"] == ["mark"]


@test
def a_name_that_comes_to_lie_where_another_was_is_another(place):
    if sanitizer() == "tsan":
        raise librun.Skip("the program writes over what we have read, without telling")
    _, raw = alike(place, ["reload"], "flush=50")
    assert {r["kernel_name"] for r in rows(raw, "kernels")} == {"module_0", "module_1"}


@test
def without_settings_nothing_is_recorded(place):
    plain = execute([APP, "run", 100], environment(place))
    env = environment(place, CUDA_INJECTION64_PATH=str(COLLECTOR))
    same(plain, execute([APP, "run", 100], env))


@test
def a_program_without_cuda_gets_no_file(place):
    _, raw = alike(place, ["silent"])
    assert not list(raw.iterdir())


@test
def a_program_that_launches_nothing_is_quiet(place):
    _, raw = alike(place, ["idle"])
    assert rows(raw, "kernels") == []


@test
def no_gpu_is_the_programs_own_affair(place):
    done, raw = alike(place, ["run", 10], FAKE_CUDA_NO_GPU="1")
    assert done.returncode == 9 and not list(raw.iterdir())


# ---- what is left out ----

@test
def only_ranges_of_the_name_that_was_asked_for_are_recorded(place):
    for settings, ranges in (("range=step", 20), ("range=step,every=1:5", 4), ("every=2:4", 10), ("range=other", 0)):
        _, raw = alike(place, ["ranges", 20], settings)
        names = count(r["kernel_name"] for r in rows(raw, "kernels"))
        assert names == ({DEMANGLED["_Z9layernormPKfPfi"]: 10 * ranges} if ranges else {}), (settings, names)
        if ranges:
            assert [r["name"] for r in rows(raw, "markers")] == ["step"] * ranges, settings
        shutil.rmtree(raw)


@test
def calls_that_launch_and_wait_can_be_recorded_alone(place):
    for release in ("12.9", "13.4"):
        done, raw = alike(place, ["run", 1000], "api=launches", release=release)
        compare(raw, truth_of(done))
        # copies and allocations of the stand-in have the same number as launches
        assert count(r["function"] for r in rows(raw, "api")) == {
            "cudaLaunchKernel": 1200, "cuLaunchKernel": 1200, "cudaStreamSynchronize": 25, "cuStreamSynchronize": 25,
            "cudaDeviceSynchronize": 25, "cuCtxSynchronize": 25, "unknown": 100}
        shutil.rmtree(raw)
    _, raw = alike(place, ["run", 100], "api=launches", release="12.4", says="cannot record single functions")
    assert len(rows(raw, "kernels")) == 100


@test
def a_sample_of_the_calls_is_a_sample(place):
    done, raw = alike(place, ["run", 5000], "api=1,sample=10")
    compare(raw, truth_of(done))
    n = len(rows(raw, "api"))
    assert 0.05 * 13000 < n < 0.2 * 13000, n


@test
def a_collector_that_sleeps_records_nothing_and_is_never_woken(place):
    raw, env = collected(place, "switch=1,asleep=1")
    child = subprocess.Popen([APP, "endless"], stdout=subprocess.PIPE, env=env)
    child.stdout.readline()
    switches = {}
    for _ in range(2):
        for task in pathlib.Path(f"/proc/{child.pid}/task").iterdir():
            if (task / "comm").read_text().startswith("rockit"):
                lines = (task / "status").read_text().splitlines()
                n = next(line.split()[1] for line in lines if line.startswith("voluntary"))
                switches.setdefault(task.name, []).append(n)
        time.sleep(0.5)
    child.kill()
    child.wait()
    assert len(switches) == 2 and all(a == b for a, b in switches.values()), switches
    assert rows(raw, "kernels") == []


def noted(log):
    """What `fake-cuda-app serve` noted: (time, steps of 10 launches so far)."""
    lines = log.read_text().split("\n")[1:-1] if log.exists() else []
    return [tuple(map(int, line.split())) for line in lines]


def add_switched(library, release):
    def is_started_and_stopped(place):
        raw, env = collected(place, "switch=1,asleep=1", library=library, release=release)
        log = place.path / "log"
        times = []
        with librun.running([APP, "serve", log], env) as child:
            while len(noted(log)) < 5:
                time.sleep(0.05)
            assert rows(raw, "kernels") == []
            for verb in ("start", "stop", "start", "stop"):
                before = librun.boot_ns()
                times.append((before, librun.switch(verb, raw)))
                time.sleep(0.3)
        starts = sorted(int(r["start_ns"]) for r in rows(raw, "kernels"))
        pieces = 0
        for (_, on), (off, _) in (times[:2], times[2:]):
            for (begin, n), (end, m) in zip(noted(log), noted(log)[1:]):
                if on < begin and end < off:
                    pieces += 1
                    assert sum(begin <= s < end for s in starts) == 10 * (m - n), (begin, end)
        assert pieces > 4, (times, noted(log))
        for begin, end in ((0, times[0][0]), (times[1][1], times[2][0]), (times[3][1], starts[-1] + 1)):
            assert not [s for s in starts if begin <= s < end], (begin, end)

    name = library[len("libfake-"):-len(".so")].replace("-", "_")
    is_started_and_stopped.__name__ = f"{name}_is_started_and_stopped_from_outside"
    test(is_started_and_stopped)


@test
def a_window_of_a_killed_program_has_its_last_kernels(place):
    raw, env = collected(place, "switch=1,window=1,limit=2M")
    log = place.path / "log"
    with librun.running([APP, "serve", log], env):
        while len(noted(log)) < 300:
            time.sleep(0.05)
    starts = sorted(int(r["start_ns"]) for r in rows(raw, "kernels"))
    kept = [(a, b) for a, b in zip(noted(log), noted(log)[1:])
            if a[0] > starts[0] and b[0] < noted(log)[-1][0] - 200_000_000]
    assert len(kept) > 20, (len(kept), len(starts))
    for (begin, _), (end, _) in kept[5:]:  # a block of the reading thread may be overwritten before its neighbours
        assert sum(begin <= s < end for s in starts) == 1000, (begin, end)
    assert sum(f.stat().st_size for f in raw.iterdir()) <= 2 << 20


# ---- what CUPTI does to us ----

@test
def its_own_clock_is_brought_to_the_hosts(place):
    done, raw = alike(place, ["run", 1000], mode="notime")
    compare(raw, truth_of(done), slack_ns=2_000_000)


@test
def buffers_that_are_not_full_come_by_period(place):
    raw, env = collected(place, "flush=50")
    done = execute([APP, "leave", 500, 400], env)
    assert done.returncode == 5
    compare(raw, truth_of(done))


@test
def what_it_drops_is_counted(place):
    done, raw = alike(place, ["run", 1000], "sync=0", mode="drop=10")
    total = sum(truth_of(done)["kernels"].values()) + 100
    found = len(rows(raw, "kernels")) + len(rows(raw, "memcpy"))
    assert found == total - total // 10, (found, total)
    said = warnings(raw)
    assert f"{total // 10} by the runtime" in said, said


@test
def kernels_without_times_are_counted(place):
    _, raw = alike(place, ["run", 100], mode="timeless=10")
    assert len(rows(raw, "kernels")) == 90
    assert "10 by the runtime" in warnings(raw)


@test
def records_of_unknown_kinds_are_passed_over(place):
    done, raw = alike(place, ["run", 1000], mode="unknown")
    compare(raw, truth_of(done))


@test
def a_buffer_that_lies_is_given_up(place):
    for mode in ("outside", "incomplete"):
        _, raw = alike(place, ["run", 100], "", "unreadable buffer", mode=mode)
        assert "by the runtime" in warnings(raw)
        shutil.rmtree(raw)


@test
def when_it_wants_no_buffer_all_is_counted_at_the_end(place):
    _, raw = alike(place, ["run", 100], "sync=0", "take it over", mode="mute")
    assert rows(raw, "kernels") == []
    assert "111 by the runtime" in warnings(raw)  # one asks whether we are heard


@test
def held_by_somebody_else_it_is_left_alone(place):
    _, raw = alike(place, ["run", 100], "", "CUPTI is in use by another profiler", mode="held")
    assert rows(raw, "kernels") == []
    assert "in use by another profiler" in warnings(raw)


@test
def the_holder_is_named_where_cupti_says_so(place):
    alike(place, ["run", 100], "", "in use by nsys: kernels are not recorded", mode="held=nsys",
          release="13.4", library="libfake-cupti-v2.so")


@test
def a_refused_kind_is_reported_and_the_rest_recorded(place):
    done, raw = alike(place, ["run", 1000], "", "copies are not recorded", mode="refuse=1")
    truth = truth_of(done)
    assert count(r["kernel_name"] for r in rows(raw, "kernels")) == truth["kernels"]
    assert {r["direction"] for r in rows(raw, "memcpy")} == {"MEMORY_FILL",
                                                             "MEMORY_COPY_PEER_TO_PEER"}
    alike(place, ["run", 10], "", "kernels are not recorded", mode="refuse=10")


@test
def being_replaced_is_noticed(place):
    done, raw = alike(place, ["takeover", 400], "flush=50", "take it over")
    first = truth_of(done)
    assert count(r["kernel_name"] for r in rows(raw, "kernels")) == first["kernels"]
    done, raw = alike(place, ["early"], "flush=50", "take it over", name="early")


@test
def a_profiler_in_the_program_sees_all_it_would_see_alone(place):
    plain = execute([OWN_PROFILER], environment(place))
    assert json.loads(plain.stdout) == {"seen": 300, "others": 0, "unknown": 0, "late": 0}, plain
    for settings in ("flush=0", "flush=50", "api=1,alloc=1"):
        raw, env = collected(place, settings)
        watched = execute([OWN_PROFILER], env)
        same(plain, watched, "a profiler in the program uses CUPTI")
        assert count(r["kernel_name"] for r in rows(raw, "kernels")) == {
            "layernorm(float const*, float*, int)": 300}
        shutil.rmtree(raw)


@test
def two_subscribers_share_where_that_can_be(place):
    done, raw = alike_shared(place, "")
    compare(raw, truth_of(done))
    assert "other: records" in done.stderr, done.stderr


def alike_shared(place, settings):
    raw, env = collected(place, settings, release="13.4", library="libfake-cupti-v2.so")
    done = execute([APP, "sharing", 1000], env)
    assert done.returncode == 0, done.stderr
    return done, raw


@test
def sharing_can_be_refused(place):
    done, raw = alike(place, ["run", 500], "share=0", release="13.4",
                      library="libfake-cupti-v2.so")
    compare(raw, truth_of(done))


@test
def no_cupti_and_wrong_ones_cost_nothing_but_a_line(place):
    folder = fake_cuda(place, "12.9")
    (folder / "libcupti.so.12").unlink()
    alike(place, ["run", 50], "", "no CUPTI for CUDA 11.8 to 13")
    alike(place, ["run", 50], f"cupti={place.path}/nothing.so", "is not a usable CUPTI")
    alike(place, ["run", 50], "", "lacks cuptiActivityFlushAll", release="12.4",
          library="libfake-cupti-lacking.so")
    newer = fake_cuda(place, "13.0") / "libcupti.so.13"
    alike(place, ["run", 50], f"cupti={newer}", "is for CUDA 13, the driver for CUDA 12.4",
          release="13.0", FAKE_CUDA_DRIVER="12040")
    for api in ("12", "140000"):
        alike(place, ["run", 50], "", f"is an unknown release of CUPTI (API {api})", release=api)


@test
def the_newest_that_the_driver_can_use_is_taken(place):
    folder = fake_cuda(place, "12.9")
    (folder / "libcupti.so.13").symlink_to(FAKE / "libfake-cupti-lacking.so")
    done, raw = alike(place, ["run", 50])
    compare(raw, truth_of(done))


@test
def it_is_found_beside_the_programs_own_cuda(place):
    """As pip lays it out: .../cuda_runtime/lib and .../cuda_cupti/lib."""
    if sanitizer() == "asan":
        raise librun.Skip("nothing may be loaded before the sanitizer")
    runtime, cupti = (place.path / "nvidia" / n / "lib" for n in ("cuda_runtime", "cuda_cupti"))
    for folder in (runtime, cupti):
        folder.mkdir(parents=True)
    shutil.copy(FAKE / "libfake-cupti.so", cupti / "libcupti.so.12")
    shutil.copy(FAKE / "libcuda.so.1", runtime / "libcudart.so.12")
    (fake_cuda(place) / "libcupti.so.12").unlink()
    raw, env = collected(place, LD_PRELOAD=str(runtime / "libcudart.so.12"))
    done = execute([APP, "run", 50], env)
    compare(raw, truth_of(done))


# ---- ends ----

@test
def exit_in_a_callback_is_an_exit(place):
    done, raw = alike(place, ["callback", 500])
    assert done.returncode == 7
    compare(raw, truth_of(done))


@test
def a_cupti_that_hangs_does_not_keep_the_program(place):
    alike(place, ["run", 100], "", "in time", mode="hang")  # its flush never returns


@test
def a_buffer_that_comes_after_the_end_is_still_recorded(place):
    done, raw = alike(place, ["run", 300], "flush=0", "take it over", mode="late")
    assert count(r["kernel_name"] for r in rows(raw, "kernels")) == truth_of(done)["kernels"]


@test
def what_was_flushed_survives_abort_and_exit(place):
    for verb, status in (("leave", 5), ("abort", -signal.SIGABRT)):
        raw, env = collected(place, "flush=50", name=verb)
        done = execute([APP, verb, 1000, 400], env)
        assert done.returncode == status, done
        compare(raw, truth_of(done))
        assert "did not exit normally" in warnings(raw)


@test
def what_was_flushed_survives_a_kill(place):
    chance = random.Random(7)
    for i in range(KILLS):
        raw, env = collected(place, "flush=1", name=f"kill{i}")
        with subprocess.Popen([APP, "endless"], stdout=subprocess.PIPE, env=env) as child:
            for _ in range(3):
                child.stdout.readline()
            time.sleep(chance.random() * 0.1)
            child.send_signal(signal.SIGKILL)
            said = child.stdout.read().split(b"\n")[:-1]
        told = int(said[-1]) if said else 3000
        assert len(rows(raw, "kernels")) >= told - 1000, (i, told)
        shutil.rmtree(raw)


# ---- rockit run ----

def profiled(place, *args, app, **more):
    directory = place.path / "run"
    env = environment(place, **more)
    done = subprocess.run([ROCKIT, "run", "--tool", "cupti", "-d", str(directory), *args, "--",
                           *map(str, app)], capture_output=True, text=True, env=env, timeout=120,
                          stdin=subprocess.DEVNULL, check=False)
    return done, directory


@test
def rockit_run_records_and_hands_the_status_on(place):
    done, directory = profiled(place, "-t", "kernel,memcpy,marker,alloc,hip,hsa",
                               app=[APP, "callback", 500])
    assert done.returncode == 7, done.stderr
    truth = truth_of(done)
    run = json.loads((directory / "run.json").read_text())
    delivered = run["ledger"]["delivered"]["tables"]
    assert delivered["kernels"] == sum(truth["kernels"].values()) == 500, delivered
    assert delivered["memcpy"] == 50 and delivered["memalloc"] == 50, delivered
    assert delivered["api"] == 1300 and delivered["markers"] == 50, delivered
    assert "flush=100" in json.dumps(run), "the period is recorded"
    compare(directory, truth)


@test
def rockit_run_says_what_was_lost(place):
    done, directory = profiled(place, app=[APP, "run", 1000], mode="drop=7")
    run = json.loads((directory / "run.json").read_text())
    assert done.returncode == 0
    assert run["ledger"]["dropped"]["records"] == "185: lost by the vendor's runtime", run
    twice = ["sh", "-c", '"$0" run 1000; exec "$0" run 1000', APP]
    done, directory = profiled(place, "--force", app=twice, mode="drop=7")
    ledger = json.loads((directory / "run.json").read_text())["ledger"]
    assert ledger["dropped"]["records"] == "370: lost by the vendor's runtime", ledger
    held, directory = profiled(place, "--force", app=[APP, "run", 10], mode="held")
    assert held.returncode == 0 and "CUPTI is in use" in held.stderr, held.stderr
    ledger = json.loads((directory / "run.json").read_text())["ledger"]
    assert ledger["dropped"]["cupti"].startswith("CUPTI is in use by another profiler"), ledger
    left, directory = profiled(place, "--force", app=[APP, "leave", 10, 0])
    ledger = json.loads((directory / "run.json").read_text())["ledger"]
    assert left.returncode == 5 and "had not delivered" in ledger["dropped"]["end"], ledger


@test
def rockit_run_warns_when_the_program_made_no_cuda_call(place):
    done, _ = profiled(place, app=[APP, "silent"])
    assert "the program made no CUDA call, or the driver did not load the collector" in done.stderr
    assert "OpenCL" not in done.stderr, done.stderr


@test
def the_plan_names_what_will_not_come(place):
    done = subprocess.run(
        [ROCKIT, "run", "--tool", "cupti", "--dry-run", "--format", "json", "-t", "sys", "-c",
         "SQ_WAVES", "--arch", "gfx942", "-d", "d", "--", "./app"], capture_output=True, text=True,
        env=environment(place), check=False)
    assert done.returncode == 0, done.stderr
    plan = json.dumps(json.loads(done.stdout))
    for words in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "matching NVIDIA counters",
                  "NCCL's ranges are recorded as markers", "api=1", "alloc=1"):
        assert words in plan, (words, plan)


# ---- cost ----

def cpu_of(argv, env):
    """Seconds of CPU of a program and what it waited for."""
    with subprocess.Popen([str(a) for a in argv], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return used.ru_utime + used.ru_stime


@test
def a_million_kernels_are_small_and_soon_converted(place):
    """Times are of the CPU: others work on this machine, too."""
    if sanitizer() or not FULL:
        raise librun.Skip("in the full test, without sanitizers")
    directory = place.path / "million"
    work = [APP, "run", 1000000]
    plain = cpu_of(work, environment(place))
    watched = cpu_of(work, collected(place)[1])
    both = cpu_of([ROCKIT, "run", "-q", "--tool", "cupti", "-t", "kernel", "-d", directory, "--",
                   *work], environment(place))
    raw = sum(f.stat().st_size for f in directory.rglob("*.rkraw"))
    table = (directory / "rocprof_kernels.parquet").stat().st_size
    print(f"# a kernel: {raw / 1e6:.1f} B raw, {table / 1e6:.1f} B Parquet; CPU: "
          f"{(watched - plain) * 1000:.0f} ns of collector and stand-in for it and its share of "
          f"copies; after the end {both - watched:.2f} s")
    assert raw <= 64 * 1_000_000 and table <= 12 * 1_000_000, (raw, table)
    assert watched - plain < 2 and both - watched < 1, (plain, watched, both)


def main():
    if not COLLECTOR.exists() or not APP.exists():
        print("skipped: the CUPTI collector was not built")
        return SKIPPED
    for release in RELEASES:
        add_release(release)
    for library, release in (("libfake-cupti.so", "12.9"), ("libfake-cupti-v2.so", "13.4"),
                             ("libfake-cupti-old.so", "12.4")):
        add_switched(library, release)
    return librun.main()


if __name__ == "__main__":
    sys.exit(main())
