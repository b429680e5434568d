#!/usr/bin/env python3
"""always.py --rockit R [--python P] [--minutes 8] serve|costs - recording that is always on, on an NVIDIA GPU.

serve  a PyTorch server under `rockit record`: its memory and the files stay as they are for all of its
       minutes; it is stopped and started from outside; then it is killed, snapped in the same command, and
       the last 60 seconds are there, step by step as the server itself noted them.
costs  what a launch of two tiny kernels costs with nothing, with nothing again (the machine's own noise),
       with a collector that sleeps, one that records into a window, and one that was stopped from outside.
       Processes take turns, as in overhead.py.
Needs a GPU and PyTorch, or --server with another program that writes the log of loops.py serve.
"""
import argparse
import bisect
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import libdevice
import overhead

HERE = pathlib.Path(__file__).resolve().parent
LAST = 60
# What CUPTI holds is fetched ten times a second; with a margin for steps that were under way.
HELD_NS = 300_000_000


def rockit(args, *words, check=True):
    done = subprocess.run([args.rockit, *map(str, words)], capture_output=True, text=True, timeout=300)
    if check and done.returncode != 0:
        raise RuntimeError(f"rockit {' '.join(map(str, words))}: {done.returncode}: {done.stderr}")
    return done


# ---- serve ----

