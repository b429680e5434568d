/* sim_keys.c - the keys of output names, as rocprofv3 expands them in the application. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

const char *host_name(void)
{
	static char name[256];

	if (!name[0] && gethostname(name, sizeof(name) - 1) != 0)
		snprintf(name, sizeof(name), "localhost");
	return name;
}

static const char *first_env(const char *const *names)
{
	for (; *names; names++)
		if (getenv(*names))
			return getenv(*names);
	return NULL;
}

/* torchrun's RANK is not among them. */
static const char *const rank_names[] = { "SLURM_PROCID",
					  "OMPI_COMM_WORLD_RANK",
					  "MV2_COMM_WORLD_RANK",
					  "MPI_RANKID",
					  "MPI_LOCALRANKID",
					  "MPI_RANK",
					  NULL };
static const char *const size_names[] = { "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE",
					  "MV2_COMM_WORLD_SIZE", "MPI_SIZE", NULL };

int rank_of_process(void)
{
	const char *text = first_env(rank_names);
	unsigned long long v;

	return text && read_number(text, &v) ? (int)v : 0;
}

/* '/' becomes '_', and what would hide the file is taken off its front. */
static char *flat(const char *text)
{
	char *t;

	while (*text == '.' || *text == '_' || *text == '/')
		text++;
	t = copy_text(text);
	for (char *p = t; *p; p++)
		if (*p == '/' || *p == ' ')
			*p = '_';
	return t;
}

static char *words_of(char *const *argv, size_t from)
{
	struct words w = { 0 };

	for (size_t i = 0; argv[i]; i++)
		if (i >= from)
			words_add(&w, flat(argv[i]));
	return words_join(&w, "_");
}

static char *now(const char *fmt)
{
	time_t t = time(NULL);
	struct tm tm;
	char text[64];

	localtime_r(&t, &tm);
	strftime(text, sizeof(text), fmt, &tm);
	return copy_text(text);
}

static char *pid_text(void)
{
	return fault("same-name") ? copy_text("0") : print_text("%d", (int)getpid());
}

static char *arg_text(const char *digits, char *const *argv)
{
	unsigned long long wanted;
	size_t n = 0;

	if (!read_number(digits, &wanted))
		return NULL;
	while (argv[n])
		n++;
	return wanted < n ? flat(argv[wanted]) : copy_text("");
}

static char *value_of(const char *key, char *const *argv)
{
	const char *size = first_env(size_names), *job = getenv("SLURM_JOB_ID");
	char cwd[4096];

	if (strcmp(key, "hostname") == 0 || strcmp(key, "h") == 0)
		return copy_text(host_name());
	if (strcmp(key, "pid") == 0 || strcmp(key, "p") == 0)
		return pid_text();
	if (strcmp(key, "ppid") == 0)
		return print_text("%d", (int)getppid());
	if (strcmp(key, "pgid") == 0)
		return print_text("%d", (int)getpgrp());
	if (strcmp(key, "psid") == 0)
		return print_text("%d", (int)getsid(0));
	if (strcmp(key, "rank") == 0 || strcmp(key, "r") == 0 || strcmp(key, "nid") == 0)
		return print_text("%d", rank_of_process());
	if (strcmp(key, "size") == 0 || strcmp(key, "s") == 0 || strcmp(key, "psize") == 0)
		return copy_text(size ? size : "1");
	if (strcmp(key, "job") == 0 || strcmp(key, "j") == 0)
		return copy_text(job ? job : "0");
	if (strcmp(key, "cwd") == 0)
		return getcwd(cwd, sizeof(cwd)) ? copy_text(cwd) : NULL;
	if (strcmp(key, "launch_date") == 0)
		return now("%Y-%m-%d");
	if (strcmp(key, "launch_time") == 0)
		return now("%H:%M:%S");
	if (strcmp(key, "argv") == 0 || strcmp(key, "argt") == 0)
		return words_of(argv, 0);
	if (strcmp(key, "args") == 0)
		return words_of(argv, 1);
	if (strcmp(key, "tag") == 0)
		return flat(strrchr(argv[0], '/') ? strrchr(argv[0], '/') : argv[0]);
	return begins(key, "arg") ? arg_text(key + 3, argv) : NULL;
}

/* %env{X}%, $env{X}, %q{X} and their capital forms at `p`: its length, or 0. */
static size_t env_key(const char *p, char **ret)
{
	size_t word = strcspn(p + 1, "{") + 1, close;
	const char *v;

	if ((*p != '%' && *p != '$') || p[word] != '{')
		return 0;
	if (!(word == 4 && (begins(p + 1, "env") || begins(p + 1, "ENV"))) &&
	    !(word == 2 && p[1] == 'q'))
		return 0;
	close = strcspn(p, "}");
	if (!p[close])
		return 0;
	v = getenv(print_text("%.*s", (int)(close - word - 1), p + word + 1));
	*ret = copy_text(v ? v : "");
	return close + 1 + (*p == '%' && p[close + 1] == '%');
}

/* %key%, {key} or a shorthand at `p`: its length, or 0. */
static size_t plain_key(const char *p, char *const *argv, char **ret)
{
	char shut = *p == '{' ? '}' : '%';
	size_t len = 1;

	if (*p != '%' && *p != '{')
		return 0;
	while (p[len] && (strchr("abcdefghijklmnopqrstuvwxyz_0123456789", p[len])))
		len++;
	if (len > 1 && p[len] == shut) {
		*ret = value_of(print_text("%.*s", (int)len - 1, p + 1), argv);
		if (*ret)
			return len + 1;
	}
	if (*p == '%' && p[1] && strchr("hpjrs", p[1])) {
		*ret = value_of(print_text("%c", p[1]), argv);
		return 2;
	}
	return 0;
}

char *expand_keys(const char *pattern, char *const *argv)
{
	struct text t = { 0 };

	text_bytes(&t, "", 0);
	while (*pattern) {
		char *value = NULL;
		size_t len = env_key(pattern, &value);

		if (!len)
			len = plain_key(pattern, argv, &value);
		if (len)
			text_add(&t, "%s", value);
		else
			text_bytes(&t, pattern, 1);
		pattern += len ? len : 1;
	}
	return t.at;
}
