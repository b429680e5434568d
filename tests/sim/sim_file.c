/* sim_file.c - output files: made in memory, written in one go, damaged on request. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"

static struct file {
	struct file *next;
	char *path;
	struct text text;
} * first, **last = &first;

struct text *file_new(const char *path)
{
	struct file *f = take(sizeof(*f));

	f->path = copy_text(path);
	*last = f;
	last = &f->next;
	return &f->text;
}

size_t files_bytes(void)
{
	size_t sum = 0;

	for (const struct file *f = first; f; f = f->next)
		sum += f->text.len;
	return sum;
}

/* Where a damaged file ends: past its first third and inside a line. */
static size_t cut_of(const struct text *t)
{
	size_t cut = t->len * 2 / 3;

	while (cut > 1 && (t->at[cut - 1] == '\n' || t->at[cut] == '\n'))
		cut--;
	return cut;
}

static void write_part(int fd, const char *at, size_t len)
{
	while (len) {
		ssize_t n = write(fd, at, len);

		if (n <= 0)
			return;
		at += n;
		len -= (size_t)n;
	}
}

static void write_one(const struct file *f)
{
	char *folder = copy_text(f->path), *slash = strrchr(folder, '/');
	bool result = !ends(f->path, ".dat");
	size_t len = fault("truncate") && result ? cut_of(&f->text) : f->text.len;
	bool killed = fault("kill-mid-write") && result && !f->next;
	int fd;

	if (slash && slash > folder) {
		*slash = '\0';
		make_folders(folder);
	}
	fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		glog('F', "output_stream.cpp:92", "Failed to open %s", f->path);
		abort();
	}
	/* a database is whole as a file, its tables are not: see sim_rocpd.c */
	if (killed && !ends(f->path, ".db"))
		len = cut_of(&f->text);
	write_part(fd, f->text.at, len);
	if (killed)
		kill(getpid(), SIGKILL);
	close(fd);
}

void files_write(void (*log)(const char *path))
{
	for (const struct file *f = first; f; f = f->next) {
		if (log)
			log(f->path);
		write_one(f);
	}
	first = NULL;
	last = &first;
}
