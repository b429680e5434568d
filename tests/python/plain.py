#!/usr/bin/env python3
"""rockit in a Python that has nothing else: runs, tables, errors, and what would crash others."""

import copy
import gc
import os
import pickle
import re
import subprocess
import sys
import threading
import time

import rockit
from libpy import COLUMNS, SOURCE, database, main, raises, said, script, test, trace, traces, written
from rockit import _arrow, _native


@test
def no_other_package_is_here(_):
    done = script("""
        import rockit, sys
        for name in ("pandas", "numpy", "pyarrow", "polars"):
            try:
                __import__(name)
            except ImportError:
                continue
            sys.exit(name)
    """)
    assert done.returncode == 0, done.stderr


def cpu_ms(code):
    """CPU time of a piece of code in a new Python, the least of ten: others may be at work here."""
    text = f"import rockit, sys, time; start = time.process_time(); {code}; print(1000 * (time.process_time() - start))"
    if code == "import rockit":
        text = text.replace("import rockit, ", "import ", 1)
    return min(said(script(text)) for _ in range(10))


@test
def the_import_takes_less_than_30_ms(_):
    best = cpu_ms("import rockit")
    assert best < 30, f"{best} ms"


@test
def the_library_is_loaded_by_the_first_call(_):
    assert said(script("import rockit, sys; print(int('ctypes' in sys.modules))")) == 0
    best = cpu_ms("rockit.version()")
    assert best < 200, f"{best} ms"


@test
def every_name_that_is_promised_is_there(_):
    for name in rockit.__all__:
        assert getattr(rockit, name) is not None
    assert set(rockit.__all__) <= set(dir(rockit))
    assert raises(AttributeError, lambda: rockit.nothing)
    header = (SOURCE / "include/rockit/rockit.h").read_text()
    assert f'#define ROCKIT_VERSION "{rockit.__version__}"' in header
    assert rockit.version() == rockit.__version__


