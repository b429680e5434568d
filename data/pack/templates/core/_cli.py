"""Console scripts of @DIST@: each starts the program of its name."""

import os
import sys
from pathlib import Path

from . import _dist_info

# Not resolved: an installer may link single files from its cache.
_SITE = Path(os.path.abspath(__file__)).parent.parent
_CORE = _SITE / _dist_info.ALL_PACKAGES["core"].get_py_package_name()


def _root(expand: bool) -> Path:
    try:
        from rocm_sdk._devel import find_tool_root
    except ImportError:  # without the package `rocm` there is nothing to unpack
        return _CORE
    return find_tool_root(_CORE, expand)


def _exec(relpath: str, expand: bool = True):
    """Becomes the program. That of the development tree, which is unpacked first unless the
    program has no use for it; that of this package if there is no such tree."""
    program = _root(expand) / relpath
    if not program.exists():
        program = _CORE / relpath
    try:
        os.execv(str(program), [str(program)] + sys.argv[1:])
    except OSError as e:
        sys.exit("%s: cannot start '%s': %s" % (os.path.basename(sys.argv[0]), program, e.strerror))


# @SCRIPTS@
