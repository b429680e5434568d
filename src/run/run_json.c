/* run_json.c - see run_json.h. */
#include "run/run_json.h"

#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sha256/sha256.h"
#include "base/text.h"
#include "io/file.h"

enum { TEXT_MAX = 255, WARNING_MAX = 1000, RANKS_MAX = 8192 };

/* A key at the root has itself as its parent. */
static const struct {
	const char *name;
	enum rk_run_key in;
} keys[] = {
	[RK_RUN_ROCKIT] = { "rockit", RK_RUN_ROCKIT },
	[RK_RUN_STATE] = { "state", RK_RUN_STATE },
	[RK_RUN_COMMAND] = { "command", RK_RUN_COMMAND },
	[RK_RUN_EXIT_STATUS] = { "exit_status", RK_RUN_EXIT_STATUS },
	[RK_RUN_TOOL] = { "tool", RK_RUN_TOOL },
	[RK_RUN_TOOL_NAME] = { "name", RK_RUN_TOOL },
	[RK_RUN_TOOL_VERSION] = { "version", RK_RUN_TOOL },
	[RK_RUN_PRESET] = { "preset", RK_RUN_PRESET },
	[RK_RUN_ARCH] = { "arch", RK_RUN_ARCH },
	[RK_RUN_HOST] = { "host", RK_RUN_HOST },
	[RK_RUN_NODE] = { "node", RK_RUN_NODE },
	[RK_RUN_BOOT] = { "boot_id", RK_RUN_BOOT },
	[RK_RUN_RANK] = { "rank", RK_RUN_RANK },
	[RK_RUN_SCRATCH] = { "scratch", RK_RUN_SCRATCH },
	[RK_RUN_RANKS] = { "ranks", RK_RUN_RANKS },
	[RK_RUN_JOB] = { "job", RK_RUN_JOB },
	[RK_RUN_STEP] = { "step", RK_RUN_STEP },
	[RK_RUN_LOCAL_RANK] = { "local_rank", RK_RUN_LOCAL_RANK },
	[RK_RUN_SIZE] = { "size", RK_RUN_SIZE },
	[RK_RUN_GPUS] = { "gpus", RK_RUN_GPUS },
	[RK_RUN_START_TIME] = { "start_time", RK_RUN_START_TIME },
	[RK_RUN_END_TIME] = { "end_time", RK_RUN_END_TIME },
	[RK_RUN_CLOCKS] = { "clocks", RK_RUN_CLOCKS },
	[RK_RUN_CLOCKS_START] = { "start", RK_RUN_CLOCKS },
	[RK_RUN_CLOCKS_END] = { "end", RK_RUN_CLOCKS },
	[RK_RUN_PASSES] = { "passes", RK_RUN_PASSES },
	[RK_RUN_BASELINE] = { "baseline", RK_RUN_BASELINE },
	[RK_RUN_LEDGER] = { "ledger", RK_RUN_LEDGER },
	[RK_RUN_DELIVERED] = { "delivered", RK_RUN_LEDGER },
	[RK_RUN_DELIVERED_TABLES] = { "tables", RK_RUN_DELIVERED },
	[RK_RUN_DELIVERED_KERNELS] = { "kernels", RK_RUN_DELIVERED_TABLES },
	[RK_RUN_DROPPED] = { "dropped", RK_RUN_LEDGER },
	[RK_RUN_DROPPED_MOVE] = { "move", RK_RUN_DROPPED },
	[RK_RUN_REPAIRED] = { "repaired", RK_RUN_LEDGER },
	[RK_RUN_REPAIRED_ROWS] = { "rows", RK_RUN_REPAIRED },
	[RK_RUN_REPAIRED_MISMATCHES] = { "pass-mismatch", RK_RUN_REPAIRED_ROWS },
	[RK_RUN_REPAIRED_BY_ORDER] = { "joined_by_order", RK_RUN_REPAIRED_ROWS },
	[RK_RUN_CLOCK_ERROR] = { "clock_error_ns", RK_RUN_LEDGER },
	[RK_RUN_NOTES] = { "notes", RK_RUN_NOTES },
	[RK_RUN_HAZARDS] = { "hazards", RK_RUN_HAZARDS },
	[RK_RUN_WARNINGS] = { "warnings", RK_RUN_WARNINGS },
	[RK_RUN_FUSED] = { "fused", RK_RUN_FUSED },
	[RK_RUN_BOOTTIME] = { "boottime_ns", RK_RUN_BOOTTIME },
	[RK_RUN_REALTIME] = { "realtime_ns", RK_RUN_REALTIME },
	[RK_RUN_READ_ERROR] = { "error_ns", RK_RUN_READ_ERROR },
	[RK_RUN_REALTIME_ERROR] = { "realtime_error_ns", RK_RUN_REALTIME_ERROR },
	[RK_RUN_PASS_WHAT] = { "what", RK_RUN_PASS_WHAT },
	[RK_RUN_PASS_COUNTERS] = { "counters", RK_RUN_PASS_COUNTERS },
	[RK_RUN_PASS_RAN] = { "ran", RK_RUN_PASS_RAN },
	[RK_RUN_PASS_STATUS] = { "status", RK_RUN_PASS_STATUS },
	[RK_RUN_PASS_SIGNAL] = { "signal", RK_RUN_PASS_SIGNAL },
	[RK_RUN_PASS_TIMED_OUT] = { "timed_out", RK_RUN_PASS_TIMED_OUT },
	[RK_RUN_PASS_SECONDS] = { "seconds", RK_RUN_PASS_SECONDS },
	[RK_RUN_PASS_FILES] = { "files", RK_RUN_PASS_FILES },
	[RK_RUN_PASS_BYTES] = { "bytes", RK_RUN_PASS_BYTES },
	[RK_RUN_PASS_MAX_RSS] = { "max_rss_bytes", RK_RUN_PASS_MAX_RSS },
};

