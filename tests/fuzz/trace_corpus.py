#!/usr/bin/env python3
"""Makes the small databases and traces that fuzz_nsys, fuzz_perfetto and fuzz_xplane begin with."""
import os
import sqlite3
import struct
import sys
import zlib

NSYS = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES(1,'void add<int>(int *)'),(2,'add'),(3,'cudaMalloc');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
 streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
 shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
 blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER,
 dynamicSharedMemory INTEGER, gridId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1,9,0,7,4,302119223558144,1,2,32,4,1,1,64,1,1,0,16,1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
 bytes INTEGER, copyKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1,2,0,64,1),(3,4,0,64,2);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,
 globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1,2,0,302119223558144,4,3);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
 globalTid INTEGER, textId INTEGER);
INSERT INTO NVTX_EVENTS VALUES(1,5,59,'step',1,NULL),(2,NULL,34,NULL,1,2);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('Hostname','n1');
"""
V1 = """
CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT, "pid" INTEGER, "grd" INTEGER,
 "wgr" INTEGER, "arch_vgpr" INTEGER, "SQ_WAVES" INTEGER, "BeginNs" INTEGER, "EndNs" INTEGER);
INSERT INTO KERN VALUES(0,'"add.kd"',5,100,64,8,2,10,20),(1,'"<barrier packet>"',5,0,0,0,0,21,22);
CREATE TABLE HIP ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT);
INSERT INTO HIP VALUES(1,2,2,5,'hipMalloc');
CREATE TABLE rocTX ("BeginNs" INTEGER, "EndNs" INTEGER, "Name" TEXT);
INSERT INTO rocTX VALUES(1,2,'"here"');
"""
RPD = """
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
INSERT INTO rocpd_string VALUES(1,''),(2,'add'),(3,'KernelExecution'),(4,'CopyHostToDevice'),
 (5,'UserMarker'),(6,'hipLaunchKernel'),(7,'SQ_WAVES'),(8,'Barrier');
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, start INTEGER,
 end INTEGER, description_id INTEGER, opType_id INTEGER, completionSignal TEXT);
INSERT INTO rocpd_op VALUES(1,2,0,1,9,2,3,''),(2,2,0,10,12,1,4,''),(3,-1,0,5,6,2,5,''),
 (4,2,0,20,21,2,3,'hwq=0x2 wg=64,1,1 grid=640,1,1'),(5,2,0,22,23,1,8,'');
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER,
 end INTEGER, apiName_id INTEGER, args_id INTEGER);
INSERT INTO rocpd_api VALUES(1,7,8,0,1,6,1),(2,7,8,1,2,5,2);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
INSERT INTO rocpd_api_ops VALUES(1,1,1),(2,2,2),(3,2,4);
CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, gridX INTEGER, workgroupX INTEGER);
INSERT INTO rocpd_kernelapi VALUES(1,4,64);
CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, size INTEGER, kind INTEGER);
INSERT INTO rocpd_copyapi VALUES(2,'',1);
CREATE TABLE rocpd_counter (op_id INTEGER, name_id INTEGER, value REAL);
INSERT INTO rocpd_counter VALUES(4,7,10),(1,7,4);
CREATE TABLE rocpd_monitor (deviceId INTEGER, monitorType TEXT, start INTEGER, value TEXT);
INSERT INTO rocpd_monitor VALUES(0,'sclk',1,'800');
CREATE TABLE rocpd_metadata (tag TEXT, value TEXT);
INSERT INTO rocpd_metadata VALUES('pid','9');
"""
COMPUTE = """
CREATE TABLE compute_workload (sys_info_extdata JSON);
INSERT INTO compute_workload VALUES('{"hostname": "n", "cu_per_gpu": 8, "command": "./a"}');
CREATE TABLE compute_kernel (kernel_uuid INTEGER NOT NULL, kernel_name VARCHAR,
 PRIMARY KEY (kernel_uuid));
