#!/usr/bin/env python3
"""rockit.run and RocprofWrapper against the stand-in for ROCm's tools."""

import os
import pathlib
import signal
import subprocess
import sys

import rockit
from libpy import COLUMNS, Skip, main, raises, said, script, test
from librun import KERNELS, Place

OPTIONS = {"arch": "gfx942", "tool": "rocprofv3"}
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def place(folder):
    """An environment in which a ROCm is installed."""
    made = Place(folder)
    made.rocm("6.4")
    return made


def run(where, command, **options):
    settings = {"dir": where.path / "r", "env": where.env(), **OPTIONS, **QUIET, **options}
    return rockit.run(command, **settings)


@test
def a_program_is_profiled_and_opened(folder):
    where = place(folder)
    result = run(where, ["sh", "-c", "exit 0"], preset="lightweight")
    assert result.ok and result.status == 0 and result.kernels == KERNELS, result
    assert result.dir == str(where.path / "r") and result.passes_done == result.passes
    assert result.check() is result
    with result.open() as opened:
        assert len(opened["kernels"]) == KERNELS
        assert opened["kernels"].columns[:12] == COLUMNS


@test
def its_status_and_streams_are_its_own(folder):
    where = place(folder)
    out = folder / "out"
    (folder / "sub").mkdir()
    with open(out, "wb") as file:
        result = run(where, ["sh", "-c", 'pwd; echo "$MINE"; cat; echo to stderr >&2; exit 7'], cwd=folder / "sub",
                     env=where.env(MINE="yes"), stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    assert result.status == 7 and not result.ok and result.usable
    text = out.read_text()
    assert str(folder / "sub") in text and "yes\n" in text and "to stderr" in text, text
    assert "status 7" in str(raises(rockit.Error, result.check))


@test
def a_program_that_cannot_be_started_is_an_exception_like_that_of_subprocess(folder):
    where = place(folder)
    why = raises(FileNotFoundError, run, where, ["/nowhere/to/be/found"])
    assert "/nowhere/to/be" in str(why) and why.errno == 2 and why.filename == "/nowhere/to/be/found"
    (folder / "text").write_text("no program")
    raises(PermissionError, run, where, [folder / "text"], force=True)


@test
def what_rockit_cannot_do_is_an_exception(folder):
    where = place(folder)
    run(where, ["true"])
    why = raises(rockit.Error, run, where, ["true"])
    assert "force" in str(why), why  # the directory is taken
    assert run(where, ["true"], force=True).ok
    why = raises(rockit.UsageError, run, where, ["true"], preset="comput", force=True)
    assert "compute" in str(why)
    raises(rockit.UsageError, run, where, "true")
    raises(rockit.UsageError, run, where, [])
    bare = {**where.env(), "PATH": "/usr/bin:/bin", "ROCKIT_SYSFS_ROOT": str(folder / "empty")}
    why = raises(rockit.Error, run, where, ["true"], env=bare, dir=folder / "s")
    assert "no profiler" in str(why), why


@test
def what_the_command_says_is_in_the_notes(folder):
    where = place(folder)
    counters = folder / "input.txt"
    counters.write_text("pmc: SQ_WAVES TCP_READ\n")
    planned = rockit.plan(["true"], counters=str(counters), arch="gfx906", tool="rocprofv3", tool_version="6.4")
    result = run(where, ["true"], counters=str(counters), arch="gfx906")
    assert any("TCP_READ" in note for note in planned.notes), planned
    assert result.notes[: len(planned.notes)] == planned.notes, (planned.notes, result.notes)


@test
def options_of_newer_releases_reach_the_plan(_folder):
    given = {"tool": "rocprofv3", "tool_version": "10.1", "arch": "gfx942"}
    names = ["TCC_HIT_sum", "TCC_MISS_sum", "TCC_READ_sum", "TCC_WRITE_sum", "TCC_ATOMIC_sum"]
    plan = rockit.plan(["./app"], counters=names, replay="kernel", **given)
    assert plan.passes[0].argv.count("--pmc") == len(plan.data["passes"][0]["groups"]) > 1, plan
    plan = rockit.plan(["./app"], traces="kernel", delay=1.5, duration=3, thread_trace=True, **given)
    assert ["--att" in p.argv for p in plan.passes] == [False, True] and "2:3:1" in plan.passes[0].argv, plan
    plan = rockit.plan(["./app"], spm=["SQ_WAVES", "GRBM_COUNT"], **given)
    assert "GRBM_COUNT" in plan.passes[0].argv and plan.data["passes"][0]["spm"], plan
    why = raises(rockit.UsageError, rockit.plan, ["./app"], spm="SQ_WAVES", **{**given, "tool_version": "7.13"})
    assert "7.14" in str(why), why


@test
def windows_of_own_collectors_reach_the_plan(_folder):
    given = {"tool": "rocm", "tool_version": "1.0", "arch": "gfx942"}
    plan = rockit.plan(["./app"], window=True, max_size=64 << 20, last=60, keep=3, snap_on=["signal", "gap:2s"], sample=10,
                       every="5:60", delay=2, **given)
    settings = plan.passes[0].env["ROCKIT_COLLECT"].split(",")
    assert {"window=1", f"limit={64 << 20}", "sample=10", "switch=1", "asleep=1"} <= set(settings), settings
    assert plan.data["window"] == {"bytes": 64 << 20, "last_s": 60, "keep": 3, "snap_on": ["signal", "gap:2000ms"]}, plan.data
    why = raises(rockit.UsageError, rockit.plan, ["./app"], window=True, **{**given, "tool": "rocprofv3"})
    assert "--window" in str(why), why


@test
def the_program_finds_signals_as_anyone_would(folder):
    # Python ignores SIGPIPE; `yes` would go on for ever.
    where = place(folder)
    result = run(where, ["sh", "-c", "grep SigIgn /proc/self/status; yes | head -n 1; exit 0"],
                 stdout=open(folder / "out", "wb"), timeout=300)
    assert result.status == 0, result
    ignored = int((folder / "out").read_text().split()[1], 16)
    assert not ignored & (1 << (signal.SIGPIPE - 1)), hex(ignored)


@test
def a_timeout_ends_the_program(folder):
    result = run(place(folder), ["sh", "-c", "sleep 3600"], timeout=0.5)
    assert result.status in (124, 143), result
    assert any("time" in w for w in result.warnings + result.notes), result


@test
def an_interrupt_reaches_the_program_and_what_it_left_is_kept(folder):
    where = place(folder)
    done = subprocess.Popen(
        [sys.executable, "-c", """if True:
            import json, rockit, sys
            try:
                rockit.run(["sh", "-c", "echo begun; sleep 60"], dir=sys.argv[1], arch="gfx942", tool="rocprofv3")
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """, folder / "r"], env={**os.environ, **where.env()}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    assert done.stdout.readline() == "begun\n"
    done.send_signal(signal.SIGINT)  # to Python alone, as from an editor
    out, _ = done.communicate(timeout=60)
    assert out == "interrupted\n" and done.returncode == 0
    assert '"state": "running"' not in (folder / "r/run.json").read_text()


@test
def a_session_that_is_killed_says_so(folder):
    where = place(folder)
    why = raises(rockit.Error, run, where, ["sh", "-c", "kill -9 $(ps -o ppid= -p $PPID) $PPID"])
    assert why.code == "killed", why


@test
def several_sessions_run_side_by_side(folder):
    where = place(folder)
    done = script("""
        import json, rockit, subprocess, sys, threading
        results = []
        def work(n):
            results.append(rockit.run(["true"], dir=sys.argv[1] + str(n), arch="gfx942", tool="rocprofv3",
                                      stderr=subprocess.DEVNULL).ok)
        workers = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for w in workers: w.start()
        for w in workers: w.join()
        print(json.dumps(results))
    """, folder / "r", env={**os.environ, **where.env()})
    assert said(done) == [True] * 3


@test
def the_wrapper_profiles_and_parses(folder):
    where = place(folder)
    profiler = rockit.RocprofWrapper(output_dir=folder / "profiler_output", hip_trace=True, hsa_trace=False, stats=True)
    result = profiler.profile(command=["sh", "-c", "exit 0"], timeout=300, env=where.env(), **OPTIONS, **QUIET)
    assert result.status == 0
    kernels = profiler.parse_results()
    assert list(kernels.columns) == COLUMNS and len(kernels) == KERNELS
    assert (folder / "profiler_output/rocprof_raw").is_dir()
    assert (folder / "profiler_output/rocprof_kernels.parquet").is_file()
    for name in ("results.hip_stats.csv", "results.copy_stats.csv"):
        lines = (folder / "profiler_output/rocprof_raw" / name).read_text().splitlines()
        assert lines[0].startswith("Name,Calls,TotalDurationNs") and len(lines) > 1, lines
    argv = " ".join(where.calls()[0]["argv"]) if where.calls() else ""
    assert "--hip-trace" in argv and "--hsa-trace" not in argv, argv
    # again, into the same place, and from the place alone
    profiler.profile(["true"], env=where.env(), **OPTIONS, **QUIET)
    assert len(rockit.RocprofWrapper(folder / "profiler_output").parse_results()) == KERNELS
    raises(FileNotFoundError, rockit.RocprofWrapper(folder / "nothing").parse_results)
    plain = rockit.RocprofWrapper(folder / "plain", stats=False)
    plain.profile(["true"], env=where.env(), **OPTIONS, **QUIET)
    assert not list((folder / "plain/rocprof_raw").glob("results.*"))


@test
def the_wrapper_parses_a_run_without_kernels(folder):
    where = place(folder)
    profiler = rockit.RocprofWrapper(folder / "out")
    result = profiler.profile(["true"], 60, env=where.env(ROCKIT_SIM_FAULT="no-output"), **OPTIONS, **QUIET)
    assert result.status == 0 and not result.usable and any("wrote no file" in w for w in result.warnings), result
    kernels = profiler.parse_results()
    assert list(kernels.columns) == COLUMNS and len(kernels) == 0


@test
def the_wrapper_takes_rocprof_where_no_gpu_is_seen(folder):
    for release, tools in (("6.4", []), ("5.7", ["rocprof"])):
        (folder / release).mkdir()
        where = Place(folder / release)
        where.rocm(release, *tools)
        profiler = rockit.RocprofWrapper(folder / release / "out")
        result = profiler.profile(["true"], 60, env=where.env(), **QUIET)
        assert result.ok and len(profiler.parse_results()) == result.kernels > 0, result


@test
def the_directory_is_the_callers_and_not_the_programs(folder):
    where = place(folder)
    (folder / "elsewhere").mkdir()
    (folder / "mine.json").write_text('{"name": "mine", "description": "d", "traces": ["kernel"]}')
    os.chdir(folder)
    result = run(where, ["sh", "-c", "pwd"], dir="here", preset="./mine.json", cwd="elsewhere",
                 stdout=(folder / "said").open("w"))
    assert result.ok and result.dir == str(folder / "here"), result
    assert (folder / "said").read_text().splitlines()[-1] == str(folder / "elsewhere")


@test
def collectors_are_found_in_the_package(_):
    native = pathlib.Path(rockit.__file__).parent / "_native"
    if not (native / "lib/rockit/librockit-cupti.so").exists():
        raise Skip("this build has no collectors")
    plan = rockit.plan(["./app"], tool="cupti")
    assert str(native / "lib/rockit") in plan.passes[0].env["CUDA_INJECTION64_PATH"], plan.passes[0].env


if __name__ == "__main__":
    main()
