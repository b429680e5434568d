#!/usr/bin/env python3
"""Independent programs read the Parquet files rockit writes, and rockit reads theirs.

    python tests/readers/parquet_readers.py <parquet-fixture binary>

Without an argument the program is looked for beside $ROCKIT. Needs duckdb, polars and pyarrow;
exits 77 (skipped) where one of them is missing.
"""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile

try:
    import duckdb
    import polars
    import pyarrow
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

failures = 0


def check(ok, what):
    global failures
    if not ok:
        failures += 1
        print(f"FAIL {what}")


def rows_of(lines):
    """Column names and columns of a JSON-lines twin."""
    names = json.loads(lines[0])
    rows = [json.loads(line) for line in lines[1:]]
    columns = [list(c) for c in zip(*rows)] if rows else [[] for _ in names]
    return names, columns


def same(a, b):
    if a is None or b is None:
        return a is b
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return type(a) is type(b) and a == b


def compare(who, names, got_names, want, got):
    check(list(got_names) == list(names), f"{who}: columns {got_names}")
    for name, w, g in zip(names, want, got):
        if w == g:
            continue
        check(len(w) == len(g), f"{who}: {name} has {len(g)} rows, not {len(w)}")
        for i, (a, b) in enumerate(zip(w, g)):
            if not same(a, b):
                check(False, f"{who}: {name} row {i} is {b!r}, not {a!r}")
                break


def floats(columns, types):
    """JSON writes 1.0 as 1: doubles are made floats again."""
    return [[v if v is None else float(v) for v in c] if t == "double" else c
            for c, t in zip(columns, types)]


def read_pyarrow(path):
    table = pq.read_table(path)
    return table.column_names, [c.to_pylist() for c in table.columns]


def read_polars(path):
    frame = polars.read_parquet(path)
    return frame.columns, [frame[c].to_list() for c in frame.columns]


def read_duckdb(path):
    relation = duckdb.sql(f"select * from read_parquet('{path}')")
    columns = relation.columns
    rows = relation.fetchall()
    return columns, [list(c) for c in zip(*rows)] if rows else [[] for _ in columns]


def check_statistics(name, path, columns):
    """Null counts, smallest and largest values, sizes and the sort order, chunk by chunk."""
    meta = pq.ParquetFile(path).metadata
    check(meta.created_by == "rockit 1.0.0", f"{name}: created_by {meta.created_by}")
    check(meta.metadata[b"rockit.schema"] == b"1", f"{name}: schema number")
    check(b"rockit.table" in meta.metadata, f"{name}: table name")
    first = 0
    for g in range(meta.num_row_groups):
        group = meta.row_group(g)
        check(group.num_rows > 0, f"{name}: empty row group")
        for i in range(meta.num_columns):
            chunk = group.column(i)
            values = columns[i][first:first + group.num_rows]
            there = [v for v in values if v is not None]
            where = f"{name}: {chunk.path_in_schema} in group {g}"
            stats = chunk.statistics
            check(stats.null_count == len(values) - len(there), f"{where}: null count")
            check(chunk.has_offset_index, f"{where}: no offset index")
            odd = any(isinstance(v, float) and math.isnan(v) for v in there)
            check(chunk.has_column_index == (not odd), f"{where}: column index")
            if there and not odd:
                check(stats.has_min_max, f"{where}: no min and max")
                check(stats.min == min(there) and stats.max == max(there),
                      f"{where}: {stats.min} .. {stats.max}")
            else:
                check(not stats.has_min_max, f"{where}: min and max of nothing")
        first += group.num_rows
    check(first == len(columns[0]), f"{name}: {first} rows in all groups")


class Thrift:
    """Thrift's compact protocol, read into dictionaries of field number and value."""

    def __init__(self, data, pos=0):
        self.data, self.pos = data, pos

    def byte(self):
        self.pos += 1
        return self.data[self.pos - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value

    def zigzag(self):
        v = self.varint()
        return v >> 1 ^ -(v & 1)

    def value(self, kind, element=False):
        if kind in (1, 2):
            return (self.byte() if element else kind) == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            n = self.varint()
            self.pos += n
            return self.data[self.pos - n:self.pos]
        if kind == 9:
            head = self.byte()
            n = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15, True) for _ in range(n)]
        assert kind == 12, kind
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if not head:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            fields[last] = self.value(head & 15)


def decode(value, physical):
    if physical == 6:
        return value.decode()
    return {0: lambda: bool(value[0]), 1: lambda: struct.unpack("<i", value)[0],
            2: lambda: struct.unpack("<q", value)[0],
            5: lambda: struct.unpack("<d", value)[0]}[physical]()


def check_order(where, order, low, high):
    up = all(a <= b for a, b in zip(low, low[1:])) and all(a <= b for a, b in zip(high, high[1:]))
    down = all(a >= b for a, b in zip(low, low[1:])) and all(a >= b for a, b in zip(high, high[1:]))
    check(order == 0 or (order == 1 and up) or (order == 2 and down), f"{where}: boundary order")


