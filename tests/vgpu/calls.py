#!/usr/bin/env python3
"""HIP calls, ROCTx ranges and RCCL calls that the ROCm collector records, against what the programs say.

Suites and arguments as for vgpu.py, the collector as for collect.py.
"""

import collections
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys

import hip_layout
import vgpu
from collect import COLLECTOR, ROCKIT
from vgpu import HERE, case, must, same

vgpu.CASES.clear()
LAUNCHES = re.compile(r"hip(\w*Launch\w*|Memcpy\w*|Memset\w*|\w+Synchronize)$")


class Recorded:
    """A program's run under the collector: what it said and did, and the tables of its file."""

    def __init__(self, s, settings, program, *args, env=None, preload=(), preloaded=False, after=(), rc=0, **options):
        folder = s.temp / f"raw-{len(list(s.temp.glob('raw-*')))}"
        folder.mkdir()
        loaded = {} if preloaded else {"HSA_TOOLS_LIB": str(COLLECTOR)}
        run = s.run(program, *args, preload=[*preload, *([COLLECTOR] if preloaded else []), *after],
                    env={"ROCKIT_COLLECT": f"dir={folder},{settings}", **loaded, **(env or {})}, **options)
        same("exit status", (run.rc, run.err if run.rc != rc else ""), (rc, ""))
        self.out, self.err, self.ledger = run.out, run.err, run.ledger
        self.files = list(folder.glob("*.rkraw"))

    def said(self):
        return json.loads(self.out.splitlines()[-1])

    def table(self, name):
        same("files", len(self.files), 1)
        run = subprocess.run([ROCKIT, "convert", self.files[0], "--table", name, "-f", "csv", "-o", "-"],
                             capture_output=True, text=True, check=True)
        return list(csv.DictReader(io.StringIO(run.stdout)))

    def notes(self):
        """What the collector says in its file, among all other text of it."""
        return self.files[0].read_bytes().decode(errors="replace")

    def calls(self):
        return collections.Counter(row["function"] for row in self.table("api"))


def span(row):
    start = int(row["start_ns"])
    return start, start + int(row["duration_ns"])


def inside(inner, outer):
    (a, b), (c, d) = span(inner), span(outer)
    return c <= a and b <= d


@case("sizes and offsets that the collector declares are those of AMD's header")
def layout(s):
    same("differences", hip_layout.faults(s.temp, s.root / "usr/include", HERE.parent.parent), [])


@case("every HIP call of a program is recorded, and no other")
def all_calls(s):
    for preloaded, program, *args in ((False, "many", "8", "25"), (True, "many", "8", "25"), (False, "train", "3", "4"),
                                      (False, "copies"), (True, "copies")):
        r = Recorded(s, "api=1", program, *args, preloaded=preloaded)
        calls = r.calls()
        same(f"calls of {program}", sum(calls.values()), r.said()["calls"])
        must(not any(name.startswith("__") for name in calls), f"{calls}")
        rows = r.table("api")
        same("correlation ids", len({row["correlation_id"] for row in rows}), len(rows))
        ends = {}  # calls of a thread do not overlap
        for row in sorted(rows, key=lambda row: int(row["start_ns"])):
            start, end = span(row)
            must(start >= ends.get(row["tid"], 0), f"{row} begins in the call before it")
            ends[row["tid"]] = end


@case("only launches, copies and synchronisations are recorded if so asked, and by default")
def launches_only(s):
    every = Recorded(s, "api=1", "many", "4", "20").calls()
    want = {name: n for name, n in every.items() if LAUNCHES.match(name)}
    must(0 < len(want) < len(every), f"{every}")
    for settings in ("api=launches", "window=0"):
        same(settings, dict(Recorded(s, settings, "many", "4", "20").calls()), want)
    same("with api=0", dict(Recorded(s, "api=0", "many", "4", "20").calls()), {})


@case("a sample leaves out calls other than launches, copies and synchronisations")
def sample(s):
    every = Recorded(s, "api=1", "many", "8", "20").calls()
    some = Recorded(s, "api=1,sample=7", "many", "8", "20").calls()
    for name, n in every.items():
        if LAUNCHES.match(name):
            same(name, some[name], n)
    others = [sum(n for name, n in c.items() if not LAUNCHES.match(name)) for c in (every, some)]
    must(0 < others[1] < others[0] / 2, f"{others[1]} of {others[0]} others")


