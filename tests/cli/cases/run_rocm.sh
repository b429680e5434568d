# rockit's own ROCm collector: how it is loaded, when it is chosen, what it refuses.
. "$CASES/lib_doctor_machine.sh"
machine
driver 6.12.12
gpu 1 90402 0x74a1 1216 192
mkdir lib 'a b'
: >lib/librockit-rocm.so
: >lib/librockit-opencl.so
cp lib/librockit-rocm.so 'a b'
export PATH=/usr/bin:/bin HOME=$PWD ROCKIT_SYSFS_ROOT=$PWD/root ROCKIT_COLLECTORS=$PWD/lib
plan() {
	echo "== $*"
	"$ROCKIT" run -d /out --dry-run "$@" -- ./app 2>&1 | sed "s,$PWD,HERE,g" | grep -v '^# output\|^$'
}
plan
plan --tool rocm
plan --tool rocm -t sys
plan --tool rocm -p compute
plan --tool rocm -c SQ_WAVES
plan --tool rocm --att
plan --tool rocm --tool-args 'limit=4G api=0'
ROCKIT_COLLECTORS="$PWD/a b" plan --tool rocm
ROCKIT_COLLECTORS=$PWD/none plan --tool rocm
rocm 7.0.2 rocprofv3
plan
rm -r root/sys/class
plan --tool rocm
