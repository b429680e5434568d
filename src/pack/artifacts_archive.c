/*
 * artifacts_archive.c - an artifact that is a tar archive, read once from the front. Its files go to
 * the spill as they come; nothing is ever made under a name that the archive says.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "pack/artifacts_impl.h"
#include "pack/path_map.h"

enum { BLOCK_BYTES = 256 << 10 };

struct member_reader {
	struct artifact_reader *r;
	struct archive *a;
	struct archive_entry *e;
	struct rk_path_map names; /* of files, for hard links: index in r->v */
	char *block;
};

static int failed(const struct member_reader *m, struct rk_error *err)
{
	const char *why = archive_error_string(m->a);

	return rk_fail(err, RK_E_FORMAT, "cannot read '%s': %.200s", m->r->path,
		       why ? why : "it is damaged");
}

/* 1: a member; 0: the end. */
static int next_member(struct member_reader *m, struct rk_error *err)
{
	int rc = archive_read_next_header(m->a, &m->e);

	if (rc == ARCHIVE_EOF)
		return 0;
	return rc < ARCHIVE_WARN ? failed(m, err) : 1;
}

/* Without "./" in front and slashes behind. */
static int tidy(const struct member_reader *m, const char *name, char path[RK_ARTIFACT_PATH_MAX],
		struct rk_error *err)
{
	size_t len;

	if (!name)
		return rk_fail(err, RK_E_FORMAT, "'%s' has a member without a name", m->r->path);
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	len = strlen(name);
	while (len && name[len - 1] == '/')
		len--;
	if (len >= RK_ARTIFACT_PATH_MAX)
		return rk_fail(err, RK_E_LIMIT, "'%s' has a member with a name of %zu bytes",
			       m->r->path, len);
	memcpy(path, name, len);
	path[len] = '\0';
	return 0;
}

/* The stage a member is in, and its path there; -1: in none. */
static ptrdiff_t stage_of(const struct artifact_reader *r, const char *path, const char **ret_rest)
{
	for (size_t i = 0; i < r->stages.n; i++) {
		size_t n = strlen(r->stages.v[i]);

		if (strncmp(path, r->stages.v[i], n) == 0 && (path[n] == '/' || !path[n])) {
			*ret_rest = path + n + (path[n] == '/');
			return (ptrdiff_t)i;
		}
	}
	return -1;
}

/* A folder on the way to a stage says nothing. */
static bool leads_to_stage(const struct artifact_reader *r, const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < r->stages.n; i++)
		if (strncmp(r->stages.v[i], path, n) == 0 && r->stages.v[i][n] == '/')
			return true;
	return false;
}

/* A range of the spill that is this member's alone. */
static int reserve(struct artifact_spill *s, struct rk_origin *o, struct rk_error *err)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	o->spill = s->file;
	o->offset = rk_spill_size(s->file);
	rc = o->size > INT64_MAX - o->offset ?
		     rk_fail(err, RK_E_LIMIT, "'%s' is too big", o->name) :
		     rk_spill_resize(s->file, o->offset + o->size, err);
	pthread_mutex_unlock(&s->lock);
	if (rc < 0)
		rk_error_at(err, o->name, 0, 0);
	return rc;
}

/* All bytes of the member, of which the header said how many there are. */
static int copy_bytes(struct member_reader *m, struct rk_origin *o, struct rk_error *err)
{
	uint64_t done = 0;
	la_ssize_t n = 0;
	int rc = reserve(m->r->spill, o, err);

	while (rc == 0 && (n = archive_read_data(m->a, m->block, BLOCK_BYTES)) > 0) {
		if ((uint64_t)n > o->size - done)
			break;
		rc = rk_spill_write(o->spill, o->offset + done, m->block, (size_t)n, err);
		done += (uint64_t)n;
	}
	if (rc < 0 || n < 0)
		return rc < 0 ? rc : failed(m, err);
	return done == o->size ?
		       0 :
		       rk_fail(err, RK_E_FORMAT, "'%s' is not as long as its header says", o->name);
}

static int add_file(struct member_reader *m, struct rk_entry *e, struct rk_error *err)
{
	struct rk_arena *a = m->r->arena;
	struct rk_origin *o = rk_arena_alloc(a, sizeof(*o));

	if (!o || !(o->name = rk_arena_textf(a, "%s: %s", m->r->artifact->label, e->path)))
		return rk_fail_nomem(err);
	if (archive_entry_sparse_count(m->e) > 0)
		return rk_fail(err, RK_E_UNSUPPORTED, "'%s' in '%s' is a sparse member: not read",
			       e->path, m->r->path);
	o->size = (uint64_t)archive_entry_size(m->e);
	e->kind = RK_ENTRY_FILE;
	e->origin = o;
	return copy_bytes(m, o, err);
}

/* Another name of a member that came before. */
static int add_hard_link(struct member_reader *m, size_t at, struct rk_error *err)
{
	char target[RK_ARTIFACT_PATH_MAX];
	struct rk_entry *e = &m->r->v[at];
	ptrdiff_t i;
	int rc = tidy(m, archive_entry_hardlink(m->e), target, err);

	if (rc < 0)
		return rc;
	i = rk_path_map_find(&m->names, target, strlen(target));
	if (i < 0)
		return rk_fail(
			err, RK_E_FORMAT,
			"'%s' in '%s' is a hard link to '%.200s', which is no file before it",
			e->path, m->r->path, target);
	e->kind = RK_ENTRY_FILE;
	e->mode = m->r->v[i].mode;
	e->origin = m->r->v[i].origin;
	return 0;
}

