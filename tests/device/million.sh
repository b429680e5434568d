#!/bin/sh
# million.sh ROCKIT - a million kernels in C on an NVIDIA GPU: what a launch costs, how many bytes a kernel
# takes, and how long after the end of the program its directory is complete. Needs nvcc.
set -eu
rockit=$1
here=$(cd "$(dirname "$0")" && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
"${NVCC:-nvcc}" -O2 -o "$temp/million" "$here/million.cu"

us_a_launch() { awk '{ printf "%.3f us a launch", $1 }' "$1"; }

bytes_a_kernel() { find "$1" -name "$2" -printf '%s\n' | awk '{ n += $1 } END { printf "%.1f B", n / 1e6 }'; }

for turn in 1 2 3; do
	"$temp/million" >"$temp/plain"
	"$rockit" run -q --tool cupti -d "$temp/run$turn" -- "$temp/million" >"$temp/recorded"
	complete=$(date +%s.%N)
	echo "as it is: $(us_a_launch "$temp/plain"); recorded: $(us_a_launch "$temp/recorded"), complete" \
		"$(awk -v t="$complete" '{ printf "%.2f", t - $2 }' "$temp/recorded") s after the last kernel," \
		"$(bytes_a_kernel "$temp/run$turn" '*.rkraw') a kernel raw," \
		"$(bytes_a_kernel "$temp/run$turn" '*kernels.parquet') in Parquet"
done
"$rockit" report "$temp/run3" | sed -n 1,12p
