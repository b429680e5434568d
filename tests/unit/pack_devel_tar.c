/* pack_devel_tar.c - the devel tree as an archive: order, links, long names, xz. */
#include <lzma.h>
#include <stdio.h>

#include "base/list.h"
#include "meta_world.h"
#include "world.h"

/* ---- a tree ---- */

static struct rk_pack_item file_item(struct meta_world *w, const char *path, const char *text)
{
	struct rk_pack_item it = { .path = path, .action = RK_PACK_COPY, .mode = 0644 };
	struct rk_content *c = NULL;

	CHECK(rk_content_new(w->plan.arena, &c, NULL) == 0);
	CHECK(rk_content_bytes(w->plan.arena, c, text, strlen(text), NULL) == 0);
	it.content = c;
	return it;
}

static struct rk_pack_item link_item(const char *path, const char *text)
{
	return (struct rk_pack_item){ .path = path, .action = RK_PACK_LINK, .link = text };
}

static struct rk_pack_item dir_item(const char *path)
{
	return (struct rk_pack_item){ .path = path, .action = RK_PACK_DIR, .mode = 0750 };
}

static void set_items(struct meta_world *w, struct rk_pack_item *items, size_t n)
{
	w->dists[DEVEL].items = items;
	w->dists[DEVEL].n = n;
}

/* ---- the archive, read back ---- */

static size_t octal(const unsigned char *p)
{
	unsigned long v = 0;

	CHECK(sscanf((const char *)p, "%lo", &v) == 1);
	return v;
}

/* The value of a pax record, or NULL. */
static const char *pax_value(const unsigned char *p, const char *key, char *to, size_t size)
{
	const char *at = strstr((const char *)p, key);
	size_t n = at ? strcspn(at + strlen(key), "\n") : 0;

	if (!at || n >= size)
		return NULL;
	memcpy(to, at + strlen(key), n);
	to[n] = '\0';
	return to;
}

/* "f name mode text", "d name mode" or "l name -> text", a line each. */
static void describe(struct rk_bytes *out, const unsigned char *tar, size_t len)
{
	char name[1200] = "", link[1200] = "";
	bool known = false;
	size_t at = 0;

	while (at + 1024 < len) {
		const unsigned char *h = tar + at;
		size_t size = octal(h + 124);

		at += 512;
		if (h[156] == 'x') {
			known = pax_value(tar + at, " path=", name, sizeof(name)) != NULL;
			if (!pax_value(tar + at, "linkpath=", link, sizeof(link)))
				link[0] = '\0';
			at += (size + 511) / 512 * 512;
			continue;
		}
		if (!known)
			snprintf(name, sizeof(name), "%.155s%s%.100s", h + 345, h[345] ? "/" : "",
				 h);
		if (!link[0])
			snprintf(link, sizeof(link), "%.100s", h + 157);
		rk_bytes_printf(out, "%c %s",
				h[156] == '0' ? 'f' :
				h[156] == '5' ? 'd' :
						'l',
				name);
		if (h[156] == '2')
			rk_bytes_printf(out, " -> %s\n", link);
		else if (h[156] == '5')
			rk_bytes_printf(out, " %o\n", (unsigned)octal(h + 100));
		else
			rk_bytes_printf(out, " %o %.*s\n", (unsigned)octal(h + 100), (int)size,
					tar + at);
		CHECK_U64(octal(h + 136), 315532800);
		at += (size + 511) / 512 * 512;
		known = false;
		link[0] = '\0';
	}
	CHECK_U64(at + 1024, len);
}

/* The archive of the items in words; borrowed until the next call. */
static const char *archive(struct meta_world *w)
{
	const struct rk_content *c = NULL;
	struct rk_spill *spill = NULL;
	struct rk_bytes out;

	CHECK_I64(rk_devel_tar(&w->plan, &w->dists[DEVEL], 315532800, false, 1, NULL, &c, &spill,
			       &w->err),
		  0);
	CHECK(!spill);
	if (!c)
		return "";
	rk_bytes_init(&out, 1 << 20);
	meta_text(w, c);
	describe(&out, (const unsigned char *)w->text, (size_t)c->size);
	free(w->text);
	w->text = calloc(1, out.len + 1);
	memcpy(w->text, out.data, out.len);
	rk_bytes_release(&out);
	return w->text;
}