@case("ranges and marks have the program's names and nesting, around the launches in them")
def markers(s):
    steps, layers = 4, 3
    r = Recorded(s, "api=1", "train", str(steps), str(layers))
    rows, calls = r.table("markers"), r.table("api")
    ranges = [row for row in rows if row["kind"].startswith("range")]
    same("ranges", collections.Counter(row["name"] for row in ranges),
         collections.Counter({f"step {i}": 1 for i in range(steps)} | dict.fromkeys(("forward", "backward", "optimizer"), steps)))
    same("marks", [row["name"] for row in rows if row["kind"].startswith("mark")], ["step done"] * steps)
    launches = [row for row in calls if row["function"] == "hipModuleLaunchKernel"]
    for row in ranges:
        want = {"forward": 2 * layers, "backward": 2 * layers, "optimizer": 1}.get(row["name"], 4 * layers + 2)
        same(f"launches in {row['name']}", sum(inside(call, row) for call in launches), want)
        if not row["name"].startswith("step"):
            same(f"steps around {row['name']}",
                 sum(inside(row, o) for o in ranges if o["name"].startswith("step")), 1)


def library(s, name, *options):
    path = s.temp / f"{name}.so"
    if not path.exists():
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-o", path, HERE / f"programs/{name}.c", "-ldl", *options],
                       check=True)
    return path


@case("misused ranges are recorded or counted, with libroctx64 and with a library that has no callback")
def misused(s):
    sdk = library(s, "sdk_roctx", "-Wl,-soname,librocprofiler-sdk-roctx.so.1")
    for roctx in (s.lib / "libroctx64.so.4", sdk):
        alone = s.run("ranges", "20", preload=[roctx])
        r = Recorded(s, "roctx=1", "ranges", "20", preloaded=True, after=[roctx])
        same("the program's words", r.out, alone.out)
        rows = r.table("markers")
        names = collections.Counter(row["name"][:4] for row in rows)
        same("names", (names["a"], names["b"], names["xxxx"], names["mark"]), (20, 20, 20, r.said()["marks"]))
        same("deep ranges up to the limit", names["deep"], 20 * 64)
        same("the longest name", max(len(row["name"]) for row in rows), 8000)
        for first, second in zip(*([row for row in rows if row["name"] == n] for n in "ab"), strict=True):
            same("the thread that started a range", first["tid"], second["tid"])
        same("without ranges", len(Recorded(s, "roctx=0", "ranges", preloaded=True, after=[roctx]).table("markers")), 0)


@case("ranges switch recording on and off")
def gate(s):
    steps, layers = 6, 2
    calls = Recorded(s, "api=1,range=forward", "train", str(steps), str(layers)).calls()
    same("in the range", dict(calls), {"hipModuleLaunchKernel": steps * 2 * layers})
    calls = Recorded(s, "api=1,range=forward,every=1:3", "train", str(steps), str(layers)).calls()
    same("in each third", dict(calls), {"hipModuleLaunchKernel": steps // 3 * 2 * layers})


@case("graphs come and go, and every launch of one is a call")
def graphs(s):
    for settings in ("api=1", "api=launches", "api=1,switch=1,asleep=1"):
        r = Recorded(s, settings, "graphs", "60", "3")
        want = {"api=1": r.said()["calls"], "api=launches": 60 * (8 + 3 + 1)}.get(settings, 0)
        same(f"calls with {settings}", sum(r.calls().values()), want)
        must("not recorded" not in r.notes() and "were recorded" not in r.notes(), "calls were given up")


@case("RCCL's calls are recorded with what they move", large="trixie-large")
def rccl(s):
    program = s.temp / "rccl"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-w", "-o", program, HERE / "programs/rccl.c", f"-I{s.root}/usr/include",
                    f"-L{s.lib}", "-l:librccl.so.1", "-l:libamdhip64.so.5", "-Wl,--unresolved-symbols=ignore-all"], check=True)
    for gpus in (1, 2):
        linked_cards(s.temp / f"gfx90a-{gpus}", gpus)
        r = Recorded(s, "api=launches", str(program), "3", chip="gfx90a", gpus=gpus, preloaded=True)
        said = r.said()
        calls = collections.Counter(row["function"] for row in r.table("api") if row["domain"] == "RCCL_API")
        same("GPUs", said["gpus"], gpus)
        same("calls", sum(calls.values()), said["calls"])
        same("collectives", (calls["ncclAllReduce"], calls["ncclBroadcast"], calls["ncclSend"]), (3 * gpus,) * 3)
        moved = collections.Counter(row["name"] for row in r.table("markers"))
        for rank in range(gpus):
            for text, n in ((f"ncclAllReduce bytes=4004 type=float32 rank={rank} of={gpus}", 1),
                            (f"ncclBroadcast bytes=77 type=uint8 rank={rank} of={gpus} root={gpus - 1}", 3),
                            (f"ncclSend bytes=80 type=float64 rank={rank} of={gpus} peer={(rank + 1) % gpus}", 3)):
                same(text, moved[text], n)
        same("without them", len(Recorded(s, "rccl=0", str(program), chip="gfx90a", gpus=gpus, preloaded=True).table("markers")), 0)


