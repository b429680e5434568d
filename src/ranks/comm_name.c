/* comm_name.c - names of kernels and functions that communicate. */
#include "ranks/comm_name.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

struct piece {
	const char *s;
	size_t len;
};

struct op {
	const char *name;
	enum rk_comm_kind kind;
	const char *op; /* NULL: same as its name */
};

/*
 * Operations of NCCL and RCCL as written in names; a name comes before its own prefixes. Parts of
 * an AllToAllv may be empty, and then no rank waits for them.
 */
static const struct op nccl_ops[] = {
	{ "AllReduce", RK_COMM_ALL, NULL },     { "AllGather", RK_COMM_ALL, NULL },
	{ "ReduceScatter", RK_COMM_ALL, NULL }, { "AllToAllv", RK_COMM_ROOTED, NULL },
	{ "AllToAll", RK_COMM_ALL, NULL },      { "AlltoAll", RK_COMM_ALL, "AllToAll" },
	{ "Broadcast", RK_COMM_ROOTED, NULL },  { "Bcast", RK_COMM_ROOTED, "Broadcast" },
	{ "Reduce", RK_COMM_ROOTED, NULL },     { "Gather", RK_COMM_ROOTED, NULL },
	{ "Scatter", RK_COMM_ROOTED, NULL },    { "SendRecv", RK_COMM_PAIR, NULL },
	{ "Send", RK_COMM_PAIR, NULL },         { "Recv", RK_COMM_PAIR, NULL },
	{ "Generic", RK_COMM_ANY, NULL },
};

/*
 * Collectives of PyTorch, without underscores. Names go on: "allreduce_coalesced",
 * "reduce_scatter_tensor_coalesced", "_reduce_oop".
 */
static const struct op torch_ops[] = {
	{ "allreduce", RK_COMM_ALL, "AllReduce" },
	{ "allgather", RK_COMM_ALL, "AllGather" },
	{ "reducescatter", RK_COMM_ALL, "ReduceScatter" },
	{ "alltoallv", RK_COMM_ROOTED, "AllToAllv" },
	{ "alltoall", RK_COMM_ALL, "AllToAll" },
	{ "barrier", RK_COMM_ALL, "Barrier" },
	{ "broadcast", RK_COMM_ROOTED, "Broadcast" },
	{ "reduce", RK_COMM_ROOTED, "Reduce" },
	{ "gather", RK_COMM_ROOTED, "Gather" },
	{ "scatter", RK_COMM_ROOTED, "Scatter" },
	{ "send", RK_COMM_PAIR, "Send" },
	{ "recv", RK_COMM_PAIR, "Recv" },
};

/* Prefixes of the operation in kernel names. */
static const char *const nccl_kernels[] = {
	"ncclDevKernelDebug_", "ncclDevKernelLL_",  "ncclDevKernel_",
	"ncclSymkDevKernel_",  "ncclSymDevKernel_", "ncclKernel_",
};

/*
 * Kernels of other libraries: each starts by synchronizing with its peers, or waits for their
 * writes. The names are complete except for a suffix ("_1stage", "_kernel", template arguments).
 */
static const struct op custom_ops[] = {
	{ "cross_device_reduce_", RK_COMM_ALL, "AllReduce" },
	{ "one_shot_all_reduce_kernel", RK_COMM_ALL, "AllReduce" },
	{ "two_shot_all_reduce_kernel", RK_COMM_ALL, "AllReduce" },
	{ "multimem_all_reduce_kernel", RK_COMM_ALL, "AllReduce" },
	{ "multimem_one_shot_all_reduce_kernel", RK_COMM_ALL, "AllReduce" },
	{ "multimem_all_gather_kernel", RK_COMM_ALL, "AllGather" },
	{ "oneShotAllReduceKernel", RK_COMM_ALL, "AllReduce" },
	{ "twoShotAllReduceKernel", RK_COMM_ALL, "AllReduce" },
	{ "allreduce_fusion_kernel_", RK_COMM_ALL, "AllReduce" },
	{ "mscclKernel_", RK_COMM_ANY, "MSCCL" },
};