const char *rk_run_key(enum rk_run_key k)
{
	return keys[k].name;
}

const struct rk_tree *rk_run_json_at(const struct rk_tree *root, enum rk_run_key k)
{
	return rk_tree_get(keys[k].in == k ? root : rk_run_json_at(root, keys[k].in), keys[k].name);
}

bool rk_run_json_recorded(const struct rk_tree *root)
{
	return rk_run_json_at(root, RK_RUN_LEDGER) != NULL;
}

int rk_run_json_load(const char *path, struct rk_tree **ret, struct rk_error *err)
{
	return rk_tree_load_found(path, ret, err);
}

/* ---- editing ---- */

/*
 * Finds a member of the outermost object: from the quote of its key to the comma or brace after it.
 * If it is missing, both are the closing brace. The text was parsed before, so counting brackets
 * outside of strings is enough. False if there is no closing brace.
 */
static bool find_member(const char *text, size_t len, const char *key, size_t *ret_start,
			size_t *ret_end)
{
	size_t nkey = strlen(key), depth = 0, start = 0;
	bool in_text = false, found = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_text) {
			i += c == '\\';
			in_text = c != '"';
			continue;
		}
		if (c == '"') {
			in_text = true;
			if (depth == 1 && !start) {
				start = i;
				found = len - i > nkey + 1 && !memcmp(text + i + 1, key, nkey) &&
					text[i + 1 + nkey] == '"';
			}
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (depth == 1 && (c == ',' || c == '}')) {
			if (found || c == '}') {
				*ret_start = found ? start : i;
				*ret_end = i;
				return true;
			}
			start = 0;
		} else if (depth && (c == '}' || c == ']')) {
			depth--;
		}
	}
	return false;
}

static size_t trimmed(const char *text, size_t len)
{
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\n' || text[len - 1] == ','))
		len--;
	return len;
}

int rk_run_json_without(const char *path, enum rk_run_key k, struct rk_bytes *ret,
			struct rk_error *err)
{
	struct rk_tree *tree = NULL;
	struct rk_file *f = NULL;
	size_t len = 0, start, end, last;
	char *text = rk_alloc(RK_TREE_BYTES_MAX);

