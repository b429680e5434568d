/*
 * secrets.c - finds secrets in command lines and environments, by the names and the form of values.
 */
#include "base/secrets.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/text.h"

enum { ARG_MAX_BYTES = 16 << 20 };

struct span {
	const char *s;
	size_t len;
};

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool in_list(const char *const *list, struct span w)
{
	for (; *list; list++)
		if (rk_text_ieq(w.s, w.len, *list))
			return true;
	return false;
}

/* ---- names ---- */

/*
 * A name is judged by its words. --max-tokens, --tokenizer and --num-key-value-heads are common
 * options of recorded programs, so parts of words do not count, and these nouns count only at the
 * end: --token-count is a number.
 */
static const char *const anywhere[] = { "secret",     "secrets",    "password",    "passwd",
					"passphrase", "credential", "credentials", NULL };
static const char *const at_end[] = { "auth", "oauth",     "authorization", "cookie",     "pwd",
				      "pat",  "accesskey", "authkey",       "privatekey", NULL };
/* These count also at the end of a longer word: --hftoken, MYAPIKEY. */
static const char *const endings[] = { "token", "password", "passwd", "apikey", "secret", NULL };
/* --sort-key and similar options name a column. */
static const char *const plain_keys[] = { "sort",  "group",  "primary",   "foreign", "join",
					  "cache", "public", "partition", "index",   NULL };

/* Removes the last word from `name` and returns it; camelCase also separates words. */
static struct span cut_last_word(struct span *name)
{
	struct span w = { name->s + name->len, 0 };

	while (name->len && !is_alnum(name->s[name->len - 1]))
		name->len--;
	while (name->len && is_alnum(name->s[name->len - 1])) {
		bool upper = name->s[name->len - 1] >= 'A' && name->s[name->len - 1] <= 'Z';
		bool after_lower = name->len > 1 && name->s[name->len - 2] >= 'a' &&
				   name->s[name->len - 2] <= 'z';

		w.s = name->s + --name->len;
		w.len++;
		if (upper && after_lower)
			break;
	}
	return w;
}

static bool secret_name(struct span name)
{
	struct span last = cut_last_word(&name), w = last;
	struct span rest = name;

	if (in_list(at_end, last))
		return true;
	for (const char *const *e = endings; *e; e++) {
		size_t n = strlen(*e);

		if (last.len >= n && rk_text_ieq(last.s + last.len - n, n, *e))
			return true;
	}
	/*
	 * Upper case only, as in DB_PASS: in lower case it is a pass of a compiler or a training.
	 */
	if (name.len && last.len == 4 && !strncmp(last.s, "PASS", 4))
		return true;
	if (rk_text_ieq(last.s, last.len, "key") && !in_list(plain_keys, cut_last_word(&rest)))
		return true;
	/* --password-file and SECRET_PATH name the location of a secret, not the secret. */
	for (; w.len; w = cut_last_word(&name))
		if (in_list(anywhere, w))
			return !rk_text_ieq(last.s, last.len, "file") &&
			       !rk_text_ieq(last.s, last.len, "path");
	return false;
}

/* ---- tokens with a known form ---- */

struct prefix {
	const char *text;
	size_t least; /* min characters after the prefix */
	bool dashes;  /* may contain - and _ */
};

static const struct prefix prefixes[] = {
	{ "hf_", 6, false },    { "ghp_", 6, false },       { "gho_", 6, false },
	{ "ghu_", 6, false },   { "ghs_", 6, false },       { "ghr_", 6, false },
	{ "glpat-", 6, true },  { "github_pat_", 6, true }, { "sk-", 8, true },
	{ "xoxb-", 6, true },   { "xoxp-", 6, true },       { "xoxa-", 6, true },
	{ "xoxs-", 6, true },   { "xapp-", 6, true },       { "AKIA", 12, false },
	{ "ASIA", 12, false },  { "AIza", 20, true },       { "npm_", 20, false },
	{ "nvapi-", 12, true }, { "dckr_pat_", 6, true },   { "pypi-", 16, true },
	{ "r8_", 20, false },   { "eyJ", 20, true },
};

