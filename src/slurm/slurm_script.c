/*
 * slurm_script.c - see slurm_script.h.
 *
 * Two languages in one file: #SBATCH lines, which sbatch parses itself (blanks separate words
 * unless quoted, a backslash protects a quote or itself, '#' begins a comment, no line is
 * continued), and commands for /bin/sh. Every rank runs under its own rockit, so each has its own
 * directory.
 */
#include "slurm/slurm_script.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/num.h"
#include "base/text.h"
#include "rockit/rockit.h"
#include "run/ranks.h"

enum { MOST_NODES = 1000000, MOST_PER_NODE = 100000 };

/* ---- what was asked ---- */

static const char *value_of(const char *const *pairs, const char *key)
{
	size_t len = strlen(key);

	for (; pairs && *pairs; pairs++)
		if (!strncmp(*pairs, key, len) && (*pairs)[len] == '=')
			return *pairs + len + 1;
	return NULL;
}

static int take_number(uint64_t *at, const char *const *pairs, const char *key,
		       struct rk_error *err)
{
	const char *text = value_of(pairs, key);

	if (*at || !text)
		return 0;
	if (rk_num_u64(text, strlen(text), at) != RK_NUM_OK)
		return rk_fail(err, RK_E_USAGE, "'%s' of the context is '%s', not a number", key,
			       text);
	return 0;
}

static void take_text(const char **at, const char *const *pairs, const char *key)
{
	const char *text = value_of(pairs, key);

	if (!*at && text && text[0])
		*at = text;
}

static int take_preset(struct rk_slurm_options *o, const struct rk_preset *p, struct rk_error *err)
{
	const char *text;
	int rc;

	if ((rc = take_number(&o->nodes, p->slurm, "nodes", err)) < 0 ||
	    (rc = take_number(&o->gpus_per_node, p->slurm, "gpus_per_node", err)) < 0 ||
	    (rc = take_number(&o->tasks_per_node, p->slurm, "ntasks_per_node", err)) < 0)
		return rc;
	take_text(&o->partition, p->slurm, "partition");
	take_text(&o->time, p->slurm, "time");
	take_text(&o->account, p->slurm, "account");
	take_text(&o->qos, p->slurm, "qos");
	take_text(&o->constraint, p->slurm, "constraint");
	take_text(&o->dir, p->slurm, "output_dir");
	text = value_of(p->slurm, "exclusive");
	if (text && (!strcmp(text, "true") || !strcmp(text, "1") || !strcmp(text, "yes")))
		o->exclusive = true;
	if (!o->nodes)
		o->nodes = p->nnodes;
	if (!o->tasks_per_node)
		o->tasks_per_node = p->nproc_per_node;
	if (!o->launcher && p->launcher[0])
		o->launcher = p->launcher;
	return 0;
}

int rk_slurm_merge(struct rk_slurm_options *o, const struct rk_preset *p, struct rk_error *err)
{
	if (p) {
		int rc = take_preset(o, p, err);

		if (rc < 0)
			return rc;
	}
	if (!o->nodes)
		o->nodes = 1;
	if (!o->tasks_per_node)
		o->tasks_per_node = rk_max(o->gpus_per_node, 1);
	if (!o->launcher)
		o->launcher = "srun";
	if (!o->job_name)
		o->job_name = "rockit";
	if (o->nodes > MOST_NODES || o->tasks_per_node > MOST_PER_NODE ||
	    o->gpus_per_node > MOST_PER_NODE)
		return rk_fail(err, RK_E_USAGE,
			       "%" PRIu64 " nodes with %" PRIu64 " tasks and %" PRIu64
			       " GPUs each are too many",
			       o->nodes, o->tasks_per_node, o->gpus_per_node);
	if (strcmp(o->launcher, "srun") != 0 && strcmp(o->launcher, "torchrun") != 0 &&
	    strcmp(o->launcher, "mpirun") != 0)
		return rk_fail(err, RK_E_USAGE,
			       "unknown launcher '%s'; use srun, torchrun or mpirun", o->launcher);
	return 0;
}

