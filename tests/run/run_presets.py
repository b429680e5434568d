#!/usr/bin/env python3
"""Every preset under every release of the stand-in profiler, and each tool in its own words."""

import json
import sys

from librun import KERNELS, PRESETS, VERSIONS, Run, main, test

# What a release cannot trace, whatever is asked.
LACKS = {"6.2": {"rccl", "alloc"}, "6.3": {"alloc"}}


def check_run(run, preset, version):
    where = f"{preset} under {version}: {run.err}"
    assert run.status == 0, where
    did = run.json
    assert did["state"] == "done", where
    assert run.out == "out\n" * len(did["passes"]), where
    assert run.err.count("err\n") == len(did["passes"]), where
    ledger = did["ledger"]
    assert ledger["delivered"]["tables"]["kernels"] == KERNELS, (where, ledger)
    for trace in ledger["asked"]["traces"]:
        rows = ledger["delivered"]["traces"][trace]
        lacks = trace in LACKS.get(version, ())
        assert (rows == 0) == lacks, (where, trace, rows)
    # a counter may be measured in several passes, next to what it is compared with
    planned = {c for p in did["passes"] for c in p["counters"]}
    assert sorted(ledger["delivered"]["counters"]) == sorted(planned), (where, ledger)
    assert run.report()["kernel_rows"] == KERNELS, where
    return did


def check_times(did):
    """Kernels' times are those of the pass that traces, not of one that counts."""
    first = did["passes"][0]
    assert not first["counters"], did["passes"]
    assert first["start_ns"] <= first["end_ns"]


for version in VERSIONS:
    def presets_of(place, release=version):
        place.rocm(release)
        for preset in PRESETS:
            run = place.run("-p", preset, name=preset)
            did = check_run(run, preset, release)
            check_times(did)
            assert len(did["passes"]) <= (6 if preset == "roofline" else 4), preset

    presets_of.__name__ = f"every_preset_runs_under_rocprofv3_of_{version}"
    test(presets_of)


def chip(place, version):
    """A GPU of that gfx target, as the driver shows it."""
    node = place.root / "sys/class/kfd/kfd/topology/nodes/1"
    node.mkdir(parents=True)
    (node / "gpu_id").write_text("4711\n")
    (node / "properties").write_text("cpu_cores_count 0\nsimd_count 416\nsimd_per_cu 4\nvendor_id 4098\n"
                                     f"gfx_target_version {version}\nlocation_id 256\n")


def run_here(place, *args, name="r"):
    directory = place.path / name
    done = place.rockit("run", "-d", directory, *args, "--", "sh", "-c", "echo out")
    return Run(done, directory)


@test
def a_chip_that_nobody_knows_is_traced_and_says_what_is_missing(place):
    place.rocm("7.0")
    (place.bin / "rocprofv3-avail").unlink()
    chip(place, 130000)
    run = run_here(place, "-p", "memory")
    assert run.status == 0, run.err
    assert "no counters: this rockit does not know those of gfx1300" in run.err, run.err
    assert [p["counters"] for p in run.json["passes"]] == [[]], run.json["passes"]
    assert run.ledger["delivered"]["tables"]["kernels"] == KERNELS
    # names that were typed are not dropped in silence
    run = run_here(place, "-c", "SQ_WAVES", name="typed")
    assert run.status == 2 or "unknown target 'gfx1300'" in run.err, run.err


