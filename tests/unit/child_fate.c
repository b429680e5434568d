/* child_fate.c - signals, timeouts and terminals while a program runs. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "child_world.h"
#include "io/child.h"
#include "tap.h"
#include "world.h"

/* ---- signals ---- */

TEST(signals_that_reach_us_are_passed_on)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

	for (size_t i = 0; i < sizeof(sigs) / sizeof(*sigs); i++) {
		struct probe_process p;
		char words[100], want[100];

		snprintf(words, sizeof(words), "run 60000 catch %d say ready await 1 exit 3",
			 sigs[i]);
		probe_start(&p, words, 0, NULL);
		CHECK(probe_expect(&p, "ready\n"));
		kill(p.pid, sigs[i]);
		CHECK_I64(probe_finish(&p), 3);
		snprintf(want, sizeof(want),
			 "ready\ncaught %02d\nend exited status 3 signal 0 forwarded %d\n", sigs[i],
			 sigs[i]);
		CHECK_STR(p.text, want);
	}
}

TEST(a_second_interrupt_is_passed_on_too)
{
	struct probe_process p;

	probe_start(&p, "run 60000 catch 2 say ready await 2 exit 0", 0, NULL);
	CHECK(probe_expect(&p, "ready\n"));
	kill(p.pid, SIGINT);
	CHECK(probe_expect(&p, "caught 02\n"));
	kill(p.pid, SIGINT);
	CHECK_I64(probe_finish(&p), 0);
	CHECK_STR(p.text,
		  "ready\ncaught 02\ncaught 02\nend exited status 0 signal 0 forwarded 2\n");
}

TEST(a_signal_that_reaches_another_thread_of_ours_is_passed_on)
{
	struct probe_process p;

	probe_start(&p, "thread run 60000 catch 15 say ready await 1 exit 3", 0, NULL);
	CHECK(probe_expect(&p, "ready\n"));
	kill(p.pid, SIGTERM);
	CHECK_I64(probe_finish(&p), 3);
	CHECK_STR(p.text, "ready\ncaught 15\nend exited status 3 signal 0 forwarded 15\n");
}

TEST(the_whole_group_gets_the_signal)
{
	struct probe_process p;
	const char *first;

	probe_start(&p, "run 60000 catch 15 fork 4 say ready await 1 await 1 sleep 200", 0, NULL);
	CHECK(probe_expect(&p, "ready\n"));
	kill(p.pid, SIGTERM);
	CHECK_I64(probe_finish(&p), 0);
	/* both, before or after our own last line */
	first = strstr(p.text, "caught 15\n");
	CHECK(first && strstr(first + 1, "caught 15\n"));
}

TEST(a_child_that_dies_of_a_signal_we_passed_on_says_both)
{
	struct probe_process p;

	probe_start(&p, "run 60000 say ready sleep 20000", 0, NULL);
	CHECK(probe_expect(&p, "ready\n"));
	kill(p.pid, SIGTERM);
	CHECK_I64(probe_finish(&p), 143);
	CHECK_STR(p.text, "ready\nend signalled status 143 signal 15 forwarded 15\n");
}

static void ignore_hangup(void)
{
	signal(SIGHUP, SIG_IGN);
}

TEST(a_signal_that_was_ignored_before_us_ends_nobody)
{
	struct probe_process p;

	probe_start(&p, "run 60000 say ready sleep 300 exit 6", 0, ignore_hangup);
	CHECK(probe_expect(&p, "ready\n"));
	kill(p.pid, SIGHUP);
	CHECK_I64(probe_finish(&p), 6);
	CHECK_STR(p.text, "ready\nend exited status 6 signal 0 forwarded 0\n");
}

TEST(a_signal_that_was_ignored_before_us_reaches_a_child_that_wants_it)
{
	struct probe_process p;

	probe_start(&p, "run 60000 catch 1 say ready await 1 exit 6", 0, ignore_hangup);
	CHECK(probe_expect(&p, "ready\n"));
	kill(p.pid, SIGHUP);
	CHECK_I64(probe_finish(&p), 6);
	CHECK_STR(p.text, "ready\ncaught 01\nend exited status 6 signal 0 forwarded 0\n");
}

