/* run_json.c - editing the record of a run. */
#include "run/run_json.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "world.h"

/* What is left of `text` without "fused", as text; "" when it is not a run's. */
static const char *without(struct world *w, const char *text)
{
	static char left[256];
	struct rk_bytes b;

	world_text(w, RK_RUN_JSON, text);
	snprintf(w->path, sizeof(w->path), "%s/" RK_RUN_JSON, w->dir);
	rk_bytes_init(&b, sizeof(left));
	CHECK_I64(rk_run_json_without(w->path, RK_RUN_FUSED, &b, &w->err), 0);
	snprintf(left, sizeof(left), "%.*s", (int)b.len, (const char *)b.data);
	rk_bytes_release(&b);
	return left;
}

TEST(a_member_of_run_json_is_taken_out_wherever_it_is)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(without(&w, "{\n \"command\": [\"a\"],\n \"x\": {}\n}\n"),
		  "{\n \"command\": [\"a\"],\n \"x\": {}");
	CHECK_STR(without(&w, "{\n \"command\": [\"a\"],\n \"fused\": {\"ranks\": [{}]}\n}\n"),
		  "{\n \"command\": [\"a\"]");
	CHECK_STR(without(&w, "{\"command\":[],\"fused\":{\"a\":[1,2]},\"b\":3}"),
		  "{\"command\":[],\"b\":3");
	CHECK_STR(without(&w, "{\"fused\":7,\"command\":[]}"), "{\"command\":[]");
	world_close(&w);
}

TEST(the_name_of_a_member_inside_another_is_not_a_member)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(without(&w, "{\"command\":[\"\\\"fused\\\":{\",\"}\"],\"x\":{\"fused\":1}}"),
		  "{\"command\":[\"\\\"fused\\\":{\",\"}\"],\"x\":{\"fused\":1}");
	CHECK_STR(without(&w, "{\"command\":\"fused\",\"fused2\":1}"),
		  "{\"command\":\"fused\",\"fused2\":1");
	world_close(&w);
}

TEST(a_file_that_is_not_a_run_is_not_edited)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(without(&w, "{\"fused\":{}}"), "");
	CHECK_STR(without(&w, "[\"command\"]"), "");
	CHECK_STR(without(&w, "{\"command\":"), "");
	world_close(&w);
}
