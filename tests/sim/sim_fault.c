/*
 * sim_fault.c - what goes wrong on request: ROCKIT_SIM_FAULT is a comma list of
 *
 *	kill-mid-write        SIGKILL in the middle of the last file
 *	truncate              every file ends early, text inside a line
 *	hang-at-exit          the files are written, then it sleeps until a signal ends it
 *	hang-hard             the same, and SIGTERM, SIGINT and SIGHUP are ignored
 *	counters-absent       no counter is recorded
 *	counters-some-absent  every second counter asked for is not recorded
 *	counters-zero         all counter values are 0
 *	unsorted              rows are not in the order of their times
 *	negative-times        every second dispatch ends before it starts
 *	extra-dispatch        a run that counts has one dispatch more
 *	no-output             status 0 and no file
 *	same-name             %pid% is 0 in every process, and there are two of them at least
 *	glog-noise            many lines on stderr
 *	exit-nonzero          the tool fails although the application did not
 *	traceback             a Python traceback before the application starts
 *	no-numpy              6.3 only: the script's import of numpy fails
 *	slow-write            the files are written in 12 s, growing all the time
 *	hang-after-crash      after a segmentation fault of the application it never ends
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_args.h"

static const char *const known[] = {
	"kill-mid-write", "truncate",        "hang-at-exit",
	"hang-hard",      "counters-absent", "counters-some-absent",
	"counters-zero",  "unsorted",        "negative-times",
	"extra-dispatch", "no-output",       "same-name",
	"glog-noise",     "exit-nonzero",    "traceback",
	"no-numpy",       "slow-write",      "hang-after-crash",
};

static const struct words *asked(void)
{
	static struct words list;
	static bool read;
	const char *text = getenv("ROCKIT_SIM_FAULT");

	if (read || !text)
		return &list;
	read = true;
	words_split(&list, text, ", ");
	for (size_t i = 0; i < list.n; i++) {
		size_t k = 0;

		while (k < sizeof(known) / sizeof(known[0]) && strcmp(known[k], list.at[i]) != 0)
			k++;
		if (k == sizeof(known) / sizeof(known[0])) {
			fprintf(stderr, "rockit-sim: no fault '%s'\n", list.at[i]);
			exit(120);
		}
	}
	return &list;
}

bool fault(const char *name)
{
	return words_have(asked(), name);
}

void fault_start(const char *script)
{
	if (fault("no-numpy") && sim.release == REL_63)
		python_traceback(script, "ModuleNotFoundError: No module named 'numpy'");
	if (fault("traceback"))
		python_traceback(script, "KeyError: 'ROCPROF'");
	fault_noise();
}

void fault_end(int *status)
{
	fault_noise();
	if (fault("hang-hard")) {
		signal(SIGTERM, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
	}
	while (fault("hang-at-exit") || fault("hang-hard"))
		pause();
	if (fault("exit-nonzero") && *status == 0)
		*status = 1;
}

void fault_noise(void)
{
	if (!fault("glog-noise"))
		return;
	for (int i = 0; i < 200; i++) {
		glog('W', "simple_timer.cpp:55", "[rocprofv3] tool initialization :: %d.%06d sec",
		     i, i);
		glog('E', "generateRocpd.cpp:605", "writing SQL database for process %d on node %d",
		     (int)getpid(), i);
	}
}