@test
def structs_are_laid_out_as_the_compiler_does_it(folder):
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += [f'#include "rockit/{p.name}"' for p in sorted((SOURCE / "include/rockit").glob("*.h"))]
    lines += ["int main(void) {"]
    want = []
    structs = _native.Struct.__subclasses__() + [_arrow.ArrowSchema, _arrow.ArrowArray, _arrow.ArrowStream]
    for struct in structs:
        name = struct.__name__.replace("ArrowStream", "ArrowArrayStream")
        if not name.startswith("Arrow"):
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        c = f"struct {name}"
        lines.append(f'printf("%zu\\n", sizeof({c}));')
        want.append((c, _native.C.sizeof(struct)))
        for member, *_ in struct._fields_:
            field = getattr(struct, member)
            lines.append(f'printf("%zu %zu\\n", offsetof({c}, {member}), sizeof((({c} *)0)->{member}));')
            want.append((f"{c}.{member}", f"{field.offset} {field.size}"))
    lines += ["return 0; }"]
    (folder / "layout.c").write_text("\n".join(lines))
    cc = os.environ.get("ROCKIT_CC", "cc")
    subprocess.run([cc, f"-I{SOURCE}/include", "-o", folder / "layout", folder / "layout.c"], check=True)
    got = subprocess.run([folder / "layout"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(got) == len(want)
    for (what, ours), theirs in zip(want, got):
        assert str(ours) == theirs, f"{what}: {ours} here, {theirs} in C"


# ---- runs and tables ----

@test
def a_run_says_what_it_is_made_of(folder):
    traces(folder)
    with rockit.open(folder) as run:
        assert "kernels" in run.tables and "api" in run.tables, run.tables
        assert {f.format for f in run.files} == {"rocprofv3-csv"}
        assert any(f.used for f in run.files) and all(f.used or f.reason for f in run.files)
        assert run.warnings == []
        assert "Run" in repr(run) and str(folder) in repr(run)


@test
def values_are_those_that_convert_writes(folder):
    traces(folder)
    for source in (folder, database(folder.parent), trace(folder.parent)):
        with rockit.open(source) as run:
            for name in run.tables:
                want = written(source, folder.parent / "out.jsonl", name)
                table = run.table(name, sorted=True)
                columns = table.to_dict()
                assert len(table) == len(want), (source, name)
                for key in want[0] if want else ():
                    assert columns[key] == [row[key] for row in want], (source, name, key)
                assert list(table) == list(map(dict, (zip(columns, row) for row in zip(*columns.values()))))


@test
def the_twelve_columns_come_first_and_in_order(folder):
    with rockit.open(trace(folder)) as run:
        assert run["kernels"].columns[:12] == COLUMNS
        types = dict(run["kernels"].schema)
        assert types["kernel_name"] == "string" and types["start_ns"] == "int64" and types["regs"] == "int32"


@test
def columns_can_be_chosen(folder):
    with rockit.open(trace(folder)) as run:
        some = run.table("kernels", ["duration_ns", "kernel_name"])
        assert some.columns == ["duration_ns", "kernel_name"]
        assert some.to_dict() == run["kernels"].select("duration_ns", "kernel_name").to_dict()
        why = raises(rockit.UsageError, run.table, "kernels", ["duration"])
        assert "duration" in str(why)
        raises(ValueError, run.table, "kernels", "duration_ns")
        assert "kernels" in str(raises(rockit.UsageError, run.table, "kernel"))
        raises(rockit.UsageError, run["kernels"].select, "durration_ns")
        assert len(run["kernels"].select()) == 1000 and run["kernels"].select().to_dict() == {}


@test
def a_run_is_asked_for_its_tables_as_a_mapping_is(folder):
    with rockit.open(traces(folder)) as run:
        assert list(run) == run.tables and "kernels" in run and "kernel" not in run and 0 not in run
        assert all(run[name].name == name for name in run)


@test
def a_run_has_no_copies(folder):
    with rockit.open(trace(folder)) as run:
        for use in (copy.copy, copy.deepcopy, pickle.dumps):
            assert "again" in str(raises(TypeError, use, run))
        raises(TypeError, pickle.dumps, run["kernels"])
        gc.collect()
        assert len(run["kernels"]) == 1000


@test
def a_table_that_the_run_does_not_have_is_empty(folder):
    with rockit.open(trace(folder)) as run:
        assert len(run["memcpy"]) == 0 and not run["memcpy"]
        assert list(run["memcpy"]) == []
        assert run["memcpy"].to_dict()["start_ns"] == []
        assert run["kernels"]


@test
def report_metrics_and_diff_are_plain_data(folder):
    a, b = trace(folder), trace(folder, 900, name="b.csv")
    report = rockit.report(a, top=3)
    assert report.kernel_rows == 1000 == report.tables["kernels"]
    assert sum(k.calls for k in report.kernels) == 1000
    assert report["schema"] == 1 and "and" in str(report)
    assert [k.total_ns for k in report.kernels] == sorted((k.total_ns for k in report.kernels), reverse=True)
    metrics = rockit.metrics(a, arch="gfx942")
    assert metrics.arch == "gfx942" and metrics.metrics["kernel_time_ns"].unit == "ns"
    assert metrics.kernels[0].calls == report.kernels[0].calls
    assert metrics.absent
    raises(rockit.UsageError, rockit.metrics, a, normal="per_hour")
    diff = rockit.diff(a, b, gate=5)
    assert diff.delta_ns == rockit.report(b).sum_duration_ns - report.sum_duration_ns
    assert diff.verdict == "within", diff.verdict
    with rockit.open(a) as run:
        assert rockit.diff([run, b], [a]).data["a"]["runs"] == 2
    raises(rockit.UsageError, rockit.diff, a, [])
    raises(rockit.UsageError, rockit.diff, a, b, gate=float("nan"))


@test
def every_property_of_a_document_is_in_it(folder):
    (folder / "1_pc_sampling_host_trap.csv").write_text(
        '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"\n'
        '1100,65535,1,"s_waitcnt vmcnt(0)","/src/gemm.cpp:12",1\n')
    with rockit.open(traces(folder)) as run:
        hot = run.hotspots()
        documents = run.report(), run.metrics(arch="gfx942"), hot, rockit.diff(run, run, gate=5), rockit.doctor()
    for one in documents:
        for name in dir(type(one)):
            getattr(one, name)
    assert hot["samples"] == 1 and len(hot.kernels) == 1, hot.data


@test
def conversions_write_whole_files(folder):
    source = trace(folder)
    out = folder / "k.parquet"
    assert rockit.convert(source, out) == 1000
    with rockit.open(out) as run, rockit.open(source) as other:
        assert run["kernels"].to_dict()["start_ns"] == other.table("kernels", sorted=True).to_dict()["start_ns"]
        run.html(folder / "page.html")
        raises(rockit.UsageError, run.convert, "-")
        raises(rockit.UsageError, run.html, "-")
        raises(rockit.UsageError, run.convert, out.with_suffix(".unknown"))
        raises(rockit.UsageError, other.convert, source)  # it would be lost
    assert (folder / "page.html").read_text().startswith("<!")


@test
def presets_counters_and_plans_need_nothing_installed(_):
    assert rockit.presets()["compute"]["counters"] == "compute_bound"
    assert list(rockit.presets("rocprofv3_memory")) == ["memory"]
    why = raises(rockit.UsageError, rockit.presets, "comput")
    assert "compute" in str(why)
    waves = rockit.counters("gfx942", "SQ_WAVES")
    assert waves[0].name == "SQ_WAVES" and waves[0].block == "SQ" and not waves[0].derived
    assert len(rockit.counters("gfx942")) > len(waves)
    assert rockit.counter_passes("gfx942", ["SQ_WAVES", "SQ_WAVES"]) == [["SQ_WAVES"]]
    assert len(rockit.counter_passes("gfx942", "compute_bound")) == 2
    plan = rockit.plan(["./app", "-x"], preset="compute", tool="rocprofv3", tool_version="6.4", arch="gfx942")
    assert plan.tool == "rocprofv3" and len(plan.passes) == 3
    assert plan.passes[0].argv[-2:] == ["./app", "-x"] and any("SQ_WAVES" in p.counters for p in plan.passes)
    assert isinstance(rockit.doctor().ready, bool) and rockit.doctor().checks
    assert isinstance(rockit.tools(), list)
    raises(rockit.UsageError, rockit.plan, "./app -x")
    raises(rockit.UsageError, rockit.plan, [])
    raises(rockit.UsageError, rockit.plan, ["./app"], timeout=-1)


# ---- what goes wrong ----

@test
def errors_say_file_and_place_and_are_known_kinds(folder):
    missing = raises(FileNotFoundError, rockit.open, folder / "no.csv")
    assert isinstance(missing, rockit.FileError) and missing.code == "io" and "no.csv" in str(missing)
    assert missing.errno == 2
    again = pickle.loads(pickle.dumps(missing))
    assert (again.errno, again.filename, again.path) == (2, missing.path, missing.path)
    nothing = raises(FileNotFoundError, rockit.RocprofWrapper(folder / "none").parse_results)
    assert nothing.errno == 2 and nothing.filename == str(folder / "none")
    broken = folder / "k.parquet"
    rockit.convert(trace(folder), broken)
    data = bytearray(broken.read_bytes())
    data[100:200] = bytes(100)
    broken.write_bytes(data)
    with rockit.open(broken) as run:
        why = raises(rockit.FormatError, run["kernels"].to_dict)
        assert isinstance(why, ValueError) and why.path.endswith("k.parquet"), vars(why)
        assert raises(rockit.FormatError, list, run["kernels"].rows())
        again = pickle.loads(pickle.dumps(why))
        assert str(again) == str(why) and again.path == why.path and type(again) is type(why)
    broken.write_bytes(data[:-6])
    raises(rockit.Error, rockit.open, broken)
    (folder / "nonsense").write_text("nothing that any profiler writes\n")
    raises(rockit.Error, rockit.open, folder / "nonsense")
    text = '{"rocprofiler-sdk-tool":[{"metadata":{"pid":7},"buffer_records":{"kernel_dispatch":[{"a":]}}]}'
    (folder / "results.json").write_text(text)
    why = raises(rockit.FormatError, rockit.open, folder / "results.json")
    assert text.index(":]") <= why.offset <= len(text) and f"results.json: byte {why.offset}: " in str(why)
    raises(rockit.UsageError, rockit.open, "a\0b")
    raises(rockit.Error, rockit.open, [])
    raises(TypeError, rockit.open, 7)
    raises(rockit.UsageError, rockit.open, folder, threads=-1)
    raises(rockit.UsageError, rockit.open, folder, threads=2.5)


@test
def a_closed_run_says_so(folder):
    run = rockit.open(trace(folder))
    table, rows = run["kernels"], iter(run["kernels"])
    first = next(rows)
    run.close()
    run.close()
    for use in (table.to_dict, run.report, lambda: run.tables, lambda: run.files, lambda: run.warnings,
                lambda: len(table), table.__arrow_c_stream__, table.__arrow_c_schema__, lambda: list(table)):
        assert "closed" in str(raises(rockit.ClosedError, use))
    # What was begun before goes on: it does not need the run.
    assert len(list(rows)) == 999 and first["kernel_name"]


@test
def threads_take_turns(folder):
    source = trace(folder, 20000)
    with rockit.open(source) as run:
        want = run["kernels"].to_dict()
        total = run.report().sum_duration_ns
        wrong = []

        def work(number):
            for _ in range(3):
                if number % 2 and run.report().sum_duration_ns != total:
                    wrong.append(number)
                if number % 2 == 0 and run["kernels"].to_dict() != want:
                    wrong.append(number)

        workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join(120)
        assert not wrong and not any(w.is_alive() for w in workers)


@test
def closing_while_others_read_is_an_exception_for_them(folder):
    run = rockit.open(trace(folder, 50000))
    raised = []

    def work():
        try:
            for _ in range(100):
                run["kernels"].to_dict()
        except rockit.ClosedError as why:
            raised.append(why)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for w in workers:
        w.start()
    time.sleep(0.05)
    run.close()
    for w in workers:
        w.join(120)
    assert len(raised) == 2


@test
def after_a_fork_the_child_has_no_runs(folder):
    done = script("""
        import json, os, rockit, sys
        run = rockit.open(sys.argv[1])
        table = run["kernels"]
        capsule = table.__arrow_c_stream__()
        rows = iter(table)
        next(rows)
        child = os.fork()
        if child == 0:
            try:
                table.to_dict()
            except rockit.ClosedError as why:
                ok = "fork" in str(why)
            run.close()
            with rockit.open(sys.argv[1]) as own:
                ok = ok and len(own["kernels"]) == 1000
            del capsule, rows, run, table
            sys.exit(0 if ok else 1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else 0
        print(json.dumps([status, len(table)]))
    """, trace(folder), timeout=60)
    assert said(done) == [0, 1000]


@test
def what_nobody_took_is_released(folder):
    with rockit.open(trace(folder)) as run:
        table = run["kernels"]
        for _ in range(3):
            table.__arrow_c_stream__()
        before = len(os.listdir("/proc/self/fd"))
        tasks = len(os.listdir("/proc/self/task"))
        for _ in range(200):
            table.__arrow_c_stream__()
            table.__arrow_c_schema__()
        _arrow.sweep()
        gc.collect()
        assert len(_arrow._lent) == 0
        assert len(os.listdir("/proc/self/fd")) <= before
        assert len(os.listdir("/proc/self/task")) <= tasks
        held = table.__arrow_c_stream__()
        _arrow.sweep()
        assert len(_arrow._lent) == 1
        del held
        _arrow.sweep()
        assert not _arrow._lent


@test
def exiting_with_everything_open_does_not_crash(folder):
    for end in ("pass", "sys.exit(0)", "os._exit(0)", "threading.Thread(target=lambda: run['kernels'].to_dict()).start()"):
        done = script(f"""
            import os, rockit, sys, threading
            run = rockit.open(sys.argv[1])
            table = run["kernels"]
            capsules = [table.__arrow_c_stream__(), table.__arrow_c_schema__()]
            rows = iter(table)
            next(rows)
            kept = table._batches()
            class Late:
                def __del__(self):
                    pass
            late = Late()
            late.cycle = (late, run, rows, kept)
            {end}
        """, trace(folder))
        assert done.returncode == 0 and not done.stderr, (end, done)


@test
def memory_does_not_grow_from_call_to_call(folder):
    source = trace(folder, 20000)

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    def rounds(n):
        for _ in range(n):
            with rockit.open(source, threads=1) as run:
                run["kernels"]._arrays()
                run.report()
        gc.collect()

    rounds(10)
    before = resident()
    rounds(40)
    assert resident() - before < 16 << 20, resident() - before


# ---- progress and interrupts ----

@test
def progress_is_reported_and_can_stop(folder):
    source = trace(folder, 200000)
    seen = []
    with rockit.open(source, progress=lambda done, total: seen.append((done, total))) as run:
        run.report()
    assert seen and seen[-1][0] <= seen[-1][1] == source.stat().st_size
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)
    with rockit.open(source, progress=lambda done, total: False) as run:
        why = raises(rockit.CancelledError, run["kernels"].to_dict)
        assert why.code == "cancelled"
        raises(rockit.CancelledError, run.report)

    def bad(done, total):
        raise ZeroDivisionError(done)

    with rockit.open(source, progress=bad) as run:
        raises(ZeroDivisionError, run.report)
        raises(ZeroDivisionError, run["kernels"].to_dict)

    def nosy(done, total):
        run.report()

    # A database is read by a thread of the library, which is distinguished from those that may wait.
    for path in (source, database(folder, 20000)):
        with rockit.open(path, threads=2, progress=nosy) as run:
            assert "middle" in str(raises(rockit.UsageError, run["kernels"].to_dict))


@test
def an_interrupted_conversion_leaves_nothing(folder):
    out = folder / "out.parquet"
    done = script("""
        import os, rockit, signal, sys
        def interrupt(done, total):
            os.kill(os.getpid(), signal.SIGINT)
        try:
            rockit.convert(sys.argv[1], sys.argv[2], progress=interrupt)
        except KeyboardInterrupt:
            print("true")
    """, trace(folder, 100000), out)
    assert said(done) is True and not done.stderr, done
    assert os.listdir(folder) == ["kernels.csv"]


INTERRUPT = """
    import json, os, rockit, signal, sys, threading
    source, out, what = sys.argv[1:]
    run = rockit.open(source)
    calls = {
        "convert": lambda: run.convert(out), "report": run.report, "arrays": run["kernels"]._arrays,
        "len": lambda: len(run["kernels"]), "metrics": run.metrics, "html": lambda: run.html(out),
        "sorted": run.table("kernels", sorted=True)._arrays,
    }
    threading.Timer(float(os.environ["AFTER"]), os.kill, (os.getpid(), signal.SIGINT)).start()
    ended = "done"
    try:
        while True:
            calls[what]()
    except KeyboardInterrupt:
        ended = "interrupted"
    rows = len(run["kernels"])
    print(json.dumps([ended, rows]))
"""


@test
def an_interrupt_ends_a_call_and_the_run_stays_usable(folder):
    source = trace(folder, 300000)
    for what in ("convert", "report", "arrays", "len", "metrics", "html", "sorted"):
        out = folder / {"html": "page.html"}.get(what, "out.parquet")
        got = said(script(INTERRUPT, source, out, what, env={**os.environ, "AFTER": "0.15"}))
        assert got == ["interrupted", 300000], (what, got)


if __name__ == "__main__":
    main()