/* Length of the token at s, 0 for none. A prefix alone is not enough: "hf_model", "sk-learn". */
static size_t known_token(const char *s)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		const struct prefix *p = &prefixes[i];
		size_t len = strlen(p->text), n = 0;
		const char *tail = s + len;
		bool random = false;

		if (strncmp(s, p->text, len) != 0)
			continue;
		for (; is_alnum(tail[n]) || (p->dashes && tail[n] && strchr("-_.", tail[n])); n++)
			random = random || n >= 24 || (tail[n] >= '0' && tail[n] <= '9') ||
				 (tail[n] >= 'A' && tail[n] <= 'Z');
		if (n >= p->least && random)
			return len + n;
	}
	return 0;
}

/* ---- values ---- */

static void hide(struct rk_bytes *out)
{
	rk_bytes_puts(out, RK_HIDDEN);
}

/*
 * Hides the value at p, after its name and the separators; returns where it ends. A quoted value
 * ends at its quote and keeps both quotes. The value of "Name: value" may contain blanks, that of
 * NAME=value may not.
 */
static const char *hide_value(struct rk_bytes *out, const char *p, bool colon)
{
	const char *stop = colon ? "\n\r\"'`,}]" : " \t\n\r\"'`;&|#,)}]";
	const char *end;

	if (*p == '\\' && (p[1] == '"' || p[1] == '\'')) {
		/* a quote escaped by a backslash, as in JSON inside JSON */
		const char close[] = { '\\', p[1], '\0' };

		rk_bytes_put(out, p, 2);
		hide(out);
		end = strstr(p + 2, close);
		return end ? end : p + strlen(p);
	}
	if (*p == '"' || *p == '\'') {
		rk_bytes_put(out, p, 1);
		hide(out);
		for (end = p + 1; *end && *end != *p; end++)
			if (*end == '\\' && end[1])
				end++;
		end += *end != '\0';
		if (end - p > 1 && end[-1] == *p)
			rk_bytes_put(out, p, 1);
		return end;
	}
	end = p + strcspn(p, stop);
	if (end > p)
		hide(out);
	return end;
}

static const char *skip_blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/*
 * Length of the separator at p between a name and its value: quotes, blanks, then = or :, or only
 * blanks after an option. 0: none.
 */
static size_t separator(const char *p, bool option, bool *ret_colon)
{
	const char *q = p;

	if (*q == '\\' && q[1] == '"')
		q += 2;
	else if (*q == '"' || *q == '\'')
		q++;
	*ret_colon = false;
	if (option && is_blank(*q)) {
		q = skip_blanks(q);
		/* Another option follows: this one has no value. */
		return strncmp(q, "--", 2) != 0 ? (size_t)(q - p) : 0;
	}
	if (*q == '=')
		return (size_t)(q + 1 - p);
	q = skip_blanks(q);
	if (*q != ':' || (q[1] == '/' && q[2] == '/'))
		return 0;
	*ret_colon = true;
	return (size_t)(skip_blanks(q + 1) - p);
}

static size_t name_length(const char *p)
{
	size_t n = 0;

	while (is_alnum(p[n]) || p[n] == '_' || p[n] == '-' || p[n] == '.')
		n++;
	return n;
}

/*
 * Copies the name at p and hides its value if the name indicates a secret. Returns where to
 * continue.
 */
static const char *one_name(struct rk_bytes *out, const char *p)
{
	size_t len = known_token(p), n = name_length(p);
	bool colon, bearer = rk_text_ieq(p, n, "bearer");

	if (len) {
		hide(out);
		return p + len;
	}
	rk_bytes_put(out, p, n);
	if (!bearer && !secret_name((struct span){ p, n }))
		return p + n;
	len = separator(p + n, *p == '-' || bearer, &colon);
	if (!len)
		return p + n;
	rk_bytes_put(out, p + n, len);
	return hide_value(out, p + n + len, colon && *p != '-');
}

static void hide_in_text(struct rk_bytes *out, const char *p)
{
	while (*p) {
		if (is_alnum(*p) || *p == '_' || *p == '-') {
			p = one_name(out, p);
			continue;
		}
		if (!strncmp(p, "://", 3)) { /* user:password@host */
			size_t len = strcspn(p + 3, "/?# \t\n\r\"'`<>");

			rk_bytes_put(out, p, 3);
			p += 3;
			while (len && p[len - 1] != '@')
				len--;
			if (len > 1) {
				p += len - 1;
				hide(out);
			}
			continue;
		}
		rk_bytes_put_u8(out, (uint8_t)*p++);
	}
}

