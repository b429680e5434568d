# A release that came out after this rockit is called like the newest known one, and the plan says so.
PATH=/usr/bin:/bin ROCKIT_SYSFS_ROOT=$PWD ROCKIT_COLLECTORS=$PWD/none
export PATH ROCKIT_SYSFS_ROOT ROCKIT_COLLECTORS
plan() {
	tool=$1 version=$2
	shift 2
	echo "== $tool $version"
	"$ROCKIT" run --tool "$tool" --tool-version "$version" --arch gfx942 "$@" -d /out --dry-run -- ./app |
		grep -v '^# output\|^$'
}
plan rocprofv3 1.4.1 -t kernel
plan rocprofv3 1.5.0 -t kernel
plan rocprofv3 12.0 -t kernel
plan rocprof-compute 3.10.0 -t kernel
plan rocprof-sys 1.10.0 -t kernel
for version in 6.2 6.4 7.2 7.13 10.1; do
	plan rocprofv3 $version -t kfd,ompt,graph,rocshmem,hipfile,rocdecode
done
plan rocprofv3 10.1 -t kernel,rocjpeg
plan rocprofv3 10.1 -t kfd,rocjpeg
# ROCm 7.2.4 came with the rocprofv3 of 7.13.
rocm=opt/rocm-7.2.4
mkdir -p $rocm/bin $rocm/lib $rocm/.info
echo 7.2.4-81 >$rocm/.info/version
printf '#!/bin/sh\n' >$rocm/bin/rocprofv3
chmod +x $rocm/bin/rocprofv3
: >$rocm/lib/librocprofiler-sdk.so.1.3.0
ln -s librocprofiler-sdk.so.1.3.0 $rocm/lib/librocprofiler-sdk.so.1
echo "== installed 7.2.4"
"$ROCKIT" run --tool rocprofv3 --arch gfx942 -t kfd -d /out --dry-run -- ./app | sed "s|$PWD|PWD|" | grep -v '^# output\|^$'
