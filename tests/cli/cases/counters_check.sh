$ROCKIT counters --arch gfx942 --check SQ_WAVES TCC_HIT[3] && echo all there
$ROCKIT counters --arch gfx942 --check L2CacheHit,L2CacheMiss SQ_WAIT_INST_VALU TCC_EA_RDREQ_32B_sum
echo "status $?"
$ROCKIT counters --arch gfx1030 --check memory_bound
$ROCKIT counters --arch gfx908 --check SQ_INSTS_VALU_ADD_F32 sq_waves --format json
$ROCKIT counters --arch gfx908 --check TCP_TCC_ATOMIC_REQ_sum Nonsense --format csv
