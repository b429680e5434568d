"""A table of a run, for pandas, polars, pyarrow, numpy or plain Python."""

from __future__ import annotations

import ctypes as C
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _arrow, _errors, _native

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

    from ._run import Run

_ALL_ROWS = 2**31 - 1
_TYPES = {"l": "int64", "i": "int32", "g": "double", "b": "bool", "u": "string"}


class Column(NamedTuple):
    """Name and type of a column: "int64", "int32", "double", "bool" or "string"."""

    name: str
    type: str


class _Batch:
    """One array with its schema, for libraries that take a batch at a time."""

    def __init__(self, schema: _arrow.Owned, array: _arrow.Owned) -> None:
        self.schema, self.array = schema, array

    def __arrow_c_array__(self, requested_schema: object = None) -> Tuple[Any, Any]:
        return (
            _arrow.capsule(self.schema.moved(), b"arrow_schema"),
            _arrow.capsule(self.array.moved(), b"arrow_array"),
        )


class Table:
    """The rows of one table, read again each time they are requested.

    pandas, polars, pyarrow, DuckDB and others read it directly through Arrow's C stream. That
    reads the files independently: it continues after the run is closed, and its warnings are
    not added to the run's.
    """

    def __init__(
        self, run: "Run", name: str, columns: Optional[Sequence[str]] = None, sorted: bool = False
    ) -> None:
        self._run, self.name, self._wanted, self._sorted = run, name, columns, sorted
        self._fields: Optional[List[_arrow.Field]] = None
        self._rows: Optional[int] = None

    def __repr__(self) -> str:
        return f"<rockit.Table {self.name!r} of {self._run.name!r}>"

    # ---- reading ----

    def _stream(
        self,
        handle: int,
        watch: Optional[_native.Watch],
        one: Optional[str] = None,
        batch_rows: int = 0,
    ) -> _arrow.Stream:
        wanted = self._wanted if one is None else [one]
        names = None if wanted is None else _native.list_of(wanted)
        options = _native.RkStreamOptions(
            table=_native.bytes_of(self.name),
            columns=C.cast(names, C.POINTER(C.c_char_p)) if names is not None else None,
            # Counting needs no order, and a sort may need a temporary file.
            sorted=self._sorted and one is None,
            batch_rows=batch_rows,
        )
        got, err = _arrow.ArrowStream(), _native.RkError()
        rc = _native.lib().rk_run_stream(handle, C.byref(options), C.byref(got), C.byref(err))
        _native.check(rc, err, watch)
        return _arrow.Stream(got, watch)

    def _batches(
        self, one: Optional[str] = None, batch_rows: int = 0
    ) -> Tuple[_arrow.Owned, List[_Batch]]:
        """The schema and all arrays, read with the run's own handle, which gets the warnings."""

        def work(handle: int) -> Tuple[_arrow.Owned, List[_Batch]]:
            stream = self._stream(handle, self._run._watch, one, batch_rows)
            try:
                schema = stream.schema()
                return schema, [_Batch(stream.schema(), array) for array in stream.arrays()]
            finally:
                stream.close()

        schema, batches = self._run._call(work)
        self._rows = sum(b.array.struct.length for b in batches)
        return schema, batches

    def _arrays(self) -> Tuple[List[_arrow.Field], List[_arrow.Owned]]:
        """Fields and arrays; usually one array, so that numpy need not join several."""
        schema, batches = self._batches(batch_rows=_ALL_ROWS)
        return _arrow.fields(schema), [b.array for b in batches]

    def _own_stream(self, watch: Optional[_native.Watch] = None) -> _arrow.Stream:
        """A stream over a separate run, independent of this one's lifetime. Without a watch it never
        calls into Python: others may read it on any thread, holding any lock."""
        handle = self._run._again(watch)
        try:
            return self._stream(handle, watch)
        finally:
            _native.lib().rk_run_close(handle)

    # ---- schema ----

    def _arrow_schema(self) -> _arrow.Owned:
        def work(handle: int) -> _arrow.Owned:
            stream = self._stream(handle, self._run._watch)
            try:
                return stream.schema()
            finally:
                stream.close()

        return self._run._call(work)

    def _schema(self) -> List[_arrow.Field]:
        if self._fields is None:
            self._fields = _arrow.fields(self._arrow_schema())
        return self._fields

    @property
    def schema(self) -> List[Column]:
        """Its columns with their types."""
        return [Column(f.name, _TYPES.get(f.format, f.format)) for f in self._schema()]

    @property
    def columns(self) -> List[str]:
        """The names of its columns."""
        return [f.name for f in self._schema()]

    def __len__(self) -> int:
        if self._rows is None:
            self._batches(one=self.columns[0] if self.columns else None)
        return self._rows or 0

    def __bool__(self) -> bool:
        return len(self) > 0

    def select(self, *columns: str) -> "Table":
        """The same table with only these columns; the others are not decoded."""
        return self._run.table(self.name, columns, sorted=self._sorted)

    # ---- Arrow's protocols ----

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return _arrow.capsule(self._own_stream().owned.moved(), b"arrow_array_stream")

    def __arrow_c_schema__(self) -> Any:
        return _arrow.capsule(self._arrow_schema().moved(), b"arrow_schema")

    # ---- conversions ----

    def to_pandas(self, categories: bool = True) -> "pandas.DataFrame":
        """A DataFrame. Texts are categories (plain objects if `categories` is false); integer columns
        with missing values use pandas' nullable types, never floats."""
        _need("pandas", "to_pandas")
        from . import _frames

        return _frames.to_pandas(*self._arrays(), categories)

    def to_numpy(self) -> "Dict[str, numpy.ndarray[Any, Any]]":
        """Arrays by column; masked arrays where values are missing."""
        _need("numpy", "to_numpy")
        from . import _frames

        return _frames.to_numpy(*self._arrays())

    def to_arrow(self) -> "pyarrow.Table":
        """A pyarrow Table; nothing is copied."""
        package = _need("pyarrow", "to_arrow")
        schema, batches = self._batches()
        parts = [package.record_batch(b) for b in batches]
        made: "pyarrow.Table" = package.Table.from_batches(parts, package.schema(_Schema(schema)))
        return made

    def to_polars(self) -> "polars.DataFrame":
        """A polars DataFrame; texts are Categorical."""
        package = _need("polars", "to_polars")
        _, batches = self._batches(batch_rows=_ALL_ROWS)
        parts = [package.DataFrame(b) for b in batches] or [package.DataFrame(self)]
        made: "polars.DataFrame" = package.concat(parts, rechunk=False) if len(parts) > 1 else parts[0]
        return made

    def to_dict(self) -> Dict[str, List[Any]]:
        """Columns as lists of plain Python values, None for missing ones. Needs no package."""
        fields, arrays = self._arrays()
        made: Dict[str, List[Any]] = {f.name: [] for f in fields}
        words: List[List[str]] = [[] for _ in fields]
        for array in arrays:
            for i, field in enumerate(fields):
                made[field.name] += _arrow.values(array.struct.children[i][0], field, words[i])
        return made

    def rows(self) -> Iterator[Dict[str, Any]]:
        """One dict per row, a batch of rows in memory at a time. Needs no package."""
        watch = _native.Watch()
        stream = _native.interruptible(lambda: self._own_stream(watch), watch.call)
        try:
            fields = _arrow.fields(stream.schema())
            names = [f.name for f in fields]
            words: List[List[str]] = [[] for _ in fields]
            while True:
                array = _native.interruptible(stream.next, watch.call)
                if array is None:
                    return
                children = array.struct.children
                columns = [_arrow.values(children[i][0], f, words[i]) for i, f in enumerate(fields)]
                for row in zip(*columns):
                    yield dict(zip(names, row))
        finally:
            stream.close()
            watch.forget()

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return self.rows()


class _Schema:
    def __init__(self, schema: _arrow.Owned) -> None:
        self.schema = schema

    def __arrow_c_schema__(self) -> Any:
        return _arrow.capsule(self.schema.moved(), b"arrow_schema")


def _need(package: str, method: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError as why:
        raise ImportError(
            f"{method}() needs {package}: pip install {package}, or use to_dict() or rows()", name=package
        ) from why
