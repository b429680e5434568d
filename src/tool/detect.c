/* detect.c - see detect.h. */
#include "tool/detect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tool/detect_impl.h"
#include "tool/tool.h"

enum { MAX_FOUND = 4096 };

/* In the order of the answer. The numbers past 3 are not made yet; their time will come. */
static const char *const names[] = {
	"rocprofv3",
	"rocprofv4",
	"rocprofv5",
	"rocprofv6",
	"rocprofv2",
	"rocprof",
	"rocprofv3-avail",
	"rocprofv3_avail",
	"rocprof-attach",
	"rocprofv3-attach",
	"rocprof-compute",
	"omniperf",
	"rocprof-sys-run",
	"rocprof-sys-sample",
	"rocprof-sys-instrument",
	"rocprof-sys-avail",
	"rocprof-sys-causal",
	"rocprof-sys-attach",
	"omnitrace",
	"omnitrace-run",
	"omnitrace-sample",
	"omnitrace-instrument",
	"omnitrace-avail",
	"omnitrace-causal",
	"rocm-smi",
	"amd-smi",
	"nsys",
	"ncu",
};

enum { NNAMES = sizeof(names) / sizeof(names[0]) };

/* While they are collected: the real path keeps one that has several names in PATH from counting
 * twice. */
struct hit {
	unsigned name;
	char *real;
	struct rk_tool_found found;
};

struct hits {
	struct hit *v;
	size_t n, cap;
};

static void free_found(struct rk_tool_found *f)
{
	rk_free((char *)f->path);
	rk_free((char *)f->version);
	rk_free((char *)f->rocm);
	rk_free((char *)f->place);
	rk_free((char *)f->options);
}

static bool seen(const struct hits *h, unsigned name, const char *real)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].name == name && !strcmp(h->v[i].real, real))
			return true;
	return false;
}

static bool grow(struct hits *h)
{
	size_t cap = h->cap ? h->cap * 2 : 32;
	struct hit *v;

	if (h->n < h->cap)
		return true;
	v = cap > MAX_FOUND ? NULL : rk_reallocn(h->v, cap, sizeof(*v));
	if (!v)
		return false;
	h->v = v;
	h->cap = cap;
	return true;
}

static bool fill(struct rk_tool_found *f, const char *path, const char *place,
		 const struct rk_found_version *v)
{
	char options[RK_OPTIONS_TEXT];

	rk_options_of(f->name, v->rocm, options);
	f->path = rk_strdup(path);
	f->version = rk_strdup(v->own);
	f->rocm = rk_strdup(v->rocm);
	f->place = rk_strdup(place);
	f->options = rk_strdup(options);
	f->usable = access(path, X_OK) == 0;
	return f->path && f->version && f->rocm && f->place && f->options;
}

/* The program `name` in `dir`, if it is there and new; false when memory ran out. */
static bool look(struct hits *h, unsigned name, const char *dir, const char *place)
{
	struct hit hit = { .name = name, .found = { .name = names[name] } };
	struct rk_found_version version;
	char path[PATH_MAX], real[PATH_MAX];
	struct stat st;

	if (!rk_path_put(path, "%s/%s", dir, names[name]) || stat(path, &st) ||
	    !S_ISREG(st.st_mode) || !realpath(path, real) || seen(h, name, real))
		return true;
	rk_version_beside(names[name], dir, real, &version);
	hit.real = rk_strdup(real);
	if (hit.real && !version.bad && fill(&hit.found, path, place, &version) && grow(h)) {
		h->v[h->n++] = hit;
		return true;
	}
	rk_free(hit.real);
	free_found(&hit.found);
	return false;
}

static void release_hits(struct hits *h)
{
	for (size_t i = 0; i < h->n; i++) {
		rk_free(h->v[i].real);
		free_found(&h->v[i].found);
	}
	rk_free(h->v);
}

/* Moves what was found to *ret, by name; of one name the order of the places stays. */
static bool hand_over(struct hits *h, struct rk_tools_found *ret)
{
	struct rk_tool_found *v = rk_calloc(h->n ? h->n : 1, sizeof(*v));
	size_t n = 0;

	if (!v)
		return false;
	for (unsigned name = 0; name < NNAMES; name++) {
		bool first = true;

		for (size_t i = 0; i < h->n; i++) {
			if (h->v[i].name != name)
				continue;
			v[n] = h->v[i].found;
			h->v[i].found = (struct rk_tool_found){ 0 };
			v[n].first = first && v[n].usable;
			first = first && !v[n].first;
			n++;
		}
	}
	*ret = (struct rk_tools_found){ v, n };
	return true;
}

int rk_detect(const struct rk_detect_options *opt, struct rk_tools_found *ret, struct rk_error *err)
{
	const char *path = opt && opt->path ? opt->path : getenv("PATH");
	struct rk_places places = { 0 };
	struct hits hits = { 0 };
	bool ok;

	rk_places_find(&places, opt && opt->root ? opt->root : "", path ? path : "");
	ok = !places.dirs.bad && !places.labels.bad;
	for (size_t d = 0; ok && d < places.dirs.n; d++)
		for (unsigned name = 0; ok && name < NNAMES; name++)
			ok = look(&hits, name, places.dirs.v[d], places.labels.v[d]);
	ok = ok && hand_over(&hits, ret);
	release_hits(&hits);
	rk_places_release(&places);
	return ok ? 0 : rk_fail_nomem(err);
}

void rk_tools_release(struct rk_tools_found *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free_found(&t->tools[i]);
	rk_free(t->tools);
	*t = (struct rk_tools_found){ 0 };
}

const struct rk_tool_found *rk_detect_best(const struct rk_tools_found *found, const char *tool)
{
	const struct rk_tool_ops *ops = rk_tool_find(tool);

	for (const char *const *p = ops ? ops->programs : NULL; p && *p; p++)
		for (size_t i = 0; i < found->n; i++)
			if (found->tools[i].first && !strcmp(found->tools[i].name, *p))
				return &found->tools[i];
	return NULL;
}
