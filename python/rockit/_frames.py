"""Arrow arrays as numpy arrays and pandas columns. A column with one batch is not copied."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from ._arrow import ArrowArray, Field, Owned, texts

_NUMPY = {"i": "<i4", "l": "<i8", "g": "<f8"}


class _View:
    """Memory of an array for numpy; keeps the array alive."""

    def __init__(self, owner: Owned, address: int, n: int, kind: str) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, False), "shape": (n,), "typestr": kind}


class Columns:
    """Columns of several batches as numpy arrays."""

    def __init__(self, fields: Sequence[Field], batches: Sequence[Owned]) -> None:
        import numpy

        self.numpy = numpy
        self.fields, self.batches = fields, batches
        self.rows = sum(b.struct.length for b in batches)

    def _parts(self, i: int) -> List[Any]:
        return [(b, b.struct.children[i][0]) for b in self.batches if b.struct.length]

    def _numbers(self, owner: Owned, a: ArrowArray, at: int, kind: str) -> Any:
        end = a.offset + a.length
        # Columns without values share one buffer of zeros, so it is read-only.
        if not a.buffers[at] or a.null_count == a.length:
            return self.numpy.zeros(a.length, kind)
        return self.numpy.asarray(_View(owner, a.buffers[at], end, kind))[a.offset :]

    def _bits(self, owner: Owned, a: ArrowArray, at: int) -> Any:
        end = a.offset + a.length
        raw = self.numpy.asarray(_View(owner, a.buffers[at], (end + 7) // 8, "|u1"))
        return self.numpy.unpackbits(raw, bitorder="little", count=end)[a.offset :].view(bool)

    def _joined(self, parts: List[Any], kind: str) -> Any:
        if len(parts) == 1:
            return parts[0]
        return self.numpy.concatenate(parts) if parts else self.numpy.empty(0, kind)

    def values(self, i: int) -> Any:
        """The numbers of a column; entries without a value are undefined."""
        field = self.fields[i]
        if field.format == "b":
            parts = [
                self._bits(o, a, 1) if a.buffers[1] and a.null_count < a.length else self.numpy.zeros(a.length, bool)
                for o, a in self._parts(i)
            ]
            return self._joined(parts, "|b1")
        kind = "<i4" if field.dictionary else _NUMPY[field.format]
        return self._joined([self._numbers(o, a, 1, kind) for o, a in self._parts(i)], kind)

    def missing(self, i: int) -> Optional[Any]:
        """True where a value is missing; None if none is."""
        parts, any_missing = [], False
        for owner, a in self._parts(i):
            if a.null_count == a.length:
                parts.append(self.numpy.ones(a.length, bool))
                any_missing = True
            elif a.null_count == 0 or not a.buffers[0]:
                parts.append(self.numpy.zeros(a.length, bool))
            else:
                parts.append(~self._bits(owner, a, 0))
                any_missing = any_missing or bool(parts[-1].any())
        return self._joined(parts, "|b1") if any_missing else None

    def codes(self, i: int) -> Any:
        """Indices into words(); -1: no text."""
        if all(a.null_count == a.length for _, a in self._parts(i)):
            return self.numpy.full(self.rows, -1, "i1")
        codes, missing = self.values(i), self.missing(i)
        return codes if missing is None else self.numpy.where(missing, self.numpy.int32(-1), codes)

    def words(self, i: int) -> List[str]:
        """The texts of a dictionary. It only grows, so the last batch has all of them."""
        parts = self._parts(i)
        return texts(parts[-1][1].dictionary[0]) if parts else []


def _text_column(pandas: Any, columns: Columns, i: int, categories: bool) -> Any:
    numpy, field = columns.numpy, columns.fields[i]
    if field.dictionary:
        codes, words = columns.codes(i), columns.words(i)
        if categories:
            return pandas.Categorical.from_codes(codes, categories=pandas.Index(words, dtype=object))
        return numpy.array([*words, None], dtype=object)[codes]
    flat: List[Any] = [t for _, a in columns._parts(i) for t in texts(a)]
    made = numpy.array(flat, dtype=object)
    missing = columns.missing(i)
    if missing is not None:
        made[missing] = None
    return made


def _column(pandas: Any, columns: Columns, i: int, categories: bool) -> Any:
    field = columns.fields[i]
    if field.dictionary or field.format == "u":
        return _text_column(pandas, columns, i, categories)
    values, missing = columns.values(i), columns.missing(i)
    if missing is None:
        return values
    if field.format == "g":
        return columns.numpy.where(missing, columns.numpy.nan, values)
    # Integers stay integers: a double cannot represent times exactly.
    if field.format == "b":
        return pandas.arrays.BooleanArray(values.copy(), missing)
    return pandas.arrays.IntegerArray(values, missing)


def to_pandas(fields: Sequence[Field], batches: Sequence[Owned], categories: bool) -> Any:
    import pandas

    columns = Columns(fields, batches)
    data: Dict[str, Any] = {f.name: _column(pandas, columns, i, categories) for i, f in enumerate(fields)}
    return pandas.DataFrame(data, index=pandas.RangeIndex(columns.rows), columns=[f.name for f in fields], copy=False)


def to_numpy(fields: Sequence[Field], batches: Sequence[Owned]) -> Dict[str, Any]:
    columns = Columns(fields, batches)
    made: Dict[str, Any] = {}
    for i, field in enumerate(fields):
        if field.dictionary:
            made[field.name] = columns.numpy.array([*columns.words(i), None], dtype=object)[columns.codes(i)]
            continue
        missing, values = columns.missing(i), columns.values(i)
        made[field.name] = values if missing is None else columns.numpy.ma.array(values, mask=missing)
    return made


