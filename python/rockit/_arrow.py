"""Arrow's C data interface: capsules for other libraries, plain Python values without them.

A capsule has no destructor: one written in Python could run while an exception propagates or the
interpreter exits, where it must not. So this module keeps a list of the capsules it gave out and
releases each struct once nobody else holds its capsule.
"""

from __future__ import annotations

import _thread
import ctypes as C
import os
import sys
import threading
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

from . import _errors, _native


class ArrowSchema(C.Structure):
    pass


class ArrowArray(C.Structure):
    pass


class ArrowStream(C.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", C.c_char_p),
    ("name", C.c_char_p),
    ("metadata", C.c_void_p),
    ("flags", C.c_int64),
    ("n_children", C.c_int64),
    ("children", C.POINTER(C.POINTER(ArrowSchema))),
    ("dictionary", C.POINTER(ArrowSchema)),
    ("release", C.CFUNCTYPE(None, C.POINTER(ArrowSchema))),
    ("private_data", C.c_void_p),
]
ArrowArray._fields_ = [
    ("length", C.c_int64),
    ("null_count", C.c_int64),
    ("offset", C.c_int64),
    ("n_buffers", C.c_int64),
    ("n_children", C.c_int64),
    ("buffers", C.POINTER(C.c_void_p)),
    ("children", C.POINTER(C.POINTER(ArrowArray))),
    ("dictionary", C.POINTER(ArrowArray)),
    ("release", C.CFUNCTYPE(None, C.POINTER(ArrowArray))),
    ("private_data", C.c_void_p),
]
ArrowStream._fields_ = [
    ("get_schema", C.CFUNCTYPE(C.c_int, C.POINTER(ArrowStream), C.POINTER(ArrowSchema))),
    ("get_next", C.CFUNCTYPE(C.c_int, C.POINTER(ArrowStream), C.POINTER(ArrowArray))),
    ("get_last_error", C.CFUNCTYPE(C.c_char_p, C.POINTER(ArrowStream))),
    ("release", C.CFUNCTYPE(None, C.POINTER(ArrowStream))),
    ("private_data", C.c_void_p),
]

_new = C.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p]

_lent: List[Tuple[Any, Any, Any]] = []  # (capsule, struct, object to keep alive)
_lent_lock = threading.Lock()


def _after_fork() -> None:
    """The parent releases what it lent. Its lock may be held by a thread that the child does not have."""
    global _lent_lock
    _lent_lock = threading.Lock()
    _lent.clear()


os.register_at_fork(after_in_child=_after_fork)


def capsule(struct: Any, name: bytes, keep: Any = None) -> Any:
    """A capsule whose consumer moves the struct out."""
    sweep()
    made = _new(C.addressof(struct), name, None)
    with _lent_lock:
        _lent.append((made, struct, keep))
    return made


def sweep() -> None:
    """Forgets consumed capsules, and releases structs that nobody can reach."""
    with _lent_lock:
        kept = []
        for entry in _lent:
            # The tuple, and the argument of getrefcount: there is no third reference.
            alone = sys.getrefcount(entry[0]) <= 2
            if not entry[1].release and alone:
                continue
            if alone:
                release(entry[1])
                continue
            kept.append(entry)
        _lent[:] = kept


def release(struct: Any) -> None:
    if struct.release:
        struct.release(C.byref(struct))


class Owned:
    """A schema, array or stream that we own until it is released or moved."""

    def __init__(self, struct: Any) -> None:
        self.struct, self.process = struct, os.getpid()

    def release(self) -> None:
        # After a fork, the threads that a stream would wait for exist only in the parent.
        if self.process == os.getpid():
            release(self.struct)

    def moved(self) -> Any:
        """Moves the contents to a new struct, for a capsule; this one is empty afterwards."""
        to = type(self.struct)()
        C.memmove(C.byref(to), C.byref(self.struct), C.sizeof(to))
        self.struct.release = type(self.struct.release)()
        return to

    def __del__(self) -> None:
        try:
            if not sys.is_finalizing():
                self.release()
        except KeyboardInterrupt:  # would be lost in __del__: raise it later
            _thread.interrupt_main()


