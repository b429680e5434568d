"""metrics.py - `rockit metrics` beside pandas on the same table, and on recorded directories."""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent.parent / "data/metrics"
# rocprof-compute analyze on three dispatches: user seconds of its fastest recorded case
ANALYZE_SECONDS = 5.9


def cpu(argv):
    """CPU seconds and peak MB of a command, and what it printed."""
    child = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise RuntimeError(f"{argv[0]} ended with {os.waitstatus_to_exitcode(status)}")
    child.returncode = 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out


def ours(rockit, path):
    return cpu([rockit, "metrics", path, "--arch", "MI300X", "--threads", 1, "-q", "--format",
                "json"])


def compare(bench, report, peer):
    """Cells that differ by more than 1e-9."""
    found = {m["id"]: m for m in report["metrics"]}
    wrong = 0
    for metric, values in peer["metrics"].items():
        mine = found.get(metric)
        for key, value in zip(("avg", "min", "max"), values):
            if not mine or abs(mine[key] - value) > 1e-9 * max(abs(value), abs(mine[key])):
                wrong += 1
    if wrong:
        bench.wrong.append(f"metrics: {wrong} cells differ from pandas")
    return len(peer["metrics"]) * 3


def table(bench, rows):
    path = bench.work / f"counters-{rows}.parquet"
    if not path.exists():
        print(f"making {path.name}", file=sys.stderr)
        subprocess.run([str(bench.build / "gen-counters"), str(rows), str(path)], check=True)
    return path


def against_pandas(bench, rows):
    path = table(bench, rows)
    best, peak, peers = None, 0, []
    for _ in range(bench.rounds):
        seconds, rss, out = ours(bench.build / "rockit", path)
        best, peak = min(best or seconds, seconds), max(peak, rss)
        peer = subprocess.run([sys.executable, HERE / "metrics_peer.py", path, DATA],
                              capture_output=True, text=True)
        if peer.returncode:
            raise RuntimeError(f"pandas: {peer.stderr.strip().splitlines()[-1]}")
        peers.append(json.loads(peer.stdout))
    pandas = min(p["seconds"] for p in peers)
    cells = compare(bench, json.loads(out), peers[0])
    print(f"metrics: {rows:,} dispatches, 40 counters, one core, {cells} cells compared")
    print(f"  rockit {best:7.2f} s CPU {rows / best / 1e6:6.2f} M dispatches/s, peak {peak:.0f} MB")
    print(f"  pandas {pandas:7.2f} s CPU {rows / pandas / 1e6:6.2f} M dispatches/s")
    bench.bar(f"metrics from Parquet: {rows / best / 1e6:.2f} M dispatches/s per core >= 1",
              rows / best >= 1e6)
    bench.bar(f"metrics from Parquet: {pandas / best:.1f}x pandas, peak {peak:.0f} MB < 64",
              peak < 64)


def recorded(bench):
    root = os.environ.get("ROCKIT_RECORDED_DATA")
    if not root:
        return
    for path in sorted(pathlib.Path(root, "rocprof_compute").glob("MI*/*")):
        if not list(path.glob("pmc_perf.csv*")):
            continue
        best = min(cpu([bench.build / "rockit", "metrics", path, "-q"])[0]
                   for _ in range(bench.rounds))
        name = f"{path.parent.name}/{path.name}"
        print(f"  {name:36s} {1e3 * best:7.1f} ms CPU")
        bench.bar(f"metrics of {name}: {ANALYZE_SECONDS / best:.0f}x rocprof-compute's "
                  f"{ANALYZE_SECONDS} s >= 100x", ANALYZE_SECONDS / best >= 100)


def run(bench, full):
    against_pandas(bench, 10_000_000 if full else 1_000_000)
    recorded(bench)
    print(flush=True)
