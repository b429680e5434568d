#!/usr/bin/env python3
"""Query engines answer docs/datasets.md from a data set with the numbers of rockit report.

    ROCKIT=... python tests/readers/dataset.py

Needs gen-trace and gen-ranks beside $ROCKIT. DuckDB, polars and pyarrow are asked; Spark where pyspark and Java
are there. Exits 77 (skipped) where one of the first three is missing.
"""

import collections
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import duckdb
    import polars
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROCKIT = os.path.abspath(os.environ["ROCKIT"])
GEN = os.path.join(os.path.dirname(ROCKIT), "gen-trace")
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "datasets.md"
RANKS = 6
BY_COLLECTIVE = "straggler of each collective, all of them"
failures = 0


def check(ok, what):
    global failures
    if not ok:
        failures += 1
        print(f"FAIL {what}")


def same(what, got, want):
    check(got == want, f"{what}:\n  got  {str(got)[:600]}\n  want {str(want)[:600]}")


def rockit(*args, status=0):
    done = subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True)
    check(done.returncode == status,
          f"rockit {' '.join(map(str, args))}: status {done.returncode}: {done.stderr.strip()}")
    return done


def queries():
    """The SQL of the page by the word in its first line."""
    blocks = re.findall(r"```sql\n-- ([^\n]*)\n(.*?)```", PAGE.read_text(), re.S)
    return {name: text.strip().rstrip(";") for name, text in blocks}


def make_job(job):
    """Ranks of different length; rank 2 has no counters, rank 4 is a database that names its node."""
    for rank in range(RANKS):
        place = job / f"rank-{rank:05}"
        place.mkdir(parents=True)
        rows = str(2000 + 700 * rank)
        if rank == 4:
            subprocess.run([GEN, "--rows", rows, "--seed", str(rank), "--rocpd",
                            place / "4_results.db"], check=True)
        else:
            subprocess.run([GEN, "--rows", rows, "--seed", str(rank), "--dir", place], check=True)
        if rank == 2:
            for file in place.rglob("*counter_collection.csv"):
                file.unlink()


def numbers(rows):
    """Engines differ in how wide a sum is, and in what they call it."""
    return [tuple(round(float(v), 9) if isinstance(v, float) else
                  v if v is None or isinstance(v, str) else int(v) for v in row) for row in rows]


def shaped(name, rows):
    """Of the collectives of a job, how often each rank is the straggler of each kernel."""
    rows = numbers(rows)
    if name != BY_COLLECTIVE:
        return rows
    count = collections.defaultdict(collections.Counter)
    for kernel, _, rank, ranks, _ in rows:
        count[kernel][rank] += 1
        check(ranks == RANKS, f"{kernel}: {ranks} ranks in a collective")
    return sorted((sum(c.values()), c.most_common(1)[0][0]) for c in count.values())


def expected(job):
    """The same answers from the report by rank and from the rows as text."""
    report = json.loads(rockit("report", job, "--format", "json", "--top", 0, "-q").stdout)
    ranks = json.loads(rockit("report", job, "--by", "rank", "--format", "json", "--top", 0,
                              "-q").stdout)
    text = rockit("convert", job, "-f", "jsonl", "-o", "-", "-q").stdout
    rows = [json.loads(line) for line in text.splitlines()]
    by_rank = collections.defaultdict(lambda: [0, 0, 0, 0])
    by_kernel = collections.defaultdict(dict)
    for k in ranks["kernels"]:
        nccl = k["name"].startswith("nccl")
        sums = by_rank[k["rank"]]
        sums[0] += k["calls"]
        sums[1] += k["total_ns"]
        sums[2 if nccl else 3] += k["total_ns"]
        by_kernel[k["name"]][k["rank"]] = k["total_ns"]
    spans = {r: (min(k["start_ns"] for k in rows if k["rank"] == r),
                 max(k["start_ns"] + k["duration_ns"] for k in rows if k["rank"] == r))
             for r in by_rank}
    top = sorted((k for k in report["kernels"] if not k["barrier"]),
                 key=lambda k: (-k["total_ns"], k["name"]))
    uneven = sorted(by_kernel.items(), key=lambda kv: (-sum(kv[1].values()), kv[0]))
    return report, {
        "top kernels": [(k["name"], k["calls"], k["total_ns"], k["min_ns"], k["max_ns"])
                        for k in top[:10]],
        "time by rank": [(r, by_rank[r][0], by_rank[r][1], spans[r][1] - spans[r][0])
                         for r in sorted(by_rank)],
        "imbalance": [(name, len(v), sum(v.values()), max(v.values()),
                       round(max(v.values()) / (sum(v.values()) / len(v)), 9))
                      for name, v in uneven[:10]],
        "stragglers": sorted(((r, v[2], v[3]) for r, v in by_rank.items()),
                             key=lambda row: (row[1], row[0])),
        "straggler of each collective": stragglers(rows),
    }


