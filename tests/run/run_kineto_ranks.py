#!/usr/bin/env python3
"""Traces of PyTorch's profiler, one per rank: which file is which rank, and which collective is which."""
import gzip
import json
import os
import pathlib
import random
import shutil
import sys

import librun
from librun import test

GENERIC = "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"
EPOCH = 1700000000000000000


def micro(ns):
    return f"{ns // 1000}.{ns % 1000:03d}" if ns >= 0 else f"-{-ns // 1000}.{-ns % 1000:03d}"


class Job:
    """Eight ranks in two groups of four. Rank 5 computes longest; rank 2 only waits in its group."""

    def __init__(self, shift=0, described=True, numbered=True):
        dice = random.Random(7)
        self.events = [[] for _ in range(8)]
        ready = [10**9] * 8
        seq = {}
        for step in range(40):
            for rank in range(8):
                work = 1000000 + dice.randrange(100000) + (400000 if rank == 5 else 0)
                self.add(rank, "gemm", ready[rank] + shift, work)
                ready[rank] += work + 1000
            for group in ([0, 1, 2, 3], [4, 5, 6, 7], list(range(8))):
                what = "allreduce" if len(group) == 8 else "_allgather_base"
                end = max(ready[r] for r in group) + 50000
                seq[str(group)] = seq.get(str(group), 0) + 1
                for rank in group:
                    args = {"Collective name": what, "Process Group Name": str(len(group) + group[0]),
                            "Process Group Ranks": str(group), "dtype": "Float",
                            "In msg nelems": 64, "Out msg nelems": 64, "Seq": seq[str(group)]}
                    if not numbered:
                        del args["Seq"]
                    self.add(rank, GENERIC, ready[rank] + shift, end - ready[rank] + dice.randrange(2000),
                             args if described else {})
                    ready[rank] = end + 3000

    def add(self, rank, name, start, duration, args=None):
        self.events[rank].append((name, start, duration, args or {}))

    def text(self, rank, info=True):
        rows = [f'{{"ph":"X","cat":"kernel","name":"{name}","pid":{rank},"tid":0,"ts":{micro(start)},'
                f'"dur":{micro(duration)},"args":{json.dumps({"device": rank, "stream": 0, **args})}}}'
                for name, start, duration, args in self.events[rank]]
        head = f'"distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":8}},' if info else ""
        return f'{{"schemaVersion":1,{head}"traceEvents":[{",".join(rows)}]}}'


