# Known problems that a run may meet: by tool, release, chip, request and machine.
PATH=/usr/bin:/bin ROCKIT_SYSFS_ROOT=$PWD/root ROCKIT_COLLECTORS=$PWD/none
export PATH ROCKIT_SYSFS_ROOT ROCKIT_COLLECTORS
unset RANK LOCAL_RANK WORLD_SIZE
node=root/sys/class/kfd/kfd/topology/nodes/1
mkdir -p $node root/sys/module/amdgpu root/dev
plan() {
	echo "== $*"
	version=$1 arch=$2
	shift 2
	"$ROCKIT" run --tool "${tool-rocprofv3}" --tool-version "$version" --arch "$arch" -d /out --dry-run "$@" | grep '^# known'
}
machine() { # FIRMWARE DRIVER
	printf 'simd_count 1216\nfw_version %s\n' "$1" >$node/properties
	echo "$2" >root/sys/module/amdgpu/version
}
machine 190 6.19.14.31400000
plan 10.1 gfx942 -t hip,kernel -- ./app
plan 10.1 gfx942 -t kernel -c SQ_WAVES -- ./app
plan 9.0 gfx1100 -t kernel -c SQ_WAVES -- ./app
plan 10.0 gfx942 -t ompt -- ./app
plan 10.0 gfx942 --spm SQ_WAVES -- ./app
plan 7.0 gfx942 -p pc_sampling -- ./app
plan 7.14 gfx942 -t kernel -- python train.py
RANK=0 LOCAL_RANK=0 WORLD_SIZE=8 plan 7.13 gfx942 -t hip,kernel -- python3 train.py
plan 10.0 gfx1100 --att -- ./app
plan 7.2.1 gfx942 -t kernel --attach 4711
tool=rocprof-compute plan 3.7.0 gfx1151 -t kernel -- ./app
echo
echo "# old firmware, old driver"
machine 185 6.19.9
plan 10.1 gfx942 -t kernel -c SQ_WAVES -- ./app
plan 10.1 gfx942 --spm SQ_WAVES -- ./app
echo
echo "# a process with torch"
mkdir -p root/proc/4711
printf '7f00 r-xp /lib/libc.so.6\n7f10 r-xp /venv/torch/lib/libtorch_cpu.so\n' >root/proc/4711/maps
plan 10.1 gfx942 -t kernel --attach 4711
echo
echo "# WSL2"
: >root/dev/dxg
plan 10.1 gfx1100 -t kernel -- ./app
rm root/dev/dxg
echo
echo "# said before the run, and kept"
mkdir bin
printf '#!/bin/sh\n' >bin/rocprofv3
chmod +x bin/rocprofv3
PATH=$PWD/bin:$PATH "$ROCKIT" run --tool rocprofv3 --tool-version 10.0 --arch gfx942 -t ompt -d out -- true 2>&1 | grep known
grep hazards out/run.json