/* Blocking MPI calls, without MPI_. */
static const struct op mpi_ops[] = {
	{ "Allreduce", RK_COMM_ALL, "MPI_Allreduce" },
	{ "Allgather", RK_COMM_ALL, "MPI_Allgather" },
	{ "Allgatherv", RK_COMM_ALL, "MPI_Allgatherv" },
	{ "Alltoall", RK_COMM_ALL, "MPI_Alltoall" },
	{ "Alltoallv", RK_COMM_ROOTED, "MPI_Alltoallv" },
	{ "Alltoallw", RK_COMM_ROOTED, "MPI_Alltoallw" },
	{ "Barrier", RK_COMM_ALL, "MPI_Barrier" },
	{ "Bcast", RK_COMM_ROOTED, "MPI_Bcast" },
	{ "Exscan", RK_COMM_ROOTED, "MPI_Exscan" },
	{ "Gather", RK_COMM_ROOTED, "MPI_Gather" },
	{ "Gatherv", RK_COMM_ROOTED, "MPI_Gatherv" },
	{ "Reduce", RK_COMM_ROOTED, "MPI_Reduce" },
	{ "Reduce_scatter", RK_COMM_ALL, "MPI_Reduce_scatter" },
	{ "Reduce_scatter_block", RK_COMM_ALL, "MPI_Reduce_scatter_block" },
	{ "Scan", RK_COMM_ROOTED, "MPI_Scan" },
	{ "Scatter", RK_COMM_ROOTED, "MPI_Scatter" },
	{ "Scatterv", RK_COMM_ROOTED, "MPI_Scatterv" },
	{ "Send", RK_COMM_PAIR, "MPI_Send" },
	{ "Ssend", RK_COMM_PAIR, "MPI_Ssend" },
	{ "Recv", RK_COMM_PAIR, "MPI_Recv" },
	{ "Sendrecv", RK_COMM_PAIR, "MPI_Sendrecv" },
};

static const char *const waits[] = { "hipDeviceSynchronize", "cudaDeviceSynchronize",
				     "cuCtxSynchronize", "hipCtxSynchronize" };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool begins(struct piece p, const char *with)
{
	size_t n = strlen(with);

	return p.len >= n && memcmp(p.s, with, n) == 0;
}

static bool is(struct piece p, const char *what)
{
	return p.len == strlen(what) && begins(p, what);
}

static struct piece after(struct piece p, size_t n)
{
	return (struct piece){ p.s + n, p.len - n };
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Finds the last plain name in _Z9functionv or _ZN5space8functionIfEEv. */
static struct piece mangled(struct piece p)
{
	struct piece got = { p.s, 0 };
	bool nested = begins(p, "_ZN");

	p = after(p, nested ? 3 : 2);
	while ((nested || !got.len) && p.len && *p.s >= '1' && *p.s <= '9') {
		size_t n = 0;

		for (; p.len && *p.s >= '0' && *p.s <= '9' && n < 10000; p = after(p, 1))
			n = n * 10 + (size_t)(*p.s - '0');
		if (n > p.len)
			break;
		got = (struct piece){ p.s, n };
		p = after(p, n);
	}
	return got;
}

/* The bare function name: no return type, namespaces, arguments. */
static struct piece bare(const char *name, size_t len)
{
	static const char anonymous[] = "(anonymous namespace)::";
	struct piece p = { name, len }, got = p;

