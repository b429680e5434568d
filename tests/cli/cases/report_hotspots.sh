# PC samples beside a trace, a thread trace, neither: instructions, lines and stall reasons.
head='"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Dispatch_Id","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"'
kernel() {
	echo "\"KERNEL_DISPATCH\",1,1,7,\"$1\",$2,$2,$3,$4,0,0,64,1,1,64,1,1"
}
sample() {
	echo "$1,65535,$2,\"$3\",\"$4\",$2,$5,\"X_TYPE\",\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_$6\",4"
}
mkdir sampled traced
{
	echo "$head"
	kernel 'gemm(float*)' 1 1000 2000
	kernel 'fill(int)' 2 2000 2500
	kernel 'never hit' 3 2500 2600
} | tee sampled/7_kernel_trace.csv >traced/7_kernel_trace.csv
{
	echo '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id","Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count"'
	sample 1100 1 's_waitcnt vmcnt(0)' /src/gemm.cpp:12 0 WAITCNT
	sample 1200 1 's_waitcnt vmcnt(0)' /src/gemm.cpp:12 0 WAITCNT
	sample 1300 1 's_waitcnt vmcnt(0)' /src/gemm.cpp:12 0 ALU_DEPENDENCY
	sample 1400 1 'v_mfma_f32 a[0:3], v1, v2' /src/gemm.cpp:13 1 OTHER_WAIT
	sample 2100 2 'global_store_dword v[0:1], v2, off' /src/fill.cpp:3 0 WAITCNT
} >sampled/7_pc_sampling_stochastic.csv
cat >traced/stats_ui_output_agent_1_dispatch_1.csv <<end
"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"
1,100,"; _Z4gemmPf",0,0,0,0,"gemm(float*)"
1,104,"s_load_dword s0, s[2:3], 0x0",10,1200,1000,5,"/src/gemm.cpp:10"
1,112,"v_mfma_f32 a[0:3], v1, v2",40,2560,1300,0,"/src/gemm.cpp:13"
1,120,"v_mfma_f32 a[0:3], v1, v2",40,640,0,0,"/src/gemm.cpp:13"
end
"$ROCKIT" report sampled --hotspots
"$ROCKIT" report sampled --hotspots --top 1
"$ROCKIT" report sampled --hotspots --format json
"$ROCKIT" report sampled --hotspots --format csv
"$ROCKIT" report sampled | tail -n 3
"$ROCKIT" report sampled --format json | sed -n '/"hotspots"/,/"files"/p' | head -n 6
"$ROCKIT" report traced --hotspots
"$ROCKIT" report traced --hotspots --format json
"$ROCKIT" report traced --hotspots --format csv
# Without the trace no one knows the kernels; without samples there is nothing to show.
"$ROCKIT" report sampled/7_pc_sampling_stochastic.csv --hotspots --top 2
"$ROCKIT" report fix/run --hotspots
"$ROCKIT" report fix/run --hotspots --format json
# A row that is cut is one warning, though the report reads the file more than once.
printf '1500,65535,1,"s_nop' >>sampled/7_pc_sampling_stochastic.csv
"$ROCKIT" report sampled | tail -n 2
