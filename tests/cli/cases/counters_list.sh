$ROCKIT counters --arch gfx942 conflict
$ROCKIT counters --arch GFX942:sramecc+ --format csv FETCH_SIZE SIMD_NUM SQ_WAVES
$ROCKIT counters --arch MI300X --format json TCC_HIT
$ROCKIT counters --arch gfx1201 | wc -l
$ROCKIT counters --arch gfx942 --format csv @lds | cut -d , -f 1
$ROCKIT counters --arch gfx942 --format csv @limits,@waves SQ_WAVES | cut -d , -f 1 | sort | uniq -d
$ROCKIT counters --arch gfx942 @ldss || echo "status $?"
