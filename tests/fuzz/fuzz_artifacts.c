/* fuzz_artifacts.c - any bytes as the archive of an artifact; then every link in it is followed. */
#include <signal.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "fuzz_file.h"
#include "pack/artifacts_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MOST_UNPACKED = 8 << 20 }; /* bombs fill somebody else's disk */

static void limit(void)
{
	const struct rlimit r = { .rlim_cur = MOST_UNPACKED, .rlim_max = RLIM_INFINITY };
	static int done;

	if (done++)
		return;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &r);
}

static void follow(const struct rk_artifact *a)
{
	const char *why;

	for (size_t i = 0; i < a->nentries; i++)
		if (a->entries[i].kind == RK_ENTRY_LINK)
			(void)rk_artifacts_resolve(&a->entries[i], &why);
}

static void read_archive(struct artifact_reader *r)
{
	struct rk_error err = { 0 };

	if (!rk_arena_new(&r->arena, &err) && !rk_diag_new(&r->diag, &err) &&
	    !rk_spill_new(NULL, &r->spill->file, &err) && rk_artifact_read(r, &err) > 0)
		follow(r->artifact);
	rk_list_release(&r->stages);
	rk_free(r->v);
	rk_diag_free(r->diag);
	rk_spill_free(r->spill->file);
	rk_arena_free(r->arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rk_artifact artifact = {
		.name = "x", .family = "generic", .label = "x", .archive = true
	};
	struct artifact_spill spill = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct artifact_reader r = { .artifact = &artifact, .spill = &spill };

	limit();
	r.path = len <= 1 << 20 ? fuzz_file(data, len) : NULL;
	if (r.path)
		read_archive(&r);
	return 0;
}
