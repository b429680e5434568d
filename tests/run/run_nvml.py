#!/usr/bin/env python3
"""NVIDIA's GPUs found and sampled, with a fake NVML.

Most tests have it below a root of their own; one lets the loader find it, as on a real machine.
"""
import csv
import json
import pathlib
import sys

import librun
from librun import ROCKIT, test

SIM = pathlib.Path(ROCKIT).resolve().parent / "sim"
POWER = "gpu_info_power_profiler_output.csv"
VRAM = "gpu_info_vram_profiler_output.csv"
OTHERS = "gpu_info_samples.csv"


def install(place, release="new"):
    folder = place.root / "usr" / "lib"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "libnvidia-ml.so.1").symlink_to(SIM / f"nvml-{release}" / "libnvidia-ml.so.1")


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def monitor(place, *args, mode="", **env):
    done = place.rockit("monitor", "-d", place.path / "m", "--interval", 20, *args,
                        "--format", "json", "--", "sleep", "0.3", FAKE_NVML=mode, **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout else {}, done.stderr


@test
def two_gpus_are_sampled_into_the_files_that_amd_gpus_have(place):
    install(place)
    said, _ = monitor(place)
    assert said["gpus"] == 2 and said["note"] == "", said
    assert said["metrics"] == ["power", "vram", "busy", "clock", "temp", "energy"], said
    power = table(place.path / "m" / POWER)
    assert len(power) >= 3
    assert {r["Power(Watt) GPU0"] for r in power} == {"300.5"}
    assert {r["Power(Watt) GPU1"] for r in power} == {"301.5"}
    vram = table(place.path / "m" / VRAM)[0]
    assert vram["vram_used(MB) GPU0"] == "385", vram
    assert vram["vram(%) GPU1"] == "0.2678", vram
    others = table(place.path / "m" / OTHERS)
    assert others[0]["vram_total(MB) GPU0"] == "143771"
    assert others[0]["busy(%) GPU0"] == "0"
    assert others[0]["sclk(MHz) GPU1"] == "1980" and others[0]["mclk(MHz) GPU1"] == "3201"
    assert others[0]["temp(C) GPU0"] == "42"
    first, last = others[0], others[-1]
    joule = float(last["energy(J) GPU0"]) - float(first["energy(J) GPU0"])
    seconds = (int(last["timestamp_ns"]) - int(first["timestamp_ns"])) / 1e9
    assert abs(joule / seconds - 350) < 20, (joule, seconds)


@test
def readings_that_are_missing_are_empty_and_named(place):
    install(place)
    said, err = monitor(place, mode="mig,no-energy")
    assert said["note"] == "no GPU reports busy, energy", (said, err)
    assert "busy" not in said["metrics"]
    others = table(place.path / "m" / OTHERS)[0]
    assert not any(k.startswith(("busy", "energy")) for k in others), others


@test
def a_gpu_that_is_lost_leaves_empty_cells_and_a_line(place):
    install(place)
    said, _ = monitor(place, mode="no-energy,lost=4")
    assert "GPU 1 was lost" in said["note"], said
    power = table(place.path / "m" / POWER)
    assert power[0]["Power(Watt) GPU1"] == "301.5"
    assert power[-1]["Power(Watt) GPU1"] == ""
    assert power[-1]["Power(Watt) GPU0"] == "300.5"


@test
def an_old_driver_has_power_memory_load_clocks_and_temperature(place):
    install(place, "old")
    said, _ = monitor(place)
    assert said["metrics"] == ["power", "vram", "busy", "clock", "temp"], said


@test
def gpus_that_give_nothing_are_reported(place):
    install(place)
    done = place.rockit("monitor", "-d", place.path / "m", "--duration", "0.1",
                        FAKE_NVML="unsupported")
    assert done.returncode == 1
    assert "no GPU reports power" in done.stderr and "NVML" in done.stderr, done.stderr
    assert not (place.path / "m").exists()


@test
def a_library_without_a_driver_is_a_machine_without_gpus(place):
    install(place)
    for mode in ("no-driver", "mismatch", "gpus=0"):
        done = place.rockit("monitor", "-d", place.path / "m", "--duration", "0.1", FAKE_NVML=mode)
        assert done.returncode == 1 and "no GPU found" in done.stderr, (mode, done.stderr)


@test
def the_loader_finds_the_library(place):
    said, _ = monitor(place, "--metrics", "power,temp", ROCKIT_SYSFS_ROOT="",
                      LD_LIBRARY_PATH=str(SIM / "nvml-new"))
    assert said["gpus"] >= 2, said
    rows = table(place.path / "m" / POWER)
    assert "300.5" in rows[0].values() and "301.5" in rows[0].values(), rows[0]


@test
def a_run_with_monitors_has_samples_of_nvidias_gpus(place):
    install(place)
    place.rocm("7.0")
    done = place.run("-p", "lightweight", "--monitor", "power,vram,energy", "--monitor-interval",
                     "20")
    assert done.status == 0, done.err
    assert done.ledger["delivered"]["monitors"], done.ledger
    assert "monitors" not in done.ledger["dropped"], done.ledger
    assert done.report()["tables"]["samples"] > 0
    gpus = done.json["gpus"] if "gpus" in done.json else []
    assert any("H200" in json.dumps(g) for g in gpus), done.json


def collectors(place, *names):
    """A folder with collectors; to plan a run they need not be any."""
    folder = place.path / "collectors"
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"librockit-{name}.so").touch()
    return str(folder)


