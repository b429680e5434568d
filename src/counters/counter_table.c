/* counter_table.c - finding targets and counters; the public list of them. */
#include "counters/counter_table.h"

#include <pthread.h>
#include <string.h>

#include "base/data.h"
#include "base/text.h"
#include "counters/counter_table_impl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rk_counter_table *shipped; /* kept until the process ends */

static int load(struct rk_error *err)
{
	const struct rk_data_file *f = rk_data_find("counters/table.txt");

	if (!f)
		return rk_fail(err, RK_E_FORMAT, "this build has no table of counters");
	return rk_counter_table_parse(f->text, f->len, &shipped, err);
}

const struct rk_counter_table *rk_counter_table_get(struct rk_error *err)
{
	const struct rk_counter_table *t;

	pthread_mutex_lock(&lock);
	if (!shipped)
		(void)load(err); /* without memory now, with more the next time */
	t = shipped;
	pthread_mutex_unlock(&lock);
	return t;
}

const struct rk_counter_target *rk_counter_table_target(const struct rk_counter_table *t, size_t i)
{
	return i < t->ntargets ? &t->targets[i] : NULL;
}

static bool target_is(const struct rk_counter_target *target, struct rk_piece name)
{
	if (rk_text_ieq(name.s, name.len, target->name) ||
	    rk_text_ieq(name.s, name.len, target->name + strlen("gfx")))
		return true;
	for (const char *const *p = target->products; *p; p++)
		if (rk_text_ieq(name.s, name.len, *p))
			return true;
	return false;
}

const struct rk_counter_target *rk_counter_table_target_find(const struct rk_counter_table *t,
							     const char *name)
{
	struct rk_piece base, features;

	rk_piece_split(rk_piece_trim(rk_piece_of(name)), ':', &base, &features);
	for (size_t i = 0; i < t->ntargets; i++)
		if (target_is(&t->targets[i], base))
			return &t->targets[i];
	return NULL;
}

unsigned rk_counter_table_limit(const struct rk_counter_table *t,
				const struct rk_counter_target *target, const char *block)
{
	const struct rk_counter_generation *g = &t->generations[target->generation];

	for (size_t i = 0; i < g->nblocks; i++)
		if (strcmp(g->blocks[i], block) == 0)
			return g->limits[i];
	return RK_BLOCK_LIMIT_UNKNOWN;
}

const struct rk_counter_entry *rk_counter_table_at(const struct rk_counter_table *t, size_t i)
{
	return i < t->nentries ? &t->entries[i] : NULL;
}

size_t rk_counter_table_size(const struct rk_counter_table *t)
{
	return t->nentries;
}

/* As strcmp(e's name, name). */
static int compare(const struct rk_counter_entry *e, struct rk_piece name)
{
	int order = strncmp(e->pub.name, name.s, name.len);

	return order ? order : e->pub.name[name.len] != '\0';
}

const struct rk_counter_entry *rk_counter_table_any(const struct rk_counter_table *t,
						    struct rk_piece name)
{
	size_t low = 0, high = t->nentries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&t->entries[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->nentries && compare(&t->entries[low], name) == 0 ? &t->entries[low] : NULL;
}

const struct rk_counter_entry *rk_counter_table_find(const struct rk_counter_table *t,
						     const struct rk_counter_target *target,
						     struct rk_piece name)
{
	const struct rk_counter_entry *e = rk_counter_table_any(t, name);
	const struct rk_counter_entry *end = t->entries + t->nentries;
	size_t bit = (size_t)(target - t->targets);

	for (; e && e < end && compare(e, name) == 0; e++)
		if (e->targets >> bit & 1)
			return e;
	return NULL;
}

const char *rk_counters_arch(size_t i)
{
	const struct rk_counter_table *t = rk_counter_table_get(NULL);
	const struct rk_counter_target *target = t ? rk_counter_table_target(t, i) : NULL;

	return target ? target->name : NULL;
}

const char *rk_counters_arch_find(const char *name)
{
	const struct rk_counter_table *t = rk_counter_table_get(NULL);
	const struct rk_counter_target *target = t && name ? rk_counter_table_target_find(t, name) :
							     NULL;

	return target ? target->name : NULL;
}

const struct rk_counter *rk_counters_at(const char *arch, size_t i)
{
	const struct rk_counter_table *t = rk_counter_table_get(NULL);
	const struct rk_counter_target *target = t && arch ? rk_counter_table_target_find(t, arch) :
							     NULL;

	return target && i < target->ncounters ? &t->entries[target->counters[i]].pub : NULL;
}

const struct rk_counter *rk_counters_find(const char *arch, const char *name)
{
	const struct rk_counter_table *t = rk_counter_table_get(NULL);
	const struct rk_counter_target *target = t && arch ? rk_counter_table_target_find(t, arch) :
							     NULL;
	const struct rk_counter_entry *e =
		target && name ? rk_counter_table_find(t, target, rk_piece_of(name)) : NULL;

	return e ? &e->pub : NULL;
}
