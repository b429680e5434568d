# A context of madengine in the place of a preset: what is asked for, and what is ignored.
cat >context.json <<'X'
{
	"gpu_vendor": "AMD", "guest_os": "UBUNTU", "docker_gpus": "all",
	"slurm": { "partition": "amd-rccl", "nodes": 2, "time": "04:00:00" },
	"distributed": { "launcher": "torchrun", "nnodes": 2, "nproc_per_node": 4 },
	"tools": [
		{ "name": "rocprof",
		  "cmd": "bash ../scripts/common/tools/rocprof_wrapper.sh --hip-trace --kernel-trace -i ../scripts/common/tools/counters/memory_bound.txt --output-format pftrace -d ./traces --",
		  "env_vars": { "RCCL_DEBUG": "INFO", "HSA_ENABLE_SDMA": "0" } },
		{ "name": "gpu_info_vram_profiler", "env_vars": { "VRAM_SAMPLING_RATE": "1.0" } },
		{ "name": "rocblas_trace" },
		{ "name": "rpd" }
	],
	"env_vars": { "OMP_NUM_THREADS": "8" }
}
X
"$ROCKIT" presets ./context.json
"$ROCKIT" presets context.json -f csv | tail -n 1
printf '{"tools": [{"name": "rocprof", "cmd": "rocprofv3 --sys-trace -- ; touch ran"}]}\n' >evil.json
"$ROCKIT" presets ./evil.json
echo $?
[ ! -e ran ]
