/* tree_load.c - a small document from a file. */
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"
#include "codec/json/tree.h"
#include "io/file.h"

/* All of a small file, terminated. */
static int slurp(const char *path, char **ret, size_t *ret_len, struct rk_error *err)
{
	struct rk_file *f = NULL;
	char *text = rk_alloc(RK_TREE_BYTES_MAX + 1);
	int rc = text ? rk_file_open(path, &f, err) : rk_fail_nomem(err);

	if (rc == 0)
		rc = rk_file_read(f, text, RK_TREE_BYTES_MAX + 1, ret_len, err);
	if (rc == 0 && *ret_len > RK_TREE_BYTES_MAX) {
		rc = rk_fail(err, RK_E_LIMIT, "larger than %d bytes", RK_TREE_BYTES_MAX);
		rk_error_at(err, path, 0, 0);
	}
	rk_file_close(f);
	if (rc < 0) {
		rk_free(text);
		return rc;
	}
	text[*ret_len] = '\0';
	*ret = text;
	return 0;
}

int rk_tree_load(const char *path, struct rk_tree **ret, struct rk_error *err)
{
	size_t plen = strlen(path), len;
	bool yaml = rk_text_ends(path, plen, ".yaml") || rk_text_ends(path, plen, ".yml");
	char *text = NULL;
	int rc = slurp(path, &text, &len, err);

	if (rc < 0)
		return rc;
	rc = yaml ? rk_tree_parse_yaml(text, len, path, ret, err) :
		    rk_tree_parse_json(text, len, path, ret, err);
	rk_free(text);
	return rc;
}

int rk_tree_load_found(const char *path, struct rk_tree **ret, struct rk_error *err)
{
	struct stat st;
	int rc;

	if (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return rk_tree_load(path, ret, err);
	rc = rk_fail(err, RK_E_FORMAT, "a pipe or a device, not a file");
	rk_error_at(err, path, 0, 0);
	return rc;
}
