# What a release does not have is not asked of it, and its tools have the names of their time.
PATH=/usr/bin:/bin ROCKIT_SYSFS_ROOT=$PWD ROCKIT_COLLECTORS=$PWD/none
export PATH ROCKIT_SYSFS_ROOT ROCKIT_COLLECTORS
plan() {
	"$ROCKIT" run --arch gfx942 "$@" -d /out --dry-run -- ./app
}
echo == kernels are filtered since 6.3
for version in 6.2 6.3; do
	plan -c SQ_WAVES --kernel-regex gemm --tool rocprofv3 --tool-version $version
done
echo == names before and after 6.3
for version in 6.2 6.3; do
	plan --tool rocprof-compute --tool-version $version
	plan --tool rocprof-sys --tool-version $version
done
echo == sizes of copies that were asked for
plan -t kernel,memcpy --tool rocprofv3 --tool-version 6.4
for args in '--output-format json' '--output-format csv JSON' --output-format=json; do
	plan -t kernel,memcpy --tool rocprofv3 --tool-version 6.4 --tool-args "$args"
done
echo == a rank that is not profiled
SLURM_PROCID=3 SLURM_NTASKS=8 SLURM_STEP_ID=0 SLURM_JOB_ID=7 plan --ranks 0,4-7 -p memory --tool rocprofv3 --tool-version 7.0
SLURM_PROCID=3 SLURM_NTASKS=8 SLURM_STEP_ID=0 SLURM_JOB_ID=7 plan --ranks 0,4-7 --tool rocprofv3 --tool-version 7.0 --format json
