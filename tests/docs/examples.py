#!/usr/bin/env python3
"""examples.py - every example of the help and of the manual pages works.

A world is made in which the files exist that the examples name: a ROCm of the stand-in with an
MI300X, traces, runs, jobs. Then each example is typed, in order. Of what a machine without Slurm and
pip cannot do, as much is done as can be: 'slurm submit' becomes 'slurm script'.
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
ROCKIT = os.environ["ROCKIT"]
GEN_TRACE = os.environ["GEN_TRACE"]
ORDER = ["run", "report", "metrics", "diff", "convert", "doctor", "presets", "counters", "monitor", "slurm",
         "pack", "completion", "help", "record", ""]
# Their examples need a program that runs with a collector: tests/run/run_live.py has some.
RUNNING = {"snap", "start", "stop", "env"}
# Not ours, and tried by other tests with what they need.
OTHERS = ("pip ", "rocprofv3 ")
# Where a status is an answer.
ANSWERS = {"--gate": (0, 3), "--structure": (0, 3), "--check": (0, 1)}
NODE = "sys/class/kfd/kfd/topology/nodes/1"
APP = "#!/bin/sh\nexit 0\n"


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def rockit(*argv, **env):
    subprocess.run([ROCKIT, *argv], check=True, capture_output=True, env={**os.environ, **env}, timeout=120)


def make_gpu(root):
    write(root / NODE / "gpu_id", "471\n")
    write(root / NODE / "properties", "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\n"
          "vendor_id 4098\nlocation_id 256\ndrm_render_minor 128\n")
    card = root / "sys/class/drm/card1/device"
    for name, text in {"uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:01:00.0", "vendor": "0x1002",
                       "device": "0x74a1", "class": "0x120000", "mem_info_vram_used": "4096",
                       "mem_info_vram_total": "206158430208", "gpu_busy_percent": "33"}.items():
        write(card / name, text + "\n")
    write(card / "hwmon/hwmon3/name", "amdgpu\n")
    write(card / "hwmon/hwmon3/power1_input", "215500000\n")


def make_machine(top):
    """PATH, HOME and devices; nothing of the real ones."""
    root = top / "root"
    make_gpu(root)
    tree = subprocess.run(["sh", ROOT / "tests/sim/make-tree.sh", root, "7.0"], check=True,
                          capture_output=True, text=True).stdout.strip()
    own = top / "bin"
    own.mkdir()
    (own / "rockit").symlink_to(ROCKIT)
    write(own / "python", APP, 0o755)
    (top / "home/.config/rockit/presets").mkdir(parents=True)
    for name in [n for n in os.environ if n.startswith(("ROCPROF", "SLURM", "OMPI", "PMI", "RANK"))]:
        del os.environ[name]
    os.environ.update(PATH=f"{own}:{tree}/bin:/usr/bin:/bin", HOME=str(top / "home"),
                      ROCKIT_SYSFS_ROOT=str(root), COLUMNS="100")
    os.environ.pop("XDG_CONFIG_HOME", None)
    os.environ.pop("ROCM_PATH", None)


def make_traces():
    trace = pathlib.Path("1234_kernel_trace.csv")
    subprocess.run([GEN_TRACE, "--rows", "300", "-o", trace], check=True, timeout=60)
    subprocess.run([GEN_TRACE, "--rows", "300", "--rocpd", "results.db"], check=True, timeout=60)
    data = trace.read_bytes()
    pathlib.Path("trace.csv.gz").write_bytes(gzip.compress(data))
    shutil.copy(trace, "trace.csv.zst")  # the kind is found by content: a plain one will do
    for run in ("before", "after", "reference", "a1", "a2", "a3", "b1", "b2", "b3"):
        pathlib.Path(run).mkdir()
        shutil.copy(trace, run)
    for name in ("main", "mine"):
        rockit("convert", str(trace), "-o", f"{name}.parquet")


def make_runs():
    write(pathlib.Path("app"), APP, 0o755)
    write(pathlib.Path("server"), APP, 0o755)
    rockit("run", "-p", "full", "--arch", "gfx942", "-d", "run", "--", "./app")
    rockit("run", "--tool", "rocprof-compute", "--arch", "gfx942", "-d", "compute", "--", "./app")
    pathlib.Path("workloads/app").mkdir(parents=True)
    shutil.copytree("compute", "workloads/app/MI300X")
    for where in ("job", "prof"):
        for rank in "01":
            rockit("run", "-t", "kernel", "--arch", "gfx942", "-d", where, "--", "./app", ROCKIT_RANK=rank,
                   SLURM_PROCID=rank, SLURM_NTASKS="2", SLURM_JOB_ID="7", SLURM_NNODES="1",
                   SLURM_NODEID="0", SLURM_LOCALID=rank, SLURMD_NODENAME="n0")


def make_files():
    write(pathlib.Path("mine.json"),
          '{"metrics": [{"id": "mine_waves", "group": "mine", "unit": "waves", "expr": "SQ_WAVES"}]}')
    write(pathlib.Path("counters.txt"), "pmc: SQ_WAVES TCC_HIT_sum\n")
    pathlib.Path("torch").mkdir()
    lib = pathlib.Path("build/artifacts/base_lib_generic")
    write(lib / "artifact_manifest.txt", "base/aux-overlay/stage\n")
    write(lib / "base/aux-overlay/stage/share/therock/therock_manifest.json",
          '{"the_rock_commit": "0", "submodules": [], "flags": {"KPACK_SPLIT_ARTIFACTS": false}}')
    write(lib / "base/aux-overlay/stage/share/therock/dist_info.json", '{"dist_amdgpu_targets": ""}')
    write(lib / "base/aux-overlay/stage/.info/version", "7.0.0\n")
    run = pathlib.Path("build/artifacts/rocprofiler-compute_run_generic")
    write(run / "artifact_manifest.txt", "profiler/rocprofiler-compute/stage\n")
    write(run / "profiler/rocprofiler-compute/stage/libexec/rocprofiler-compute/rocprof-compute",
          "#!/usr/bin/env python3\n", 0o755)


def examples(verb):
    """The commands of the page; check-man sees to it that those of the help are among them."""
    text = (ROOT / f"docs/man/{'rockit-' + verb if verb else 'rockit'}.1").read_text()
    section = re.search(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH|\Z)", text, re.M | re.S).group(1)
    for block in re.findall(r"^\.nf\n(.*?)^\.fi", section, re.M | re.S):
        for line in block.splitlines():
            yield line.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def as_typed_here(example):
    """The same, as far as it goes on a machine that has neither Slurm nor time."""
    example = re.sub(r" \| (less|jq .*)$", " >/dev/null", example)
    example = example.replace("slurm submit", "slurm script").replace(" --wait", "")
    example = example.replace("--duration 60", "--duration 0.2")
    example = example.replace("--tool opencl", "--tool rocprofv3")  # no OpenCL is needed to see it run
    return re.sub(r"^rockit (run|record|monitor) (?!.*--dry-run)(.*)-d ", r"rockit \1 --force \2-d ", example)


def attempt(example):
    shell = "fish" if "| source" in example else "zsh" if "zsh" in example else "bash"
    if not shutil.which(shell):
        return None
    typed = as_typed_here(example)
    if shell == "zsh":
        typed = "autoload -Uz compinit; compinit -D -u; " + typed
    run = subprocess.run([shell, "-c", typed], capture_output=True, text=True, timeout=120,
                         errors="replace", stdin=subprocess.DEVNULL)
    fine = next((codes for word, codes in ANSWERS.items() if word in example), (0,))
    if run.returncode in fine and "usage:" not in run.stderr:
        return None
    return f"{typed}: exit status {run.returncode}\n{run.stderr[-1500:]}"


def main():
    pages = {p.stem[len("rockit-"):] for p in (ROOT / "docs/man").glob("*.1")}
    if pages != set(ORDER) | RUNNING:
        print(f"examples.py: not in its list: {pages ^ (set(ORDER) | RUNNING)}")
        return 1
    faults, count = [], 0
    with tempfile.TemporaryDirectory(prefix="rockit-examples-") as top:
        make_machine(pathlib.Path(top))
        work = pathlib.Path(top, "work")
        work.mkdir()
        os.chdir(work)
        make_traces()
        make_runs()
        make_files()
        for verb in ORDER:
            lines = list(examples(verb))
            if not lines:
                faults.append(f"rockit-{verb}.1 has no examples")
            for line in lines:
                if not line.startswith(OTHERS):
                    faults.append(attempt(line))
                    count += 1
        os.chdir("/")
    faults = [f for f in faults if f]
    for fault in faults:
        print(fault)
    print(f"{count} examples, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
