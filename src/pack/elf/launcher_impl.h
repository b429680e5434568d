/* launcher_impl.h - the machine code of launchers, one for each machine. */
#ifndef RK_LAUNCHER_IMPL_H
#define RK_LAUNCHER_IMPL_H

#include <stddef.h>
#include <stdint.h>

/* Code, texts and the path lie one behind the other: the code finds them relative to itself. */
struct rk_launcher_code {
	const uint8_t *code, *texts;
	size_t ncode, ntexts;
};

extern const struct rk_launcher_code rk_launcher_x86_64, rk_launcher_aarch64;

#endif
