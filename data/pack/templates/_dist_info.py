"""What this set of ROCm packages consists of: packages, libraries by short name, GPU families.

The same text is part of every package of the set. Assignments that differ from package to package
stand at the end.
"""

import importlib.util
import os
import subprocess
import sys
import sysconfig
from typing import Dict, List, Optional

# Filled in at the end of this file.
__version__ = "0"
PY_PACKAGE_SUFFIX_NONCE = ""
DEFAULT_TARGET_FAMILY: Optional[str] = None
AVAILABLE_TARGET_FAMILIES: List[str] = []
LINUX_TARGET_FAMILIES: List[str] = []
WINDOWS_TARGET_FAMILIES: List[str] = []
THIS_TARGET_FAMILY: Optional[str] = None
THIS_PACKAGE_ENTRY: Optional["PackageEntry"] = None

# What determine_target_family() found, for the rest of this process.
CACHED_TARGET_FAMILY: Optional[str] = None

ALL_PACKAGES: Dict[str, "PackageEntry"] = {}
ALL_LIBRARIES: Dict[str, "LibraryEntry"] = {}


def _base_target(family: str) -> str:
    """gfx942:xnack+ and gfx942 share their packages."""
    return family.split(":", 1)[0]


class PackageEntry:
    """One package of the set, by its logical name ("core").

    dist_package_template is the name that pip knows; with "{target_family}" in it there is one
    distribution for each GPU family. The files themselves are in a platform folder of their own
    (get_py_package_name), beside the Python code (get_pure_py_package_name).
    """

    def __init__(
        self,
        logical_name: str,
        dist_package_template: str,
        *,
        pure_py_package_name: Optional[str] = None,
        required: bool = False,
        platform_of: Optional[str] = None
    ):
        if logical_name in ALL_PACKAGES:
            raise ValueError("package '%s' is defined twice" % logical_name)
        self.logical_name = logical_name
        self.dist_package_template = dist_package_template
        self.required = required
        self._pure_py_package_name = pure_py_package_name
        self._platform_of = platform_of
        ALL_PACKAGES[logical_name] = self

    @property
    def is_target_specific(self) -> bool:
        return "{target_family}" in self.dist_package_template

    @property
    def is_offered(self) -> bool:
        """Whether this set may have the package: device packages belong to libraries that are one
        package for all families, packages for one family to families."""
        if self._platform_of is not None and ALL_PACKAGES[self._platform_of].is_target_specific:
            return False
        return bool(AVAILABLE_TARGET_FAMILIES) or not self.is_target_specific

    def get_dist_package_name(self, target_family: Optional[str] = None) -> str:
        """The distribution's name; a package for one family needs to be told which."""
        if not self.is_target_specific:
            return self.dist_package_template
        if target_family is None:
            raise ValueError(
                "package '%s' differs between GPU families: name one of them (%s)"
                % (self.logical_name, ", ".join(AVAILABLE_TARGET_FAMILIES))
            )
        return self.dist_package_template.replace("{target_family}", _base_target(target_family))

    def get_dist_package_require(self, target_family: Optional[str] = None) -> str:
        """A requirement for exactly this version."""
        return "%s==%s" % (self.get_dist_package_name(target_family), __version__)

    def get_py_package_name(self, target_family: Optional[str] = None) -> str:
        """The platform folder. Device packages put their files into that of the libraries."""
        if self._platform_of is not None:
            return ALL_PACKAGES[self._platform_of].get_py_package_name(target_family)
        name = self.get_dist_package_name(target_family)
        return "_" + name.replace("-", "_") + PY_PACKAGE_SUFFIX_NONCE

    @property
    def pure_py_package_name(self) -> str:
        """The package with Python code; of one for each family, that of this family."""
        if self._pure_py_package_name is not None:
            return self._pure_py_package_name
        return self.get_pure_py_package_name(THIS_TARGET_FAMILY or DEFAULT_TARGET_FAMILY)

    def get_pure_py_package_name(self, target_family: Optional[str] = None) -> str:
        if self._pure_py_package_name is not None:
            return self._pure_py_package_name
        return self.get_dist_package_name(target_family).replace("-", "_")

    def get_py_package(self, target_family: Optional[str] = None):
        """The import spec of the platform folder, None when it is not installed.

        A folder without __init__.py is what is left of something else: not installed.
        """
        if not self.is_offered:
            return None
        spec = importlib.util.find_spec(self.get_py_package_name(target_family))
        return spec if spec is not None and spec.origin else None

    def has_py_package(self, target_family: Optional[str] = None) -> bool:
        return self.get_py_package(target_family) is not None

    def __repr__(self):
        return "PackageEntry(%r, %r)" % (self.logical_name, self.dist_package_template)


