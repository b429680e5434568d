# A plan needs nothing installed when tool, release and chip are named.
PATH=/usr/bin:/bin ROCKIT_SYSFS_ROOT=$PWD ROCKIT_COLLECTORS=$PWD/none
export PATH ROCKIT_SYSFS_ROOT ROCKIT_COLLECTORS
plan() {
	"$ROCKIT" run "$@" -d /out --dry-run -- python 'in fer.py'
}
plan -p memory --tool rocprofv3 --tool-version 7.0 --arch gfx942
echo
plan -p compute --tool rocprofv3 --tool-version 6.2 --arch gfx90a
echo
plan -p lightweight --tool rocprof --tool-version 6.1 --arch gfx908
echo
plan -t kernel -c @cache --tool rocprofv3 --tool-version 7.13 --arch gfx1100 --format json
