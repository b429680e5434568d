#!/bin/sh
# fuzz.sh BUILD SECONDS - run every libFuzzer target in BUILD for so long, one after the other.
# What was found interesting is kept in BUILD/corpus-NAME for the next time.
set -u
build=$1
seconds=$2
status=0

for target in "$build"/fuzz-*; do
	[ -f "$target" ] && [ -x "$target" ] || continue
	name=$(basename "$target")
	name=${name#fuzz-}
	seeds=tests/fuzz/corpus/$(echo "$name" | tr - _)
	mkdir -p "$build/corpus-$name"
	[ -d "$seeds" ] || seeds=
	echo "fuzz: $name, $seconds s"
	# shellcheck disable=SC2086 # seeds may be empty
	"$target" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=1024 -timeout=20 \
		-artifact_prefix="$build/crash-$name-" -verbosity=0 -print_final_stats=1 \
		"$build/corpus-$name" $seeds >"$build/fuzz-$name.log" 2>&1
	rc=$?
	grep -E 'number_of_executed_units|average_exec_per_sec' "$build/fuzz-$name.log"
	if [ $rc -ne 0 ]; then
		tail -n 30 "$build/fuzz-$name.log"
		echo "fuzz: $name failed"
		status=1
	fi
done
exit $status