TEST(stop_and_continue_are_passed_on)
{
	struct probe_process p;
	int status;

	probe_start(&p, "run 60000 catch 20 catch 18 say ready await 2 exit 0", 0, NULL);
	CHECK(probe_expect(&p, "ready\n"));
	kill(p.pid, SIGTSTP);
	CHECK(probe_expect(&p, "caught 20\n"));
	/* We were not stopped by it. */
	CHECK_I64(waitpid(p.pid, &status, WNOHANG | WUNTRACED), 0);
	kill(p.pid, SIGCONT);
	CHECK_I64(probe_finish(&p), 0);
	CHECK_STR(p.text,
		  "ready\ncaught 20\ncaught 18\nend exited status 0 signal 0 forwarded 0\n");
}

/* ---- time ---- */

/* With a timeout of at least 200 ms in which the program gets as far as to say `text`. */
static int run_until_said(struct probe *p, const char *text)
{
	int rc = 0;

	for (uint64_t ms = 200; ms < 30000; ms *= 4) {
		p->opt.timeout_ms = ms;
		rc = probe_run(p);
		if (rc < 0 || strstr(p->text, text))
			break;
	}
	return rc;
}

TEST(a_timeout_ends_the_program)
{
	struct probe p;

	probe_init(&p, "sleep 20000");
	p.opt.timeout_ms = 200;
	CHECK_I64(probe_run(&p), 0);
	CHECK_I64(p.got.end, RK_CHILD_TIMED_OUT);
	CHECK_I64(p.got.signal, SIGTERM);
	CHECK_I64(p.got.status, 143);
	CHECK(!p.got.killed && !p.got.left);
	CHECK(p.got.end_ns - p.got.start_ns >= 200000000);
	probe_release(&p);
}

TEST(a_program_may_clean_up_in_the_time_of_grace)
{
	struct probe p;

	probe_init(&p, "catch 15 say there await 1 sleep 100 say cleaned exit 12");
	p.opt.grace_ms = 30000;
	CHECK_I64(run_until_said(&p, "there"), 0);
	CHECK_I64(p.got.end, RK_CHILD_TIMED_OUT);
	CHECK_I64(p.got.status, 12);
	CHECK(!p.got.killed);
	CHECK_STR(p.text, "there\ncaught 15\ncleaned\n");
	probe_release(&p);
}

TEST(a_program_that_ignores_the_end_is_killed)
{
	struct probe p;

	probe_init(&p, "ignore 15 say there sleep 60000");
	p.opt.grace_ms = 200;
	CHECK_I64(run_until_said(&p, "there"), 0);
	CHECK_I64(p.got.end, RK_CHILD_TIMED_OUT);
	CHECK_I64(p.got.status, 137);
	CHECK(p.got.killed && !p.got.left);
	CHECK(p.got.end_ns - p.got.start_ns >= 400000000);
	CHECK_STR(p.text, "there\n");
	probe_release(&p);
}

TEST(at_a_timeout_grandchildren_that_ignore_the_end_go_too)
{
	struct probe p;

	/* The leader obeys at once, its child does not. */
	probe_init(&p, "fork 6 ignore 15 say there sleep 60000 sleep 60000");
	p.opt.grace_ms = 300;
	CHECK_I64(run_until_said(&p, "there"), 0);
	CHECK_I64(p.got.end, RK_CHILD_TIMED_OUT);
	CHECK_I64(p.got.signal, SIGTERM);
	CHECK(p.got.killed && !p.got.left);
	probe_release(&p);
}

