/* name_clean.c - one recorded kernel name to its clean form. */
#include <string.h>

#include "base/demangle.h"
#include "base/text.h"
#include "table/names.h"

static size_t strip_suffix(const char *s, size_t len)
{
	static const char *const suffixes[] = { " [clone .kd]", " (.kd)", ".kd", " " };
	bool again = true;

	while (again) {
		again = false;
		for (unsigned i = 0; i < 4; i++) {
			size_t n = strlen(suffixes[i]);

			if (len > n && rk_text_ends(s, len, suffixes[i])) {
				len -= n;
				again = true;
			}
		}
	}
	return len;
}

/* The length of s without one trailing (), <> or [] group; len itself when there is none. */
static size_t without_group(const char *s, size_t len)
{
	char close = len ? s[len - 1] : 0;
	char open = close == ')' ? '(' : close == '>' ? '<' : close == ']' ? '[' : 0;
	size_t depth = 0;

	if (!open)
		return len;
	for (size_t i = len; i-- > 0;) {
		depth += s[i] == close;
		if (s[i] == open && !--depth)
			return i ? i : len;
	}
	return len;
}

/* `void ns::kernel<float, 4>(float*)` is kernel: what `rocprofv3 -T` does. */
static void truncated(const char **s, size_t *len)
{
	static const char constant[] = " const";
	size_t shorter = *len;

	if (rk_text_ends(*s, *len, constant))
		shorter = *len -= strlen(constant);
	while ((shorter = without_group(*s, *len)) < *len) {
		*len = shorter;
		while (*len && (*s)[*len - 1] == ' ')
			--*len;
	}
	for (size_t i = *len; i-- > 0;) {
		if ((*s)[i] == ' ' || (i && (*s)[i] == ':' && (*s)[i - 1] == ':')) {
			*s += i + 1;
			*len -= i + 1;
			return;
		}
	}
}

bool rk_name_clean(const char *name, size_t len, const struct rk_name_style *style,
		   struct rk_bytes *out)
{
	struct rk_bytes plain, readable;
	const char *s;

	rk_bytes_init(&plain, len + 1);
	rk_bytes_init(&readable, 256 << 10);
	rk_bytes_put(&plain, name, strip_suffix(name, len));
	s = rk_bytes_str(&plain);
	len = plain.len;
	if (s && !style->mangled && !memchr(s, '\0', len) && rk_demangle(s, &readable)) {
		s = (const char *)readable.data;
		len = readable.len;
	}
	if (s && style->truncate)
		truncated(&s, &len);
	if (s)
		rk_utf8_repair(out, s, len);
	rk_bytes_release(&plain);
	rk_bytes_release(&readable);
	return s && !out->bad;
}