def report(place, *paths, options=()):
    done = place.rockit("report", "--format", "json", *paths, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(place, job, name="{}.json", info=True):
    folder = place.path / "job"
    for rank in range(8):
        path = folder / name.format(rank)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(job.text(rank, info))
    return folder


def shifted(value, by):
    """The same document with all times earlier."""
    if isinstance(value, dict):
        return {k: v - by if k in ("first_ns", "last_ns", "base_ns", "min_start_ns", "max_end_ns") and v is not None
                else shifted(v, by) for k, v in value.items()}
    return [shifted(v, by) for v in value] if isinstance(value, list) else value


@test
def epoch_times_change_no_number_of_the_report(place):
    want = None
    for shift in (0, EPOCH, EPOCH // 3, 2 * EPOCH, -EPOCH, 9 * 10**18):
        got = shifted(report(place, write(place, Job(shift))), shift)
        want = want or got
        assert got == want, shift
    assert sum(c["calls"] for c in want["ranks"]["collectives"]) == 120, want["ranks"]["collectives"]


@test
def each_group_has_its_own_straggler(place):
    for numbered in (True, False):
        ranks = report(place, write(place, Job(EPOCH, numbered=numbered)))["ranks"]
        found = {c["name"]: (c["calls"], c["ranks"], c["unmatched"], c["straggler"]) for c in ranks["collectives"]}
        first = found.pop("AllGather, group 4 of 4 ranks")
        assert first[:3] == (40, 4, 0), first
        assert found == {"AllGather, group 8 of 4 ranks": (40, 4, 0, 5),
                         "AllReduce, group 8 of 8 ranks": (40, 8, 0, found["AllReduce, group 8 of 8 ranks"][3])}, found
        assert max(ranks["ranks"], key=lambda r: r["caused_ns"])["rank"] == 5


@test
def traces_that_do_not_name_the_collective_are_compared_by_kernel(place):
    job, plain = Job(EPOCH), Job(EPOCH, described=False)
    job.events[3] = plain.events[3]
    folder = write(place, job)
    done = place.rockit("report", "--format", "json", folder)
    assert done.returncode == 0, done.stderr
    names = {c["name"] for c in json.loads(done.stdout)["ranks"]["collectives"]}
    assert names == {"Generic 1"}, names
    assert "ranks whose trace does not name the collectives of its kernels" in done.stderr, done.stderr


@test
def ranks_that_disagree_are_named(place):
    job = Job(EPOCH)
    for i, (name, start, duration, args) in enumerate(job.events[6]):
        if args.get("Collective name") == "allreduce" and args["Seq"] == 9:
            job.events[6][i] = (name, start, duration, {**args, "Collective name": "broadcast"})
        if args.get("Collective name") == "allreduce" and args["Seq"] in (3, 4):
            job.events[6][i] = (name, start, duration, {**args, "In msg nelems": 65})
    done = place.rockit("report", "--ranks", write(place, job))
    assert done.returncode == 0, done.stderr
    assert "number 9 of group '8 [0, 1, 2, 3, 4, 5, 6, 7]' is 'allreduce', on rank 6 'broadcast'" in done.stderr, done.stderr
    assert ("collectives 'AllReduce, group 8 of 8 ranks' whose type or number of elements differs between ranks "
            "(2 times)") in done.stderr, done.stderr


@test
def ranks_are_found_in_files_folders_and_names(place):
    job = Job(EPOCH)
    for name, info in (("{}.json", True), ("rank-{}.json", False), ("rank_{}.pt.trace.json", False),
                       ("trace_rank{}.json", False), ("rank_{}/trace.json", False), ("rank{}/t.json", False),
                       ("rank-{}/t.json", False), ("node/x.rank{}.17.json", False)):
        folder = write(place, job, name, info)
        ranks = report(place, folder)["ranks"]
        assert [r["rank"] for r in ranks["ranks"]] == list(range(8)), (name, ranks)
        assert sum(c["calls"] for c in ranks["collectives"]) == 120, name
        shutil.rmtree(folder)


@test
def a_file_knows_its_rank_better_than_its_name(place):
    job = Job(EPOCH)
    folder = place.path / "job"
    for rank in range(8):  # local ranks in the names
        (folder / f"node{rank // 4}").mkdir(parents=True, exist_ok=True)
        (folder / f"node{rank // 4}" / f"rank{rank % 4}.json").write_text(job.text(rank))
    ranks = report(place, folder)["ranks"]
    assert [r["rank"] for r in ranks["ranks"]] == list(range(8)), ranks
    # without it, two files of one rank are not told apart in silence
    for rank in range(8):
        (folder / f"node{rank // 4}" / f"rank{rank % 4}.json").write_text(job.text(rank, info=False))
    done = place.rockit("report", "--ranks", folder)
    assert "it is unclear which is current" in done.stdout + done.stderr, done.stdout + done.stderr


@test
def the_collectives_survive_parquet(place):
    folder = write(place, Job(EPOCH))
    done = place.rockit("convert", folder, "-f", "parquet", "-o", place.path / "out")
    assert done.returncode == 0, done.stderr
    was, now = report(place, folder)["ranks"], report(place, place.path / "out")["ranks"]
    assert was["collectives"] == now["collectives"], now["collectives"]


@test
def recorded_ranks_in_one_file_have_the_straggler_that_waits_least(place):
    data = os.environ.get("ROCKIT_RECORDED_DATA")
    path = pathlib.Path(data or "/nonexistent") / "kineto_ops" / "mi300_fsdp_4ranks_merged.json.gz"
    if not path.exists():
        raise librun.Skip("ROCKIT_RECORDED_DATA is not set")
    time = [0] * 4
    for e in json.load(gzip.open(path))["traceEvents"]:
        if e.get("cat") == "kernel" and e["args"].get("Collective name") == "allreduce":
            time[e["args"]["rank"]] += e["dur"]
    ranks = report(place, path)["ranks"]
    (found,) = [c for c in ranks["collectives"] if c["name"].startswith("AllReduce")]
    assert (found["calls"], found["ranks"], found["unmatched"]) == (15, 4, 0), found
    assert found["straggler"] == time.index(min(time)) and found["straggler_calls"] == 15, (found, time)


if __name__ == "__main__":
    sys.exit(librun.main())
