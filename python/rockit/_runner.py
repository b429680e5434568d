"""Runs one session: reads the settings from one descriptor, writes events to another as JSON lines.

Started by _session.py as a separate program.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any, Dict


def _say(fd: int, **what: Any) -> None:
    os.write(fd, json.dumps(what).encode() + b"\n")


def _run(settings: Dict[str, Any], fd: int) -> None:
    import ctypes as C

    from rockit import _native, _session

    made = _session.session(settings)
    lib, did, err = _native.lib(), _native.RkSessionResult(), _native.RkError()
    count = C.c_size_t()
    notes = lib.rk_session_notes(made, C.byref(count))
    for i in range(count.value):  # the session itself reports only events while it runs
        _say(fd, say=_native.text_of(notes[i]))
    hooks = _native.RkSessionHooks(
        say=_native.LINE(lambda _, line: _say(fd, say=_native.text_of(line))),
        warn=_native.LINE(lambda _, line: _say(fd, warn=_native.text_of(line))),
    )
    rc = lib.rk_session_run(made, C.byref(hooks), C.byref(did), C.byref(err))
    if rc < 0 and did.status in (126, 127):
        _say(fd, unable=did.status)
    _native.check(rc, err)
    names = "status ran profiled usable kernels passes_done passes".split()
    result = {name: getattr(did, name) for name in names}
    _say(fd, result={**result, "dir": _native.text_of(lib.rk_session_dir(made))})
    lib.rk_session_free(made)


def main() -> int:
    asked, said = int(sys.argv[1]), int(sys.argv[2])
    for fd in (asked, said):
        os.set_inheritable(fd, False)  # the program does not inherit our descriptors
    # Python ignores these two signals; the program must see the defaults. The library checks them
    # when it is loaded.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    # Between two passes nobody forwards an interrupt, and it must not end us: keep what was
    # recorded.
    signal.signal(signal.SIGINT, lambda *_: None)
    with os.fdopen(asked, "rb") as file:
        settings = json.loads(file.read())
    # Not installed as a package: the package is the parent of this file's folder.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from rockit import _errors

    try:
        _run(settings, said)
    except _errors.Error as err:
        codes = {word: code for code, word in _errors._WORDS.items()}
        where = (err.path or "", err.line or 0, err.offset or 0)
        _say(said, error=[codes.get(err.code, _errors.USAGE), err.message, *where])
    return 0


if __name__ == "__main__":
    sys.exit(main())
