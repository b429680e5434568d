#!/bin/sh
# demo.sh BUILD ROWS - profile the bundled OpenCL program for real and report on it.
#
# Where OpenCL could not be built, a run directory like rocprofv3's with ROWS kernels is generated and
# converted instead.
set -eu
build=$1
rows=$2
demo=build/demo

show() { # a command as it is typed, then what it prints
	echo "\$ $*" | sed "s|$build/||"
	"$@"
	echo
}

rm -rf "$demo"
mkdir -p "$demo"
if [ -x "$build/example-inference" ] && [ -e "$build/librockit-opencl.so" ]; then
	show "$build/rockit" run -d "$demo/run" -- "$build/example-inference"
	show "$build/rockit" report "$demo/run" --top 5
	echo "The run directory is $demo/run:"
	ls "$demo/run"
	exit 0
fi
echo "demo: no OpenCL here; a generated trace of $rows kernels instead" >&2
"$build/gen-trace" --rows "$rows" --seed 1 --dir "$demo/run"
show "$build/rockit" convert "$demo/run" -o "$demo/out/"
show "$build/rockit" report "$demo/run" --top 5
