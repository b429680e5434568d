#!/usr/bin/env python3
"""Profile a kernel, its memory, its compute units: the answer is on the screen after the run."""

import json
import sys

from librun import KERNELS, VERSIONS, main, test

WORDS = ("memory", "compute", "latency", "launch", "communication", "balanced", "mixed", "unusable")


def metrics(place, directory, *args):
    done = place.rockit("metrics", directory, "--format", "json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


for version in VERSIONS:
    def helper(place, release=version):
        place.rocm(release)
        for preset in ("full", "memory", "compute"):
            run = place.run("-p", preset, "--kernel-regex", ".", "--then", "metrics", name=preset)
            assert run.status == 0, run.err
            assert "What limits the kernels" in run.err, (preset, run.err)
            assert "gfx942" in run.err, run.err
            passes = run.json["passes"]
            counted = {c for p in passes for c in p["counters"]}
            # what a verdict needs is there whatever the preset asks for
            assert {"SQ_WAVES", "SQ_WAIT_ANY", "GRBM_GUI_ACTIVE", "TCC_EA0_RDREQ_sum"} <= counted
            found = metrics(place, run.dir, "--arch", "gfx942")
            assert found["dispatches"] == KERNELS, found["dispatches"]
            for kernel in found["kernels"]:
                assert kernel["verdict"].split(":")[0] in WORDS, kernel
                assert kernel["reason"], kernel
            ids = {m["id"] for m in found["metrics"]}
            assert {"wavefronts", "kernel_time_ns", "dep_wait_frac"} <= ids, ids
            assert run.out == "out\n" * len(passes), run.out

    helper.__name__ = f"full_memory_and_compute_end_with_verdicts_under_{version}"
    test(helper)


@test
def categories_of_memory_give_bandwidth_and_hits(place):
    place.rocm("7.0")
    run = place.run("-c", "@memory,@cache")
    assert run.status == 0, run.err
    found = metrics(place, run.dir)
    ids = {m["id"] for m in found["metrics"] if m["avg"] is not None}
    wanted = {"fabric_read_bw", "fabric_write_bw", "fabric_bw", "l1_hit_pct", "l2_hit_pct"}
    assert wanted <= ids, wanted - ids
    assert all(k["verdict"] != "unusable" for k in found["kernels"]), found["kernels"]


@test
def the_preset_roofline_places_kernels_under_every_level(place):
    place.rocm("7.0")
    run = place.run("-p", "roofline")
    assert run.status == 0, run.err
    found = metrics(place, run.dir)
    ids = {m["id"] for m in found["metrics"]}
    assert {"flops_total", "ai_lds", "ai_l1", "ai_l2", "ai_hbm", "mfma_f16_rate"} <= ids, ids
    place.rockit("metrics", run.dir).stdout.index("Roofline: FLOP/s")


@test
def a_counter_of_two_passes_is_read_from_the_pass_of_its_formula(place):
    place.rocm("7.0")
    run = place.run("-p", "memory")
    assert run.status == 0, run.err
    passes = [set(p["counters"]) for p in run.json["passes"] if p["counters"]]
    both = {"TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum"}
    assert len(passes) == 3 and any(both <= p for p in passes), passes
    assert sum("TCC_EA0_RDREQ_sum" in p for p in passes) == 2, passes
    # once in the ledger and in the report, whatever the number of passes
    assert run.ledger["delivered"]["counters"].count("TCC_EA0_RDREQ_sum") == 1, run.ledger
    rows = {c["name"]: c["rows"] for c in run.report()["counters"]}
    assert rows["TCC_EA0_RDREQ_sum"] == rows["TCC_HIT_sum"], rows
    split = {m["id"] for m in metrics(place, run.dir)["metrics"] if m.get("split")}
    assert split == {"l1_hit_pct"}, split
    # the raw files and the tables give the same
    raw = metrics(place, run.dir / "rocprof_raw")
    assert raw["metrics"] == metrics(place, run.dir)["metrics"]


@test
def counters_that_were_typed_stay_as_they_were_typed(place):
    plan = place.plan("-c", "SQ_WAVES", "--then", "metrics", "--arch", "gfx942", "--tool",
                      "rocprofv3", "--tool-version", "7.0")
    assert [p["counters"] for p in plan["passes"]] == [["SQ_WAVES"]], plan


@test
def without_counters_the_trace_alone_is_judged(place):
    place.rocm("7.0")
    run = place.run("-p", "lightweight", "--then", "metrics")
    assert run.status == 0, run.err
    assert "What limits the kernels" in run.err, run.err
    found = metrics(place, run.dir)
    assert all(k["verdict"] for k in found["kernels"]), found["kernels"]
    assert found["trace"]["devices"], found["trace"]


@test
def the_program_keeps_its_status(place):
    place.rocm("7.0")
    run = place.run("-p", "full", "--then", "metrics", app=("sh", "-c", "exit 7"))
    assert run.status == 7, run.err


sys.exit(main())
