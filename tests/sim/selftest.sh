#!/bin/sh
# selftest.sh - the stand-in behaves like the real tools, and rockit reads what it writes.
#
# See sim-lib.sh for what it needs.
set -u
# shellcheck source=/dev/null
. "${ROCKIT_SOURCE_DIR:?}/tests/sim/sim-lib.sh"

# --- which tools a tree has --------------------------------------------------------------------
check "no rocprofv3 before 6.2" [ ! -e "$(bin 6.1.0)/rocprofv3" ]
check "rocprofv3_avail is of 6.4" [ -e "$(bin 6.4.1)/rocprofv3_avail" ]
check "rocprofv3-avail is of 7.0" [ -e "$(bin 7.0.0)/rocprofv3-avail" ]
check "no rocprof-compute in 6.2" [ ! -e "$(bin 6.2.0)/rocprof-compute" ]

# --- the grammar of each release ---------------------------------------------------------------
for version in 6.2.0 6.3.0 6.4.1 7.0.0 7.13.0; do
	v3=$(bin "$version")/rocprofv3
	expect 0 "$v3" --kernel-trace -- true
	expect 0 "$v3" --kernel-trace=yes -o x -- true
	expect 0 "$v3" --kernel-trace off --hip-trace -- true
	check "$version: a switch can be turned off" [ -z "$(file kernel_trace.csv)" ]
	expect 1 "$v3" --hip-trace ./app
	check "$version: a bad truth value is a traceback" says 'ValueError'
	expect 2 "$v3" --no-such-option -- true
	check "$version: usage is shown" says '^usage: rocprofv3'
	expect 2 "$v3" --kernel-trace --output-format xml -- true
	expect 2 "$v3" --kernel-trace -d
	expect 0 "$v3" --kernel-trace "-da b" -- true
	check "$version: a value in the word of its letter" [ -d "w/a b" ]
	expect 2 "$v3" --perfetto-buffer-size 0x10 --kernel-trace -- true
	expect 2 "$v3" --pmc-groups SQ_WAVES -- true
	expect 2 "$v3" --perfetto-trace-filename x -- true
	expect 1 "$v3" --stats -- true
	expect 1 "$v3" --kernel-trace --
	expect 1 "$v3" --kernel-trace -- ./not-there
	expect 0 "$v3" --kernel-trace --output-format CSV json -- true
	check "$version: two formats, two kinds of files" [ -n "$(file _results.json)" ]
	expect 0 "$v3" --help
	expect 7 "$v3" --kernel-trace -- sh -c 'exit 7'
	expect 143 "$v3" --kernel-trace -- sh -c 'kill -TERM $$'
	check "$version: a signal that is caught leaves files" [ "$(files)" -gt 0 ]
	expect 137 "$v3" --kernel-trace -- sh -c 'kill -KILL $$'
	check "$version: one that is not leaves only the spool" [ "$(find w -type f ! -path '*/.rocprofv3/*')" = "" ]
	check "$version: ... which is of no use" [ -n "$(file -kernel_dispatch.dat)" ]
done
for version in 6.2.0 6.3.0 6.4.1; do
	v3=$(bin "$version")/rocprofv3
	expect 0 "$v3" --kernel-tr -- true
	expect 2 "$v3" --kernel -- true
	# what is ambiguous is found before what is wrong
	expect 2 "$v3" --hip-trace=maybe --kernel -- true
	expect 2 "$v3" --version
	expect 2 "$v3" -f csv --kernel-trace -- true
	expect 2 "$v3" --kernel-trace --output-format rocpd -- true
	expect 1 "$v3"
done
for version in 7.0.0 7.13.0; do
	v3=$(bin "$version")/rocprofv3
	expect 2 "$v3" --kernel-tr -- true
	expect 0 "$v3" --version
	check "$version says its release" says "rocm_version: $version"
	expect 0 "$v3" -f rocpd csv --kernel-trace -- true
	expect 1 "$v3" -p 1 -- true
