/* sysfs.h - small files of /sys and /proc: whole, bounded, and often not there. */
#ifndef RK_SYSFS_H
#define RK_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"

enum {
	RK_SYSFS_PATH = 1024,
	RK_SYSFS_TEXT = 8192, /* the kernel gives at most a page of text */
};

/* `root` (NULL or "" for none) before a path. A path that does not fit becomes "". */
void rk_sysfs_path(char out[RK_SYSFS_PATH], const char *root, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The text of a file with blanks at both ends cut off, terminated; what does not fit is left out.
 * False, and "", when there is no such file, it cannot be read, or it has no text.
 */
bool rk_sysfs_read(const char *path, char *buf, size_t size);
/* As read, from dir/name. */
bool rk_sysfs_read_at(const char *dir, const char *name, char *buf, size_t size);
/* Decimal or 0x hexadecimal; false leaves *ret alone. */
bool rk_sysfs_u64(const char *dir, const char *name, uint64_t *ret);

/* Of lines "KEY<sep>VALUE" the value of `key`, blanks around it cut off. False and "" for none. */
bool rk_sysfs_value(const char *text, const char *key, char sep, char *buf, size_t size);
bool rk_sysfs_value_u64(const char *text, const char *key, char sep, uint64_t *ret);

/* Entries of a directory without hidden ones, numbers in them by value. No directory: none. */
int rk_sysfs_list(const char *dir, struct rk_list *ret, struct rk_error *err);

#endif
