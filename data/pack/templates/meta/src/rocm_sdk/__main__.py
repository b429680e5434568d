"""rocm-sdk: paths, version and checks of the ROCm packages in this Python environment."""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import List, Optional

from . import _dist_info


class Failure(Exception):
    """Something the user can do something about: shown without a traceback."""


def _devel_root() -> Path:
    from . import _devel

    try:
        return _devel.get_devel_root()
    except ModuleNotFoundError as e:
        raise Failure(
            "the development files of ROCm are not installed: pip install 'rocm[devel]==%s'"
            % _dist_info.__version__,
            str(e),
        )
    except (_devel.ExpandError, OSError) as e:
        raise Failure("the development files of ROCm cannot be unpacked", str(e))


def _path(args) -> None:
    root = _devel_root()
    print(root / "lib" / "cmake" if args.cmake else root / "bin" if args.bin else root)


def _init(args) -> None:
    root = _devel_root()
    if not args.quiet:
        print("The development files of ROCm are in '%s'" % root)


def _version(args) -> None:
    print(_dist_info.__version__)


def _core_folder() -> Path:
    spec = _dist_info.ALL_PACKAGES["core"].get_py_package()
    if spec is None:
        raise Failure(
            "the package rocm-sdk-core is not installed: pip install 'rocm==%s'"
            % _dist_info.__version__
        )
    return Path(spec.origin).parent


def _targets(args) -> None:
    path = _core_folder() / "share" / "therock" / "dist_info.json"
    try:
        print(json.loads(path.read_text(encoding="utf-8"))["dist_amdgpu_targets"])
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise Failure("'%s' does not name the GPU targets: %r" % (path, e))


def _test_modules() -> List[str]:
    """The tests of what is installed."""
    packages = _dist_info.ALL_PACKAGES
    family = _dist_info.determine_target_family()
    there = {
        "libraries": packages["libraries"].has_py_package(family),
        "devel": importlib.util.find_spec("rocm_sdk_devel") is not None,
        "profiler": packages["profiler"].has_py_package(),
    }
    for name, installed in there.items():
        if not installed:
            print("NOTE: rocm[%s] is not installed (for %s): not tested" % (name, family))
    names = ["base", "core"] + [name for name, installed in there.items() if installed]
    return ["%s.tests.%s_test" % (__package__, name) for name in names]


def _test(args) -> None:
    import unittest

    _core_folder()  # without it nothing else works
    suite = unittest.TestLoader().loadTestsFromNames(_test_modules())
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2)
    if not runner.run(suite).wasSuccessful():
        sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rocm-sdk", description="Paths, version and checks of the ROCm Python packages."
    )
    verbs = parser.add_subparsers(dest="verb", metavar="COMMAND")
    verbs.required = True
    path = verbs.add_parser("path", help="print a path of the development files")
    which = path.add_mutually_exclusive_group(required=True)
    which.add_argument("--cmake", action="store_true", help="for CMAKE_PREFIX_PATH")
    which.add_argument("--bin", action="store_true", help="for PATH")
    which.add_argument("--root", action="store_true", help="for ROCM_PATH, ROCM_HOME")
    path.set_defaults(run=_path)
    init = verbs.add_parser("init", help="unpack the development files, if not yet done")
    init.add_argument("--quiet", action="store_true", help="do not say where they are")
    init.set_defaults(run=_init)
    for name, run, text in (
        ("version", _version, "print the version of ROCm"),
        ("targets", _targets, "print the GPU targets that were built"),
        ("test", _test, "check that everything installed works together"),
    ):
        verbs.add_parser(name, help=text).set_defaults(run=run)
    return parser


def main(argv: Optional[List[str]] = None) -> None:
    args = _parser().parse_args(argv)
    try:
        args.run(args)
    except Failure as e:
        for line in e.args:
            print("ERROR: " + line, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
