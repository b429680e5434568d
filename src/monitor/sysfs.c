/* sysfs.c - see sysfs.h. */
#include "monitor/sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void rk_sysfs_path(char out[RK_SYSFS_PATH], const char *root, const char *fmt, ...)
{
	int at = snprintf(out, RK_SYSFS_PATH, "%s", root ? root : "");
	va_list ap;
	int n = -1;

	if (at >= 0 && at < RK_SYSFS_PATH) {
		va_start(ap, fmt);
		n = vsnprintf(out + at, (size_t)(RK_SYSFS_PATH - at), fmt, ap);
		va_end(ap);
	}
	if (n < 0 || n >= RK_SYSFS_PATH - at)
		out[0] = '\0';
}

/* Copies the text without blanks at both ends. */
static bool put_trimmed(const char *s, size_t len, char *buf, size_t size)
{
	while (len && blank(s[len - 1]))
		len--;
	while (len && blank(*s)) {
		s++;
		len--;
	}
	if (len >= size)
		len = size - 1;
	memmove(buf, s, len);
	buf[len] = '\0';
	return len > 0;
}

bool rk_sysfs_read(const char *path, char *buf, size_t size)
{
	int fd = *path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	size_t len = 0;
	ssize_t n = 0;

	buf[0] = '\0';
	if (fd < 0)
		return false;
	while (len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	/* The text ends at the first NUL. */
	return put_trimmed(buf, strnlen(buf, len), buf, size);
}

bool rk_sysfs_read_at(const char *dir, const char *name, char *buf, size_t size)
{
	char path[RK_SYSFS_PATH];

	rk_sysfs_path(path, dir, "/%s", name);
	return rk_sysfs_read(path, buf, size);
}

bool rk_sysfs_u64(const char *dir, const char *name, uint64_t *ret)
{
	char text[64];

	return rk_sysfs_read_at(dir, name, text, sizeof(text)) &&
	       rk_num_u64(text, strlen(text), ret) == RK_NUM_OK;
}

bool rk_sysfs_value(const char *text, const char *key, char sep, char *buf, size_t size)
{
	size_t klen = strlen(key);

	buf[0] = '\0';
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, klen) == 0 && line[klen] == sep) {
			line += klen + 1;
			return put_trimmed(line, strcspn(line, "\n"), buf, size);
		}
	}
	return false;
}

bool rk_sysfs_value_u64(const char *text, const char *key, char sep, uint64_t *ret)
{
	char value[64];

	return rk_sysfs_value(text, key, sep, value, sizeof(value)) &&
	       rk_num_u64(value, strlen(value), ret) == RK_NUM_OK;
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int rk_sysfs_list(const char *dir, struct rk_list *ret, struct rk_error *err)
{
	DIR *d = *dir ? opendir(dir) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			rk_list_add(ret, e->d_name);
	if (d)
		closedir(d);
	if (ret->bad)
		return rk_fail_nomem(err);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_version);
	return 0;
}

int rk_machine_read(const char *root, struct rk_machine *ret, struct rk_error *err)
{
	char dir[RK_SYSFS_PATH], path[RK_SYSFS_PATH], text[RK_SYSFS_TEXT];
	struct rk_list nodes = { 0 };
	int rc;

	*ret = (struct rk_machine){ .wsl = false };
	rk_sysfs_path(path, root, "/sys/module/amdgpu/version");
	rk_sysfs_read(path, ret->driver, sizeof(ret->driver));
	rk_sysfs_path(path, root, "/dev/dxg");
	ret->wsl = path[0] && access(path, F_OK) == 0;
	rk_sysfs_path(dir, root, "/sys/class/kfd/kfd/topology/nodes");
	rc = rk_sysfs_list(dir, &nodes, err);
	for (size_t i = 0; rc == 0 && i < nodes.n; i++) {
		uint64_t simds = 0, firmware = 0;

		rk_sysfs_path(path, dir, "/%s/properties", nodes.v[i]);
		if (!rk_sysfs_read(path, text, sizeof(text)) ||
		    !rk_sysfs_value_u64(text, "simd_count", ' ', &simds) || !simds ||
		    !rk_sysfs_value_u64(text, "fw_version", ' ', &firmware) || !firmware)
			continue;
		if (!ret->firmware || firmware < ret->firmware)
			ret->firmware = firmware;
	}
	rk_list_release(&nodes);
	return rc;
}
