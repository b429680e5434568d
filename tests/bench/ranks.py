"""ranks.py - a job of more and more ranks as one report: time, memory, and whether it is true.

gen-ranks makes folders of ranks whose clocks are skewed and drift, with one rank that is always late,
and writes down the truth. Each size is made, read once for the page cache, measured, and removed
again. Seconds of CPU are of one thread, so kernels a second are those of a core.
"""
import json
import os
import re
import shutil
import subprocess
import time

SIZES = (8, 64, 256, 1024)
KERNELS = 100_000
COLLECTIVES = 10_000
SLOW = 5
MAX_RSS_MB = 512
MIN_KERNELS_PER_S = 3e6
ALIGN_SECONDS = 10


def measured(argv, out):
    """Wall seconds, CPU seconds, peak MB."""
    start = time.perf_counter()
    with open(out, "wb") as to:
        child = subprocess.Popen([str(a) for a in argv], stdout=to, stderr=subprocess.PIPE)
        err = child.stderr.read()
        child.stderr.close()
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{argv[1]}: exit status {child.returncode}: {err.decode()[-300:]}")
    return (time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def make(bench, ranks):
    top = bench.work / f"ranks-{ranks}"
    shutil.rmtree(top, ignore_errors=True)
    truth = bench.work / f"ranks-{ranks}.json"
    subprocess.run([str(a) for a in (
        bench.build / "gen-ranks", "-o", top, "--ranks", ranks, "--nodes", max(2, ranks // 8),
        "--kernels", KERNELS, "--collectives", COLLECTIVES, "--slow", SLOW, "--truth", truth)],
        check=True)
    return top, truth


def size_of(top):
    return sum(f.stat().st_size for f in top.rglob("*.parquet"))


def faults(report, truth):
    """What the report says otherwise than the truth, as text."""
    out = []
    job = report.get("ranks")
    if not job:
        return ["the report has no ranks"]
    if report["kernel_rows"] != len(truth["ranks"]) * KERNELS:
        out.append(f"{report['kernel_rows']} kernels")
    by_rank = {r["rank"]: r for r in job["ranks"]}
    for true in truth["ranks"]:
        said = by_rank.get(true["rank"])
        if not said:
            out.append(f"rank {true['rank']} is not there")
            continue
        for key in ("compute_ns", "comm_ns", "both_ns"):
            if said[key] != true[key]:
                out.append(f"rank {true['rank']}: {key} {said[key]}, not {true[key]}")
        out += clock_faults(said, true, job, truth)
    late = max(job["ranks"], key=lambda r: r["caused_ns"])["rank"]
    if late != SLOW:
        out.append(f"rank {late} is the straggler, not {SLOW}")
    return out


def clock_faults(said, true, job, truth):
    if said["clock"] == "alone":
        return [f"rank {said['rank']} was not aligned"]
    # the truth is at another instant: drift carries it there
    moved = (job["base_ns"] - truth["base_ns"]) * true["drift_ppm"] / 1e6
    wrong = said["offset_ns"] - (true["offset_ns"] + moved)
    bound = said["error_ns"] + 1  # rounding
    return [f"rank {said['rank']}: offset {wrong:.0f} ns off, said {bound}"] if abs(wrong) > bound else []


def one_size(bench, ranks, first):
    top, truth = make(bench, ranks)
    out = bench.work / "ranks-report.json"
    try:
        argv = [bench.build / "rockit", "report", "-q", top, "--threads", 1, "--format", "json"]
        best = min((measured(argv, out) for _ in range(2 if ranks > 64 else 3)), key=lambda m: m[1])
        wrong = faults(json.loads(out.read_text()), json.loads(truth.read_text()))
        size = size_of(top)
    finally:
        shutil.rmtree(top, ignore_errors=True)
        truth.unlink(missing_ok=True)
        out.unlink(missing_ok=True)
    wall, cpu, rss = best
    rows = ranks * KERNELS
    per_row = cpu / rows
    first = first or per_row
    bench.wrong += [f"{ranks} ranks: {w}" for w in wrong[:5]]
    print(f"  {ranks:5d} {rows / 1e6:8.1f} {size / 1e6:9.1f} {wall:8.2f} {cpu:8.2f} {rows / cpu / 1e6:9.2f} "
          f"{1e9 * per_row:9.1f} {per_row / first:6.2f} {rss:8.1f}", flush=True)
    bench.bar(f"{ranks} ranks: {rows / cpu / 1e6:.1f} million kernels/s of a core >= 3",
              rows / cpu >= MIN_KERNELS_PER_S)
    bench.bar(f"{ranks} ranks: peak memory {rss:.0f} MB <= {MAX_RSS_MB}", rss <= MAX_RSS_MB)
    bench.bar(f"{ranks} ranks: {per_row / first:.2f} of the time a kernel, <= 1.5", per_row <= 1.5 * first)
    return first


def align(bench):
    """One clock for 1,024 ranks by 10,000 collectives each, without any reading."""
    tool = bench.build / "align-bench"
    start = time.perf_counter()
    text = subprocess.run([str(tool), "10000", "1024"], check=True, capture_output=True, text=True).stdout
    print(text.rstrip())
    print(f"  all of it: {time.perf_counter() - start:.1f} s\n")
    for ranks, how, seconds in re.findall(r"(\d+) ranks x \d+ collectives, ([^:]+): +([\d.]+) s", text):
        if int(ranks) == max(SIZES):
            bench.bar(f"alignment of {ranks} ranks, {how.strip()}: {seconds} s < {ALIGN_SECONDS}",
                      float(seconds) < ALIGN_SECONDS)


def run(bench):
    print(f"one report of many ranks: {KERNELS} kernels each, {COLLECTIVES} of them collectives; one thread")
    print(f"  {'ranks':>5s} {'million':>8s} {'MB':>9s} {'wall s':>8s} {'CPU s':>8s} {'million/s':>9s} "
          f"{'ns each':>9s} {'ratio':>6s} {'peak MB':>8s}")
    first = None
    for ranks in SIZES:
        first = one_size(bench, ranks, first)
    print()
    align(bench)
