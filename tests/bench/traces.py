"""traces.py - a run as Perfetto and Chrome traces: slices a second, bytes a slice, memory.

From Parquet, one thread, the whole process. Beside them stands the CSV writer, all tables of the
same run: there is no other program that makes these files from such tables.
"""
import re
import shutil
import subprocess
import zlib

BARS = {"rate": 1e6, "bytes": 100, "gzipped": 24, "memory": 64}


def tables(bench, name, source):
    """The run as Parquet, which is the cheapest to read."""
    folder = bench.work / name
    if not folder.exists():
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        subprocess.run([bench.build / "rockit", "convert", source, "-q", "-o", f"{part}/"], check=True)
        part.rename(folder)
    return folder


def gzipped(path):
    """Bytes after gzip -6, a block at a time."""
    pack, size = zlib.compressobj(6, zlib.DEFLATED, 31), 0
    with open(path, "rb") as trace:
        while block := trace.read(1 << 20):
            size += len(pack.compress(block))
    return size + len(pack.flush())


def slices(bench, source):
    run = subprocess.run([bench.build / "rockit", "convert", source, "-v", "-o", "/dev/null", "-f", "perfetto"],
                         check=True, capture_output=True, text=True)
    return int(re.search(r"wrote (\d+) rows", run.stderr).group(1))


def measure(bench, title, source, rounds):
    """One line for each writer; the bars are those of the Perfetto trace."""
    count = slices(bench, source)
    outs = {"csv": f"{bench.work}/traces-csv/", "chrome": bench.work / "trace.json",
            "perfetto": bench.work / "trace.pftrace"}
    for _ in range(rounds):
        for form, out in outs.items():
            bench.rockit(f"{title} {form}", 1, "convert", source, "-f", form, "-q", "-o", out)
    print(f"{title}: {count} slices, one thread")
    for form in outs:
        seconds = bench.times[(f"{title} {form}", 1)]
        ratio = bench.times[(f"{title} csv", 1)] / seconds
        print(f"  {form:10s} {seconds:8.3f} s  {count / seconds / 1e6:6.2f} million/s  {ratio:5.2f}x csv"
              f"  peak {bench.rss[(f'{title} {form}', 1)]:.1f} MB")
    judge(bench, title, count, outs["perfetto"])


def judge(bench, title, count, trace):
    rate = count / bench.times[(f"{title} perfetto", 1)]
    each, packed = trace.stat().st_size / count, gzipped(trace) / count
    memory = bench.rss[(f"{title} perfetto", 1)]
    print(f"  {each:.1f} bytes a slice, {packed:.1f} gzipped\n")
    bench.bar(f"{title}: {rate / 1e6:.2f} million slices/s >= 1", rate >= BARS["rate"])
    bench.bar(f"{title}: {each:.1f} bytes a slice <= 100", each <= BARS["bytes"])
    bench.bar(f"{title}: {packed:.1f} bytes a slice gzipped <= 24", packed <= BARS["gzipped"])
    bench.bar(f"{title}: peak memory {memory:.1f} MB <= 64", memory <= BARS["memory"])


def run(bench, full):
    rows = bench.rows // 2
    with_calls = bench.input(f"rocpd-api-{rows}.db", "--rows", rows, "--seed", 1, "--api", "--rocpd")
    measure(bench, "trace with calls", tables(bench, f"trace-api-{rows}", with_calls), bench.rounds)
    rows = 10_000_000 if full else rows
    kernels = bench.csv(rows)
    measure(bench, "trace of kernels", tables(bench, f"trace-{rows}", kernels), 1 if full else bench.rounds)
