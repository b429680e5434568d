# Each mistake is one line and a status of its own.
PATH=/usr/bin:/bin ROCKIT_SYSFS_ROOT=$PWD ROCKIT_COLLECTORS=$PWD/none
export PATH ROCKIT_SYSFS_ROOT ROCKIT_COLLECTORS
try() {
	"$ROCKIT" run "$@"
	echo "$?: $*"
}
try
try --
try -p memroy -- true
try -t kernle -- true
try -c SQ_WAVEZ --arch gfx942 -- true
try -c SQ_WAVES -i file.txt -- true
try -i missing.txt --arch gfx942 -- true
try --tool rocprofv9 -- true
try --tool opencl -- true
try --tool rocprofv3 --tool-version seven -- true
try --tool rocprofv3 -- true
try --arch gfx9999 --tool rocprofv3 --tool-version 7.0 -c SQ_WAVES --dry-run -- true
try --ranks 3-1 -- true
try --tool-args "'open" -- true
try --additional-context '{"tools": 1}' -- true
try --additional-context-file missing.json -- true
try --format json -- true
try --timeout soon -- true
try --timeout m -- true
try --timeout 5k -- true
try --timeout 99999999999m -- true
try -d '' -- true
try memory -- true
try -- true
# what rocprof calls otherwise
for option in hip-trace sys-trace hsa-trace kernel-trace roctx-trace stats pmc=SQ_WAVES kfd-trace pid=4711 collection-period selected-regions replay-mode; do
	try --$option -- true
done
