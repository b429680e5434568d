/* sim_app.c - the application: started, waited for, its end taken over. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"

static volatile sig_atomic_t app_pid, last_passed;
static const int passed_on[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP };
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

/* The real tools are inside the application: what hits them hits it. */
static void pass_on(int signal_number)
{
	int before = errno;

	last_passed = signal_number;
	if (app_pid > 0)
		kill((pid_t)app_pid, signal_number);
	errno = before;
}

static void handlers(void (*fn)(int), struct sigaction old[])
{
	for (size_t i = 0; i < PASSED_ON; i++) {
		struct sigaction sa = { .sa_handler = fn, .sa_flags = SA_RESTART };

		sigaction(passed_on[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(passed_on[i], &sa, NULL);
	}
}

static void restore(const struct sigaction old[])
{
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaction(passed_on[i], &old[i], NULL);
}

static _Noreturn void become(char *const *argv, int report)
{
	int why;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(argv[0], argv);
	why = errno;
	if (write(report, &why, sizeof(why)) != (ssize_t)sizeof(why))
		_exit(126);
	_exit(127);
}

struct app_end app_run(char *const *argv)
{
	struct app_end end = { .start_ns = boot_ns() };
	struct sigaction old[PASSED_ON];
	sigset_t block, before;
	int report[2], status = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) != 0)
		exit(120);
	fflush(NULL);
	/* a signal that comes before the process is known waits until it is */
	sigemptyset(&block);
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaddset(&block, passed_on[i]);
	sigprocmask(SIG_BLOCK, &block, &before);
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		become(argv, report[1]);
	}
	app_pid = pid;
	handlers(pass_on, old);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(report[1]);
	if (read(report[0], &end.exec_errno, sizeof(int)) != (ssize_t)sizeof(int))
		end.exec_errno = 0;
	close(report[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	app_pid = 0;
	restore(old);
	end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	end.end_ns = boot_ns();
	end.passed = last_passed;
	end.pid = pid;
	return end;
}

void app_leave(const struct app_end *end)
{
	struct rlimit none = { 0, 0 };

	fflush(NULL);
	if (!end->signal)
		exit(end->status);
	setrlimit(RLIMIT_CORE, &none);
	signal(end->signal, SIG_DFL);
	raise(end->signal);
	exit(128 + end->signal);
}

void app_script_end(const struct app_end *end)
{
	struct app_end own = { .signal = end->passed };

	if (end->passed)
		app_leave(&own);
}

bool app_could_write(const struct app_end *end)
{
	static const int caught[] = { SIGINT, SIGQUIT, SIGTERM, SIGABRT };

	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		if (end->signal == caught[i])
			return true;
	return !end->signal;
}
