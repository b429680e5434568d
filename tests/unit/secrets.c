/* secrets.c - what is hidden of arguments, environments and places, and what is not. */
#include "base/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tap.h"

struct pair {
	const char *previous, *arg, *want; /* want NULL: as it is */
};

static void check_pairs(const struct pair *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct rk_bytes out;

		rk_bytes_init(&out, 10000);
		rk_hide_argument(&out, p[i].previous, p[i].arg);
		CHECK_STR(rk_bytes_str(&out), p[i].want ? p[i].want : p[i].arg);
		rk_bytes_release(&out);
	}
}

#define CHECK_PAIRS(table) check_pairs(table, sizeof(table) / sizeof(*(table)))

TEST(values_of_secret_options_are_hidden)
{
	static const struct pair table[] = {
		{ NULL, "--token=abc", "--token=[hidden]" },
		{ NULL, "--token", NULL },
		{ "--token", "abc", "[hidden]" },
		{ "--token", "a b c", "[hidden]" },
		{ "--token", "", "[hidden]" },
		{ "-token", "abc", "[hidden]" },
		{ "--hf-token", "abc", "[hidden]" },
		{ "--hftoken", "abc", "[hidden]" },
		{ "--hf_token", "abc", "[hidden]" },
		{ "--password", "-x-", "[hidden]" },
		{ "--db.password", "x", "[hidden]" },
		{ "--api-key", "x", "[hidden]" },
		{ "--apiKey", "x", "[hidden]" },
		{ "--APIKEY", "x", "[hidden]" },
		{ "--secret", "x", "[hidden]" },
		{ "--secret-key", "x", "[hidden]" },
		{ "--client-secret-value", "x", "[hidden]" },
		{ "--auth", "x", "[hidden]" },
		{ "--basic-auth", "u:p", "[hidden]" },
		{ "--key", "x", "[hidden]" },
		{ NULL, "--api_key=a b", "--api_key=[hidden]" },
		{ NULL, "--password=", NULL },
		{ "-u", "me:pw", "me:[hidden]" },
		{ "--user", "me:pw", "me:[hidden]" },
	};

	CHECK_PAIRS(table);
}

TEST(options_that_only_sound_like_secrets_are_kept)
{
	static const struct pair table[] = {
		{ "--max-tokens", "512", NULL },
		{ "--max-new-tokens", "512", NULL },
		{ NULL, "--max_tokens=512", NULL },
		{ "--tokenizer", "gpt2", NULL },
		{ "--token-count", "3", NULL },
		{ "--num-key-value-heads", "8", NULL },
		{ "--sort-key", "name", NULL },
		{ "--author", "me", NULL },
		{ "--auth-type", "basic", NULL },
		{ "--password-file", "/etc/pw", NULL },
		{ "--keys", "3", NULL },
		{ "--monkey", "3", NULL },
		{ "--pass", "2", NULL },
		{ "--compass", "n", NULL },
		{ "--pattern", "x", NULL },
		{ "--auth", "--verbose", NULL },
		{ "-u", "train.py", NULL },
		{ "-u", "1000:1000", NULL },
		{ "token", "abc", NULL },
		{ NULL, "-", NULL },
		{ NULL, "--", NULL },
		{ NULL, "", NULL },
		{ NULL, "--lr=1e-3", NULL },
		{ NULL, "model.num_key_value_heads=8", NULL },
	};

	CHECK_PAIRS(table);
}

TEST(assignments_with_secret_names_are_hidden)
{
	static const struct pair table[] = {
		{ NULL, "HF_TOKEN=abc", "HF_TOKEN=[hidden]" },
		{ NULL, "AWS_SECRET_ACCESS_KEY=a/b+c", "AWS_SECRET_ACCESS_KEY=[hidden]" },
		{ NULL, "DB_PASS=x y", "DB_PASS=[hidden]" },
		{ NULL, "GITHUB_PAT=x", "GITHUB_PAT=[hidden]" },
		{ NULL, "trainer.logger.api_key=x", "trainer.logger.api_key=[hidden]" },
		{ NULL, "TOKENIZERS_PARALLELISM=false", NULL },
		{ NULL, "PATH=/usr/bin", NULL },
	};

	CHECK_PAIRS(table);
}

