/*
 * tap_main.c - runs the registered tests: `rockit-unit [--shard I/N] [substring...]`.
 *
 * Shard I of N has every N-th test, from the I-th on (I from 1): neighbours in a file cost about the
 * same, so shards do, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { MAX_REPORTS = 20 }; /* failed checks printed per test; the rest are counted */

static struct tap_test *tests;
static const char *skip_reason;
static unsigned nfailed_checks;

/* Constructors run in the order of linking: kept sorted by file and line instead. */
static int before(const struct tap_test *a, const struct tap_test *b)
{
	int c = strcmp(a->file, b->file);

	return c ? c < 0 : a->line < b->line;
}

void tap_register(struct tap_test *t)
{
	struct tap_test **at = &tests;

	while (*at && before(*at, t))
		at = &(*at)->next;
	t->next = *at;
	*at = t;
}

static int failed(const char *file, int line)
{
	if (++nfailed_checks > MAX_REPORTS)
		return 0;
	printf("# %s:%d: ", file, line);
	return 1;
}

int tap_check(int ok, const char *file, int line, const char *what)
{
	if (!ok && failed(file, line))
		printf("not true: %s\n", what);
	return ok;
}

int tap_check_i64(int64_t got, int64_t want, const char *file, int line, const char *what)
{
	if (got != want && failed(file, line))
		printf("%s is %" PRId64 ", not %" PRId64 "\n", what, got, want);
	return got == want;
}

int tap_check_u64(uint64_t got, uint64_t want, const char *file, int line, const char *what)
{
	if (got != want && failed(file, line))
		printf("%s is %" PRIu64 ", not %" PRIu64 "\n", what, got, want);
	return got == want;
}

/* One line, whatever the text holds: a TAP reader takes each line for itself. */
static void print_text(const char *s)
{
	if (!s) {
		fputs("NULL", stdout);
		return;
	}
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('"');
}

int tap_check_str(const char *got, const char *want, const char *file, int line, const char *what)
{
	int ok = got && want ? strcmp(got, want) == 0 : got == want;

	if (!ok && failed(file, line)) {
		printf("%s is ", what);
		print_text(got);
		fputs(", not ", stdout);
		print_text(want);
		putchar('\n');
	}
	return ok;
}

int tap_check_mem(const void *got, const void *want, size_t len, const char *file, int line,
		  const char *what)
{
	const unsigned char *g = got, *w = want;
	size_t i = 0;

	if (len > 0 && (!g || !w))
		return tap_check(0, file, line, what);
	while (i < len && g[i] == w[i])
		i++;
	if (i < len && failed(file, line))
		printf("%s differs at byte %zu of %zu: %02x, not %02x\n", what, i, len, g[i], w[i]);
	return i == len;
}

void tap_skip(const char *reason)
{
	skip_reason = reason;
}

struct choice {
	unsigned shard, nshards; /* from 1 */
	char **words;            /* NULL at the end; none: all tests */
};

static int chosen(const struct tap_test *t, const struct choice *c, unsigned place)
{
	if (place % c->nshards != c->shard - 1)
		return 0;
	for (char **w = c->words; *w; w++)
		if (strstr(t->name, *w) || strstr(t->file, *w))
			return 1;
	return !*c->words;
}

static void print_sentence(const char *name)
{
	for (; *name; name++)
		putchar(*name == '_' ? ' ' : *name);
}

/* The line stands after the test's remarks. Flushed at once: a crash must not hide what ran. */
static int run_one(const struct tap_test *t, unsigned number)
{
	skip_reason = NULL;
	nfailed_checks = 0;
	t->run();
	if (nfailed_checks > MAX_REPORTS)
		printf("# and %u more\n", nfailed_checks - MAX_REPORTS);
	printf("%sok %u - ", nfailed_checks ? "not " : "", number);
	print_sentence(t->name);
	if (skip_reason && !nfailed_checks)
		printf(" # SKIP %s", skip_reason);
	putchar('\n');
	fflush(stdout);
	return nfailed_checks == 0;
}

int main(int argc, char **argv)
{
	struct choice choice = { .shard = 1, .nshards = 1, .words = argv + 1 };
	unsigned total = 0, number = 0, passed = 0, skipped = 0, place = 0;

	if (argc > 2 && strcmp(argv[1], "--shard") == 0) {
		if (sscanf(argv[2], "%u/%u", &choice.shard, &choice.nshards) != 2 ||
		    choice.shard < 1 || choice.shard > choice.nshards) {
			fprintf(stderr, "rockit-unit: --shard wants I/N, I from 1 to N\n");
			return 2;
		}
		choice.words += 2;
	}
	for (const struct tap_test *t = tests; t; t = t->next)
		total += (unsigned)chosen(t, &choice, place++);
	printf("TAP version 13\n1..%u\n", total);
	fflush(stdout);
	place = 0;
	for (const struct tap_test *t = tests; t; t = t->next) {
		if (!chosen(t, &choice, place++))
			continue;
		passed += (unsigned)run_one(t, ++number);
		skipped += skip_reason != NULL;
	}
	printf("# %u passed, %u failed", passed - skipped, total - passed);
	if (skipped)
		printf(", %u skipped", skipped);
	putchar('\n');
	return passed == total ? EXIT_SUCCESS : EXIT_FAILURE;
}