INSERT INTO compute_kernel VALUES(1,'add');
CREATE TABLE compute_dispatch (kernel_uuid INTEGER, dispatch_id INTEGER, gpu_id INTEGER,
 start_timestamp INTEGER, end_timestamp INTEGER);
INSERT INTO compute_dispatch VALUES(1,0,0,10,20);
"""
COMPUTE2 = """
CREATE TABLE compute_metadata (id INTEGER PRIMARY KEY, schema_version VARCHAR);
INSERT INTO compute_metadata VALUES(1,'2.0.0');
CREATE TABLE compute_workload (sys_info_extdata JSON, roofline_bench_extdata JSON);
INSERT INTO compute_workload VALUES('{"num_memory_channels": 8}','{"HBMBw": 1.5, "L0Bw": 2}');
CREATE TABLE compute_metric_definition (metric_uuid INTEGER PRIMARY KEY, metric_id VARCHAR,
 name VARCHAR, unit VARCHAR);
INSERT INTO compute_metric_definition VALUES(7,'2.1.0','VALU','%');
CREATE TABLE compute_workload_metric_value (metric_uuid INTEGER, value_name VARCHAR, value FLOAT);
INSERT INTO compute_workload_metric_value VALUES(7,'Avg',1.5);
CREATE TABLE compute_kernel_metric_value (value_uuid INTEGER PRIMARY KEY, value FLOAT);
INSERT INTO compute_kernel_metric_value VALUES(1,2);
CREATE TABLE compute_instruction_line (instruction_uuid INTEGER PRIMARY KEY, kernel_uuid INTEGER,
 comment TEXT, instruction TEXT);
INSERT INTO compute_instruction_line VALUES(5,1,'a:3','s_nop');
CREATE TABLE compute_pc_sample_state (pc_sample_state_uuid INTEGER PRIMARY KEY,
 instruction_uuid INTEGER, total_count INTEGER, stall_count INTEGER);
INSERT INTO compute_pc_sample_state VALUES(1,5,12,10);
CREATE TABLE compute_pc_sample_stall_reason_type (
 pc_sample_stall_reason_type_uuid INTEGER PRIMARY KEY, text VARCHAR);
INSERT INTO compute_pc_sample_stall_reason_type VALUES(1,'W');
CREATE TABLE compute_pc_sample_stall_reason (pc_sample_state_uuid INTEGER,
 pc_sample_stall_reason_type_uuid INTEGER, count INTEGER);
