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
NAME = "a b #c \"it's\" \\ \\\\ d"


def environment(place, **more):
    env = place.env(POCL_CACHE_DIR=CACHE)
    env.update(CLUSTER.env)
    env.update(more)
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
    said = report(place, top)
    kernels = said["kernels"]
    assert {k["rank"] for k in kernels} == {0, 1, 2, 3}
    # both nodes are this machine, and run.json says so
    assert said["ranks"]["nodes"] == 2 and not said["ranks"]["problems"], said["ranks"]
    assert {r["clock"] for r in said["ranks"]["ranks"]} == {"same"}, said["ranks"]["ranks"]
    assert len({sum(k["calls"] for k in kernels if k["rank"] == r) for r in range(4)}) == 1


@test
def ranks_without_a_directory_share_one(place):
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
def unusable_scratch_is_reported_and_the_run_uses_its_directory(place):
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
def two_processes_with_one_rank_are_distinguished(place):
    top = place.path / "job"
    done = srun(place, 2, *rockit("-d", top), "sh", "-c", f"sleep 0.5; exec {APP} 2",
                ROCKIT_RANK="5")
    assert done.returncode == 125, done
    assert "two processes of this job have rank 5" in done.stderr, done.stderr
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
    said = report(place, top)
    assert [(p["kind"], p["rank"]) for p in said["ranks"]["problems"]] == [("broken", 2)], said["ranks"]
    kernels = said["kernels"]
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


def slurm(place, verb, *args, timeout=120, **env):
    return launch(place, ROCKIT, "slurm", verb, *args, timeout=timeout, **env)