	if (!text)
		return rk_fail_nomem(err);
	if (rk_run_json_load(path, &tree, NULL) < 0 || tree->kind != RK_TREE_OBJECT ||
	    !rk_run_json_at(tree, RK_RUN_COMMAND) || rk_file_open(path, &f, NULL) < 0 ||
	    rk_file_read(f, text, RK_TREE_BYTES_MAX, &len, NULL) < 0 ||
	    !find_member(text, len, rk_run_key(k), &start, &end))
		goto out;
	start = trimmed(text, start);
	rk_bytes_put(ret, text, start);
	for (last = len; last > end && text[last - 1] != '}'; last--)
		;
	if (last > end + 1) { /* there are members after it, starting with their comma */
		if (start && text[start - 1] == '{')
			end++;
		rk_bytes_put(ret, text + end, trimmed(text + end, last - 1 - end));
	}
out:
	rk_file_close(f);
	rk_tree_free(tree);
	rk_free(text);
	return 0;
}

/* ---- the record ---- */

static const enum rk_run_key texts[RK_REC_NTEXTS] = {
	[RK_REC_NODE] = RK_RUN_NODE,        [RK_REC_BOOT] = RK_RUN_BOOT,
	[RK_REC_JOB] = RK_RUN_JOB,          [RK_REC_STEP] = RK_RUN_STEP,
	[RK_REC_RANKS] = RK_RUN_RANKS,      [RK_REC_STATE] = RK_RUN_STATE,
	[RK_REC_TOOL] = RK_RUN_TOOL_NAME,   [RK_REC_TOOL_VERSION] = RK_RUN_TOOL_VERSION,
	[RK_REC_ROCKIT] = RK_RUN_ROCKIT,    [RK_REC_SCRATCH] = RK_RUN_SCRATCH,
	[RK_REC_WARNING] = RK_RUN_WARNINGS,
};

/* Truncates at a character boundary and replaces control characters. */
static char *plain(const char *text, size_t most)
{
	size_t len = strlen(text);
	char *ret;

	len = rk_utf8_valid(text, len > most ? most : len);
	ret = rk_strndup(text, len);
	for (size_t i = 0; ret && i < len; i++)
		if ((unsigned char)ret[i] < ' ' || ret[i] == 0x7f)
			ret[i] = '?';
	return ret;
}

static int read_texts(const struct rk_tree *root, struct rk_run_record *r, struct rk_error *err)
{
	char *comma;

	for (unsigned i = 0; i < RK_REC_NTEXTS; i++) {
		const struct rk_tree *t = rk_run_json_at(root, texts[i]);
		const char *text = "";
		size_t most = TEXT_MAX;

		if (i == RK_REC_RANKS)
			most = RANKS_MAX;
		if (i == RK_REC_WARNING) {
			most = WARNING_MAX;
			t = t ? t->first : NULL;
		}
		/* ignore names hidden by `run --redact`: all nodes would look the same */
		if (t && (t->kind == RK_TREE_TEXT || t->kind == RK_TREE_NUMBER) &&
		    strcmp(t->text, "[host]") != 0)
			text = t->text;
		r->text[i] = plain(text, most);
		if (!r->text[i])
			return rk_fail_nomem(err);
	}
	/* truncate at a comma: half a number would be a different rank */
	comma = strrchr(r->text[RK_REC_RANKS], ',');
	if (comma && strlen(r->text[RK_REC_RANKS]) == RANKS_MAX)
		*comma = '\0';
	return 0;
}

static int64_t number_at(const struct rk_tree *root, enum rk_run_key k, int64_t most)
{
	const struct rk_tree *t = rk_run_json_at(root, k);
	int64_t v;

	if (!t || t->kind != RK_TREE_NUMBER || !rk_tree_int(t, &v) || v < 0 || v > most)
		return -1;
	return v;
}

/*
 * Only valid if both clocks are present. The error of the wall clock against UTC is known only if
 * it was queried; the error of reading both clocks together is added.
 */