static uint64_t size_of_file(void *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static uint64_t no_output(void *arg)
{
	(void)arg;
	return 0;
}

/* Options for a program that writes to `file` after SIGTERM. */
static void init_writer(struct probe *p, const char *file, const char *rest)
{
	char words[256];

	snprintf(words, sizeof(words), "catch 15 say there await 1 fill %s %s", file, rest);
	probe_init(p, words);
	p->opt.output = size_of_file;
	p->opt.arg = (void *)(uintptr_t)file;
}

TEST(a_program_that_still_writes_after_the_timeout_is_not_killed)
{
	struct world w;
	struct probe p;
	char file[200];

	world_open(&w, 1);
	snprintf(file, sizeof(file), "%s/f", w.dir);
	init_writer(&p, file, "125 exit 12"); /* 2.5 s */
	p.opt.quiet_ms = 1600;
	CHECK_I64(run_until_said(&p, "there"), 0);
	CHECK_I64(p.got.end, RK_CHILD_TIMED_OUT);
	CHECK_I64(p.got.status, 12);
	CHECK(!p.got.killed && p.got.grace_ns >= 2400000000);
	probe_release(&p);
	world_close(&w);
}

TEST(a_program_that_stops_writing_after_the_timeout_is_killed)
{
	struct world w;
	struct probe p;
	char file[200];

	world_open(&w, 1);
	snprintf(file, sizeof(file), "%s/f", w.dir);
	init_writer(&p, file, "10 sleep 60000");
	p.opt.quiet_ms = 1500;
	CHECK_I64(run_until_said(&p, "there"), 0);
	CHECK_I64(p.got.status, 137);
	CHECK(p.got.killed && !p.got.writing && p.got.quiet);
	CHECK(p.got.grace_ns >= 1500000000);
	probe_release(&p);
	world_close(&w);
}

TEST(a_program_that_writes_without_end_is_killed_all_the_same)
{
	struct world w;
	struct probe p;
	char file[200];

	world_open(&w, 1);
	snprintf(file, sizeof(file), "%s/f", w.dir);
	init_writer(&p, file, "3000 exit 0");
	p.opt.quiet_ms = 1500;
	p.opt.most_ms = 2500;
	CHECK_I64(run_until_said(&p, "there"), 0);
	CHECK_I64(p.got.status, 137);
	CHECK(p.got.killed && p.got.writing && !p.got.quiet);
	probe_release(&p);
	world_close(&w);
}

TEST(a_program_that_hangs_in_the_handler_of_its_crash_is_ended)
{
	static const char *const words[] = { "hang", "refault", "ignore 15 hang", "thread hang",
					     "fork 1 hang sleep 60000" };
	struct probe p;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		probe_init(&p, words[i]);
		p.opt.output = no_output;
		p.opt.quiet_ms = 700;
		CHECK_I64(probe_run(&p), 0);
		CHECK_I64(p.got.end, RK_CHILD_SIGNALLED);
		CHECK_I64(p.got.hung, SIGSEGV);
		CHECK_I64(p.got.status, 128 + SIGSEGV);
		CHECK(!p.got.left);
		CHECK_STR(p.text, "crash\n");
		probe_release(&p);
	}
}

TEST(a_program_that_blocks_signals_has_not_crashed)
{
	static const char *const words[] = {
		"block 1 block 2 block 3 block 4 block 5 block 6 block 7 block 8 block 10 "
		"sleep 2500 exit 3",
		/* as all threads of Julia do */
		"block 2 block 3 block 6 block 10 block 15 block 27 sleep 2500 exit 3",
	};
	struct probe p;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		probe_init(&p, words[i]);
		p.opt.output = no_output;
		p.opt.quiet_ms = 300;
		CHECK_I64(probe_run(&p), 0);
		CHECK_I64(p.got.status, 3);
		CHECK_I64(p.got.hung, 0);
		probe_release(&p);
	}
}

TEST(a_stopped_program_is_ended_at_its_timeout)
{
	struct probe p;

	probe_init(&p, "die 19 sleep 20000");
	p.opt.timeout_ms = 200;
	p.opt.grace_ms = 30000;
	CHECK_I64(probe_run(&p), 0);
	CHECK_I64(p.got.end, RK_CHILD_TIMED_OUT);
	CHECK_I64(p.got.signal, SIGTERM);
	CHECK(!p.got.killed);
	probe_release(&p);
}

TEST(a_timeout_beyond_the_clock_is_none)
{
	struct probe p;

	probe_init(&p, "exit 2");
	p.opt.timeout_ms = UINT64_MAX;
	CHECK_I64(probe_run(&p), 0);
	CHECK_I64(p.got.status, 2);
	probe_release(&p);
}

TEST(processes_left_behind_are_left_alone)
{
	struct probe p;

	probe_init(&p, "fork 4 sleep 60000 exit 0 exit 3");
	CHECK_I64(probe_run(&p), 0);
	CHECK_I64(p.got.end, RK_CHILD_EXITED);
	CHECK_I64(p.got.status, 3);
	CHECK(p.got.left && !p.got.killed);
	CHECK(p.got.end_ns - p.got.start_ns <
	      INT64_C(60000) * 1000000); /* the child was not waited for */
	CHECK_I64(kill(-p.got.pid, SIGKILL), 0);
	probe_release(&p);
}

TEST(ended_processes_that_nobody_has_waited_for_are_not_left)
{
	struct probe p;

	/* Those without a parent become ours, as with an init that does not reap. */
	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	/* 17 is SIGCHLD: the program ends after its child */
	CHECK_I64(probe_words(&p, "catch 17 fork 2 exit 0 await 1 exit 3"), 0);
	CHECK_I64(p.got.status, 3);
	CHECK_I64(kill(-p.got.pid, 0), 0);
	CHECK(!p.got.left);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
}

static void count_tick(void *arg, uint64_t elapsed_ms)
{
	uint64_t *n = arg;

	CHECK(elapsed_ms >= 100 * (n[0] + 1));
	n[0]++;
}

