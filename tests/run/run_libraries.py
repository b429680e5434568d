#!/usr/bin/env python3
"""Library traces: logs switched on for one pass, counted, and standard error left as it was."""

import csv
import pathlib
import sys

from librun import main, test

# A program that logs as the libraries do, where their variables tell them to.
APP = r"""
echo "own line" >&2
case ${MIOPEN_ENABLE_LOGGING_CMD:-} in
1) echo "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1" >&2 ;;
esac
file() { echo "$1" | sed "s/%h/node/; s/%[ip]/$$/"; }
[ -z "${NCCL_DEBUG_FILE:-}" ] ||
	echo "h:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 4 datatype 7" \
		"op 0 root 0 comm 0x1 [nranks=2] stream 0x1" >"$(file "$NCCL_DEBUG_FILE")"
[ -z "${HIPBLASLT_LOG_FILE:-}" ] ||
	echo "hipblaslt-bench --api_method c -m 8" >"$(file "$HIPBLASLT_LOG_FILE")"
[ -z "${ROCBLAS_LOG_BENCH_PATH:-}" ] ||
	printf './rocblas-bench -f gemm -m 1\n./rocblas-bench -f gemm -m 1\n' >"$ROCBLAS_LOG_BENCH_PATH"
printf "no end" >&2
"""


def rows(run):
    with open(pathlib.Path(run.dir, "library_trace.csv"), newline="") as f:
        return [(r["library"], r["function"], r["config"], int(r["calls"])) for r in csv.DictReader(f)]


@test
def calls_are_counted_once_however_many_passes_there_are(place):
    place.rocm("7.0")
    run = place.run("-p", "compute", "--arch", "gfx942", "--library-trace",
                    "rocblas,hipblaslt,miopen,rccl", app=("sh", "-c", APP))
    assert run.status == 0, run.err
    assert len(run.json["passes"]) == 3, run.json["passes"]
    assert rows(run) == [("rocblas", "gemm", "-m 1", 2),
                         ("hipblaslt", "matmul", "--api_method c -m 8", 1),
                         ("miopen", "conv", "-n 1", 1),
                         ("rccl", "AllReduce", "count=4 datatype=7 op=0 nranks=2", 1)], rows(run)
    assert run.report()["tables"]["library_calls"] == 4


@test
def the_log_of_miopen_is_taken_out_of_standard_error(place):
    place.rocm("7.0")
    run = place.run("-q", "--library-trace", "miopen", app=("sh", "-c", APP))
    assert run.status == 0, run.err
    assert "MIOpenDriver" not in run.err, run.err
    assert run.err.startswith("own line\nno end"), run.err
    assert rows(run) == [("miopen", "conv", "-n 1", 1)]


@test
def without_a_library_trace_nothing_is_logged(place):
    place.rocm("7.0")
    run = place.run(app=("sh", "-c", APP))
    assert run.status == 0, run.err
    assert not pathlib.Path(run.dir, "library_trace.csv").exists()
    assert not pathlib.Path(run.dir, "library_logs").exists()


if __name__ == "__main__":
    sys.exit(main())
