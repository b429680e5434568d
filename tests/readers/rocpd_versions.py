#!/usr/bin/env python3
"""rocpd databases of schema 3.0.0 to 3.0.5, of the 4.1 branch and of versions that nobody knows.

No tool that writes them is at hand, so they are made here with SQLite, table by table as the tool's
own scripts declare them. Each is read as CSV, as Parquet and from that Parquet again.
"""

import csv
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROCKIT = os.environ.get("ROCKIT", "rockit")
GUID = "00000042-7277-7277-a588-ea4fd4355afc"
SUFFIX = "_" + GUID.replace("-", "_")

# Columns after id and guid, schema 3.0.0.
TABLES = {
    "string": "string TEXT",
    "info_node": "hash INTEGER, machine_id TEXT, hostname TEXT",
    "info_process": "nid INTEGER, ppid INTEGER, pid INTEGER, start BIGINT, end BIGINT, command TEXT",
    "info_thread": "nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, name TEXT",
    "info_agent": "nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, name TEXT, "
                  "product_name TEXT, extdata JSONB DEFAULT '{}'",
    "info_pmc": "nid INTEGER, pid INTEGER, agent_id INTEGER, name TEXT, block TEXT",
    "info_kernel_symbol": "nid INTEGER, pid INTEGER, kernel_name TEXT, display_name TEXT, "
                          "sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER",
    "track": "nid INTEGER, pid INTEGER, tid INTEGER, name_id INTEGER",
    "event": "category_id INTEGER, stack_id INTEGER, extdata JSONB DEFAULT '{}'",
    "pmc_event": "event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0",
    "region": "nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, "
              "event_id INTEGER",
    "sample": "track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, event_id INTEGER",
    "kernel_dispatch": "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, "
                       "kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, "
                       "stream_id INTEGER, start BIGINT, end BIGINT, workgroup_size_x INTEGER, "
                       "workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, "
                       "grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, "
                       "event_id INTEGER",
    "memory_copy": "nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, "
                   "name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, "
                   "stream_id INTEGER, event_id INTEGER",
    "memory_allocate": "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, type TEXT, "
                       "level TEXT, start BIGINT, end BIGINT, address INTEGER, size INTEGER, "
                       "event_id INTEGER, extdata JSONB DEFAULT '{}'",
}

GRAPH = ", graph_exec_id INTEGER NOT NULL DEFAULT 0, graph_node_id INTEGER NOT NULL DEFAULT 0"
STREAMED = (", sample_id INTEGER, xcc INTEGER, shader_engine INTEGER, instance INTEGER")

STRINGS = ["", "HIP_RUNTIME_API_EXT", "KERNEL_DISPATCH", "MARKER_CORE_RANGE_API", "hipLaunchKernel",
           "step 1", "MEMORY_COPY_HOST_TO_DEVICE", "SPM", "KFD_PAGE_MIGRATE",
           "KFD_PAGE_MIGRATE_PREFETCH", "HIP_EVENT_WAIT", "HIP_EVENT_RECORD", "MEMORY_ALLOCATION"]


def text(string):
    return STRINGS.index(string) + 1


class Database:
    def __init__(self, path, version, tables):
        self.db = sqlite3.connect(path)
        self.db.execute(f'CREATE TABLE "rocpd_metadata{SUFFIX}"(id INTEGER PRIMARY KEY, tag TEXT, '
                        "value TEXT)")
        for tag, value in (("schema_version", version), ("uuid", SUFFIX), ("guid", GUID)):
            self.put("metadata", guid=False, tag=tag, value=value)
        for name, columns in tables.items():
            self.db.execute(f'CREATE TABLE "rocpd_{name}{SUFFIX}"(id INTEGER NOT NULL PRIMARY KEY '
                            f'AUTOINCREMENT, guid TEXT DEFAULT "{GUID}" NOT NULL, {columns})')
            self.db.execute(f'CREATE VIEW "rocpd_{name}" AS SELECT * FROM "rocpd_{name}{SUFFIX}"')
        for string in STRINGS:
            self.put("string", string=string)

    def put(self, table, guid=True, **values):
        columns = ",".join(f'"{c}"' for c in values)
        marks = ",".join("?" * len(values))
        return self.db.execute(f'INSERT INTO "rocpd_{table}{SUFFIX}"({columns}) VALUES ({marks})',
                               list(values.values())).lastrowid

    def close(self):
        self.db.commit()
        self.db.close()