TEST(the_tick_comes_ten_times_a_second)
{
	uint64_t n = 0, all = 0;
	struct probe p;

	probe_init(&p, "sleep 1050");
	p.opt.tick = count_tick;
	p.opt.arg = &n;
	/* on a busy machine ticks are left out, and the program takes longer */
	for (int tries = 0; all < 5 && tries < 50; tries++) {
		n = 0;
		CHECK_I64(probe_run(&p), 0);
		CHECK((int64_t)n <= (p.got.end_ns - p.got.start_ns) / 100000000);
		all += n;
	}
	CHECK(all >= 5);
	probe_release(&p);
}

/* ---- on a terminal ---- */

TEST(the_child_gets_the_terminals_foreground)
{
	struct probe_process p;

	probe_start(&p, "run 60000 foreground read exit 4", 1, NULL);
	CHECK(probe_expect(&p, "foreground\n"));
	CHECK(write(p.fd, "typed\n", 6) == 6);
	CHECK_I64(probe_finish(&p), 4);
	CHECK_STR(p.text, "foreground\nread typed\nend exited status 4 signal 0 forwarded 0\n");
}

TEST(an_interrupt_typed_at_the_terminal_reaches_the_child_once)
{
	struct probe_process p;

	probe_start(&p, "run 60000 catch 2 say ready await 1 sleep 200 exit 5", 1, NULL);
	CHECK(probe_expect(&p, "ready\n"));
	CHECK(write(p.fd, "\003", 1) == 1);
	CHECK_I64(probe_finish(&p), 5);
	CHECK_STR(p.text, "ready\ncaught 02\nend exited status 5 signal 0 forwarded 0\n");
}

TEST(we_stop_with_the_child_and_continue_it)
{
	struct probe_process p;

	probe_start(&p, "shell run 60000 say ready read foreground exit 6", 1, NULL);
	CHECK(probe_expect(&p, "ready\n"));
	CHECK(write(p.fd, "\032", 1) == 1);
	CHECK(probe_expect(&p, "has the terminal\n"));
	CHECK(write(p.fd, "typed\n", 6) == 6);
	CHECK_I64(probe_finish(&p), 6);
	CHECK_STR(p.text, "ready\nshell: stopped 20\nshell: it has the terminal\n"
			  "read typed\nforeground\n"
			  "end exited status 6 signal 0 forwarded 0\nshell: it had the terminal\n");
}

TEST(without_a_shell_a_stop_at_the_terminal_passes)
{
	struct probe_process p;

	probe_start(&p, "run 60000 say ready sleep 300 exit 7", 1, NULL);
	CHECK(probe_expect(&p, "ready\n"));
	CHECK(write(p.fd, "\032", 1) == 1);
	CHECK_I64(probe_finish(&p), 7);
	CHECK_STR(p.text, "ready\nend exited status 7 signal 0 forwarded 0\n");
}

static void in_a_script(void)
{
	/* A leader above us that shares our group, as a script's shell does. */
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		return;
	signal(SIGINT, SIG_IGN);
	while (waitpid(pid, &status, 0) != pid)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

TEST(in_a_script_the_foreground_stays_until_the_child_asks)
{
	struct probe_process p;

	probe_start(&p, "run 60000 foreground read foreground exit 8", 1, in_a_script);
	CHECK(probe_expect(&p, "background\n"));
	CHECK(write(p.fd, "typed\n", 6) == 6);
	CHECK_I64(probe_finish(&p), 8);
	CHECK_STR(p.text, "background\nread typed\nforeground\n"
			  "end exited status 8 signal 0 forwarded 0\n");
}

TEST(in_a_script_an_interrupt_at_the_terminal_reaches_the_child)
{
	struct probe_process p;

	probe_start(&p, "run 60000 catch 2 say ready await 1 exit 9", 1, in_a_script);
	CHECK(probe_expect(&p, "ready\n"));
	CHECK(write(p.fd, "\003", 1) == 1);
	CHECK_I64(probe_finish(&p), 9);
	CHECK_STR(p.text, "ready\ncaught 02\nend exited status 9 signal 0 forwarded 2\n");
}

TEST(a_failed_exec_gives_the_terminal_back)
{
	struct probe_process p;

	probe_start(&p, "missing foreground", 1, NULL);
	CHECK_I64(probe_finish(&p), 0);
	CHECK_STR(p.text, "end not-executable status 126 signal 0 forwarded 0: cannot run '/': it "
			  "is a directory\nforeground\n");
}
