# Files of other profilers: Nsight Compute, HIP's built-in profiler, a thread trace without its
# statistics, nvidia-smi; and files that must be exported first.
cat >ncu.csv <<'END'
==PROF== Profiling "add" - 0: 0%....50%....100% - 9 passes
"ID","Process ID","Kernel Name","Stream","Block Size","Grid Size","Device","Metric Name","Metric Unit","Metric Value"
"0","7","void add<float, 4>(float *)","7","(256, 1, 1)","(16, 2, 1)","0","gpu__time_duration.sum","us","1,211.94"
"0","7","void add<float, 4>(float *)","7","(256, 1, 1)","(16, 2, 1)","0","dram__bytes.sum","Mbyte","2.5"
END
$ROCKIT report ncu.csv
cat >hip_123.json <<'END'
{"traceEvents":[
{"ph":"M","name":"process_name","pid":1024,"args":{"name":"CPU HIP [app]"}},
{"ph":"X","name":"hipLaunchKernel","pid":1024,"tid":9,"ts":0.000,"dur":3.000,"args":{"stream":"0x0"}},
{"ph":"X","name":"f<(char)'"'>(int)","pid":0,"tid":0,"ts":5.500,"dur":2.000,"args":{"grid":"16x1x1","block":"64x1x1"}}
],"displayTimeUnit":"us"}
END
$ROCKIT report hip_123.json
mkdir -p att/ui_output_agent_1_dispatch_2
cat >att/ui_output_agent_1_dispatch_2/code.json <<'END'
{"code":[["; add",0,1,"",1,0,0,0,0,0],["s_nop 0",0,2,"a.hip:3",1,64,5,100,7,1]],
"header":"ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"}
END
$ROCKIT report --hotspots att
# with the statistics the same instructions count once
cat >att/stats_ui_output_agent_1_dispatch_2.csv <<'END'
"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"
1,64,"s_nop 0",5,100,7,1,"a.hip:3"
END
$ROCKIT report --hotspots att | grep s_nop
cat >smi.csv <<'END'
timestamp, index, name, memory.used [MiB], utilization.gpu [%], power.draw [W]
2026/07/23 12:00:09.000, 0, NVIDIA H200, 1024 MiB, 89 %, 490.25 W
2026/07/23 12:00:10.000, 0, NVIDIA H200, 1024 MiB, 91 %, [N/A]
END
$ROCKIT report smi.csv
printf 'NVR\0\1\0\0\0' >run.ncu-rep
printf '\1\0\0\0' >run.nsys-rep
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n' >run.db
for file in run.ncu-rep run.nsys-rep run.db; do
	$ROCKIT report $file
done