def choice(place, *args, mode="", **env):
    done = place.rockit("run", *args, "--dry-run", "--format", "json", "--", "./app",
                        FAKE_NVML=mode, **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["tool"]


@test
def nvidias_driver_makes_cupti_the_choice(place):
    both = collectors(place, "cupti", "opencl")
    assert choice(place, ROCKIT_COLLECTORS=both) == "opencl"
    install(place)
    assert choice(place, ROCKIT_COLLECTORS=both) == "cupti"
    assert choice(place, mode="no-driver", ROCKIT_COLLECTORS=both) == "opencl"
    assert choice(place, "--tool", "opencl", ROCKIT_COLLECTORS=both) == "opencl"
    (place.path / "collectors" / "librockit-cupti.so").unlink()
    assert choice(place, ROCKIT_COLLECTORS=both) == "opencl"


@test
def an_amd_profiler_comes_before_cupti_where_there_is_an_amd_gpu(place):
    both = collectors(place, "cupti", "opencl")
    install(place)
    place.rocm("7.0")
    assert choice(place, ROCKIT_COLLECTORS=both) == "cupti"
    assert choice(place, "--arch", "gfx942", ROCKIT_COLLECTORS=both) == "rocprofv3"
    node = place.root / "sys/class/kfd/kfd/topology/nodes/1"
    node.mkdir(parents=True)
    (node / "gpu_id").write_text("4711\n")
    (node / "properties").write_text("simd_count 1216\nsimd_per_cu 4\nvendor_id 4098\n"
                                     "gfx_target_version 90402\nlocation_id 256\n")
    assert choice(place, ROCKIT_COLLECTORS=both) == "rocprofv3"


@test
def cupti_without_a_driver_is_a_note_and_the_program_runs(place):
    done = place.rockit("run", "--tool", "cupti", "-d", place.path / "r", "--", "sh", "-c",
                        "echo out; exit 3")
    assert done.returncode == 3 and done.stdout == "out\n", (done.stdout, done.stderr)
    assert "no NVIDIA GPU with NVIDIA's driver found" in done.stderr, done.stderr


@test
def the_doctor_says_what_cuda_needs(place):
    install(place)
    where = collectors(place, "cupti")
    done = place.rockit("doctor", "--format", "json", ROCKIT_COLLECTORS=where)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"]["ready"], said["verdict"]
    assert said["verdict"]["text"].startswith("ready: rockit run traces CUDA programs on 2 x "
                                              "NVIDIA H200"), said["verdict"]
    assert said["gpus"][0]["compute"] == "9.0" and said["gpus"][1]["uuid"].startswith("GPU-")
    status = {c["id"]: c["status"] for c in said["checks"]}
    assert status["nvidia-driver"] == "ok" and status["cupti"] == "warn", status
    text = place.rockit("doctor", ROCKIT_COLLECTORS=where).stdout
    assert "NVIDIA H200" in text and "sm_90" in text, text


sys.exit(librun.main())
