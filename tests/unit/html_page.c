/* html_page.c - the page of a report: what is in it, and that nothing gets out of its place. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "html/html_page.h"
#include "io/file.h"
#include "rockit/rockit.h"
#include "tap.h"
#include "world.h"

static const char head[] = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\","
			   "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
			   "\"End_Timestamp\"\n";

static const char *slurp(struct world *w, const char *path)
{
	struct rk_file *f = NULL;
	char buf[65536];
	size_t n;

	rk_bytes_clear(&w->text);
	if (rk_file_open(path, &f, &w->err) < 0)
		return "";
	while (rk_file_read(f, buf, sizeof(buf), &n, &w->err) == 0 && n)
		rk_bytes_put(&w->text, buf, n);
	rk_file_close(f);
	return rk_bytes_str(&w->text);
}

/* The page of a kernel trace with these rows. */
static const char *page_of(struct world *w, const char *rows, struct rk_html_result *ret)
{
	char in[512], out[128];
	const char *path = in;
	struct rk_run_options how = { .threads = 1 };
	struct rk_html_options what = { .path = out };
	struct rk_run *run = NULL;
	struct rk_bytes text;

	rk_bytes_init(&text, 1 << 20);
	rk_bytes_puts(&text, head);
	rk_bytes_puts(&text, rows);
	snprintf(in, sizeof(in), "%s", world_text(w, "7_kernel_trace.csv", rk_bytes_str(&text)));
	snprintf(out, sizeof(out), "%s/page.html", w->dir);
	rk_bytes_release(&text);
	CHECK(rk_run_open(&path, 1, &how, &run, &w->err) == 0);
	CHECK(rk_run_html(run, &what, ret, &w->err) == 0);
	rk_run_close(run);
	return slurp(w, out);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* The content of the one element that begins with `open`, up to `close`. */
static struct rk_bytes between(const char *page, const char *open, const char *close)
{
	const char *from = strstr(page, open), *to = from ? strstr(from, close) : NULL;
	struct rk_bytes out;

	rk_bytes_init(&out, 1 << 20);
	CHECK(from && to);
	if (to)
		rk_bytes_put(&out, from + strlen(open), (size_t)(to - from) - strlen(open));
	return out;
}

TEST(the_policy_names_the_script_and_the_style_that_are_there)
{
	struct rk_html_result did = { 0 };
	struct rk_bytes script, style, hash;
	struct world w;
	const char *page;

	world_open(&w, 1);
	page = page_of(&w, "\"KERNEL_DISPATCH\",\"Agent 1\",1,1,1,1,\"k\",1,100,200\n", &did);
	CHECK_U64(did.rows, 1);
	CHECK_U64(did.bytes, strlen(page));
	script = between(page, "<script>", "</script>");
	style = between(page, "<style>", "</style>");
	rk_bytes_init(&hash, 1000);
	rk_html_hash(&hash, script.data, script.len);
	CHECK(strstr(page, rk_bytes_str(&hash)));
	rk_bytes_clear(&hash);
	rk_html_hash(&hash, style.data, style.len);
	CHECK(strstr(page, rk_bytes_str(&hash)));
	CHECK(strstr(page, "default-src 'none'; script-src 'sha256-"));
	CHECK_U64(count(page, "<script>"), 1);
	rk_bytes_release(&hash);
	rk_bytes_release(&script);
	rk_bytes_release(&style);
	world_close(&w);
}

TEST(names_cannot_leave_their_place_in_the_page)
{
	struct rk_html_result did = { 0 };
	struct world w, plain;
	const char *page;
	size_t scripts;

	world_open(&plain, 1);
	page = page_of(&plain, "\"KERNEL_DISPATCH\",\"Agent 1\",1,1,1,1,\"k\",1,100,200\n", &did);
	scripts = count(page, "<script");
	world_close(&plain);
	world_open(&w, 1);
	page = page_of(
		&w,
		"\"KERNEL_DISPATCH\",\"Agent 1\",1,1,1,1,\"</script><script>alert(1)</script>"
		"<!--<script><img src=x onerror=alert(1)>\",1,100,200\n",
		&did);
	CHECK_U64(count(page, "<script"), scripts);
	CHECK_U64(count(page, "</script"), scripts);
	CHECK(!strstr(page, "<img") && !strstr(page, "<!--"));
	CHECK(strstr(page, "\\u003c/script>\\u003cscript>alert(1)"));
	CHECK(strstr(page, "&lt;/script&gt;&lt;script&gt;alert(1)"));
	world_close(&w);
}

TEST(a_run_without_kernels_makes_a_page)
{
	struct rk_html_result did = { 0 };
	struct world w;

	world_open(&w, 1);
	CHECK(strstr(page_of(&w, "", &did), "\"lanes\": []") != NULL);
	CHECK_U64(did.rows, 0);
	world_close(&w);
}

TEST(text_of_a_page_is_escaped)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 1000);
	rk_html_text(&out, "a<b>&\"'\x01");
	CHECK_STR(rk_bytes_str(&out), "a&lt;b&gt;&amp;&quot;&#39;\\x01");
	rk_bytes_clear(&out);
	rk_html_text(&out, "x\xe2\x80\xaey"); /* right-to-left override */
	CHECK(!strstr(rk_bytes_str(&out), "\xe2\x80\xae"));
	rk_bytes_release(&out);
}

