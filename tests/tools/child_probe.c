/*
 * child_probe.c - `child-probe WORD...`: a program that does what its arguments say, for tests of those
 * who run programs. The words are carried out one after the other; see the table below.
 *
 * It ends by _exit always: what a sanitizer does at exit is not what is tested.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "io/child.h"

static volatile sig_atomic_t ncaught;

static void say(const char *text)
{
	size_t len = strlen(text);

	if (write(1, text, len) != (ssize_t)len)
		_exit(99);
}

static long number(const char *s)
{
	int64_t v = 0;

	if (!s || rk_num_i64(s, strlen(s), &v) != RK_NUM_OK) {
		say("child-probe: a number is missing\n");
		_exit(98);
	}
	return (long)v;
}

static void on_signal(int sig)
{
	char text[] = "caught 00\n";

	text[7] = (char)('0' + sig / 10);
	text[8] = (char)('0' + sig % 10);
	say(text);
	ncaught++;
}

static void nap_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* ---- what it can do ---- */

static void do_exit(char **v)
{
	_exit((int)number(v[0]));
}

static void do_die(char **v)
{
	int sig = (int)number(v[0]);
	struct rlimit none = { 0, 0 };
	sigset_t one;

	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(sig);
}

static void do_ignore(char **v)
{
	signal((int)number(v[0]), SIG_IGN);
}

static void do_catch(char **v)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigfillset(&sa.sa_mask);
	sigaction((int)number(v[0]), &sa, NULL);
}

static void do_block(char **v)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, (int)number(v[0]));
	sigprocmask(SIG_BLOCK, &one, NULL);
}

/* Until so many signals were caught, 30 s at most. */
static void do_await(char **v)
{
	for (long i = 0; i < 6000 && ncaught < number(v[0]); i++)
		nap_ms(5);
	if (ncaught < number(v[0]))
		_exit(97);
}

static void do_sleep(char **v)
{
	nap_ms(number(v[0]));
}

static void do_say(char **v)
{
	say(v[0]);
	say("\n");
}

static void do_complain(char **v)
{
	dup2(2, 1);
	do_say(v);
}

static void do_write(char **v)
{
	char text[1024];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (long n = number(v[0]); n > 0; n -= (long)sizeof(text) - 1)
		say(text);
}

static void do_stop(char **v)
{
	(void)v;
	raise(SIGTSTP);
}

static void do_close(char **v)
{
	close((int)number(v[0]));
}

static void do_make(char **v)
{
	close(open(v[0], O_CREAT | O_WRONLY, 0600));
}

/* A line of stdin, with what reading it gave. */
static void do_read(char **v)
{
	char line[100] = "";
	ssize_t n = read(0, line, sizeof(line) - 1);

	(void)v;
	say(n < 0 ? "error\n" : n == 0 ? "end\n" : "read ");
	if (n > 0)
		say(line);
}

static void do_foreground(char **v)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	(void)v;
	say(fd < 0                     ? "no terminal\n" :
	    tcgetpgrp(fd) == getpgrp() ? "foreground\n" :
					 "background\n");
	if (fd >= 0)
		close(fd);
}

static void stay_in_handler(int sig)
{
	(void)sig;
	for (;;)
		pause();
}

static void leave_handler(int sig)
{
	(void)sig;
}

/* A crash whose handler never ends, or returns to what failed. */
static void crash(void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler };
	volatile char *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigaction(SIGSEGV, &sa, NULL);
	say("crash\n");
	*nothing = 1;
}

static void do_hang(char **v)
{
	(void)v;
	crash(stay_in_handler);
}

static void do_refault(char **v)
{
	(void)v;
	crash(leave_handler);
}

/* Adds a byte to a file every 20 ms, so many times. */
static void do_fill(char **v)
{
	int fd = open(v[0], O_CREAT | O_WRONLY | O_APPEND, 0600);

	for (long n = number(v[1]); n > 0; n--) {
		if (write(fd, "x", 1) != 1)
			_exit(99);
		nap_ms(20);
	}
	close(fd);
}

static void do_parent(char **v)
{
	(void)v;
	say(getppid() == 1 ? "parent gone\n" : "parent there\n");
}

/* ---- what it found ---- */

static void show_signals(void)
{
	struct sigaction sa;
	char text[64];
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigismember(&mask, sig) == 1) {
			snprintf(text, sizeof(text), "blocked %d\n", sig);
			say(text);
		}
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN) {
			snprintf(text, sizeof(text), "ignored %d\n", sig);
			say(text);
		}
	}
}

static void show_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	char text[64];

	while (dir && (e = readdir(dir))) {
		int64_t fd;

		if (rk_num_i64(e->d_name, strlen(e->d_name), &fd) != RK_NUM_OK || fd == dirfd(dir))
			continue;
		snprintf(text, sizeof(text), "fd %d\n", (int)fd);
		say(text);
	}
	if (dir)
		closedir(dir);
}

static void do_signals(char **v)
{
	(void)v;
	show_signals();
}

static void do_fds(char **v)
{
	(void)v;
	show_fds();
}

