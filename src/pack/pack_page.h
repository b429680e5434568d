/* pack_page.h - a packager's plan, written down. */
#ifndef RK_PACK_PAGE_H
#define RK_PACK_PAGE_H

#include "base/bytes.h"
#include "rockit/pack.h"

struct rk_pack_page {
	const char *version;
	const struct rk_pack_package *packages;
	size_t npackages;
	const struct rk_pack_left *left;
	size_t nleft;
	const struct rk_warning *warnings;
	size_t nwarnings;
};

void rk_pack_page_text(struct rk_bytes *out, const struct rk_pack_page *p);
void rk_pack_page_json(struct rk_bytes *out, const struct rk_pack_page *p);
void rk_pack_page_csv(struct rk_bytes *out, const struct rk_pack_page *p);

#endif