uint64_t rk_slurm_size(const struct rk_slurm_options *o)
{
	return o->nodes * o->tasks_per_node;
}

/* ---- #SBATCH ---- */

/* One option and its value, as one word; without a name, an option as the user gave it. */
static int put_sbatch(struct rk_bytes *out, const char *name, const char *value,
		      struct rk_error *err)
{
	const char *what = name[0] ? name : "an option of sbatch (--sbatch)";

	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return rk_fail(err, RK_E_USAGE,
				       "%s contains a line end or another control character, which "
				       "an #SBATCH line cannot contain",
				       what);
	rk_bytes_printf(out, "#SBATCH %s%s", name, name[0] ? "=" : "");
	if (value[0] && !value[strcspn(value, " #\"'\\")]) {
		rk_bytes_printf(out, "%s\n", value);
		return 0;
	}
	rk_bytes_put_u8(out, '"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			rk_bytes_put_u8(out, '\\');
		rk_bytes_put_u8(out, (uint8_t)*value);
	}
	rk_bytes_puts(out, "\"\n");
	return 0;
}

/* In file names of sbatch % begins a pattern. */
static int put_output(const struct rk_slurm_options *o, struct rk_bytes *out, struct rk_error *err)
{
	struct rk_bytes name;
	int rc;

	if (o->output)
		return put_sbatch(out, "--output", o->output, err);
	rk_bytes_init(&name, 1 << 16);
	for (const char *c = o->dir; *c; c++) {
		if (*c == '%')
			rk_bytes_put_u8(&name, '%');
		rk_bytes_put_u8(&name, (uint8_t)*c);
	}
	rk_bytes_puts(&name, "/slurm-%j.out");
	if (rk_bytes_str(&name))
		rc = put_sbatch(out, "--output", rk_bytes_str(&name), err);
	else
		rc = rk_fail_nomem(err);
	rk_bytes_release(&name);
	return rc;
}

static int put_words(struct rk_bytes *out, const char *text, const char *option,
		     int (*put)(struct rk_bytes *out, const char *word, struct rk_error *err),
		     struct rk_error *err)
{
	struct rk_list words = { 0 };
	int rc = 0;

	if (!text)
		return 0;
	if (!rk_list_split_words(&words, text))
		rc = rk_fail(err, RK_E_USAGE, "unclosed quote in %s", option);
	else if (words.bad)
		rc = rk_fail_nomem(err);
	for (size_t i = 0; rc >= 0 && i < words.n; i++)
		rc = put(out, words.v[i], err);
	rk_list_release(&words);
	return rc;
}

static int put_own(struct rk_bytes *out, const char *word, struct rk_error *err)
{
	if (word[0] != '-')
		return rk_fail(err, RK_E_USAGE,
			       "'%s' in --sbatch is not an option; write "
			       "--name=value",
			       word);
	return put_sbatch(out, "", word, err);
}

static int put_request(const struct rk_slurm_options *o, struct rk_bytes *out, struct rk_error *err)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "--job-name", o->job_name },
		{ "--time", o->time },
		{ "--partition", o->partition },
		{ "--account", o->account },
		{ "--qos", o->qos },
		{ "--constraint", o->constraint },
	};
	uint64_t tasks = o->tasks_per_node;
	int rc;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!texts[i].value)
			continue;
		rc = put_sbatch(out, texts[i].name, texts[i].value, err);
		if (rc < 0)
			return rc;
	}
	rc = put_output(o, out, err);
	if (rc < 0)
		return rc;
	if (!strcmp(o->launcher, "torchrun"))
		tasks = 1; /* it starts the others of its node itself */
	rk_bytes_printf(out, "#SBATCH --nodes=%" PRIu64 "\n", o->nodes);
	rk_bytes_printf(out, "#SBATCH --ntasks-per-node=%" PRIu64 "\n", tasks);
	if (o->gpus_per_node)
		rk_bytes_printf(out, "#SBATCH --gpus-per-node=%" PRIu64 "\n", o->gpus_per_node);
	if (o->exclusive)
		rk_bytes_puts(out, "#SBATCH --exclusive\n");
	return put_words(out, o->sbatch_args, "--sbatch", put_own, err);
}