static void read_snapshot(const struct rk_tree *t, struct rk_run_record *r)
{
	struct rk_align_snapshot s = {
		.clock_ns = number_at(t, RK_RUN_BOOTTIME, INT64_MAX / 2),
		.real_ns = number_at(t, RK_RUN_REALTIME, INT64_MAX / 2),
	};
	int64_t read_ns = number_at(t, RK_RUN_READ_ERROR, INT64_MAX / 4);
	int64_t wall_ns = number_at(t, RK_RUN_REALTIME_ERROR, INT64_MAX / 4);

	if (s.clock_ns < 0 || s.real_ns <= 0)
		return;
	s.error_ns = read_ns >= 0 && wall_ns >= 0 ? read_ns + wall_ns : -1;
	r->snapshots[r->nsnapshots++] = s;
}

static int read_gpus(const struct rk_tree *root, struct rk_run_record *r, struct rk_error *err)
{
	const struct rk_tree *list = rk_run_json_at(root, RK_RUN_GPUS);

	r->ngpus = 0;
	if (!list || list->kind != RK_TREE_ARRAY)
		return 0;
	if (!r->gpus)
		r->gpus = rk_calloc(RK_RECORD_GPUS, sizeof(*r->gpus));
	if (!r->gpus)
		return rk_fail_nomem(err);
	RK_TREE_EACH(g, list)
	{
		struct rk_record_gpu *to = &r->gpus[r->ngpus];
		const char *pci = rk_tree_text(rk_tree_get(g, "pci"), "");

		if (r->ngpus == RK_RECORD_GPUS)
			break;
		if (!rk_tree_int(rk_tree_get(g, "index"), &to->index) || !pci[0] ||
		    strlen(pci) >= sizeof(to->pci))
			continue;
		memcpy(to->pci, pci, strlen(pci) + 1);
		r->ngpus++;
	}
	return 0;
}

/* `rc`, `why` and `t` are the result of parsing; takes ownership of `t`. */
static int read_record(int rc, const struct rk_error *why, struct rk_tree *t,
		       struct rk_run_record *ret, struct rk_error *err)
{
	const struct rk_tree *root = NULL;
	const char *fault = NULL;

	if (rc < 0)
		fault = why->message;
	else if (t->kind != RK_TREE_OBJECT)
		fault = "not a JSON object";
	else if (rk_run_json_at(t, RK_RUN_ROCKIT) || rk_run_json_recorded(t) ||
		 rk_run_json_at(t, RK_RUN_RANK))
		root = t;
	ret->ours = root != NULL;
	ret->fault = fault ? plain(fault, TEXT_MAX) : NULL;

	ret->rank = number_at(root, RK_RUN_RANK, INT32_MAX);
	ret->local_rank = number_at(root, RK_RUN_LOCAL_RANK, INT32_MAX);
	ret->size = number_at(root, RK_RUN_SIZE, INT32_MAX);
	ret->status = number_at(root, RK_RUN_EXIT_STATUS, INT32_MAX);
	ret->kernels = number_at(root, RK_RUN_DELIVERED_KERNELS, INT64_MAX);
	ret->mismatches = number_at(root, RK_RUN_REPAIRED_MISMATCHES, INT64_MAX);
	ret->by_order = number_at(root, RK_RUN_REPAIRED_BY_ORDER, INT64_MAX);
	ret->clock_error_ns = number_at(root, RK_RUN_CLOCK_ERROR, INT64_MAX / 4);
	ret->nsnapshots = 0;
	read_snapshot(rk_run_json_at(root, RK_RUN_CLOCKS_START), ret);
	read_snapshot(rk_run_json_at(root, RK_RUN_CLOCKS_END), ret);

	if (rc == RK_E_NOMEM || (fault && !ret->fault))
		rc = rk_fail_nomem(err);
	else if ((rc = read_texts(root, ret, err)) == 0)
		rc = read_gpus(root, ret, err);
	rk_tree_free(t);
	return rc;
}

