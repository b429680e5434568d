"""Checks of the development files; they are unpacked for it."""

import contextlib
import importlib
import os
import unittest
from pathlib import Path

from .. import _devel, _dist_info
from . import utils

ROOT = None  # once it is unpacked


def setUpModule():
    global ROOT
    with contextlib.suppress(_devel.ExpandError, OSError):  # the first test tells it
        ROOT = _devel.get_devel_root()


class UnpackedTest(unittest.TestCase):
    def test_development_files_are_unpacked(self):
        try:
            _devel.get_devel_root()
        except (_devel.ExpandError, OSError) as e:
            said = str(e)
        else:
            return
        self.fail(said)

    def test_they_are_for_the_family_of_the_other_packages(self):
        """A package of the same version for another family is not replaced by pip."""
        info = importlib.import_module("rocm_sdk_devel._dist_info")
        family = _dist_info.determine_target_family()
        if info.THIS_TARGET_FAMILY not in (None, family):
            self.fail(
                "rocm-sdk-devel is for %s, the other packages are for %s: uninstall it, and "
                "install 'rocm[devel]==%s' again"
                % (info.THIS_TARGET_FAMILY, family, _dist_info.__version__)
            )


class DevelTest(unittest.TestCase):
    def setUp(self):
        if ROOT is None:
            self.skipTest("they are not unpacked")

    def test_folder_is_beside_rocm_sdk(self):
        utils.check_beside_rocm_sdk(self, ROOT)

    def test_tool_prints_paths(self):
        for option, path, member in (
            ("--root", ROOT, "bin"),
            ("--bin", ROOT / "bin", "hipcc"),
            ("--cmake", ROOT / "lib" / "cmake", "hip/hip-config.cmake"),
        ):
            with self.subTest(option=option):
                self.assertEqual(utils.rocm_sdk_tool("path", option), str(path))
                self.assertTrue((path / member).exists(), path / member)

    def test_unpacking_again_changes_nothing(self):
        self.assertEqual(_devel.get_devel_root(), ROOT)
        self.assertEqual(list(ROOT.parent.glob("rocm_sdk_devel/_devel.tar*")), [])
        self.assertFalse(Path(str(ROOT) + _devel.PARTIAL).exists())

    def test_hipconfig_reports_this_tree(self):
        said = utils.output([utils.find_script("hipconfig"), "--rocmpath"]).strip()
        self.assertEqual(os.path.realpath(said), os.path.realpath(str(ROOT)))

    def test_compiler_is_below_llvm(self):
        self.assertTrue((ROOT / "llvm" / "bin" / "clang++").exists())

    def test_every_library_loads(self):
        utils.check_all_load(self, utils.shared_libraries(ROOT))

    def test_files_of_other_packages_are_shared_with_them(self):
        family = _dist_info.determine_target_family()
        missing = []
        for name in ("core", "libraries"):
            if not _dist_info.ALL_PACKAGES[name].has_py_package(family):
                continue
            folder = utils.platform_folder(name, family)
            # lib/libx.so beside libx.so.1 may be a small library that leads there; for a linker it
            # has to be the same.
            for path in sorted(folder.glob("lib/*.so.*")):
                here = ROOT / path.relative_to(folder)
                if not here.exists() or here.stat().st_size != path.stat().st_size:
                    missing.append(str(here))
        self.assertEqual(missing, [])

    def test_everything_is_in_record(self):
        """What is not would stay behind after an uninstall."""
        record = _devel._record_of(ROOT.parent, "rocm-sdk-devel")
        with open(str(record), encoding="utf-8") as f:
            self.assertIn(ROOT.name + ",,\n", f.readlines())
