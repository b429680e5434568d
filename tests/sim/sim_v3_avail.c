/* sim_v3_avail.c - rocprofv3-avail (rocprofv3_avail in 6.4): list, info, pmc-check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_v3.h"

static bool here(const struct counter_row *row)
{
	return counter_find(row->name) == row;
}

static void list_pmc(unsigned gpu)
{
	unsigned column = 0;

	printf("%-30s:\t%u\n%-30s:\t%s\nPMC\n", "GPU", gpu, "Name", sim.arch);
	for (const struct counter_row *row = counter_rows; row->name; row++)
		if (here(row))
			printf("%-40s%s", row->name, ++column % 3 ? "" : "\n");
	puts("\n");
}

static void list_agent(unsigned gpu)
{
	printf("GPU:%u\n%-30s:\t%s\n%-30s:\t304\n%-30s:\t64\n\n", gpu, "name", sim.arch, "cu_count",
	       "wave_front_size");
}

static void info_pmc(unsigned gpu)
{
	printf("GPU:%u\nName:%s\n", gpu, sim.arch);
	for (const struct counter_row *row = counter_rows; row->name; row++) {
		bool derived = strcmp(row->block, "-") == 0;

		if (!here(row))
			continue;
		printf("Counter_Name        :\t%s\nDescription         :\tsimulated\n%-20s:\t%s\n"
		       "Dimensions          :\tDIMENSION_INSTANCE[0:0]\n\n",
		       row->name, derived ? "Expression" : "Block",
		       derived ? row->needs : row->block);
	}
}

static void sampling_config(const char *method, const char *unit, const char *flags)
{
	printf("   %-20s:\t%s\n   %-20s:\t%s\n   %-20s:\t1\n   %-20s:\t18446744073709551615\n"
	       "   %-20s:\t%s\n\n",
	       "Method", method, "Unit", unit, "Min_Interval", "Max_Interval", "Flags", flags);
}

static void info_sampling(unsigned gpu, bool configs)
{
	printf("GPU     :\t%u\nName    :\t%s\n", gpu, sim.arch);
	if (!configs)
		return;
	puts("configs :");
	sampling_config("host_trap", "time", "none");
	if (strcmp(sim.arch, "gfx942") == 0 && sim.release >= REL_70)
		sampling_config("stochastic", "cycle", "interval pow2");
}

static _Noreturn void not_possible(const char *text)
{
	fprintf(stderr, "Fatal error: %s\n", text);
	exit(1);
}

static int pmc_check(char **names, int n)
{
	struct words counters = { 0 };

	if (!n)
		argparse_error("rocprofv3-avail pmc-check",
			       "the following arguments are required: pmc");
	for (int i = 0; i < n; i++) {
		char *name = print_text("%.*s", (int)strcspn(names[i], ":"), names[i]);

		if (!counter_find(name))
			not_possible(print_text("Unable to find counter %s on GPU:0", name));
		words_add(&counters, name);
	}
	if (counters_overflow(&counters))
		not_possible("Following input counters cannot be collected together on GPU:0");
	for (unsigned gpu = 0; gpu < sim.gpus; gpu++)
		printf("Following input counters can be collected together on GPU:%u\t%s\n", gpu,
		       words_join(&counters, "\t"));
	return 0;
}

static void show(const char *command, const char *what, unsigned gpu)
{
	bool info = strcmp(command, "info") == 0;

	if (strcmp(what, "--pc-sampling") == 0)
		info_sampling(gpu, info);
	else if (strcmp(what, "--agent") == 0 && !info)
		list_agent(gpu);
	else if (strcmp(what, "--pmc") == 0 && info)
		info_pmc(gpu);
	else if (strcmp(what, "--pmc") == 0)
		list_pmc(gpu);
	else
		argparse_error("rocprofv3-avail", "unrecognized arguments: %s", what);
}

int v3_avail_main(int argc, char **argv)
{
	unsigned long long only = 0;
	bool one = argc > 2 && (strcmp(argv[1], "-d") == 0 || strcmp(argv[1], "--device") == 0);
	int at = one ? 3 : 1;

	if (one && !read_number(argv[2], &only))
		argparse_error("rocprofv3-avail", "argument -d: invalid int value: '%s'", argv[2]);
	if (at < argc && strcmp(argv[at], "pmc-check") == 0)
		return pmc_check(argv + at + 1, argc - at - 1);
	if (at >= argc || (strcmp(argv[at], "list") != 0 && strcmp(argv[at], "info") != 0))
		argparse_error("rocprofv3-avail",
			       "argument command: choose from 'list', 'info', 'pmc-check'");
	for (unsigned gpu = 0; gpu < sim.gpus; gpu++) {
		if (one && gpu != only)
			continue;
		if (at + 1 == argc)
			show(argv[at], "--pmc", gpu);
		for (int i = at + 1; i < argc; i++)
			show(argv[at], argv[i], gpu);
	}
	return 0;
}
