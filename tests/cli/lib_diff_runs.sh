# Runs to compare, as rocprofv3 writes them. `launches` reads "name duration gap grid stream" and
# writes a kernel trace, one launch behind the other.
launches() {
	echo '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"'
	awk -v at="${1:-1000000}" '{
		printf "\"KERNEL_DISPATCH\",\"Agent 4\",1,%d,7,%d,3,\"%s\",%d,%d,%d,0,0,32,0,48,64,1,1,%d,1,1\n",
			$5, NR, $1, NR, at, at + $2, 64 * $4
		at += $2 + $3
	}'
}

# Steps of a small program: count, duration of its gemm, gap.
steps() {
	awk -v n="$1" -v gemm="$2" -v gap="$3" 'BEGIN {
		for (i = 0; i < n; i++) {
			print "norm", 1000 + i % 3, gap, 8, 0
			print "gemm<float>", gemm + i % 5, gap, 64, 0
			print "softmax", 2000 + i % 4, gap, 8, 1
		}
	}'
}
