#!/usr/bin/env python3
"""pyframes.py - a run as a DataFrame: rockit's Python package beside pyarrow and pandas themselves.

Each measurement is a separate process with its modules loaded; the best of two calls in each of the
interleaved rounds counts. CPU seconds of all threads are printed too: they say more on a busy machine.
"""
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import time

PYTHON = pathlib.Path(__file__).resolve().parent.parent.parent / "python"


def rockit_frame(path):
    import rockit

    with rockit.open(path) as run:
        return run["kernels"].to_pandas()


def rockit_sorted(path):
    import rockit

    with rockit.open(path) as run:
        return run.table("kernels", sorted=True).to_pandas()


def arrow_frame(path):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path).to_pandas()


def pandas_frame(path):
    import pandas

    return pandas.read_csv(path)


def pandas_arrow_frame(path):
    import pandas

    return pandas.read_csv(path, engine="pyarrow")


TASKS = {f.__name__: f for f in (rockit_frame, rockit_sorted, arrow_frame, pandas_frame, pandas_arrow_frame)}


def child(task, path):
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    best, cpu = math.inf, math.inf
    for _ in range(2):
        start, before = time.perf_counter(), time.process_time()
        frame = TASKS[task](path)
        best = min(best, time.perf_counter() - start)
        cpu = min(cpu, time.process_time() - before)
        rows, total = len(frame), int(frame[[c for c in ("duration_ns", "End_Timestamp") if c in frame][0]].sum())
        del frame
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": best, "cpu": cpu, "rows": rows, "total": total, "peak": peak}))


def measure(bench, what, task, path):
    env = {**os.environ, "PYTHONPATH": str(PYTHON), "ROCKIT_LIBRARY": str(bench.build / "librockit.so.1")}
    argv = [sys.executable, __file__, task, path]
    done = subprocess.run([str(a) for a in argv], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{what}: {done.stderr.strip()[-300:]}")
    got = json.loads(done.stdout)
    bench.note(what, 2, got["seconds"], got["peak"])
    bench.note(what + ", CPU", 2, got["cpu"])
    return got


def import_ms(bench):
    env = {**os.environ, "PYTHONPATH": str(PYTHON), "ROCKIT_LIBRARY": str(bench.build / "librockit.so.1")}
    code = "import time; s = time.perf_counter(); import rockit; a = time.perf_counter(); rockit.version(); " \
           "print(1000 * (a - s), 1000 * (time.perf_counter() - a))"
    runs = [subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
            for _ in range(10)]
    return [min(float(r.stdout.split()[i]) for r in runs) for i in (0, 1)]


def run(bench):
    csv = bench.csv(bench.rows)
    parquet = bench.work / f"frames-{bench.rows}.parquet"
    if not parquet.exists():
        bench.rockit("frames convert", 2, "convert", csv, "-o", parquet)
    for _ in range(bench.rounds):
        one = measure(bench, "Parquet pyarrow", "arrow_frame", parquet)
        two = measure(bench, "Parquet rockit", "rockit_frame", parquet)
        if (one["rows"], one["total"]) != (two["rows"], two["total"]):
            bench.wrong.append(f"{parquet.name}: {one} and {two}")
        measure(bench, "CSV pandas", "pandas_frame", csv)
        measure(bench, "CSV pandas, engine pyarrow", "pandas_arrow_frame", csv)
        three = measure(bench, "CSV rockit", "rockit_frame", csv)
        measure(bench, "CSV rockit, sorted", "rockit_sorted", csv)
        if (one["rows"], one["total"]) != (three["rows"], three["total"]):
            bench.wrong.append(f"{csv.name}: {one} and {three}")
    bench.table("Parquet to a DataFrame", parquet, "Parquet")
    bench.table("CSV to a DataFrame", csv, "CSV")
    bench.ratio_bar("Parquet to pandas", "Parquet pyarrow", "Parquet rockit", 2, 1)
    bench.ratio_bar("CSV to pandas", "CSV pandas", "CSV rockit", 2, 4)
    bare, loaded = import_ms(bench)
    print(f"import rockit: {bare:.1f} ms; the first call, which loads the library: {loaded:.1f} ms\n")
    bench.bar(f"import: {bare:.1f} ms < 30", bare < 30)


if __name__ == "__main__":
    child(*sys.argv[1:])