done
expect 2 "$(bin 6.2.0)/rocprofv3" --pmc SQ_WAVES -- true
expect 2 "$(bin 6.2.0)/rocprofv3" --runtime-trace -- true
expect 0 "$(bin 6.3.0)/rocprofv3" --pmc SQ_WAVES -- true
expect 2 "$(bin 6.3.0)/rocprofv3" --memory-allocation-trace -- true
expect 0 "$(bin 6.3.0)/rocprofv3" --list-metrics
expect 2 "$(bin 6.4.1)/rocprofv3" --list-metrics
expect 0 "$(bin 6.4.1)/rocprofv3" -p 0:1:1 --kernel-trace -- true
expect 2 "$(bin 6.4.1)/rocprofv3" -P 0:1:1 --kernel-trace -- true
expect 0 "$(bin 7.0.0)/rocprofv3" -P 0:1:1 --kernel-trace -- true
expect 2 "$(bin 7.0.0)/rocprofv3" --kfd-trace -- true
expect 0 "$(bin 7.13.0)/rocprofv3" --kfd-trace --kernel-trace -- true
expect 2 "$(bin 7.13.0)/rocprofv3" --hipfile-trace -- true
expect 2 "$(bin 7.13.0)/rocprofv3" --spm SQ_WAVES -- true
expect 1 "$(bin 7.0.0)/rocprofv3"
expect 0 "$(bin 7.13.0)/rocprofv3"
expect 1 "$(bin 7.0.0)/rocprofv3" --att --kernel-trace -- true
v3=$(bin 7.0.0)/rocprofv3
expect 1 "$v3" --pc-sampling-beta-enabled --pc-sampling-unit time -- true
expect 1 "$v3" --pc-sampling-unit cycles --pc-sampling-method stochastic --pc-sampling-interval 1024 -- true
expect 2 "$v3" --pc-sampling-interval many -- true
expect 1 "$v3" --pc-sampling-beta-enabled --pc-sampling-unit time --pc-sampling-method stochastic \
	--pc-sampling-interval 1024 -- true
expect 0 "$v3" -f csv --pc-sampling-beta-enabled --pc-sampling-unit cycles \
	--pc-sampling-method stochastic --pc-sampling-interval 1024 -- true
check "samples have ten columns" [ "$(columns pc_sampling_stochastic.csv)" -eq 9 ]
expect 0 "$v3" --sys-trace --hsa-trace=no --hsa-core-trace=no -f csv -- true
check "7.0: a member taken out of an aggregate stays out" \
	[ "$(grep -c HSA_CORE_API "$(file hsa_api_trace.csv)")" -eq 0 ]
check "... and only that one" grep -q HSA_AMD_EXT_API "$(file hsa_api_trace.csv)"
expect 0 "$(bin 6.4.1)/rocprofv3" --sys-trace --hsa-core-trace=no -- true
check "6.4: it does not" grep -q HSA_CORE_API "$(file hsa_api_trace.csv)"

# --- files and headers -------------------------------------------------------------------------
kernel_columns="6.2.0:15 6.3.0:17 6.4.1:17 7.0.0:21 7.13.0:21"
counter_columns="6.2.0:14 6.3.0:17 6.4.1:18 7.0.0:18 7.13.0:18"
printf 'pmc: SQ_WAVES GRBM_COUNT\n' >one.txt
for pair in $kernel_columns; do
	version=${pair%:*}
	v3=$(bin "$version")/rocprofv3
	expect 0 "$v3" --sys-trace --output-format csv -d d -o r.%pid% -- true
	check "$version: kernel trace has its columns" [ "$(columns kernel_trace.csv)" -eq "${pair#*:}" ]
	check "$version: six kernels" [ "$(wc -l <"$(file kernel_trace.csv)")" -eq 7 ]
	check "$version: no statistics unasked" [ -z "$(file _stats.csv)" ]
	check "$version: rockit reads it" rows 6
	check "$version: two copies" table memcpy 2
	check "$version: its glog lines name the files" says 'Opened result file: d/r\.[0-9]*_kernel_trace.csv'
	expect 0 "$v3" --kernel-trace --stats --output-format csv json pftrace -- true
	check "$version: statistics when asked" [ "$(columns kernel_stats.csv)" -eq 7 ]
	check "$version: three formats of one process are one run" rows 6
	for format in json pftrace; do
		expect 0 "$v3" --kernel-trace --output-format $format -- true
		check "$version: rockit reads $format" rows 6
	done