/* ---- arguments ---- */

void rk_hide_argument(struct rk_bytes *out, const char *previous, const char *arg)
{
	static const char *const users[] = { "-u", "--user", "--proxy-user", NULL };
	size_t n = name_length(arg), user = 0;
	const char *colon = strchr(arg, ':');
	struct span before = { previous, previous ? strlen(previous) : 0 };

	/* curl -u name:password; but digits are user and group id of a container. */
	if (previous && colon && in_list(users, before) &&
	    strspn(colon + 1, "0123456789") != strlen(colon + 1))
		user = (size_t)(colon + 1 - arg);
	if (previous && previous[0] == '-' && name_length(previous) == before.len &&
	    strncmp(arg, "--", 2) != 0 && secret_name(before)) {
		hide(out);
	} else if (user) {
		rk_bytes_put(out, arg, user);
		hide(out);
	} else if (arg[n] == '=' && arg[n + 1] && secret_name((struct span){ arg, n })) {
		/*
		 * Hide the whole rest, blanks included: the shell has already removed the quotes.
		 */
		rk_bytes_put(out, arg, n + 1);
		hide(out);
	} else {
		hide_in_text(out, arg);
	}
}

static void add_hidden(struct rk_list *ret, const char *previous, const char *arg)
{
	struct rk_bytes text;
	const char *s;

	rk_bytes_init(&text, ARG_MAX_BYTES);
	rk_hide_argument(&text, previous, arg);
	s = rk_bytes_str(&text);
	if (s)
		rk_list_add(ret, s);
	else
		ret->bad = true;
	rk_bytes_release(&text);
}

void rk_secrets_args(const struct rk_list *argv, struct rk_list *ret)
{
	for (size_t i = 0; i < argv->n; i++)
		add_hidden(ret, i ? argv->v[i - 1] : NULL, argv->v[i]);
}

/* ---- environments ---- */

/* Names; with a star, prefixes of names. */
static const char *const interesting[] = {
	"ROCM_*",
	"ROCR_*",
	"ROCP_*",
	"ROCPROF*",
	"HIP_*",
	"HSA_*",
	"GPU_*",
	"AMD_*",
	"CUDA_VISIBLE_DEVICES",
	"NCCL_*",
	"RCCL_*",
	"MIOPEN_*",
	"ROCBLAS_*",
	"HIPBLASLT_*",
	"TENSILE_*",
	"OMP_*",
	"SLURM_JOB_ID",
	"SLURM_JOBID",
	"SLURM_STEP_ID",
	"SLURM_STEPID",
	"SLURM_PROCID",
	"SLURM_LOCALID",
	"SLURM_NODEID",
	"SLURM_NTASKS",
	"SLURM_NPROCS",
	"SLURM_NNODES",
	"SLURM_JOB_NUM_NODES",
	"SLURM_NTASKS_PER_NODE",
	"SLURM_TASKS_PER_NODE",
	"SLURM_CPUS_PER_TASK",
	"SLURM_GPUS*",
	"SLURM_ARRAY_JOB_ID",
	"SLURM_ARRAY_TASK_ID",
	"PMI_*",
	"PMIX_RANK",
	"MPI_RANK",
	"MPI_RANKID",
	"MPI_LOCALRANKID",
	"MPI_SIZE",
	"MPI_NRANKS",
	"FLUX_TASK_RANK",
	"FLUX_TASK_LOCAL_ID",
	"FLUX_JOB_ID",
	"FLUX_JOB_SIZE",
	"PALS_*",
	"JSM_NAMESPACE_*",
	"PBS_JOBID",
	"PBS_NODENUM",
	"PBS_O_TASKNUM",
	"OMPI_COMM_WORLD_*",
	"MV2_COMM_WORLD_*",
	"RANK",
	"LOCAL_RANK",
	"WORLD_SIZE",
	"LOCAL_WORLD_SIZE",
	"NODE_RANK",
	"GROUP_RANK",
	"LD_PRELOAD",
	"LD_LIBRARY_PATH",
	"PYTORCH_*",
	"ROCKIT_*",
};

