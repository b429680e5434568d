/*
 * counters.c - performance counters, by the commands that AMD's aqlprofile writes.
 *
 * The values are invented: they follow from how many waves ran and how long, by a simple rule, so that
 * a test can tell a value that was read from the right place from any other. They say nothing about a
 * real chip.
 */
#include <pthread.h>
#include <string.h>

#include "vgpu.h"

enum { COPY_DATA = 0x40, SET_UCONFIG_REG = 0x79 };

/* Registers that are written with SET_UCONFIG_REG, by their number from 0xc000 on. */
enum { FIRST_REG = 0xc000, NREGS = 0x4000, GFX_INDEX = 0x200, PERFMON_CNTL = 0x1808 };
enum { RESET, START, STOP }; /* of PERFMON_CNTL */
/* How far the register that selects an event is from the one that counts it. */
enum { SELECT_AFTER_VALUE = 0x800 };
enum { GRBM_VALUE = 0xd040, SQ_WAVES = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct state {
	uint32_t regs[NREGS];
	bool counting;
	uint64_t waves, cycles;
} states[VGPU_MAX_GPUS];

void vgpu_count(struct vgpu *gpu, const struct vgpu_dispatch *d, uint64_t ns)
{
	struct state *s = &states[gpu->index];
	uint64_t items = 1;

	for (unsigned i = 0; i < 3; i++)
		items *= d->block[i] ? d->block[i] : 1;
	pthread_mutex_lock(&lock);
	if (s->counting) {
		s->waves += vgpu_groups(d) * ((items + gpu->wave_size - 1) / gpu->wave_size);
		s->cycles += ns * gpu->clock_mhz / 1000;
	}
	pthread_mutex_unlock(&lock);
}

/* The event that a counting register counts. Selections are one or two registers apart. */
static uint32_t event_of(const struct state *s, uint32_t value_reg)
{
	uint32_t select = value_reg - FIRST_REG + SELECT_AFTER_VALUE;

	for (uint32_t n = 0; n < 16 && n <= select; n++)
		if (s->regs[select - n])
			return s->regs[select - n] & 0x1ff;
	return 0;
}

static uint64_t value_of(const struct vgpu *gpu, const struct state *s, uint32_t reg)
{
	uint32_t event = event_of(s, reg), index = s->regs[GFX_INDEX], engine = index >> 16 & 0xff;
	uint64_t total = s->waves;

	if (reg >= GRBM_VALUE && reg < GRBM_VALUE + 16)
		total = s->cycles;
	else if (event != SQ_WAVES)
		total = s->waves * (1 + event % 13);
	if (index >> 31) /* all engines together */
		return total;
	return (total + gpu->engines - 1 - engine % gpu->engines) / gpu->engines;
}

static void copy_data(const struct vgpu *gpu, const struct state *s, const uint32_t *w)
{
	uint32_t reg = w[2], source = w[1] & 0xf;
	uint64_t value, to = w[4] | (uint64_t)w[5] << 32;
	bool wide = w[1] >> 16 & 1;

	if (source != 0 && source != 4) /* neither a register nor a counter */
		return;
	value = value_of(gpu, s, reg & ~1u) >> (reg & 1 ? 32 : 0);
	memcpy(vgpu_host(to), &value, wide ? 8 : 4);
}

void vgpu_pm4(struct vgpu *gpu, uint64_t address, uint32_t dwords)
{
	struct state *s = &states[gpu->index];
	const uint32_t *w = vgpu_host(address);

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0, n; i < dwords; i += n) {
		uint32_t op = w[i] >> 8 & 0xff;

		n = w[i] >> 30 == 3 ? (w[i] >> 16 & 0x3fff) + 2 : 1;
		if (w[i] >> 30 != 3 || n > dwords - i)
			continue;
		if (op == COPY_DATA && n >= 6) {
			copy_data(gpu, s, w + i);
		} else if (op == SET_UCONFIG_REG) {
			for (uint32_t k = 2, reg = w[i + 1] & 0xffff; k < n && reg < NREGS;
			     k++, reg++)
				s->regs[reg] = w[i + k];
			if ((w[i + 1] & 0xffff) != PERFMON_CNTL || n < 3)
				continue;
			s->counting = (w[i + 2] & 0xf) == START;
			if ((w[i + 2] & 0xf) == RESET)
				s->waves = s->cycles = 0;
		}
	}
	pthread_mutex_unlock(&lock);
	vgpu_ledger("commands gpu=%u dwords=%u", gpu->index, dwords);
}