INSERT INTO compute_pc_sample_stall_reason VALUES(1,1,10);
"""


def database(path, sql):
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size=512")
    db.executescript(sql)
    db.close()


def varint(v):
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(n, v) for n, v in fields)


def packet(*fields):
    return field(1, message((10, 1), *fields))


def plain_trace():
    note = [(4, message((10, n), (k, v))) for n, k, v in (
        ("begin_ns", 3, 11), ("end_ns", 3, 19), ("agent", 3, 4), ("grid_size", 6, "64,2,1"),
        ("workgroup_size", 3, 64), ("SQ_WAVES", 5, 2.0))]
    return b"".join([
        packet((60, message((1, 1), (3, message((1, 500)))))),
        packet((60, message((1, 2), (2, "STREAM [ 3 ]"), (5, 1)))),
        packet((8, 10), (11, message((9, 1), (11, 2), (22, "kernel_dispatch"), (23, "add"), *note))),
        packet((8, 20), (11, message((9, 2), (11, 2)))),
        packet((8, 21), (11, message((9, 3), (11, 1), (22, "marker_api"), (23, "here")))),
    ])


def interned_trace():
    names = message(
        (1, message((1, 1), (2, "hip_api"))), (2, message((1, 1), (2, "hipMalloc"))),
        (3, message((1, 1), (2, "corr_id"))), (29, message((1, 1), (2, "7"))))
    clocks = message((1, message((1, 6), (2, 1000))),
                     (1, message((1, 64), (2, 1), (3, 1), (4, 1000))))
    begin = message((9, 1), (3, 1), (10, 1), (4, message((1, 1), (17, 1))))
    return b"".join([
        packet((13, 1), (6, clocks), (59, message((58, 64), (11, message((11, 9))))), (12, names)),
        packet((8, 1), (13, 2), (11, begin)),
        packet((8, 2), (11, message((9, 1), (22, "memory_copy"), (23, "HOST_TO_DEVICE")))),
        packet((8, 3), (42, 1), (11, message((9, 2)))),
        packet((8, 4), (11, message((9, 2)))),
    ])


def bundled_trace(first):
    """The plain trace with its packets from the first one on in a bundle, and bundles that repeat some."""
    plain, split = plain_trace(), 0
    for _ in range(first):
        split += 2 + plain[split + 1]
    parts = [plain[:split], plain[split:]]
    return b"".join([
        parts[0], field(1, field(50, zlib.compress(parts[1]))), field(1, field(133, zstd_stored(parts[0]))),
        field(1, field(50, zlib.compress(field(1, field(50, zlib.compress(parts[1]))))))])


def zstd_stored(data):
    """A zstd frame (RFC 8878) of one block that is not compressed: Python has no zstd."""
    return b"".join([b"\x28\xb5\x2f\xfd", b"\x20", bytes([len(data)]),
                     struct.pack("<I", 1 | len(data) << 3)[:3], data])


def xplane():
    def names(kind, texts):
        return [(kind, message((1, i), (2, message((1, i), (2, t))))) for i, t in enumerate(texts, 1)]

    stats = names(5, ("correlation_id", "kernel_details", "memcpy_details", "hlo_op", "hlo_module", "step_num",
                      "device_vendor", "core_count", " grid:4,1,1 block:64,1,1 group_mem:16", "fusion.1"))
    kernel = message((1, 1), (2, 2000499), (3, 3000001), (4, message((1, 1), (3, 9))), (4, message((1, 2), (7, 9))),
                     (4, message((1, 4), (7, 10))), (4, message((1, 5), (5, "jit_step"))))
    copy = message((1, 2), (2, 7000000), (3, 1000), (4, message((1, 3), (5, "kind:H size:64 dest:0"))))
    call = message((1, 1), (2, 1000), (3, 500), (4, message((1, 1), (4, 9))))
    step = message((1, 2), (2, 0), (3, 90000), (4, message((1, 6), (4, 1))))
    stream = message((1, 17), (2, "Stream #17(Kernel)"), (3, 1000), (4, kernel), (4, copy))
    thread = message((1, 5), (2, "Host Threads/583"), (3, 1000), (4, call), (4, step))
    return message(
        (1, message((2, "/host:metadata"), *names(4, ("jit_step(15)",)))),
        (1, message((1, 1), (2, "/device:GPU:0"), (3, stream), *names(4, ("add.kd", "MemcpyH2D")), *stats,
                    (6, message((1, 7), (5, "AMD"))), (6, message((1, 8), (3, 304))))),
        (1, message((2, "/host:CPU"), (3, thread), *names(4, ("hipLaunchKernel", "train")), *stats)),
        (4, "node7"))


def main():
    corpus = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
    for name, sql in (("nsys", NSYS), ("rocprof_v1", V1), ("compute", COMPUTE),
                      ("compute2", COMPUTE2), ("rpd", RPD)):
        database(os.path.join(corpus, "nsys", name + ".db"), sql)
    for name, trace in (("plain", plain_trace()), ("interned", interned_trace()),
                        ("bundled", bundled_trace(0)), ("half_bundled", bundled_trace(2))):
        with open(os.path.join(corpus, "perfetto", name + ".pftrace"), "wb") as f:
            f.write(trace)
    with open(os.path.join(corpus, "xplane", "small.xplane.pb"), "wb") as f:
        f.write(xplane())
    return 0


if __name__ == "__main__":
    sys.exit(main())
