# What AMD's tools add up themselves (FETCH_SIZE, WRITE_SIZE, VALUBusy, ...) is as good as raw counters.
head='"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"'
count() {
	echo "$2,$2,\"Agent 1\",1,7,7,1048576,3,\"$1\",256,0,0,16,0,32,\"$3\",$4,$5,$6"
}
# 1000000 KiB in a millisecond are 1024 GB/s of the 1638 that the memory can do
{
	echo "$head"
	count copy 1 FETCH_SIZE 600000 1000000 2000000
	count copy 1 WRITE_SIZE 400000 1000000 2000000
	count copy 1 VALUBusy 12.5 1000000 2000000
	count copy 1 L2CacheHit 40 1000000 2000000
	count gemm 2 FETCH_SIZE 60000 3000000 4000000
	count gemm 2 WRITE_SIZE 40000 3000000 4000000
	count gemm 2 VALUBusy 88 3000000 4000000
	count gemm 2 L2CacheHit 90 3000000 4000000
} >both.csv
"$ROCKIT" metrics both.csv --arch gfx90a --group fabric,l2,pipes
grep -v 'WRITE_SIZE\|VALUBusy\|L2Cache' both.csv >reads.csv
sed -i s/600000/1200000/ reads.csv
"$ROCKIT" metrics reads.csv --arch gfx90a --group fabric