class LibraryEntry:
    """One library that can be asked for by a short name."""

    def __init__(
        self,
        shortname: str,
        package_name: str,
        so_pattern: str,
        dll_pattern: str = "",
        posix_relpath: str = "lib",
        optional: bool = False,
    ):
        if shortname in ALL_LIBRARIES:
            raise ValueError("library '%s' is defined twice" % shortname)
        self.shortname = shortname
        self.package = ALL_PACKAGES[package_name]
        self.so_pattern = so_pattern
        self.dll_pattern = dll_pattern
        self.posix_relpath = posix_relpath
        self.windows_relpath = "bin"
        self.optional = optional
        ALL_LIBRARIES[shortname] = self

    def __repr__(self):
        return "LibraryEntry(%r, %r, %r)" % (
            self.shortname,
            self.package.logical_name,
            self.so_pattern,
        )


def _verbose(text: str):
    if os.environ.get("ROCM_SDK_VERBOSE") == "1":
        print("rocm-sdk: " + text, file=sys.stderr)


def _family_of_arch(arch: str) -> Optional[str]:
    """gfx942 belongs to gfx94X-dcgpu, or is a family of its own."""
    names = [arch[:-1] + "X" + tail for tail in ("-all", "-dgpu", "-igpu", "-dcgpu")]
    for name in names + [arch]:
        if name in AVAILABLE_TARGET_FAMILIES:
            return name
    return None


