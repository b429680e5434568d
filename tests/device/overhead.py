#!/usr/bin/env python3
"""overhead.py --rockit R --python P [--rounds N] [--cuda DIR] - what recording costs on an NVIDIA GPU.

Four ways, in turns, each in a process of its own: as it is; CUPTI that throws its records away (the
floor); rockit run --tool cupti; PyTorch's own profiler. Prints the median of all repetitions and the 95 %
interval of that median (processes drawn with replacement 2000 times: repetitions of one process are not
independent), as a Markdown table, and what a kernel costs over the floor. Needs a GPU, PyTorch and a C
compiler. --join adds the times that an earlier --json kept.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = {"tiny": 100000}  # of one repetition; that of the blocks is counted


def percentile(values, p):
    values = sorted(values)
    at = p / 100 * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def middle(processes):
    return statistics.median(v for values in processes for v in values)


def drawn(processes, random):
    return [random.choice(processes) for _ in processes]


def interval(statistic, *samples):
    """Of a statistic of samples, each a list of processes, the middle 95 % of 2000 draws."""
    source = random.Random(1)
    found = [statistic(*(drawn(s, source) for s in samples)) for _ in range(2000)]
    return percentile(found, 2.5), percentile(found, 97.5)


def build_bare(cuda, folder):
    library = folder / "libbare.so"
    lib = next(p for p in (cuda / "lib64", cuda / "extras/CUPTI/lib64") if list(p.glob("libcupti.so*")))
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-I{cuda}/include", f"-I{cuda}/extras/CUPTI/include",
                    HERE / "bare_cupti.c", "-o", library, f"-L{lib}", "-lcupti", f"-Wl,-rpath,{lib}"],
                   check=True)
    return library


def run(variant, args, bare, folder, turn):
    command = [args.python, HERE / "loops.py", "overhead"]
    env = dict(os.environ)
    place = folder / f"run-{turn}"
    if variant == "bare":
        env["CUDA_INJECTION64_PATH"] = str(bare)
    if variant == "kineto":
        command.append("kineto")
    if variant == "rockit":
        command = [args.rockit, "run", "-q", "--tool", "cupti", "-d", place, "--", *command]
    done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{variant}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    line = [line for line in done.stdout.splitlines() if line.startswith("{")][-1]
    return json.loads(line), place


def report_of(args, place):
    out = subprocess.run([args.rockit, "report", place, "--format", "json"], capture_output=True, text=True,
                         check=True).stdout
    return json.loads(out)


def row(name, loop, values, plain):
    def cost(mine, base):
        return 100 * (middle(mine) / middle(base) - 1)

    low, high = interval(middle, values)
    cells = [loop, name, f"{middle(values):.4f}", f"{low:.4f}-{high:.4f}"]
    if values is not plain:
        low, high = interval(cost, values, plain)
        cells += [f"{cost(values, plain):+.2f} %", f"{low:+.2f} to {high:+.2f} %"]
    else:
        cells += ["", ""]
    return "| " + " | ".join(cells) + " |"


def differences(times, loop, kernels):
    """What rockit costs more than the others, us a kernel."""
    for other in ("bare", "kineto"):
        def more(mine, theirs):
            return 1e6 * (middle(mine) - middle(theirs)) / kernels
        low, high = interval(more, times["rockit"][loop], times[other][loop])
        value = more(times["rockit"][loop], times[other][loop])
        print(f"{loop}: rockit - {other}: {value:+.3f} us a kernel ({low:+.3f} to {high:+.3f}), {kernels:.0f} kernels")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--rockit", required=True)
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--cuda", type=pathlib.Path, default=pathlib.Path("/usr/local/cuda"))
    p.add_argument("--json", type=pathlib.Path)
    p.add_argument("--join", type=pathlib.Path)
    p.add_argument("--seconds", type=float, default=3600, help="no round begins after that")
    args = p.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rockit-overhead-"))
    bare = build_bare(args.cuda, folder)
    variants = ["plain", "bare", "rockit", "kineto"]
    times = {v: {"tiny": [], "blocks": []} for v in variants}
    if args.join:
        times = json.loads(args.join.read_text())["times"]
    place = None
    until = time.monotonic() + args.seconds
    for turn in range(args.rounds):
        if time.monotonic() > until:
            break
        for variant in random.Random(turn).sample(variants, len(variants)):
            result, at = run(variant, args, bare, folder, turn)
            place = at if variant == "rockit" else place
            for loop, values in result.items():
                times[variant][loop].append(values)
            print(f"# {turn} {variant}: " + ", ".join(f"{loop} {statistics.median(v):.4f} s"
                                                      for loop, v in result.items()), file=sys.stderr)
    seen = report_of(args, place)
    print(f"{len(times['plain']['tiny'])} processes each, median and its 95 % interval\n"
          "| loop | how | seconds | 95 % | cost | 95 % |\n|---|---|---|---|---|---|")
    for loop in ("tiny", "blocks"):
        for variant in variants:
            print(row(variant, loop, times[variant][loop], times["plain"][loop]))
    repeats = int(os.environ.get("REPEATS", "5"))
    tiny = KERNELS["tiny"]
    blocks = max(1, (seen["kernel_rows"] - repeats * tiny - 2000) / (repeats + 20 / 500))
    for loop, kernels in (("tiny", tiny), ("blocks", blocks)):
        differences(times, loop, kernels)
    size = sum(f.stat().st_size for f in place.rglob("*.rkraw"))
    table = sum(f.stat().st_size for f in place.glob("*kernels.parquet"))
    rows = seen["kernel_rows"]
    print(f"{rows} kernels recorded: {size / rows:.1f} B each raw, {table / rows:.1f} B in Parquet")
    print("warnings:", json.dumps(seen.get("warnings", [])))
    if args.json:
        args.json.write_text(json.dumps({"times": times, "rows": rows}))


if __name__ == "__main__":
    main()
