#!/usr/bin/env python3
"""pandas, polars, pyarrow and DuckDB take tables as they are, value for value."""

import contextlib
import io
import os
import re
import sys

try:
    import duckdb
    import numpy
    import pandas
    import polars
    import pyarrow
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import rockit
from libpy import COLUMNS, SOURCE, database, main, raises, said, script, test, trace, traces
from rockit import _arrow

LATE = 2**60 + 1  # beyond what a double can tell apart


def each_table(folder):
    """Every table of some runs, with its values as plain lists."""
    for source in (traces(folder), database(folder.parent), trace(folder.parent, 3000)):
        with rockit.open(source) as run:
            for name in run.tables:
                yield run, name, run[name], run[name].to_dict()


def holes(folder):
    """Kernels of three processes; one knows no grid, one no stream, and times are late."""
    head = ('"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name",'
            '"Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count",'
            '"Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",'
            '"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n')
    rows = [f'"KERNEL_DISPATCH","Agent 4",1,{i % 2 or ""},7,{i},1,"k{i % 3}",{i},{LATE + 10 * i},{LATE + 10 * i + 3},'
            f'0,0,{i or ""},0,16,64,1,1,128,1,1\n' for i in range(50)]
    path = folder / "late_kernel_trace.csv"
    path.write_text(head + "".join(rows))
    return path


def plain(values):
    """What a library has at a place, as plain Python."""
    return [None if v is pandas.NA or v is None or v != v else v for v in values]


@test
def pandas_has_the_same_values(folder):
    for _, name, table, want in each_table(folder):
        frame = table.to_pandas()
        assert list(frame.columns) == list(want)
        assert len(frame) == len(table)
        for column, values in want.items():
            assert plain(frame[column].tolist()) == values, (name, column)
        objects = table.to_pandas(categories=False)
        for column, kind in table.schema:
            assert plain(objects[column].tolist()) == want[column], (name, column)
            if kind == "string":
                assert frame[column].dtype == "category" and objects[column].dtype != "category"


@test
def what_others_wrote_of_a_frame_is_read_again(folder):
    with rockit.open(trace(folder)) as run:
        table = run["kernels"]
        want = table.to_dict()
        table.to_pandas().to_parquet(folder / "pandas.parquet")  # columns of nothing, too
        table.to_polars().write_parquet(folder / "polars.parquet")
    for path in folder.glob("*.parquet"):
        with rockit.open(path) as again:
            assert again["kernels"].to_dict() == want, path


@test
def integers_that_are_missing_somewhere_stay_integers(folder):
    with rockit.open(holes(folder)) as run:
        frame = run["kernels"].to_pandas()
        want = run["kernels"].to_dict()
    assert frame["start_ns"].dtype == "int64" and frame["start_ns"][1] == LATE + 10
    assert None in want["regs"] and str(frame["regs"].dtype) == "Int32"
    assert frame["regs"].isna().sum() == want["regs"].count(None)
    assert plain(frame["regs"].tolist()) == want["regs"]
    assert frame["pid"].isna().all() and str(frame["pid"].dtype) == "Int64"
    # They can be computed with and written to: nothing is shared with someone else.
    frame["start_ns"] -= frame["start_ns"].min()
    assert frame["start_ns"].sum() == sum(10 * i for i in range(50))
    frame.loc[0, "regs"] = 5
    assert frame["regs"][0] == 5


@test
def a_frame_lives_longer_than_its_run(folder):
    run = rockit.open(trace(folder, 50000))
    frame, arrow, arrays = run["kernels"].to_pandas(), run["kernels"].to_arrow(), run["kernels"].to_numpy()
    total = run.report().sum_duration_ns
    run.close()
    del run
    for _ in range(3):
        other = rockit.open(trace(folder, 20000, name="other.csv"))
        other["kernels"].to_pandas()
        other.close()
    assert frame["duration_ns"].sum() == total
    assert sum(arrow["duration_ns"].to_pylist()) == total
    assert arrays["duration_ns"].sum() == total


@test
def numpy_has_the_same_values(folder):
    with rockit.open(holes(folder)) as run:
        arrays, want = run["kernels"].to_numpy(), run["kernels"].to_dict()
    assert isinstance(arrays["regs"], numpy.ma.MaskedArray)
    for name, values in want.items():
        assert arrays[name].tolist() == values, name


@test
def pyarrow_has_the_same_values_by_every_way(folder):
    for _, name, table, want in each_table(folder):
        for got in (table.to_arrow(), pyarrow.table(table)):
            assert got.column_names == list(want)
            for column, values in want.items():
                assert got[column].to_pylist() == values, (name, column)
            got.validate(full=True)
        schema = pyarrow.schema(table)
        assert schema == table.to_arrow().schema
        reader = pyarrow.RecordBatchReader.from_stream(table)
        assert sum(len(b) for b in reader) == len(table)


@test
def polars_has_the_same_values_by_every_way(folder):
    for _, name, table, want in each_table(folder):
        for got in (table.to_polars(), polars.DataFrame(table)):
            assert got.columns == list(want)
            for column, values in want.items():
                assert got[column].to_list() == values, (name, column)


@test
def duckdb_queries_a_table(folder):
    for _, name, rows, want in each_table(folder):
        got = duckdb.sql("SELECT * FROM rows")
        assert got.columns == list(want)
        assert got.fetchall() == list(zip(*want.values())), name
    with rockit.open(trace(folder, 5000)) as run:
        kernels = run["kernels"]
        top = duckdb.sql("SELECT kernel_name, count(*), sum(duration_ns)::BIGINT s FROM kernels "
                         "GROUP BY 1 ORDER BY s DESC, 1 LIMIT 1").fetchall()[0]
        first = run.report().kernels[0]
    assert top == (first.name, first.calls, first.total_ns)