int rk_record_parse(const char *text, size_t len, struct rk_run_record *ret, struct rk_error *err)
{
	struct rk_error why = { 0 };
	struct rk_tree *t = NULL;
	int rc = rk_tree_parse_json(text, len, RK_RUN_JSON, &t, &why);

	return read_record(rc, &why, t, ret, err);
}

int rk_record_load(const char *path, struct rk_run_record *ret, struct rk_error *err)
{
	struct rk_error why = { 0 };
	struct rk_tree *t = NULL;
	int rc = rk_run_json_load(path, &t, &why);

	return read_record(rc, &why, t, ret, err);
}

void rk_record_clear(struct rk_run_record *r)
{
	for (unsigned i = 0; i < RK_REC_NTEXTS; i++)
		rk_free(r->text[i]);
	rk_free(r->dir);
	rk_free(r->fault);
	rk_free(r->gpus);
	*r = (struct rk_run_record){ .dir = NULL };
}

/* ---- for writers ---- */

/* The best of some tries: boot time, wall clock, boot time; the wall clock is in the middle. */
struct rk_clock_pair rk_clock_pair_read(void)
{
	struct rk_clock_pair best = { .error_ns = INT64_MAX };
	struct timex t = { .modes = 0 };

	for (int i = 0; i < 8; i++) {
		int64_t before = rk_clock_ns(CLOCK_BOOTTIME), wall = rk_clock_ns(CLOCK_REALTIME),
			after = rk_clock_ns(CLOCK_BOOTTIME), half = (after - before + 1) / 2;

		if (half < best.error_ns)
			best = (struct rk_clock_pair){ before + half, wall, half, -1 };
	}
	/* the kernel lets the bound grow while nobody corrects the clock, so it is always valid */
	if (adjtimex(&t) >= 0 && !(t.status & STA_UNSYNC) && t.maxerror >= 0)
		best.realtime_error_ns = (int64_t)t.maxerror * 1000;
	return best;
}

void rk_run_put_time(struct rk_json_out *j, const char *key, const struct rk_clock_pair *c)
{
	char text[64] = "", whole[96];
	time_t seconds = (time_t)(c->realtime_ns / 1000000000);
	struct tm tm;

	if (c->realtime_ns && gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(whole, sizeof(whole), "%s.%06dZ", text, (int)(c->realtime_ns % 1000000000 / 1000));
	rk_json_text(j, key, text[0] ? whole : NULL);
}

void rk_run_put_clock(struct rk_json_out *j, const char *key, const struct rk_clock_pair *c)
{
	if (!c->realtime_ns) {
		rk_json_null(j, key);
		return;
	}
	rk_json_object_flat(j, key);
	rk_json_int(j, rk_run_key(RK_RUN_BOOTTIME), c->boottime_ns);
	rk_json_int(j, rk_run_key(RK_RUN_REALTIME), c->realtime_ns);
	rk_json_int(j, rk_run_key(RK_RUN_READ_ERROR), c->error_ns);
	if (c->realtime_error_ns >= 0)
		rk_json_int(j, rk_run_key(RK_RUN_REALTIME_ERROR), c->realtime_error_ns);
	else
		rk_json_null(j, rk_run_key(RK_RUN_REALTIME_ERROR));
	rk_json_close(j);
}

/*
 * Identifies the boot of a machine, so that ranks with the same clock are recognised whatever their
 * nodes are called. A digest, because the kernel's boot id is private.
 */
void rk_run_put_boot(struct rk_json_out *j)
{
	uint8_t digest[RK_SHA256_BYTES];
	struct rk_file *f = NULL;
	char id[64], text[17];
	size_t len = 0;

	if (rk_file_open("/proc/sys/kernel/random/boot_id", &f, NULL) == 0 &&
	    rk_file_read(f, id, sizeof(id), &len, NULL) == 0 && len) {
		rk_sha256(id, len, digest);
		for (unsigned i = 0; i < 8; i++)
			snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
		rk_json_text(j, rk_run_key(RK_RUN_BOOT), text);
	}
	rk_file_close(f);
}