TEST(every_module_of_the_page_is_in_its_script)
{
	struct rk_bytes script;
	size_t modules = 0;

	rk_bytes_init(&script, 1 << 20);
	rk_html_script(&script);
	for (const struct rk_data_file *f = rk_web_files; f->name; f++) {
		char first[64];
		const char *dot = strrchr(f->name, '.');

		if (!dot || strcmp(dot, ".js") != 0)
			continue;
		modules++;
		snprintf(first, sizeof(first), "// %s - ", f->name);
		CHECK(strstr(rk_bytes_str(&script), first) != NULL);
	}
	CHECK(modules > 5);
	CHECK(!strstr(rk_bytes_str(&script), "\nimport ") &&
	      !strstr(rk_bytes_str(&script), "\nexport "));
	CHECK(!strstr(rk_bytes_str(&script), "</script") && !strstr(rk_bytes_str(&script), "<!--"));
	rk_bytes_release(&script);
}

TEST(of_run_json_only_what_is_for_readers_is_taken)
{
	struct world w;
	char *json = NULL;

	world_open(&w, 1);
	CHECK(rk_html_run_json(world_text(&w, "run.json",
					  "{\"command\":[\"a\",\"<b\"],\"environment\":{\"SECRET\":"
					  "\"1\"},\"passes\":[{\"what\":\"trace\",\"argv\":[\"x\"],"
					  "\"status\":0}],\"tool\":{\"name\":\"t\",\"path\":\"/p\"},"
					  "\"ledger\":{\"dropped\":{\"a\":null}}}"),
			       &json, &w.err) == 0);
	CHECK_STR(json,
		  "{\"command\":[\"a\",\"<b\"],\"passes\":[{\"what\":\"trace\",\"status\":0}],"
		  "\"tool\":{\"name\":\"t\"},\"ledger\":{\"dropped\":{\"a\":null}}}");
	rk_free(json);
	CHECK(rk_html_run_json(world_text(&w, "run.json", "{\"ledger\":"), &json, &w.err) == 0);
	CHECK(!json);
	CHECK(rk_html_run_json("/nonexistent/run.json", &json, &w.err) == 0 && !json);
	world_close(&w);
}

TEST(a_page_that_cannot_be_written_leaves_nothing)
{
	struct rk_run_options how = { .threads = 1 };
	struct rk_html_options what = { 0 };
	struct rk_run *run = NULL;
	struct world w;
	const char *path;
	char out[128];

	world_open(&w, 1);
	path = world_text(&w, "7_kernel_trace.csv", head);
	snprintf(out, sizeof(out), "%s/page.html", w.dir);
	what.path = out;
	CHECK(rk_run_open(&path, 1, &how, &run, &w.err) == 0);
	rk_output_fail_after(3, 28);
	CHECK(rk_run_html(run, &what, NULL, &w.err) == RK_E_IO);
	rk_output_fail_after(0, 0);
	CHECK(!world_has(&w, "page.html"));
	rk_run_close(run);
	world_close(&w);
}
