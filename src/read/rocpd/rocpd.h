/* rocpd.h - the SQLite databases that rocprofv3 writes from ROCm 7.0 on. */
#ifndef RK_ROCPD_H
#define RK_ROCPD_H

#include "read/reader.h"

/*
 * Gives kernels, memcpy, memalloc, api, markers, counters, agents and processes, each where the
 * file has a table for it. Warnings: "hot-wal", "damaged-database", "wrong-type", "out-of-range",
 * "counter-without-dispatch", "spm-sample", "lookup-limit".
 */
#endif
