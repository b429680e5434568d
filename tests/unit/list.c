/* list.c - lists of strings. */
#include "base/list.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json_out.h"
#include "tap.h"

TEST(a_list_is_an_argument_vector)
{
	struct rk_list l = { 0 };

	for (int i = 0; i < 100; i++)
		rk_list_addf(&l, "%d", i);
	CHECK_U64(l.n, 100);
	CHECK_STR(l.v[99], "99");
	CHECK(!l.v[100]);
	CHECK(rk_list_has(&l, "42") && !rk_list_has(&l, "100"));
	rk_list_add_once(&l, "42");
	CHECK_U64(l.n, 100);
	rk_list_release(&l);
	CHECK(!l.v && !l.n);
}

TEST(words_are_split_as_a_shell_would)
{
	struct rk_list l = { 0 };

	CHECK(rk_list_split_words(&l, "  -a 'b c' \"d \\\" e\" f\\ g ''  x'y'z "));
	CHECK_U64(l.n, 6);
	CHECK_STR(l.v[1], "b c");
	CHECK_STR(l.v[2], "d \" e");
	CHECK_STR(l.v[3], "f g");
	CHECK_STR(l.v[4], "");
	CHECK_STR(l.v[5], "xyz");
	CHECK(!rk_list_split_words(&l, "a 'b"));
	rk_list_release(&l);
	rk_list_split(&l, ",a,,b c,", ",");
	CHECK_U64(l.n, 2);
	CHECK_STR(l.v[1], "b c");
	rk_list_release(&l);
}

TEST(an_environment_has_each_name_once)
{
	struct rk_list l = { 0 };
	char name[4];

	CHECK_STR(rk_list_entry("ABC=d=e", name, sizeof(name)), "d=e");
	CHECK_STR(name, "ABC");
	CHECK(!rk_list_entry("ABCD=x", name, sizeof(name)) && !rk_list_entry("AB", name, 4));

	rk_list_set(&l, "A", "1");
	rk_list_set(&l, "AB", "2");
	rk_list_set(&l, "A", "3");
	CHECK_U64(l.n, 2);
	CHECK_STR(rk_list_value(&l, "A"), "3");
	CHECK_STR(rk_list_value(&l, "AB"), "2");
	CHECK(!rk_list_value(&l, "B"));
	rk_list_release(&l);
}

TEST(a_list_out_of_memory_is_bad_and_still_freed)
{
	struct rk_list l = { 0 };

	rk_list_add(&l, "x");
	rk_alloc_fail_after(1);
	rk_list_add(&l, "y");
	rk_alloc_fail_after(0);
	rk_list_add(&l, "z");
	CHECK(l.bad);
	CHECK_U64(l.n, 1);
	rk_list_release(&l);
}

TEST(json_is_written_with_its_commas)
{
	struct rk_list l = { 0 };
	struct rk_json_out j;
	struct rk_bytes b;

	rk_bytes_init(&b, 10000);
	rk_list_set(&l, "A", "x=\"y\"");
	rk_json_begin(&j, &b);
	rk_json_int(&j, "schema", 1);
	rk_json_array(&j, "list");
	rk_json_object_flat(&j, NULL);
	rk_json_text(&j, "a", NULL);
	rk_json_real(&j, "b", 0.5);
	rk_json_close(&j);
	rk_json_list(&j, NULL, &l);
	rk_json_close(&j);
	rk_json_object(&j, "none");
	rk_json_close(&j);
	rk_json_pairs(&j, "env", &l);
	rk_json_end(&j);
	CHECK_STR(rk_bytes_str(&b),
		  "{\n \"schema\": 1,\n \"list\": [\n  {\"a\": null, \"b\": 0.5},\n"
		  "  [\"A=x=\\\"y\\\"\"]\n ],\n \"none\": {},\n"
		  " \"env\": {\"A\": \"x=\\\"y\\\"\"}\n}\n");
	rk_list_release(&l);
	rk_bytes_release(&b);
}
