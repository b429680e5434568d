#!/usr/bin/env python3
"""Counters of NVIDIA's hardware against a stand-in for CUPTI's range profiler.

Every program has to end as it does without the collector; what is not counted is reported in one line.
"""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys

import librun
from librun import ROCKIT, test

BUILD = pathlib.Path(ROCKIT).resolve().parent
COLLECTOR = BUILD / "librockit-cupti.so"
APP = BUILD / "fake-cuda-app"
FAKE = BUILD / "fake-cuda"
SKIPPED = 77
NAMES = ["void at::native::vectorized_elementwise_kernel<4, float>(int, float)",
         "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32",
         "layernorm(float const*, float*, int)", "memset_like"]


def fakes(place, cupti="libfake-cupti-range.so"):
    folder = place.path / ("cuda-" + cupti)
    if not folder.exists():
        folder.mkdir()
        (folder / "libcuda.so.1").symlink_to(FAKE / "libcuda.so.1")
        (folder / "libcupti.so.13").symlink_to(FAKE / cupti)
    return str(folder)


def environment(place, mode="", cupti="libfake-cupti-range.so"):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("CUDA_", "NVTX_", "ROCKIT_COLLECT", "FAKE_"))}
    env.update(LD_LIBRARY_PATH=fakes(place, cupti), FAKE_RANGE=mode, FAKE_CUDA_DRIVER="13000",
               FAKE_CUPTI_RELEASE="13.0", HOME=str(place.path))
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return env


def execute(argv, env):
    return subprocess.run([str(a) for a in argv], capture_output=True, env=env, timeout=120,
                          stdin=subprocess.DEVNULL, text=True, check=False)


def alike(place, counters, *args, **fake):
    """Runs it without and with the collector; what the collector said, and its folder."""
    env = environment(place, **fake)
    plain = execute([APP, *args], env)
    raw = place.path / "raw"
    raw.mkdir(exist_ok=True)
    env.update(CUDA_INJECTION64_PATH=str(COLLECTOR), ROCKIT_COLLECT=f"dir={raw},counters={counters}")
    done = execute([APP, *args], env)
    assert done.returncode == plain.returncode, (plain.returncode, done.returncode, done.stderr)
    assert json.loads(done.stdout)["kernels"] == json.loads(plain.stdout)["kernels"]
    return done.stderr, raw