TEST(the_devel_archive_has_folders_files_and_links_in_that_order)
{
	struct meta_world w;

	meta_open(&w, false);
	{
		struct rk_pack_item items[] = {
			file_item(&w, "LICENSE", "free"),
			link_item("llvm", "lib/llvm"),
			dir_item("bin"),
			link_item("bin/clang", "../llvm/bin/clang-20"),
			link_item("bin/hipcc", "../../_rocm_sdk_core/bin/hipcc"),
			dir_item("empty"),
			file_item(&w, "include/hip/hip.h", ""),
			link_item("lib/liba.so", "liba.so.1"),
			link_item("lib/liba.so.1", "liba.so.1.2"),
			link_item("lib/liba.so.1.2", "../../_rocm_sdk_core/lib/liba.so.1.2"),
			{ .path = "lib/libb.so", .action = RK_PACK_ALIAS, .link = "libb.so.1" },
			{ .path = "lib/gone", .action = RK_PACK_DROP },
			file_item(&w, "lib/llvm/bin/clang-20", "#!"),
		};

		items[12].mode = 0755;
		set_items(&w, items, sizeof(items) / sizeof(items[0]));
		CHECK_STR(archive(&w),
			  "f _rocm_sdk_devel/__init__.py 644 \n"
			  "d _rocm_sdk_devel/bin/ 750\n"
			  "d _rocm_sdk_devel/empty/ 750\n"
			  "d _rocm_sdk_devel/include/ 755\n"
			  "d _rocm_sdk_devel/include/hip/ 755\n"
			  "d _rocm_sdk_devel/lib/ 755\n"
			  "d _rocm_sdk_devel/lib/llvm/ 755\n"
			  "d _rocm_sdk_devel/lib/llvm/bin/ 755\n"
			  "f _rocm_sdk_devel/LICENSE 644 free\n"
			  "f _rocm_sdk_devel/include/hip/hip.h 644 \n"
			  "f _rocm_sdk_devel/lib/llvm/bin/clang-20 755 #!\n"
			  "l _rocm_sdk_devel/llvm -> lib/llvm\n"
			  "l _rocm_sdk_devel/bin/clang -> ../llvm/bin/clang-20\n"
			  "l _rocm_sdk_devel/bin/hipcc -> ../../_rocm_sdk_core/bin/hipcc\n"
			  "l _rocm_sdk_devel/lib/liba.so.1.2 -> "
			  "../../_rocm_sdk_core/lib/liba.so.1.2\n"
			  "l _rocm_sdk_devel/lib/liba.so.1 -> liba.so.1.2\n"
			  "l _rocm_sdk_devel/lib/liba.so -> liba.so.1\n");
	}
	meta_close(&w);
}

TEST(links_wait_for_each_link_on_their_way)
{
	struct meta_world w;
	struct rk_pack_item items[] = {
		link_item("a", "./x//y/"), /* through the folder link x, then the link in it */
		link_item("d/y", "../z"),  link_item("x", "d"),
		link_item("z", "nowhere"), link_item("out", "../../../etc/x/y"),
	};

	meta_open(&w, false);
	set_items(&w, items, 5);
	CHECK_STR(archive(&w), "f _rocm_sdk_devel/__init__.py 644 \n"
			       "d _rocm_sdk_devel/d/ 755\n"
			       "l _rocm_sdk_devel/x -> d\n"
			       "l _rocm_sdk_devel/z -> nowhere\n"
			       "l _rocm_sdk_devel/out -> ../../../etc/x/y\n"
			       "l _rocm_sdk_devel/d/y -> ../z\n"
			       "l _rocm_sdk_devel/a -> ./x//y/\n");
	meta_close(&w);
}

TEST(links_in_a_circle_are_written_once)
{
	struct meta_world w;
	struct rk_pack_item items[] = { link_item("a", "b"), link_item("b", "c"),
					link_item("c", "a"), link_item("self", "self"),
					link_item("deep", "self/x") };

	meta_open(&w, false);
	set_items(&w, items, 5);
	CHECK_STR(archive(&w), "f _rocm_sdk_devel/__init__.py 644 \n"
			       "l _rocm_sdk_devel/self -> self\n"
			       "l _rocm_sdk_devel/deep -> self/x\n"
			       "l _rocm_sdk_devel/a -> b\n"
			       "l _rocm_sdk_devel/b -> c\n"
			       "l _rocm_sdk_devel/c -> a\n");
	meta_close(&w);
}

