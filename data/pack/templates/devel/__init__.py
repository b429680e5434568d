"""ROCm development files, in an archive here until `rocm-sdk init` unpacks them."""

from ._dist_info import __version__
