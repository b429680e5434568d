#!/usr/bin/env python3
"""rockit under real launchers: Slurm with two nodes on this machine, and OpenMPI.

Skipped where they are not installed, where the daemons cannot be started, or without OpenCL.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import librun
import libslurm
from librun import ROCKIT, Skip, test

BUILD = pathlib.Path(ROCKIT).resolve().parent
APP = BUILD / "example-inference"
SKIPPED = 77
CACHE = tempfile.mkdtemp(prefix="rockit-pocl-")
CLUSTER = None


def environment(place, **more):
    env = place.env(POCL_CACHE_DIR=CACHE, **more)
    env.update(CLUSTER.env if CLUSTER else {"PATH": libslurm.PATH})
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return env


def launch(place, *argv, timeout=120, **env):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=timeout,
                          env=environment(place, **env), stdin=subprocess.DEVNULL, check=False)


def srun(place, n, *argv, **env):
    return launch(place, "srun", "-N2", f"-n{n}", *argv, **env)


def rockit(*options):
    return [ROCKIT, "run", "--tool", "opencl", *map(str, options), "--"]


def ranks(top):
    """run.json of each rank, by its number."""
    return {int(p.parent.name[5:]): json.loads(p.read_text())
            for p in sorted(top.glob("rank-*/run.json"))}


def report(place, top):
    done = place.rockit("report", "--by", "rank", "--format", "json", top)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@test
def four_ranks_on_two_nodes_have_a_folder_each(place):
    top = place.path / "job"
    done = srun(place, 4, *rockit("-d", top), APP, 3)
    assert done.returncode == 0, done.stderr
    got = ranks(top)
    assert sorted(got) == [0, 1, 2, 3], got
    assert {r["node"] for r in got.values()} == {"n1", "n2"}
    assert len({r["job"] for r in got.values()}) == 1
    for number, run in got.items():
        assert (run["rank"], run["size"], run["launcher"]) == (number, 4, "slurm"), run
        assert run["state"] == "done" and run["node_id"] == (0 if run["node"] == "n1" else 1)
    kernels = report(place, top)["kernels"]
    assert {k["rank"] for k in kernels} == {0, 1, 2, 3}
    assert len({sum(k["calls"] for k in kernels if k["rank"] == r) for r in range(4)}) == 1


@test
def ranks_that_are_told_no_directory_meet_in_one(place):
    done = srun(place, 2, *rockit(), APP, 2)
    assert done.returncode == 0, done.stderr
    tops = list((place.path / "rockit_output").iterdir())
    assert len(tops) == 1 and sorted(ranks(tops[0])) == [0, 1], tops


@test
def a_nodes_own_disk_is_used_first_and_left_empty(place):
    scratch = pathlib.Path("/dev/shm")
    if not scratch.is_dir() or scratch.stat().st_dev == place.path.stat().st_dev:
        raise Skip("no second file system")
    top, mine = place.path / "job", pathlib.Path(tempfile.mkdtemp(dir=scratch))
    try:
        script = f"ls {mine} >&2; exec {APP} 2"
        done = srun(place, 2, *rockit("-d", top), "sh", "-c", script, SLURM_TMPDIR=str(mine))
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("rockit-") >= 2, done.stderr
        assert not list(mine.iterdir())
    finally:
        shutil.rmtree(mine)
    got = ranks(top)
    assert sorted(got) == [0, 1] and all(r["scratch"].startswith(str(mine)) for r in got.values())
    assert report(place, top)["kernel_rows"] > 0
    assert not list(top.glob("rank-*/.rockit-incoming"))


@test
def scratch_that_cannot_be_used_is_told_and_the_run_goes_home_at_once(place):
    top = place.path / "job"
    done = srun(place, 1, "-N1", *rockit("-d", top), APP, 2, SLURM_TMPDIR="/proc")
    assert done.returncode == 0 and "/proc" in done.stderr, done.stderr
    assert "scratch" not in ranks(top)[0]


@test
def ranks_that_are_not_chosen_run_as_they_are(place):
    top = place.path / "job"
    script = 'echo "$SLURM_PROCID ${OPENCL_LAYERS:-none} ${ROCKIT_COLLECT:-none}"; exec ' + f"{APP} 2"
    done = srun(place, 4, *rockit("-d", top, "--ranks", "1,3-8"), "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in top.iterdir()) == ["rank-00001", "rank-00003"]
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line[:2] in
                ("0 ", "1 ", "2 ", "3 "))
    assert said["0"] == said["2"] == "none none" and "rockit" in said["1"], done.stdout


@test
def two_processes_with_one_rank_are_told_apart(place):
    top = place.path / "job"
    done = srun(place, 2, *rockit("-d", top), "sh", "-c", f"sleep 0.5; exec {APP} 2",
                ROCKIT_RANK="5")
    assert done.returncode == 125, done
    assert "two processes of this job are rank 5" in done.stderr, done.stderr
    assert "on n1" in done.stderr and "on n2" in done.stderr, done.stderr
    assert sorted(ranks(top)) == [5]


@test
def a_killed_rank_costs_nothing_of_the_others(place):
    top = place.path / "job"
    script = f'{APP} 2; [ "$SLURM_PROCID" != 2 ] || kill -9 $PPID $$'
    done = srun(place, 4, "-K0", "-W30", *rockit("-d", top), "sh", "-c", script)
    assert done.returncode != 0
    got = ranks(top)
    assert sorted(got) == [0, 1, 2, 3]
    assert [got[r]["state"] for r in range(4)] == ["done", "done", "running", "done"], done.stderr
    kernels = report(place, top)["kernels"]
    calls = {r: sum(k["calls"] for k in kernels if k["rank"] == r) for r in range(4)}
    assert len(set(calls.values())) == 1 and calls[0] > 0, calls


@test
def one_rank_of_a_node_monitors_it(place):
    for i in range(2):
        hwmon = place.root / f"sys/class/drm/card{i}/device"
        hwmon.mkdir(parents=True)
    top = place.path / "job"
    done = srun(place, 4, *rockit("-d", top, "--monitor", "power", "--ranks", "1-3"), APP, 2)
    assert done.returncode == 0, done.stderr
    dropped = [r["ledger"]["dropped"].get("monitors", "") for r in ranks(top).values()]
    assert sum("another rank" in d for d in dropped) == 1, dropped
    assert not list(top.glob(".rockit-*"))


@test
def ranks_of_openmpi_have_a_folder_each(place):
    if not shutil.which("mpirun", path=libslurm.PATH):
        raise Skip("no mpirun")
    top = place.path / "job"
    done = launch(place, "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", 3,
                  *rockit("-d", top), APP, 2)
    assert done.returncode == 0, done.stderr
    got = ranks(top)
    assert sorted(got) == [0, 1, 2]
    assert {(r["launcher"], r["size"]) for r in got.values()} == {("openmpi", 3)}
    assert [got[r]["local_rank"] for r in range(3)] == [0, 1, 2]
    assert len({r["job"] for r in got.values()}) == 1


def main():
    global CLUSTER  # pylint: disable=global-statement
    why = libslurm.missing()
    if not APP.exists() or not (BUILD / "librockit-opencl.so").exists():
        why = "the OpenCL layer was not built"
    data = (BUILD / "librockit-opencl.so").read_bytes() if not why else b""
    if b"__tsan_init" in data or b"__asan_init" in data:
        why = "other people's programs cannot load a layer with a sanitizer"
    if not why and subprocess.run([BUILD / "cl-cases", "queries"], capture_output=True, check=False,
                                  env={**os.environ, "POCL_CACHE_DIR": CACHE}).returncode == SKIPPED:
        why = "no OpenCL device"
    if why:
        print("skipped: " + why)
        return SKIPPED
    begin = time.monotonic()
    try:
        with libslurm.Cluster() as CLUSTER:
            print(f"# two nodes after {time.monotonic() - begin:.1f} s", flush=True)
            return librun.main()
    except RuntimeError as error:
        print(f"skipped: {error}")
        return SKIPPED


if __name__ == "__main__":
    try:
        STATUS = main()
    finally:
        shutil.rmtree(CACHE, ignore_errors=True)
    sys.exit(STATUS)
