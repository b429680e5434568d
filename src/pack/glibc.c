/* glibc.c - see glibc.h. */
#include "pack/glibc.h"

#include <elf.h>
#include <string.h>

const char *rk_machine_word(uint16_t machine)
{
	return machine == EM_X86_64 ? "x86_64" : machine == EM_AARCH64 ? "aarch64" : NULL;
}

/* Digits as far as they go; false when there are none. */
static bool digits(const char **at, unsigned *ret)
{
	const char *s = *at;

	for (*ret = 0; *s >= '0' && *s <= '9' && *ret < 100000; s++)
		*ret = 10 * *ret + (unsigned)(*s - '0');
	if (s == *at)
		return false;
	*at = s;
	return true;
}

/* "2.34", "2_34": two numbers and the byte between them. */
static bool two_numbers(const char **at, char between, struct rk_glibc *ret)
{
	if (!digits(at, &ret->major) || **at != between)
		return false;
	++*at;
	return digits(at, &ret->minor);
}

bool rk_glibc_of(const char *version, struct rk_glibc *ret)
{
	const char *at;

	/* packed relocations: no number, and known to glibc from here on */
	if (!strcmp(version, "GLIBC_ABI_DT_RELR")) {
		*ret = (struct rk_glibc){ 2, 36 };
		return true;
	}
	if (strncmp(version, "GLIBC_", 6))
		return false;
	at = version + 6;
	return two_numbers(&at, '.', ret);
}

bool rk_glibc_newer(struct rk_glibc a, struct rk_glibc b)
{
	return a.major != b.major ? a.major > b.major : a.minor > b.minor;
}

/* What a tag promises; the old names are words for it. */
bool rk_glibc_promised(const char *tag, struct rk_glibc *ret)
{
	static const struct {
		const char *word;
		struct rk_glibc floor;
	} old[] = { { "manylinux1_", { 2, 5 } },
		    { "manylinux2010_", { 2, 12 } },
		    { "manylinux2014_", { 2, 17 } } };

	for (unsigned i = 0; i < sizeof(old) / sizeof(*old); i++)
		if (!strncmp(tag, old[i].word, strlen(old[i].word))) {
			*ret = old[i].floor;
			return true;
		}
	if (strncmp(tag, "manylinux_", 10))
		return false;
	tag += 10;
	return two_numbers(&tag, '_', ret) && *tag == '_';
}
