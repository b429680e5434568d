/*
 * bare_cupti.c - the floor: CUPTI switched on for kernels, copies and fills, its records thrown away.
 *
 * cc -shared -fPIC -O2 -I/usr/local/cuda/include bare_cupti.c -o libbare.so -L/usr/local/cuda/lib64 -lcupti
 */
#include <cupti.h>
#include <stdlib.h>

enum { BYTES = 4 << 20, ALIGN = 8 };

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = aligned_alloc(ALIGN, BYTES);
	*size = *buffer ? BYTES : 0;
	*records = 0;
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t used)
{
	(void)context, (void)stream, (void)size, (void)used;
	free(buffer);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
	cuptiActivityRegisterCallbacks(requested, completed);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
	return 1;
}
