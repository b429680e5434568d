for arch in gfx90a gfx942 gfx950; do
	for set in compute_bound memory communication full_profile instruction_mix; do
		$ROCKIT counters --arch $arch --plan $set --format csv | tail -n 1 | cut -d, -f1
	done
done | paste -sd ' '
$ROCKIT counters --arch gfx942 --plan memory_bound
$ROCKIT counters --arch gfx942 --plan memory_bound -o packed.txt
$ROCKIT counters --arch gfx942 --plan packed.txt --format json
$ROCKIT counters --arch gfx942 --plan \
	MeanOccupancyPerCU,MeanOccupancyPerActiveCU,VmemLatency,SmemLatency,LdsLatency,InstrFetchLatency
$ROCKIT counters --arch gfx1100 --plan @cache,@stalls --format csv