def linked_cards(device, gpus):
    """Cards as links to their PCI devices, as RCCL's topology wants them."""
    if not device.exists():
        subprocess.run([vgpu.BUILD / "vgpu-device", device, "gfx90a", str(gpus)], check=True)
    for i in range(gpus):
        card, real = device / f"drm/card{i}", device / f"devices/pci0000:00/0000:{3 + i:02x}:00.0/drm/card{i}"
        if not card.is_symlink():
            real.parent.mkdir(parents=True)
            card.rename(real)
            card.symlink_to(real)


class OtherRelease:
    """A copy of the suite's HIP that says it is another release: only that number is changed."""

    def __init__(self, s, version):
        real = next(p for p in s.lib.glob("libamdhip64.so.*.*"))
        soname = next(p for p in s.lib.glob("libamdhip64.so.?"))
        symbols = subprocess.run(["nm", "-D", real], capture_output=True, text=True, check=True).stdout
        image = bytearray(real.read_bytes())
        full = re.fullmatch(r"libamdhip64\.so\.(\d+)\.(\d+)\.(\d+)", real.name)
        number = int(full[1]) * 10000000 + int(full[2]) * 100000 + int(full[3])
        at = int(re.search(r"^(\w+) T hipRuntimeGetVersion", symbols, re.M)[1], 16)
        places = [m.start() for m in re.finditer(re.escape(number.to_bytes(4, "little")), image)]
        must(places, f"{number} is not in {real}")
        for place in places:  # in hipRuntimeGetVersion, or in what it calls
            image[place:place + 4] = version.to_bytes(4, "little")
        must(at, "hipRuntimeGetVersion")
        self.folder = s.temp / f"hip-{version}"
        self.folder.mkdir()
        (self.folder / soname.name).write_bytes(image)
        self.s = s

    def __enter__(self):
        self.s.libs.insert(0, self.folder)

    def __exit__(self, *_):
        self.s.libs.remove(self.folder)


@case("calls of an unknown release are left alone, and the program runs as always")
def unknown_release(s):
    want = s.run("many", "2", "10").out
    with OtherRelease(s, 90931921):
        same("the program's words", s.run("many", "2", "10").out, want)
        r = Recorded(s, "api=1", "many", "2", "10")
        same("its words when recorded", r.out, want)
        same("calls", len(r.table("api")), 0)
        must("HIP 9.9 is not one of the releases" in r.notes(), "no such note")


@case("a release whose structure is not as expected is left alone")
def canary(s):
    want = s.run("many", "2", "10").out
    # the others' structure is larger than that of 5.7
    with OtherRelease(s, 60443484 if s.name == "trixie" else 50731921):
        for _ in range(3):
            r = Recorded(s, "api=1", "many", "2", "10")
            same("the program's words", r.out, want)
            same("calls", len(r.table("api")), 0)
            must("does not pass the structure" in r.notes(), "no such note")


@case("a tool that has HIP's place keeps it, and one that takes it is named")
def guests(s):
    guest = library(s, "guest_hip")
    for preloaded in (False, True):
        first = {"after": [guest]} if preloaded else {"preload": [guest]}
        r = Recorded(s, "api=1", "many", "2", "10", env={"GUEST": "first"}, preloaded=preloaded, **first)
        same("calls", len(r.table("api")), 0)
        must("guest_hip.so' records them already" in r.notes(), "no note about the first one")
        must(int(re.search(r"guest (\d+)", r.err)[1]) >= r.said()["calls"], r.err)
        r = Recorded(s, "api=1", "many", "2", "10", env={"GUEST": "later"}, preload=[guest], preloaded=preloaded)
        calls = sum(r.calls().values())
        must(0 < calls < r.said()["calls"], f"{calls} calls")
        must("guest_hip.so' took HIP's only place" in r.notes(), "no note about the later one")


if __name__ == "__main__":
    sys.exit(vgpu.main())
