"""runs.py - what `rockit run`, `doctor` and `monitor` cost, beside nothing at all.

The profiler is a shell script that starts the program and writes nothing, so what is measured is
rockit alone: from its start to the program's, from the program's end to its own.
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import time


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def fake_rocm(top):
    """A ROCm 7.0 whose profiler only runs the program."""
    tree = top / "opt/rocm-7.0.0"
    (tree / "bin").mkdir(parents=True)
    (tree / ".info").mkdir()
    (tree / ".info/version").write_text("7.0.0-1\n")
    script = tree / "bin/rocprofv3"
    script.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    script.chmod(0o755)
    return tree / "bin"


def one_run(rockit, env, top, number):
    where = top / f"run-{number}"
    begin = boot_ns()
    subprocess.run([rockit, "run", "-q", "-p", "lightweight", "--arch", "gfx942", "-d", where, "--",
                    "true"], env=env, check=True, capture_output=True)
    end = boot_ns()
    did = json.loads((where / "run.json").read_text())["passes"][0]
    return (did["start_ns"] - begin) / 1e6, (end - did["end_ns"]) / 1e6


def median(values):
    return sorted(values)[len(values) // 2]


def overhead(rockit, work, rounds):
    """Milliseconds before and after the program, the medians."""
    top = pathlib.Path(work, "runs")
    shutil.rmtree(top, ignore_errors=True)
    env = dict(os.environ, PATH=f"{fake_rocm(top)}:{os.environ['PATH']}",
               ROCKIT_SYSFS_ROOT=str(top))
    times = [one_run(rockit, env, top, i) for i in range(rounds)]
    return median([t[0] for t in times]), median([t[1] for t in times])


def doctor(rockit, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run([rockit, "doctor"], check=True, capture_output=True)
        times.append(1e3 * (time.perf_counter() - begin))
    return median(times)


def gpu_metrics():
    """A table of version 1.3 with believable numbers in it."""
    table = bytearray(120)
    struct.pack_into("<HBB", table, 0, 120, 1, 3)
    struct.pack_into("<HHH", table, 4, 40, 45, 50)
    struct.pack_into("<HHHH", table, 16, 90, 60, 0, 350)
    struct.pack_into("<QQ", table, 24, 123456789, boot_ns())
    return bytes(table)


def fake_gpus(top, n):
    """Files of amdgpu for n GPUs, as sysfs has them."""
    for i in range(n):
        address = f"0000:{i + 1:02x}:00.0"
        device = top / f"sys/bus/pci/devices/{address}"
        (device / f"hwmon/hwmon{i}").mkdir(parents=True)
        for name, text in (("vendor", "0x1002"), ("device", "0x74a1"), ("class", "0x120000"),
                           ("mem_info_vram_total", "206141652992"),
                           ("mem_info_vram_used", "1048576000"), ("gpu_busy_percent", "90"),
                           (f"hwmon/hwmon{i}/name", "amdgpu"),
                           (f"hwmon/hwmon{i}/power1_average", "350000000")):
            (device / name).write_text(text + "\n")
        (device / "uevent").write_text(f"DRIVER=amdgpu\nPCI_SLOT_NAME={address}\n")
        (device / "gpu_metrics").write_bytes(gpu_metrics())
        card = top / f"sys/class/drm/card{i}"
        card.mkdir(parents=True)
        (card / "device").symlink_to(device)


def monitor(rockit, work, seconds):
    """Percent of a core that sampling 8 GPUs ten times a second takes, by the kernel's account."""
    top = pathlib.Path(work, "gpus")
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir(parents=True)
    fake_gpus(top, 8)
    env = dict(os.environ, ROCKIT_SYSFS_ROOT=str(top))
    before = os.times()
    run = subprocess.run([rockit, "monitor", "--duration", str(seconds), "--interval", "100", "-d",
                          top / "out"], env=env, capture_output=True, text=True)
    after = os.times()
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return 100 * used / seconds