@test
def the_installed_profiler_knows_better_which_counters_there_are(place):
    place.rocm("7.0")
    chip(place, 130000)
    avail = place.bin / "rocprofv3-avail"
    avail.unlink()
    avail.write_text("#!/bin/sh\n" "printf 'GPU:0\\nName:gfx1300\\n'\n"
                     "for c in SQ_WAVES NEW_EVENT; do printf 'Counter_Name        :\\t%s\\n"
                     "Block               :\\tSQ\\nDimensions          :\\tDIMENSION_XCC[0:7]\\n"
                     "SPM                 :\\tSupported\\n\\n' $c; done\n")
    avail.chmod(0o755)
    plan = place.rockit("run", "--dry-run", "-p", "compute", "--", "./app")
    assert plan.returncode == 0 and "no counters" in plan.stdout + plan.stderr, plan
    run = run_here(place, "-c", "SQ_WAVES,NEW_EVENT,TCC_HIT_sum")
    asked = [call for call in place.calls() if "--pmc" in call["argv"]]
    assert asked and "NEW_EVENT" in asked[0]["argv"] and "TCC_HIT_sum" not in asked[0]["argv"], asked
    assert "TCC_HIT_sum" in run.err, run.err
    plan = place.rockit("counters", "--plan", "NEW_EVENT", "--format", "json")
    assert json.loads(plan.stdout)["passes"] == [{"counters": ["NEW_EVENT"]}], plan
    # a list that cannot be had leaves the table
    avail.write_text("#!/bin/sh\nexit 1\n")
    run = run_here(place, "-c", "SQ_WAVES", "--arch", "gfx942", name="broken")
    assert run.status == 0, run.err
    assert "counters are chosen from rockit's own table" in run.err, run.err


@test
def presets_for_viewers_leave_their_timeline(place):
    place.rocm("7.0")
    for preset, name, start in (("perfetto", "model_trace.pftrace", b"\x0a"),
                                ("lightweight", "trace.json", b"{")):
        run = place.run("-p", preset, name=preset)
        assert run.status == 0 and name in run.err, run.err
        trace = (run.dir / name).read_bytes()
        assert trace.startswith(start) and b"vectorAdd" in trace, trace[:80]
        # read again, the run has its rows once, and the same options replace it
        assert run.report()["kernel_rows"] == KERNELS
        assert place.run("-p", preset, "--force", name=preset).status == 0
        alone = place.rockit("report", "--format", "json", run.dir / name)
        assert json.loads(alone.stdout)["kernel_rows"] == KERNELS, alone
    plain = place.run(name="plain")
    assert plain.status == 0 and not (plain.dir / "trace.json").exists()
    context = json.dumps({"tools": [{"name": "rocprofv3_perfetto"}]})
    run = place.run("--additional-context", context, name="context")
    assert (run.dir / "model_trace.pftrace").exists(), run.err
    context = json.dumps({"tools": [{"name": "rocprof", "cmd":
        "bash ../scripts/common/tools/rocprof_wrapper.sh --kernel-trace --output-format json -d ./x --"}]})
    run = place.run("--additional-context", context, name="cmd")
    assert (run.dir / "trace.json").exists(), run.err


@test
def statistics_are_written_and_not_counted_twice(place):
    for version in ("6.4", "7.13"):
        place.rocm(version)
        run = place.run("-p", "full", name=f"r-{version}")
        assert run.status == 0, run.err
        raw = run.dir / "rocprof_raw"
        for name in ("stats", "hip_stats", "hsa_stats", "copy_stats"):
            assert (raw / f"results.{name}.csv").exists(), (version, name)
        done = place.rockit("report", "--format", "json", raw)
        assert json.loads(done.stdout)["kernel_rows"] == KERNELS, (version, done.stdout)
        rows = (raw / "results.stats.csv").read_text().splitlines()[1:]
        assert sum(int(row.rsplit(",", 4)[1]) for row in rows) == KERNELS, rows


@test
def the_sets_of_the_seeds_take_one_to_three_runs_and_not_a_dozen(place):
    place.rocm("7.0")
    for name, runs in (("compute", 2), ("memory", 3), ("communication", 1), ("full", 1)):
        plan = place.plan("-c", name, "--arch", "gfx942")
        assert len(plan["passes"]) == runs, (name, plan["passes"])


def kernel_rows(place, run):
    out = place.rockit("convert", run.dir, "-f", "jsonl", "-o", "-").stdout
    return [json.loads(line) for line in out.splitlines()]


