/* metric_instances.c - reduce, select and vectors of instances. */
#include "metric_world.h"

TEST(instances_outside_of_reduce_are_added_up)
{
	gives("X", 81);
	gives("X/Y", 81.0 / 141);
	gives("X[0]+X[1]", 2 * 81);
	gives("LVL(L)", 41 + 42);
	gives("O", 11);
	gives("accumulate(L,LOW_RES)", 83 * 0.25);
	gives("B", 8.5 * RK_PROGRAM_INSTANCES_MAX);
}

TEST(reduce_takes_all_instances_together)
{
	gives("reduce(X,sum)", 81);
	gives("reduce(X,min)", 11);
	gives("reduce(X,max)", 16);
	gives("reduce(X,avr)", 13.5);
	gives("reduce(X+Y,max)", 42);
	gives("reduce(Y-X,max)", 10);
	gives("reduce(X*2,sum)/reduce(Y,max)", 162.0 / 26);
	gives("reduce(X-X,sum)", 0);
	gives("reduce(accumulate(L,HIGH_RES),max)", 42);
	gives("reduce(accumulate(L,LOW_RES),min)", 10.25);
	gives("reduce(accumulate(X,NONE),max)", 16);
	gives("reduce(X/Y,max)", 16.0 / 26);
	gives("reduce(5,max)", 5);
	gives("reduce(cus,avr)", 4);
	gives("reduce(reduce(X,max),sum)", 16);
	gives("reduce(MAX0(X-13),sum)", 6);
	gives("reduce(min(X,14),sum)", 11 + 12 + 13 + 14 * 3);
	gives("reduce(B,max)", 16);
}

TEST(reduce_collapses_the_listed_dimensions)
{
	/* XCD 0: 11 12 13, XCD 1: 14 15 16 */
	gives("reduce(reduce(X,sum,[DIMENSION_INSTANCE]),max)", 45);
	gives("reduce(reduce(X,sum,[DIMENSION_XCC]),max)", 29);
	gives("reduce(reduce(X,max,[DIMENSION_INSTANCE]),avr)", 14.5);
	gives("reduce(reduce(X,avr,[DIMENSION_INSTANCE]),max)", 15);
	gives("reduce(reduce(X,avr,[DIMENSION_XCC]),min)", 12.5);
	gives("reduce(X,sum,[DIMENSION_XCC,DIMENSION_INSTANCE])", 81);
	gives("reduce(reduce(X,min,[DIMENSION_WGP]),max)", 16);
	/* What is left of a vector is added up. */
	gives("reduce(X,max,[DIMENSION_INSTANCE])", 13 + 16);
	gives("100*reduce(X,max,[DIMENSION_INSTANCE])/cus", 725);
	gives("reduce(X,max,[DIMENSION_INSTANCE])-reduce(X,min,[DIMENSION_INSTANCE])", 4);
}

TEST(select_keeps_instances_and_drops_the_dimension)
{
	gives("select(X,[DIMENSION_XCC=[1], DIMENSION_INSTANCE=[2]])", 16);
	gives("select(X,[DIMENSION_XCC=[1]])", 45);
	gives("select(X,[DIMENSION_INSTANCE=[0,2]])", 11 + 13 + 14 + 16);
	gives("select(X,[DIMENSION_INSTANCE=[1:2]])", 12 + 13 + 15 + 16);
	gives("select(X,[DIMENSION_INSTANCE=[1:99]])", 12 + 13 + 15 + 16);
	gives("reduce(select(X,[DIMENSION_XCC=[1]])-select(X,[DIMENSION_XCC=[0]]),max)", 3);
	gives("reduce(select(reduce(X,sum,[DIMENSION_INSTANCE]),[DIMENSION_XCC=[1]]),max)", 45);
	gives("select(X,[DIMENSION_XCC=[1],DIMENSION_INSTANCE=[2]])/"
	      "select(Y,[DIMENSION_XCC=[1],DIMENSION_INSTANCE=[2]])",
	      16.0 / 26);
	refused("select(X,[DIMENSION_XCC=[2]])", "no selected instance was recorded");
	refused("select(reduce(X,sum,[DIMENSION_XCC]),[DIMENSION_XCC=[1]])",
		"no selected instance was recorded");
	refused("select(a,[DIMENSION_XCC=[0]])", "instances of a were not recorded");
}

TEST(a_single_value_goes_with_each_instance_and_keeps_its_side)
{
	gives("reduce(100/X,max)", 100.0 / 11);
	gives("reduce(5-X,max)", -6);
	gives("reduce(X-5,min)", 6);
	gives("reduce(X/T,max)", 16.0 / 3);
	gives("reduce(T/X,max)", 3.0 / 11);
	gives("reduce(X*reduce(Y,max),max)", 16 * 26);
}

