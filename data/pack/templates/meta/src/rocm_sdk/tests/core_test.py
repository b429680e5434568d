"""Checks of the runtime."""

import unittest

import rocm_sdk

from .. import _dist_info
from . import utils

CORE = utils.platform_folder("core")


class CoreTest(unittest.TestCase):
    def test_folder_is_beside_rocm_sdk(self):
        utils.check_beside_rocm_sdk(self, CORE)

    def test_every_library_loads(self):
        utils.check_all_load(self, utils.shared_libraries(CORE))

    def test_every_script_names_a_function(self):
        scripts = utils.check_scripts_name_functions(self, "rocm-sdk-core")
        self.assertIn("rocprofv3", scripts)

    def test_scripts_start_programs(self):
        for script, args, text in (
            ("amdclang", ["--help"], "clang"),
            ("amdclang++", ["--help"], "clang"),
            ("hipcc", ["--help"], "clang"),
            ("hipconfig", [], "HIP version"),
            ("rocprofv3", ["--help"], "rocprofv3"),
        ):
            utils.check_script_says(self, script, args, text)

    def test_every_short_name_of_an_installed_package_can_be_preloaded(self):
        family = _dist_info.determine_target_family()
        for entry in _dist_info.ALL_LIBRARIES.values():
            if entry.package.has_py_package(family):
                with self.subTest(shortname=entry.shortname):
                    rocm_sdk.preload_libraries(entry.shortname)