@test
def a_submitted_job_is_waited_for_and_collected(place):
    top = place.path / "job's dir"
    words = ["a b", "$HOME", "it's", "", "-x", "line\nend", "cr\r\nlf", "\\", "\u00e9"]
    script = 'printf "%s" "$SLURM_JOB_NAME" >name; printf "%s|" "$@" >>words.$SLURM_PROCID; ' + \
        f"exec {APP} 2"
    done = slurm(place, "submit", "--nodes", 2, "--ntasks-per-node", 2, "--gpus-per-node", 2,
                 "--time", 5, "--partition", "main", "--job-name", NAME, "--wait", "-d", top,
                 "--run-args", "--tool opencl", "--", "sh", "-c", script, "sh", *words)
    assert done.returncode == 0, (done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    assert lines[0].endswith("4 ranks of 4") and lines[1].startswith("n1: ranks 0-1: 2 done, "), lines
    assert lines[2].startswith("n2: ranks 2-3: 2 done, ") and len(lines) == 3, lines
    assert "RUNNING on n[1-2]" in done.stderr or "COMPLETED on n[1-2]" in done.stderr, done.stderr
    got = ranks(top)
    assert sorted(got) == [0, 1, 2, 3]
    assert pathlib.Path("name").read_text() == NAME
    for rank in range(4):
        text = pathlib.Path(f"words.{rank}").read_bytes().decode()
        assert text == "|".join(words) + "|", text
    again = slurm(place, "submit", "-d", top, "--", APP)
    assert again.returncode == 1 and "--force" in again.stderr, again.stderr
    assert report(place, top)["kernel_rows"] > 0


@test
def a_job_of_mpirun_has_its_ranks_in_one_directory(place):
    if not shutil.which("mpirun", path=libslurm.PATH):
        raise Skip("no mpirun")
    top = place.path / "job"
    done = slurm(place, "submit", "--nodes", 2, "--ntasks-per-node", 2, "--launcher", "mpirun",
                 "--launcher-args", "--allow-run-as-root", "--wait", "-d", top,
                 "--run-args", "--tool opencl", "--format", "json", "--", APP, 2)
    assert done.returncode == 0, (done.stdout, done.stderr, output_of(top))
    parts = json.loads(done.stdout)
    assert parts["whole"] and parts["size"] == 4 and len(parts["ranks"]) == 4, parts


@test
def a_context_with_slurm_and_torchrun_runs_end_to_end(place):
    bin_dir = place.path / "bin"
    bin_dir.mkdir()
    torchrun = bin_dir / "torchrun"
    torchrun.write_text("""#!/usr/bin/env python3
import os, subprocess, sys
given = dict(w[2:].split("=") for w in sys.argv[1:] if w.startswith("--") and "=" in w)
here = int(os.environ["SLURM_NODEID"])
each, nodes = int(given["nproc_per_node"]), int(given["nnodes"])
assert given["rdzv_endpoint"].startswith("n1:"), given
command = sys.argv[sys.argv.index("--no_python") + 1:]
env = [dict(os.environ, RANK=str(here * each + i), LOCAL_RANK=str(i), WORLD_SIZE=str(each * nodes),
            GROUP_RANK=str(here), TORCHELASTIC_RESTART_COUNT="0") for i in range(each)]
started = [subprocess.Popen(command, env=e) for e in env]
sys.exit(max(s.wait() for s in started))
""")
    torchrun.chmod(0o755)
    context = {"slurm": {"partition": "main", "nodes": 2, "gpus_per_node": 2, "time": "00:05:00"},
               "distributed": {"launcher": "torchrun", "nnodes": 2, "nproc_per_node": 2},
               "tools": [{"name": "rocprofv3_lightweight"}]}
    top = place.path / "job"
    done = slurm(place, "submit", "--additional-context", json.dumps(context), "--wait", "-d", top,
                 "--run-args", "--tool opencl", "--", APP, 2,
                 PATH=f"{bin_dir}:{libslurm.PATH}")
    assert done.returncode == 0, (done.stdout, done.stderr, output_of(top))
    got = ranks(top)
    assert sorted(got) == [0, 1, 2, 3], output_of(top)
    assert {(r["launcher"], r["node_id"]) for r in got.values()} == {("torchrun", 0),
                                                                    ("torchrun", 1)}


@test
def the_presets_for_many_gpus_run_end_to_end(place):
    place.rocm("7.0")
    for preset, nodes in (("multi_gpu", 1), ("multinode", 2)):
        top = place.path / preset
        done = slurm(place, "submit", "-p", preset, "--nodes", nodes, "--ntasks-per-node", 2,
                     "--gpus-per-node", 2, "--wait", "-d", top, "--run-args", "--arch gfx942", "--",
                     "true", PATH=f"{place.bin}:{libslurm.PATH}")
        assert done.returncode == 0, (done.stdout, done.stderr, output_of(top))
        assert report(place, top)["kernel_rows"] == 2 * nodes * librun.KERNELS, output_of(top)
        read = place.rockit("report", top)
        assert "job.sh" not in read.stderr and "slurm-" not in read.stderr, read.stderr


def output_of(top):
    return "".join(p.read_text(errors="replace") for p in top.glob("slurm-*.out"))


@test
def a_cancelled_job_is_reported_with_what_it_left(place):
    top = place.path / "job"
    waiting = subprocess.Popen(
        [ROCKIT, "slurm", "submit", "--nodes", "2", "--wait", "-d", str(top), "--run-args",
         "--tool opencl", "--", "sh", "-c", f"{APP} 2; touch up.$SLURM_PROCID; sleep 60"],
        env=environment(place), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    libslurm.Cluster.until(lambda: pathlib.Path("up.0").exists() and pathlib.Path("up.1").exists(),
                           "ranks that run")
    job = json.loads((top / ".rockit-job.json").read_text())["job"]
    assert launch(place, "scancel", job).returncode == 0
    out, err = waiting.communicate(timeout=60)
    assert waiting.returncode not in (0, 2, 125), (out, err)
    assert f"job {job}: CANCELLED" in err, err
    assert "2 ranks of 2" in out, (out, err)
    said = report(place, top)
    assert said["kernel_rows"] > 0
    # each of them was killed, or got to say how its program ended; one may also say that it was stopped
    problems = said["ranks"]["problems"]
    assert {p["kind"] for p in problems} == {"broken"}, problems
    ended = [p for p in problems if "before" not in p["message"]]
    assert sum(p["count"] for p in ended) == 2, problems
    shutil.rmtree(top / "rank-00000")
    told = place.rockit("report", top).stderr
    assert "rank 0 of 2 is missing" in told, told


@test
def an_interrupted_wait_leaves_the_job_alone(place):
    top = place.path / "job"
    waiting = subprocess.Popen(
        [ROCKIT, "slurm", "submit", "--wait", "-d", str(top), "--run-args", "--tool opencl", "--",
         "sh", "-c", f"touch up; sleep 1.5; exec {APP} 2"],
        env=environment(place), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True)
    libslurm.Cluster.until(pathlib.Path("up").exists, "rank that runs")
    code, _, err = librun.interrupt(waiting)
    job = json.loads((top / ".rockit-job.json").read_text())["job"]
    assert code in (130, -2) and f"job {job} keeps running" in err, (code, err)
    libslurm.Cluster.until(lambda: ranks(top).get(0, {}).get("state") == "done", "end of the job")
    assert slurm(place, "collect", top).returncode == 0


@test
def a_job_whose_program_fails_gives_its_status(place):
    top = place.path / "job"
    script = f'{APP} 2; [ "$SLURM_PROCID" != 1 ] || exit 7'
    done = slurm(place, "submit", "--nodes", 2, "--wait", "-d", top, "--run-args", "--tool opencl",
                 "--", "sh", "-c", script)
    assert done.returncode == 7, (done.returncode, done.stdout, done.stderr)
    assert "rank 1: failed: exit status 7" in done.stdout, done.stdout
    shutil.rmtree(top / "rank-00000")
    parts = slurm(place, "collect", "--format", "json", top)
    assert parts.returncode == 1 and json.loads(parts.stdout)["missing"] == [0], parts.stdout


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
