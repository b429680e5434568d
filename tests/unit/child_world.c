/* child_world.c - see child_world.h. */
#include "child_world.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"
#include "tap.h"

const char *probe_path(void)
{
	static char path[4200];
	ssize_t n = readlink("/proc/self/exe", path, 4096);

	while (n > 0 && path[n - 1] != '/')
		n--;
	snprintf(path + n, sizeof(path) - (size_t)n, "child-probe");
	return path;
}

static void words_to_argv(char **argv, const char *words)
{
	struct rk_list list = { 0 };

	rk_list_add(&list, probe_path());
	CHECK(rk_list_split_words(&list, words) && !list.bad && list.n <= PROBE_WORDS + 1);
	for (size_t i = 0; i <= list.n; i++)
		argv[i] = list.v[i];
	rk_free(list.v); /* the strings are argv's now */
}

void probe_init(struct probe *p, const char *words)
{
	*p = (struct probe){ .opt = { .out_fd = -1, .err_fd = -1 } };
	words_to_argv(p->argv, words);
	p->opt.argv = p->argv;
}

void probe_release(struct probe *p)
{
	for (char **v = p->argv; *v; v++)
		rk_free(*v);
	p->argv[0] = NULL;
}

int probe_run(struct probe *p)
{
	FILE *f = tmpfile();
	size_t n;
	int rc;

	CHECK(f != NULL);
	if (!f)
		return -100;
	p->opt.out_fd = fileno(f);
	rc = rk_child_run(&p->opt, &p->got, &p->err);
	rewind(f);
	n = fread(p->text, 1, sizeof(p->text) - 1, f);
	p->text[n] = '\0';
	fclose(f);
	return rc;
}

int probe_words(struct probe *p, const char *words)
{
	int rc;

	probe_init(p, words);
	p->opt.timeout_ms = 60000;
	rc = probe_run(p);
	probe_release(p);
	return rc;
}

static pid_t fork_piped(int *ret_fd)
{
	int fd[2];
	pid_t pid;

	if (pipe(fd) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], 1);
		dup2(fd[1], 2);
		close(fd[0]);
		close(fd[1]);
	} else {
		close(fd[1]);
		*ret_fd = fd[0];
	}
	return pid;
}

static pid_t fork_on_terminal(int *ret_fd)
{
	struct termios plain;
	pid_t pid = forkpty(ret_fd, NULL, NULL, NULL);

	/* What is typed shall not come back as output. */
	if (pid == 0 && !tcgetattr(0, &plain)) {
		plain.c_lflag &= ~(tcflag_t)ECHO;
		plain.c_oflag &= ~(tcflag_t)OPOST;
		tcsetattr(0, TCSANOW, &plain);
	}
	return pid;
}

/* A shell's background job has SIGINT ignored; its tests must not depend on that. */
static void plain_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void probe_start(struct probe_process *p, const char *words, int tty, void (*set_up)(void))
{
	char *argv[PROBE_WORDS + 2];

	*p = (struct probe_process){ .fd = -1 };
	words_to_argv(argv, words);
	p->pid = tty ? fork_on_terminal(&p->fd) : fork_piped(&p->fd);
	if (p->pid == 0) {
		plain_signals();
		if (set_up)
			set_up();
		execv(argv[0], argv);
		_exit(94);
	}
	for (char **v = argv; *v; v++)
		rk_free(*v);
	CHECK(p->pid > 0);
}

/* 1: there is more; 0: the end; -1: nothing in time. A terminal without users gives EIO. */
static int read_more(struct probe_process *p, int64_t until_ns)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	int64_t left_ms = (until_ns - rk_clock_steady_ns()) / 1000000;
	ssize_t n;

	if (left_ms <= 0 || poll(&fd, 1, (int)left_ms) <= 0)
		return -1;
	n = read(p->fd, p->text + p->len, sizeof(p->text) - 1 - p->len);
	if (n <= 0)
		return 0;
	p->len += (size_t)n;
	p->text[p->len] = '\0';
	return 1;
}

int probe_expect(struct probe_process *p, const char *text)
{
	int64_t until = rk_clock_steady_ns() + 30000000000;

	while (!strstr(p->text, text))
		if (read_more(p, until) <= 0)
			return 0;
	return 1;
}

int probe_finish(struct probe_process *p)
{
	int64_t until = rk_clock_steady_ns() + 60000000000;
	int status = 0, rc;

	while ((rc = read_more(p, until)) > 0)
		;
	if (rc < 0)
		kill(p->pid, SIGKILL);
	CHECK(rc == 0);
	CHECK(waitpid(p->pid, &status, 0) == p->pid);
	close(p->fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