static int add_kind(struct member_reader *m, struct rk_entry *e, struct rk_error *err)
{
	const char *link;

	switch (archive_entry_filetype(m->e)) {
	case AE_IFREG:
		return add_file(m, e, err);
	case AE_IFDIR:
		e->kind = RK_ENTRY_DIR;
		return 0;
	case AE_IFLNK:
		link = archive_entry_symlink(m->e);
		if (link)
			return rk_artifact_link(m->r, e, link, err);
		break;
	default:
		break;
	}
	return rk_fail(err, RK_E_FORMAT, "'%s' in '%s' is no file, folder or link", e->path,
		       m->r->path);
}

static int remember(struct member_reader *m, const char *name, size_t at, struct rk_error *err)
{
	const char *key;

	if (m->r->v[at].kind != RK_ENTRY_FILE)
		return 0;
	key = rk_arena_text(m->r->arena, name, strlen(name));
	return key ? rk_path_map_put(&m->names, key, at, err) : rk_fail_nomem(err);
}

static bool is_deep(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n > RK_ARTIFACT_DEPTH_MAX;
}

static int add_member(struct member_reader *m, struct rk_error *err)
{
	char name[RK_ARTIFACT_PATH_MAX];
	struct rk_entry *e = NULL;
	const char *rest = "";
	ptrdiff_t stage;
	int rc = tidy(m, archive_entry_pathname(m->e), name, err);
	bool folder = archive_entry_filetype(m->e) == AE_IFDIR && !archive_entry_hardlink(m->e);

	if (rc < 0 || (folder && (!name[0] || leads_to_stage(m->r, name))))
		return rc;
	rc = rk_artifact_check_path(name, m->r->path, err);
	if (rc < 0)
		return rc;
	if (is_deep(name))
		return rk_fail(err, RK_E_LIMIT, "'%.100s...' in '%s' lies deeper than %d folders",
			       name, m->r->path, RK_ARTIFACT_DEPTH_MAX);
	stage = stage_of(m->r, name, &rest);
	if (stage < 0)
		return rk_fail(err, RK_E_FORMAT, "'%s' has '%.200s', which is in no stage of '%s'",
			       m->r->path, name, RK_ARTIFACT_MANIFEST);
	if (!*rest)
		return folder ? 0 :
				rk_fail(err, RK_E_FORMAT, "the stage '%.200s' in '%s' is no folder",
					name, m->r->path);
	rc = rk_artifact_add(m->r, (uint32_t)stage, rest, &e, err);
	if (rc < 0)
		return rc;
	e->mode = archive_entry_perm(m->e) & 0777;
	rc = archive_entry_hardlink(m->e) ? add_hard_link(m, m->r->n - 1, err) :
					    add_kind(m, e, err);
	return rc < 0 ? rc : remember(m, name, m->r->n - 1, err);
}

static int first_member(struct member_reader *m, struct rk_error *err)
{
	char name[RK_ARTIFACT_PATH_MAX];
	size_t len = 0;
	la_ssize_t n = 1;
	int rc = next_member(m, err);

	if (rc > 0)
		rc = tidy(m, archive_entry_pathname(m->e), name, err) < 0 ? RK_E_FORMAT : 1;
	if (rc < 0)
		return rc;
	if (rc == 0 || strcmp(name, RK_ARTIFACT_MANIFEST) != 0 ||
	    archive_entry_filetype(m->e) != AE_IFREG)
		return rk_fail(err, RK_E_FORMAT, "the first member of '%s' is not '%s'", m->r->path,
			       RK_ARTIFACT_MANIFEST);
	while (n > 0 && len < BLOCK_BYTES)
		if ((n = archive_read_data(m->a, m->block + len, BLOCK_BYTES - len)) > 0)
			len += (size_t)n;
	if (n < 0)
		return failed(m, err);
	if (n > 0)
		return rk_fail(err, RK_E_LIMIT, "'%s' of '%s' is too long", RK_ARTIFACT_MANIFEST,
			       m->r->path);
	return rk_artifact_manifest(m->r, m->block, len, err);
}

static int read_members(struct member_reader *m, struct rk_error *err)
{
	int rc = first_member(m, err);

	if (rc < 0)
		return rc;
	while ((rc = next_member(m, err)) > 0) {
		rc = add_member(m, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* Tar alone, packed in one of three ways: not all that libarchive can do is wanted here. */
static int open_archive(struct member_reader *m, int fd, struct rk_error *err)
{
	m->a = archive_read_new();
	m->block = rk_alloc(BLOCK_BYTES);
	if (!m->a || !m->block)
		return rk_fail_nomem(err);
	if (archive_read_support_format_tar(m->a) < ARCHIVE_WARN ||
	    archive_read_support_filter_gzip(m->a) < ARCHIVE_WARN ||
	    archive_read_support_filter_xz(m->a) < ARCHIVE_WARN ||
	    archive_read_support_filter_zstd(m->a) < ARCHIVE_WARN ||
	    archive_read_open_fd(m->a, fd, BLOCK_BYTES) < ARCHIVE_WARN)
		return failed(m, err);
	return 0;
}

int rk_artifact_read_archive(struct artifact_reader *r, struct rk_error *err)
{
	struct member_reader m = { .r = r };
	int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot open '%s'", r->path);
	rc = open_archive(&m, fd, err);
	if (rc == 0)
		rc = read_members(&m, err);
	if (m.a)
		archive_read_free(m.a);
	rk_path_map_release(&m.names);
	rk_free(m.block);
	close(fd);
	return rc < 0 ? rc : 1;
}
