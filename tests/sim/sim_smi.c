/* sim_smi.c - amd-smi, rocm-smi and rocm_agent_enumerator, as far as a client asks them. */
#include <stdio.h>
#include <string.h>

#include "sim_args.h"

static int rocm_smi(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		printf("ROCM-SMI version: 4.0.0+simulated\nROCM-SMI-LIB version: 7.8.0\n"
		       "ROCm version: %s\n",
		       sim.version);
		return 0;
	}
	if (argc > 1)
		argparse_error("rocm-smi", "unrecognized arguments: %s", argv[1]);
	puts("======= ROCm System Management Interface =======\nDevice  Temp  Power  VRAM%  GPU%");
	for (unsigned gpu = 0; gpu < sim.gpus; gpu++)
		printf("%u       40.0c 120.0W 1%%     0%%\n", gpu);
	return 0;
}

static int amd_smi(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	if (strcmp(command, "version") == 0) {
		printf("AMDSMI Tool: 26.0.0 | AMDSMI Library version: 26.0.0 | ROCm version: %s\n",
		       sim.version);
		return 0;
	}
	if (strcmp(command, "monitor") == 0) {
		puts("GPU  POWER   GPU_T   MEM_T   GFX_CLK   GFX%   MEM%");
		for (unsigned gpu = 0; gpu < sim.gpus; gpu++)
			printf("%3u  120 W   40 C    35 C    132 MHz   0 %%    0 %%\n", gpu);
		return 0;
	}
	if (strcmp(command, "metric") == 0 || strcmp(command, "list") == 0 ||
	    strcmp(command, "static") == 0) {
		for (unsigned gpu = 0; gpu < sim.gpus; gpu++)
			printf("GPU: %u\n    BDF: 0000:%02x:00.0\n    POWER:\n"
			       "        SOCKET_POWER: 120 W\n",
			       gpu, 5 + gpu);
		return 0;
	}
	argparse_error("amd-smi", "argument: invalid choice: '%s'", command);
}

int smi_main(int argc, char **argv)
{
	if (strcmp(sim.tool, "rocm_agent_enumerator") == 0) {
		puts("gfx000");
		for (unsigned gpu = 0; gpu < sim.gpus; gpu++)
			puts(sim.arch);
		return 0;
	}
	return strcmp(sim.tool, "rocm-smi") == 0 ? rocm_smi(argc, argv) : amd_smi(argc, argv);
}
