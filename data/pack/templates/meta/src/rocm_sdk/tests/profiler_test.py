"""Checks of rocprof-sys and rocprof-compute."""

import shutil
import unittest

from .. import _dist_info
from . import utils

PROFILER = utils.platform_folder("profiler")
DIST = _dist_info.ALL_PACKAGES["profiler"].get_dist_package_name()


class ProfilerTest(unittest.TestCase):
    def test_folder_is_beside_rocm_sdk(self):
        utils.check_beside_rocm_sdk(self, PROFILER)

    @unittest.skipUnless(shutil.which("ldd"), "needs ldd")
    def test_every_library_finds_those_it_needs(self):
        paths = sorted(PROFILER.glob("lib/**/*.so*"))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path=path):
                self.assertNotIn("not found", utils.output(["ldd", path]))

    def test_libraries_have_their_names_without_version(self):
        """They are preloaded into other programs by these names."""
        paths = sorted(PROFILER.glob("lib/librocprof-sys*.so.*"))
        self.assertTrue(paths)
        for path in paths:
            self.assertTrue(path.with_suffix("").is_file(), path)

    def test_every_script_names_a_function(self):
        scripts = utils.check_scripts_name_functions(self, DIST)
        self.assertIn("rocprof-compute", scripts)

    def test_scripts_start_programs(self):
        for script in ("rocprof-sys-run", "rocprof-sys-sample", "rocprof-sys-instrument"):
            utils.check_script_says(self, script, ["--version"], script)
