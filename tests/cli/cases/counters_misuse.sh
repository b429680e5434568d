try() {
	$ROCKIT counters "$@"
	echo "status $?"
}
export ROCKIT_SYSFS_ROOT=nowhere
try | tail -n 2
try --plan memory
try --check SQ_WAVES
try --arch gfx943
try --arch vega
try --arch gfx942 --plan memroy_bound
try --arch gfx942 --plan SQ_WAVS
try --arch gfx942 --plan @cahce
try --arch gfx942 --plan ,
try --arch gfx942 --check
try --arch gfx942 --plan memory SQ_WAVES
try --arch gfx942 --plan memory --check
try --arch gfx942 xyzzy
try --arch gfx942 --plan memory -o nowhere/plan.txt
