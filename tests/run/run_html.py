#!/usr/bin/env python3
"""rockit run --html: the page is in the run directory and has the ledger."""

import json
import re
import socket
import sys

from librun import KERNELS, main, test


def document(page, name):
    found = re.search(f'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1)) if found else None


@test
def the_page_is_left_in_the_run_directory(place):
    place.rocm("7.0")
    run = place.run("-p", "lightweight", "--html")
    assert run.status == 0, run.err
    page = (run.dir / "report.html").read_text()
    assert document(page, "report")["kernel_rows"] == KERNELS
    recording = document(page, "run")
    assert recording["ledger"] == run.json["ledger"]
    assert recording["command"] == run.json["command"]
    for hidden in ("environment", "directory", "kernel", "machine"):
        assert hidden not in recording, hidden
    assert all("argv" not in p and "env" not in p for p in recording["passes"])


@test
def a_page_beside_its_tables_changes_nothing(place):
    place.rocm("7.0")
    run = place.run("-p", "lightweight", "--html")
    first = place.rockit("report", run.dir, "--format", "json")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["kernel_rows"] == KERNELS
    again = place.run("-p", "lightweight", "--html", "--force", name=run.dir.name)
    assert again.status == 0, again.err


@test
def redacted_pages_name_neither_host_nor_paths(place):
    place.rocm("7.0")
    run = place.run("-p", "lightweight", "--html", "--redact", "--then", "report")
    page = (run.dir / "report.html").read_text()
    for name in ("report", "timeline-data", "run"):
        text = json.dumps(document(page, name))
        assert str(run.dir.parent) not in text, name
        assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text), (name, text)
    assert "Kernels:" in run.err, run.err


@test
def the_program_keeps_its_status(place):
    place.rocm("7.0")
    run = place.run("--html", app=("sh", "-c", "exit 7"))
    assert run.status == 7, run.err


sys.exit(main())