TEST(instances_that_do_not_fit_are_refused)
{
	refused("reduce(X+P,sum)", "6 instances cannot be combined with 3; reduce one side first");
	refused("reduce(X+reduce(Y,sum,[DIMENSION_XCC]),sum)",
		"6 instances cannot be combined with 3; reduce one side first");
	refused("reduce(select(X,[DIMENSION_INSTANCE=[0:1]])+select(Y,[DIMENSION_INSTANCE=[1:2]])*"
		"reduce(X,sum,[DIMENSION_INSTANCE]),sum)",
		"4 instances cannot be combined with 2; reduce one side first");
	refused("reduce(reduce(X,sum,[DIMENSION_INSTANCE])+select(P,[DIMENSION_XCC=[1:2]]),sum)",
		"instances of different places cannot be combined");
	/* One dimension under two names. */
	gives("reduce(P*2-Q,sum)", 36);
}

TEST(a_vector_that_cannot_be_added_up_is_refused)
{
	const char *dims = "[DIMENSION_INSTANCE]";
	static const struct {
		const char *format, *reason;
	} cases[] = {
		{ "reduce(X,sum,%s)/reduce(Y,sum,%s)", "per-instance ratio; reduce it first" },
		{ "100*reduce(X,sum,%s)/reduce(Y,sum,%s)", "per-instance ratio; reduce it first" },
		{ "1/reduce(X,sum,%s)", "per-instance ratio; reduce it first" },
		{ "reduce(X,sum,%s)*reduce(Y,sum,%s)", "per-instance product; reduce it first" },
		{ "reduce(X,sum,%s)+1", "per-instance offset; reduce it first" },
		{ "a-reduce(X,sum,%s)", "per-instance offset; reduce it first" },
		{ "min(reduce(X,sum,%s),reduce(Y,sum,%s))",
		  "per-instance minimum; reduce it first" },
		{ "MAX0(reduce(X,sum,%s)*2)", "per-instance maximum; reduce it first" },
		/* Of a counter whose instances are not known: the same. */
		{ "reduce(a,sum,%s)/reduce(b,sum,%s)", "per-instance ratio; reduce it first" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[200] = "";
		const char *from = cases[i].format, *at;
		size_t len = 0;

		for (; (at = strstr(from, "%s")); from = at + 2)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s%s",
						(int)(at - from), from, dims);
		snprintf(text + len, sizeof(text) - len, "%s", from);
		refused(text, cases[i].reason);
	}
	gives("select(X,[DIMENSION_XCC=[1]])/cus", 45.0 / 4);
	gives("select(X,[DIMENSION_XCC=[1]])/a*b-2*select(Y,[DIMENSION_XCC=[0]])", 90 - 2 * 66);
}

TEST(sums_without_their_instances_can_be_added_up_only)
{
	gives("reduce(a,sum)", 1);
	gives("reduce(a*100/cus-b,sum)", 23);
	gives("reduce(reduce(h,sum,[DIMENSION_XCC]),sum)", 8);
	gives("reduce(h,sum,[DIMENSION_XCC])*2", 16);
	gives("reduce(accumulate(a,HIGH_RES),sum)/reduce(b,sum)", 15.5);
	gives("reduce(T,max)", 3);
	gives("reduce(a[1],max)", 12);
	refused("reduce(a,max)", "instances of a were not recorded");
	refused("reduce(a,min)", "instances of a were not recorded");
	refused("100*reduce(a,avr)", "instances of a were not recorded");
	refused("reduce(a/b,sum)", "instances of a were not recorded");
	refused("reduce(1/b,sum)", "instances of b were not recorded");
	refused("reduce(b+1,sum)", "instances of b were not recorded");
	refused("reduce(X+b,sum)", "instances of b were not recorded");
	refused("reduce(b/X,sum)", "instances of b were not recorded");
	refused("reduce(MAX0(a),sum)", "instances of a were not recorded");
	refused("reduce(accumulate(a,HIGH_RES),max)", "instances of a were not recorded");
	refused("reduce(reduce(a,sum,[DIMENSION_XCC]),max)", "instances of a were not recorded");
}

TEST(instances_in_one_expression_are_bounded)
{
	static char text[1 << 14];
	struct fixture f;
	unsigned r = 0;
	size_t len = 0;

	setup(&f);
	len += (size_t)snprintf(text, sizeof(text), "reduce(B");
	for (int i = 0; i < 300; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "+B");
	snprintf(text + len, sizeof(text) - len, ",sum)");
	CHECK_I64(add(&f, text, &r), RK_E_UNSUPPORTED);
	CHECK_STR(f.err.message, "the expression has more than 1048576 instances");
	teardown(&f);
}