TEST(a_chain_of_links_longer_than_any_system_follows_is_written_whole)
{
	enum { N = 200 };
	struct rk_pack_item items[N];
	char names[N + 1][8];
	struct meta_world w;
	size_t lines = 0;

	for (int i = 0; i <= N; i++)
		snprintf(names[i], sizeof(names[i]), "l%03d", i);
	for (int i = 0; i < N; i++)
		items[i] = link_item(names[i], names[i + 1]);
	meta_open(&w, false);
	set_items(&w, items, N);
	for (const char *at = archive(&w); (at = strchr(at, '\n')); at++)
		lines++;
	CHECK_U64(lines, N + 1);
	meta_close(&w);
}

TEST(names_and_links_of_any_length_survive_in_the_devel_archive)
{
	char name[300], text[700], want[1400];
	struct meta_world w;
	struct rk_pack_item items[2];

	memset(name, 'n', sizeof(name));
	name[299] = '\0';
	memset(text, 't', sizeof(text));
	text[699] = '\0';
	meta_open(&w, false);
	items[0] = file_item(&w, name, "x");
	items[1] = link_item("l", text);
	set_items(&w, items, 2);
	snprintf(want, sizeof(want),
		 "f _rocm_sdk_devel/__init__.py 644 \n"
		 "f _rocm_sdk_devel/%s 644 x\n"
		 "l _rocm_sdk_devel/l -> %s\n",
		 name, text);
	CHECK_STR(archive(&w), want);
	meta_close(&w);
}

TEST(a_file_below_a_link_is_refused)
{
	const struct rk_content *c = NULL;
	struct rk_spill *spill = NULL;
	struct meta_world w;
	struct rk_pack_item items[2];

	meta_open(&w, false);
	items[0] = link_item("share/x", "../y");
	items[1] = file_item(&w, "share/x/f", "");
	set_items(&w, items, 2);
	CHECK_I64(rk_devel_tar(&w.plan, &w.dists[DEVEL], 315532800, false, 1, NULL, &c, &spill,
			       &w.err),
		  RK_E_FORMAT);
	CHECK_STR(w.err.message, "'share/x' is a link in one artifact and a folder in another");
	CHECK(!c && !spill);
	meta_close(&w);
}

TEST(files_of_the_devel_archive_are_not_copied)
{
	const struct rk_content *c = NULL;
	struct rk_origin origin = { .path = "/nowhere", .size = UINT64_C(10) << 30, .name = "x" };
	struct rk_spill *spill = NULL;
	struct rk_content *huge = NULL;
	struct meta_world w;
	struct rk_pack_item item = { .path = "huge", .action = RK_PACK_COPY, .mode = 0644 };
	unsigned char h[512];

	meta_open(&w, false);
	CHECK(rk_content_new(w.plan.arena, &huge, NULL) == 0);
	CHECK(rk_content_origin(w.plan.arena, huge, &origin, NULL, NULL) == 0);
	item.content = huge;
	set_items(&w, &item, 1);
	CHECK_I64(rk_devel_tar(&w.plan, &w.dists[DEVEL], 315532800, false, 1, NULL, &c, &spill,
			       &w.err),
		  0);
	CHECK_U64(c->size, 512 + 512 + (UINT64_C(10) << 30) + 1024);
	/* __init__.py's header is before it; more than 8 GiB are a binary number */
	CHECK(rk_content_read(c, 512, h, sizeof(h), &w.err) == 0);
	CHECK_MEM(h + 124, "\x80\0\0\0\0\0\0\x02\x80\0\0\0", 12);
	meta_close(&w);
}

/* ---- xz ---- */

/* Lines that repeat but for some bytes, the same each time; the caller's to free. */
static char *lines_of(size_t len)
{
	uint64_t state = 88172645463325252u;
	char *p = calloc(1, len + 1);

	for (size_t i = 0; i < len; i++)
		p[i] = i < 4096 || i % 512 == 0 ? (char)('a' + world_random(&state) % 26) :
						  p[i - 4096];
	return p;
}

static const struct rk_content *packed(struct meta_world *w, unsigned threads,
				       struct rk_spill **spill)
{
	const struct rk_content *c = NULL;

