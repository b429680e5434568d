/* sysfs.h - reads small files of /sys and /proc. */
#ifndef RK_SYSFS_H
#define RK_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"

enum {
	RK_SYSFS_PATH = 1024,
	RK_SYSFS_TEXT = 8192, /* the kernel writes at most a page of text */
};

/* Puts `root` (NULL or "" for none) before a path. A path that does not fit becomes "". */
void rk_sysfs_path(char out[RK_SYSFS_PATH], const char *root, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The text of a file without blanks at both ends, terminated and cut to `size`. False, and "", if
 * the file is missing, unreadable or empty.
 */
bool rk_sysfs_read(const char *path, char *buf, size_t size);
/* The same for dir/name. */
bool rk_sysfs_read_at(const char *dir, const char *name, char *buf, size_t size);
/* A decimal or 0x hexadecimal number; false leaves *ret unchanged. */
bool rk_sysfs_u64(const char *dir, const char *name, uint64_t *ret);

/* The value of `key` in lines "KEY<sep>VALUE", without blanks around it. False and "" for none. */
bool rk_sysfs_value(const char *text, const char *key, char sep, char *buf, size_t size);
bool rk_sysfs_value_u64(const char *text, const char *key, char sep, uint64_t *ret);

/* What known faults of profilers depend on. */
struct rk_machine {
	char driver[64];   /* version of amdgpu; "": unknown, as that of the kernel's own is */
	uint64_t firmware; /* of the command processor, the oldest of all AMD GPUs; 0: unknown */
	bool wsl;          /* Windows' subsystem for Linux */
};
int rk_machine_read(const char *root, struct rk_machine *ret, struct rk_error *err);

/* The entries of a directory except hidden ones; "card9" before "card10". No directory: none. */
int rk_sysfs_list(const char *dir, struct rk_list *ret, struct rk_error *err);

#endif
