/*
 * tap.h - unit tests in TAP 13, one line per test.
 *
 *	TEST(short_row_names_its_line)
 *	{
 *		CHECK_U64(err.line, 2);
 *	}
 *
 * A test registers itself; its name is printed as a sentence. A failed check is reported and the
 * test goes on, so owners are still freed. SKIP leaves the test at once.
 */
#ifndef RK_TAP_H
#define RK_TAP_H

#include <stddef.h>
#include <stdint.h>

struct tap_test {
	const char *name, *file;
	int line;
	void (*run)(void);
	struct tap_test *next;
};

void tap_register(struct tap_test *t);

/* Each returns whether the check held; a failure is kept until the test's line is printed. */
int tap_check(int ok, const char *file, int line, const char *what);
int tap_check_i64(int64_t got, int64_t want, const char *file, int line, const char *what);
int tap_check_u64(uint64_t got, uint64_t want, const char *file, int line, const char *what);
/* NULL equals only NULL. */
int tap_check_str(const char *got, const char *want, const char *file, int line, const char *what);
int tap_check_mem(const void *got, const void *want, size_t len, const char *file, int line,
		  const char *what);
void tap_skip(const char *reason);

#define TEST(id)                                                                                \
	static void tap_run_##id(void);                                                         \
	static struct tap_test tap_test_##id = { #id, __FILE__, __LINE__, tap_run_##id, NULL }; \
	__attribute__((constructor)) static void tap_register_##id(void)                        \
	{                                                                                       \
		tap_register(&tap_test_##id);                                                   \
	}                                                                                       \
	static void tap_run_##id(void)

#define CHECK(cond) tap_check((cond) ? 1 : 0, __FILE__, __LINE__, #cond)
#define CHECK_I64(got, want) tap_check_i64((got), (want), __FILE__, __LINE__, #got)
#define CHECK_U64(got, want) tap_check_u64((got), (want), __FILE__, __LINE__, #got)
#define CHECK_STR(got, want) tap_check_str((got), (want), __FILE__, __LINE__, #got)
#define CHECK_MEM(got, want, len) tap_check_mem((got), (want), (len), __FILE__, __LINE__, #got)

/* Counts the test as skipped, with the reason on its line. */
#define SKIP(reason)              \
	do {                      \
		tap_skip(reason); \
		return;           \
	} while (0)

#endif
