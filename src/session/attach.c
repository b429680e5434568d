/*
 * attach.c - whether a running process can be recorded.
 *
 * Attaching stops the process and calls functions in it, so everything that can be known from
 * outside is looked at first, in /proc, which disturbs nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "io/file.h"
#include "session/session_impl.h"

enum { LINE_BYTES = 4096, PTRACE_CAPABILITY = 19 };

/* The first bytes of a file below the plan's root, NUL-terminated; false if it cannot be read. */
static bool read_small(const struct rk_plan *p, char text[LINE_BYTES], const char *path)
{
	char *full = rk_strf("%s%s", rk_text_or_empty(p->root), path);
	struct rk_file *f = NULL;
	size_t len = 0;
	bool ok = full && rk_file_open(full, &f, NULL) == 0 &&
		  rk_file_read(f, text, LINE_BYTES - 1, &len, NULL) == 0;

	text[ok ? len : 0] = '\0';
	rk_file_close(f);
	rk_free(full);
	return ok;
}

/* The thread that waits for an attachment; also gives the name of the process. */
static int find_thread(const struct rk_plan *p, char name[16], struct rk_error *err)
{
	char path[128], text[LINE_BYTES], *full;
	bool found = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", p->attach_pid);
	if (!read_small(p, text, path))
		return rk_fail(err, RK_E_UNSUPPORTED, "no process %" PRIu64 " to attach to",
			       p->attach_pid);
	text[strcspn(text, "\n")] = '\0';
	snprintf(name, 16, "%.15s", text);
	for (char *c = name; *c; c++) /* a process may call itself anything */
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task", p->attach_pid);
	full = rk_strf("%s%s", rk_text_or_empty(p->root), path);
	if (!full)
		return rk_fail_nomem(err);
	d = opendir(full);
	rk_free(full);
	if (!d)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "cannot look into process %" PRIu64 " (%s): %s; run rockit as its "
			       "user",
			       p->attach_pid, name, strerror(errno));
	while (!found && (e = readdir(d)) != NULL) {
		if (!rk_is_digit(e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%.20s/comm", p->attach_pid,
			 e->d_name);
		found = read_small(p, text, path) && !strcmp(text, "rocp-bg-attach\n");
	}
	closedir(d);
	if (!found)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "process %" PRIu64 " (%s) was not started for attachment and stays "
			       "as it is: start it with ROCP_TOOL_ATTACH=1 (it has no thread "
			       "'rocp-bg-attach')",
			       p->attach_pid, name);
	return 0;
}

/* A number after `key` in a file of "Key:\tvalue" lines. */
static bool field(const char *text, const char *key, int base, uint64_t *ret)
{
	const char *at = strstr(text, key);
	int n = 0;

	if (!at)
		return false;
	if (base == 16)
		return sscanf(at + strlen(key), " %" SCNx64 "%n", ret, &n) == 1 && n;
	return sscanf(at + strlen(key), " %" SCNu64 "%n", ret, &n) == 1 && n;
}

/*
 * ptrace must be allowed: the same user or the capability; above that Yama may demand the
 * capability (1, 2) or forbid it (3). What cannot be read does not count: the profiler says it then.
 */
static int check_permission(const struct rk_plan *p, const char *name, struct rk_error *err)
{
	char path[64], text[LINE_BYTES];
	uint64_t scope = 0, capabilities = 0, uid = 0;
	bool may;

	if (!read_small(p, text, "/proc/self/status") ||
	    !field(text, "\nCapEff:", 16, &capabilities))
		return 0;
	may = capabilities >> PTRACE_CAPABILITY & 1;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", p->attach_pid);
	if (!may && read_small(p, text, path) && field(text, "\nUid:", 10, &uid) &&
	    uid != (uint64_t)geteuid())
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "process %" PRIu64
			       " (%s) belongs to another user: run rockit as its "
			       "user, or with CAP_SYS_PTRACE",
			       p->attach_pid, name);
	if (read_small(p, text, "/proc/sys/kernel/yama/ptrace_scope"))
		(void)rk_num_u64(text, strcspn(text, "\n"), &scope);
	if (scope > 2)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "this kernel lets nobody attach until it is booted again "
			       "(ptrace_scope is %" PRIu64 ")",
			       scope);
	if (scope && !may)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "this kernel does not let profilers attach (ptrace_scope is %" PRIu64
			       "): 'sudo sysctl kernel.yama.ptrace_scope=0', or CAP_SYS_PTRACE",
			       scope);
	return 0;
}

int rk_attach_check(const struct rk_plan *p, char name[16], struct rk_error *err)
{
	int rc;

	if (p->attach_pid == (uint64_t)getpid() || p->attach_pid == (uint64_t)getppid())
		return rk_fail(err, RK_E_USAGE, "process %" PRIu64 " is %s itself", p->attach_pid,
			       p->attach_pid == (uint64_t)getpid() ? "rockit" :
								     "the one that started rockit");
	if ((rc = find_thread(p, name, err)) < 0 || (rc = check_permission(p, name, err)) < 0)
		return rc;
	if (!p->duration_s && !isatty(STDIN_FILENO))
		return rk_fail(err, RK_E_USAGE,
			       "--attach needs --duration S: standard input is not a terminal, so "
			       "nobody can end the recording with Enter");
	return 0;
}
