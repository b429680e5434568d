/* program.c - see program.h. */
#include "session/program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return NOT_FOUND;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : NOT_EXECUTABLE;
}

int rk_program_check(const char *name)
{
	const char *path = getenv("PATH"), *p = path ? path : "/usr/local/bin:/usr/bin:/bin";
	struct rk_bytes b;
	int best = NOT_FOUND;

	if (strchr(name, '/'))
		return check_file(name);
	rk_bytes_init(&b, 1 << 16);
	while (best) {
		size_t len = strcspn(p, ":");
		int rc;

		rk_bytes_clear(&b);
		rk_bytes_printf(&b, "%.*s/%s", len ? (int)len : 1, len ? p : ".", name);
		rc = rk_bytes_str(&b) ? check_file(rk_bytes_str(&b)) : NOT_FOUND;
		best = rc < best ? rc : best;
		if (!p[len])
			break;
		p += len + 1;
	}
	rk_bytes_release(&b);
	return best;
}
