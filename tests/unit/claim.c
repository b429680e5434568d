/* claim.c - who works in a directory; scratch; what is moved home from it. */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/dirs.h"
#include "run/run_dir.h"
#include "tap.h"
#include "world.h"

static const struct rk_rank us = {
	.rank = 3, .local_rank = -1, .node = "n1", .job = "7", .step = "0"
};

/* The claim of another process, that has long ended. */
static int claim_after(struct world *w, const char *line, bool force)
{
	world_text(w, "rank-00003/" RK_CLAIM_NAME, line);
	snprintf(w->path, sizeof(w->path), "%s/rank-00003", w->dir);
	w->err = (struct rk_error){ 0 };
	return rk_claim_rank(w->path, &us, force, &w->err);
}

TEST(a_second_process_of_the_same_rank_is_refused_with_both_nodes_named)
{
	struct world w;

	world_open(&w, 1);
	CHECK_I64(claim_after(&w, "n2 elsewhere 4242 7.0\n", false), RK_E_IO);
	CHECK(strstr(w.err.message, "n2") && strstr(w.err.message, "on n1"));
	CHECK(strstr(w.err.message, "rank 3") && strstr(w.err.message, "4242"));
	/* nor by force */
	CHECK_I64(claim_after(&w, "n2 elsewhere 4242 7.0\n", true), RK_E_IO);
	CHECK(strstr(w.err.message, "two processes") != NULL);
	world_close(&w);
}

TEST(the_claim_of_another_job_gives_way_to_force_alone)
{
	struct world w;

	world_open(&w, 1);
	CHECK_I64(claim_after(&w, "n2 elsewhere 4242 6.0\n", false), RK_E_IO);
	CHECK(strstr(w.err.message, "--force") != NULL);
	CHECK_I64(claim_after(&w, "n2 elsewhere 4242 6.0\n", true), 0);
	CHECK_U64(world_entries(&w, "rank-00003"), 1);
	/* a line that is not a claim, too */
	CHECK_I64(claim_after(&w, "what?\n", true), 0);
	CHECK_I64(claim_after(&w, "", false), RK_E_IO);
	world_close(&w);
}

TEST(a_claim_is_not_content_and_is_not_cleared)
{
	struct world w;
	char dir[600];

	world_open(&w, 1);
	snprintf(dir, sizeof(dir), "%s/rank-00003", w.dir);
	CHECK_I64(rk_claim_rank(dir, &us, false, &w.err), 0);
	CHECK_I64(rk_run_dir_make(dir, false, &w.err), 0);
	world_text(&w, "rank-00003/run.json", "{}");
	CHECK_I64(rk_run_dir_make(dir, true, &w.err), 0);
	CHECK(world_has(&w, "rank-00003/" RK_CLAIM_NAME) && !world_has(&w, "rank-00003/run.json"));
	rk_claim_drop(dir);
	CHECK_U64(world_entries(&w, "rank-00003"), 0);
	world_close(&w);
}

TEST(one_process_of_a_node_samples_it)
{
	struct rk_rank other = us;
	struct utsname u;
	char line[512], *first = NULL, *second = NULL, *elsewhere = NULL;
	struct world w;

	world_open(&w, 1);
	other.node = "n2";
	CHECK(rk_claim_node(w.dir, &us, &first));
	CHECK(rk_claim_node(w.dir, &other, &elsewhere));
	CHECK_U64(world_entries(&w, ""), 2);
	rk_claim_node_end(first);
	rk_claim_node_end(elsewhere);
	/* another machine's cannot be asked whether it lives: it keeps the node */
	world_text(&w, RK_OWN_PREFIX "monitor-n1-7.0", "n1 faraway 1 7.0\n");
	CHECK(!rk_claim_node(w.dir, &us, &second));
	/* of this machine the one that lives, and the one that does not */
	CHECK(uname(&u) == 0);
	snprintf(line, sizeof(line), "n1 %s %ld 7.0\n", u.nodename, (long)getppid());
	world_text(&w, RK_OWN_PREFIX "monitor-n1-7.0", line);
	CHECK(!rk_claim_node(w.dir, &us, &second));
	CHECK(!second);
	snprintf(line, sizeof(line), "n1 %s 2147483646 7.0\n", u.nodename);
	world_text(&w, RK_OWN_PREFIX "monitor-n1-7.0", line);
	CHECK(rk_claim_node(w.dir, &us, &second));
	rk_claim_node_end(second);
	CHECK_U64(world_entries(&w, ""), 0);
	world_close(&w);
}

static void move(struct world *w, const char *from, int want)
{
	char to[600];

	snprintf(to, sizeof(to), "%s/home", w->dir);
	w->err = (struct rk_error){ 0 };
	CHECK_I64(rk_move_tree(from, to, RK_OWN_PREFIX "incoming", "run.json", &w->err), want);
}

