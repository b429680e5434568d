"""pack.py - `rockit pack build` beside the steps by which the same wheels are made without it.

Both sides read the same artifacts, in the same run, by turns; the best of each counts. The other side
(pack_peer.py) is one thread by nature. CPU time is that of a process and all that it has started.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SIZE_MB = 300
BIG_BYTES = 2 << 30
MAX_RSS_MB = 128
PAGE = 4096
# Folders of packages as the wheels have them -> the other side's names.
PLATFORMS = {"_rocm_sdk_core": "core", "_rocm_sdk_libraries": "libraries",
             "_rocm_sdk_profiler": "profiler", "_rocm_profiler": "profiler"}


class Cost:
    """The best of several runs of one thing."""

    def __init__(self):
        self.wall = self.cpu = float("inf")
        self.rss = self.bytes = 0

    def add(self, wall, cpu, rss):
        self.wall, self.cpu, self.rss = min(wall, self.wall), min(cpu, self.cpu), max(rss, self.rss)


def run_measured(argv, log):
    """Wall seconds, CPU seconds, peak MB, and what it printed."""
    start = time.perf_counter()
    with open(log, "wb") as err:
        child = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, stderr=err)
        out = child.stdout.read()
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        tail = pathlib.Path(log).read_text(errors="replace")[-300:].strip()
        raise RuntimeError(f"{argv[0]}: exit status {child.returncode}: {tail}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# -- inputs ---------------------------------------------------------------------------------


def artifacts(bench, size_mb):
    """A tree of artifacts, reused when it is there."""
    path = bench.work / f"artifacts-{size_mb}"
    if not path.exists():
        print(f"making {path.name}", file=sys.stderr)
        part = path.with_name(path.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        make = HERE.parent / "pack/make_artifacts.py"
        subprocess.run([sys.executable, make, "--out", part, "--size-mb", str(size_mb)], check=True,
                       stdout=subprocess.DEVNULL)
        part.rename(path)
    return path


def tree_bytes(path):
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file() and not p.is_symlink())


def grow_library(path, size):
    """Appends bytes that pack about as libraries do, no two MB of them alike."""
    code = pathlib.Path(sys.executable).resolve().read_bytes()[:8 << 20]
    with open(path, "ab") as out:
        turn = 0
        while out.tell() < size:
            turn += 1
            cut = turn * 7919 % len(code)
            out.write(code[cut:] + turn.to_bytes(8, "little") + code[:cut])
        out.truncate(size)


def with_big_library(bench):
    """A small tree, one of whose libraries has 2 GB."""
    path = bench.work / "artifacts-big"
    if not path.exists():
        small = artifacts(bench, 5)
        part = path.with_name(path.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(small, part, symlinks=True)
        libraries = [p for p in part.glob("blas_lib_*/**/librocblas.so*") if not p.is_symlink()]
        grow_library(libraries[0], BIG_BYTES)
        part.rename(path)
    return path


# -- measuring ------------------------------------------------------------------------------


def pack(bench, source, level, jobs):
    dest = fresh(bench.work / "packed")
    argv = [bench.build / "rockit", "pack", "build", "--artifact-dir", source, "--dest-dir", dest,
            "--jobs", jobs]
    if level:
        argv += ["--level", level]
    wall, cpu, rss, _ = run_measured(argv, bench.work / "log")
    return wall, cpu, rss, dest


def wheels(dest):
    return sorted((dest / "dist").rglob("*.whl"))


def job_counts():
    return sorted({1, 2, os.cpu_count() or 2})


def measure(bench, source, rounds):
    """{name: Cost}, what the other side reported, and its wheels of ours at the default level."""
    costs, report, kept = {}, {}, bench.work / "packed-default"
    for _ in range(rounds):
        dest = fresh(bench.work / "peer")
        wall, cpu, rss, out = run_measured([sys.executable, HERE / "pack_peer.py", source, dest],
                                           bench.work / "log")
        report = json.loads(out)
        cost = costs.setdefault("existing steps", Cost())
        cost.add(wall, cpu, rss)
        cost.bytes = sum(report["wheels"].values())
        shutil.rmtree(dest)
        for level in (None, 1):
            for jobs in job_counts():
                wall, cpu, rss, dest = pack(bench, source, level, jobs)
                name = f"rockit, {jobs} jobs" + (f", level {level}" if level else "")
                cost = costs.setdefault(name, Cost())
                cost.add(wall, cpu, rss)
                cost.bytes = sum(w.stat().st_size for w in wheels(dest))
                if not level:
                    shutil.rmtree(kept, ignore_errors=True)
                    dest.rename(kept)
    return costs, report, kept


# -- telling --------------------------------------------------------------------------------


def table(title, costs):
    peer = costs["existing steps"]
    print(title)
    print(f"  {'':26s} {'wall':>9s} {'CPU':>9s} {'peak':>10s} {'wheels':>11s} {'wall':>7s} {'CPU':>7s} "
          f"{'wheels':>7s}")
    for name, c in costs.items():
        print(f"  {name:26s} {c.wall:7.2f} s {c.cpu:7.2f} s {c.rss:7.1f} MB {c.bytes / 1e6:8.2f} MB "
              f"{peer.wall / c.wall:6.2f}x {peer.cpu / c.cpu:6.2f}x {c.bytes / peer.bytes:7.4f}")
    print(flush=True)


def steps(report):
    parts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in
                      sorted(report["seconds"].items(), key=lambda item: -item[1]))
    print(f"  of the existing steps: {parts}; {report['counts']['patchelf']} patchelf processes, "
          f"{report['counts']['cc']} compiled launchers\n", flush=True)


def sizes_in(dest):
    """(package, path in its tree) -> bytes, of all wheels."""
    found = {}
    for wheel in wheels(dest):
        with zipfile.ZipFile(wheel) as z:
            for info in z.infolist():
                top, _, rel = info.filename.partition("/")
                for platform, package in PLATFORMS.items():
                    if top.startswith(platform):
                        found[(package, rel)] = info.file_size
    return found


def growth(bench, report, dest):
    """How much longer edited ELF files are than what they were made from."""
    ours = sizes_in(dest)
    pairs = [(after - before, ours[(package, rel)] - before)
             for package, rel, before, after in report["edited"] if (package, rel) in ours]
    if not pairs:
        bench.wrong.append("pack: none of the edited files is in the wheels")
        return
    for side, name in enumerate(("patchelf", "rockit")):
        grown = sorted(p[side] for p in pairs)
        print(f"  {name:9s} {len(grown)} edited files longer by {grown[len(grown) // 2]} bytes (median), "
              f"{sum(grown) // len(grown)} (mean), {grown[-1]} (most)")
    print(flush=True)
    worst = max(p[1] for p in pairs)
    # a page, the moved strings and the path itself
    bench.bar(f"pack: edited files grow by {worst} bytes at most, <= {4 * PAGE}", worst <= 4 * PAGE)


def big(bench):
    """Memory while a library of 2 GB is packed."""
    source = with_big_library(bench)
    for jobs in sorted({2, 16, *job_counts()}):
        wall, cpu, rss, dest = pack(bench, source, 1, jobs)
        shutil.rmtree(dest)
        print(f"  2 GB library, level 1, {jobs:2d} jobs: {wall:.1f} s, CPU {cpu:.1f} s, peak {rss:.1f} MB")
        bench.bar(f"pack: 2 GB library, {jobs} jobs: peak memory {rss:.1f} MB <= {MAX_RSS_MB}",
                  rss <= MAX_RSS_MB)
    print(flush=True)


def bars(bench, costs):
    peer = costs["existing steps"]
    for name, factor in (("rockit, 2 jobs", 6), ("rockit, 2 jobs, level 1", 12)):
        ratio = peer.wall / costs[name].wall
        bench.bar(f"pack, {name}: {ratio:.2f}x the existing steps >= {factor}x", ratio >= factor)
    share = costs["rockit, 2 jobs"].bytes / peer.bytes
    bench.bar(f"pack: wheels are {share:.4f} of the existing ones <= 1", share <= 1)
    scale = costs["rockit, 1 jobs"].wall / costs["rockit, 2 jobs"].wall
    bench.bar(f"pack: 2 jobs are {scale:.2f}x as fast as 1 >= 1.7x", scale >= 1.7)
    if len({c.bytes for n, c in costs.items() if n.startswith("rockit") and "level" not in n}) != 1:
        bench.wrong.append("pack: the size of the wheels depends on the number of jobs")


def run(bench, full):
    if not shutil.which("patchelf"):
        raise RuntimeError("no patchelf here")
    source = artifacts(bench, SIZE_MB)
    costs, report, kept = measure(bench, source, bench.rounds if full else min(bench.rounds, 2))
    table(f"wheels from {tree_bytes(source) / 1e6:.0f} MB of artifacts", costs)
    steps(report)
    growth(bench, report, kept)
    shutil.rmtree(kept)
    big(bench)
    bars(bench, costs)
