"""Checks of `rocm` itself: the tool and the Python functions."""

import os
import re
import unittest
import warnings
from unittest import mock

import rocm_sdk

from .. import _dist_info
from . import utils

PRELOAD = "ROCM_SDK_PRELOAD_LIBRARIES"


class ToolTest(unittest.TestCase):
    def test_help_shows_usage(self):
        self.assertIn("usage:", utils.rocm_sdk_tool("--help"))

    def test_version_is_that_of_the_module(self):
        self.assertEqual(utils.rocm_sdk_tool("version"), rocm_sdk.__version__)

    def test_targets_are_gpus(self):
        self.assertRegex(utils.rocm_sdk_tool("targets"), r"\bgfx")


class PreloadTest(unittest.TestCase):
    def setUp(self):
        patches = [mock.patch.dict(os.environ), mock.patch.dict(rocm_sdk._ALL_CDLLS, clear=True)]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        os.environ.pop(PRELOAD, None)

    def test_by_argument(self):
        rocm_sdk.initialize_process(preload_shortnames=["amdhip64"], not_yet_known=True)
        self.assertEqual(list(rocm_sdk._ALL_CDLLS), ["amdhip64"])

    def test_by_variable_with_commas_or_semicolons(self):
        for text in ("amdhip64,hiprtc", " ;hiprtc; ;amdhip64; "):
            with self.subTest(text=text):
                rocm_sdk._ALL_CDLLS.clear()
                os.environ[PRELOAD] = text
                rocm_sdk.initialize_process()
                self.assertEqual(set(rocm_sdk._ALL_CDLLS), {"amdhip64", "hiprtc"})

    def test_variable_is_named_when_it_is_wrong(self):
        os.environ[PRELOAD] = "no_such_library"
        with self.assertRaisesRegex(RuntimeError, PRELOAD + "='no_such_library'"):
            rocm_sdk.initialize_process()

    def test_variable_can_be_left_alone(self):
        os.environ[PRELOAD] = "no_such_library"
        rocm_sdk.initialize_process(env_override=False)


class VersionTest(unittest.TestCase):
    def check(self, wanted, **kwargs):
        rocm_sdk.initialize_process(env_override=False, check_version=wanted, **kwargs)

    def test_matches(self):
        version = rocm_sdk.__version__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for wanted in (version, "*", version[:3] + "*", "*" + version[-2:], re.compile(".+")):
                with self.subTest(wanted=wanted):
                    self.check(wanted, fail_on_version_mismatch=True)

    def test_mismatch_warns_or_raises(self):
        start = "The program was compiled against a ROCm version matching"
        for wanted in ("badversion", "[0-9]*", re.compile("badversion")):
            with self.subTest(wanted=wanted):
                with self.assertWarnsRegex(UserWarning, "^" + start):
                    self.check(wanted)
                with self.assertRaisesRegex(RuntimeError, "^" + start):
                    self.check(wanted, fail_on_version_mismatch=True)


class FindTest(unittest.TestCase):
    def test_paths_are_those_of_files(self):
        found = rocm_sdk.find_libraries("amdhip64", "amd_comgr")
        self.assertEqual(len(found), 2)
        for path in found:
            self.assertTrue(path.is_absolute() and path.is_file(), path)

    def test_unknown_name(self):
        with self.assertRaisesRegex(ModuleNotFoundError, "no_such_library"):
            rocm_sdk.find_libraries("amdhip64", "no_such_library")

    def test_missing_package_names_its_extra(self):
        entry = _dist_info.ALL_PACKAGES["libraries"]
        with mock.patch.object(type(entry), "get_py_package", return_value=None):
            with self.assertRaisesRegex(ModuleNotFoundError, r"'hipblas'.*rocm\[libraries"):
                rocm_sdk.find_libraries("amdhip64", "hipblas")

    @unittest.skipUnless(_dist_info.AVAILABLE_TARGET_FAMILIES, "no packages for GPU families")
    def test_family_has_to_be_available(self):
        with mock.patch.dict(os.environ, ROCM_SDK_TARGET_FAMILY="gfx000"):
            with mock.patch.object(_dist_info, "CACHED_TARGET_FAMILY", None):
                with self.assertRaisesRegex(ValueError, "gfx000.*gfx"):
                    _dist_info.determine_target_family()