def fill(db, layout):
    """The same program in each layout: `place` says where a row is."""
    db.put("info_node", id=7, hostname="n1")
    db.put("info_process", id=500, nid=7, ppid=1, pid=500, start=1, end=9000, command="./app")
    db.put("info_thread", id=501, nid=7, pid=500, tid=501)
    db.put("info_agent", id=0, nid=7, pid=500, type="CPU", absolute_index=0, name="EPYC")
    db.put("info_agent", id=1, nid=7, pid=500, type="GPU", absolute_index=4, name="gfx942")
    db.put("info_kernel_symbol", id=3, kernel_name="_Z3addPf.kd", display_name="add(float*)",
           sgpr_count=96, arch_vgpr_count=32, accum_vgpr_count=4)
    db.put("info_pmc", id=11, nid=7, pid=500, agent_id=1, name="SQ_WAVES", block="SQ")
    db.put("info_pmc", id=12, nid=7, pid=500, agent_id=1, name="GRBM_COUNT", block="GRBM")
    call = db.put("event", category_id=layout.category("HIP_RUNTIME_API_EXT"), stack_id=10)
    db.put("region", **layout.host(), start=100, end=200, name_id=text("hipLaunchKernel"),
           event_id=call)
    mark = db.put("event", category_id=layout.category("MARKER_CORE_RANGE_API"), stack_id=20)
    # since ROCm 10.1 the text of a marker is the name of its region
    db.put("region", **layout.host(), start=50, end=900, name_id=text("step 1"), event_id=mark)
    dispatch = db.put("event", category_id=layout.category("KERNEL_DISPATCH"), stack_id=10)
    db.put("kernel_dispatch", **layout.gpu(), kernel_id=3, dispatch_id=1, start=1000, end=1100,
           workgroup_size_x=64, workgroup_size_y=1, workgroup_size_z=1, grid_size_x=640,
           grid_size_y=1, grid_size_z=1, event_id=dispatch, **layout.graph(9, 2))
    plain = db.put("event", category_id=layout.category("KERNEL_DISPATCH"), stack_id=11)
    db.put("kernel_dispatch", **layout.gpu(), kernel_id=3, dispatch_id=2, start=1200, end=1250,
           workgroup_size_x=64, workgroup_size_y=1, workgroup_size_z=1, grid_size_x=64,
           grid_size_y=1, grid_size_z=1, event_id=plain)
    db.put("memory_copy", **layout.copy(), start=300, end=340, name_id=text(
        "MEMORY_COPY_HOST_TO_DEVICE"), dst_agent_id=1, src_agent_id=0, size=4096,
           **layout.graph(9, 1))
    for event, value in ((dispatch, 1), (dispatch, 2), (plain, 5)):
        db.put("pmc_event", event_id=event, pmc_id=11, value=value)
    return dispatch


class Version3:
    def __init__(self, graphs=True):
        self.graphs = graphs

    def category(self, name):
        return text(name)

    def host(self):
        return {"nid": 7, "pid": 500, "tid": 501}

    def gpu(self):
        return {**self.host(), "agent_id": 1, "queue_id": 2, "stream_id": 3}

    def copy(self):
        return {**self.host(), "stream_id": 3}

    def graph(self, graph, node):
        return {"graph_exec_id": graph, "graph_node_id": node} if self.graphs else {}


class Version4:
    """Branch 4.1: rows are on tracks, categories have their own table, there are no graphs."""

    def __init__(self, db):
        self.track = db.put("track", nid=7, pid=500, tid=501, agent_id=1, queue_id=2, stream_id=3)
        self.db, self.categories = db, {}

    def category(self, name):
        if name not in self.categories:
            self.categories[name] = self.db.put("info_category", name=name)
        return self.categories[name]

    def host(self):
        return {"track_id": self.track}

    gpu = copy = host

    def graph(self, graph, node):
        return {}


def without(columns, *names):
    return ", ".join(c for c in columns.split(", ") if c.split()[0] not in names)


