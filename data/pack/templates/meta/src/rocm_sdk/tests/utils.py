"""What the tests share."""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import rocm_sdk

from .. import _dist_info

SITE = Path(rocm_sdk.__file__).parent.parent

# Not meant to be loaded by themselves: they come into a program by way of others, or not at all.
NOT_ALONE = (
    "clang_rt",
    "libLLVMOffload",
    "/lib/roctracer/",
    "/share/roctracer/",
    "/lib/rocprofiler-sdk/",
    "/libexec/rocprofiler-sdk/",
    "libpyrocpd",
    "libpyroctx",
    "libtest_linking_lib",
    "opencl",
)

# A process of its own for each library, forked from one that has loaded nothing of ROCm.
LOADER = """
import ctypes, os, sys
before, failed = sys.argv[1].split(), 0
for path in sys.stdin.read().split("\\0"):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if before:
                import rocm_sdk
                rocm_sdk.preload_libraries(*before)
            ctypes.CDLL(path)
            status = 0
        except BaseException as e:
            print("%s: %s" % (path, e))
            sys.stdout.flush()
        os._exit(status)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        print("%s: signal %d" % (path, os.WTERMSIG(status)))
    failed |= status != 0
sys.exit(failed != 0)
"""


def platform_folder(logical_name, family=None):
    """The folder of an installed package."""
    return Path(_dist_info.ALL_PACKAGES[logical_name].get_py_package(family).origin).parent


def python(*args, **kwargs):
    """Output of Python; what the current folder holds must not be imported in place of what is
    installed."""
    safe = ["-P"] if sys.version_info >= (3, 11) else []
    return output([sys.executable] + safe + list(args), **kwargs)


def output(args, **kwargs):
    done = subprocess.run(
        [str(a) for a in args],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        errors="replace",
        **(kwargs if "input" in kwargs else dict(kwargs, stdin=subprocess.DEVNULL))
    )
    if done.returncode != 0:
        raise AssertionError("%s: status %d\n%s" % (args, done.returncode, done.stdout))
    return done.stdout


def rocm_sdk_tool(*args):
    return python("-m", "rocm_sdk", *args).strip()


def shared_libraries(folder):
    found = sorted(set(folder.glob("**/*.so")) | set(folder.glob("**/*.so.*")))
    return [p for p in found if p.is_file() and not any(x in str(p) for x in NOT_ALONE)]


def check_all_load(test, paths, preload=()):
    test.assertTrue(paths, "no shared libraries found")
    python("-c", LOADER, " ".join(preload), input="\0".join(map(str, paths)))


def check_beside_rocm_sdk(test, folder):
    """Packages reach each other by relative paths."""
    test.assertTrue((folder / "__init__.py").is_file(), "%s is not a package" % folder)
    test.assertEqual(os.path.realpath(str(folder.parent)), os.path.realpath(str(SITE)))


def console_scripts(dist):
    """Name -> function, of an installed distribution."""
    found = importlib.metadata.distribution(dist).entry_points
    return {e.name: e.value for e in found if e.group == "console_scripts"}


def find_script(name):
    schemes = [sysconfig.get_default_scheme] if hasattr(sysconfig, "get_default_scheme") else []
    folders = [sysconfig.get_path("scripts", scheme()) for scheme in schemes]
    folders += [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", "posix_user")]
    folders.append(os.path.dirname(os.path.abspath(sys.argv[0])))
    for folder in folders:
        path = Path(folder) / name
        if path.is_file():
            return path
    raise AssertionError("console script '%s' is in none of %s" % (name, ", ".join(folders)))


def check_scripts_name_functions(test, dist):
    """Each console script is there, and the function it calls, too."""
    scripts = console_scripts(dist)
    for name, value in sorted(scripts.items()):
        with test.subTest(script=name):
            find_script(name)
            module, function = value.split(":")
            test.assertTrue(callable(getattr(importlib.import_module(module), function, None)))
    return scripts


def check_script_says(test, script, args, text):
    with test.subTest(script=script):
        test.assertIn(text.lower(), output([find_script(script)] + args).lower())
