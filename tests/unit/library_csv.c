/* library_csv.c - library_trace.csv as a table. */
#include "every_alloc.h"

#define OURS "library,function,config,calls,total_ns\n"
#define MADENGINE "jobid,created_date,model,library,config,calls\n"

TEST(calls_of_libraries_are_a_table)
{
	struct world w;

	world_open(&w, 2);
	CHECK_STR(world_read(&w, "library_trace.csv",
			     OURS "rocblas,gemm_ex,\"-m 1 -n \"\"2,3\"\"\",12,\n"
				  "rccl,AllReduce,count=4 nranks=2,9223372036854775807,55\n",
			     RK_LIBRARY_CALLS),
		  "library=rocblas|function=gemm_ex|config=-m 1 -n \"2,3\"|calls=12\n"
		  "library=rccl|function=AllReduce|config=count=4 nranks=2|"
		  "calls=9223372036854775807|total_ns=55\n");
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
}

TEST(the_file_of_madengine_has_function_and_config_in_one)
{
	struct world w;

	world_open(&w, 2);
	CHECK_STR(world_read(&w, "library_trace.csv",
			     MADENGINE "0,2026-11-15,dummy,rocblas,./rocblas-bench -f gemm -m 1,3\n"
				       "0,2026-11-15,dummy,rocblas_function,- { a: 1, b: 2 },4\n",
			     RK_LIBRARY_CALLS),
		  "library=rocblas|config=./rocblas-bench -f gemm -m 1|calls=3\n"
		  "library=rocblas_function|config=- { a: 1, b: 2 }|calls=4\n");
	world_close(&w);
}

TEST(damaged_rows_of_library_calls_are_counted)
{
	struct world w;

	world_open(&w, 2);
	CHECK_STR(world_read(&w, "library_trace.csv",
			     OURS
			     "rocblas,gemm\nrocblas,gemm,-m 1,many,\nmiopen,conv,-n 1,2,\nrccl,A",
			     RK_LIBRARY_CALLS),
		  "library=rocblas|function=gemm|config=-m 1\n"
		  "library=miopen|function=conv|config=-n 1|calls=2\n");
	CHECK_U64(world_warned(&w, "short-row") + world_warned(&w, "cut-row"), 2);
	CHECK_U64(world_warned(&w, "bad-number"), 1);
	world_close(&w);
}

TEST(library_calls_survive_every_failed_allocation)
{
	struct world w;

	world_open(&w, 1);
	world_text(&w, "library_trace.csv", OURS "rocblas,gemm,-m 1,3,\nmiopen,conv,-n 1,2,\n");
	every_alloc_may_fail(w.path, 2);
	world_close(&w);
}
