/*
 * kernels.cl - kernels for the test programs. The virtual GPU does not execute them: what matters is
 * that they are real code objects with names, registers and arguments. The first 16 bytes of the
 * arguments say who launched it: thread, number, stream.
 */
#define ITEM (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())

struct who {
	uint thread, number, stream, tag;
};

__kernel void scale(struct who who, __global float *p, float by)
{
	p[ITEM] *= by;
}

__kernel void add(struct who who, __global float *p, __global const float *q)
{
	p[ITEM] += q[ITEM];
}

__kernel void reduce(struct who who, __global float *p)
{
	__local float part[256];
	uint i = __builtin_amdgcn_workitem_id_x();

	part[i & 255] = p[ITEM];
	__builtin_amdgcn_s_barrier();
	p[i] = part[(i + 1) & 255];
}

__kernel void gemm(struct who who, __global float *c, __global const float *a, __global const float *b)
{
	float sum = 0;

	for (int i = 0; i < 64; i++)
		sum += a[ITEM + i] * b[ITEM + i];
	c[ITEM] = sum;
}
