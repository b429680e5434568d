# Samples of power and of an energy counter beside a trace: energy per kernel, sums to the joule.
head='"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Dispatch_Id","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"'
kernel() {
	echo "\"KERNEL_DISPATCH\",1,1,7,\"$1\",$2,$2,$3,$4,0,0,64,1,1,64,1,1"
}
mkdir power counter elsewhere
{
	echo "$head"
	kernel gemm 1 1000000000 1200000000
	kernel fill 2 1220000000 1230000000
	kernel fill 3 1250000000 1260000000
	kernel gemm 4 1300000000 1400000000
} >power/7_kernel_trace.csv
cat >power/gpu_info_power_profiler_output.csv <<end
timestamp_ns,time,Power(Watt) GPU0
800000000,,100
900000000,,100
1000000000,,300
1100000000,,300
1200000000,,300
1300000000,,200
1400000000,,300
1500000000,,100
end
"$ROCKIT" report power
"$ROCKIT" report power --by stream --format csv
"$ROCKIT" convert power -o out/
"$ROCKIT" convert out --table kernels -f csv -o - | cut -d, -f1-3,40

# A counter is taken before power, and a device without kernels stays apart.
cp power/7_kernel_trace.csv counter
cp power/gpu_info_power_profiler_output.csv counter
cat >counter/gpu_info_energy_profiler_output.csv <<end
timestamp_ns,time,energy(J) GPU0,energy(J) GPU1
800000000,,65500,7
900000000,,65510,8
1000000000,,65520,9
1100000000,,14,10
1200000000,,44,11
1300000000,,64,12
1400000000,,94,13
1500000000,,104,14
end
printf '"Node_Id","Agent_Type","Cu_Count","Simd_Count","Name"\n0,"CPU",8,0,"cpu"\n1,"GPU",304,1216,"gfx942"\n2,"GPU",304,1216,"gfx942"\n' >counter/7_agent_info.csv
"$ROCKIT" report counter
"$ROCKIT" report counter --format json | sed -n '/"kernels":\[/,/]/p; /"energy":/,/]}/p; /"samples":\[/,/]/p; /"warnings"/,$p'

# Samples of another clock.
cp power/7_kernel_trace.csv elsewhere
printf 'timestamp_ns,time,Power(Watt) GPU0\n1763179000000000000,,100\n1763179000100000000,,100\n' \
	>elsewhere/gpu_info_power_profiler_output.csv
"$ROCKIT" report elsewhere