for version in VERSIONS:
    def joined(place, release=version):
        place.rocm(release)
        run = place.run("-t", "kernel", "-c", "SQ_WAVES,SQ_INSTS_VALU")
        rows = kernel_rows(place, run)
        assert len(rows) == KERNELS, run.err
        for number, row in enumerate(rows, 1):
            for counter in ("SQ_WAVES", "SQ_INSTS_VALU"):
                assert row[counter] == 1000 * number + len(counter), (number, row)

    joined.__name__ = f"counters_of_{version}_are_joined_to_the_kernels_of_the_trace"
    test(joined)


@test
def kernel_replay_runs_the_program_once_and_counts_each_dispatch_once(place):
    place.rocm("10.1")
    names = ["TCC_HIT_sum", "TCC_MISS_sum", "TCC_READ_sum", "TCC_WRITE_sum", "TCC_ATOMIC_sum", "SQ_WAVES"]
    run = place.run("-c", ",".join(names), "--replay", "kernel")
    assert run.status == 0 and run.out == "out\n", run.err
    did, = run.json["passes"]
    assert len(did["groups"]) > 1 and {c for g in did["groups"] for c in g} == set(names), did
    assert run.report()["kernel_rows"] == KERNELS, run.err
    rows = kernel_rows(place, run)
    assert len(rows) == KERNELS
    for number, row in enumerate(rows, 1):
        for counter in names:
            assert row[counter] == 1000 * number + len(counter), (number, row)
    # with a trace it is one more run, and the times are the trace's
    run = place.run("-t", "kernel", "-c", ",".join(names), "--replay", "kernel", name="both")
    assert len(run.json["passes"]) == 2 and run.out == "out\n" * 2, run.err
    assert len(kernel_rows(place, run)) == KERNELS
    assert sorted(run.ledger["delivered"]["counters"]) == sorted(names), run.ledger


@test
def the_options_of_newer_releases_are_accepted_by_them(place):
    place.rocm("10.1")
    asked = (("-t", "kernel,kfd,ompt,graph,rocshmem,hipfile,rocdecode"), ("-t", "kernel,rocjpeg"),
             ("-t", "kernel", "--delay", "1", "--duration", "5"), ("-t", "kernel", "--delay", "1"),
             ("--spm", "SQ_WAVES,GRBM_COUNT"), ("-t", "kernel", "--range", "step"))
    for number, words in enumerate(asked):
        run = place.run(*words, name=f"r{number}")
        assert run.status == 0, (words, run.err)
        assert run.report()["kernel_rows"] == KERNELS, (words, run.err)
        asked = run.ledger["asked"]
        assert asked.get("spm") == (["SQ_WAVES", "GRBM_COUNT"] if "--spm" in words else None), asked
        # the stand-in writes none
        assert ("spm" in run.ledger["dropped"]) == ("--spm" in words), run.ledger


def legacy(tool, kernels):
    """Presets under a tool that knows no `--`, in three releases."""
    def check(place):
        for release in ("6.1", "6.4", "7.0"):
            place.rocm(release, tool)
            for preset in ("lightweight", "memory", "full"):
                run = place.run("-p", preset, "--tool", tool, name=f"{release}-{preset}")
                where = f"{preset} under {tool} {release}: {run.err}"
                assert run.status == 0, where
                assert run.ledger["delivered"]["tables"]["kernels"] == kernels, where
                planned = {c for p in run.json["passes"] for c in p["counters"]}
                assert set(run.ledger["delivered"]["counters"]) == planned, where
        assert all("--" not in call["argv"] for call in place.calls()), place.calls()

    check.__name__ = f"{tool}_is_spoken_to_in_its_own_words"
    test(check)


# rocprof loses every dispatch whose name has a quote in it: one of the stand-in's
legacy("rocprof", KERNELS - 1)
legacy("rocprofv2", KERNELS)


@test
def rocprof_compute_collects_by_itself(place):
    for release in ("6.3", "7.0", "7.13"):
        place.rocm(release)
        run = place.run("-p", "compute", "--tool", "rocprof-compute", name=release)
        assert run.status == 0, run.err
        assert len(run.json["passes"]) == 1
        assert run.report()["kernel_rows"] == KERNELS, run.err


