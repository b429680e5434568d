/* nearest.c - the word that was meant. */
#include "base/words.h"

#include "tap.h"

static const char *const verbs[] = { "report", "convert", "run", NULL };

TEST(a_slip_finds_the_word)
{
	CHECK_STR(rk_nearest("reprot", verbs), "report");
	CHECK_STR(rk_nearest("convrt", verbs), "convert");
	CHECK_STR(rk_nearest("runn", verbs), "run");
}

TEST(a_word_far_from_all_finds_nothing)
{
	CHECK(rk_nearest("monitor", verbs) == NULL);
	CHECK(rk_nearest("", verbs) == NULL);
	CHECK(rk_nearest("x", verbs) == NULL);
}

TEST(words_are_apart_by_their_edits)
{
	char text[100];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i + 1 < sizeof(text) ? 'a' : '\0';
	CHECK_U64(rk_word_distance("SQ_WAVES", "SQ_WAVES", false), 0);
	CHECK_U64(rk_word_distance("SQ_WAVE", "SQ_WAVES", false), 1);
	CHECK_U64(rk_word_distance("SQ_WAEVS", "SQ_WAVES", false), 1);
	CHECK_U64(rk_word_distance("sq_waves", "SQ_WAVES", false), 7);
	CHECK_U64(rk_word_distance("sq_waves", "SQ_WAVES", true), 0);
	CHECK_U64(rk_word_distance("", "abc", true), 3);
	CHECK_U64(rk_word_distance(text, "abc", true), RK_WORD_MAX);
}
