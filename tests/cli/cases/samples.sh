# Samples beside other files: each value a row; logs and settings are named and cost nothing.
mkdir run
cat >run/gpu_info_power_profiler_output.csv <<end
timestamp_ns,time,Power(Watt) GPU0,Power(Watt) GPU1
13386742234691895,2026-11-15T03:51:06Z,151.5,N/A
13386742334691895,2026-11-15T03:51:06Z,152,140
end
cat >run/gpu_info_vram_profiler_output.csv <<end
timestamp_ns,time,vram(%) GPU0,vram_used(MB) GPU0
13386742234691900,2026-11-15T03:51:06Z,0.5,1024
end
printf 'workload_name,command,ip_blocks,hostname,gpu_model,gpu_arch,cu_per_gpu\n' >run/sysinfo.csv
printf 'w,./a.out -n 1,SQ,node1,MI300X_A1,gfx942,304' >>run/sysinfo.csv
printf 'device,HBMBw,FP32Flops\n0,4000.5,80000\n' >run/roofline.csv
printf '100:250 7:8 hsa_init() = 0 :1\n300:400 async-copy:1:7\n' >run/7_hsa_api_trace.txt
printf 'Target: MI300X_A1\nCommand: ./a.out\n' >run/log.txt
printf 'settings:\n  - a\n' >run/profiling_config.yaml
"$ROCKIT" convert run --table samples -f csv -o -
"$ROCKIT" convert run --table agents -f csv -o -
"$ROCKIT" report -v run
"$ROCKIT" report run/log.txt || echo "status $?"
"$ROCKIT" report run/profiling_config.yaml || echo "status $?"
