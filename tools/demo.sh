#!/bin/sh
# demo.sh BUILD ROWS - make a run directory like rocprofv3's, convert it, report on it.
set -eu
build=$1
rows=$2
demo=build/demo

rm -rf "$demo"
mkdir -p "$demo"
"$build/gen-trace" --rows "$rows" --seed 1 --dir "$demo/run"
echo "A run as rocprofv3 leaves it, $rows kernels:"
ls -lh "$demo"/run/*/ | awk 'NR > 1 { printf "  %6s  %s\n", $5, $9 }'
echo
echo "\$ rockit convert $demo/run -o $demo/out/"
"$build/rockit" convert "$demo/run" -o "$demo/out/"
ls -lh "$demo/out" | awk 'NR > 1 { printf "  %6s  %s\n", $5, $9 }'
echo
echo "\$ rockit report $demo/run --top 5"
"$build/rockit" report "$demo/run" --top 5
