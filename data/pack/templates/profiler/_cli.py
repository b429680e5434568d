"""Console scripts of @DIST@: each starts the program of its name."""

import os
import sys
from pathlib import Path

from . import _dist_info

# Not resolved: an installer may link single files from its cache.
_SITE = Path(os.path.abspath(__file__)).parent.parent
_ROOT = _SITE / _dist_info.ALL_PACKAGES["profiler"].get_py_package_name()
_CORE = _SITE / _dist_info.ALL_PACKAGES["core"].get_py_package_name()


def _in_front(variable: str, *folders: Path):
    """Puts folders before what the variable already lists."""
    old = os.environ.get(variable)
    os.environ[variable] = os.pathsep.join([str(f) for f in folders] + ([old] if old else []))


def _exec(relpath: str, expand: bool = True):
    """Becomes the program. It preloads libraries into other programs, which search for theirs
    through LD_LIBRARY_PATH; rocprof-compute imports Python modules of its own. There is nothing
    to unpack: `expand` is for scripts of other packages."""
    if not _CORE.is_dir():
        sys.exit(
            "%s: the package rocm-sdk-core is not installed beside @DIST@: "
            "pip install 'rocm[profiler]==%s'"
            % (os.path.basename(sys.argv[0]), _dist_info.__version__)
        )
    _in_front("LD_LIBRARY_PATH", _ROOT / "lib", _CORE / "lib" / "rocm_sysdeps" / "lib")
    _in_front("PYTHONPATH", _ROOT / "libexec" / "rocprofiler-compute")
    program = _ROOT / relpath
    try:
        os.execv(str(program), [str(program)] + sys.argv[1:])
    except OSError as e:
        sys.exit("%s: cannot start '%s': %s" % (os.path.basename(sys.argv[0]), program, e.strerror))


# @SCRIPTS@