@test
def pandas_takes_a_table_by_itself(folder):
    if not hasattr(pandas.DataFrame, "from_arrow"):
        return  # pandas 3 can
    with rockit.open(trace(folder)) as run:
        frame = pandas.DataFrame.from_arrow(run["kernels"])
        assert frame["duration_ns"].sum() == run.report().sum_duration_ns


@test
def many_batches_are_one_table(folder):
    with rockit.open(trace(folder, 300000)) as run:
        table = run.table("kernels", ["kernel_name", "start_ns", "regs", "pid"])
        arrow = table.to_arrow()
        assert arrow["start_ns"].num_chunks > 1
        frame, pl = table.to_pandas(), table.to_polars()
        batches = table._batches()[1]
        from rockit import _frames
        joined = _frames.to_pandas(_arrow.fields(batches[0].schema), [b.array for b in batches], True)
    assert len(frame) == 300000 and pandas.DataFrame.equals(frame, joined)
    assert frame["kernel_name"].tolist() == arrow["kernel_name"].to_pylist() == pl["kernel_name"].to_list()
    assert (frame["start_ns"].to_numpy() == arrow["start_ns"].to_numpy()).all()


@test
def nothing_at_all_has_columns_too(folder):
    with rockit.open(trace(folder)) as run:
        empty = run["memcpy"]
        assert len(empty.to_pandas()) == empty.to_arrow().num_rows == len(empty.to_polars()) == 0
        for got in (list(empty.to_pandas().columns), empty.to_arrow().column_names, empty.to_polars().columns):
            assert got == empty.columns


@test
def a_pipe_is_read_once_and_then_says_so(folder):
    data = trace(folder).read_bytes()
    done = script("""
        import json, rockit, sys
        run = rockit.open(sys.argv[1])
        rows = len(run["kernels"].to_pandas())
        try:
            run["kernels"].__arrow_c_stream__()
        except rockit.UsageError as why:
            print(json.dumps([rows, "once" in str(why)]))
    """, "/dev/stdin", input=data.decode())
    assert said(done) == [1000, True]


@test
def damage_comes_out_of_every_way(folder):
    source = folder / "k.parquet"
    rockit.convert(trace(folder, 5000), source)
    data = bytearray(source.read_bytes())
    data[200:400] = bytes(200)
    source.write_bytes(data)
    with rockit.open(source) as run:
        for way in (run["kernels"].to_pandas, run["kernels"].to_arrow, run["kernels"].to_polars):
            assert "k.parquet" in str(raises(rockit.FormatError, way))
        for way in (pyarrow.table, polars.DataFrame, lambda t: duckdb.sql("SELECT * FROM t").fetchall()):
            assert raises(Exception, way, run["kernels"])


@test
def other_threads_read_while_this_one_does(folder):
    done = script("""
        import duckdb, json, polars, pyarrow, rockit, sys, threading
        run = rockit.open(sys.argv[1])
        table = table_ = run.table("kernels", ["duration_ns"])
        got = []
        def arrow():
            got.append(sum(pyarrow.table(table)["duration_ns"].to_pylist()))
        def frame():
            got.append(int(polars.DataFrame(table)["duration_ns"].sum()))
        def sql():
            got.append(int(duckdb.connect().sql("SELECT sum(duration_ns) FROM table_").fetchall()[0][0]))
        def own():
            got.append(run.report().sum_duration_ns)
        workers = [threading.Thread(target=f) for f in (arrow, frame, own, sql, frame, own)]
        for w in workers: w.start()
        total = run.report().sum_duration_ns
        for w in workers: w.join()
        print(json.dumps([len(got), set(got) == {total}]))
    """, trace(folder, 100000))
    assert said(done) == [6, True]


@test
def the_wrapper_gives_a_frame_with_twelve_columns(folder):
    rockit.convert(trace(folder), folder / "rocprof_kernels.parquet")
    (folder / "kernels.csv").unlink()
    frame = rockit.RocprofWrapper(output_dir=folder, hip_trace=True, hsa_trace=False, stats=True).parse_results()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == COLUMNS
    assert [str(t) for t in frame.dtypes] == ["category", "int64", "int64"] + ["int32"] * 9


@test
def the_examples_of_the_manual_run(folder):
    text = (SOURCE / "docs/python.md").read_text()
    for name in re.findall(r"\brockit\.(\w+)", text):
        assert hasattr(rockit, name), name
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    reading, arrow, numbers, running, wrapper = blocks
    trace(folder)
    database(folder)
    for side in ("before", "after"):
        (folder / side).mkdir()
        trace(folder / side)
    names = {"pyarrow": pyarrow, "polars": polars, "duckdb": duckdb, "rockit": rockit}
    os.chdir(folder)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(re.sub(r'"rockit_output/[^"]*"', '"kernels.csv"', reading), names)
        names["run"] = rockit.open("kernels.csv")
        exec(arrow, names)
        exec(numbers, names)
    assert "Kernels" in out.getvalue() and len(names["kernels"]) == 1000
    assert (folder / "trace.pftrace").exists() and (folder / "report.html").exists()
    for block in (running, wrapper):  # what these start is tested in sessions.py
        compile(block, "python.md", "exec")


if __name__ == "__main__":
    main()