/* Unlike in options, parts of words count here: no variable of interest has such a name. */
static void add_variable(struct rk_list *ret, const char *entry)
{
	static const char *const parts[] = { "TOKEN", "SECRET",     "PASSWORD", "PASSWD",
					     "KEY",   "CREDENTIAL", "AUTH",     "COOKIE" };
	size_t len = strcspn(entry, "=");

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		for (size_t at = 0; at < len; at++) {
			if (rk_text_iprefix(entry + at, len - at, parts[i])) {
				rk_list_addf(ret, "%.*s=" RK_HIDDEN, (int)len, entry);
				return;
			}
		}
	}
	add_hidden(ret, NULL, entry);
}

void rk_secrets_variables(const struct rk_list *set, struct rk_list *ret)
{
	for (size_t i = 0; i < set->n; i++)
		add_variable(ret, set->v[i]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void rk_secrets_env(char *const *envp, struct rk_list *ret)
{
	size_t first = ret->n;

	for (; *envp; envp++) {
		size_t len = strcspn(*envp, "=");

		for (size_t i = 0; (*envp)[len] && i < sizeof(interesting) / sizeof(*interesting);
		     i++) {
			size_t n = strcspn(interesting[i], "*");
			bool star = interesting[i][n] == '*';

			if (strncmp(*envp, interesting[i], n) != 0 || len < n + star ||
			    (!star && len > n))
				continue;
			add_variable(ret, *envp);
			break;
		}
	}
	if (ret->n > first)
		qsort(ret->v + first, ret->n - first, sizeof(*ret->v), by_text);
}

/* ---- names of hosts and the user, and paths ---- */

static bool is_word(char c)
{
	return is_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Characters that end a path. A colon separates two paths. */
#define PATH_ENDS " \t\r\n\"'`:;,|&<>()[]{}=@?#*"

/* Is `name` a word at `at` in a text that begins at `text`? Returns its length or 0. */
static size_t word_at(const char *text, const char *at, const char *name, size_t len)
{
	if (!len || strncmp(at, name, len) != 0 || is_word(at[len]))
		return 0;
	return at == text || !is_word(at[-1]) ? len : 0;
}

static size_t host_at(const char *text, const char *at, const char *host)
{
	size_t len;

	if (!host || !strcmp(host, "localhost"))
		return 0;
	len = word_at(text, at, host, strlen(host));
	return len ? len : word_at(text, at, host, strcspn(host, "."));
}

/* Appends from..to, a part of `text`, and replaces the names of hosts and the user. */
static void put_words(struct rk_bytes *out, const char *text, const char *from, const char *to,
		      const struct rk_redaction *who)
{
	while (from < to) {
		size_t host = host_at(text, from, who->host), at = 0, node = 0;
		size_t user = who->user ? word_at(text, from, who->user, strlen(who->user)) : 0;

		for (; node < who->nnodes; node++) {
			at = host_at(text, from, who->nodes[node]);
			if (at)
				break;
		}
		if (at && from + at <= to) {
			rk_bytes_printf(out, "[node %zu]", node + 1);
			from += at;
		} else if (host && from + host <= to) {
			rk_bytes_puts(out, "[host]");
			from += host;
		} else if (user && from + user <= to) {
			rk_bytes_puts(out, "[user]");
			from += user;
		} else {
			rk_bytes_put_u8(out, (uint8_t)*from++);
		}
	}
}

/* Length of the home directory at p, whatever precedes it; or 0. */
static size_t home_at(const char *p, const struct rk_redaction *who)
{
	size_t len = who->home ? strlen(who->home) : 0;

	while (len > 1 && who->home[len - 1] == '/')
		len--;
	if (len < 2 || *who->home != '/' || strncmp(p, who->home, len) != 0)
		return 0;
	return p[len] == '/' || !is_word(p[len]) ? len : 0;
}

/* Whether the slash at p begins an absolute path; a slash inside a relative path does not. */
static bool begins_path(const char *text, const char *p)
{
	if (p == text)
		return true;
	/* After "-I", "-L" and similar. */
	if (p - text >= 2 && p[-2] == '-' && is_word(p[-1]) &&
	    (p - text == 2 || strchr(PATH_ENDS, p[-3])))
		return true;
	/* In file:///x the third slash begins a path; in https://host none does. */
	if (p - text >= 3 && !strncmp(p - 3, "://", 3))
		return true;
	return strchr(PATH_ENDS, p[-1]) && !(p[-1] == ':' && p[1] == '/');
}

/* Appends the path at p, redacted; returns its end. */
static const char *put_path(struct rk_bytes *out, const char *text, const char *p,
			    const struct rk_redaction *who)
{
	const char *end = p + strcspn(p, PATH_ENDS), *last = end, *name;
	size_t home = home_at(p, who);

	while (last > p && last[-1] == '/')
		last--;
	for (name = last; name > p && name[-1] != '/';)
		name--;
	if (last == p) {
		rk_bytes_put(out, p, (size_t)(end - p));
	} else if (home && p + home == last) {
		rk_bytes_puts(out, "[home]");
		rk_bytes_put(out, last, (size_t)(end - last));
	} else {
		rk_bytes_puts(out, "/.../");
		put_words(out, text, name, end, who);
	}
	return end;
}

void rk_redact_text(struct rk_bytes *out, const char *text, const struct rk_redaction *who)
{
	const char *p = text, *from = text;

	while (*p) {
		if (*p != '/' || !(begins_path(text, p) || home_at(p, who))) {
			p++;
			continue;
		}
		put_words(out, text, from, p, who);
		p = put_path(out, text, p, who);
		from = p;
	}
	put_words(out, text, from, p, who);
}

/* Keys whose texts may contain a host, a user or a path. */
static const char *const hidden_keys[] = { "path",   "file", "message",   "reason",
					   "source", "node", "clock_note" };

static bool is_hidden_key(const char *key, size_t len)
{
	for (size_t i = 0; i < sizeof(hidden_keys) / sizeof(*hidden_keys); i++)
		if (strlen(hidden_keys[i]) == len && memcmp(hidden_keys[i], key, len) == 0)
			return true;
	return false;
}

void rk_redact_json(struct rk_bytes *out, const char *json, size_t len, bool all,
		    const struct rk_redaction *who)
{
	bool listed = false;

	for (size_t i = 0; i < len; i++) {
		const char *text = json + i + 1;
		struct rk_bytes plain;
		size_t end = i + 1;

		rk_bytes_put_u8(out, (uint8_t)json[i]);
		if (json[i] != '"')
			continue;
		while (end < len && json[end] != '"')
			end += json[end] == '\\' ? 2 : 1;
		end = rk_min(end, len);
		if (end + 1 < len && json[end + 1] == ':') {
			listed = is_hidden_key(text, end - i - 1);
			rk_bytes_put(out, text, end - i - 1);
		} else if (all || listed) {
			/* This never splits an escape: hidden words end at blanks and slashes. */
			rk_bytes_init(&plain, out->max);
			rk_bytes_put(&plain, text, end - i - 1);
			if (rk_bytes_str(&plain))
				rk_redact_text(out, rk_bytes_str(&plain), who);
			out->bad = out->bad || plain.bad;
			rk_bytes_release(&plain);
		} else {
			rk_bytes_put(out, text, end - i - 1);
		}
		rk_bytes_put_u8(out, '"');
		i = end;
	}
}

void rk_redaction_self(struct rk_redaction_self *ret)
{
	const char *user = getenv("USER"), *home = getenv("HOME");
	struct passwd pw, *got = NULL;
	char buf[4096];

	*ret = (struct rk_redaction_self){ .who = { ret->host, ret->user, ret->home } };
	if (gethostname(ret->host, sizeof(ret->host) - 1) < 0)
		ret->host[0] = '\0';
	/* The user database may be remote: query it only if necessary. */
	if ((!user || !home) && !getpwuid_r(getuid(), &pw, buf, sizeof(buf), &got) && got) {
		if (!user)
			user = pw.pw_name;
		if (!home)
			home = pw.pw_dir;
	}
	snprintf(ret->user, sizeof(ret->user), "%s", rk_text_or_empty(user));
	snprintf(ret->home, sizeof(ret->home), "%s", rk_text_or_empty(home));
}
