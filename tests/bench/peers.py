"""peers.py TASK INPUT OUTPUT THREADS - one engine call of DuckDB or polars; prints JSON.

Run as a process of its own so that the number of threads can be set. `seconds` is the engine's
call alone: starting Python and loading the library are not counted.
"""
import json
import os
import sys
import time


def duckdb_query(task, src, out):
    duration = "End_Timestamp - Start_Timestamp"
    rows = f"SELECT *, {duration} AS Duration FROM read_csv('{src}')"
    to_parquet = f"TO '{out}' (FORMAT parquet, COMPRESSION zstd)"
    if task == "convert":
        return f"COPY ({rows}) {to_parquet}"
    if task == "sort":
        return f"COPY ({rows} ORDER BY Start_Timestamp) {to_parquet}"
    return (
        "SELECT Kernel_Name, count(*), sum(d), min(d), max(d), avg(d) FROM "
        f"(SELECT Kernel_Name, {duration} AS d FROM read_csv('{src}')) GROUP BY 1 ORDER BY 3 DESC"
    )


def run_duckdb(task, src, out, threads):
    import duckdb

    db = duckdb.connect()
    db.execute(f"SET threads = {threads}")
    query = duckdb_query(task, src, out)
    start = time.perf_counter()
    db.execute(query).fetchall()
    return time.perf_counter() - start


def run_polars(task, src, out):
    import polars as pl

    start = time.perf_counter()
    rows = pl.scan_csv(src).with_columns(
        (pl.col("End_Timestamp") - pl.col("Start_Timestamp")).alias("Duration")
    )
    if task == "sort":
        rows = rows.sort("Start_Timestamp")
    if task == "group":
        d = pl.col("Duration")
        rows.group_by("Kernel_Name").agg(
            pl.len(), d.sum().alias("sum"), d.min().alias("min"), d.max().alias("max"),
            d.mean().alias("mean"),
        ).sort("sum", descending=True).collect(engine="streaming")
    else:
        rows.sink_parquet(out, compression="zstd")
    return time.perf_counter() - start


def check(src, parquet):
    """Does the Parquet file have the rows of the csv, sorted by time?"""
    import duckdb

    db = duckdb.connect()
    want = db.execute(
        "SELECT count(*), sum(End_Timestamp - Start_Timestamp), sum(Start_Timestamp % 1000003),"
        f" count(DISTINCT Kernel_Name), sum(Dispatch_Id) FROM read_csv('{src}')"
    ).fetchone()
    got = db.execute(
        "SELECT count(*), sum(duration_ns), sum(start_ns % 1000003),"
        f" count(DISTINCT kernel_name), sum(dispatch_id) FROM '{parquet}'"
    ).fetchone()
    unsorted = db.execute(
        "SELECT count(*) FROM (SELECT start_ns < lag(start_ns) OVER () AS back"
        f" FROM '{parquet}') WHERE back"
    ).fetchone()[0]
    return {"same": want == got, "sorted": unsorted == 0, "want": str(want), "got": str(got)}


def main():
    task, src, out, threads = sys.argv[1:5]
    os.environ["POLARS_MAX_THREADS"] = threads
    if task == "check":
        result = check(src, out)
    else:
        engine, task = task.split("-")
        if engine == "duckdb":
            seconds = run_duckdb(task, src, out, int(threads))
        else:
            seconds = run_polars(task, src, out)
        result = {"seconds": seconds}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