def stragglers(rows):
    calls = collections.defaultdict(list)
    seen = collections.Counter()
    for k in sorted(rows, key=lambda k: (k["start_ns"], k["dispatch_id"])):
        if k["kernel_name"].startswith("nccl"):
            seen[k["rank"], k["kernel_name"]] += 1
            calls[k["kernel_name"], seen[k["rank"], k["kernel_name"]]].append(
                (k["duration_ns"], k["rank"]))
    found = [(name, nth, min(v)[1], len(v), max(v)[0] - min(v)[0])
             for (name, nth), v in calls.items() if len(v) > 1]
    return sorted(found, key=lambda row: (-row[4], row[0], row[1]))[:20]


def ask_duckdb(sql, folder, want):
    db = duckdb.connect()
    db.execute(sql["duckdb: view"].replace("'set/", f"'{folder}/"))
    for name, rows in want.items():
        same(f"duckdb: {name}", shaped(name, db.execute(sql[name]).fetchall()), rows)
    db.close()


def ask_spark(sql, folder, want):
    try:
        from pyspark.sql import SparkSession
    except ImportError as missing:
        print(f"# Spark was not asked: {missing}")
        return
    if not shutil.which("java"):
        print("# Spark was not asked: no java")
        return
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
             .config("spark.sql.shuffle.partitions", "2")
             .config("spark.driver.bindAddress", "127.0.0.1")
             .config("spark.driver.host", "127.0.0.1").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql(sql["spark: view"].replace("'set/", f"'{folder}/"))
    for name, rows in want.items():
        got = [tuple(row) for row in spark.sql(sql[name]).collect()]
        same(f"spark: {name}", shaped(name, got), rows)
    spark.stop()
    print("# Spark was asked")


def ask_polars(folder, want):
    frame = polars.scan_parquet(folder / "kernels", hive_partitioning=True)
    c = polars.col
    top = (frame.filter(c("barrier").is_null() | ~c("barrier")).group_by("kernel_name")
           .agg(polars.len().alias("calls"), c("duration_ns").sum().alias("total_ns"),
                c("duration_ns").min().alias("min_ns"), c("duration_ns").max().alias("max_ns"))
           .sort(["total_ns", "kernel_name"], descending=[True, False]).head(10).collect())
    same("polars: top kernels", numbers(top.rows()), want["top kernels"])
    nccl = c("kernel_name").str.starts_with("nccl")
    late = (frame.group_by("rank")
            .agg(c("duration_ns").filter(nccl).sum().alias("collective_ns"),
                 c("duration_ns").filter(~nccl).sum().alias("compute_ns"))
            .sort("collective_ns", "rank").collect())
    same("polars: stragglers", numbers(late.rows()), want["stragglers"])


def open_pyarrow(folder, table="kernels"):
    schema = pyarrow.schema([("node", pyarrow.string()), ("rank", pyarrow.int32())])
    return pyarrow.dataset.dataset(
        folder / table, partitioning=pyarrow.dataset.partitioning(schema, flavor="hive"))


def ask_pyarrow(folder, want):
    table = open_pyarrow(folder).to_table(columns=["kernel_name", "duration_ns", "rank"])
    top = table.group_by("kernel_name").aggregate(
        [("duration_ns", "count"), ("duration_ns", "sum"), ("duration_ns", "min"),
         ("duration_ns", "max")]).to_pylist()
    rows = [tuple(row[k] for k in ("kernel_name", "duration_ns_count", "duration_ns_sum",
                                   "duration_ns_min", "duration_ns_max")) for row in top]
    rows.sort(key=lambda row: (-row[2], row[0]))
    same("pyarrow: top kernels", rows[:10], want["top kernels"])
    sums = collections.defaultdict(lambda: [0, 0])
    for row in table.to_pylist():
        sums[row["rank"]][not row["kernel_name"].startswith("nccl")] += row["duration_ns"]
    late = sorted(((r, *v) for r, v in sums.items()), key=lambda row: (row[1], row[0]))
    same("pyarrow: stragglers", late, want["stragglers"])


def check_files(folder, report):
    """One schema per table, no column of a folder, rows as in the report, the note as well."""
    note = json.loads((folder / "_rockit" / "part-1-of-1.json").read_text())
    same("state", note["state"], "done")
    same("ranks", note["ranks"], list(range(RANKS)))
    tables = {t: n for t, n in report["tables"].items() if n}
    same("rows in the note", {t: v["rows"] for t, v in note["tables"].items()}, tables)
    for table, rows in tables.items():
        schemas = {str(pyarrow.parquet.read_schema(f).remove_metadata())
                   for f in (folder / table).rglob("*.parquet")}
        check(len(schemas) == 1, f"{table}: {len(schemas)} schemas")
        check(not re.search(r"^(node|rank):", schemas.pop(), re.M), f"{table}: node or rank inside")
        same(f"{table}: rows", open_pyarrow(folder, table).count_rows(), rows)


