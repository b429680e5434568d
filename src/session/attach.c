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
#include <unistd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "io/file.h"
#include "monitor/sysfs.h"
#include "session/session_impl.h"

enum { PTRACE_CAPABILITY = 19, BLOCK_BYTES = 64 << 10, MAPS_MAX = 16 << 20 };

/* Below the plan's root, for tests. False if it cannot be read. */
static bool read_small(const struct rk_plan *p, char text[RK_SYSFS_TEXT], const char *path)
{
	char full[RK_SYSFS_PATH];

	rk_sysfs_path(full, p->root, "%s", path);
	return rk_sysfs_read(full, text, RK_SYSFS_TEXT);
}

/* The thread that waits for an attachment; also gives the name of the process. */
static int find_thread(const struct rk_plan *p, char name[16], struct rk_error *err)
{
	char path[RK_SYSFS_PATH], text[RK_SYSFS_TEXT];
	bool found = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", p->attach_pid);
	if (!read_small(p, text, path))
		return rk_fail(err, RK_E_UNSUPPORTED, "no process %" PRIu64 " to attach to",
			       p->attach_pid);
	snprintf(name, 16, "%.15s", text);
	for (char *c = name; *c; c++) /* a process may call itself anything */
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	rk_sysfs_path(path, p->root, "/proc/%" PRIu64 "/task", p->attach_pid);
	d = opendir(path);
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
		found = read_small(p, text, path) && !strcmp(text, "rocp-bg-attach");
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

/*
 * ptrace must be allowed: the same user or the capability; above that Yama may demand the
 * capability (1, 2) or forbid it (3). What cannot be read does not count: the profiler says it then.
 */
static int check_permission(const struct rk_plan *p, const char *name, struct rk_error *err)
{
	char path[64], text[RK_SYSFS_TEXT], word[64];
	uint64_t scope = 0, capabilities = 0, uid;
	bool may;

	/* hexadecimal without 0x */
	if (!read_small(p, text, "/proc/self/status") ||
	    !rk_sysfs_value(text, "CapEff", ':', word, sizeof(word)) ||
	    sscanf(word, "%" SCNx64, &capabilities) != 1)
		return 0;
	may = capabilities >> PTRACE_CAPABILITY & 1;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", p->attach_pid);
	/* the first of four numbers: the real user */
	if (!may && read_small(p, text, path) &&
	    rk_sysfs_value(text, "Uid", ':', word, sizeof(word)) &&
	    rk_num_u64(word, strspn(word, "0123456789"), &uid) == RK_NUM_OK &&
	    uid != (uint64_t)geteuid())
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "process %" PRIu64
			       " (%s) belongs to another user: run rockit as its "
			       "user, or with CAP_SYS_PTRACE",
			       p->attach_pid, name);
	if (read_small(p, text, "/proc/sys/kernel/yama/ptrace_scope"))
		(void)rk_num_u64(text, strlen(text), &scope);
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

bool rk_attach_has_torch(const struct rk_plan *p)
{
	static const char library[] = "libtorch_cpu.so";
	char path[RK_SYSFS_PATH], *block = rk_alloc(BLOCK_BYTES);
	struct rk_file *f = NULL;
	size_t kept = 0, len, total = 0;
	bool found = false;

	rk_sysfs_path(path, p->root, "/proc/%" PRIu64 "/maps", p->attach_pid);
	if (!block || rk_file_open(path, &f, NULL) < 0)
		goto out;
	/* the end of a block stays, because the name may be on both sides of it */
	while (!found && total < MAPS_MAX &&
	       rk_file_read(f, block + kept, BLOCK_BYTES - kept, &len, NULL) == 0 && len) {
		total += len;
		len += kept;
		found = memmem(block, len, library, sizeof(library) - 1) != NULL;
		kept = rk_min(len, sizeof(library) - 1);
		memmove(block, block + len - kept, kept);
	}
out:
	rk_file_close(f);
	rk_free(block);
	return found;
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
