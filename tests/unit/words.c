/* words.c (tests) - lists of known words. */
#include "base/words.h"

#include <string.h>

#include "base/alloc.h"
#include "tap.h"

static const char *const names[] = { "red", "green", "blue", "all", NULL };
static const struct rk_word_hint hints[] = { { "rot", "that is German" }, { NULL, NULL } };
static const struct rk_words colours = { "colour", names, 3, hints };

static const char *refused(const char *text)
{
	static struct rk_error err;
	unsigned bits = 77;

	err = (struct rk_error){ 0 };
	CHECK_I64(rk_words_parse(&colours, text, &bits, &err), RK_E_USAGE);
	CHECK_U64(bits, 77);
	return err.message;
}

TEST(words_become_bits)
{
	unsigned bits = 0;

	CHECK_I64(rk_words_parse(&colours, "blue, red,,", &bits, NULL), 0);
	CHECK_U64(bits, 5);
	CHECK_I64(rk_words_parse(&colours, "all", &bits, NULL), 0);
	CHECK_U64(bits, 7);
	CHECK_STR(rk_words_at(&colours, 2), "blue");
	CHECK(!rk_words_at(&colours, 3));
}

TEST(an_unknown_word_is_named_with_the_nearest_or_all)
{
	CHECK_STR(refused("red,gren"), "unknown colour 'gren'; did you mean 'green'?");
	CHECK_STR(refused("yellow"), "unknown colour 'yellow'; known: red, green, blue, all");
	CHECK_STR(refused("rot"), "unknown colour 'rot'; that is German");
	CHECK_STR(refused(" ,"), "no colour is named; known: red, green, blue, all");
}

TEST(words_need_memory)
{
	struct rk_error err = { 0 };
	unsigned bits = 0;

	rk_alloc_fail_after(1);
	CHECK_I64(rk_words_parse(&colours, "red", &bits, &err), RK_E_NOMEM);
	rk_alloc_fail_after(0);
}