def check_page_index(name, path, columns):
    """Every page stands where the index says and holds no value outside of its bounds."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<I", data[-8:-4])[0]
    footer = Thrift(data, len(data) - 8 - size).struct()
    first = 0
    for group in footer.get(4, []):
        for i, chunk in enumerate(group[1]):
            where = f"{name}: column {i} from row {first}"
            pages = Thrift(data, chunk[4]).struct()[1]
            index = Thrift(data, chunk[6]).struct() if 6 in chunk else None
            low, high, row = [], [], 0
            for k, page in enumerate(pages):
                reader = Thrift(data, page[1])
                header = reader.struct()
                check(reader.pos - page[1] + header[3] == page[2], f"{where}: size of page {k}")
                check(page[3] == row, f"{where}: first row of page {k}")
                values = columns[i][first + row:first + row + header[8][1]]
                row += len(values)
                there = [v for v in values if v is not None]
                check(header[8][2] == len(values) - len(there), f"{where}: nulls of page {k}")
                if index is None:
                    continue
                check(index[5][k] == len(values) - len(there), f"{where}: null count {k}")
                check(index[1][k] == (not there), f"{where}: null page {k}")
                if there:
                    low.append(decode(index[2][k], chunk[3][1]))
                    high.append(decode(index[3][k], chunk[3][1]))
                    check(low[-1] <= min(there) and high[-1] >= max(there), f"{where}: bounds {k}")
            check(row == group[3], f"{where}: {row} rows in all pages")
            if index is not None:
                check_order(where, index[4], low, high)
        first += group[3]


def check_filters(name, path, names, columns):
    """Programs that skip pages by the page index must still find every row."""
    for i, column in enumerate(names):
        there = [v for v in columns[i] if isinstance(v, int) and not isinstance(v, bool)]
        if not there:
            continue
        bound = sorted(there)[len(there) // 2]
        want = sum(v >= bound for v in there)
        got = duckdb.sql(f"select count(*) from read_parquet('{path}') "
                         f"where \"{column}\" >= {bound}").fetchall()[0][0]
        check(got == want, f"{name}: duckdb finds {got} of {want} rows in {column}")
        got = polars.scan_parquet(path).filter(polars.col(column) >= bound).select(
            polars.len()).collect().item()
        check(got == want, f"{name}: polars finds {got} of {want} rows in {column}")


def check_written(fixture, folder):
    subprocess.run([fixture, "write", folder], check=True)
    for file in sorted(os.listdir(folder)):
        name, suffix = os.path.splitext(file)
        path = os.path.join(folder, file)
        if suffix != ".parquet":
            continue
        with open(os.path.join(folder, name + ".jsonl"), encoding="utf-8") as twin:
            names, columns = rows_of(twin.read().split("\n")[:-1])
        types = [str(f.type) for f in pq.read_schema(path)]
        columns = floats(columns, types)
        for who, read in (("pyarrow", read_pyarrow), ("polars", read_polars),
                          ("duckdb", read_duckdb)):
            compare(f"{name} by {who}", names, *zip_read(read, path, columns))
        check_statistics(name, path, columns)
        check_page_index(name, path, columns)
        if name in ("few_columns", "kernels"):
            check_filters(name, path, names, columns)
        if rockit_reads(name):
            compare_with_rockit(fixture, name, path, names, columns, types)


def zip_read(read, path, columns):
    got_names, got = read(path)
    return got_names, columns, got


def rockit_reads(name):
    """The cases of invented columns are not tables that rockit knows."""
    return name not in ("all_kinds", "few_columns", "one_row")


def compare_with_rockit(fixture, name, path, names, columns, types):
    run = subprocess.run([fixture, "read", path], capture_output=True, text=True)
    check(run.returncode == 0, f"{name}: rockit says {run.stderr}")
    if run.returncode == 0:
        got_names, got = rows_of(run.stdout.split("\n")[:-1])
        compare(f"{name} by rockit", names, got_names, columns, floats(got, types))


def foreign_table(rows):
    """A kernels table with a counter column, as somebody else would make it."""
    n = range(rows)
    return pyarrow.table({
        "kernel_name": pyarrow.array([None if i % 11 == 3 else f"kernel_{i % 37}" for i in n]),
        "start_ns": pyarrow.array([2**60 + i * 1000 for i in n], pyarrow.int64()),
        "duration_ns": pyarrow.array([i * i % 10007 for i in n], pyarrow.int64()),
        "grid_x": pyarrow.array([-2**31 if i % 5 else 2**31 - 1 for i in n], pyarrow.int32()),
        "grid_y": pyarrow.array([i % 3 for i in n], pyarrow.int64()),
        "regs": pyarrow.array([i % 200 for i in n], pyarrow.uint8()),
        "dispatch_id": pyarrow.array([i for i in n], pyarrow.uint64()),
        "pid": pyarrow.array([None] * rows, pyarrow.int64()),
        "barrier": pyarrow.array([None if i % 7 == 0 else i % 2 == 0 for i in n]),
        "source": pyarrow.array([f"text {i} of its own" for i in n]),
        "SQ_WAVES": pyarrow.array([i / 3 for i in n], pyarrow.float64()),
        "SQ_BUSY": pyarrow.array([None if i % 4 else i * 0.5 for i in n], pyarrow.float32()),
        "SQ_INT": pyarrow.array([i * 2**30 for i in n], pyarrow.int64()),
    })


def expect_foreign(fixture, what, path, table):
    maker = pq.ParquetFile(path).metadata.created_by.lower()
    check(what.split()[0].replace("py", "") in maker, f"{what}: the file is from {maker}")
    run = subprocess.run([fixture, "read", path], capture_output=True, text=True)
    check(run.returncode == 0, f"{what}: rockit says {run.stderr}")
    if run.returncode:
        return
    names, got = rows_of(run.stdout.split("\n")[:-1])
    check(names[0] == "kernel_name" and len(names) == 39 + 3, f"{what}: columns {names}")
    for name, column in zip(names, got):
        if name not in table.column_names:
            check(all(v is None for v in column), f"{what}: {name} is not null")
            continue
        want = table[name].to_pylist()
        if name.startswith("SQ_"):
            want, column = floats([want, column], ["double", "double"])
        compare(what, [name], [name], [want], [column])


def check_foreign(fixture, folder):
    table = foreign_table(20000)
    path = os.path.join(folder, "foreign.parquet")
    integers = [f.name for f in table.schema if pyarrow.types.is_integer(f.type)]
    numbers = ["SQ_WAVES", "SQ_BUSY"]
    texts = ["kernel_name", "source"]
    encodings = {
        "plain": {c: "PLAIN" for c in table.column_names},
        "delta": {**{c: "DELTA_BINARY_PACKED" for c in integers},
                  **{c: "DELTA_LENGTH_BYTE_ARRAY" for c in texts}, "barrier": "RLE"},
        "split": {**{c: "BYTE_STREAM_SPLIT" for c in numbers + integers},
                  **{c: "DELTA_BYTE_ARRAY" for c in texts}},
    }
    for codec in ("none", "snappy", "gzip", "zstd"):
        for version in ("1.0", "2.0"):
            options = dict(compression=codec, data_page_version=version, row_group_size=7000,
                           data_page_size=8192)
            pq.write_table(table, path, **options)
            expect_foreign(fixture, f"pyarrow {codec} v{version} dictionary", path, table)
            for name, column_encoding in encodings.items():
                pq.write_table(table, path, use_dictionary=False,
                               column_encoding=column_encoding, **options)
                expect_foreign(fixture, f"pyarrow {codec} v{version} {name}", path, table)
    required = table.schema
    for i, field in enumerate(required):
        if not table[field.name].null_count:
            required = required.set(i, field.with_nullable(False))
    pq.write_table(table.cast(required), path)
    expect_foreign(fixture, "pyarrow required columns", path, table)
    for codec in ("uncompressed", "snappy", "gzip", "zstd"):
        polars.from_arrow(table).write_parquet(path, compression=codec)
        expect_foreign(fixture, f"polars {codec}", path, table)
        for version in ("V1", "V2"):
            duckdb.register("foreign_rows", table)
            duckdb.sql(f"copy (select * from foreign_rows) to '{path}' (format parquet, "
                       f"compression {codec}, parquet_version {version}, row_group_size 8000)")
            expect_foreign(fixture, f"duckdb {codec} {version}", path, table)


def check_pandas(fixture, folder):
    """Integers with nulls are doubles in a data frame, and are written as such."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        return
    path = os.path.join(folder, "pandas.parquet")
    columns = {"pid": pyarrow.int64(), "rank": pyarrow.int32()}
    table = foreign_table(20000).drop_columns(["pid"])
    for name, kind in columns.items():
        table = table.append_column(name, pyarrow.array([i if i % 3 else None for i in range(20000)], kind))
    table.to_pandas().to_parquet(path)
    check(str(pq.read_schema(path).field("rank").type) == "double", "pandas writes doubles")
    expect_foreign(fixture, "pyarrow pandas", path, table)


def check_refused(fixture, folder):
    path = os.path.join(folder, "refused.parquet")
    base = {"kernel_name": ["a"], "start_ns": [1], "duration_ns": [2]}
    for extra, word in (({"grid_x": [2**31]}, "out of range"), ({"tags": [[1, 2]]}, "nested"),
                        ({"pid": ["text"]}, "BYTE_ARRAY"), ({"pid": [1.5]}, "row 1: 1.5 is not an integer"),
                        ({"codec": [1]}, "codec")):
        codec = "brotli" if word == "codec" else "snappy"
        pq.write_table(pyarrow.table({**base, **extra}), path, compression=codec)
        run = subprocess.run([fixture, "read", path], capture_output=True, text=True)
        check(run.returncode == 1 and word in run.stderr, f"refusal of {word}: {run.stderr}")


def main():
    beside = os.path.join(os.path.dirname(os.environ.get("ROCKIT", "")), "parquet-fixture")
    fixture = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else beside)
    if not os.path.exists(fixture):
        print(f"skipped: no '{fixture}'")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check_written(fixture, folder)
        check_foreign(fixture, folder)
        check_pandas(fixture, folder)
        check_refused(fixture, folder)
    print("failed" if failures else "ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