def files_below(folder):
    return sorted(p.relative_to(folder) for p in folder.rglob("*.parquet"))


def check_shards(job, folder, temp):
    """Four shards at the same time, and again, are the files of one run."""
    other = temp / "shards"
    for _ in range(2):
        running = [subprocess.Popen([ROCKIT, "convert", job, "-o", other, "--dataset", "--shard",
                                     f"{i}/4", "-q"]) for i in (3, 1, 4, 2)]
        check(all(p.wait() == 0 for p in running), "a shard failed")
    same("files of shards", files_below(other), files_below(folder))
    for file in files_below(folder):
        check(filecmp.cmp(folder / file, other / file, shallow=False), f"{file} differs")
    notes = [json.loads(p.read_text()) for p in (other / "_rockit").iterdir()]
    same("ranks of shards", sorted(r for n in notes for r in n["ranks"]), list(range(RANKS)))


def check_columns(job, folder, temp):
    """Ranks that are a column of one file, their rows mixed, become the same files."""
    rockit("convert", job, "-o", temp / "all.parquet", "-q")
    rockit("convert", temp / "all.parquet", "-o", temp / "columns", "--dataset", "-q")
    files = files_below(temp / "columns")
    same("files of one file", files,
         [f for f in files_below(folder) if f.parts[0] == "kernels"])
    for file in files:
        one, two = (pyarrow.parquet.read_table(d / file) for d in (folder, temp / "columns"))
        check(one.equals(two), f"{file} differs when rank is a column")


def check_again(folder, want_report):
    """rockit reads its data set back, nodes included."""
    report = json.loads(rockit("report", folder, "--format", "json", "--top", 0, "-q").stdout)
    for key in ("kernel_rows", "sum_duration_ns", "tables", "kernels"):
        same(f"read back: {key}", report[key], want_report[key])
    text = rockit("convert", folder, "-f", "jsonl", "-o", "-", "-q").stdout
    nodes = {(row["rank"], row["node"]) for row in map(json.loads, text.splitlines())}
    same("ranks read back", {r for r, _ in nodes}, set(range(RANKS)))
    check(any(node for rank, node in nodes if rank == 4), "no node of rank 4")


def check_fused(sql, temp):
    """A job whose rank 4 is late: engines name the stragglers of the report, which has its clocks related."""
    job, folder = temp / "late", temp / "late-set"
    subprocess.run([os.path.join(os.path.dirname(ROCKIT), "gen-ranks"), "-o", job, "--ranks", str(RANKS),
                    "--nodes", "2", "--kernels", "3000", "--collectives", "200", "--slow", "4",
                    "--slow-ns", "300000", "--overlap", "0"], check=True)
    rockit("convert", job, "-o", folder, "--dataset", "-q")
    said = json.loads(rockit("report", job, "--ranks", "--format", "json", "-q").stdout)["ranks"]
    _, want = expected(job)
    ranks = said["ranks"]
    want = {
        "top kernels": want["top kernels"],
        "time by rank": [(r["rank"], r["kernels"], r["kernel_ns"], r["last_ns"] - r["first_ns"])
                         for r in ranks],
        "stragglers": sorted(((r["rank"], r["comm_ns"], r["compute_ns"]) for r in ranks),
                             key=lambda row: (row[1], row[0])),
        BY_COLLECTIVE: sorted((c["calls"], c["straggler"]) for c in said["collectives"]),
    }
    same("straggler", {c["straggler"] for c in said["collectives"]}, {4})
    same("the first of those that are waited for", want["stragglers"][0][0], 4)
    sql = {**sql, BY_COLLECTIVE: sql["straggler of each collective"].rsplit("LIMIT", 1)[0]}
    ask_duckdb(sql, folder, want)
    if os.environ.get("ROCKIT_TEST_FULL"):
        ask_spark(sql, folder, want)


def main():
    with tempfile.TemporaryDirectory() as name:
        temp = pathlib.Path(name)
        job, folder = temp / "job", temp / "set"
        make_job(job)
        rockit("convert", job, "-o", folder, "--dataset", "-q")
        report, want = expected(job)
        check(len(want["straggler of each collective"]) == 20, "too few collectives to compare")
        sql = queries()
        same("queries of the page", set(sql) - {"duckdb: view", "spark: view"}, set(want))
        check_files(folder, report)
        ask_duckdb(sql, folder, want)
        ask_polars(folder, want)
        ask_pyarrow(folder, want)
        ask_spark(sql, folder, want)
        check_shards(job, folder, temp)
        check_columns(job, folder, temp)
        check_again(folder, report)
        check_fused(sql, temp)
    print("failed" if failures else "ok: engines and report agree")
    return 1 if failures else 0


sys.exit(main())
