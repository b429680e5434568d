#!/usr/bin/env python3
"""The ranks of a job say the same as folders, as one table, as a data set; and exactly what is true."""
import csv
import io
import json
import pathlib
import subprocess
import sys

import librun
from librun import ROCKIT, test

GEN_RANKS = pathlib.Path(ROCKIT).resolve().parent / "gen-ranks"
LOAD = ("kernels", "kernel_ns", "first_ns", "last_ns", "compute_ns", "comm_ns", "both_ns", "idle_ns")
JOB = ("--ranks", "6", "--nodes", "2", "--kernels", "3000", "--collectives", "200", "--copies", "20",
       "--overlap", "40", "--slow", "4")


def make(place):
    truth = place.path / "truth.json"
    subprocess.run([GEN_RANKS, "-o", place.path / "job", "--truth", truth, *JOB], check=True)
    return place.path / "job", json.loads(truth.read_text())


def ranks_of(place, *argv):
    done = place.rockit("report", "-q", "--ranks", "--format", "json", *argv)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["schema"] == 1
    return said["ranks"]


@test
def time_of_each_rank_is_what_it_is(place):
    job, truth = make(place)
    for said, true in zip(ranks_of(place, job)["ranks"], truth["ranks"], strict=True):
        for key in ("compute_ns", "comm_ns", "both_ns"):
            assert said[key] == true[key], (said["rank"], key, said[key], true[key])
        union = said["compute_ns"] + said["comm_ns"] - said["both_ns"]
        assert said["idle_ns"] == said["last_ns"] - said["first_ns"] - union


@test
def folders_one_table_and_a_data_set_say_the_same(place):
    job, _ = make(place)
    folders = ranks_of(place, job)
    place.rockit("convert", "-q", job, "-o", place.path / "all.parquet")  # ranks are mixed in it
    place.rockit("convert", "-q", job, "-o", f"{place.path / 'set'}/", "--dataset")
    for form in ("all.parquet", "set"):
        other = ranks_of(place, place.path / form)
        for key in LOAD:
            assert [r[key] for r in folders["ranks"]] == [r[key] for r in other["ranks"]], (form, key)
        assert folders["spreads"] == other["spreads"], form
        assert folders["imbalance"] == other["imbalance"], form
    assert other["copies"] == folders["copies"] and len(folders["copies"]) > 6


@test
def copies_are_those_of_the_table(place):
    job, _ = make(place)
    said = ranks_of(place, job)["copies"]
    rows = [json.loads(line) for line in place.rockit(
        "convert", "-q", job, "--table", "memcpy", "-f", "jsonl", "-o", "-").stdout.splitlines()]
    assert sum(c["calls"] for c in said) == len(rows) == 6 * 20
    assert sum(c["bytes"] for c in said) == sum(r["bytes"] for r in rows)
    assert sum(c["time_ns"] for c in said) == sum(r["duration_ns"] for r in rows)
    assert all(c["src"] is None for c in said if "HOST_TO" in c["direction"])


@test
def a_row_for_each_rank_as_csv(place):
    job, _ = make(place)
    said = ranks_of(place, job)["ranks"]
    text = place.rockit("report", "-q", "--ranks", "--format", "csv", job).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(r["rank"]) for r in rows] == list(range(6))
    for row, rank in zip(rows, said, strict=True):
        for key in (*LOAD, "wait_ns", "caused_ns", "offset_ns", "error_ns"):
            assert int(row[key]) == rank[key], (key, row[key], rank[key])


@test
def a_page_of_very_many_ranks_has_a_timeline_of_some(place):
    subprocess.run([GEN_RANKS, "-o", place.path / "many", "--ranks", "80", "--nodes", "10", "--kernels", "100",
                    "--collectives", "10", "--slow", "71"], check=True)
    done = place.rockit("report", place.path / "many", "--html", place.path / "page.html")
    assert done.returncode == 0 and "16 times" in done.stderr and "timeline" in done.stderr, done.stderr
    page = (place.path / "page.html").read_text()
    data = json.loads(page.split('id="timeline-data">')[1].split("</script>")[0])
    ranks = {lane["rank"] for lane in data["lanes"]}
    assert len(ranks) == 64 and 71 in ranks and data["left_out_ranks"] == 16, ranks
    assert sum(lane["rows"] for lane in data["lanes"]) == 64 * 100 and not data["folded_rows"]
    report = json.loads(page.split('id="report">')[1].split("</script>")[0])
    assert len(report["ranks"]["ranks"]) == 80 and report["kernel_rows"] == 8000


@test
def a_redacted_page_names_no_node(place):
    job, _ = make(place)
    (job / "rank-00001/run.json").write_text("{")
    for options in ((), ("--redact",)):
        place.rockit("report", "-q", job, "--html", place.path / "page.html", *options)
        page = (place.path / "page.html").read_text()
        assert ("node000" in page) == (not options), options
    assert "[node 1]" in page and "[node 2]" in page


@test
def threads_change_nothing(place):
    job, _ = make(place)
    assert ranks_of(place, job, "--threads", "1") == ranks_of(place, job, "--threads", "3")


if __name__ == "__main__":
    sys.exit(librun.main())