static void do_state(char **v)
{
	struct rlimit files = { 0, 0 };
	char text[4400], cwd[4096] = "?";
	mode_t mask = umask(0);

	(void)v;
	umask(mask);
	getrlimit(RLIMIT_NOFILE, &files);
	snprintf(text, sizeof(text), "leader %d\nsession %d\numask %03o\nnice %d\nfiles %lu\n%s\n",
		 getpgrp() == getpid(), getsid(0) == getpid(), (unsigned)mask,
		 getpriority(PRIO_PROCESS, 0), (unsigned long)files.rlim_cur,
		 getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	say(text);
}

/* ---- as a parent ---- */

static char self[4096];

static const char *const ends[] = { "exited", "signalled", "timed-out", "not-found",
				    "not-executable" };

static void report(const struct rk_child_result *r)
{
	char text[800];

	snprintf(text, sizeof(text), "end %s status %d signal %d forwarded %d%s%s%s%s\n",
		 ends[r->end], r->status, r->signal, r->forwarded, r->killed ? " killed" : "",
		 r->left ? " left" : "", *r->why ? ": " : "", r->why);
	say(text);
}

/* run MS WORD...: this program again as a child, with a timeout unless MS is 0. */
static void do_run(char **v)
{
	struct rk_child_options opt = {
		.timeout_ms = (uint64_t)number(v[0]), .grace_ms = 300, .out_fd = -1, .err_fd = -1
	};
	struct rk_child_result r;
	struct rk_error err = { 0 };

	v[0] = self;
	opt.argv = v;
	if (rk_child_run(&opt, &r, &err) < 0) {
		say(err.message);
		_exit(96);
	}
	report(&r);
	_exit(r.status);
}

/* A program that cannot be executed. */
static void do_missing(char **v)
{
	char name[] = "/";
	char *argv[] = { name, NULL };
	struct rk_child_options opt = { .argv = argv, .out_fd = -1, .err_fd = -1 };
	struct rk_child_result r;

	(void)v;
	if (rk_child_run(&opt, &r, NULL) < 0)
		_exit(96);
	report(&r);
}

/* A shell with job control, as far as a test needs it: stopped children are continued. */
static void do_shell(char **v);
/* The rest in another thread: signals reach the first one. */
static void do_thread(char **v);

struct word {
	const char *name;
	int nargs; /* -1: the rest */
	void (*run)(char **v);
};

static const struct word words[] = {
	{ "exit", 1, do_exit },       { "die", 1, do_die },
	{ "ignore", 1, do_ignore },   { "catch", 1, do_catch },
	{ "block", 1, do_block },     { "await", 1, do_await },
	{ "sleep", 1, do_sleep },     { "say", 1, do_say },
	{ "write", 1, do_write },     { "stop", 0, do_stop },
	{ "close", 1, do_close },     { "make", 1, do_make },
	{ "read", 0, do_read },       { "foreground", 0, do_foreground },
	{ "hang", 0, do_hang },       { "refault", 0, do_refault },
	{ "fill", 2, do_fill },       { "parent", 0, do_parent },
	{ "signals", 0, do_signals }, { "fds", 0, do_fds },
	{ "state", 0, do_state },     { "run", -1, do_run },
	{ "shell", -1, do_shell },    { "complain", 1, do_complain },
	{ "missing", 0, do_missing }, { "thread", -1, do_thread },
};

static void carry_out(char **v)
{
	while (*v) {
		const struct word *w = words;
		const struct word *end = words + sizeof(words) / sizeof(*words);

		/* fork N: the next N words are the child's, who ends after them. */
		if (!strcmp(*v, "fork")) {
			long n = number(v[1]);

			if (fork() == 0) {
				v[2 + n] = NULL;
				carry_out(v + 2);
				_exit(0);
			}
			v += 2 + n;
			continue;
		}
		while (w < end && strcmp(w->name, *v) != 0)
			w++;
		if (w == end) {
			say("child-probe: unknown word\n");
			_exit(98);
		}
		w->run(v + 1);
		v += 1 + w->nargs;
	}
}

static void do_shell(char **v)
{
	int status = 0;
	char text[64];
	pid_t pid;

	signal(SIGTTOU, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		tcsetpgrp(0, getpid());
		signal(SIGTTOU, SIG_DFL);
		signal(SIGTSTP, SIG_DFL);
		/* A new program: what is ignored at its start is what counts. */
		*--v = self;
		execv(self, v);
		_exit(95);
	}
	setpgid(pid, pid);
	while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
		snprintf(text, sizeof(text), "shell: stopped %d\n", WSTOPSIG(status));
		say(text);
		say(tcgetpgrp(0) == pid ? "shell: it has the terminal\n" :
					  "shell: another has the terminal\n");
		tcsetpgrp(0, getpgrp());
		nap_ms(50);
		tcsetpgrp(0, pid);
		kill(-pid, SIGCONT);
	}
	say(tcgetpgrp(0) == pid ? "shell: it had the terminal\n" :
				  "shell: another had the terminal\n");
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void *carry_out_here(void *arg)
{
	carry_out(arg);
	_exit(0);
}

static void do_thread(char **v)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, carry_out_here, v))
		pthread_join(t, NULL);
	_exit(93);
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc < 1 || n <= 0)
		_exit(98);
	self[n] = '\0';
	carry_out(argv + 1);
	_exit(0);
}
