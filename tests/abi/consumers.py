#!/usr/bin/env python3
"""examples/c are compiled against the installed package and run: by pkg-config and by CMake, with
the shared library and with the archive."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["ROCKIT"]).resolve().parent
COMPILER = os.environ.get("ROCKIT_CC", "cc")
EXAMPLES = SOURCE / "examples/c"
NAMES = ("top_kernels", "arrow_stream", "session", "metrics", "diff", "tools")
PLAN = ("--tool", "rocprofv3", "--tool-version", "7.0.0", "--arch", "gfx942")


def run(*argv, status=0, **env):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("ROCPROF", "ROCM", "SLURM"))}
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=300,
                          env={**keep, **env}, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == status, f"{argv}: {done.returncode} {done.stdout}{done.stderr}"
    return done.stdout


def holds(text, *words):
    for word in words:
        assert word in text, f"no '{word}' in: {text}"


class World:
    """A prefix with rockit in it, moved after it was installed, two traces, and a ROCm tree."""

    def __init__(self, top):
        self.top = top
        run("cmake", "--install", BUILD, "--prefix", top / "first")
        shutil.move(top / "first", top / "prefix")
        self.pc = next((top / "prefix").rglob("rockit.pc")).parent
        self.lib = self.pc.parent
        self.traces = [top / "a_kernel_trace.csv", top / "b_kernel_trace.csv"]
        for seed, trace in enumerate(self.traces):
            run(os.environ["GEN_TRACE"], "--rows", 3000, "--seed", seed + 1, "-o", trace)
        tree = run("sh", SOURCE / "tests/sim/make-tree.sh", top / "root", "7.0")
        self.bin = pathlib.Path(tree.strip(), "bin")

    def flags(self, module):
        return run("pkg-config", "--cflags", "--libs", module,
                   PKG_CONFIG_PATH=str(self.pc)).split()

    def needed(self, program):
        return "librockit.so.1" in run("readelf", "-d", program)


def try_examples(world, folder):
    """What each of them prints."""
    a, b = world.traces
    env = {"LD_LIBRARY_PATH": str(world.lib)}
    holds(run(folder / "top_kernels", a, **env), " calls ", " ms ")
    holds(run(folder / "arrow_stream", a, **env), "queue ")
    holds(run(folder / "metrics", a, "gfx942", **env), "metrics are known")
    holds(run(folder / "diff", a, a, **env), "GPU time +0.000 ms")
    run(folder / "diff", b, a, status=3, **env)
    holds(run(folder / "tools", **env), "presets: ", "lightweight", "@memory has ")
    holds(run(folder / "session", *PLAN, "memory", "./app", **env), "--pmc", "FETCH_SIZE", "./app")
    holds(run(folder / "session", *PLAN, "kernel", "./app", **env), "--kernel-trace", "SQ_WAVES")
    holds(run(folder / "session", "--tool-version", "3.1.0", "--arch", "gfx90a",
              "rocprof-compute", "./app", **env), "rocprof-compute", "profile", "gfx90a")
    run(folder / "top_kernels", world.top / "none.csv", status=1, **env)
    run(folder / "top_kernels", status=2, **env)


def try_session(world, folder):
    """A session is carried out with the stand-in for rocprofv3, and its results are opened."""
    env = {"LD_LIBRARY_PATH": str(world.lib), "PATH": f"{world.bin}:/usr/bin:/bin",
           "ROCKIT_SYSFS_ROOT": str(world.top / "root"), "HOME": str(world.top)}
    where = folder / "run"
    out = run(folder / "session", "--run", "--arch", "gfx942", "--dir", where, "lightweight", "sh",
              "-c", "echo hello", **env)
    holds(out, "hello", " kernels in ")
    holds(run(folder / "top_kernels", where, **env), " calls ")


def by_pkg_config(world, static):
    folder = world.top / f"pc-{static}"
    folder.mkdir()
    flags = world.flags("rockit-static" if static else "rockit")
    # the whole set once; of the archive two, whose links take their time
    for name in ("top_kernels", "session") if static else NAMES:
        run(COMPILER, "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
            EXAMPLES / f"{name}.c", "-o", folder / name, *flags)
        assert world.needed(folder / name) != static, name
    if static:
        holds(run(folder / "top_kernels", world.traces[0]), " calls ")
        holds(run(folder / "session", *PLAN, "memory", "./app"), "FETCH_SIZE")
    else:
        try_examples(world, folder)
        try_session(world, folder)


def by_cmake(world, static):
    folder = world.top / f"cmake-{static}"
    run("cmake", "-S", EXAMPLES, "-B", folder, "-G", "Ninja", f"-DCMAKE_C_COMPILER={COMPILER}",
        f"-DCMAKE_PREFIX_PATH={world.top / 'prefix'}", f"-DROCKIT_STATIC={'ON' if static else 'OFF'}")
    run("cmake", "--build", folder, *(["--target", "top_kernels"] if static else []))
    assert world.needed(folder / "top_kernels") != static
    holds(run(folder / "top_kernels", world.traces[0]), " calls ")


def too_new(world):
    """Asking for a later release is refused."""
    folder = world.top / "new"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\n"
                                           "project(x LANGUAGES NONE)\n"
                                           "find_package(rockit 2.0 REQUIRED)\n")
    run("cmake", "-S", folder, "-B", folder / "b", f"-DCMAKE_PREFIX_PATH={world.top / 'prefix'}",
        status=1)


def main():
    with tempfile.TemporaryDirectory(prefix="rockit-abi-") as top:
        world = World(pathlib.Path(top).resolve())
        for function in (by_pkg_config, by_cmake):
            for static in (False, True):
                function(world, static)
                print(f"ok   {function.__name__} {'static' if static else 'shared'}", flush=True)
        too_new(world)
        print("ok   a later release is refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