static char big[(512 << 10) + 5];

/* Files, a hole, an empty one, folders, a link; what it skips stays behind and goes. */
static void check_moved(struct world *w)
{
	char path[700], target[32];
	struct stat st;

	CHECK(world_has(w, "home/a/b/deep") && world_has(w, "home/empty"));
	CHECK(!world_has(w, "home/run.json"));
	CHECK_U64(world_entries(w, "home"), 3);
	snprintf(path, sizeof(path), "%s/home/big", w->dir);
	CHECK(stat(path, &st) == 0 && st.st_size == (off_t)sizeof(big));
	snprintf(path, sizeof(path), "%s/home/a/link", w->dir);
	CHECK(readlink(path, target, sizeof(target)) == 5);
}

static void fill(struct world *w)
{
	char path[700];

	big[sizeof(big) - 1] = 'x';
	world_text(w, "from/a/b/deep", "1");
	world_text(w, "from/empty", "");
	world_text(w, "from/run.json", "{}");
	world_file(w, "from/big", big, sizeof(big));
	snprintf(path, sizeof(path), "%s/from/a/link", w->dir);
	CHECK(symlink("b/odd", path) == 0);
	snprintf(path, sizeof(path), "%s/home", w->dir);
	CHECK(mkdir(path, 0777) == 0);
}

TEST(a_folder_is_moved_on_one_file_system)
{
	struct world w;
	char from[600];

	world_open(&w, 1);
	fill(&w);
	snprintf(from, sizeof(from), "%s/from", w.dir);
	move(&w, from, 0);
	check_moved(&w);
	CHECK(!rk_is_dir(from));
	world_close(&w);
}

/* A folder in memory, on another file system than w's; "" where there is none. */
static void other_disk(const struct world *w, char *ret, size_t size)
{
	struct stat a, b;

	snprintf(ret, size, "/dev/shm/rockit-test-%ld", (long)getpid());
	if (stat("/dev/shm", &a) || stat(w->dir, &b) || a.st_dev == b.st_dev || mkdir(ret, 0700))
		ret[0] = '\0';
}

TEST(a_folder_is_moved_to_another_file_system)
{
	struct world w;
	char shm[64], cmd[800];

	world_open(&w, 1);
	other_disk(&w, shm, sizeof(shm));
	if (!shm[0]) {
		world_close(&w);
		SKIP("no second file system that can be written");
	}
	fill(&w);
	snprintf(cmd, sizeof(cmd), "%s/from", w.dir);
	CHECK_I64(rk_move_tree(cmd, shm, RK_OWN_PREFIX "incoming", NULL, &w.err), 0);
	CHECK(!rk_is_dir(cmd));
	move(&w, shm, 0);
	check_moved(&w);
	CHECK(!rk_is_dir(shm));
	rk_remove_tree(shm, NULL);
	world_close(&w);
}

TEST(scratch_is_a_folder_on_another_file_system_that_can_be_written)
{
	char shm[64], tmpdir[100], same[700], *got = NULL, *env[] = { tmpdir, NULL };
	char *here[] = { same, NULL },
	     *odd[] = { "SLURM_TMPDIR=relative", "TMPDIR=/nowhere", NULL };
	struct rk_list notes = { 0 };
	struct world w;

	world_open(&w, 1);
	snprintf(same, sizeof(same), "TMPDIR=%s", w.dir);
	CHECK_I64(rk_scratch_pick(here, w.dir, &notes, &got, &w.err), 0);
	CHECK(!got);
	CHECK_I64(rk_scratch_pick(odd, w.dir, &notes, &got, &w.err), 0);
	CHECK(!got && !notes.n);
	other_disk(&w, shm, sizeof(shm));
	if (shm[0]) {
		snprintf(tmpdir, sizeof(tmpdir), "SLURM_TMPDIR=%s", shm);
		snprintf(same, sizeof(same), "%s/not/yet/there", w.dir);
		CHECK_I64(rk_scratch_pick(env, same, &notes, &got, &w.err), 0);
		CHECK(got && !strncmp(got, shm, strlen(shm)));
		CHECK(got && rk_scratch_make(got, &w.err) == 0);
		CHECK(got && rk_scratch_make(got, &w.err) == RK_E_IO);
		rk_free(got);
		rk_remove_tree(shm, NULL);
	}
	/* /proc is there, and no place for files */
	snprintf(tmpdir, sizeof(tmpdir), "TMPDIR=/proc");
	CHECK_I64(rk_scratch_pick(env, w.dir, &notes, &got, &w.err), 0);
	CHECK(!got);
	CHECK_U64(notes.n, 1);
	rk_list_release(&notes);
	world_close(&w);
}
