"""Builds the package `rocm` on the machine where it is installed.

Only there it is known which GPU is to be served, hence what the extras stand for. This file is the
build backend that pyproject.toml names (PEP 517) and needs nothing but Python; `python setup.py`
does the same with setuptools.
"""

import base64
import hashlib
import importlib.util
import os
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "src")
SUMMARY = "Selects, installs and finds the ROCm packages for this machine"
SCRIPT = "rocm-sdk = rocm_sdk.__main__:main"
PYTHON = ">=3.8"


def _load_dist_info():
    path = os.path.join(SOURCE, "rocm_sdk", "_dist_info.py")
    spec = importlib.util.spec_from_file_location("rocm_dist_info", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _readme():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        return f.read()


def _with_extra(requirement, extra):
    """A requirement of an extra, which may have a marker of its own already."""
    name, _, marker = requirement.partition(";")
    condition = 'extra == "%s"' % extra
    if marker:
        condition = "(%s) and %s" % (marker.strip(), condition)
    return "%s; %s" % (name.strip(), condition)


def _metadata(dist_info):
    family = dist_info.determine_target_family()
    lines = [
        "Metadata-Version: 2.1",
        "Name: rocm",
        "Version: " + dist_info.__version__,
        "Summary: " + SUMMARY,
        "Requires-Python: " + PYTHON,
        "Description-Content-Type: text/markdown",
    ]
    lines += ["Requires-Dist: " + r for r in dist_info.build_install_requires(family)]
    for extra, requirements in sorted(dist_info.build_extras(family).items()):
        lines.append("Provides-Extra: " + extra)
        lines += ["Requires-Dist: " + _with_extra(r, extra) for r in requirements]
    return "\n".join(lines) + "\n\n" + _readme()


def _info_files(dist_info):
    return {
        "METADATA": _metadata(dist_info),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: rocm (%s)\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n" % dist_info.__version__,
        "entry_points.txt": "[console_scripts]\n%s\n" % SCRIPT,
        "top_level.txt": "rocm_sdk\n",
    }


def _info_folder(dist_info):
    return "rocm-%s.dist-info" % dist_info.__version__


def _source_files(top):
    """Paths below top, sorted, with slashes."""
    found = []
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if f != "__pycache__" and not f.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, n), top) for n in names]
    return sorted(path.replace(os.sep, "/") for path in found)


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    dist_info = _load_dist_info()
    folder = _info_folder(dist_info)
    os.makedirs(os.path.join(metadata_directory, folder))
    for name, text in _info_files(dist_info).items():
        path = os.path.join(metadata_directory, folder, name)
        with open(path, "w", encoding="utf-8", newline="\n") as f:
            f.write(text)
    return folder


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    dist_info = _load_dist_info()
    folder = _info_folder(dist_info)
    members = []
    for path in _source_files(os.path.join(SOURCE, "rocm_sdk")):
        with open(os.path.join(SOURCE, "rocm_sdk", path), "rb") as f:
            members.append(("rocm_sdk/" + path, f.read()))
    for name, text in _info_files(dist_info).items():
        members.append(("%s/%s" % (folder, name), text.encode("utf-8")))
    record = ""
    for path, data in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (path, digest, len(data))
    record += "%s/RECORD,,\n" % folder
    members.append((folder + "/RECORD", record.encode("utf-8")))
    name = "rocm-%s-py3-none-any.whl" % dist_info.__version__
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in members:
            info = zipfile.ZipInfo(path)
            info.external_attr = 0o100644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    stem = "rocm-" + _load_dist_info().__version__
    with tarfile.open(os.path.join(sdist_directory, stem + ".tar.gz"), "w:gz") as tar:
        for path in _source_files(HERE):
            tar.add(os.path.join(HERE, path), "%s/%s" % (stem, path))
    return stem + ".tar.gz"


def _setuptools():
    from setuptools import setup

    dist_info = _load_dist_info()
    family = dist_info.determine_target_family()
    setup(
        name="rocm",
        version=dist_info.__version__,
        description=SUMMARY,
        long_description=_readme(),
        long_description_content_type="text/markdown",
        python_requires=PYTHON,
        package_dir={"": "src"},
        packages=["rocm_sdk", "rocm_sdk.tests"],
        install_requires=dist_info.build_install_requires(family),
        extras_require=dist_info.build_extras(family),
        entry_points={"console_scripts": [SCRIPT]},
    )


if __name__ == "__main__":
    _setuptools()
