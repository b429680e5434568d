/* fake_roctx.h - the functions of ROCTx that fake_roctx.c has. */
#ifndef FAKE_ROCTX_H
#define FAKE_ROCTX_H

#include <stdint.h>

int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int roctxProfilerResume(uint64_t tid);
int roctxProfilerPause(uint64_t tid);

#endif