TEST(secrets_inside_a_longer_text_are_hidden)
{
	static const struct pair table[] = {
		{ "-c", "export HF_TOKEN=abc; python x.py",
		  "export HF_TOKEN=[hidden]; python x.py" },
		{ "-c", "env HF_TOKEN='a b' run --token abc -v",
		  "env HF_TOKEN='[hidden]' run --token [hidden] -v" },
		{ "-c", "run --password \"a \\\" b\" x", "run --password \"[hidden]\" x" },
		{ "-c", "run --auth --verbose", NULL },
		{ NULL, "{\"env_vars\": {\"HF_TOKEN\": \"abc\", \"N\": \"1\"}}",
		  "{\"env_vars\": {\"HF_TOKEN\": \"[hidden]\", \"N\": \"1\"}}" },
		{ NULL, "{\"password\":5,\"n\":6}", "{\"password\":[hidden],\"n\":6}" },
		{ NULL, "{\\\"token\\\":\\\"abc\\\",\\\"n\\\":1}",
		  "{\\\"token\\\":\\\"[hidden]\\\",\\\"n\\\":1}" },
		{ NULL, "token: abc", "token: [hidden]" },
		{ "-H", "Authorization: Bearer abc def", "Authorization: [hidden]" },
		{ "-H", "X-Api-Key: abc", "X-Api-Key: [hidden]" },
		{ NULL, "send Bearer abc now", "send Bearer [hidden] now" },
		{ NULL, "a 'token", NULL },
		{ NULL, "x \"token\": \"open", "x \"token\": \"[hidden]" },
	};

	CHECK_PAIRS(table);
}

TEST(credentials_in_urls_are_hidden)
{
	static const struct pair table[] = {
		{ NULL, "https://me:pw@host/x", "https://[hidden]@host/x" },
		{ NULL, "https://ghp_x@host/x", "https://[hidden]@host/x" },
		{ NULL, "--index=http://u:p@h:80/a@b", "--index=http://[hidden]@h:80/a@b" },
		{ NULL, "https://host/x?token=abc&n=1", "https://host/x?token=[hidden]&n=1" },
		{ NULL, "https://host/me@x", NULL },
		{ NULL, "https://host", NULL },
		{ NULL, "me@host:/path", NULL },
		{ NULL, "://", NULL },
	};

	CHECK_PAIRS(table);
}

