"""ROCm as Python packages: where its libraries are, and loading them before code that needs them.

A framework calls initialize_process() before it imports extensions that are linked with ROCm.
"""

import os
import re
import sys
import warnings
from pathlib import Path
from typing import Dict, List, Optional, Pattern, Sequence, Tuple, Union

from . import _dist_info
from ._dist_info import __version__

__all__ = ["__version__", "find_libraries", "initialize_process", "preload_libraries"]

# Short name -> ctypes.CDLL, so that no library is closed again while the process lives.
_ALL_CDLLS: Dict[str, object] = {}


def _library_entry(shortname: str):
    entry = _dist_info.ALL_LIBRARIES.get(shortname)
    if entry is None:
        raise ModuleNotFoundError(
            "unknown ROCm library '%s'; known are: %s"
            % (shortname, ", ".join(sorted(_dist_info.ALL_LIBRARIES)))
        )
    return entry


def _extra_of(package, family: Optional[str]) -> str:
    """What to write between the brackets of rocm[...] to get this package."""
    if family is not None and len(_dist_info.AVAILABLE_TARGET_FAMILIES) > 1:
        return "%s-%s" % (package.logical_name, family)
    return package.logical_name


def _installed_package(package) -> Tuple[Optional[Path], str]:
    """The platform folder of a package, or None and the extra that would bring it.

    Of a package for one GPU family, what is installed decides as long as it is the only one: a
    machine may have no GPU, or several.
    """
    family = None
    if package.is_target_specific:
        families = [f for f in _dist_info.AVAILABLE_TARGET_FAMILIES if package.has_py_package(f)]
        if len(families) == 1 and not os.environ.get("ROCM_SDK_TARGET_FAMILY"):
            family = families[0]
        else:
            family = _dist_info.determine_target_family()
    spec = package.get_py_package(family)
    return (Path(spec.origin).parent if spec else None), _extra_of(package, family)


def _match(entry, root: Path) -> Optional[Path]:
    """The library's file, None when it is optional and not there."""
    windows = sys.platform == "win32"
    pattern = entry.dll_pattern if windows else entry.so_pattern
    folder = root / (entry.windows_relpath if windows else entry.posix_relpath)
    found = folder.glob(pattern) if pattern else []
    # libx.so beside libx.so.1 only leads there.
    best = min(found, key=lambda p: (p.suffix == ".so", p.name), default=None)
    if best is not None:
        return best
    if entry.optional or not pattern:
        return None
    raise FileNotFoundError(
        "ROCm library '%s' is missing: no file '%s' in '%s'" % (entry.shortname, pattern, folder)
    )


def _find(shortnames: Sequence[str]) -> List[Tuple[str, Path]]:
    """Name and path of all that are there. Packages that are missing are reported together."""
    entries = [_library_entry(name) for name in shortnames]
    roots: Dict[str, Tuple[Optional[Path], str]] = {}
    for entry in entries:
        logical = entry.package.logical_name
        if logical not in roots:
            roots[logical] = _installed_package(entry.package)
    missing = [e for e in entries if roots[e.package.logical_name][0] is None]
    if missing:
        extras = sorted({roots[e.package.logical_name][1] for e in missing} - {"core"})
        raise ModuleNotFoundError(
            "no installed ROCm package has %s; install it with: pip install 'rocm%s==%s'"
            % (
                ", ".join("'%s'" % e.shortname for e in missing),
                "[%s]" % ",".join(extras) if extras else "",
                __version__,
            )
        )
    found = []
    for entry in entries:
        path = _match(entry, roots[entry.package.logical_name][0])
        if path is not None:
            found.append((entry.shortname, path))
    return found


def find_libraries(*shortnames: str) -> List[Path]:
    """Absolute paths of libraries, in the order of their names.

    Raises ModuleNotFoundError for a name that is not known and when the package that has it is not
    installed (the message says which extra of `rocm` brings it), FileNotFoundError when the
    package is there and the file is not. Optional libraries that are absent are left out.
    """
    return [path for _, path in _find(shortnames)]


def preload_libraries(*shortnames: str, rtld_global: bool = True) -> None:
    """Loads libraries, so that what is linked with them finds them already there."""
    import ctypes

    mode = ctypes.RTLD_GLOBAL if rtld_global else ctypes.RTLD_LOCAL
    for name, path in _find([n for n in shortnames if n not in _ALL_CDLLS]):
        _ALL_CDLLS[name] = ctypes.CDLL(str(path), mode=mode)


def _preload_from_environment(rtld_global: bool) -> None:
    text = os.environ.get("ROCM_SDK_PRELOAD_LIBRARIES", "")
    names = [name.strip() for name in re.split("[,;]", text) if name.strip()]
    try:
        preload_libraries(*names, rtld_global=rtld_global)
    except Exception as e:
        raise RuntimeError(
            "cannot preload what the variable ROCM_SDK_PRELOAD_LIBRARIES='%s' asks for: %s"
            % (text, e)
        ) from e


def _check_version(wanted: Union[str, Pattern], fail: bool) -> None:
    if isinstance(wanted, str):
        text = wanted
        matches = re.fullmatch(".*".join(map(re.escape, wanted.split("*"))), __version__)
    else:
        text = wanted.pattern
        matches = wanted.match(__version__)
    if matches:
        return
    message = (
        "The program was compiled against a ROCm version matching '%s', "
        "but version %s is installed in this Python environment" % (text, __version__)
    )
    if fail:
        raise RuntimeError(message)
    warnings.warn(message + "; it may not work", UserWarning, stacklevel=3)


def initialize_process(
    *,
    preload_shortnames: Optional[Sequence[str]] = None,
    rtld_global: bool = True,
    env_override: bool = True,
    check_version: Optional[Union[str, Pattern]] = None,
    fail_on_version_mismatch: bool = False,
    **ignored
) -> None:
    """Gets a process ready for code that is linked with ROCm.

    preload_shortnames: libraries to load, by short name, in this order.
    rtld_global: with their symbols for everybody (RTLD_GLOBAL).
    env_override: also those that $ROCM_SDK_PRELOAD_LIBRARIES names (commas or semicolons).
    check_version: the version of ROCm the caller was built with: a text in which * is anything, or
      a compiled pattern. Another one is a UserWarning.
    fail_on_version_mismatch: ... or a RuntimeError.
    Arguments that are not known here are for later versions and change nothing.
    """
    if preload_shortnames:
        preload_libraries(*preload_shortnames, rtld_global=rtld_global)
    if env_override:
        _preload_from_environment(rtld_global)
    if check_version:
        _check_version(check_version, fail_on_version_mismatch)
