/* artifacts_link.c - where links of an install tree lead, without asking the file system. */
#include <string.h>

#include "pack/artifacts_impl.h"

enum { HOPS_MAX = 40 }; /* as the kernel has it */

const char rk_link_dangles[] = "dangles";
const char rk_link_absolute[] = "absolute";
const char rk_link_leaves[] = "leaves the tree";
const char rk_link_circle[] = "runs in a circle";

static const struct rk_entry root = { .path = "", .kind = RK_ENTRY_DIR, .mode = 0755 };

struct follower {
	rk_entry_find_fn *find;
	const void *tree;
	char path[RK_ARTIFACT_PATH_MAX]; /* where we are: always a folder while names follow */
	size_t len;
	unsigned hops;
	const struct rk_entry *at;
	const char *why;
};

static bool give_up(struct follower *f, const char *why)
{
	f->why = why;
	return false;
}

static void up(struct follower *f)
{
	while (f->len && f->path[f->len - 1] != '/')
		f->len--;
	f->len -= f->len > 0; /* the slash */
	f->path[f->len] = '\0';
	f->at = f->len ? f->find(f->tree, f->path) : &root;
}

static bool follow(struct follower *f, const char *text);

/* One name of a link's text: there, or on to where a link leads. */
static bool step(struct follower *f, const char *name, size_t n)
{
	size_t old = f->len;

	if (!f->at || f->at->kind != RK_ENTRY_DIR || f->len + n + 2 > sizeof(f->path))
		return give_up(f, rk_link_dangles);
	if (f->len)
		f->path[f->len++] = '/';
	memcpy(f->path + f->len, name, n);
	f->len += n;
	f->path[f->len] = '\0';
	f->at = f->find(f->tree, f->path);
	if (!f->at)
		return give_up(f, rk_link_dangles);
	if (f->at->kind != RK_ENTRY_LINK)
		return true;
	if (++f->hops > HOPS_MAX)
		return give_up(f, rk_link_circle);
	f->len = old;
	f->path[old] = '\0';
	return follow(f, f->at->link);
}

/* f->path is the folder the text starts from. Hops are few in all, so is the recursion. */
static bool follow(struct follower *f, const char *text)
{
	size_t n;

	if (text[0] == '/')
		return give_up(f, rk_link_absolute);
	f->at = f->len ? f->find(f->tree, f->path) : &root;
	for (; *text; text += n + (text[n] == '/')) {
		n = strcspn(text, "/");
		if (n == 0 || (n == 1 && text[0] == '.'))
			continue;
		if (n != 2 || memcmp(text, "..", 2) != 0) {
			if (!step(f, text, n))
				return false;
			continue;
		}
		if (!f->at || f->at->kind != RK_ENTRY_DIR)
			return give_up(f, rk_link_dangles);
		if (!f->len)
			return give_up(f, rk_link_leaves);
		up(f);
	}
	return f->at ? true : give_up(f, rk_link_dangles);
}

const struct rk_entry *rk_entry_resolve(rk_entry_find_fn *find, const void *tree,
					const struct rk_entry *link, const char **ret_why)
{
	struct follower f = { .find = find, .tree = tree };
	const char *slash = strrchr(link->path, '/');
	size_t len = slash ? (size_t)(slash - link->path) : 0;

	*ret_why = rk_link_dangles;
	if (len >= sizeof(f.path))
		return NULL;
	memcpy(f.path, link->path, len);
	f.len = len;
	if (!follow(&f, link->link)) {
		*ret_why = f.why;
		return NULL;
	}
	return f.at;
}

/* A stage of one artifact: its entries are sorted. */
struct stage_of {
	const struct rk_artifact *artifact;
	uint32_t stage;
};

static const struct rk_entry *find_in_stage(const void *tree, const char *path)
{
	const struct stage_of *s = tree;
	size_t low = 0, high = s->artifact->nentries;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct rk_entry *e = &s->artifact->entries[mid];
		int order = e->stage != s->stage ? (e->stage < s->stage ? -1 : 1) :
						   strcmp(e->path, path);

		if (order == 0)
			return e;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct rk_entry *rk_artifacts_resolve(const struct rk_artifacts *a,
					    const struct rk_entry *link, const char **ret_why)
{
	struct stage_of s = { .artifact = link->artifact, .stage = link->stage };

	(void)a;
	return rk_entry_resolve(find_in_stage, &s, link, ret_why);
}

/* By its text alone: does it climb over the root of the tree? */
static bool climbs_out(const char *path, const char *text)
{
	size_t depth = 0, n;

	for (; *path; path++)
		depth += *path == '/';
	for (; *text; text += n + (text[n] == '/')) {
		n = strcspn(text, "/");
		if (n == 0 || (n == 1 && text[0] == '.'))
			continue;
		if (n != 2 || memcmp(text, "..", 2) != 0)
			depth++;
		else if (depth-- == 0)
			return true;
	}
	return false;
}

int rk_artifact_link(struct artifact_reader *r, struct rk_entry *e, const char *text,
		     struct rk_error *err)
{
	const char *label = r->artifact->label;

	if (strlen(text) >= RK_ARTIFACT_PATH_MAX)
		return rk_fail(err, RK_E_LIMIT, "the link '%s' in '%s' is too long", e->path,
			       label);
	e->kind = RK_ENTRY_LINK;
	e->mode = 0777;
	e->link = rk_arena_text(r->arena, text, strlen(text));
	if (!e->link)
		return rk_fail_nomem(err);
	if (text[0] == '/') {
		e->fault = RK_LINK_ABSOLUTE;
		rk_diag_add(r->diag, "absolute-link", label, 0, 1,
			    "'%s' leads to the absolute path '%s': left out", e->path, text);
	} else if (climbs_out(e->path, text)) {
		e->fault = RK_LINK_ESCAPES;
		rk_diag_add(r->diag, "escaping-link", label, 0, 1,
			    "'%s' leads out of the tree by '%s': left out", e->path, text);
	}
	return 0;
}
