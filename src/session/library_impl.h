/* library_impl.h - shared by the files that deal with the logs of libraries. */
#ifndef RK_LIBRARY_IMPL_H
#define RK_LIBRARY_IMPL_H

#include <stddef.h>

#include "session/library_trace.h"

enum rk_library {
	RK_LIBRARY_ROCBLAS,
	RK_LIBRARY_HIPBLASLT,
	RK_LIBRARY_MIOPEN,
	RK_LIBRARY_RCCL,
	RK_NLIBRARIES
};

/* By enum rk_library, ended by NULL. */
extern const char *const rk_library_names[];

#endif
