#!/usr/bin/env python3
"""Small Parquet files by another hand, one per way of writing a column.

    python tests/fuzz/parquet_corpus.py tests/fuzz/corpus/parquet

What is kept there was made by this script (pyarrow) and by parquet-fixture.
"""

import sys

import pyarrow
import pyarrow.parquet as pq

ROWS = range(40)
TABLE = pyarrow.table({
    "kernel_name": pyarrow.array([None if i % 7 == 3 else f"kernel_{i % 5}" for i in ROWS]),
    "start_ns": pyarrow.array([2**60 + i * i for i in ROWS], pyarrow.int64()),
    "duration_ns": pyarrow.array([i * 37 % 11 for i in ROWS], pyarrow.int64()),
    "grid_x": pyarrow.array([i % 3 for i in ROWS], pyarrow.int32()),
    "barrier": pyarrow.array([None if i % 4 else i % 3 == 0 for i in ROWS]),
    "SQ_WAVES": pyarrow.array([i / 3 for i in ROWS], pyarrow.float64()),
    "SQ_BUSY": pyarrow.array([i / 2 for i in ROWS], pyarrow.float32()),
})
INTEGERS = ["start_ns", "duration_ns", "grid_x"]


def write(folder, name, encoding=None, **options):
    if encoding is not None:
        options.update(use_dictionary=False, column_encoding=encoding)
    pq.write_table(TABLE, f"{folder}/{name}.parquet", store_schema=False, **options)


def main(folder):
    plain = {name: "PLAIN" for name in TABLE.column_names}
    delta = {name: "DELTA_BINARY_PACKED" for name in INTEGERS}
    write(folder, "dictionary_snappy")
    write(folder, "plain_stored", plain, compression="none")
    write(folder, "delta_gzip", {**delta, "kernel_name": "DELTA_LENGTH_BYTE_ARRAY",
                                 "barrier": "RLE"}, compression="gzip")
    write(folder, "prefix_zstd_v2", {**delta, "kernel_name": "DELTA_BYTE_ARRAY",
                                     "SQ_WAVES": "BYTE_STREAM_SPLIT",
                                     "SQ_BUSY": "BYTE_STREAM_SPLIT"},
          compression="zstd", data_page_version="2.0")


if __name__ == "__main__":
    main(sys.argv[1])
