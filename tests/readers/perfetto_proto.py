#!/usr/bin/env python3
"""Perfetto's published message definitions decode rockit's traces, and leave nothing unknown."""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(77)

ROCKIT, GEN_TRACE = os.environ["ROCKIT"], os.environ["GEN_TRACE"]
ROWS = 2000
BEGIN = perfetto_trace_pb2.TrackEvent.TYPE_SLICE_BEGIN
END = perfetto_trace_pb2.TrackEvent.TYPE_SLICE_END


def unknown(message, path, found):
    """Fields that the definitions do not have, by the path to them."""
    found += [f"{path}: field {f.field_number}" for f in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type:
            for one in [value] if hasattr(value, "ListFields") else value:
                unknown(one, f"{path}.{field.name}", found)


def main():
    with tempfile.TemporaryDirectory() as top:
        run, out = pathlib.Path(top, "run"), pathlib.Path(top, "x.pftrace")
        run.mkdir()
        subprocess.run([GEN_TRACE, "--rows", str(ROWS), "--dir", run, "--api"], check=True)
        subprocess.run([ROCKIT, "convert", "-q", run, "-o", out], check=True)
        trace = perfetto_trace_pb2.Trace()
        trace.ParseFromString(out.read_bytes())
    found = []
    for packet in trace.packet:
        unknown(packet, "packet", found)
    begins = sum(p.track_event.type == BEGIN for p in trace.packet if p.HasField("track_event"))
    ends = sum(p.track_event.type == END for p in trace.packet if p.HasField("track_event"))
    print(f"{len(trace.packet)} packets, {begins} slices, {len(found)} unknown fields")
    good = not found and begins == ends and begins >= ROWS
    print("1 passed, 0 failed" if good else f"0 passed, 1 failed: {found[:5]}")
    return 0 if good else 1


sys.exit(main())
