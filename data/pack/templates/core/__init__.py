"""The ROCm runtime; its files are in the folder @PLATFORM@ beside this package."""

from ._dist_info import __version__
