# Options of newer rocprofv3: in which release they work, what they become, what cannot be combined.
PATH=/usr/bin:/bin ROCKIT_SYSFS_ROOT=$PWD ROCKIT_COLLECTORS=$PWD/none
export PATH ROCKIT_SYSFS_ROOT ROCKIT_COLLECTORS
plan() {
	version=$1
	shift
	echo "== $version: $*"
	"$ROCKIT" run --tool "${tool-rocprofv3}" --tool-version "$version" --arch gfx942 -d /out --dry-run "$@" 2>&1 |
		grep -v '^# output\|^$\|^# rocprofv3' | sed 's/^rockit: //'
}
for version in 6.3 6.4 7.1 10.1; do
	plan $version -t kernel --delay 5 --duration 20 -- ./app
done
plan 7.0 -t kernel --delay 5 -- ./app
plan 7.0 -t kernel --delay 90s --duration 2m -- ./app
plan 7.0 -t kernel --duration 20 -- ./app
for version in 6.4 7.0 7.13; do
	plan $version -t kernel --range 'step 3' -- ./app
done
for version in 6.4 7.0 10.1; do
	plan $version --att -- ./app
done
plan 7.0 -t hip --att --kernel-regex gemm -- ./app
for version in 7.13 7.14 10.1; do
	plan $version --spm SQ_WAVES,SQ_INSTS_VALU -- ./app
done
plan 10.1 -t hip --spm SQ_WAVES -- ./app
for version in 7.14 10.0 10.1 11.0; do
	plan $version -t kernel -c TCC_HIT_sum,TCC_MISS_sum,TCC_READ_sum,TCC_WRITE_sum,TCC_ATOMIC_sum,SQ_WAVES --replay kernel -- ./app
done
# one set needs no replay
plan 10.1 -c SQ_WAVES --replay kernel -- ./app
plan 7.0 -c SQ_WAVES --replay application -- ./app
for version in 7.0 7.1 10.1; do
	plan $version --attach 4711 --duration 30
done
plan 10.1 -t kernel --attach 4711
plan 10.1 -c SQ_WAVES --attach 4711

echo
echo "# cannot be combined"
plan 10.1 --spm SQ_WAVES -c SQ_WAVES -- ./app
plan 10.1 --spm SQ_WAVES -p pc_sampling -- ./app
plan 10.1 --spm SQ_WAVES,MeanOccupancyPerCU -- ./app
plan 10.1 --spm SQ_WAVEZ -- ./app
plan 10.1 --spm , -- ./app
plan 10.1 --replay kernel -t kernel -- ./app
plan 10.1 --replay kernel -c SQ_WAVES --att -- ./app
plan 10.1 --replay kernel -c SQ_WAVES --spm SQ_WAVES -- ./app
plan 10.1 --replay kernel -c SQ_WAVES -p pc_sampling -- ./app
plan 10.1 --replay kernel -c SQ_WAVES --delay 2 -- ./app
plan 10.1 --replay kernel -c SQ_WAVES --attach 4711
plan 10.1 --range x --duration 2 -- ./app
plan 10.1 --range '' -- ./app
plan 10.1 --attach 4711 --delay 2
plan 10.1 --attach 4711 --att
plan 10.1 --attach 4711 --range x
plan 10.1 --attach 4711 --baseline
plan 10.1 --attach 4711 --timeout 5
plan 10.1 --attach 4711 -t kernel -c SQ_WAVES
plan 7.2 --attach 4711 -p pc_sampling
plan 10.1 --attach 4711 -- ./app
plan 10.1 --attach 5000000000
plan 10.1 -t kernel
tool=rocprof plan 6.1 -t kernel --delay 5 -- ./app
tool=rocprof-sys plan 7.13 --att -- ./app
tool=opencl plan 1 --attach 4711

echo
echo "# the plan as JSON"
"$ROCKIT" run --tool rocprofv3 --tool-version 10.1 --arch gfx942 -d /out --dry-run --format json \
	-c TCC_HIT_sum,TCC_MISS_sum,TCC_READ_sum,TCC_WRITE_sum,TCC_ATOMIC_sum --replay kernel -- ./app |
	sed -n '/"passes"/,/"monitor"/p'
