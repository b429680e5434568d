# What 'record' and the window of 'run' plan, and what they refuse.
. "$CASES/lib_doctor_machine.sh"
mkdir lib root
: >lib/librockit-rocm.so
: >lib/librockit-cupti.so
: >lib/librockit-opencl.so
export PATH=/usr/bin:/bin HOME=$PWD ROCKIT_SYSFS_ROOT=$PWD/root ROCKIT_COLLECTORS=$PWD/lib
plan() {
	echo "== $*"
	"$ROCKIT" "$@" -d /out --dry-run -- ./app 2>&1 | sed "s,$PWD,HERE,g" | grep -v '^# output\|^$'
}
plan record
machine
driver 6.12.12
gpu 1 90402 0x74a1 1216 192
rocm 7.0.2 rocprofv3
plan record
plan record --max-size 2G --last 5m --snap-on signal,crash,gap:2s --keep 3
plan record --tool cupti --range step --snap-on slow-step:20%
plan record --tool cupti --range step --every 1:100
plan record --tool rocm --range step -t hip,kernel --sample 1/100
plan record --tool opencl --delay 10 --duration 1m --every 5:60
plan run --tool opencl --window
for args in '--max-size 4K' '--max-size 4T' '--last soon' '--snap-on ,' '--snap-on boom' '--snap-on slow-step' \
	'--snap-on slow-step:20' '--snap-on slow-step:20%' '--snap-on gap' '--snap-on gap:0ms' '--snap-on gap:1h' \
	'--every 5' '--every 5:5' '--every 0:5' '--every 1:2:3' '--sample 100' '--sample 1/0' '--sample 2/3' '--keep 1000' \
	'--tool opencl --range x' '--tool rocprofv3' '--range x --every 1:2 --snap-on slow-step:5%' \
	'--range x --snap-on gap:1s' '--every 1:2 --snap-on gap:1s'; do
	plan record $args
done
for args in '--last 5' '--keep 5' '--snap-on signal' '--max-size 4M' '--tool rocprofv3 --window' \
	'--tool rocprofv3 --every 1:2' '--tool rocprofv3 --sample 1/2' '--tool cupti --window -c SQ_WAVES' \
	'--tool rocprof --tool-version 6.1 --window'; do
	plan run $args
done
"$ROCKIT" record
echo $?
"$ROCKIT" record --dry-run --format json --snap-on gap:100ms -- ./app | grep -v '"dir"\|tool_path\|ROCKIT_COLLECT\|version'
