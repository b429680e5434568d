# What cannot be done with a running program gives one line; the status is 1, or 2 for misuse.
try() {
	"$ROCKIT" "$@"
	echo "status $?"
}
try snap a b
try snap --last soon x
try snap none
mkdir empty
try snap empty
try snap empty -o empty/x
try snap 99999999
try start
try start 1 2
try start 99999999
try stop none
try stop empty
try start --children 99999999
# this shell has no collector
"$ROCKIT" start $$ 2>&1 | sed "s/$$/PID/"
"$ROCKIT" stop --children $$ 2>&1 | sed "s/$$/PID/"
"$ROCKIT" snap $$ 2>&1 | sed "s/$$/PID/"
try env x
try env --tool rocprofv3
try env --format csh
try env --kernels-from-start 2
ROCKIT_COLLECTORS=$PWD/empty
export ROCKIT_COLLECTORS
try env --tool opencl -d /prof
find . | sort
