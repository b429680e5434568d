#!/usr/bin/env python3
"""overhead.py --rockit R --python P [--rounds N] [--cuda DIR] - what recording costs on an NVIDIA GPU.

Four ways, in turns, each in a process of its own: as it is; CUPTI that throws its records away (the
floor); rockit run --tool cupti; PyTorch's own profiler. Prints the median of all repetitions with the
interval from the 10th to the 90th percentile, as a Markdown table, and what a kernel costs over the
floor. Needs a GPU, PyTorch and a C compiler.
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

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = {"tiny": 100000}  # of one repetition; that of the blocks is counted


def percentile(values, p):
    values = sorted(values)
    at = p / 100 * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


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
    share = [100 * (v / plain - 1) for v in values]
    return (f"| {loop} | {name} | {statistics.median(values):.4f} | {percentile(values, 10):.4f}-"
            f"{percentile(values, 90):.4f} | {statistics.median(share):+.2f} % | "
            f"{percentile(share, 10):+.2f} to {percentile(share, 90):+.2f} % |")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--rockit", required=True)
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--cuda", type=pathlib.Path, default=pathlib.Path("/usr/local/cuda"))
    p.add_argument("--json", type=pathlib.Path)
    args = p.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rockit-overhead-"))
    bare = build_bare(args.cuda, folder)
    variants = ["plain", "bare", "rockit", "kineto"]
    times = {v: {"tiny": [], "blocks": []} for v in variants}
    place = None
    for turn in range(args.rounds):
        for variant in random.Random(turn).sample(variants, len(variants)):
            result, at = run(variant, args, bare, folder, turn)
            place = at if variant == "rockit" else place
            for loop, values in result.items():
                times[variant][loop] += values
            print(f"# {turn} {variant}: " + ", ".join(f"{loop} {statistics.median(v):.4f} s"
                                                      for loop, v in result.items()), file=sys.stderr)
    seen = report_of(args, place)
    print("| loop | how | seconds | 10-90 % | cost | 10-90 % |\n|---|---|---|---|---|---|")
    for loop in ("tiny", "blocks"):
        plain = statistics.median(times["plain"][loop])
        for variant in variants:
            print(row(variant, loop, times[variant][loop], plain))
    repeats = int(os.environ.get("REPEATS", "5"))
    tiny = KERNELS["tiny"]
    blocks = max(1, (seen["kernel_rows"] - repeats * tiny - 2000) / (repeats + 20 / 500))
    for loop, kernels in (("tiny", tiny), ("blocks", blocks)):
        over = statistics.median(times["rockit"][loop]) - statistics.median(times["bare"][loop])
        print(f"{loop}: {1e6 * over / kernels:.3f} us a kernel over bare CUPTI ({kernels:.0f} kernels)")
    size = sum(f.stat().st_size for f in place.rglob("*.rkraw"))
    table = sum(f.stat().st_size for f in place.glob("*kernels.parquet"))
    rows = seen["kernel_rows"]
    print(f"{rows} kernels recorded: {size / rows:.1f} B each raw, {table / rows:.1f} B in Parquet")
    print("warnings:", json.dumps(seen.get("warnings", [])))
    if args.json:
        args.json.write_text(json.dumps({"times": times, "rows": rows}))


if __name__ == "__main__":
    main()