def rows(where, table):
    done = subprocess.run([ROCKIT, "convert", str(where), "--table", table, "-f", "csv", "-o", "-"],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


@test
def every_launch_has_its_counters_and_its_name(place):
    said, raw = alike(place, "a.sum+nan.b+c.pct", "run", "300")
    assert said == "", said
    found = rows(raw, "counters")
    assert len(found) == 600, len(found)
    values = {(int(r["dispatch_id"]), r["counter"]): r for r in found}
    # The launches of two contexts are drained apart: each names its own launch by its value.
    for r in found:
        launch = int(float(r["value"])) % 1000 - 1
        assert r["kernel_name"] == NAMES[launch % 4], r
        assert int(r["device_id"]) == launch // 8 % 2, r
        other = values[int(r["dispatch_id"]), "a.sum" if r["counter"] == "c.pct" else "c.pct"]
        assert abs(float(other["value"]) - float(r["value"])) == 2000, (r, other)
    assert {int(r["dispatch_id"]) for r in found} == set(range(1, 301))


@test
def launches_of_many_threads_keep_their_names(place):
    said, raw = alike(place, "a.sum", "run", "200", "4")
    assert said == "", said
    found = rows(raw, "counters")
    assert len(found) == 800, len(found)
    counts = {}
    for r in found:
        counts[r["kernel_name"]] = counts.get(r["kernel_name"], 0) + 1
    assert counts == {name: 200 for name in NAMES}, counts


@test
def kernels_of_graphs_have_counters_and_no_name(place):
    said, raw = alike(place, "a.sum", "graphs", "10")
    assert "graphs" in said and said.count("\n") == 1, said
    found = rows(raw, "counters")
    assert found and all(r["kernel_name"] == "" for r in found), found[:3]


@test
def no_permission_is_a_line_that_names_the_setting(place):
    said, raw = alike(place, "a.sum", "run", "50", mode="closed")
    assert "NVreg_RestrictProfilingToAdminUsers=0" in said and said.count("\n") == 1, said
    assert rows(raw, "counters") == []


@test
def a_counter_that_the_gpu_lacks_is_left_out(place):
    said, raw = alike(place, "a.sum+b.sum", "run", "20", mode="lacks=a.sum")
    assert "this GPU has no counter 'a.sum'" in said and said.count("\n") == 1, said
    assert {r["counter"] for r in rows(raw, "counters")} == {"b.sum"}
    said, raw = alike(place, "a.sum", "run", "20", mode="lacks=a.sum")
    assert "no counter 'a.sum'" in said, said


@test
def whoever_holds_cupti_keeps_it(place):
    said, _ = alike(place, "a.sum", "run", "20", mode="held")
    assert "in use by another profiler" in said and said.count("\n") == 1, said


@test
def an_old_cupti_is_recognised_by_what_it_lacks(place):
    said, _ = alike(place, "a.sum", "run", "20", cupti="libfake-cupti.so")
    assert "counters need CUDA 12.6" in said and said.count("\n") == 1, said


@test
def a_profiler_that_breaks_is_let_go_and_what_is_lost_is_counted(place):
    said, raw = alike(place, "a.sum", "run", "400", mode="break=3")
    assert "stopped counting" in said and said.count("\n") == 1, said
    found = rows(raw, "counters")
    assert 64 <= len(found) < 400, len(found)
    done = subprocess.run([ROCKIT, "report", str(raw)], capture_output=True, text=True, check=False)
    assert "lost" in done.stderr, done.stderr


@test
def a_run_has_times_and_counters_of_two_runs_of_the_program(place):
    env = environment(place)
    env["ROCKIT_SYSFS_ROOT"] = str(place.root)
    done = execute([ROCKIT, "run", "--tool", "cupti", "-p", "memory", "-d", place.path / "r",
                    "--dry-run", "--format", "json", "--", APP, "run", "100"], env)
    assert done.returncode == 0, done.stderr
    passes = json.loads(done.stdout)["passes"]
    assert len(passes) == 2, passes
    assert "counters=" not in passes[0]["env"]["ROCKIT_COLLECT"]
    assert "lts__t_sector_hit_rate.pct" in passes[1]["env"]["ROCKIT_COLLECT"], passes[1]["env"]
    assert passes[1]["env"]["ROCKIT_COLLECT"].count("dram__bytes_read.sum") == 1
    assert "dram__bytes_read.sum" in passes[1]["counters"], passes[1]
    assert any(c.startswith("sm__pipe_tensor") for c in passes[1]["counters"]), passes[1]


@test
def a_run_of_a_preset_lists_what_was_delivered_and_dropped(place):
    env = environment(place, mode="lacks=lts__t_sector_hit_rate.pct")
    env["ROCKIT_SYSFS_ROOT"] = str(place.root)
    # The stand-in has no activities: kernels and their times are missing, the counters are there.
    done = execute([ROCKIT, "run", "--tool", "cupti", "-c", "TCC_HIT_sum,FETCH_SIZE", "--arch",
                    "gfx942", "-d", place.path / "r", "--", APP, "run", "100"], env)
    assert done.returncode == 0, done.stderr
    assert "lts__t_sector_hit_rate.pct" in done.stderr, done.stderr
    record = json.loads((place.path / "r" / "run.json").read_text())
    assert "dram__bytes_read.sum" in record["ledger"]["delivered"]["counters"], record["ledger"]
    assert "lts__t_sector_hit_rate.pct" in json.dumps(record["ledger"]["dropped"]), record["ledger"]


@test
def a_run_of_counters_alone_delivers_them(place):
    env = environment(place)
    env["ROCKIT_SYSFS_ROOT"] = str(place.root)
    done = execute([ROCKIT, "run", "--tool", "cupti", "--tool-args", "counters=a.sum+b.sum", "-d",
                    place.path / "r", "--", APP, "run", "100"], env)
    assert done.returncode == 0, done.stderr
    found = rows(place.path / "r", "counters")
    assert len(found) == 200, (len(found), done.stderr)
    record = json.loads((place.path / "r" / "run.json").read_text())
    assert record["ledger"]["delivered"]["tables"]["counters"] == 200, record["ledger"]


def both_passes(place, names):
    """What `metrics` says of a pass for the times and one for the counters, 8 kernels each."""
    top = place.path / "both"
    for number, cupti, more in ((1, "libfake-cupti.so", ""),
                                (2, "libfake-cupti-range.so", f",counters={names}")):
        raw = top / f"pass_{number}"
        raw.mkdir(parents=True)
        env = environment(place, cupti=cupti)
        env.update(CUDA_INJECTION64_PATH=str(COLLECTOR), ROCKIT_COLLECT=f"dir={raw}{more}")
        done = execute([APP, "run", "8"], env)  # all on one device: the order is that of launches
        assert done.returncode == 0, done.stderr
    done = execute([ROCKIT, "metrics", "--format", "json", top], environment(place))
    assert done.returncode == 0, done.stderr
    assert "pass-mismatch" not in done.stderr + done.stdout
    return json.loads(done.stdout)


@test
def counters_meet_the_kernels_of_the_other_pass_under_the_ids_of_metrics(place):
    found = both_passes(place, "lts__t_sector_hit_rate.pct+dram__bytes_read.sum+sm__inst_executed.sum")
    assert found["arch"] == "sm_90", found["arch"]
    values = {m["id"]: m for m in found["metrics"]}
    assert (values["l2_hit_pct"]["min"], values["l2_hit_pct"]["max"]) == (1, 8), values
    assert values["sm_inst"]["avg"] == 2004.5, values["sm_inst"]
    # bytes over ns are GB/s: 1001 bytes in 100 ns, 1002 in 110, ...
    rates = [(1000 + n + 1) / (100 + n % 7 * 10) for n in range(8)]
    assert abs(values["fabric_bw_rd_hbm"]["max"] - max(rates)) < 1e-9, values["fabric_bw_rd_hbm"]


@test
def a_kernel_near_the_peak_of_the_memory_is_judged_by_it(place):
    found = both_passes(place, "lts__t_sector_hit_rate.pct+dram__throughput.avg.pct_of_peak_sustained_elapsed")
    assert {k["verdict"] for k in found["kernels"]} == {"memory:hbm"}, found["kernels"]


if not COLLECTOR.exists() or not APP.exists():
    print("skip: the collector or its stand-ins were not built")
    sys.exit(SKIPPED)
sys.exit(librun.main())
