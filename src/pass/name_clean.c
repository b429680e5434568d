/* name_clean.c - one recorded kernel name to its clean form. */
#include <string.h>

#include "base/demangle.h"
#include "base/text.h"
#include "pass/names.h"

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
	struct rk_bytes work;
	const char *s;
	bool ok;

	rk_bytes_init(&work, 2 * len + (256 << 10));
	rk_bytes_put(&work, name, strip_suffix(name, len));
	s = rk_bytes_str(&work);
	len = work.len;
	if (s && !style->mangled && !memchr(s, '\0', len)) {
		size_t from = work.len + 1;

		work.len = from; /* the terminator stays in front of the new text */
		if (rk_demangle(s, &work)) {
			s = (const char *)work.data + from;
			len = work.len - from;
		} else {
			s = (const char *)work.data;
		}
	}
	if (s && style->truncate)
		truncated(&s, &len);
	if (s)
		rk_utf8_repair(out, s, len);
	ok = s && !out->bad;
	rk_bytes_release(&work);
	return ok;
}
