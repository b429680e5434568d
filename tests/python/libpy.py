"""What the tests of the Python package share. They run in an environment that has the wheel."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap

SOURCE = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
for folder in ("elf", "run"):
    sys.path.insert(0, str(SOURCE / "tests" / folder))

from libcheck import FULL, Skip, main, test  # noqa: E402, F401, pylint: disable=wrong-import-position

GEN_TRACE = os.environ["GEN_TRACE"]
ROCKIT = os.environ["ROCKIT"]
COLUMNS = ("kernel_name start_ns duration_ns grid_x grid_y grid_z block_x block_y block_z regs shared_mem "
           "stream_id").split()


def trace(folder, rows=1000, *options, name="kernels.csv"):
    """A csv trace of kernels."""
    path = folder / name
    subprocess.run([GEN_TRACE, "--rows", str(rows), "--seed", "1", *options, "-o", path], check=True)
    return path


def traces(folder, rows=500):
    """A folder with a csv file per table."""
    subprocess.run([GEN_TRACE, "--rows", str(rows), "--seed", "3", "--api", "--dir", folder], check=True)
    return folder


def database(folder, rows=500):
    path = folder / "results.db"
    subprocess.run([GEN_TRACE, "--rows", str(rows), "--seed", "2", "--api", "--rocpd", path], check=True)
    return path


def raises(kind, function, *args, **more):
    """The exception that a call ends with; another one, or none, is a failure."""
    try:
        function(*args, **more)
    except kind as caught:
        return caught
    raise AssertionError(f"no {kind}")


def script(text, *args, timeout=120, **how):
    """A Python program of its own: its status, output and errors."""
    argv = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(text), *map(str, args)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False, **how)


def said(done):
    """What a script printed as JSON on its last line, after it ended well."""
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def written(source, out, table):
    """The rows of a table as `rockit convert` writes them: the other way to the same values."""
    subprocess.run([ROCKIT, "convert", source, "-o", out, "--table", table], check=True, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in out.read_text().splitlines()]