def discover_current_target_family() -> Optional[str]:
    """The family of the first GPU that offload-arch reports and that is available, or None."""
    env = dict(os.environ)
    scripts = sysconfig.get_path("scripts")
    env["PATH"] = os.pathsep.join(p for p in (scripts, env.get("PATH")) if p)
    try:
        done = subprocess.run(
            ["offload-arch"],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            timeout=60,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        _verbose("offload-arch could not be run: %s" % e)
        return None
    if done.returncode != 0:
        _verbose("offload-arch ended with %d: %s" % (done.returncode, done.stdout.strip()))
        return None
    for line in done.stdout.split():
        family = _family_of_arch(_base_target(line))
        if family is not None:
            return family
    _verbose("no family for what offload-arch said: %s" % done.stdout.strip())
    return None


def determine_target_family() -> Optional[str]:
    """$ROCM_SDK_TARGET_FAMILY, or the GPU of this machine, or the default; found once per process.

    None where there is nothing to choose: a set without packages for GPU families.
    """
    global CACHED_TARGET_FAMILY
    if not AVAILABLE_TARGET_FAMILIES:
        return None
    if CACHED_TARGET_FAMILY is not None:
        return CACHED_TARGET_FAMILY
    asked = os.environ.get("ROCM_SDK_TARGET_FAMILY")
    family = asked or discover_current_target_family() or DEFAULT_TARGET_FAMILY
    if family not in AVAILABLE_TARGET_FAMILIES:
        raise ValueError(
            "%s'%s' is not among the GPU families of this distribution: %s"
            % (
                "ROCM_SDK_TARGET_FAMILY=" if asked else "",
                family,
                ", ".join(AVAILABLE_TARGET_FAMILIES),
            )
        )
    CACHED_TARGET_FAMILY = family
    return family


def get_target_family_platform_marker(target_family: str) -> Optional[str]:
    """A PEP 508 marker where only one of two systems has this family, else None."""
    if not LINUX_TARGET_FAMILIES or not WINDOWS_TARGET_FAMILIES:
        return None
    linux = target_family in LINUX_TARGET_FAMILIES
    windows = target_family in WINDOWS_TARGET_FAMILIES
    if linux == windows:
        return None
    return 'sys_platform == "%s"' % ("linux" if linux else "win32")


def _available_targets() -> List[str]:
    """Families without what their packages do not show, each once, in order."""
    return list(dict.fromkeys(_base_target(f) for f in AVAILABLE_TARGET_FAMILIES))


def build_per_target_extras() -> Dict[str, List[str]]:
    """Extras such as libraries-gfx94X-dcgpu and libraries-all, where there is a choice."""
    targets = _available_targets()
    extras: Dict[str, List[str]] = {}
    if len(targets) < 2:
        return extras
    for entry in ALL_PACKAGES.values():
        if entry.required or not entry.is_target_specific or not entry.is_offered:
            continue
        everything = extras[entry.logical_name + "-all"] = []
        for target in targets:
            require = entry.get_dist_package_require(target)
            marker = get_target_family_platform_marker(target)
            if marker:
                require += "; " + marker
            extras["%s-%s" % (entry.logical_name, target)] = [require]
            everything.append(require)
    return extras


def build_extras(target_family: Optional[str]) -> Dict[str, List[str]]:
    """All extras of the `rocm` package: one for each optional package, and those per target."""
    extras = {
        entry.logical_name: [entry.get_dist_package_require(target_family)]
        for entry in ALL_PACKAGES.values()
        if not entry.required and entry.is_offered
    }
    extras.update(build_per_target_extras())
    return extras


def build_install_requires(target_family: Optional[str] = None) -> List[str]:
    """What `rocm` needs always."""
    return [
        entry.get_dist_package_require(target_family)
        for entry in ALL_PACKAGES.values()
        if entry.required and entry.logical_name != "meta"
    ]


PackageEntry("meta", "rocm", pure_py_package_name="rocm_sdk", required=True)
PackageEntry("core", "rocm-sdk-core", pure_py_package_name="rocm_sdk_core", required=True)
PackageEntry("libraries", "rocm-sdk-libraries-{target_family}")
PackageEntry("device", "rocm-sdk-device-{target_family}", platform_of="libraries")
PackageEntry("devel", "rocm-sdk-devel", pure_py_package_name="rocm_sdk_devel")
PackageEntry("profiler", "@PROFILER_DIST@", pure_py_package_name="@PROFILER_MODULE@")

# Short name, package, pattern on Linux, pattern on Windows ("": not there), folder on Linux.
LibraryEntry("amdhip64", "core", "libamdhip64.so*", "amdhip64*.dll")
LibraryEntry("hipfile", "core", "libhipfile.so*")
LibraryEntry("hiprtc", "core", "libhiprtc.so*", "hiprtc[0-9]*.dll")
LibraryEntry("roctx64", "core", "libroctx64.so*")
LibraryEntry("rocprofiler-sdk", "core", "librocprofiler-sdk.so*")
LibraryEntry("rocprofiler-sdk-roctx", "core", "librocprofiler-sdk-roctx.so*")
LibraryEntry("roctracer64", "core", "libroctracer64.so*")
LibraryEntry("amd_comgr", "core", "libamd_comgr.so*", "amd_comgr*.dll")
LibraryEntry("rocm_kpack", "core", "librocm_kpack.so*", "rocm_kpack*.dll")
LibraryEntry("rocm_smi64", "core", "librocm_smi64.so*")
LibraryEntry("rocdecode", "core", "librocdecode.so*")
LibraryEntry("rocjpeg", "core", "librocjpeg.so*")
LibraryEntry("amd_smi", "core", "libamd_smi.so*")
LibraryEntry("rocdxg", "core", "librocdxg*.so*", optional=True)
LibraryEntry(
    "rocm_sysdeps_liblzma",
    "core",
    "librocm_sysdeps_liblzma.so.*",
    posix_relpath="lib/rocm_sysdeps/lib",
)
LibraryEntry(
    "rocm-openblas",
    "core",
    "librocm-openblas.so.*",
    "rocm-openblas*.dll",
    posix_relpath="lib/host-math/lib",
)
LibraryEntry("rpp", "libraries", "librpp.so*")
LibraryEntry("hipblas", "libraries", "libhipblas.so*", "*hipblas.dll")
LibraryEntry("hipblaslt", "libraries", "libhipblaslt.so*", "*hipblaslt*.dll")
LibraryEntry("hipfft", "libraries", "libhipfft.so*", "hipfft*.dll")
LibraryEntry("hiprand", "libraries", "libhiprand.so*", "hiprand*.dll")
LibraryEntry("hipsparse", "libraries", "libhipsparse.so*", "hipsparse*.dll")
LibraryEntry("hipsparselt", "libraries", "libhipsparselt.so*")
LibraryEntry("hipsolver", "libraries", "libhipsolver.so*", "hipsolver*.dll")
LibraryEntry("rccl", "libraries", "librccl.so*")
LibraryEntry("origami", "libraries", "liborigami.so*", "origami*.dll")
LibraryEntry("miopen", "libraries", "libMIOpen.so*", "MIOpen*.dll")
LibraryEntry("hipdnn", "libraries", "libhipdnn_backend.so*", "hipdnn_backend*.dll")

# This package.
