#!/usr/bin/env python3
"""Perfetto's own trace_processor reads what rockit writes, and finds what DuckDB finds in the Parquet.

Needs node, trace_processor in build/trace-processor (tools/setup.sh test) and duckdb; exits 77
(skipped) where one is missing. ROCKIT_RECORDED_DATA, where it is set, adds recorded output.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

SOURCE = pathlib.Path(os.environ.get("ROCKIT_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
ENGINE = SOURCE / "build" / "trace-processor"
ROCKIT = os.environ["ROCKIT"]
GEN_TRACE = os.environ.get("GEN_TRACE") or pathlib.Path(ROCKIT).parent / "gen-trace"
CATEGORIES = {"kernels": "kernel_dispatch", "memcpy": "memory_copy", "memalloc": "memory_allocation",
              "markers": "marker_api", "api": None}
ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
SUMS = "select category, count(*), sum(dur), min(ts), max(ts + dur) from slice group by 1"
failures = 0


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def check(ok, what):
    global failures
    if not ok:
        failures += 1
        print(f"FAIL {what}")


def same(got, want, what):
    check(got == want, f"{what}: {str(got)[:300]}, not {str(want)[:300]}")


def rockit(*args):
    run = subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True)
    check(run.returncode == 0, f"rockit {args}: {run.stderr.strip()}")
    return run.stderr


def ask(jobs):
    """[(trace, [sql...])] -> [[rows...]], one process for all."""
    text = json.dumps([{"trace": str(t), "sql": [ERRORS, *sql]} for t, sql in jobs])
    run = subprocess.run(["node", SOURCE / "tests/readers/trace_processor.mjs", ENGINE], input=text,
                         capture_output=True, text=True)
    if run.returncode != 0:
        print(f"FAIL trace_processor: {run.stderr}")
        sys.exit(1)
    answers = []
    for (trace, _), answer in zip(jobs, json.loads(run.stdout)):
        same(answer["error"], None, f"{trace} is loaded")
        for result in answer["results"]:
            same(result["error"], None, f"{trace}: query")
        results = [r["rows"] for r in answer["results"]] or [[]]
        same(results[0], [], f"{trace} has no errors")
        answers.append(results[1:])
    return answers


class Parquet:
    """The tables of a run as rockit writes them, read by DuckDB."""

    def __init__(self, source, folder):
        rockit("convert", source, "-o", f"{folder}/", "-q")
        self.folder = folder

    def rows(self, table, select):
        name = "rocprof_kernels" if table == "kernels" else table
        path = self.folder / f"{name}.parquet"
        return duckdb.sql(f"from '{path}' select {select}").fetchall() if path.exists() else []

    def sums(self):
        """By category, as SUMS gives it; rows without a time are in no trace."""
        out = {}
        for table, category in CATEGORIES.items():
            key = f"'{category}'" if category else "lower(domain)"
            for row in self.rows(table, self.sum_select(key)):
                out[row[0]] = list(row)
        return sorted(out.values())

    @staticmethod
    def sum_select(key):
        return f"any_value({key}), count(start_ns), sum(greatest(coalesce(duration_ns, 0), 0))::bigint, " \
               "min(start_ns), max(start_ns + greatest(coalesce(duration_ns, 0), 0))"


def arg(name):
    return f"extract_arg(arg_set_id, 'debug.{name}')"


# ---- a whole run ----

def whole_run(work):
    run = work / "run"
    subprocess.run([GEN_TRACE, "--rows", "4000", "--seed", "3", "--dir", run], check=True)
    (run / "gpu_info_power_profiler_output.csv").write_text(
        "timestamp_ns,time,Power(Watt) GPU0,Power(Watt) GPU1\n"
        "1392205578813553,2026-11-15T03:51:06Z,151.5,N/A\n"
        "1392205579813553,2026-11-15T03:51:07Z,152,140\n")
    for name in "run.pftrace", "run.json":
        rockit("convert", run, "-o", work / name, "-q")
    parquet = Parquet(run, work / "tables")
    kernels = f"""select s.name, ts, dur, {arg('dispatch_id')}, {arg('correlation_id')}, {arg('device')},
        {arg('queue')}, {arg('grid')}, {arg('block')}, {arg('regs')}, coalesce({arg('shared_mem')}, 0),
        t.name from slice s join track t on s.track_id = t.id where category = 'kernel_dispatch'"""
    flows = f"""select a.category, count(*), sum({arg('correlation_id').replace('arg_set_id', 'a.arg_set_id')}
        = {arg('correlation_id').replace('arg_set_id', 'b.arg_set_id')}) from flow f
        join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id group by 1"""
    curves = """select t.name, t.unit, count(*), min(value), max(value) from counter c
        join counter_track t on c.track_id = t.id group by 1, 2 order by 1, 2"""
    crossing = """select count(*) from slice a join slice b on a.track_id = b.track_id and a.id < b.id
        and a.category = 'kernel_dispatch' and b.ts < a.ts + a.dur and b.ts + b.dur > a.ts"""
    depth = "select max(depth) from slice where category in ('kernel_dispatch', 'memory_copy')"
    places = """select p.pid, t.name from process_track t join process p using (upid)
        where t.name like 'GPU%' and t.parent_id is null order by 2"""
    got, chrome = ask([(work / "run.pftrace", [SUMS, kernels, flows, curves, crossing, depth, places]),
                       (work / "run.json", [SUMS, "select count(*) from flow"])])
    whole_sums(parquet, got[0], chrome[0])
    same(sorted(map(tuple, got[1])), sorted(parquet.rows("kernels", """kernel_name, start_ns, duration_ns,
        dispatch_id, correlation_id, device_id, queue_id, concat_ws(',', grid_x, grid_y, grid_z),
        concat_ws(',', block_x, block_y, block_z), regs, shared_mem, 'queue ' || queue_id""")),
         "kernels, their arguments and tracks")
    whole_flows(parquet, got[2], chrome[1])
    whole_curves(parquet, got[3])
    same(got[4], [[0]], "kernels that cross on a track")
    same(got[5], [[0]], "depth of kernels and copies")
    same([row[0] for row in got[6]], [1955595] * len(got[6]), "devices are below their process")
    check(sum("MI300X" in row[1] for row in got[6]) == 2, f"devices have names: {got[6]}")


def whole_sums(parquet, perfetto, chrome):
    want = parquet.sums()
    same(sorted(perfetto), want, "rows, durations and times of each table")
    names = {"kernel": "kernel_dispatch", "gpu_memcpy": "memory_copy", "user_annotation": "marker_api",
             "memory_allocation": "memory_allocation"}
    same(sorted([names.get(r[0], r[0].lower()), *r[1:]] for r in chrome), want, "the same of Chrome's events")


def whole_flows(parquet, perfetto, chrome):
    calls = {row[0] for row in parquet.rows("api", "correlation_id")}
    caused = [row[0] for table in ("kernels", "memcpy") for row in parquet.rows(table, "correlation_id")]
    want = sum(c in calls for c in caused)
    check(want > 1000, "calls that caused something")
    same([r[1:] for r in perfetto], [[want, want]], "arrows from calls to what they caused")
    same(chrome, [[want]], "arrows of Chrome's events")


def whole_curves(parquet, curves):
    by_name = {}
    for name, unit, n, low, high in curves:
        by_name.setdefault(name, []).append((unit, n, low, high))
    check("power_w" in by_name and {c[0] for c in by_name["power_w"]} == {"W"}, f"power: {curves}")
    same(sum(c[1] for c in by_name.get("power_w", [])), 3, "samples of power")
    check(by_name.get("allocated", [("",)])[0][0] in ("bytes", "B"), f"allocated: {by_name.get('allocated')}")
    counters = parquet.rows("counters", "distinct counter")
    check(counters and all(name in by_name for (name,) in counters), f"counters: {sorted(by_name)}")


# ---- compressed packets, which rockit reads and does not write ----

def varint(data, at):
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def as_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def bundle(data):
    """Packets as one packet with them in its field 50."""
    packed = zlib.compress(data)
    content = as_varint(50 << 3 | 2) + as_varint(len(packed)) + packed
    return b"\x0a" + as_varint(len(content)) + content


def bundles(work):
    plain, at, ends = (work / "run.pftrace").read_bytes(), 0, []
    while at < len(plain):
        size, at = varint(plain, at + 1)
        at += size
        ends.append(at)
    cuts = [0, *ends[100::1000], len(plain)]
    (work / "packed.pftrace").write_bytes(
        plain[:cuts[1]] + b"".join(bundle(plain[a:b]) for a, b in zip(cuts[1:], cuts[2:])))
    want, got = ask([(work / "run.pftrace", [SUMS]), (work / "packed.pftrace", [SUMS])])
    same(got, want, "compressed packets for trace_processor")
    same(Parquet(work / "packed.pftrace", work / "packed").sums(), sorted(want[0]), "compressed packets for rockit")


# ---- PyTorch's traces: events of a GPU do not say whose they are ----

def torch_events():
    for i in range(1, 41):  # before their calls, as Kineto may write them
        args = {"device": 0, "stream": 7, "correlation": i}
        yield {"cat": "kernel" if i % 4 else "gpu_memcpy", "name": f"k{i}", "pid": 0, "tid": 7,
               "ts": 1000 + 10 * i, "dur": 5, "args": args}
    for i in range(11, 61):
        yield {"cat": "cuda_runtime", "name": "launch", "pid": 4711, "tid": 4712, "ts": 5 * i, "dur": 2,
               "args": {"correlation": i}}


def torch_flows(work):
    path = work / "torch.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [{"ph": "X", **e} for e in torch_events()]}))
    rockit("convert", path, "-o", work / "torch.pftrace", "-q")
    rockit("convert", path, "-o", work / "torch-out.json", "-q")
    Parquet(path, work / "torch")
    joined = sum(duckdb.sql(f"from '{work}/torch/{table}.parquet' join '{work}/torch/api.parquet' "
                            "using (pid, correlation_id) select count(*)").fetchall()[0][0]
                 for table in ("rocprof_kernels", "memcpy"))
    same(joined, 30, "kernels and copies with the call that caused them")
    flows = "select count(*) from flow"
    got = ask([(work / "torch.pftrace", [flows]), (work / "torch-out.json", [flows])])
    same(got, [[[[30]]], [[[30]]]], "arrows in what PyTorch recorded")


# ---- several ranks ----

def ranks(work):
    job = work / "job"
    job.mkdir()
    for rank in range(3):
        subprocess.run([GEN_TRACE, "--rows", "500", "--seed", str(rank), "--dir", job / f"rank-{rank:05}"],
                       check=True)
    rockit("convert", job, "-o", work / "job.tar", "-q")
    rockit("convert", job, "-o", work / "job.pftrace", "-q")
    want = Parquet(job, work / "job-tables").sums()
    names = "select name from process where name is not null order by 1"
    for trace, (sums, processes) in zip(("job.tar", "job.pftrace"),
                                        ask([(work / t, [SUMS, names]) for t in ("job.tar", "job.pftrace")])):
        same(sorted(sums), want, f"{trace}: rows of all ranks")
        same([p[0] for p in processes], [f"rank {r} process 1955595" for r in range(3)], f"{trace}: processes")


# ---- names and times that nobody would write ----

HEADER = ('"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name",'
          '"Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count",'
          '"Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",'
          '"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n')
DAY = 86_400_000_000_000


def kernel(i, name, start, end, queue=1):
    name = name.replace('"', '""')
    return f'"KERNEL_DISPATCH","Agent 4",{queue},0,77,{i},7,"{name}",{i},{start},{end},0,0,8,0,16,64,1,1,64,1,1\n'


def odd_rows():
    yield "n" * 10_000, 10**15, 10**15 + 5, 1
    yield "\u202eright to left <script>alert(1)</script> \"quoted\" \x01\x1b[31m", 10**15 + 10, 10**15 + 20, 1
    yield "zero", 10**15 + 30, 10**15 + 30, 1
    for i in range(300):  # all at one time: more than there are lanes
        yield "together", 10**15 + 40, 10**15 + 50 + i, 2
    yield "negative", 10**15 + 60, 10**15 + 55, 1
    yield "days later", 10**15 + 30 * DAY, 10**15 + 30 * DAY + 1, 1
    for i in range(3000):
        yield "own stream", 10**15 + 31 * DAY + i, 10**15 + 31 * DAY + i + 10, 100 + i


def odd(work):
    rows = list(odd_rows())
    path = work / "77_kernel_trace.csv"
    path.write_text(HEADER + "".join(kernel(i + 1, n, s, e, q) for i, (n, s, e, q) in enumerate(rows)))
    said = rockit("convert", path, "-o", work / "odd.pftrace")
    check("shown as an instant (44 times)" in said, f"slices without a lane are reported: {said}")
    times = f"""select name, coalesce({arg('begin_ns')}, ts),
        coalesce({arg('end_ns')}, ts + dur) from slice"""
    empty = work / "78_kernel_trace.csv"
    empty.write_text(HEADER)
    rockit("convert", empty, "-o", work / "empty.pftrace")
    got, none = ask([(work / "odd.pftrace", [times]), (work / "empty.pftrace", [SUMS])])
    want = sorted((n, s, e) for n, s, e, _ in rows)
    clean = [(n.replace("\x01", "").replace("\x1b", ""), s, e) for n, s, e in want]
    found = [(n.replace("\x01", "").replace("\x1b", ""), s, e) for n, s, e in sorted(map(tuple, got[0]))]
    same(sorted(found), sorted(clean), "odd names and times")
    same(none, [[]], "an empty trace")


# ---- recorded output ----

def recorded(work, folder):
    expected = json.loads((folder / "EXPECTED.json").read_text())
    files = [name for name in sorted(expected) if name.startswith(("rocprofv3_csv/", "rocpd/", "kineto/"))
             and "kernel_rows" in expected[name]]
    if not os.environ.get("ROCKIT_TEST_FULL"):
        files = [f for kind in ("rocprofv3_csv/", "rocpd/", "kineto/")
                 for f in [f for f in files if f.startswith(kind)][:3]]
    jobs, wants = [], []
    for i, name in enumerate(files):
        path = folder / name if (folder / name).exists() else folder / f"{name}.gz"
        trace = work / f"recorded-{i}.pftrace"
        rockit("convert", path, "-o", trace, "-q")
        tables = Parquet(path, work / f"recorded-{i}")
        wants.append((name, tables.rows("kernels", "count(start_ns), coalesce(sum(greatest(duration_ns, 0)), 0)::bigint"
                                        )))
        jobs.append((trace, ["select count(*), coalesce(sum(dur), 0) from slice "
                             "where category = 'kernel_dispatch'"]))
    for (name, want), got in zip(wants, ask(jobs) if jobs else []):
        same([tuple(r) for r in got[0]], want or [(0, 0)], name)
    print(f"{len(files)} recorded files")


def main():
    if not shutil.which("node"):
        skip("no node")
    if not (ENGINE / "trace_processor.wasm").exists():
        skip("no trace_processor in build/trace-processor; tools/setup.sh test puts it there")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        whole_run(work)
        bundles(work)
        torch_flows(work)
        ranks(work)
        odd(work)
        data = os.environ.get("ROCKIT_RECORDED_DATA")
        if data:
            recorded(work, pathlib.Path(data))
    print("failed" if failures else "passed")
    return failures != 0


if __name__ == "__main__":
    try:
        import duckdb
    except ImportError as missing:
        skip(missing)
    sys.exit(main())