class Server:
    """A server under `rockit record`."""

    def __init__(self, args, folder):
        self.args, self.dir, self.log = args, folder / "run", folder / "log"
        command = [*args.server, self.log] if args.server else [args.python, HERE / "loops.py", "serve", self.log]
        self.record = subprocess.Popen([str(c) for c in [
            args.rockit, "record", "--tool", "cupti", "--max-size", args.size, "--last", f"{LAST}s", "-d", self.dir, "--", *command]],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 120
        while time.monotonic() < until and self.record.poll() is None and len(self.noted()) < 2:
            time.sleep(0.5)
        if len(self.noted()) < 2:
            raise RuntimeError("the server did not start: " + self.record.stderr.read())
        self.pid = int(self.log.read_text().split("\n", 1)[0])

    def noted(self):
        """Pairs of (time, steps so far)."""
        if not self.log.exists():
            return []
        lines = self.log.read_text().split("\n")[1:-1]
        return [tuple(map(int, line.split())) for line in lines]

    def memory(self):
        """Resident memory of the program, in MB; of rockit; bytes of the files, in MB."""
        files = sum(f.stat().st_blocks * 512 for f in self.dir.rglob("*.rkraw"))
        return [rss(self.pid), rss(self.record.pid), files / 1e6]

    def rate(self, seconds):
        """Steps a second, from now on."""
        first = self.noted()[-1]
        time.sleep(seconds)
        last = self.noted()[-1]
        return (last[1] - first[1]) / (last[0] - first[0]) * 1e9


def rss(pid):
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def start_of(line):
    """The second field; the first, a name, may be in quotation marks. There are millions of them."""
    at = line.index('",') + 2 if line[0] == '"' else line.index(",") + 1
    return line[at:line.index(",", at)]


def kernels(args, run):
    """Starts of all kernels, in order."""
    done = subprocess.Popen([args.rockit, "convert", run, "--table", "kernels", "--mangled", "-f", "csv", "-o", "-"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.stdout.readline().startswith("kernel_name,start_ns,")
    starts = sorted(int(text) for text in map(start_of, done.stdout) if text)
    said = done.stderr.read()
    if done.wait() != 0:
        raise RuntimeError(said)
    return starts, said


def between(starts, begin, end):
    return bisect.bisect_left(starts, end) - bisect.bisect_left(starts, begin)


def switch(server, args):
    """Stopped and started from outside; returns the time in which nothing may be recorded."""
    awake = server.rate(10)
    rockit(args, "stop", server.dir)
    begin = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    asleep = server.rate(10)
    end = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    rockit(args, "start", server.dir)
    again = server.rate(10)
    print(f"steps a second: recording {awake:.0f}, stopped {asleep:.0f}, started again {again:.0f}", flush=True)
    return begin, end


def complete(starts, noted, begin, end):
    """Pieces of 100 steps between two times, kernels of a step, and the pieces with another number of them."""
    pieces = [(a, b) for a, b in zip(noted, noted[1:]) if a[0] >= begin and b[0] <= end]
    counts = [between(starts, a[0], b[0]) / (b[1] - a[1]) for a, b in pieces]
    usual = sorted(counts)[len(counts) // 2] if counts else 0
    return len(pieces), usual, [n for n in counts if n != usual]


def check_gap(args, folder, server, gap):
    out = folder / "snap-gap"
    rockit(args, "snap", "--last", "30s", server.dir, "-o", out)
    starts, _ = kernels(args, out)
    # what was launched before the stop may end after it
    inside = between(starts, gap[0] + HELD_NS, gap[1])
    after = between(starts, gap[1], gap[1] + 5_000_000_000)
    assert inside == 0 and after > 0, f"{inside} kernels recorded while stopped, {after} after the start"
    return f"no kernel in {(gap[1] - gap[0]) / 1e9:.0f} s, {after} in the 5 s after"


def serve(args, folder):
    server = Server(args, folder)
    try:
        return serve_on(args, folder, server)
    finally:
        if server.record.poll() is None:
            os.kill(server.pid, signal.SIGKILL)


def serve_on(args, folder, server):
    result = {}
    gap = switch(server, args)
    result["nothing is recorded while stopped"] = lambda text=check_gap(args, folder, server, gap): text
    began, seen = time.monotonic(), []
    until = began + 60 * args.minutes
    while time.monotonic() < until and server.record.poll() is None:
        time.sleep(5)
        seen.append(server.memory())
    half = seen[len(seen) // 3:]
    for row in seen[::max(1, len(seen) // 8)]:
        print("MB of the program {:.0f}, of rockit {:.0f}, of the files {:.0f}".format(*row), flush=True)

    def constant():
        grown = [half[-1][i] - half[0][i] for i in range(3)]
        assert grown[0] < 16 and grown[1] < 16 and max(r[2] for r in half) <= args.most_mb, (grown, half[-1])
        return "after a third of the time the program grew by {:.1f} MB, rockit by {:.1f}, the files by {:.1f}".format(*grown)

    result["memory and files stay as they are"] = constant
    out = folder / "snap"
    subprocess.run(f"kill -9 {server.pid}; {args.rockit} snap --last {LAST + 5}s {server.dir} -o {out}", shell=True,
                   check=True)
    killed = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def last():
        starts, said = kernels(args, out)
        noted = server.noted()
        end = noted[-1][0] - HELD_NS
        begin = max(noted[-1][0] - LAST * 1_000_000_000, gap[1] + HELD_NS)  # a short run may have been stopped in it
        pieces, usual, other = complete(starts, noted, begin, end)
        assert pieces > 0 and usual > 0, (pieces, usual, len(starts))
        assert not other, f"{len(other)} of {pieces} pieces have not {usual} kernels a step: {other[:5]}"
        missing = (noted[-1][1] - noted[-2][1]) * usual - between(starts, noted[-2][0], noted[-1][0])
        return (f"{pieces} pieces of 100 steps in {(end - begin) / 1e9:.1f} s, up to {(killed - end) / 1e6:.0f} ms before the "
                f"snap was there, {usual:.0f} kernels a step each; {len(starts)} kernels, the newest {(noted[-1][0] - starts[-1]) / 1e6:.1f} ms "
                f"older than the last note, {missing:.0f} missing in the last piece\n{said.strip()}")

    result[f"the last {LAST} s are in the snap of the killed program"] = last
    status = libdevice.tell(result)
    server.record.wait(timeout=300)
    print("rockit record:", server.record.returncode, server.record.stderr.read().strip())
    return status


# ---- costs ----

WAYS = {"plain": None, "again": None, "asleep": "switch=1,asleep=1", "awake": "switch=1,window=1,limit=256M",
        "stopped": "switch=1,window=1,limit=256M"}
PIECE = 5000  # times two kernels


def costs(args, folder):
    library = pathlib.Path(args.collector or pathlib.Path(args.rockit).resolve().parent / "librockit-cupti.so")
    processes = {}
    for way, settings in WAYS.items():
        env = dict(os.environ)
        if settings:
            (folder / way).mkdir()
            env.update(CUDA_INJECTION64_PATH=str(library), ROCKIT_COLLECT=f"dir={folder / way},{settings}")
        processes[way] = subprocess.Popen([args.python, HERE / "loops.py", "pieces"], env=env, text=True,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for process in processes.values():
        piece(process)
    rockit(args, "stop", folder / "stopped")
    source, turns = random.Random(1), []
    for turn in range(-3, args.turns):
        seconds = {way: piece(processes[way]) for way in source.sample(list(WAYS), len(WAYS))}
        if turn >= 0:
            turns.append(seconds)
    for process in processes.values():
        process.stdin.close()
        process.wait(timeout=120)
    print(f"| ns a launch, {args.turns} turns of {2 * PIECE} launches | median | 95 % |\n|---|---|---|")
    for way in WAYS:
        def more(turn, way=way):
            return 1e9 * (turn[way] - (turn["plain"] if way != "plain" else 0)) / (2 * PIECE)
        middle, low, high = overhead.interval([[turn] for turn in turns], more)
        print(f"| {way}{'' if way == 'plain' else ' - plain'} | {middle:.0f} | {low:.0f} to {high:.0f} |")
    return 0


def piece(process):
    process.stdin.write(f"tiny {PIECE}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("what", choices=("serve", "costs"))
    p.add_argument("--rockit", required=True)
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--minutes", type=float, default=8)
    p.add_argument("--size", default="512M")
    p.add_argument("--most-mb", type=float, default=540, help="of the files")
    p.add_argument("--turns", type=int, default=30)
    p.add_argument("--collector", help="librockit-cupti.so, for costs; beside rockit without it")
    p.add_argument("--server", nargs="+", help="instead of PyTorch's; gets the log's name as its last argument")
    args = p.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rockit-always-"))
    return {"serve": serve, "costs": costs}[args.what](args, folder)


if __name__ == "__main__":
    sys.exit(main())
