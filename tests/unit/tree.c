/* tree.c - small JSON and YAML documents. */
#include "codec/json/tree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "tap.h"

static struct rk_tree *json(const char *text, struct rk_error *err)
{
	struct rk_tree *t = NULL;

	*err = (struct rk_error){ 0 };
	return rk_tree_parse_json(text, strlen(text), "it", &t, err) == 0 ? t : NULL;
}

static struct rk_tree *yaml(const char *text, struct rk_error *err)
{
	struct rk_tree *t = NULL;

	*err = (struct rk_error){ 0 };
	return rk_tree_parse_yaml(text, strlen(text), "it", &t, err) == 0 ? t : NULL;
}

TEST(a_json_document_becomes_a_tree)
{
	struct rk_error err;
	struct rk_tree *t =
		json("{\"a\":{\"b\":[1,\"two\",true,null]},\n\"n\":-12,\"r\":1.5}", &err);
	int64_t v = 0;

	CHECK_U64(rk_tree_get(rk_tree_get(t, "a"), "b")->n, 4);
	CHECK_STR(rk_tree_text(rk_tree_get(rk_tree_get(t, "a"), "b")->first->next, "?"), "two");
	CHECK(rk_tree_true(rk_tree_get(rk_tree_get(t, "a"), "b")->first->next->next));
	CHECK(rk_tree_int(rk_tree_get(t, "n"), &v));
	CHECK_I64(v, -12);
	CHECK(!rk_tree_int(rk_tree_get(t, "r"), &v));
	CHECK_U64(rk_tree_get(t, "n")->line, 2);
	CHECK(!rk_tree_get(rk_tree_get(t, "c"), "d"));
	CHECK(!rk_tree_get(NULL, "a"));
	CHECK_STR(rk_tree_text(rk_tree_get(t, "a"), "missing"), "missing");
	rk_tree_free(t);
}

TEST(of_a_key_that_comes_twice_the_last_is_found)
{
	struct rk_error err;
	struct rk_tree *t = json("{\"a\":1,\"b\":2,\"a\":3}", &err);

	CHECK_STR(rk_tree_text(rk_tree_get(t, "a"), "?"), "3");
	rk_tree_free(t);
}

TEST(damaged_json_is_refused_with_its_line)
{
	static const char *const bad[] = { "{\n\"a\":1,\n]", "{\n\"a\":\n", "\n\n{\"a\" 1}",
					   "{\"a\":1}\n\n{}" };
	struct rk_error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!json(bad[i], &err));
		CHECK_I64(err.code, RK_E_FORMAT);
		CHECK_U64(err.line, 3);
		CHECK_STR(err.file, "it");
	}
	CHECK(!json("", &err));
}

TEST(a_yaml_job_file_becomes_the_same_tree)
{
	struct rk_error err;
	struct rk_tree *t = yaml("jobs:\n  - pmc: [SQ_WAVES, GRBM_COUNT]\n    kernel_trace: True\n"
				 "  - pmc:\n      - TCC_HIT\n    n: 12\n    s: \"12\"\n    e:\n",
				 &err);
	const struct rk_tree *jobs = rk_tree_get(t, "jobs"), *second;

	if (!t && err.code == RK_E_UNSUPPORTED)
		SKIP("built without libyaml");
	CHECK_U64(jobs->n, 2);
	CHECK_U64(rk_tree_get(jobs->first, "pmc")->n, 2);
	CHECK(rk_tree_true(rk_tree_get(jobs->first, "kernel_trace")));
	second = jobs->first->next;
	CHECK_STR(rk_tree_text(rk_tree_get(second, "pmc")->first, "?"), "TCC_HIT");
	CHECK_I64(rk_tree_get(second, "n")->kind, RK_TREE_NUMBER);
	CHECK_I64(rk_tree_get(second, "s")->kind, RK_TREE_TEXT);
	CHECK_I64(rk_tree_get(second, "e")->kind, RK_TREE_NULL);
	rk_tree_free(t);
}

TEST(odd_yaml_is_refused)
{
	static const char *const bad[] = { "a: [1, 2", "a: &x 1\nb: *x\n", "? [a]\n: 1\n",
					   "a: 1\n---\nb: 2\n", "\t- a" };
	struct rk_error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!yaml(bad[i], &err));
		CHECK(err.code == RK_E_FORMAT || err.code == RK_E_UNSUPPORTED);
	}
}

TEST(depth_and_number_of_values_have_limits)
{
	struct rk_error err;
	struct rk_tree *t = NULL;
	struct rk_bytes b;

	rk_bytes_init(&b, 8 << 20);
	for (int i = 0; i < RK_TREE_DEPTH_MAX + 1; i++)
		rk_bytes_puts(&b, "[");
	CHECK(!json(rk_bytes_str(&b), &err));
	CHECK_I64(err.code, RK_E_LIMIT);
	CHECK(!yaml(rk_bytes_str(&b), &err));
	rk_bytes_clear(&b);
	rk_bytes_puts(&b, "[0");
	for (int i = 0; i < RK_TREE_NODES_MAX; i++)
		rk_bytes_puts(&b, ",0");
	rk_bytes_puts(&b, "]");
	CHECK(!json(rk_bytes_str(&b), &err));
	CHECK_I64(err.code, RK_E_LIMIT);
	rk_bytes_clear(&b);
	rk_bytes_puts(&b, "[0");
	while (b.len <= RK_TREE_BYTES_MAX)
		rk_bytes_puts(&b, "                                                        ");
	err = (struct rk_error){ 0 };
	CHECK_I64(rk_tree_parse_json((const char *)b.data, b.len, "it", &t, &err), RK_E_LIMIT);
	rk_bytes_release(&b);
}

TEST(a_tree_survives_every_failed_allocation)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 1000; n++) {
		struct rk_error err;
		struct rk_tree *t;

		rk_alloc_fail_after(n);
		t = json("{\"a\":{\"b\":[1,\"two\"]},\"c\":null}", &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(t ? !failed : err.code == RK_E_NOMEM);
		rk_tree_free(t);
	}
	CHECK(!failed);
}