	if (begins(p, "_Z"))
		return mangled(p);
	for (;;) {
		size_t n = 0;

		while (n < p.len && is_word(p.s[n]))
			n++;
		got = (struct piece){ p.s, n };
		p = after(p, n);
		if (begins(p, "::"))
			p = after(p, 2);
		else if (begins(p, " "))
			p = after(p, 1);
		else if (!n && begins(p, anonymous))
			p = after(p, sizeof(anonymous) - 1);
		else
			return got;
	}
}

static const struct op *op_at(struct piece p, const struct op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (begins(p, ops[i].name))
			return &ops[i];
	return NULL;
}

static struct rk_comm of_op(const struct op *op)
{
	return (struct rk_comm){ .kind = op->kind, .op = op->op ? op->op : op->name };
}

/*
 * Releases 2.2 to 2.13 run every operation that is not inlined in a kernel named after send and
 * receive, so the name does not identify the operation.
 */
static bool nccl_kernel(struct piece p, struct rk_comm *ret, struct piece *rest)
{
	for (size_t i = 0; i < COUNT(nccl_kernels); i++) {
		const struct op *op;

		if (!begins(p, nccl_kernels[i]))
			continue;
		p = after(p, strlen(nccl_kernels[i]));
		op = op_at(p, nccl_ops, COUNT(nccl_ops));
		*ret = (struct rk_comm){ .kind = RK_COMM_ANY, .op = "NCCL" };
		*rest = p;
		if (op) {
			*ret = of_op(op);
			*rest = after(p, strlen(op->name));
		}
		if (ret->kind == RK_COMM_PAIR && strcmp(nccl_kernels[i], "ncclKernel_") == 0)
			ret->kind = RK_COMM_ANY;
		return true;
	}
	return false;
}

static bool nccl_name(struct piece p, struct rk_comm *ret, struct piece *rest)
{
	const struct op *op;

	if (!begins(p, "nccl"))
		return false;
	p = after(p, 4);
	op = op_at(p, nccl_ops, COUNT(nccl_ops));
	/* releases up to 2.9: ncclAllReduceRingLLKernel_sum_f32 */
	if (op && memmem(p.s, p.len, "Kernel", strlen("Kernel"))) {
		*ret = of_op(op);
		*rest = after(p, strlen(op->name));
		return true;
	}
	*rest = after(p, p.len);
	if (op && op->kind != RK_COMM_ANY && is(p, op->name)) {
		*ret = of_op(op);
		ret->host = ret->queued = true;
		return true;
	}
	/* creates a communicator with all its ranks, and returns when that is done */
	if (is(p, "CommInitRank")) {
		*ret = (struct rk_comm){ .kind = RK_COMM_ALL, .host = true, .op = "CommInitRank" };
		return true;
	}
	return false;
}

static bool mpi_name(struct piece p, struct rk_comm *ret, struct piece *rest)
{
	if (begins(p, "PMPI_"))
		p = after(p, 1);
	if (!begins(p, "MPI_"))
		return false;
	p = after(p, 4);
	for (size_t i = 0; i < COUNT(mpi_ops); i++) {
		if (is(p, mpi_ops[i].name)) {
			*ret = of_op(&mpi_ops[i]);
			ret->host = true;
			*rest = after(p, p.len);
			return true;
		}
	}
	return false;
}

static struct rk_comm find(const char *name, size_t len, struct piece *rest)
{
	struct rk_comm got = { .kind = RK_COMM_NOT, .op = "" };
	struct piece p = bare(name, len);
	const struct op *op;

	*rest = after(p, p.len);
	if (nccl_kernel(p, &got, rest) || nccl_name(p, &got, rest) || mpi_name(p, &got, rest))
		return got;
	op = op_at(p, custom_ops, COUNT(custom_ops));
	if (op) {
		got = of_op(op);
		*rest = op->kind == RK_COMM_ANY ? after(p, strlen(op->name)) : p;
	}
	return got;
}

struct rk_comm rk_comm_of(const char *name, size_t len)
{
	struct piece rest;

	return find(name, len, &rest);
}

void rk_comm_label(const char *name, size_t len, char *text, size_t size)
{
	struct piece rest;
	struct rk_comm c = find(name, len, &rest);
	size_t at;

	if (!size)
		return;
	while (rest.len && *rest.s == '_')
		rest = after(rest, 1);
	snprintf(text, size, "%s%s%.*s", c.op, rest.len ? " " : "", (int)rk_min(rest.len, 200),
		 rest.s);
	/* keep the underscores in kernel names of other libraries */
	at = strlen(c.op);
	if (begins(rest, "cross_") || c.host || at >= strlen(text))
		return;
	for (char *s = text + at; *s; s++)
		if (*s == '_')
			*s = ' ';
}

struct rk_comm rk_comm_of_collective(const char *name, size_t len)
{
	char plain[32];
	struct piece p = { plain, 0 };
	const struct op *op;

	for (size_t i = 0; i < len && p.len < sizeof(plain); i++)
		if (name[i] != '_')
			plain[p.len++] = name[i];
	op = op_at(p, torch_ops, COUNT(torch_ops));
	if (op)
		return of_op(op);
	if (is(p, "wait") || is(p, "init") || !p.len)
		return (struct rk_comm){ .kind = RK_COMM_NOT, .op = "" };
	return (struct rk_comm){ .kind = RK_COMM_ANY, .op = "Collective" };
}

bool rk_comm_is_wait(const char *name, size_t len)
{
	struct piece p = { name, len };

	for (size_t i = 0; i < COUNT(waits); i++)
		if (is(p, waits[i]))
			return true;
	return false;
}
