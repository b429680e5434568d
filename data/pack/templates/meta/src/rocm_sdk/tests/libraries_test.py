"""Checks of the libraries for this machine's family of GPUs."""

import unittest

import rocm_sdk

from .. import _dist_info
from . import utils

LIBRARIES = utils.platform_folder("libraries", _dist_info.determine_target_family())


class LibrariesTest(unittest.TestCase):
    def test_folder_is_beside_rocm_sdk(self):
        utils.check_beside_rocm_sdk(self, LIBRARIES)

    def test_every_library_loads(self):
        utils.check_all_load(
            self,
            utils.shared_libraries(LIBRARIES),
            preload=("amd_comgr", "amdhip64", "hiprtc"),
        )

    def test_paths_are_those_of_this_package(self):
        for path in rocm_sdk.find_libraries("hipblas", "miopen", "rccl"):
            self.assertIn(LIBRARIES, path.parents)