TEST(well_known_tokens_are_hidden_wherever_they_are)
{
	static const struct pair table[] = {
		{ NULL, "hf_abcDEF123456", "[hidden]" },
		{ NULL, "x=ghp_abcDEF123456", "x=[hidden]" },
		{ NULL, "gho_abc123DEF,x", "[hidden],x" },
		{ NULL, "github_pat_11ABC_def", "[hidden]" },
		{ NULL, "sk-proj-abc123_DEF", "[hidden]" },
		{ NULL, "xoxb-123-abc-DEF", "[hidden]" },
		{ NULL, "AKIAIOSFODNN7EXAMPLE", "[hidden]" },
		{ NULL, "/data/glpat-abc123DEF/x", "/data/[hidden]/x" },
		{ NULL, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abc", "[hidden]" },
		{ NULL, "hf_model", NULL },
		{ NULL, "hf_transfer_dir", NULL },
		{ NULL, "sk-learn", NULL },
		{ NULL, "ask-me-anything-123456", NULL },
		{ NULL, "AKIA", NULL },
	};

	CHECK_PAIRS(table);
}

TEST(an_argument_vector_is_hidden_as_a_whole)
{
	struct rk_list argv = { 0 }, got = { 0 };

	rk_list_split(&argv, "python x.py --token abc --lr 1 HF_TOKEN=x", " ");
	rk_secrets_args(&argv, &got);
	CHECK(!got.bad);
	CHECK_U64(got.n, 7);
	CHECK_STR(got.v[2], "--token");
	CHECK_STR(got.v[3], "[hidden]");
	CHECK_STR(got.v[5], "1");
	CHECK_STR(got.v[6], "HF_TOKEN=[hidden]");
	rk_list_release(&argv);
	rk_list_release(&got);
}

static char *environment[] = {
	"WORLD_SIZE=8",
	"HIP_VISIBLE_DEVICES=0,1",
	"HF_TOKEN=abc",
	"HOME=/users/me",
	"ROCM_API_TOKEN=abc",
	"ROCKIT_my_password=x",
	"SLURM_PROCID=3",
	"SLURM_JWT=abc",
	"SLURM_JOB_NODELIST=n1",
	"PMIX_RANK=3",
	"PMIX_SECURITY_MODE=x",
	"OMPI_COMM_WORLD_RANK=1",
	"RANK=1",
	"RANKS=1",
	"CUDA_VISIBLE_DEVICES_X=1",
	"ROCKIT_SERVER=http://u:p@h/",
	"LD_PRELOAD=",
	"NCCL_",
	"=x",
	NULL,
};

TEST(of_an_environment_what_matters_is_kept_sorted_and_without_secrets)
{
	static const char *const want[] = {
		"HIP_VISIBLE_DEVICES=0,1",
		"LD_PRELOAD=",
		"OMPI_COMM_WORLD_RANK=1",
		"PMIX_RANK=3",
		"RANK=1",
		"ROCKIT_SERVER=http://[hidden]@h/",
		"ROCKIT_my_password=[hidden]",
		"ROCM_API_TOKEN=[hidden]",
		"SLURM_PROCID=3",
		"WORLD_SIZE=8",
	};
	struct rk_list got = { 0 };

	rk_secrets_env(environment, &got);
	CHECK(!got.bad);
	CHECK_U64(got.n, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < got.n && i < sizeof(want) / sizeof(*want); i++)
		CHECK_STR(got.v[i], want[i]);
	rk_list_release(&got);
}

TEST(hiding_survives_each_failed_allocation)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 200; n++) {
		struct rk_list argv = { 0 }, got = { 0 };

		rk_list_split(&argv, "x --token abc", " ");
		rk_alloc_fail_after(n);
		rk_secrets_args(&argv, &got);
		rk_secrets_env(environment, &got);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(got.bad, failed);
		rk_list_release(&argv);
		rk_list_release(&got);
	}
	CHECK(!failed);
}

/* ---- places ---- */

static const struct rk_redaction alice = { "node12.example.org", "alice", "/users/alice" };

TEST(paths_host_and_user_are_redacted)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{ "/users/alice/src/train.py", "/.../train.py" },
		{ "python /opt/x/y.py --dir=/data/set/", "python /.../y.py --dir=/.../set/" },
		{ "/users/alice", "[home]" },
		{ "/users/alice/", "[home]/" },
		{ "/users/alicex", "/.../alicex" },
		{ "/data/alice", "/.../[user]" },
		{ "/data/alice/node12.log", "/.../[host].log" },
		{ "/a/b:/c/d", "/.../b:/.../d" },
		{ "-I/usr/include -L/lib/x", "-I/.../include -L/.../x" },
		{ "x=\"/a/b c\"", "x=\"/.../b c\"" },
		{ "src/a/b.py", "src/a/b.py" },
		{ "../x/./y", "../x/./y" },
		{ "prefix/users/alice/x", "prefix/.../x" },
		{ "file:///a/b", "file:///.../b" },
		{ "https://example.com/a/b", "https://example.com/a/b" },
		{ "alice@node12:/tmp/x", "[user]@[host]:/.../x" },
		{ "on node12.example.org", "on [host]" },
		{ "malice alices alice_2 alice-2", "malice alices alice_2 [user]-2" },
		{ "/", "/" },
		{ "a / b", "a / b" },
		{ "//", "//" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct rk_bytes out;

		rk_bytes_init(&out, 1000);
		rk_redact_text(&out, table[i].text, &alice);
		CHECK_STR(rk_bytes_str(&out), table[i].want);
		rk_bytes_release(&out);
	}
}

