/*
 * sdk_roctx.c - a library like librocprofiler-sdk-roctx, which Debian does not have: ROCTx without a
 * function to register for a tool.
 */
#include <stdint.h>

static _Thread_local int level;
static _Atomic uint64_t ids;

void roctxMarkA(const char *text)
{
	(void)text;
}

int roctxRangePushA(const char *text)
{
	(void)text;
	return level++;
}

int roctxRangePop(void)
{
	return level ? --level : -1;
}

uint64_t roctxRangeStartA(const char *text)
{
	(void)text;
	return ++ids;
}

void roctxRangeStop(uint64_t id)
{
	(void)id;
}
