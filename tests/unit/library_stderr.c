/* library_stderr.c - MIOpen's lines go to a file, all else through as it was. */
#include "session/library_trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

#define CALL "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1\n"

struct split {
	char dir[64], log[96];
	int out[2];
	struct rk_stderr_split *s;
	char text[1 << 18], log_text[4096];
};

static void split_open(struct split *p)
{
	struct rk_error err = { 0 };

	snprintf(p->dir, sizeof(p->dir), "/tmp/rockit-stderr-XXXXXX");
	CHECK(mkdtemp(p->dir) != NULL);
	snprintf(p->log, sizeof(p->log), "%s/miopen-stderr.log", p->dir);
	CHECK(pipe2(p->out, O_CLOEXEC) == 0);
	CHECK(fcntl(p->out[1], F_SETPIPE_SZ, 1 << 18) > 0);
	CHECK(rk_stderr_split_start(p->log, p->out[1], &p->s, &err) == 0);
	CHECK_STR(err.message, "");
}

static void split_write(struct split *p, const char *text, size_t len)
{
	CHECK(write(rk_stderr_split_fd(p->s), text, len) == (ssize_t)len);
}

/* The bytes received so far, at least `want`. */
static void split_wait(struct split *p, size_t want)
{
	size_t len = strlen(p->text);

	while (len < want) {
		ssize_t n = read(p->out[0], p->text + len, sizeof(p->text) - 1 - len);

		if (n <= 0)
			break;
		len += (size_t)n;
		p->text[len] = '\0';
	}
	CHECK(len >= want);
}

static void split_close(struct split *p)
{
	struct rk_error err = { 0 };
	size_t len = strlen(p->text);
	ssize_t n;
	FILE *f;

	CHECK(rk_stderr_split_stop(p->s, &err) == 0);
	CHECK_STR(err.message, "");
	close(p->out[1]);
	while ((n = read(p->out[0], p->text + len, sizeof(p->text) - 1 - len)) > 0)
		len += (size_t)n;
	p->text[len] = '\0';
	close(p->out[0]);
	f = fopen(p->log, "r");
	CHECK(f != NULL);
	len = f ? fread(p->log_text, 1, sizeof(p->log_text) - 1, f) : 0;
	p->log_text[len] = '\0';
	if (f)
		fclose(f);
	unlink(p->log);
	CHECK(rmdir(p->dir) == 0);
}

/* Too large for a stack; each test begins with an empty one. */
static struct split *split_new(void)
{
	struct split *p = calloc(1, sizeof(*p));

	CHECK(p != NULL);
	if (p)
		split_open(p);
	return p;
}

TEST(calls_of_miopen_leave_standard_error_as_it_was)
{
	static const char text[] = "begin\n" CALL "MIOpen(HIP): Warning [x] not a call\n" CALL
				   "end";
	struct split *p = split_new();

	if (!p)
		return;
	split_write(p, text, sizeof(text) - 1);
	split_close(p);
	CHECK_STR(p->text, "begin\nMIOpen(HIP): Warning [x] not a call\nend");
	CHECK_STR(p->log_text, CALL CALL);
	free(p);
}

TEST(a_line_in_single_bytes_is_still_a_line)
{
	static const char text[] = "MIO\n" CALL "MI";
	struct split *p = split_new();

	if (!p)
		return;
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		split_write(p, text + i, 1);
	split_close(p);
	CHECK_STR(p->text, "MIO\nMI");
	CHECK_STR(p->log_text, CALL);
	free(p);
}

TEST(what_cannot_be_a_call_is_passed_on_at_once)
{
	struct split *p = split_new();

	if (!p)
		return;
	split_write(p, "50 %\r", 5);
	split_wait(p, 5);
	split_write(p, "99 %", 4);
	split_wait(p, 9);
	CHECK_STR(p->text, "50 %\r99 %");
	split_write(p, "\n" CALL, sizeof("\n" CALL) - 1);
	split_close(p);
	CHECK_STR(p->text, "50 %\r99 %\n");
	CHECK_STR(p->log_text, CALL);
	free(p);
}

TEST(bytes_of_every_value_and_endless_lines_come_through)
{
	struct split *p = split_new();
	char *text = malloc(200000);

	if (p && text) {
		memset(text, 'x', 200000);
		memcpy(text, "MIOpen", 6);
		split_write(p, text, 70000);
		split_write(p, text, 100000);
		split_write(p, "\n\xff\x01\n", 4);
		split_close(p);
		CHECK_U64(strlen(p->text), 170004);
		CHECK_MEM(p->text, text, 70000);
		CHECK_MEM(p->text + 70000, text, 100000);
		CHECK_STR(p->text + 170000, "\n\xff\x01\n");
		CHECK_STR(p->log_text, "");
	}
	free(text);
	free(p);
}

TEST(a_process_that_keeps_standard_error_is_not_waited_for)
{
	struct split *p = split_new();
	int kept;

	if (!p)
		return;
	kept = dup(rk_stderr_split_fd(p->s));
	split_write(p, "text\n", 5);
	split_close(p);
	CHECK_STR(p->text, "text\n");
	close(kept);
	free(p);
}

TEST(a_log_that_cannot_be_made_is_an_error)
{
	struct rk_stderr_split *s = NULL;
	struct rk_error err = { 0 };

	CHECK(rk_stderr_split_start("/nonexistent/x.log", 2, &s, &err) == RK_E_IO);
	CHECK_STR(err.message, "cannot create '/nonexistent/x.log': No such file or directory");
	CHECK(!s);
	CHECK(rk_stderr_split_stop(NULL, &err) == 0);
}

TEST(a_full_disk_is_reported_and_the_rest_goes_through)
{
	struct rk_stderr_split *s = NULL;
	struct rk_error err = { 0 };
	char text[32] = "";
	int out[2];

	if (access("/dev/full", W_OK) != 0)
		SKIP("no /dev/full");
	CHECK(pipe2(out, O_CLOEXEC) == 0);
	CHECK(rk_stderr_split_start("/dev/full", out[1], &s, &err) == 0);
	CHECK(write(rk_stderr_split_fd(s), CALL "rest\n", sizeof(CALL "rest\n") - 1) > 0);
	CHECK(rk_stderr_split_stop(s, &err) == RK_E_IO);
	CHECK_STR(err.message, "cannot write the log of MIOpen: No space left on device");
	CHECK(read(out[0], text, sizeof(text) - 1) == 5);
	CHECK_STR(text, "rest\n");
	close(out[0]);
	close(out[1]);
}