/* ---- commands ---- */

static int put_word(struct rk_bytes *out, const char *word, struct rk_error *err)
{
	(void)err;
	rk_bytes_puts(out, " \\\n\t");
	rk_shell_word(out, RK_SHELL_SCRIPT, word);
	return 0;
}

static void put_pair(struct rk_bytes *out, const char *option, const char *value)
{
	if (!value)
		return;
	put_word(out, option, NULL);
	rk_bytes_put_u8(out, ' ');
	rk_shell_word(out, RK_SHELL_SCRIPT, value);
}

static int put_run(const struct rk_slurm_options *o, struct rk_bytes *out, struct rk_error *err)
{
	int rc;

	put_word(out, o->rockit, NULL);
	rk_bytes_puts(out, " run");
	put_pair(out, "--preset", o->preset);
	put_pair(out, "--additional-context", o->context);
	put_pair(out, "--additional-context-file", o->context_file);
	put_pair(out, "--ranks", o->ranks);
	put_pair(out, "--dir", o->dir);
	if (o->force)
		put_word(out, "--force", NULL);
	rc = put_words(out, o->run_args, "--run-args", put_word, err);
	if (rc < 0)
		return rc;
	put_word(out, "--", NULL);
	/* With --no_python torchrun does not put python before the program, which is rockit here. */
	if (!strcmp(o->launcher, "torchrun") && rk_is_python_script(o->argv[0])) {
		put_word(out, "python3", NULL);
		put_word(out, "-u", NULL);
	}
	for (char *const *word = o->argv; *word; word++)
		put_word(out, *word, NULL);
	rk_bytes_put_u8(out, '\n');
	return 0;
}

static int put_launcher(const struct rk_slurm_options *o, struct rk_bytes *out,
			struct rk_error *err)
{
	bool torch = !strcmp(o->launcher, "torchrun");
	int rc;

	if (torch)
		rk_bytes_printf(
			out,
			"head=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
			"port=$((20000 + SLURM_JOB_ID %% 30000))\n"
			"srun --ntasks-per-node=1 \\\n\ttorchrun \\\n"
			"\t--nnodes=\"$SLURM_JOB_NUM_NODES\" --nproc_per_node=%" PRIu64
			" \\\n\t--rdzv_id=\"$SLURM_JOB_ID\" --rdzv_backend=c10d "
			"--rdzv_endpoint=\"$head:$port\"",
			o->tasks_per_node);
	else if (!strcmp(o->launcher, "mpirun"))
		rk_bytes_printf(out, "mpirun -np %" PRIu64, rk_slurm_size(o));
	else
		rk_bytes_printf(out, "srun --ntasks=%" PRIu64 " --ntasks-per-node=%" PRIu64,
				rk_slurm_size(o), o->tasks_per_node);
	rc = put_words(out, o->launcher_args, "--launcher-args", put_word, err);
	if (rc < 0)
		return rc;
	if (torch) /* what it starts is rockit, not a script */
		put_word(out, "--no_python", NULL);
	return 0;
}

int rk_slurm_write(const struct rk_slurm_options *o, struct rk_bytes *out, struct rk_error *err)
{
	int rc;

	rk_bytes_puts(out, "#!/bin/sh\n");
	rc = put_request(o, out, err);
	if (rc < 0)
		return rc;
	rk_bytes_puts(out, "#\n# generated by rockit " ROCKIT_VERSION
			   ": runs every rank of the program under its own profiler\n\n");
	/* the launcher of a context is the one below, and not to be started again by each rank */
	rk_bytes_puts(out, "ROCKIT_LAUNCHED=1\nexport ROCKIT_LAUNCHED\n");
	if ((rc = put_launcher(o, out, err)) < 0 || (rc = put_run(o, out, err)) < 0)
		return rc;
	if (out->bad)
		return rk_fail_nomem(err);
	return 0;
}