	CHECK_I64(rk_devel_tar(&w->plan, &w->dists[DEVEL], 315532800, true, threads, NULL, &c,
			       spill, &w->err),
		  0);
	CHECK_STR(w->err.message, "");
	return c;
}

TEST(a_packed_devel_archive_is_the_same_for_any_number_of_threads)
{
	enum { LEN = 17 << 20 }; /* three blocks */
	struct rk_spill *spills[3] = { NULL };
	static const unsigned threads[] = { 1, 2, 16 };
	const struct rk_content *plain = NULL, *c[3];
	struct rk_spill *none = NULL;
	struct meta_world w;
	struct rk_pack_item item;
	char *text = lines_of(LEN), *bytes = NULL, *out;
	uint64_t memory = UINT64_MAX;
	size_t in_at = 0, out_at = 0;

	meta_open(&w, false);
	item = file_item(&w, "lines", text);
	set_items(&w, &item, 1);
	CHECK(rk_devel_tar(&w.plan, &w.dists[DEVEL], 315532800, false, 1, NULL, &plain, &none,
			   NULL) == 0);
	for (size_t i = 0; i < 3; i++) {
		c[i] = packed(&w, threads[i], &spills[i]);
		meta_text(&w, c[i]);
		if (i) {
			CHECK_U64(c[i]->size, c[0]->size);
			CHECK_MEM(w.text, bytes, (size_t)c[0]->size);
			continue;
		}
		bytes = w.text;
		w.text = NULL;
	}
	out = calloc(1, (size_t)plain->size);
	CHECK_I64(lzma_stream_buffer_decode(&memory, 0, NULL, (uint8_t *)bytes, &in_at,
					    (size_t)c[0]->size, (uint8_t *)out, &out_at,
					    (size_t)plain->size),
		  LZMA_OK);
	CHECK_U64(out_at, plain->size);
	CHECK_MEM(out, meta_text(&w, plain), out_at);
	for (size_t i = 0; i < 3; i++)
		rk_spill_free(spills[i]);
	free(out);
	free(bytes);
	free(text);
	meta_close(&w);
}

TEST(a_file_that_is_gone_while_it_is_packed_is_an_error)
{
	struct rk_origin origin = { .path = "/nowhere/x", .size = 5, .name = "a: lib/x" };
	const struct rk_content *c = NULL;
	struct rk_content *gone = NULL;
	struct rk_spill *spill = NULL;
	struct meta_world w;
	struct rk_pack_item item = { .path = "x", .action = RK_PACK_COPY, .mode = 0644 };

	meta_open(&w, false);
	CHECK(rk_content_new(w.plan.arena, &gone, NULL) == 0);
	CHECK(rk_content_origin(w.plan.arena, gone, &origin, NULL, NULL) == 0);
	item.content = gone;
	set_items(&w, &item, 1);
	CHECK_I64(rk_devel_tar(&w.plan, &w.dists[DEVEL], 315532800, true, 1, NULL, &c, &spill,
			       &w.err),
		  RK_E_IO);
	CHECK(!c && !spill && w.err.message[0]);
	CHECK_I64(rk_devel_tar(&w.plan, &w.dists[CORE], 0, true, 1, "/nowhere", &c, &spill, NULL),
		  RK_E_IO);
	meta_close(&w);
}

TEST(the_devel_archive_needs_memory)
{
	for (int xz = 0; xz < 2; xz++) {
		bool failed = true;

		for (uint64_t n = 1; failed && n < 5000; n++) {
			const struct rk_content *c = NULL;
			struct rk_spill *spill = NULL;
			struct rk_pack_item items[4];
			struct meta_world w;
			int rc;

			meta_open(&w, false);
			items[0] = file_item(&w, "d/e/f", "text");
			items[1] = link_item("l", "d/m");
			items[2] = link_item("d/m", "e/f");
			items[3] = dir_item("e");
			set_items(&w, items, 4);
			rk_alloc_fail_after(n);
			rc = rk_devel_tar(&w.plan, &w.dists[DEVEL], 315532800, xz, 1, NULL, &c,
					  &spill, &w.err);
			failed = rk_alloc_failed();
			rk_alloc_fail_after(0);
			CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
			rk_spill_free(spill);
			meta_close(&w);
		}
		CHECK(!failed);
	}
}