class Field(NamedTuple):
    """A column of a schema with Arrow's format string ("l": int64); for a dictionary, that of its values."""

    name: str
    format: str
    dictionary: bool


class Stream:
    """A stream of the library, read by this module."""

    def __init__(self, struct: ArrowStream, watch: Optional[_native.Watch], keep: Any = None) -> None:
        self.owned, self.watch, self.keep = Owned(struct), watch, keep

    def close(self) -> None:
        self.owned.release()

    def _check(self, errno: int) -> None:
        if not errno:
            return
        stream = self.owned.struct
        if self.watch is not None and self.watch.call.raised is not None:
            raise self.watch.call.raised
        err = _native.lib().rk_stream_error(C.byref(stream))
        if err and err[0].code:
            raise _native.error_of(err[0])
        text = stream.get_last_error(C.byref(stream))
        raise _errors.Error(_native.text_of(text) or f"error {errno} of a stream", code="io")

    def schema(self) -> Owned:
        got = ArrowSchema()
        stream = self.owned.struct
        self._check(stream.get_schema(C.byref(stream), C.byref(got)))
        return Owned(got)

    def next(self) -> Optional[Owned]:
        """The next array; None at the end."""
        stream, got = self.owned.struct, ArrowArray()
        self._check(stream.get_next(C.byref(stream), C.byref(got)))
        return Owned(got) if got.release else None

    def arrays(self) -> Iterator[Owned]:
        while True:
            array = self.next()
            if array is None:
                return
            yield array


def fields(owner: Owned) -> List[Field]:
    schema, found = owner.struct, []
    for i in range(schema.n_children):
        child = schema.children[i][0]
        kind = child.dictionary[0] if child.dictionary else child
        name = (child.name or b"").decode("utf-8", "replace")
        found.append(Field(name, kind.format.decode(), bool(child.dictionary)))
    return found


# ---- values without any package ----

_CTYPES = {"c": C.c_int8, "s": C.c_int16, "i": C.c_int32, "l": C.c_int64, "g": C.c_double}


def _buffer(array: ArrowArray, i: int, ctype: Any, n: int) -> Any:
    return (ctype * n).from_address(array.buffers[i]) if array.buffers[i] else None


def _bits(array: ArrowArray, i: int, end: int) -> Optional[List[bool]]:
    """A bitmap, least significant bit first; None if absent."""
    raw = _buffer(array, i, C.c_uint8, (end + 7) // 8)
    if raw is None:
        return None
    number = int.from_bytes(bytes(raw), "little")
    return [c == "1" for c in bin(number | 1 << (8 * len(raw)))[:2:-1]]


def texts(array: ArrowArray, first: int = 0) -> List[str]:
    """The texts of a utf8 array, starting at `first`."""
    end = array.offset + array.length
    begin = array.offset + first
    if begin >= end:
        return []
    offsets = _buffer(array, 1, C.c_int32, end + 1)[begin:]
    raw = C.string_at(array.buffers[2] + offsets[0], offsets[-1] - offsets[0]) if array.buffers[2] else b""
    base = offsets[0]
    return [
        raw[a - base : b - base].decode("utf-8", "replace") for a, b in zip(offsets[:-1], offsets[1:])
    ]


def values(array: ArrowArray, field: Field, words: List[str]) -> List[Any]:
    """A column as a list. `words` caches the texts of its dictionary and grows with it."""
    end = array.offset + array.length
    if field.dictionary:
        words.extend(texts(array.dictionary[0], len(words)))
        codes = (_buffer(array, 1, C.c_int32, end) or [])[array.offset :]
        valid = _bits(array, 0, end)
        if valid is None:
            return [words[c] for c in codes]
        return [words[c] if ok else None for c, ok in zip(codes, valid[array.offset :])]
    got: List[Any]
    if field.format == "u":
        got = texts(array)
    elif field.format == "b":
        got = (_bits(array, 1, end) or [False] * (end + 1))[array.offset : end]
    else:
        buffer = _buffer(array, 1, _CTYPES[field.format], end)
        got = buffer[array.offset :] if buffer is not None else [0] * array.length
    marks = _bits(array, 0, end) if array.null_count else None
    if marks is None:
        return got
    return [v if ok else None for v, ok in zip(got, marks[array.offset :])]