TEST(machines_of_a_job_are_numbered)
{
	static char *const nodes[] = { "node12.example.org", "gpu-7" };
	struct rk_redaction who = alice;
	struct rk_bytes out;

	who.nodes = nodes;
	who.nnodes = 2;
	rk_bytes_init(&out, 1000);
	rk_redact_text(&out, "gpu-7 and node12, not gpu-70 or mynode12; alice in /gpu-7/x/gpu-7",
		       &who);
	CHECK_STR(rk_bytes_str(&out),
		  "[node 2] and [node 1], not gpu-70 or mynode12; [user] in /.../[node 2]");
	rk_bytes_release(&out);
}

TEST(what_is_not_known_of_us_is_not_redacted)
{
	static const struct rk_redaction nobody = { NULL, "", "/" };
	static const struct rk_redaction local = { "localhost", NULL, NULL };
	struct rk_bytes out;

	rk_bytes_init(&out, 1000);
	rk_redact_text(&out, "alice on node12 in /a/b ", &nobody);
	rk_redact_text(&out, "localhost", &local);
	CHECK_STR(rk_bytes_str(&out), "alice on node12 in /.../b localhost");
	rk_bytes_release(&out);
}

TEST(who_we_are_is_found)
{
	struct rk_redaction_self self;
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	rk_redaction_self(&self);
	CHECK_STR(self.who.host, host);
	CHECK(self.who.user == self.user && self.who.home == self.home);
	if (getenv("HOME"))
		CHECK_STR(self.home, getenv("HOME"));
	else
		CHECK(self.user[0] != '\0');
}

TEST(variables_of_a_pass_are_hidden_by_parts_of_their_names)
{
	struct rk_list set = { 0 }, ret = { 0 };

	rk_list_add(&set, "NCCL_DEBUG=INFO");
	rk_list_add(&set, "MY_KEYS=abc");
	rk_list_add(&set, "URL=https://me:pw@host/x");
	rk_secrets_variables(&set, &ret);
	CHECK_U64(ret.n, 3);
	CHECK_STR(ret.v[0], "NCCL_DEBUG=INFO");
	CHECK_STR(ret.v[1], "MY_KEYS=[hidden]");
	CHECK_STR(ret.v[2], "URL=https://[hidden]@host/x");
	rk_list_release(&set);
	rk_list_release(&ret);
}

TEST(only_texts_that_can_name_a_place_are_hidden)
{
	const char *json =
		"{\"name\":\"/a/b\",\"path\":\"/b\\\"c/d\", \"node\":null,\"reason\":\"\","
		"\"x\":[\"n1\",3],\"node\":\"n1\"}";
	const struct rk_redaction who = { .host = "n1" };
	struct rk_bytes out;

	rk_bytes_init(&out, 1000);
	rk_redact_json(&out, json, strlen(json), false, &who);
	CHECK_STR(rk_bytes_str(&out),
		  "{\"name\":\"/a/b\",\"path\":\"/.../b\\\"c/d\", \"node\":null,\"reason\":\"\","
		  "\"x\":[\"n1\",3],\"node\":\"[host]\"}");
	rk_bytes_clear(&out);
	rk_redact_json(&out, json, strlen(json), true, &who);
	CHECK_STR(rk_bytes_str(&out),
		  "{\"name\":\"/.../b\",\"path\":\"/.../b\\\"c/d\", \"node\":null,"
		  "\"reason\":\"\",\"x\":[\"[host]\",3],\"node\":\"[host]\"}");
	rk_bytes_release(&out);
}
