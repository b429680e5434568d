/* live_env.c - the variables that load a collector asleep, for a shell, systemd and Docker. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/text.h"
#include "io/output.h"
#include "live/live_files.h"
#include "rockit/gpus.h"
#include "rockit/live.h"
#include "run/run_dir.h"
#include "tool/tool.h"

enum { TEXT_MAX = 1 << 20 };

/* As much as `rockit record` takes: what a service leaves on a disk must be bounded. */
#define WINDOW "limit=512M"

/* ---- which collector ---- */

static bool is_installed(const struct rk_tool_ops *t, struct rk_bytes *ret_path)
{
	return t && t->library && rk_collector_find(t->programs[0], ret_path);
}

static int pick_auto(const char *root, const struct rk_tool_ops **ret, struct rk_bytes *path,
		     struct rk_error *err)
{
	struct rk_gpus gpus = { 0 };
	bool amd = false, nvidia = false;
	int rc = rk_gpus_find(root, &gpus, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < gpus.n; i++) {
		amd |= !strcmp(gpus.gpus[i].vendor, "AMD");
		nvidia |= !strcmp(gpus.gpus[i].vendor, "NVIDIA");
	}
	rk_gpus_release(&gpus);
	*ret = NULL;
	if (amd && is_installed(rk_tool_find("rocm"), path))
		*ret = rk_tool_find("rocm");
	else if (nvidia && is_installed(rk_tool_find("cupti"), path))
		*ret = rk_tool_find("cupti");
	else if (is_installed(rk_tool_find("opencl"), path))
		*ret = rk_tool_find("opencl");
	if (*ret)
		return 0;
	return rk_fail(err, RK_E_UNSUPPORTED, "no collector of rockit is installed");
}

static int pick(const struct rk_env_options *o, const struct rk_tool_ops **ret,
		struct rk_bytes *path, struct rk_error *err)
{
	if (!o->tool || !strcmp(o->tool, "auto"))
		return pick_auto(o->root, ret, path, err);
	*ret = rk_tool_find(o->tool);
	if (!*ret || !(*ret)->library)
		return rk_fail(err, RK_E_USAGE,
			       "'%s' is not a collector of rockit: use rocm, cupti or opencl",
			       o->tool);
	if (!is_installed(*ret, path))
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "%s is not installed beside rockit (ROCKIT_COLLECTORS names another "
			       "place)",
			       (*ret)->programs[0]);
	return 0;
}

/* ---- text ---- */

/* In a unit file % begins a specifier; quotes and backslashes are escaped as in C. */
static void put_systemd(struct rk_bytes *b, const char *entry)
{
	rk_bytes_puts(b, "Environment=\"");
	for (; *entry; entry++) {
		if (*entry == '"' || *entry == '\\')
			rk_bytes_put_u8(b, '\\');
		else if (*entry == '%')
			rk_bytes_put_u8(b, '%');
		rk_bytes_put_u8(b, (uint8_t)*entry);
	}
	rk_bytes_puts(b, "\"\n");
}

static void put_sh(struct rk_bytes *b, const char *entry)
{
	char name[128];
	const char *value = rk_list_entry(entry, name, sizeof(name));

	if (!value)
		return;
	rk_bytes_printf(b, "export %s=", name);
	rk_shell_word(b, RK_SHELL_SCRIPT, value);
	rk_bytes_put_u8(b, '\n');
}

static int put_all(const struct rk_env_options *o, const struct rk_tool_command *c,
		   struct rk_bytes *b, struct rk_error *err)
{
	if (o->format == RK_ENV_SYSTEMD)
		rk_bytes_puts(b, "[Service]\n");
	for (size_t i = 0; i < c->env.n; i++) {
		const char *entry = c->env.v[i];

		/* Docker takes a line as it is */
		if (o->format != RK_ENV_SH && strpbrk(entry, "\n\r"))
			return rk_fail(err, RK_E_USAGE,
				       "a path with a line end cannot be written in this format");
		if (o->format == RK_ENV_SYSTEMD)
			put_systemd(b, entry);
		else if (o->format == RK_ENV_DOCKER)
			rk_bytes_printf(b, "%s\n", entry);
		else
			put_sh(b, entry);
	}
	return 0;
}

/* ---- all together ---- */

/* A directory that was named is for the place where the program runs: only a new one is made. */
static int name_dir(const struct rk_env_options *o, struct rk_bytes *ret, struct rk_error *err)
{
	int rc = rk_run_dir_name(o->dir, -1, ret, err);

	if (rc == 0 && !o->dir)
		rc = rk_make_dirs(rk_bytes_str(ret), err);
	return rc;
}

int rk_live_env(const struct rk_env_options *opt, char **ret_text, size_t *ret_len,
		struct rk_error *err)
{
	static const char *const settings[] = { "asleep=1", "switch=1", "window=1", WINDOW };
	struct rk_list extra = { 0 }, app = { 0 };
	struct rk_want want = { .arch = "", .extra = &extra, .app = &app };
	struct rk_tool_command command = { 0 };
	const struct rk_tool_ops *tool = NULL;
	struct rk_bytes path, dir, text;
	int rc;

	if (!opt || !ret_text || !ret_len)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0 ||
	    rk_check_enum(opt->format, RK_ENV_DOCKER, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&path, TEXT_MAX);
	rk_bytes_init(&dir, TEXT_MAX);
	rk_bytes_init(&text, TEXT_MAX);
	rc = pick(opt, &tool, &path, err);
	if (rc < 0)
		goto out;
	if (opt->no_kernels && strcmp(tool->name, "rocm") != 0) {
		rc = rk_fail(err, RK_E_USAGE, "only the ROCm collector has --kernels-from-start");
		goto out;
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		rk_list_add(&extra, settings[i]);
	if (opt->no_kernels)
		rk_list_add(&extra, "kernels=0");
	rc = name_dir(opt, &dir, err);
	if (rc < 0)
		goto out;
	want.dir = rk_bytes_str(&dir);
	want.traces = tool->lightest;
	if (extra.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = tool->command(rk_bytes_str(&path), (struct rk_version){ 0 }, &want, &command, err);
	if (rc == 0)
		rc = put_all(opt, &command, &text, err);
	if (rc == 0)
		rc = rk_bytes_give(&text, ret_text, ret_len, err);
out:
	rk_tool_command_release(&command);
	rk_list_release(&extra);
	rk_list_release(&app);
	rk_bytes_release(&path);
	rk_bytes_release(&dir);
	rk_bytes_release(&text);
	return rc;
}
