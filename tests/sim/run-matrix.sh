#!/bin/sh
# run-matrix.sh - `rockit run` with every preset and every release of every tool, and with faults.
#
# See sim-lib.sh for what it needs. A command line that the release would refuse shows as a status
# that is not 0; a table that was lost, as another number of rows.
set -u
# shellcheck source=/dev/null disable=SC2154
. "${ROCKIT_SOURCE_DIR:?}/tests/sim/sim-lib.sh"
presets="compute memory communication full lightweight perfetto api_overhead pc_sampling
	compute_bound memory_bound multi_gpu comprehensive multinode"
export ROCKIT_SIM_LOG="$here/log"

# rocm VERSION WORD...: rockit run of `true` into w/d, with the tools of that release alone.
rocm() {
	version=$1
	shift
	rm -f log
	run env PATH="$(bin "$version"):/usr/bin:/bin" ROCM_PATH="$here/opt/rocm-$version" \
		"$ROCKIT" run -d d --arch gfx942 "$@"
}
# The tool was started N times.
started() {
	[ "$(wc -l <log)" -eq "$1" ]
}
# kept N: the run directory holds N kernels.
kept() {
	"$ROCKIT" report --format json w/d >report.json 2>report.err &&
		grep -q "\"kernel_rows\":$1," report.json
}
told() {
	grep -q -i -- "$1" err
}

# --- every preset with every rocprofv3 ---------------------------------------------------------
for release in 6.2.0 6.3.0 6.4.1 7.0.0 7.13.0; do
	for preset in $presets; do
		rocm $release -p "$preset" -- true
		check "rocprofv3 $release takes preset $preset" [ "$status" -eq 0 ]
		check "... six kernels" kept 6
		check "... its record" grep -q '"schema"' w/d/run.json
		check "... the profiler's own files" [ -d w/d/rocprof_raw ]
	done
	rocm $release -p memory -- true
	check "$release: memory is a trace and two passes" started 3
	check "$release: every counter asked for came back" [ "$(grep -c 'did not come back' err)" -eq 0 ]
	check "$release: six kernels" kept 6
	check "$release: twelve counters of each" table counters 72
	rocm $release -p lightweight -- sh -c 'exit 9'
	check "$release: the program's status is handed on" [ "$status" -eq 9 ]
	rocm $release -p lightweight -- sh -c 'kill -TERM $$'
	check "$release: and its signal" [ "$status" -eq 143 ]
done

# --- the other tools ---------------------------------------------------------------------------
for release in 6.1.0 6.4.1 7.0.0; do
	for preset in lightweight memory full; do
		for tool in rocprof rocprofv2; do
			rocm $release --tool $tool -p $preset -- true
			check "$tool $release takes preset $preset" [ "$status" -eq 0 ]
			# v1's own reader loses the name with a quote in it
			check "... kernels" kept "$([ $tool = rocprof ] && echo 5 || echo 6)"
		done
	done
done
for release in 6.3.0 7.0.0 7.13.0; do
	for tool in rocprof-compute rocprof-sys; do
		rocm $release --tool $tool -p lightweight -- true
		check "$tool $release takes preset lightweight" [ "$status" -eq 0 ]
	done
done
rocm 7.0.0 --tool rocprof-compute -p memory -- true
check "rocprof-compute: six kernels" kept 6

# --- what a version calls for ------------------------------------------------------------------
rocm 6.4.1 -p lightweight -- true
check "6.x is asked for csv" grep -q '"--output-format","csv"' log
rocm 7.0.0 -p lightweight -- true
check "7.0 is asked for rocpd" grep -q '"rocpd"' log
check "the program stands behind --" grep -q '"--","true"\]' log
rm -f log
run env PATH="$(bin 7.0.0):/usr/bin:/bin" ROCPROF_OUTPUT_FORMAT=json ROCPROF_KERNEL_TRACE=1 \
	"$ROCKIT" run -d d --arch gfx942 -t hip -- true
check "inherited ROCPROF_ variables are cleared" [ "$(grep -c '"ROCPROF_' log)" -eq 0 ]
ROCKIT_SIM_RANKS=4
export ROCKIT_SIM_RANKS
rocm 7.0.0 -p lightweight -- true
check "four workers: all of their kernels" kept 24
rocm 6.4.1 -p lightweight -- true
check "... in csv too" kept 24
unset ROCKIT_SIM_RANKS

# --- faults ------------------------------------------------------------------------------------
# broken FAULT VERSION WORD...
broken() {
	ROCKIT_SIM_FAULT=$1
	export ROCKIT_SIM_FAULT
	shift
	rocm "$@"
	unset ROCKIT_SIM_FAULT
}
for release in 6.4.1 7.0.0; do
	broken kill-mid-write $release -p lightweight -- true
	check "$release killed: its status" [ "$status" -eq 137 ]
	check "$release killed: what was written is kept" kept 3
	check "$release killed: it is told" told 'signal 9'
	broken counters-absent $release -p memory -- true
	check "$release: absent counters are told" told 'did not come back'
	check "$release: ... and kernels are there" kept 6
	broken counters-some-absent $release -p memory -- true
	check "$release: some absent counters are told" told 'did not come back'
	broken counters-zero $release -p memory -- true
	check "$release: zeros are told" told 'zero'
	broken no-output $release -p lightweight -- true
	check "$release: no output is told" told 'wrote no file'
	broken unsorted $release -p lightweight -- true
	check "$release: unsorted rows are sorted" kept 6
	broken glog-noise $release -p lightweight -- true
	check "$release: noise is no failure" [ "$status" -eq 0 ]
	broken exit-nonzero $release -p lightweight -- true
	check "$release: the tool's status" [ "$status" -eq 1 ]
	check "$release: ... and its files" kept 6
	broken traceback $release -p lightweight -- true
	check "$release: a traceback is a failure" [ "$status" -eq 1 ]
	broken negative-times $release -p lightweight -- true
	check "$release: times that run backwards are told" told 'end before they start'
	broken extra-dispatch $release -p memory -- true
	check "$release: a pass with another number of dispatches is told" told 'dispatches'
	broken hang-at-exit $release -p lightweight --timeout 1 -- true
	check "$release: a hang ends by --timeout" told 'timeout'
	check "$release: ... its files are kept" kept 6
done
broken truncate 6.4.1 -p lightweight -- true
check "a file that is cut is told" told 'ends inside'
check "... and read as far as it goes" kept 3
broken hang-hard 7.0.0 -p lightweight --timeout 1 -- true
check "what ignores TERM is killed" [ "$status" -eq 137 ]
broken no-numpy 6.3.0 -p lightweight -- true
check "6.3 without numpy is a failure" [ "$status" -eq 1 ]

finish sim-run
