"""pages.py - the page of a report: time, memory and size to make it, paint and frames to look at it.

From Parquet, the whole process. Frames are those of headless Chromium without a GPU: the time from
one to the next while the timeline is moved and zoomed a step each, and how long drawing took.
"""
import json
import pathlib
import subprocess

import traces

HERE = pathlib.Path(__file__).resolve().parent
BARS = {"seconds": 15, "bytes": 6, "memory": 64, "paint": 1000, "frame": 50}


def make(bench, rows, rounds):
    title, page = f"page of {rows}", bench.work / f"page-{rows}.html"
    source = traces.tables(bench, f"page-tables-{rows}", bench.csv(rows))
    for _ in range(rounds):
        for threads in (1, 2):
            bench.rockit(title, threads, "report", source, "-q", "--html", page)
    for threads in (1, 2):
        print(f"{title} kernels: {bench.times[(title, threads)]:.2f} s with {threads} threads,"
              f" peak {bench.rss[(title, threads)]:.1f} MB, {page.stat().st_size / rows:.2f} bytes a kernel")
    return title, page


def frames(page):
    run = subprocess.run(["node", HERE / "frames.mjs", page], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def look(page):
    seen = frames(page)
    if "skipped" in seen:
        print(f"  not looked at: {seen['skipped']}")
        return None
    print(f"  first paint {seen['paint']:.0f} ms, timeline {seen['drawn']} ms, all read {seen['loaded']} ms")
    for what, times in seen["frames"].items():
        print(f"  {what:9s} frame to frame {times['between']['median']:5.1f} ms, 95 of 100 below"
              f" {times['between']['p95']:5.1f}, most {times['between']['most']:5.1f};"
              f" drawing {times['drawing']['median']:5.1f}, {times['drawing']['p95']:5.1f},"
              f" {times['drawing']['most']:5.1f}")
    return seen


def judge(bench, title, page, rows, seen):
    seconds, memory = bench.times[(title, 2)], max(bench.rss[(title, t)] for t in (1, 2))
    each = page.stat().st_size / rows
    bench.bar(f"{title}: {seconds:.2f} s <= {BARS['seconds']}", seconds <= BARS["seconds"])
    bench.bar(f"{title}: peak memory {memory:.1f} MB <= {BARS['memory']}", memory <= BARS["memory"])
    bench.bar(f"{title}: {each:.2f} bytes a kernel <= {BARS['bytes']}", each <= BARS["bytes"])
    if not seen:
        return
    slow = max(times["between"]["p95"] for times in seen["frames"].values())
    bench.bar(f"{title}: first paint {seen['paint']:.0f} ms <= {BARS['paint']}", seen["paint"] <= BARS["paint"])
    bench.bar(f"{title}: 95 of 100 frames within {slow:.1f} ms <= {BARS['frame']}", slow <= BARS["frame"])


def run(bench, full):
    for rows in (1_000_000, 10_000_000) if full else (1_000_000,):
        title, page = make(bench, rows, bench.rounds if rows < 2_000_000 else 1)
        judge(bench, title, page, rows, look(page))
    print()
