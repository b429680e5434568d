#!/usr/bin/env python3
"""Folders of many ranks are one run on one clock: against the truth of jobs that gen-ranks invents."""
import json
import pathlib
import re
import subprocess
import sys
import tarfile

import librun
from librun import ROCKIT, test

GEN_RANKS = pathlib.Path(ROCKIT).resolve().parent / "gen-ranks"


class Job:
    """A generated job, what is true of it, and what rockit says."""

    def __init__(self, place, *options, name="job"):
        self.dir = place.path / name
        truth = place.path / f"{name}.json"
        subprocess.run([GEN_RANKS, "-o", self.dir, "--truth", truth, *map(str, options)], check=True)
        self.truth = json.loads(truth.read_text())
        self.place = place

    def report(self, *options):
        done = self.place.rockit("report", "--format", "json", self.dir, *options)
        assert done.returncode == 0, done.stderr
        self.err = done.stderr
        self.json = json.loads(done.stdout)
        self.ranks = self.json["ranks"]
        return self.ranks

    def true_offset(self, rank, at_ns):
        true = self.truth["ranks"][rank]
        return true["offset_ns"] + true["drift_ppm"] * 1e-6 * (at_ns - self.truth["base_ns"])

    def wrong_by(self, rank):
        """The largest error of a rank's clock at the beginning, the middle and the end of the job."""
        said, worst = self.ranks["ranks"][rank], 0
        first = self.ranks["ranks"][0]["first_ns"]
        last = self.ranks["ranks"][0]["last_ns"]
        for at in (first, (first + last) // 2, last):
            offset = said["offset_ns"] + said["drift_ppm"] * 1e-6 * (at - self.ranks["base_ns"])
            worst = max(worst, abs(offset - self.true_offset(rank, at)))
        return worst

    def within(self):
        return all(r["clock"] != "alone" and self.wrong_by(r["rank"]) <= r["error_ns"]
                   for r in self.ranks["ranks"])


def near(got, want, percent):
    assert abs(got - want) <= abs(want) * percent / 100, (got, want)


@test
def nodes_three_seconds_apart_come_to_one_clock_and_the_slow_rank_is_found(place):
    job = Job(place, "--ranks", 8, "--nodes", 2, "--skew-ms", 3000, "--slow", 5)
    ranks = job.report()
    assert job.within(), ranks["ranks"]
    worst = max(job.wrong_by(r) for r in range(8))
    naive = max(abs(job.true_offset(r, job.truth["base_ns"])) for r in range(8))
    assert naive >= 100 * worst and naive >= 100 * max(r["error_ns"] for r in ranks["ranks"])
    assert (ranks["nodes"], ranks["reference"]) == (2, 0)
    assert max(ranks["ranks"], key=lambda r: r["caused_ns"])["rank"] == 5
    for c in ranks["collectives"]:
        assert (c["straggler"], c["ranks"], c["unmatched"], c["verdict"]) == (5, 8, 0, "late"), c
    assert sum(c["calls"] for c in ranks["collectives"]) == 100
    for said, true in zip(ranks["ranks"], job.truth["ranks"]):
        assert said["collectives"] == true["collectives"]
        assert [said[k] for k in ("compute_ns", "comm_ns", "both_ns")] == [
            true[k] for k in ("compute_ns", "comm_ns", "both_ns")]
        if true["wait_ns"] > 1000000:
            near(said["wait_ns"], true["wait_ns"], 1)
    assert ranks["inter_ns"] > 0 and ranks["intra_ns"] == 0
    assert "cannot be compared" not in job.err


@test
def the_stated_error_is_met_in_job_after_job(place):
    held = 0
    for seed in range(1, 21):
        job = Job(place, "--ranks", 6, "--nodes", 3, "--collectives", 60, "--kernels", 120, "--seed",
                  seed, "--slow", seed % 6, "--miss", 10, "--jitter-ns", 5000, name=f"job{seed}")
        job.report()
        held += job.within()
    assert held == 20, held


@test
def collectives_of_each_node_beside_those_of_all_do_not_spoil_the_clocks(place):
    job = Job(place, "--ranks", 8, "--nodes", 2, "--groups", 4, "--collectives", 400, "--kernels", 800)
    ranks = job.report()
    assert job.within(), ranks["ranks"]
    sizes = {c["name"].split()[0]: (c["ranks"], c["calls"], c["unmatched"])
             for c in ranks["collectives"]}
    assert sizes["ReduceScatter"] == (8, 40, 0), sizes
    assert sizes["AllReduce"][0] == 2 and sizes["AllGather"][0] == 2, sizes
    assert sizes["AllReduce"][1] + sizes["AllGather"][1] == 4 * 360, sizes
    near(sum(r["wait_ns"] for r in ranks["ranks"]), sum(r["wait_ns"] for r in job.truth["ranks"]), 2)


@test
def nodes_in_step_with_each_other_are_not_one_collective(place):
    """Collectives of each node match in order, and fit a clock that is wrong by what one is behind."""
    aligned = 0
    for options in (("--groups", 2, "--global", 3), ("--groups", 2, "--global", 2), ("--groups", 4),
                    ("--groups", 2, "--global", 4, "--wire-ns", 400000)):
        for seed in (2, 5):
            job = Job(place, "--same-names", "--slow", 3, "--collectives", 600, "--kernels", 1200,
                      "--seed", seed, *options, name=f"job{options[1]}{options[-1]}{seed}")
            for r in job.report()["ranks"]:
                assert r["clock"] == "alone" or job.wrong_by(r["rank"]) <= r["error_ns"], (options, r)
                aligned += r["clock"] == "aligned"
    assert aligned >= 16, aligned


@test
def kernels_that_do_not_name_their_operation_are_good_enough(place):
    job = Job(place, "--generic", "--slow", 2)
    ranks = job.report()
    assert job.within(), ranks["ranks"]
    assert ranks["collectives"][0]["name"].startswith("Generic"), ranks["collectives"]
    assert "collectives of unknown kind need every rank" in ranks["ranks"][7]["clock_note"]


@test
def kernels_without_names_are_distinguished_by_their_grids(place):
    job = Job(place, "--generic", "--ranks", 8, "--nodes", 2, "--groups", 4, "--collectives", 400,
              "--kernels", 800)
    ranks = job.report()
    assert job.within(), ranks["ranks"]
    sizes = {c["name"]: (c["ranks"], c["unmatched"]) for c in ranks["collectives"]}
    assert sizes == {"Generic 1, 8 workgroups": (2, 0), "Generic 1, 16 workgroups": (2, 0),
                     "Generic 1, 32 workgroups": (8, 0)}, sizes


@test
def without_collectives_wall_clocks_relate_nodes_within_their_error(place):
    job = Job(place, "--collectives", 0, "--ntp-ns", 300000)
    ranks = job.report()
    assert job.within(), ranks["ranks"]
    assert {r["clock_by"] for r in ranks["ranks"][4:]} == {"snapshots"}


@test
def ranks_that_cannot_be_aligned_are_named_and_the_rest_is_kept(place):
    job = Job(place, "--collectives", 0)
    ranks = job.report()
    assert [r["clock"] for r in ranks["ranks"]] == ["same"] * 4 + ["alone"] * 4
    assert "nothing in common" in ranks["ranks"][4]["clock_note"]
    assert "rank 4 (node001) and others cannot be compared with those of rank 0" in job.err
    for said in ranks["ranks"]:
        assert said["kernels"] == 1000 and said["compute_ns"] > 0


def kernels(place, path):
    out = subprocess.run([ROCKIT, "convert", path, "-f", "jsonl", "-o", "-", "-q"],
                         capture_output=True, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


@test
def traces_of_all_ranks_are_on_one_clock(place):
    job = Job(place, "--slow", 6)
    job.report()
    done = place.rockit("convert", job.dir, "-o", place.path / "job.tar")
    assert done.returncode == 0 and not done.stderr, done.stderr
    with tarfile.open(place.path / "job.tar") as tar:
        tar.extractall(place.path / "tar")
    manifest = json.loads((place.path / "tar/perfetto_manifest.json").read_text())
    for entry, said in zip(manifest["perfetto_manifest"]["files"], job.ranks["ranks"]):
        assert entry["rockit_clock"]["offset_ns"] == said["offset_ns"]
        assert entry["rockit_clock"]["error_ns"] == said["error_ns"]
    calls = [[k for k in kernels(place, place.path / f"tar/rank-{r:05}.pftrace")
              if "nccl" in k["kernel_name"]] for r in range(8)]
    for together in zip(*calls):
        assert max(k["start_ns"] for k in together) <= min(k["start_ns"] + k["duration_ns"]
                                                           for k in together)
    # one file with all, in order
    place.rockit("convert", job.dir, "-o", place.path / "job.pftrace")
    starts = [k["start_ns"] for k in kernels(place, place.path / "job.pftrace")]
    assert starts == sorted(starts) and starts[-1] - starts[0] < 1e9


@test
def tables_keep_the_times_that_were_recorded(place):
    job = Job(place)
    place.rockit("convert", job.dir, "-o", place.path / "all.parquet", "-q")
    rows = kernels(place, place.path / "all.parquet")
    assert max(k["start_ns"] for k in rows) - min(k["start_ns"] for k in rows) > 3e9


@test
def the_span_in_words_is_on_one_clock(place):
    job = Job(place)
    done = place.rockit("report", job.dir)
    assert " in a span of 2" in done.stdout and " ms" in done.stdout, done.stdout
    place.rockit("report", job.dir, "--html", place.path / "page.html")
    spans = re.findall(r'"(?:kernel_)?span_ns": *([0-9]+)', (place.path / "page.html").read_text())
    assert spans and max(map(int, spans)) < 1e9, spans


@test
def collecting_a_job_leaves_its_clocks_in_run_json(place):
    job = Job(place, "--slow", 1)
    ranks = job.report()["ranks"]
    done = place.rockit("slurm", "collect", job.dir)
    assert done.returncode == 0, done.stderr
    record = json.loads((job.dir / "run.json").read_text())
    assert (record["state"], record["job"], record["size"]) == ("done", "4711", 8)
    for got, said in zip(record["fused"]["ranks"], ranks, strict=True):
        for key in ("rank", "node", "clock", "offset_ns", "drift_ppm", "error_ns"):
            assert got[key] == said[key], (key, got, said)
    # again, and beside what a run has left there
    first = (job.dir / "run.json").read_text()
    place.rockit("slurm", "collect", job.dir)
    assert (job.dir / "run.json").read_text() == first
    (job.dir / "run.json").write_text('{"schema": 1, "command": ["a", "}"]}')
    for _ in range(2):
        place.rockit("slurm", "collect", job.dir)
        both = json.loads((job.dir / "run.json").read_text())
        assert both["command"] == ["a", "}"] and both["fused"] == record["fused"]
    assert job.report()["ranks"] == ranks


@test
def the_page_of_a_job_shows_the_job(place):
    job = Job(place, "--ranks", 4, "--nodes", 2, "--skew-ms", 3000)
    for rank in range(4):
        path = job.dir / f"rank-{rank:05}" / "run.json"
        run = json.loads(path.read_text())
        run["command"] = ["./app", "x"]
        run["ledger"]["delivered"] = {"tables": {"kernels": 10 + rank}}
        run["ledger"]["dropped"] = {"marker": "no marker"} if rank == 2 else {}
        path.write_text(json.dumps(run))
    done = place.rockit("report", "--html", "page.html", job.dir)
    assert done.returncode == 0 and "cannot be compared" not in done.stderr, done.stderr
    page = pathlib.Path("page.html").read_text()
    parts = {name: json.loads(text) for name, text in re.findall(
        r'<script type="application/json" id="([^"]*)">(.*?)</script>', page, re.S)}
    assert [r["clock"] for r in parts["report"]["ranks"]["ranks"]] == ["same", "same", "aligned", "aligned"]
    assert not [w for w in parts["report"]["warnings"] if w["kind"] == "several-clocks"], parts["report"]["warnings"]
    run = parts["run"]
    assert (run["ranks"], run["state"], run["command"]) == (4, "done", ["./app", "x"]), run
    assert run["ledger"]["delivered"]["tables"] == {"kernels": 46}, run
    assert run["ledger"]["dropped"] == {"marker": "no marker (rank 2)"}, run
    assert "rank" not in run and "host" not in run, run


if __name__ == "__main__":
    sys.exit(librun.main())
