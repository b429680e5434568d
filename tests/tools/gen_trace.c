/*
 * gen_trace.c - writes profiler output of an invented program, the same for the same seed.
 *
 *	gen-trace --rows N [--seed S] [--shuffle] -o FILE|-    kernel_trace.csv of ROCm 7.0
 *	gen-trace --rows N [--seed S] --dir DIR                a whole rocprofv3 csv directory
 *	gen-trace --rows N [--seed S] [--api] --rocpd FILE     a rocpd database, schema 3
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen/gen_out.h"

struct settings {
	uint64_t rows, seed;
	bool shuffle, api;
	const char *out, *dir, *rocpd;
};

static _Noreturn void misuse(void)
{
	fputs("usage: gen-trace --rows N [--seed S] [--shuffle] [--api]"
	      " (-o FILE|- | --dir DIR | --rocpd FILE)\n",
	      stderr);
	exit(2);
}

static uint64_t number(const char *text)
{
	uint64_t v;
	char end;

	if (sscanf(text, "%" SCNu64 "%c", &v, &end) != 1)
		misuse();
	return v;
}

static void parse(int argc, char **argv, struct settings *s)
{
	static const struct option options[] = {
		{ "rows", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "shuffle", no_argument, NULL, 'x' },
		{ "api", no_argument, NULL, 'a' },
		{ "output", required_argument, NULL, 'o' },
		{ "dir", required_argument, NULL, 'd' },
		{ "rocpd", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (c) {
		case 'n':
			s->rows = number(optarg);
			break;
		case 's':
			s->seed = number(optarg);
			break;
		case 'x':
			s->shuffle = true;
			break;
		case 'a':
			s->api = true;
			break;
		case 'o':
			s->out = optarg;
			break;
		case 'd':
			s->dir = optarg;
			break;
		case 'r':
			s->rocpd = optarg;
			break;
		default:
			misuse();
		}
	}
	if (optind < argc || (!s->out && !s->dir && !s->rocpd))
		misuse();
}

static void write_sorted(const struct settings *s)
{
	struct gen_out *o = gen_out_open(s->out);
	struct gen_workload w;
	struct gen_event e;

	gen_kernel_header(o);
	gen_start(&w, s->seed, s->rows);
	while (gen_next(&w, &e))
		if (!e.is_copy)
			gen_kernel_row(o, &e);
	gen_out_close(o);
}

/* All rows are held in memory: 136 bytes each. */
static void write_shuffled(const struct settings *s)
{
	struct gen_event *events = calloc(s->rows ? s->rows : 1, sizeof(*events));
	struct gen_out *o = gen_out_open(s->out);
	struct gen_workload w;
	uint64_t n = 0, state = s->seed + 99;

	if (!events)
		gen_die("no memory to shuffle", s->out);
	gen_start(&w, s->seed, s->rows);
	while (n < s->rows && gen_next(&w, &events[n]))
		n += !events[n].is_copy;
	for (uint64_t i = n; i-- > 1;) {
		uint64_t j = gen_random(&state) % (i + 1);
		struct gen_event t = events[i];

		events[i] = events[j];
		events[j] = t;
	}
	gen_kernel_header(o);
	for (uint64_t i = 0; i < n; i++)
		gen_kernel_row(o, &events[i]);
	gen_out_close(o);
	free(events);
}

int main(int argc, char **argv)
{
	struct settings s = { .rows = 1000, .seed = 1 };

	parse(argc, argv, &s);
	if (s.out && s.shuffle)
		write_shuffled(&s);
	else if (s.out)
		write_sorted(&s);
	if (s.dir)
		gen_write_dir(s.dir, s.seed, s.rows);
	if (s.rocpd)
		gen_write_rocpd(s.rocpd, s.seed, s.rows, s.api);
	return EXIT_SUCCESS;
}
