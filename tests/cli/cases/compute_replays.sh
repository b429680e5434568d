# rocprof-compute 3.6 and later: a file per replay, packed when it is large, joined by its analysis.
mkdir run
head='GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value'
rows() { # counter value first start
	for d in 0 1 2; do
		start=$(($3 + d * 10000))
		echo "2,$d,1024,256,0,0,8,4,16,copy,$start,$((start + 1000)),1,$1,$2"
	done
}
{ echo "$head" && rows SQ_WAVES 64 1000; } >run/results_pmc_perf_0.csv
{ echo "$head" && rows TCC_HIT_sum 30 500000; } | gzip >run/results_pmc_perf_1.csv.gz
"$ROCKIT" report run
echo "== joined"
{ echo "$head" && rows SQ_WAVES 64 1000 && rows TCC_HIT_sum 30 500000; } >run/pmc_perf.csv
"$ROCKIT" report -v run
