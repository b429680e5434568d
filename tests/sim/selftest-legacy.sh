# selftest-legacy.sh - the part of selftest.sh about the other tools; sourced by it.
# shellcheck shell=sh disable=SC2154

# --- rocprof v1 --------------------------------------------------------------------------------
v1=$(bin 6.2.0)/rocprof
printf 'pmc: SQ_WAVES SQ_INSTS_VALU\npmc : GRBM_COUNT # blanks before the colon\nrange: 0:4\n' >v1.txt
expect 1 "$v1" -- true
check "v1: -- is a wrong option" says "Wrong option '--'"
expect 1 "$v1" --kernel-trace true
expect 1 "$v1" -o x true
expect 1 "$v1" -h
expect 1 "$v1" --list-basic
expect 1 "$v1" --basenames maybe true
expect 0 "$v1" true
check "v1: plain results have a bare header" grep -q '^Index,KernelName,gpu-id' w/results.csv
check "v1: and no times" [ "$(columns results.csv)" -eq 16 ]
# the sixth dispatch has a quote in its name, which the tool's own reader cannot read
check "v1: rockit reads it" rows 5
expect 0 "$v1" --timestamp on --basenames on true
check "v1: times on request" [ "$(columns results.csv)" -eq 20 ]
check "v1: no quote in short names" rows 6
expect 0 "$v1" --stats --basenames on -o r.csv true
check "v1: through the database headers are quoted" grep -q '^"Index","KernelName"' w/r.csv
check "v1: with durations" grep -q '"DurationNs"$' w/r.csv
check "v1: statistics, database, json" exist w/r.stats.csv w/r.db w/r.json
check "v1: all of it is one run" rows 6
expect 0 "$v1" --hip-trace --basenames on true
check "v1: --hip-trace makes no results.csv" [ ! -e w/results.csv ]
check "v1: but statistics" exist w/results.hip_stats.csv w/results.copy_stats.csv
check "v1: rockit finds the kernels elsewhere" rows 6
expect 0 "$v1" --sys-trace --basenames on true
check "v1: nor does --sys-trace" [ ! -e w/results.csv ]
check "v1: rockit reads that" rows 6
expect 0 "$v1" --hip-trace --hsa-trace true
check "v1: with --hsa-trace there is one" [ -e w/results.csv ]
expect 0 "$v1" -i "$here/v1.txt" --basenames on sh -c 'echo run'
check "v1: a run per pmc line" [ "$(grep -c '^run$' out)" -eq 2 ]
check "v1: named after its input" [ -e w/v1.csv ]
check "v1: range keeps four" rows 4
check "v1: columns of both runs" table counters 12
check "v1: values as text with ten decimals" grep -q ',4008.0000000000,4013.0000000000,4010.0000000000$' w/v1.csv
expect 0 "$v1" -i "$here/v1.txt" -d d true
check "v1: -d keeps the raw text" [ -n "$(find w/d -name results.txt)" ]
printf 'pmc: NO_SUCH_COUNTER\n' >v1bad.txt
expect 1 "$v1" -i "$here/v1bad.txt" true
expect 0 "$v1" sh -c 'exit 3'
rm "$(bin 6.1.0)/rocm_agent_enumerator"
expect 0 "$(bin 6.1.0)/rocprof" true
check "v1: without rocm_agent_enumerator nothing happens" [ "$(files)" -eq 0 ]

# --- rocprofv2 ---------------------------------------------------------------------------------
v2=$(bin 6.2.0)/rocprofv2
expect 1 "$v2" -- true
expect 1 "$v2" --stats true
expect 1 "$v2" --plugin no-such true
expect 0 "$v2" --kernel-trace true
check "v2: without -d and -o it writes no file" [ "$(files)" -eq 0 ]
check "v2: it prints" says '^Dispatch_ID,GPU_ID'
expect 4 "$v2" --kernel-trace -d d sh -c 'exit 4'
check "v2: a file with the pid" [ -n "$(find w/d -name 'results_[0-9]*.csv')" ]
check "v2: rockit reads it" rows 6
expect 0 "$v2" --sys-trace -d d -o name true
check "v2: a file with the name" [ -e w/d/hip_api_trace_name.csv ]
check "v2: a blank line behind the header" [ -z "$(sed -n 2p w/d/hip_api_trace_name.csv)" ]
check "v2: rockit reads the activity" rows 6
printf 'pmc: SQ_WAVES\n#pmc: X\npmc: GRBM_COUNT\n' >v2.txt
expect 0 "$v2" -i "$here/v2.txt" -d d sh -c 'echo run'
check "v2: a commented line is a run" [ "$(grep -c '^run$' out)" -eq 3 ]
check "v2: folders count from 1" [ -n "$(find w/d/pmc_3 -name 'results_*.csv')" ]

expect 0 env ROCKIT_SIM_RANKS=2 "$v2" --kernel-trace -d d true
check "v2: a file per process" [ "$(files)" -eq 2 ]

# --- rocprof-compute, rocprof-sys, smi ---------------------------------------------------------
compute=$(bin 7.0.0)/rocprof-compute
expect 2 "$compute" profile -- true
expect 2 "$compute" profile -n x
expect 2 "$compute" profile -n x --mode basic -- true
expect 2 "$compute" record
expect 0 "$compute" profile -n x -p d -b 12 --no-roof -- sh -c 'echo run'
check "compute: several runs" [ "$(grep -c '^run$' out)" -eq 9 ]
check "compute: a folder per GPU" [ -e w/d/x/MI300X_A1/pmc_perf.csv ]
check "compute: no roofline" [ ! -e w/d/x/MI300X_A1/roofline.csv ]
check "compute: rockit reads it" rows 6
expect 1 "$compute" profile -n x -- false
sys=$(bin 7.0.0)/rocprof-sys-run
expect 1 "$sys" --no-such-option -- true
expect 1 "$sys" -T true
expect 1 "$sys" -f 100 -- true
expect 0 "$(bin 7.0.0)/rocprof-sys-sample" -f 100 -- true
expect 3 "$sys" -T -P -o d -- sh -c 'exit 3'
check "sys: a trace with the pid" [ -n "$(find w/d -name 'perfetto-trace-[0-9]*.proto')" ]
check "sys: a wall clock" [ -n "$(file wall_clock.txt)" ]
check "sys: rockit reads the trace" rows 6
expect 0 env ROCKIT_SIM_RANKS=2 "$sys" -T -o d -- true
check "sys: a trace per process" [ "$(find w -name '*.proto' | wc -l)" -eq 2 ]
expect 0 env ROCPROFSYS_USE_ROCPD=ON ROCPROFSYS_TRACE=OFF ROCPROFSYS_TIME_OUTPUT=OFF "$sys" -o d -- true
check "sys: a database on request" [ -n "$(find w/d -maxdepth 1 -name 'rocpd-[0-9]*.db')" ]
check "sys: rockit reads that" rows 6
expect 0 "$(bin 7.0.0)/amd-smi" version
check "amd-smi says its release" says 'ROCm version: 7.0.0'
expect 0 "$(bin 6.2.0)/rocm-smi" --version
check "rocm-smi too" says 'ROCm version: 6.2.0'