@test
def rocprof_sys_samples(place):
    for release in ("6.3", "7.0", "7.13"):
        place.rocm(release)
        run = place.run("-p", "compute", "--tool", "rocprof-sys", name=release)
        assert run.status == 0, run.err
        assert len(run.json["passes"]) == 1
        assert run.report()["kernel_rows"] == KERNELS, run.err
        assert "SQ_WAVES" in run.ledger["dropped"], run.ledger


@test
def a_plan_needs_nothing_installed_when_everything_is_given(place):
    for tool, version in (("rocprofv3", "6.2"), ("rocprofv3", "1.0.0"), ("rocprof", "6.1"),
                          ("rocprofv2", "6.1"), ("rocprof-compute", "3.1.0"),
                          ("rocprof-sys", "7.0")):
        for preset in PRESETS:
            plan = place.plan("-p", preset, "--tool", tool, "--tool-version", version, "--arch",
                              "gfx90a")
            assert plan["schema"] == 1 and plan["tool"] == tool, plan
            assert plan["tool_version"] == version, plan
            assert all(p["argv"][-1] == "./app" for p in plan["passes"]), plan


@test
def every_process_has_its_own_files(place):
    for version in VERSIONS:
        plan = place.plan("-p", "full", "--tool", "rocprofv3", "--tool-version", version, "--arch",
                          "gfx942")
        for done in plan["passes"]:
            name = done["argv"][done["argv"].index("-o") + 1]
            assert "%pid%" in name, name


@test
def workers_of_a_launcher_become_ranks(place):
    place.rocm("7.0")
    torchrun = place.path / "torchrun"
    torchrun.write_text("#!/bin/sh\nexit 0\n")
    torchrun.chmod(0o755)
    run = place.run("-p", "multi_gpu", app=(str(torchrun), "train.py"), ROCKIT_SIM_RANKS="4")
    assert run.status == 0, run.err
    assert sorted(p.name for p in run.dir.glob("rank-*")) == [f"rank-{i:05}" for i in range(4)]
    by = place.rockit("report", "--by", "rank", "--format", "json", run.dir)
    ranks = {k["rank"] for k in json.loads(by.stdout)["kernels"]}
    assert ranks == {0, 1, 2, 3}, by.stdout
    assert run.report()["kernel_rows"] == 4 * KERNELS


@test
def workers_of_one_launcher_per_node_keep_their_ranks(place):
    place.rocm("7.0")
    torchrun = place.path / "torchrun"
    torchrun.write_text("#!/bin/sh\nexit 0\n")
    torchrun.chmod(0o755)
    run = place.run(app=(str(torchrun), "train.py"), ROCKIT_SIM_RANKS="4", SLURM_PROCID="9",
                    SLURM_STEP_ID="0", SLURM_JOB_ID="1", SLURM_NTASKS="16")
    assert run.status == 0, run.err
    assert [p.name for p in run.dir.glob("*")] == ["rank-00009"]
    by = place.rockit("report", "--by", "rank", "--format", "json", run.dir)
    assert {k["rank"] for k in json.loads(by.stdout)["kernels"]} == {0, 1, 2, 3}, by.stdout


@test
def each_rank_of_a_job_has_its_own_directory(place):
    place.rocm("7.0")
    for rank in range(3):
        run = place.run("--ranks", "0,2", RANK=str(rank), WORLD_SIZE="3", LOCAL_RANK=str(rank))
        assert run.status == 0 and run.out == "out\n", run.err
    assert sorted(p.name for p in run.dir.glob("*")) == ["rank-00000", "rank-00002"]
    assert run.report()["kernel_rows"] == 2 * KERNELS
    again = place.run(RANK="0")
    assert again.status == 125 and "--force" in again.err, again.err


if __name__ == "__main__":
    sys.exit(main())
