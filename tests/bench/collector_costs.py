"""What the collectors cost a program: one table for all of them.

    python3 tests/bench/collector_costs.py --build build/release [--only opencl] [--rounds 30]

An empty kernel is launched without a tool, without it once more (the difference of the two is what the
machine itself makes of equal runs), with a collector that sleeps and with one that records. The rounds of
the four are interleaved; printed is the median over the rounds of the difference within a round, with the
interval that holds the true median in 95 of 100 cases. The launching thread has a core, and everything
else (runtime, device, the collector's own threads) another.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

MODES = {"no tool": None, "again": None, "asleep": "switch=1,asleep=1", "awake": "switch=1,window=1,limit=64M"}


class Subject:
    """A program that prints what a launch cost it, as JSON, and how a collector gets into it."""

    def __init__(self, name, argv, load, env=None, limits=None, settings=""):
        self.name, self.argv = name, [str(a) for a in argv]
        self.load = load  # variables that load the collector
        self.env = env or {}  # variables that the program needs anyway
        self.settings = settings  # more of them for the collector
        self.limits = limits or {}  # mode -> ns of the launching thread that it should stay below


def opencl(build, work, launches):
    """On PoCL. Profiling of queues is forced when they are created, asleep or not."""
    if not (build / "cl-rate").exists():
        return
    for how, what in (("async", "clFinish after 1000"), ("sync", "clFinish after each"),
                      ("event", "waits for an event")):
        yield Subject(f"OpenCL, {what}", [build / "cl-rate", how, launches],
                      {"OPENCL_LAYERS": str(build / "librockit-opencl.so")},
                      {"POCL_CACHE_DIR": str(work / "pocl")})


def cupti(build, work, launches):
    """On a stand-in for CUPTI: what the real one costs is measured by tests/device."""
    place = work / "cuda"
    if not (build / "fake-cuda-app").exists():
        return
    place.mkdir(exist_ok=True)
    for name, target in (("libcuda.so.1", "libcuda.so.1"), ("libcupti.so.12", "libfake-cupti.so")):
        if not (place / name).is_symlink():
            (place / name).symlink_to(build / "fake-cuda" / target)
    yield Subject("CUPTI (stand-in)", [build / "fake-cuda-app", "rate", 20 * launches],
                  {"CUDA_INJECTION64_PATH": str(build / "librockit-cupti.so")},
                  {"LD_LIBRARY_PATH": str(place), "FAKE_CUPTI_RELEASE": "12.9", "FAKE_CUDA_DRIVER": "12090"},
                  {"asleep": 20})


def rocm(build, work, launches):
    """AMD's own runtime over the virtual GPU of tests/vgpu."""
    if not (build / "vgpu" / "libvgpu.so").exists():
        return
    os.environ["VGPU_BUILD"] = str(build / "vgpu")
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "vgpu"))
    import vgpu  # pylint: disable=import-outside-toplevel
    tools = list(vgpu.compilers())
    if not all(tools):
        return
    try:
        suite = vgpu.Suite(os.environ.get("SUITE", "trixie"), work)
    except vgpu.Fault as error:
        print(f"ROCm is left out: {error}")
        return
    suite.compile(*tools)
    argv, env = suite.command("rate", launches, env={"VGPU_TIME": "fixed=100", "VGPU_LEDGER": ""})
    load = {"HSA_TOOLS_LIB": str(build / "librockit-rocm.so")}
    yield Subject("ROCm, dispatches", argv, load, env, {"asleep": 100, "awake": 400}, ",api=0")
    yield Subject("ROCm, with HIP calls", argv, load, env, {"awake": 900}, ",api=1")


# A collector is a function (build, work, launches) that gives its subjects, none where it was not built.
COLLECTORS = {"opencl": opencl, "cupti": cupti, "rocm": rocm}


def cores():
    """One for the launching thread, one for all else; None: there is only one."""
    mine = sorted(os.sched_getaffinity(0))
    return mine[:2] if len(mine) > 1 else None


def measure(subject, mode, raw):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OPENCL_", "ROCKIT_COLLECT", "POCL_", "CUDA_", "HSA_"))}
    env.update(subject.env)
    if MODES[mode]:
        env.update(subject.load, ROCKIT_COLLECT=f"dir={raw},{MODES[mode]}{subject.settings}")
    argv, pair = subject.argv, cores()
    if pair:
        env["BENCH_CORE"] = str(pair[0])
        argv = ["taskset", "-c", str(pair[1]), *argv]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    for file in raw.iterdir():
        file.unlink()
    if done.returncode != 0:
        raise RuntimeError(f"{subject.name}, {mode}: exit status {done.returncode}: {done.stderr[-300:]}")
    return json.loads(done.stdout.splitlines()[-1])


def rounds_of(subject, rounds, raw):
    """mode -> what each round gave."""
    found = {mode: [] for mode in MODES}
    measure(subject, "awake", raw)  # fills the runtime's cache
    order = list(MODES)
    for i in range(rounds):
        for mode in order[i % len(order):] + order[:i % len(order)]:
            found[mode].append(measure(subject, mode, raw))
    return found


def interval(values):
    """Median, and the interval of the median at 95 %: ranks of a binomial distribution."""
    ordered = sorted(values)
    n = len(ordered)
    k = max(0, round((n - 1.96 * n ** 0.5) / 2) - 1)
    return statistics.median(ordered), ordered[k], ordered[n - 1 - k]


def cell(values):
    return "{:.0f} ({:.0f} to {:.0f})".format(*interval(values))


def table(subjects, rounds, raw):
    """Prints a line for each subject as it is measured; gives (subject, mode) -> ns of the launching thread."""
    costs = {}
    print(f"| ns a launch, {rounds} rounds | | no tool | again - no tool | asleep - no tool | awake - no tool |")
    print("|---|---|---|---|---|---|")
    for subject in subjects:
        found = rounds_of(subject, rounds, raw)
        for key, what in (("thread_ns", "launching thread"), ("process_ns", "all threads"), ("wall_ns", "wall")):
            plain = [r[key] for r in found["no tool"]]
            cells = [cell(plain)]
            for mode in ("again", "asleep", "awake"):
                more = [a[key] - b for a, b in zip(found[mode], plain)]
                cells.append(cell(more))
                if key == "thread_ns":
                    costs[subject, mode] = statistics.median(more)
            print(f"| {subject.name} | {what} | " + " | ".join(cells) + " |", flush=True)
    return costs


def subjects_of(names, build, work, launches):
    return [s for name in names for s in COLLECTORS[name](build, work, launches)]


def run(bench):
    """As a part of `make bench`."""
    work = bench.work / "collectors"
    raw = work / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    costs = table(subjects_of(COLLECTORS, bench.build, work, 20000), 30, raw)
    print()
    for (subject, mode), ns in costs.items():
        if mode in subject.limits:
            limit = subject.limits[mode]
            bench.bar(f"{subject.name}, {mode}: {ns:.0f} ns a launch <= {limit}", ns <= limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--launches", type=int, default=20000)
    parser.add_argument("--only", choices=COLLECTORS, action="append")
    args = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="rockit-bench-"))
    (work / "raw").mkdir()
    try:
        table(subjects_of(args.only or COLLECTORS, args.build.resolve(), work, args.launches), args.rounds,
              work / "raw")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
