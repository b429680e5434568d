"""Exceptions, with the file and the place in it."""

from __future__ import annotations

import errno
import os
from typing import Any, Optional, Type

# enum rk_code of rockit/error.h
NOMEM, IO, FORMAT, LIMIT, USAGE, UNSUPPORTED = range(-1, -7, -1)
CANCELLED = -8

_WORDS = {
    NOMEM: "nomem",
    IO: "io",
    FORMAT: "format",
    LIMIT: "limit",
    USAGE: "usage",
    UNSUPPORTED: "unsupported",
    CANCELLED: "cancelled",
}


class Error(Exception):
    """Base class of all rockit errors.

    `code` is a stable word ("io", "format", "usage", ...), `message` one sentence, `path` the file
    at fault, `line` its line (from 1), `offset` the byte in it; each None if unknown.
    """

    code: str
    message: str
    path: Optional[str]
    line: Optional[int]
    offset: Optional[int]

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "usage",
        path: Optional[str] = None,
        line: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message, self.code = message, code
        self.path, self.line, self.offset = path, line, offset

    def __reduce__(self) -> Any:
        # pickle does not see the attributes of OSError.
        system = {k: getattr(self, k) for k in ("errno", "filename", "strerror") if isinstance(self, OSError)}
        return type(self), self.args, {**self.__dict__, **system}

    def __str__(self) -> str:
        if self.path and self.line:
            return f"{self.path}:{self.line}: {self.message}"
        if self.path and self.offset:
            return f"{self.path}: byte {self.offset}: {self.message}"
        if self.path and self.path not in self.message:
            return f"{self.path}: {self.message}"
        return self.message


class FileError(Error, OSError):
    """The operating system refused: open, read, write, rename."""

    _number: Optional[int] = None

    def __init__(self, message: str = "", **where: Any) -> None:
        super().__init__(message, **where)
        self.errno, self.filename, self.strerror = self._number, self.path, message


class InputNotFoundError(FileError, FileNotFoundError):
    """File not found."""

    _number = errno.ENOENT


class InputPermissionError(FileError, PermissionError):
    """Permission denied."""

    _number = errno.EACCES


class FormatError(Error, ValueError):
    """Malformed input."""


class UsageError(Error, ValueError):
    """Invalid argument; the message suggests the nearest valid one."""


class ClosedError(UsageError):
    """The run is closed, or was opened before a fork."""


class LimitError(Error, RuntimeError):
    """A limit was exceeded."""


class UnsupportedError(Error, NotImplementedError):
    """Not available in this build; for paths: no file in a known format."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class CancelledError(Error, RuntimeError):
    """The progress callback stopped the call."""


_CLASSES = {
    NOMEM: OutOfMemoryError,
    IO: FileError,
    FORMAT: FormatError,
    LIMIT: LimitError,
    USAGE: UsageError,
    UNSUPPORTED: UnsupportedError,
    CANCELLED: CancelledError,
}


def make(code: int, message: str, path: str = "", line: int = 0, offset: int = 0) -> Error:
    """The exception for a struct rk_error."""
    kind: Type[Error] = _CLASSES.get(code, Error)
    number = None
    if code == IO:
        # The library keeps the message but not errno.
        for candidate, special in (
            (errno.ENOENT, InputNotFoundError),
            (errno.EACCES, InputPermissionError),
            (errno.EPERM, InputPermissionError),
            (errno.ENOSPC, FileError),
        ):
            if message.endswith(os.strerror(candidate)):
                kind, number = special, candidate
                break
    made = kind(
        message,
        code=_WORDS.get(code, str(code)),
        path=path or None,
        line=line or None,
        offset=offset or None,
    )
    if isinstance(made, OSError) and number is not None:
        made.errno = number
    return made
