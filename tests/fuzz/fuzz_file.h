/* fuzz_file.h - the bytes of an input as a file that can be opened. */
#ifndef RK_FUZZ_FILE_H
#define RK_FUZZ_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file in memory, the same one each time; its path, or NULL. Nothing has to be closed. */
static inline const char *fuzz_file(const uint8_t *data, size_t len)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, len, 0) != (ssize_t)len)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/*
 * A file with a name: SQLite resolves links, and a memory file has nothing to resolve to. The
 * caller unlinks it. NULL when it cannot be made.
 */
static inline const char *fuzz_named_file(const uint8_t *data, size_t len)
{
	static char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/rockit-fuzz-%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	n = write(fd, data, len);
	close(fd);
	if (n == (ssize_t)len)
		return path;
	unlink(path);
	return NULL;
}

#endif
