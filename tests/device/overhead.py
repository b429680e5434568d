#!/usr/bin/env python3
"""overhead.py --rockit R --python P [--generations N] [--cuda DIR] - what recording costs on an NVIDIA GPU.

Four ways: as it is; CUPTI that throws its records away (the floor); rockit run --tool cupti; PyTorch's own
profiler. A generation is one process of each; while they live they take turns, a piece of each loop at a
time, so that all have the same weather. Compared is piece with piece of the same turn: the median of a
generation, the median of those, and their 95 % interval (generations drawn with replacement 2000 times).
Needs a GPU, PyTorch and a C compiler. --join adds the times that an earlier --json kept.
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
WAYS = ["plain", "bare", "rockit", "kineto"]
PIECES = {"tiny": 5000, "blocks": 100}
WARM_UP = 3  # turns that are not counted
median = statistics.median


def build_bare(cuda, folder):
    library = folder / "libbare.so"
    lib = next(p for p in (cuda / "lib64", cuda / "extras/CUPTI/lib64") if list(p.glob("libcupti.so*")))
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-I{cuda}/include", f"-I{cuda}/extras/CUPTI/include",
                    HERE / "bare_cupti.c", "-o", library, f"-L{lib}", "-lcupti", f"-Wl,-rpath,{lib}"],
                   check=True)
    return library


def start(way, args, bare, place):
    command = [args.python, HERE / "loops.py", "pieces", *(["kineto"] if way == "kineto" else [])]
    env = dict(os.environ)
    if way == "bare":
        env["CUDA_INJECTION64_PATH"] = str(bare)
    if way == "rockit":
        command = [args.rockit, "run", "-q", "--tool", "cupti", "-d", place, "--", *command]
    return subprocess.Popen([str(c) for c in command], env=env, text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def piece(process, loop):
    process.stdin.write(f"{loop} {PIECES[loop]}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def generation(args, bare, place, source):
    """Turns, each with the seconds of each way and loop."""
    processes = {way: start(way, args, bare, place) for way in WAYS}
    turns = []
    for turn in range(-WARM_UP, args.turns):
        seconds = {}
        for way in source.sample(WAYS, len(WAYS)):
            seconds[way] = {loop: piece(processes[way], loop) for loop in PIECES}
        if turn >= 0:
            turns.append(seconds)
    for way, process in processes.items():
        process.stdin.close()
        if process.wait(timeout=120):
            sys.exit(f"{way}: exit status {process.returncode}")
    return turns


def interval(generations, of_turn):
    """Median of the medians of generations, and the middle 95 % of 2000 draws."""
    middles = [median(of_turn(turn) for turn in turns) for turns in generations]
    source = random.Random(1)
    found = sorted(median(source.choices(middles, k=len(middles))) for _ in range(2000))
    return median(middles), found[50], found[1949]


def table(generations):
    print("| loop | how | seconds | 95 % | cost | 95 % |\n|---|---|---|---|---|---|")
    for loop in PIECES:
        for way in WAYS:
            at = interval(generations, lambda t: t[way][loop])
            more = interval(generations, lambda t: 100 * (t[way][loop] / t["plain"][loop] - 1))
            cost = "| |" if way == "plain" else f"{more[0]:+.2f} % | {more[1]:+.2f} to {more[2]:+.2f} % |"
            print(f"| {loop} | {way} | {at[0]:.4f} | {at[1]:.4f}-{at[2]:.4f} | {cost}")


def differences(generations, kernels):
    """What rockit costs more than the others, us a kernel."""
    for loop in PIECES:
        for other in ("bare", "kineto"):
            at = interval(generations, lambda t: 1e6 * (t["rockit"][loop] - t[other][loop]) / kernels[loop])
            print(f"{loop}: rockit - {other}: {at[0]:+.3f} us a kernel ({at[1]:+.3f} to {at[2]:+.3f}), "
                  f"{kernels[loop]:.0f} kernels a piece")


def recorded(args, place):
    """What the last run has, and the kernels of a piece."""
    out = subprocess.run([args.rockit, "report", place, "--format", "json"], capture_output=True, text=True,
                         check=True).stdout
    seen = json.loads(out)
    rows, each = seen["kernel_rows"], 1.1 * (args.turns + WARM_UP)
    size = sum(f.stat().st_size for f in place.rglob("*.rkraw"))
    parquet = sum(f.stat().st_size for f in place.glob("*kernels.parquet"))
    print(f"{rows} kernels recorded: {size / rows:.1f} B each raw, {parquet / rows:.1f} B in Parquet")
    print("warnings:", json.dumps(seen.get("warnings", [])))
    tiny = 2 * PIECES["tiny"]
    return {"tiny": tiny, "blocks": max(1, rows / each - tiny)}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--rockit", required=True)
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--generations", type=int, default=12)
    p.add_argument("--turns", type=int, default=12, help="of a generation")
    p.add_argument("--cuda", type=pathlib.Path, default=pathlib.Path("/usr/local/cuda"))
    p.add_argument("--json", type=pathlib.Path)
    p.add_argument("--join", type=pathlib.Path)
    p.add_argument("--seconds", type=float, default=3600, help="no generation begins after that")
    args = p.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rockit-overhead-"))
    bare, source = build_bare(args.cuda, folder), random.Random(1)
    generations = json.loads(args.join.read_text()) if args.join else []
    until = time.monotonic() + args.seconds
    for n in range(args.generations):
        if n and time.monotonic() > until:
            break
        place = folder / f"run-{n}"
        generations.append(generation(args, bare, place, source))
        print(f"# {n}", *(f"{way}: " + " ".join(f"{median(t[way][loop] for t in generations[-1]):.4f}"
                                              for loop in PIECES) for way in WAYS), file=sys.stderr, flush=True)
    if args.json:
        args.json.write_text(json.dumps(generations))
    print(f"{len(generations)} processes each, {args.turns} turns of {PIECES}")
    table(generations)
    differences(generations, recorded(args, place))


if __name__ == "__main__":
    main()
