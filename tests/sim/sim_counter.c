/* sim_counter.c - which counters the GPU has, and how many fit in one pass. */
#include <string.h>

#include "sim.h"

static bool on_this_gpu(const struct counter_row *row)
{
	struct words archs = { 0 };

	words_split(&archs, row->archs, ",");
	return words_have(&archs, sim.arch);
}

const struct counter_row *counter_find(const char *name)
{
	for (const struct counter_row *row = counter_rows; row->name; row++)
		if (strcmp(row->name, name) == 0 && on_this_gpu(row))
			return row;
	return NULL;
}

double counter_value(const char *name, unsigned dispatch_id)
{
	return fault("counters-zero") ? 0.0 : dispatch_id * 1000.0 + (double)strlen(name);
}

/* Registers per block; what is not named here has four. */
static unsigned registers(const char *block)
{
	static const struct {
		const char *block;
		unsigned registers;
	} limits[] = {
		{ "SQ", 8 },  { "GRBM", 2 }, { "TA", 2 },   { "TD", 2 },
		{ "TCP", 4 }, { "TCC", 4 },  { "TCA", 4 },  { "CPC", 2 },
		{ "CPF", 2 }, { "SPI", 6 },  { "GL2C", 4 },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (strcmp(limits[i].block, block) == 0)
			return limits[i].registers;
	return 4;
}

/* The hardware counters behind a name, each once. */
static void expand(struct words *hardware, const char *name)
{
	const struct counter_row *row = counter_find(name);
	struct words needs = { 0 };

	if (!row)
		return;
	if (strcmp(row->block, "-") != 0) {
		if (!words_have(hardware, name))
			words_add(hardware, name);
		return;
	}
	words_split(&needs, row->needs, " ");
	for (size_t i = 0; i < needs.n; i++)
		if (!words_have(hardware, needs.at[i]) && counter_find(needs.at[i]))
			words_add(hardware, needs.at[i]);
}

const char *counters_overflow(const struct words *names)
{
	struct words hardware = { 0 };

	for (size_t i = 0; i < names->n; i++)
		expand(&hardware, names->at[i]);
	for (size_t i = 0; i < hardware.n; i++) {
		const char *block = counter_find(hardware.at[i])->block;
		unsigned used = 0;

		for (size_t k = 0; k < hardware.n; k++)
			used += strcmp(counter_find(hardware.at[k])->block, block) == 0;
		if (used > registers(block))
			return block;
	}
	return NULL;
}
