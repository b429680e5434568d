"""Information: presets, counters, profilers, this machine."""

from __future__ import annotations

import ctypes as C
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _native
from ._results import Document, pick


def version() -> str:
    """The release of the library."""
    return _native.text_of(_native.lib().rk_version())


class Doctor(Document):
    """`rockit doctor`: what this machine offers for profiling, and what prevents it."""

    @property
    def ready(self) -> bool:
        return bool(self.data["verdict"]["ready"])

    @property
    def checks(self) -> List[Dict[str, str]]:
        return list(self.data["checks"])


def doctor() -> Doctor:
    """Looks at profilers, GPUs, permissions and known hazards; starts no process."""
    lib, made, err = _native.lib(), C.c_void_p(), _native.RkError()
    _native.check(lib.rk_doctor_new(None, C.byref(made), C.byref(err)), err)
    try:
        json = _native.RkRenderOptions(format=_native.JSON)
        text = _native.RkRenderOptions(format=_native.TEXT, utf8=True, columns=100)
        data = _native.parsed(_native.rendered(lib.rk_doctor_render, made, C.byref(json), False))
        shown = _native.rendered(lib.rk_doctor_render, made, C.byref(text), False)
    finally:
        lib.rk_doctor_free(made)
    return Doctor(data, _native.text_of(shown))


def tools() -> List[Dict[str, Any]]:
    """The installed profilers; for each name the preferred one comes first."""
    return list(doctor().data["tools"])


def _preset_names() -> List[str]:
    lib, names, err = _native.lib(), _native.RkPresetNames(), _native.RkError()
    _native.check(lib.rk_preset_list(C.byref(names), C.byref(err)), err)
    try:
        return [_native.text_of(names.names[i]) for i in range(names.n)]
    finally:
        lib.rk_preset_names_release(C.byref(names))


def presets(name: Optional[str] = None) -> Dict[str, Dict[str, Any]]:
    """All presets by name, or one of them, by name or file."""
    lib, err = _native.lib(), _native.RkError()
    loaded: List[C.c_void_p] = []
    try:
        for one in [name] if name is not None else _preset_names():
            made = C.c_void_p()
            _native.check(lib.rk_preset_load(_native.bytes_of(one), C.byref(made), C.byref(err)), err)
            loaded.append(made)
        all_of = (C.c_void_p * len(loaded))(*(p.value for p in loaded))
        raw = _native.rendered(lib.rk_presets_render, all_of, len(loaded), False, _native.JSON)
    finally:
        for made in loaded:
            lib.rk_preset_free(made)
    return {p["name"]: p for p in _native.parsed(raw)["presets"]}


@dataclass(frozen=True)
class Counter:
    """A hardware counter, or one derived from others."""

    name: str
    block: Optional[str]
    derived: bool
    needs: List[str]
    description: str


def counters(arch: str, *words: str) -> List[Counter]:
    """The counters of a target ("gfx942"), optionally those whose name or description has one of the words."""
    lib, n = _native.lib(), C.c_size_t()

    def render(text: Any, length: Any, err: Any) -> int:
        found: int = lib.rk_counters_render(
            _native.bytes_of(arch), _native.list_of(words), len(words), _native.JSON, text, length, C.byref(n), err
        )
        return found

    return [pick(Counter, c) for c in _native.parsed(_native.rendered(render))["counters"]]


def counter_passes(arch: str, counters: Union[str, Sequence[str]]) -> List[List[str]]:
    """The passes needed for these counters: one list of counters per execution of the program.
    Takes names, "@category", sets ("memory_bound") and files that list them."""
    lib, made, err = _native.lib(), C.c_void_p(), _native.RkError()
    spec = _native.words_of(counters)
    _native.check(lib.rk_counters_plan(_native.bytes_of(arch), spec, C.byref(made), C.byref(err)), err)
    try:
        data = _native.parsed(_native.rendered(lib.rk_counter_plan_render, made, _native.JSON))
    finally:
        lib.rk_counter_plan_free(made)
    return [p["counters"] for p in data["passes"]]
