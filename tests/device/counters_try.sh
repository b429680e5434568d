#!/bin/sh
# counters_try.sh [METRIC...] - hardware counters on this machine's NVIDIA GPU, step by step.
#
# Needs cc, the driver and CUPTI of CUDA 12.6 or later ($CUPTI, else the toolkit's). 77: none here.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
toolkit=${CUDA_HOME:-/usr/local/cuda}
cupti=${CUPTI:-}
for file in "$toolkit"/extras/CUPTI/lib64/libcupti.so.1[23] "$toolkit"/lib64/libcupti.so.1[23]; do
	[ -z "$cupti" ] && [ -e "$file" ] && cupti=$file
done
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
${CC:-cc} -std=gnu17 -O1 -I"$here/collectors/cupti" -o "$temp/try" "$here/tests/device/counters_try.c" \
	"$here/collectors/cupti/cup_range.c" -ldl || exit 1
echo "CUPTI: ${cupti:-libcupti.so.13, wherever the loader finds it}"
"$temp/try" "${cupti:-libcupti.so.13}" "$@"
