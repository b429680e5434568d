#!/usr/bin/env python3
"""Faults of programs and profilers: reported plainly, files kept, exit status passed on."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from librun import KERNELS, ROCKIT, VERSIONS, Run, Skip, interrupt, main, start, test


def fault(place, name, *args, version="7.0", **more):
    place.rocm(version)
    return place.run(*args, name=f"r-{version}", ROCKIT_SIM_FAULT=name, **more)


def raw_files(run):
    return [p for p in pathlib.Path(run.dir, "rocprof_raw").rglob("*") if p.is_file()]


@test
def the_status_of_the_program_is_passed_on(place):
    place.rocm("7.0")
    for status in (0, 1, 3, 77, 126, 127, 255):
        run = place.run(app=("sh", "-c", f"exit {status}"), name=f"s{status}")
        assert run.status == status, (status, run.err)
        assert run.json["exit_status"] == status


@test
def a_program_that_dies_by_a_signal_gives_128_and_its_number(place):
    place.rocm("7.0")
    for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT):
        run = place.run(app=("sh", "-c", f"kill -{int(number)} $$"), name=f"k{int(number)}")
        assert run.status == 128 + number, (number, run.status, run.err)
        assert f"signal {int(number)}" in run.err, run.err


@test
def a_program_that_is_not_there_gives_127_and_leaves_no_directory(place):
    place.rocm("7.0")
    run = place.run(app=("no-such-program",))
    assert run.status == 127 and "not found" in run.err, run.err
    assert not run.dir.exists()
    data = place.path / "data.txt"
    data.write_text("x")
    run = place.run(app=(str(data),))
    assert run.status == 126, run.err
    assert not run.dir.exists()


@test
def output_and_error_of_the_program_stay_its_own(place):
    place.rocm("7.0")
    run = place.run("-q", app=("sh", "-c", "printf 'a\\0b\\377'; echo e >&2"))
    assert run.out == "a\0b\udcff".encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    mine = [line for line in run.err.splitlines() if line.startswith("rockit")]
    assert mine == [], mine


@test
def a_profiler_that_writes_nothing_is_named(place):
    run = fault(place, "no-output")
    assert run.status == 0, run.err
    assert "wrote no file" in run.err, run.err
    assert run.json["state"] == "done"
    assert run.ledger["delivered"]["tables"] == {}
    assert "kernel" in run.ledger["dropped"], run.ledger


@test
def a_failing_profiler_is_recognised_by_its_status(place):
    run = fault(place, "exit-nonzero")
    assert run.status == 1 and "sh under rocprofv3 exited with status 1" in run.err, run.err
    assert raw_files(run)
    run = fault(place, "traceback", version="6.4")
    assert run.status == 1, run.err
    assert "wrote no file" in run.err, run.err
    assert not list(run.dir.glob("*kernels.parquet")), "who knows whether there were none"


@test
def a_truncated_file_gives_what_it_has(place):
    for version in VERSIONS:
        run = fault(place, "truncate", "-t", "kernel", version=version)
        assert run.json["passes"][0]["files"] > 0
        assert raw_files(run)
        assert run.status == 0, (version, run.err)
        told = run.json["warnings"]
        assert told and any(word in " ".join(told) for word in ("malformed", "ends", "cut")), told


@test
def a_profiler_that_is_killed_while_it_writes_leaves_its_files(place):
    for version in ("6.4", "7.0"):
        run = fault(place, "kill-mid-write", "-t", "kernel,memcpy", version=version)
        assert run.status == 137, (version, run.status, run.err)
        assert raw_files(run)
        assert run.json["passes"][0]["signal"] == 9


@test
def a_filter_that_a_release_does_not_have_is_not_passed_on(place):
    place.rocm("6.2")
    run = place.run("-c", "SQ_WAVES", "--kernel-regex", "gemm")
    assert run.status == 0 and "since ROCm 6.3" in run.err, run.err
    assert run.ledger["delivered"]["counters"] == ["SQ_WAVES"], run.ledger


@test
def counters_that_do_not_come_back_are_named(place):
    run = fault(place, "counters-absent", "-t", "kernel", "-c", "SQ_WAVES,SQ_INSTS_VALU")
    assert run.status == 0
    assert "SQ_WAVES" in run.err and "missing: dropped by the profiler" in run.err, run.err
    assert run.ledger["dropped"]["SQ_WAVES"], run.ledger
    assert run.ledger["delivered"]["counters"] == []


@test
def counters_that_are_nothing_but_zeros_are_not_trusted(place):
    for version in VERSIONS:
        run = fault(place, "counters-zero", "-t", "kernel", "-c", "SQ_WAVES", version=version)
        assert "zeros" in run.err, (version, run.err)
        assert "SQ_WAVES" in run.ledger["dropped"], run.ledger
        assert run.ledger["delivered"]["counters"] == []


@test
def some_missing_counters_do_not_hide_the_others(place):
    run = fault(place, "counters-some-absent", "-t", "kernel", "-c", "compute_bound")
    came, asked = run.ledger["delivered"]["counters"], run.ledger["asked"]["counters"]
    assert 0 < len(came) < len(asked), run.ledger
    assert set(asked) - set(came) <= set(run.ledger["dropped"]), run.ledger


@test
def unsorted_and_negative_times_are_read(place):
    for name in ("unsorted", "negative-times"):
        place.rocm("6.4")
        run = place.run("-t", "kernel", name=name, ROCKIT_SIM_FAULT=name)
        assert run.status == 0, run.err
        assert run.report()["kernel_rows"] == KERNELS, run.err


@test
def a_pass_with_another_kernel_is_not_joined_blindly(place):
    run = fault(place, "extra-dispatch", "-t", "kernel", "-c", "SQ_WAVES")
    assert run.status == 0
    assert run.report()["kernel_rows"] == KERNELS, run.err
    place.rockit("convert", run.dir, "-f", "csv", "-o", place.path / "k.csv")
    lines = (place.path / "k.csv").read_text().splitlines()
    assert len(lines) == KERNELS + 1 and "SQ_WAVES" in lines[0], lines[0]
    assert run.ledger["repaired"]["rows"].get("pass-mismatch"), run.ledger
    assert re.search(r"their counters were not joined: first '\w.*'", run.err), run.err
    # the tables do not show what is missing in them: the report knows it from the record
    told = [w for w in run.report()["warnings"] if w["kind"] == "pass-mismatch"]
    assert [w["count"] for w in told] == [run.ledger["repaired"]["rows"]["pass-mismatch"]], told


@test
def glog_noise_is_not_a_failure(place):
    run = fault(place, "glog-noise")
    assert run.status == 0
    assert run.ledger["delivered"]["tables"]["kernels"] == KERNELS


@test
def a_program_that_hangs_is_ended_by_the_timeout_and_its_files_are_kept(place):
    # Before the time is over the profiler must have written: a busy machine gets more of it.
    place.rocm("7.0")
    for seconds in (1, 5, 25):
        run = place.run("--timeout", seconds, "-t", "kernel", name=f"r{seconds}",
                        ROCKIT_SIM_FAULT="hang-at-exit")
        if run.ledger["delivered"]["tables"].get("kernels"):
            break
    assert run.status == 143, (run.status, run.err)
    assert "--timeout" in run.err, run.err
    assert run.json["passes"][0]["timed_out"] is True
    assert run.ledger["delivered"]["tables"]["kernels"] == KERNELS, run.err


@test
def one_that_ignores_sigterm_is_killed(place):
    place.rocm("7.0")
    run = place.run("--timeout", "1", "--grace", "2",
                    app=("sh", "-c", "trap '' TERM; sleep 60 & wait; sleep 60"))
    assert run.status in (137, 143), (run.status, run.err)
    assert "killed after --grace 2 s" in run.err, run.err


@test
def a_profiler_that_still_writes_after_the_timeout_is_waited_for(place):
    place.rocm("7.0")
    run = place.run("--timeout", "1", "-t", "kernel", app=("sleep", "60"),
                    ROCKIT_SIM_FAULT="slow-write")
    assert run.status == 143, (run.status, run.err)
    assert re.search(r"by --timeout and needed 1\d s to end", run.err), run.err
    assert "launched none" not in run.err, run.err
    assert run.ledger["delivered"]["tables"]["kernels"] == KERNELS, run.err


@test
def a_profiler_that_is_killed_while_it_writes_is_not_blamed_on_the_program(place):
    place.rocm("7.0")
    run = place.run("--timeout", "1", "--grace", "2", "-t", "kernel", app=("sleep", "60"),
                    ROCKIT_SIM_FAULT="slow-write")
    assert run.status == 137, (run.status, run.err)
    assert "killed after --grace 2 s: what was not yet written is lost" in run.err, run.err
    assert "launched none" not in run.err and "no GPU call" not in run.err, run.err


@test
def a_profiler_that_hangs_after_a_crash_is_ended(place):
    place.rocm("7.0")
    run = place.run("--grace", "2", app=("sh", "-c", "kill -SEGV $$"),
                    ROCKIT_SIM_FAULT="hang-after-crash")
    assert run.status == 128 + signal.SIGSEGV, (run.status, run.err)
    assert "crashed by signal 11" in run.err and "ended by rockit" in run.err, run.err
    assert run.json["passes"][0]["signal"] == signal.SIGSEGV


@test
def a_refused_pc_sampling_is_not_blamed_on_the_program(place):
    place.rocm("7.0")
    run = place.run("-p", "pc_sampling", ROCKIT_SIM_ARCH="gfx90a")
    assert run.status == 1 and "refused PC sampling" in run.err, (run.status, run.err)
    assert "exited with status" not in run.err and "launched none" not in run.err, run.err
    run = place.run("-p", "pc_sampling", app=("sh", "-c", "exit 3"), name="program")
    assert run.status == 3 and "exited with status 3" in run.err, (run.status, run.err)


@test
def spool_files_are_in_the_run_and_not_in_the_working_directory(place):
    for version in VERSIONS:
        place.rocm(version)
        run = place.run("-t", "kernel", "-c", "SQ_WAVES", name=f"r-{version}")
        assert run.status == 0 and run.ledger["delivered"]["tables"]["kernels"] == KERNELS, run.err
        assert not (place.path / ".rocprofv3").exists(), version
        assert not list(run.dir.rglob(".spool")), version
    run = place.run(app=("sh", "-c", "kill -KILL $$"), name="killed")
    spool = run.dir / "rocprof_raw" / ".spool"
    assert list(spool.rglob("*.dat")), list(run.dir.rglob("*"))
    assert f"kept in '{spool}'" in run.err, run.err


@test
def a_working_directory_that_cannot_be_written_is_fine(place):
    place.rocm("7.0")
    done = subprocess.run([ROCKIT, "run", "--arch", "gfx942", "-d", str(place.path / "r"), "--",
                           "true"], cwd="/proc", capture_output=True, text=True, env=place.env(),
                          timeout=180)
    run = Run(done, place.path / "r")
    assert run.status == 0 and run.ledger["delivered"]["tables"]["kernels"] == KERNELS, run.err


@test
def a_spool_directory_of_the_user_is_used(place):
    place.rocm("7.0")
    own = place.path / "own"
    own.mkdir()
    run = place.run("-c", "SQ_WAVES", ROCPROF_TMPDIR=str(own))
    assert run.status == 0 and "ROCPROF_TMPDIR is already set" in run.err, run.err
    assert list(own.rglob("*.dat")) and not list(run.dir.rglob(".spool")), run.err


@test
def an_interrupt_reaches_the_program_and_ends_the_passes(place):
    place.rocm("7.0")
    directory = place.path / "r"
    flag = place.path / "started"
    process = start(place, "-d", directory, "-p", "compute", app=(
        "sh", "-c", f"trap 'trap \"\" INT; echo got it; exit 5' INT; touch {flag}\n"
        "while :; do sleep 0.05; done"))
    for _ in range(1200):
        if flag.exists():
            break
        time.sleep(0.05)
    status, out, err = interrupt(process)
    assert status == 5, (status, err)
    assert out == "got it\n", out
    run = Run(subprocess.CompletedProcess([], status, out, err), directory)
    assert run.json["state"] == "stopped"
    assert [p["ran"] for p in run.json["passes"]] == [True] + [False] * (len(run.json["passes"]) - 1)


@test
def a_failing_pass_ends_the_run_unless_it_shall_go_on(place):
    place.rocm("7.0")
    count = place.path / "count"
    app = ("sh", "-c", f"echo x >>{count}; exit 4")
    run = place.run("-p", "compute", app=app, name="stop")
    assert run.status == 4 and count.read_text() == "x\n", run.err
    assert "--keep-going" in run.err, run.err
    count.unlink()
    run = place.run("-p", "compute", "--keep-going", app=app, name="on")
    assert run.status == 4, run.err
    assert len(count.read_text().split()) == len(run.json["passes"]) > 1


@test
def a_directory_that_is_taken_is_refused(place):
    place.rocm("7.0")
    assert place.run().status == 0
    first = place.run()
    assert first.status == 125 and "--force" in first.err, first.err
    (place.path / "r" / "notes.txt").write_text("mine")
    again = place.run("--force")
    assert again.status == 0 and again.report()["kernel_rows"] == KERNELS, again.err
    assert (place.path / "r" / "notes.txt").read_text() == "mine"


@test
def a_directory_that_cannot_be_made_is_named(place):
    place.rocm("7.0")
    (place.path / "file").write_text("x")
    run = place.run(name="file/below")
    assert run.status == 125 and "file" in run.err, run.err
    assert run.out == ""


@test
def no_profiler_at_all_says_what_to_install(place):
    run = place.run()
    assert run.status == 125, run.err
    assert "install" in run.err and "doctor" in run.err, run.err
    assert run.out == "" and not run.dir.exists()


@test
def another_profiler_is_offered_when_the_one_named_is_missing(place):
    place.rocm("6.2", "rocprof")
    run = place.run("--tool", "rocprofv3")
    assert run.status == 125 and "--tool rocprof" in run.err, run.err


@test
def words_that_are_wrong_bring_the_nearest_right_one(place):
    place.rocm("7.0")
    for args, want in ((("-p", "memroy"), "memory"), (("-t", "kernl"), "kernel"),
                       (("-c", "SQ_WAVE"), "SQ_WAVES"), (("--presett", "x"), "--preset"),
                       (("--tool", "rocprofv4"), "rocprofv3"), (("--monitor", "powr"), "power"),
                       (("--library-trace", "rocblass"), "rocblas"), (("--ranks", "x"), "0,8-15")):
        done = place.rockit("run", "--arch", "gfx942", *args, "--", "true")
        assert done.returncode == 2, (args, done.returncode, done.stderr)
        assert want in done.stderr, (args, done.stderr)
        assert done.stderr.count("\n") == 1, done.stderr


@test
def inherited_variables_of_a_profiler_are_taken_away(place):
    place.rocm("7.0")
    run = place.run(ROCPROF_OUTPUT_FORMAT="json", ROCPROF_OUTPUT_PATH="/nowhere")
    assert run.status == 0, run.err
    for call in place.calls():
        assert "ROCPROF_OUTPUT_PATH" not in call["env"] or \
            call["env"]["ROCPROF_OUTPUT_PATH"] != "/nowhere", call


@test
def variables_of_the_user_are_kept(place):
    place.rocm("7.0")
    run = place.run("-p", "communication", NCCL_DEBUG="WARN",
                    app=("sh", "-c", "echo $NCCL_DEBUG"))
    assert set(run.out.split()) == {"WARN"}, run.out


def commands(place, run):
    """What the table of processes has."""
    return place.rockit("convert", run.dir, "--table", "processes", "-f", "csv", "-o", "-").stdout


@test
def secrets_are_not_written_down(place):
    place.rocm("7.0")
    run = place.run(app=("true", "--api-key", "sesame1", "--token=sesame2"), HF_TOKEN="sesame3",
                    NCCL_SECRET="sesame4")
    text = (run.dir / "run.json").read_text()
    assert "sesame" not in text, text
    text = commands(place, run)
    assert "sesame" not in text and "--token=[hidden]" in text, text
    run = place.run("--redact", app=("true", "/srv/someone/data.bin"), name="hidden")
    text = (run.dir / "run.json").read_text()
    assert os.uname().nodename not in text and "/srv/someone" not in text, text
    assert "data.bin" in text
    assert "true /.../data.bin" in commands(place, run), commands(place, run)
    assert "rocprof_raw" in run.err, run.err


@test
def the_baseline_gives_a_ratio(place):
    place.rocm("7.0")
    run = place.run("--baseline", app=("sleep", "0.2"))
    over = run.ledger["overhead"]
    # A busy machine may make either of the two the longer one.
    assert over["baseline_seconds"] >= 0.2 and over["profiled_seconds"] >= 0.2, over
    assert abs(over["ratio"] - over["profiled_seconds"] / over["baseline_seconds"]) < 1e-6, over


@test
def a_limit_on_file_sizes_is_reported_as_our_failure(place):
    place.rocm("7.0")
    limit = f"ulimit -f 1; exec {ROCKIT} run --arch gfx942 -d r -- true"
    done = subprocess.run(["sh", "-c", limit], capture_output=True, text=True, env=place.env(),
                          timeout=180)
    assert done.returncode == 125, (done.returncode, done.stderr)
    assert "File too large" in done.stderr, done.stderr


@test
def a_full_disk_is_reported_as_full(place):
    place.rocm("7.0")
    small = place.path / "small"
    small.mkdir()
    # 64 KiB: run.json fits, the profiler's file does not
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skip("no mounts here")
    try:
        run = place.run(name="small/r")
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert run.status == 0 and "is full" in run.err, run.err


def collector(name):
    """Skips where this build has no such collector."""
    if not (pathlib.Path(ROCKIT).resolve().parent / f"librockit-{name}.so").exists():
        raise Skip(f"librockit-{name}.so was not built")


@test
def a_collector_that_was_not_loaded_names_its_own_interface(place):
    for tool, api, other in (("cupti", "CUDA", "OpenCL"), ("opencl", "OpenCL", "CUDA")):
        collector(tool)
        run = place.run("--tool", tool, app=("/bin/true",), name=tool)
        assert run.status == 0 and f"made no {api} call" in run.err, run.err
        assert other not in run.err, run.err
        assert "nothing was recorded" in run.err and "raw files" not in run.err, run.err


@test
def a_full_disk_is_not_followed_by_guesses_about_the_program(place):
    for tool in ("cupti", "opencl"):
        collector(tool)
        small = place.path / tool
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            raise Skip("no mounts here")
        try:
            run = place.run("--tool", tool, name=f"{tool}/r", app=(
                "sh", "-c", f"head -c 1000000 /dev/zero >{small}/filler 2>/dev/null; exit 0"))
        finally:
            subprocess.run(["umount", str(small)], check=True)
        assert "is full" in run.err, run.err
        assert "never loaded" not in run.err and "launched none" not in run.err, run.err


@test
def markers_that_nobody_requested_are_not_missing(place):
    collector("opencl")
    run = place.run("--tool", "opencl", app=("true",))
    assert "marker" not in run.ledger["dropped"] and "kernel" in run.ledger["dropped"], run.ledger
    run = place.run("--tool", "opencl", "-t", "kernel,marker", app=("true",), name="asked")
    assert "marker" in run.ledger["dropped"], run.ledger


@test
def a_reader_of_our_messages_that_goes_away_ends_nothing(place):
    place.rocm("7.0")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([ROCKIT, "run", "--arch", "gfx942", "-p", "compute", "-d", "r", "--",
                           "true"], stderr=write, env=place.env(), timeout=180,
                          restore_signals=False)  # the profiler, too, writes to nobody
    os.close(write)
    assert done.returncode == 0, done
    run = json.loads(pathlib.Path("r/run.json").read_text())
    assert run["state"] == "done" and all(p["ran"] for p in run["passes"]), run
    assert run["ledger"]["delivered"]["tables"]["kernels"] == KERNELS, run["ledger"]


@test
def a_file_does_not_take_the_place_of_a_closed_stream(place):
    place.rocm("6.4")
    script = 'exec "$ROCKIT" run --library-trace miopen -d r -- sh -c "echo x >&2; exit 3" >&- 2>&-'
    done = subprocess.run(["sh", "-c", script], env=place.env(ROCKIT=ROCKIT), timeout=180)
    assert done.returncode == 3, done
    assert json.loads(pathlib.Path("r/run.json").read_text())["state"] == "done"


@test
def a_missing_separator_is_understood_where_it_is_clear(place):
    place.rocm("7.0")
    done = place.rockit("run", "-d", place.path / "a", "sh", "-c", "echo hi")
    assert done.returncode == 0 and done.stdout == "hi\n", done.stderr
    done = place.rockit("run", "memory", "--", "true")
    assert done.returncode == 2 and "'memory'" in done.stderr, done.stderr


if __name__ == "__main__":
    sys.exit(main())