def tables_of(version):
    t = dict(TABLES)
    if version >= (4,):
        t["track"] += ", ppid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER"
        t["info_category"] = "name TEXT"
        for name in ("region", "kernel_dispatch", "memory_copy", "memory_allocate"):
            t[name] = "track_id INTEGER NOT NULL, " + without(
                t[name], "nid", "pid", "tid", "agent_id", "queue_id", "stream_id")
        t["sample"] += ", name_id INTEGER"
        t["memory_allocate"] = without(t["memory_allocate"], "type", "level") + ", name_id INTEGER"
        return t
    if version >= (3, 0, 2):
        for name in ("kernel_dispatch", "memory_copy"):
            t[name] += GRAPH
        t["graph_launch"] = ("nid INTEGER, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER, "
                             "queue_id INTEGER, start BIGINT NOT NULL, end BIGINT NOT NULL, "
                             "graph_exec_id INTEGER NOT NULL, "
                             "kernel_dispatch_count INTEGER NOT NULL DEFAULT 0, event_id INTEGER, "
                             "extdata JSONB DEFAULT '{}'")
    if version >= (3, 0, 3):
        t["pmc_event"] += STREAMED
        t["info_pmc"] += ", spm_support INTEGER"
    if version >= (3, 0, 4):
        t["hip_event"] = ("nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, "
                          "queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, "
                          "name_id INTEGER, hip_event_handle INTEGER, source_queue_id INTEGER, "
                          "event_id INTEGER")
    if version >= (3, 0, 5):
        t["pmc_event"] += ", shader_array INTEGER, wgp INTEGER"
        t["kernel_dispatch"] += ", replay_pass INTEGER"
    return t


def make(path, version, named=None):
    """A database of a schema that claims to be `named`."""
    db = Database(path, named or ".".join(map(str, version)), tables_of(version))
    layout = Version4(db) if version >= (4,) else Version3(version >= (3, 0, 2))
    dispatch = fill(db, layout)
    if version >= (4,):
        # a mark is a sample with its own name; an allocation has a name instead of type and level
        mark = db.put("event", category_id=layout.category("MARKER_CORE_RANGE_API"), stack_id=30)
        db.put("sample", track_id=layout.track, timestamp=60, name_id=text("step 1"), event_id=mark)
        db.put("memory_allocate", track_id=layout.track, start=5, end=6, address=4096, size=64,
               name_id=text("MEMORY_ALLOCATION"))
    elif version >= (3, 0, 1):
        db.put("info_agent", id=2, nid=7, pid=500, type="NIC", absolute_index=9, name="mlx5_0")
    if (3, 0, 2) <= version < (4,):
        db.put("graph_launch", **layout.host(), start=90, end=95, graph_exec_id=9,
               kernel_dispatch_count=1)
        # the driver's events are regions with a counter that belongs to no dispatch
        db.put("info_pmc", id=13, nid=7, pid=500, name="KFD_PAGE_MIGRATE", block="KFD")
        event = db.put("event", category_id=text("KFD_PAGE_MIGRATE"), stack_id=0)
        db.put("region", **layout.host(), start=400, end=450,
               name_id=text("KFD_PAGE_MIGRATE_PREFETCH"), event_id=event)
        db.put("pmc_event", event_id=event, pmc_id=13, value=1)
    if (3, 0, 3) <= version < (4,):
        track = db.put("track", nid=7, pid=500, name_id=text("SPM"))
        for time in (1010, 1020):
            sample = db.put("sample", track_id=track, timestamp=time)
            where = {"shader_array": 1, "wgp": 3} if version >= (3, 0, 5) else {}
            db.put("pmc_event", event_id=dispatch, pmc_id=11, value=1000, sample_id=sample, xcc=0,
                   shader_engine=1, instance=2, **where)
    if (3, 0, 4) <= version < (4,):
        for name, start, end in (("HIP_EVENT_RECORD", 500, 501), ("HIP_EVENT_WAIT", 510, 590)):
            db.put("hip_event", **layout.gpu(), start=start, end=end, name_id=text(name),
                   hip_event_handle=77, source_queue_id=2)
    if (3, 0, 5) <= version < (4,):
        # kernel replay: the first dispatch again for another group of counters
        db.db.execute(f'UPDATE "rocpd_kernel_dispatch{SUFFIX}" SET replay_pass=0 '
                      "WHERE dispatch_id=1")
        again = db.put("event", category_id=text("KERNEL_DISPATCH"), stack_id=10)
        db.put("kernel_dispatch", **layout.gpu(), kernel_id=3, dispatch_id=1, start=1110, end=1190,
               workgroup_size_x=64, workgroup_size_y=1, workgroup_size_z=1, grid_size_x=640,
               grid_size_y=1, grid_size_z=1, event_id=again, replay_pass=1, **layout.graph(9, 2))
        db.put("pmc_event", event_id=again, pmc_id=12, value=70)
    db.close()


faults = []


def same(what, got, want):
    if got != want:
        faults.append(f"{what}: {got!r}, not {want!r}")