done
for pair in $counter_columns; do
	version=${pair%:*}
	expect 0 "$(bin "$version")/rocprofv3" -i "$here/one.txt" --output-format csv -d d -- true
	check "$version: counters have their columns" \
		[ "$(columns counter_collection.csv)" -eq "${pair#*:}" ]
	check "$version: a text input has a folder per line" [ -d w/d/pmc_1 ]
	check "$version: a row per dispatch and counter" \
		[ "$(wc -l <"$(file counter_collection.csv)")" -eq 13 ]
	check "$version: the value is dispatch * 1000 + length of the name" \
		grep -q '"SQ_WAVES",6008' "$(file counter_collection.csv)"
	check "$version: rockit reads them" rows 6
	check "$version: twelve values" table counters 12
done
check "7.0: values have six decimals" grep -q '"SQ_WAVES",6008.000000' "$(file counter_collection.csv)"
for version in 7.0.0 7.13.0; do
	v3=$(bin "$version")/rocprofv3
	expect 0 "$v3" --sys-trace --pmc SQ_WAVES GRBM_COUNT -- true
	check "$version: the default is rocpd" [ "$(find w -type f ! -name '*.dat' | wc -l)" -eq 1 ]
	check "$version: ... and spooled values stay" [ -n "$(file -counter_values.dat)" ]
	check "$version: under host and pid" [ -n "$(find w -path "*/$(hostname)/*_results.db")" ]
	check "$version: rockit reads the database" rows 6
	check "$version: counters too" table counters 12
	check "$version: copies too" table memcpy 2
done
for version in 6.2.0 6.3.0 6.4.1; do
	expect 0 "$(bin "$version")/rocprofv3" --kernel-trace -- true
	check "$version: the default is csv" [ -n "$(file kernel_trace.csv)" ]
done
v3=$(bin 7.0.0)/rocprofv3
expect 0 "$v3" --kernel-trace -f csv -T -- true
check "-T cuts names" grep -q ',"vectorAdd",' "$(file kernel_trace.csv)"
expect 0 "$v3" --kernel-trace -f csv -M -- true
check "-M leaves them mangled" grep -q '_Z9vectorAddPKfS0_Pfi.kd' "$(file kernel_trace.csv)"
expect 0 env ROCPROF_OUTPUT_FORMAT=json "$v3" --kernel-trace -f csv -- true
check "the format of the environment is appended to" [ -n "$(file _results.json)" ]
expect 0 env ROCPROF_KERNEL_TRACE=1 "$v3" --hip-trace -f csv -- true
check "a trace of the environment stays on" [ -n "$(file kernel_trace.csv)" ]
expect 134 env ROCPROF_OUTPUT_FORMAT=xml "$v3" --kernel-trace -- true
expect 134 "$v3" --pmc SQ_WAVES --kernel-include-regex '(' -- true
expect 0 "$v3" --pmc SQ_WAVES --kernel-include-regex '^(?:vector|trans)\w+' -f csv -- true
check "a regex as ECMAScript has it" [ "$(wc -l <"$(file counter_collection.csv)")" -eq 3 ]
expect 0 "$v3" --pmc SQ_WAVES --kernel-iteration-range '[2]' -f csv -- true
check "the second of each kernel" [ "$(wc -l <"$(file counter_collection.csv)")" -eq 2 ]
expect 0 "$v3" --pmc SQ_WAVES --kernel-include-regex vectorAdd --kernel-trace -f csv -- true
check "a regex filters counters" [ "$(wc -l <"$(file counter_collection.csv)")" -eq 3 ]
check "... and no kernel trace" [ "$(wc -l <"$(file kernel_trace.csv)")" -eq 7 ]
expect 0 env RANK=3 "$v3" --kernel-trace -f csv -o '%env{RANK}%.%rank%.%argv%' -- true
check "keys of names are expanded" [ -e w/3.0.true_kernel_trace.csv ]
expect 0 "$v3" --kernel-trace --minimum-output-data 1000 -- true
check "less data than asked for, no file" [ "$(files)" -eq 0 ]
expect 0 env ROCKIT_SIM_KERNELS=0 "$v3" --kernel-trace -- true
check "nothing recorded, no file" [ "$(files)" -eq 0 ]

expect 134 env ROCKIT_SIM_MESSAGE="it's" "$v3" --marker-trace --kernel-trace -- true
check "7.0: a quote in a message breaks the database" refuses 6
expect 0 env ROCKIT_SIM_MESSAGE="it's" "$v3" --marker-trace --kernel-trace -f csv -- true
check "... and no other format" rows 6
expect 0 env ROCKIT_SIM_MESSAGE="it's" "$(bin 7.13.0)/rocprofv3" --marker-trace --kernel-trace -- true
check "7.13: it does not" rows 6

# --- counters and passes -----------------------------------------------------------------------
expect 0 "$v3" --pmc SQ_WAVES NO_SUCH_COUNTER -f csv -- true
check "a counter that is not there is only warned of" says 'Unable to find counter'
check "... and has no rows" [ "$(wc -l <"$(file counter_collection.csv)")" -eq 7 ]
expect 134 "$v3" --pmc GRBM_COUNT GRBM_GUI_ACTIVE GRBM_CP_BUSY -- true
expect 0 env ROCKIT_SIM_ARCH=gfx1100 "$v3" --pmc TCC_HIT_sum SQ_WAVES -f csv -- true
check "gfx1100 has no TCC" [ "$(grep -c TCC_HIT_sum "$(file counter_collection.csv)")" -eq 0 ]
expect 0 "$v3" --pmc SQ_WAVES --pmc GRBM_COUNT -f csv -- true
check "7.0: a second --pmc replaces the first" \
	[ "$(grep -c SQ_WAVES "$(file counter_collection.csv)")" -eq 0 ]
expect 0 "$(bin 7.13.0)/rocprofv3" --pmc SQ_WAVES --pmc GRBM_COUNT -f csv -d d -- sh -c 'echo run'
check "7.13: each is a run" [ "$(grep -c run out)" -eq 2 ]
check "... with a folder" [ -d w/d/pass_2 ]
check "... and rockit joins them" rows 6
check "... with both counters" table counters 12
printf 'pmc: SQ_WAVES\n# pmc: GRBM_COUNT\npmc : TA_TA_BUSY\npmc: GRBM_COUNT, SQ_WAVES # two\n' >traps.txt
expect 0 "$v3" -i "$here/traps.txt" -f csv -d d -- sh -c 'echo run'
check "7.0: a commented line is a run" [ "$(grep -c run out)" -eq 3 ]
check "... a comma stays in the name" says "counter: 'GRBM_COUNT,'"
expect 0 "$(bin 7.13.0)/rocprofv3" -i "$here/traps.txt" -f csv -d d -- sh -c 'echo run'
check "7.13: it is not" [ "$(grep -c run out)" -eq 2 ]
expect 1 "$v3" -i "$here/traps.txt" -f csv -d d -- sh -c 'echo run; exit 5'
check "the first run that fails is the last" [ "$(grep -c run out)" -eq 1 ]
printf 'jobs:\n  - pmc: [SQ_WAVES]\n    kernel_trace: true\n  - kernel_trace: true # no counters\n' >jobs.yml
expect 0 "$v3" -i "$here/jobs.yml" -f csv -d d -- sh -c 'echo run'
check "7.0: every job is a run" [ "$(grep -c run out)" -eq 2 ]
expect 0 "$(bin 7.13.0)/rocprofv3" -i "$here/jobs.yml" -f csv -d d -- sh -c 'echo run'
check "7.13: not one without counters" [ "$(grep -c run out)" -eq 1 ]
printf '{"jobs": [{"kernel_trace": true, "output_format": ["csv"], "preload": ["x.so"]}]}\n' >jobs.json
expect 1 "$v3" -i "$here/jobs.json" -- true
check "a default of the parser conflicts" says RuntimeError
printf '{"jobs": [{"kernel_trace": true, "output_format": ["csv"], "truncate_kernels": true}]}\n' >jobs.json
expect 0 "$v3" -i "$here/jobs.json" -d d -- true
check "one job without counters has no folder" [ ! -d w/d/pass_1 ]
expect 1 "$v3" -i "$here/jobs.json" -f rocpd -- true
cp one.txt one.dat
expect 1 "$v3" -i "$here/one.dat" -- true
expect 1 "$v3" -i "$here/missing.txt" -- true

# --- processes ---------------------------------------------------------------------------------
export ROCKIT_SIM_RANKS=3
expect 0 "$v3" --kernel-trace -f csv -o 'r%env{RANK}%.%pid%' -- true
check "three workers, three sets" [ "$(find w -name '*kernel_trace.csv' | wc -l)" -eq 3 ]
check "each knows its rank" [ -n "$(find w -name 'r2.*_kernel_trace.csv')" ]
expect 0 "$v3" --kernel-trace -f csv -o fixed -- true
check "one name for all: one set is left" [ "$(find w -name '*kernel_trace.csv' | wc -l)" -eq 1 ]
unset ROCKIT_SIM_RANKS

v3=$(bin 7.13.0)/rocprofv3
expect 5 env OMPI_COMM_WORLD_RANK=2 "$v3" --kernel-trace --profile-mpi-ranks 0-1,4 -- sh -c 'exit 5'
check "a rank not asked for runs the plain program" [ "$(files)" -eq 0 ]
expect 0 env OMPI_COMM_WORLD_RANK=4 "$v3" --kernel-trace --profile-mpi-ranks 0-1,4 -- true
check "one asked for does not" [ "$(files)" -eq 1 ]
expect 1 "$v3" --kernel-trace --mpi-world-rank-variable RANK -- true
sh "$make_tree" "$here/bare" 7.0.0 rocprofv3 >>trees
rm "$here"/bare/opt/rocm-7.0.0/lib/librocprofiler-sdk.so*
expect 1 "$here/bare/opt/rocm-7.0.0/bin/rocprofv3" --kernel-trace -- true
check "7.0 misses its library" says 'is not found'
expect 2 env PATH="$(bin 6.3.0):$PATH" rocprofv3 --version
expect 0 env ROCKIT_SIM_VERSION=7.0 "$(bin 6.3.0)/rocprofv3" --version
v3=$(bin 7.0.0)/rocprofv3

# --- faults ------------------------------------------------------------------------------------
# broken FAULT STATUS WORD...: rocprofv3 with that fault.
broken() {
	ROCKIT_SIM_FAULT=$1
	export ROCKIT_SIM_FAULT
	shift
	expect "$@"
	unset ROCKIT_SIM_FAULT
}
broken kill-mid-write 137 "$v3" --kernel-trace -f csv -- true
check "killed: the last file is cut" [ -n "$(tail -c 1 "$(file kernel_trace.csv)")" ]
broken kill-mid-write 1 "$v3" -i "$here/traps.txt" -f csv -- true
broken kill-mid-write 137 "$v3" --kernel-trace --memory-copy-trace -- true
check "killed: half of the dispatches are in the database" rows 3
check "... and no copies" table memcpy 0
broken truncate 0 "$v3" --kernel-trace -f csv -- true
check "truncated: it ends inside a line" [ -n "$(tail -c 1 "$(file kernel_trace.csv)")" ]
broken truncate 0 "$v3" --kernel-trace -f rocpd -- true
check "truncated: rockit does not take the database for whole" refuses 6
broken counters-absent 0 "$v3" --pmc SQ_WAVES --kernel-trace -f csv -- true
check "no counter file" [ -z "$(file counter_collection.csv)" ]
broken counters-zero 0 "$v3" --pmc SQ_WAVES -f csv -- true
check "all values are 0" [ "$(grep -c '"SQ_WAVES",0.0' "$(file counter_collection.csv)")" -eq 6 ]
broken counters-some-absent 0 "$v3" --pmc SQ_WAVES GRBM_COUNT -f csv -- true
check "every second counter is lost" [ "$(grep -c GRBM_COUNT "$(file counter_collection.csv)")" -eq 0 ]
broken unsorted 0 "$v3" --kernel-trace -f csv -- true
check "the last dispatch comes first" grep -q '^"KERNEL_DISPATCH","Agent 1",1,1,[0-9]*,6,' \
	"$(sed -n 2p "$(file kernel_trace.csv)" >line && echo line)"
broken negative-times 0 "$v3" --kernel-trace -f csv -- true
check "some end before they start" awk -F, 'NR == 3 { exit !($(NF - 11) < $(NF - 12)) }' \
	"$(file kernel_trace.csv)"
broken extra-dispatch 0 "$v3" --pmc SQ_WAVES -f csv -- true
check "a run that counts has one more" [ "$(wc -l <"$(file counter_collection.csv)")" -eq 8 ]
broken no-output 0 "$v3" --kernel-trace -- true
check "no file" [ "$(files)" -eq 0 ]
broken same-name 0 "$v3" --kernel-trace -f csv -o 'x.%pid%' -- true
check "two processes, one name" [ -e w/x.0_kernel_trace.csv ]
broken glog-noise 0 "$v3" --kernel-trace -f csv -- true
check "hundreds of lines on stderr" [ "$(wc -l <err)" -gt 300 ]
broken exit-nonzero 1 "$v3" --kernel-trace -- true
check "files all the same" [ "$(files)" -eq 1 ]
broken traceback 1 "$v3" --kernel-trace -- sh -c 'echo run'
check "the application was not started" [ ! -s out ]
broken no-numpy 1 "$(bin 6.3.0)/rocprofv3" --kernel-trace -- true
broken no-numpy 0 "$v3" --kernel-trace -- true
broken no-such-fault 120 "$v3" --kernel-trace -- true

# hangs FAULT: it does not end by itself; what TERM does to it is its status.
hangs() {
	rm -rf w && mkdir w
	(cd w && ROCKIT_SIM_FAULT=$1 exec "$v3" --kernel-trace -f csv -o h -- true) 2>err &
	child=$!
	tries=0
	while [ ! -s w/h_kernel_trace.csv ] && [ $tries -lt 100 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	sleep 0.1
	kill -TERM $child
	sleep 0.2
	kill -KILL $child 2>>err
	wait $child 2>>err
	status=$?
}
hangs hang-at-exit
check "hang-at-exit ends on TERM" [ $status -eq 143 ]
hangs hang-hard
check "hang-hard takes KILL" [ $status -eq 137 ]
check "its files are there" [ -s w/h_kernel_trace.csv ]

# --- rocprofv3-avail, the log ------------------------------------------------------------------
avail=$(bin 7.0.0)/rocprofv3-avail
expect 0 "$avail" list
check "it lists names" says SQ_WAVES
expect 0 "$avail" -d 1 info --pmc
check "it has blocks" says '^Block               :	SQ$'
expect 0 "$avail" pmc-check SQ_WAVES GRBM_COUNT
expect 1 "$avail" pmc-check GRBM_COUNT GRBM_GUI_ACTIVE GRBM_CP_BUSY
expect 1 "$avail" pmc-check NO_SUCH_COUNTER
expect 2 "$avail" no-such-command
expect 0 env ROCKIT_SIM_LOG="$here/log" ROCPROF_X=1 "$v3" --kernel-trace -- true 'a "b"'
check "the log has the words" grep -q '"tool":"rocprofv3","version":"7.0.0".*"argv":\[.*"a \\"b\\""\]' log
check "... and the environment" grep -q '"env":{.*"ROCPROF_X":"1"' log

# shellcheck source=/dev/null
. "$ROCKIT_SOURCE_DIR/tests/sim/selftest-legacy.sh"

finish sim-selftest