def rockit(*args):
    run = subprocess.run([ROCKIT, *map(str, args)], capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        faults.append(f"rockit {' '.join(map(str, args))}: {run.stderr.strip()}")
    return run


def read(path, out):
    shutil.rmtree(out, ignore_errors=True)
    run = rockit("convert", "-f", "csv", path, "-o", f"{out}/")
    found = {}
    for file in pathlib.Path(out).glob("*.csv"):
        with open(file, newline="", encoding="utf-8") as lines:
            found[file.stem.replace("rocprof_", "")] = list(csv.DictReader(lines))
    return found, run.stderr


def columns(rows, *names):
    return [tuple(row[n] for n in names) for row in rows]


def check(work, version, named=None):
    path = work / "app_results.db"
    path.unlink(missing_ok=True)
    make(path, version, named)
    what = named or ".".join(map(str, version))
    found, said = read(path, work / "out")
    kernels = found["kernels"]
    graphs = (3, 0, 2) <= version < (4,)

    same(f"{what}: kernels", columns(kernels, "start_ns", "duration_ns", "dispatch_id", "device_id",
                                     "queue_id", "stream_id", "pid", "tid", "node", "grid_x"),
         [("1000", "100", "1", "4", "2", "3", "500", "501", "n1", "10"),
          ("1200", "50", "2", "4", "2", "3", "500", "501", "n1", "1")])
    same(f"{what}: graphs of kernels", columns(kernels, "graph_id", "graph_node_id"),
         [("9", "2") if graphs else ("", ""), ("", "")])
    same(f"{what}: counters are those of dispatches", columns(kernels, "SQ_WAVES"),
         [("3",), ("5",)])
    same(f"{what}: copies", columns(found["memcpy"], "bytes", "stream_id", "pid", "src_device",
                                    "dst_device", "graph_id", "graph_node_id"),
         [("4096", "3", "500", "0", "4", *(("9", "1") if graphs else ("", "")))])
    same(f"{what}: calls", columns(found["api"], "domain", "function", "pid", "tid"),
         [("HIP_RUNTIME_API_EXT", "hipLaunchKernel", "500", "501")])
    same(f"{what}: agents", [a["type"] for a in found["agents"]],
         ["CPU", "GPU"] + (["NIC"] if (3, 0, 1) <= version < (4,) else []))

    markers = [("step 1", "range", "50", "850")]
    if version >= (4,):
        markers.append(("step 1", "mark", "60", "0"))
    if graphs:
        markers += [("graph 9", "graph", "90", "5"),
                    ("KFD_PAGE_MIGRATE_PREFETCH", "driver", "400", "50")]
    if (3, 0, 4) <= version < (4,):
        markers += [("HIP_EVENT_RECORD", "queue", "500", "1"),
                    ("HIP_EVENT_WAIT", "queue", "510", "80")]
    same(f"{what}: markers",
         columns(found["markers"], "name", "kind", "start_ns", "duration_ns"), markers)

    samples = []
    if (3, 0, 3) <= version < (4,):
        where = "SE: 1, SA: 1, WGP: 3" if version >= (3, 0, 5) else "SE: 1"
        samples = [(t, "4", f"SQ_WAVES[XCC: 0, {where}, Instance: 2]", "1000", "n1")
                   for t in ("1010", "1020")]
    same(f"{what}: streamed counters", columns(found.get("samples", []), "time_ns", "device_id",
                                               "metric", "value", "node"), samples)
    if (3, 0, 5) <= version < (4,):
        same(f"{what}: a replayed dispatch has the counters of all passes",
             columns(kernels, "GRBM_COUNT"), [("70",), ("",)])
        same(f"{what}: pass of each counter",
             sorted(columns(found["counters"], "dispatch_id", "counter", "pass")),
             [("1", "GRBM_COUNT", "1"), ("1", "SQ_WAVES", "0"), ("2", "SQ_WAVES", "")])
    if version >= (4,):
        same(f"{what}: allocations", columns(found["memalloc"], "operation", "bytes", "pid"),
             [("MEMORY_ALLOCATION", "64", "500")])

    known = version < (4,) and not named
    same(f"{what}: says {said!r}", "schema version" in said, not known)
    same(f"{what}: other warnings", said.count("warning") - said.count("schema version"), 0)

    # Parquet has the same rows, and gives them back
    shutil.rmtree(work / "tables", ignore_errors=True)
    rockit("convert", "-q", path, "-o", f"{work}/tables/")
    again, _ = read(work / "tables", work / "again")
    for table in again:
        same(f"{what}: {table} through Parquet", again[table], found.get(table))


def check_csv(work):
    """What `rocpd convert` writes of the same things."""
    place = work / "csv"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "out_kernel_trace.csv").write_text(
        "Guid,Kind,Agent_Id,Queue_Id,Stream_Id,Graph_Exec_Id,Graph_Node_Id,Thread_Id,Dispatch_Id,"
        "Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,Duration,"
        "Lds_Block_Size,Scratch_Size,Vgpr_Count,Accum_Vgpr_Count,Sgpr_Count,Workgroup_Size_X,"
        "Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
        f"{GUID},KERNEL_DISPATCH,Agent 4,2,3,9,2,501,1,3,add(float*),10,1000,1100,100,0,0,32,4,96,"
        "64,1,1,640,1,1\n"
        f"{GUID},KERNEL_DISPATCH,Agent 4,2,3,0,0,501,2,3,add(float*),11,1200,1250,50,0,0,32,4,96,"
        "64,1,1,64,1,1\n")
    (place / "out_memory_copy_trace.csv").write_text(
        "Guid,Kind,Direction,Stream_Id,Graph_Exec_Id,Graph_Node_Id,Source_Agent_Id,"
        "Destination_Agent_Id,Correlation_Id,Start_Timestamp,End_Timestamp,Duration\n"
        f"{GUID},MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,3,9,1,Agent 0,Agent 4,7,300,340,40\n")
    (place / "out_graph_launch_trace.csv").write_text(
        "Guid,Kind,Agent_Id,Queue_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp,"
        "Duration,Graph_Exec_Id,Kernel_Dispatch_Count\n"
        f"{GUID},Graph Launch,Agent 4,2,501,10,90,95,5,9,1\n")
    (place / "out_hip_event_trace.csv").write_text(
        "Guid,Kind,Operation,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Event_Handle,Source_Queue_Id,"
        "Correlation_Id,Start_Timestamp,End_Timestamp,Duration\n"
        f"{GUID},HIP_EVENT,HIP_EVENT_WAIT,Agent 4,2,3,501,77,2,10,510,590,80\n")
    (place / "out_counter_collection_trace.csv").write_text(
        "Guid,Correlation_Id,Dispatch_Id,Replay_Pass,Agent_Id,Queue_Id,Process_Id,Thread_Id,"
        "Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,Lds_Block_Size,Scratch_Size,Vgpr_Count,"
        "Accum_Vgpr_Count,Sgpr_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
        f"{GUID},10,1,0,Agent 4,2,500,501,640,3,add(float*),64,0,0,32,4,96,SQ_WAVES,3,1000,1100\n"
        f"{GUID},10,1,1,Agent 4,2,500,501,640,3,add(float*),64,0,0,32,4,96,GRBM_COUNT,70,1110,"
        "1190\n")
    (place / "out_spm_counter_collection_trace.csv").write_text(
        "Guid,Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Kernel_Name,"
        "Counter_Name,Counter_Value,Timestamp\n"
        f'{GUID},10,1,Agent 4,2,500,501,add(float*),"SQ_WAVES[XCC: 0, SE: 1, Instance: 2]",1000,'
        "1010\n")
    found, said = read(place, work / "out")
    same("csv: warnings", said, "")
    same("csv: kernels", columns(found["kernels"], "dispatch_id", "graph_id", "graph_node_id",
                                 "SQ_WAVES", "GRBM_COUNT"),
         [("1", "9", "2", "3", "70"), ("2", "", "", "", "")])
    same("csv: copies", columns(found["memcpy"], "graph_id", "graph_node_id"), [("9", "1")])
    same("csv: markers", columns(found["markers"], "name", "kind", "start_ns", "duration_ns"),
         [("graph 9", "graph", "90", "5"), ("HIP_EVENT_WAIT", "queue", "510", "80")])
    same("csv: samples", columns(found["samples"], "time_ns", "device_id", "metric", "value"),
         [("1010", "4", "SQ_WAVES[XCC: 0, SE: 1, Instance: 2]", "1000")])
    same("csv: passes", sorted(columns(found["counters"], "counter", "pass")),
         [("GRBM_COUNT", "1"), ("SQ_WAVES", "0")])


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        for patch in range(6):
            check(work, (3, 0, patch))
        check(work, (4, 1, 0))
        # the number says nothing: the columns do
        check(work, (3, 0, 5), "3.0.17")
        check(work, (3, 0, 0), "3.2.0")
        check(work, (3, 0, 4), "next")
        check_csv(work)
    for text_ in faults:
        print(text_)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
