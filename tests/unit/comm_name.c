/* comm_name.c - what communicates, by names that profilers recorded. */
#include "ranks/comm_name.h"

#include <string.h>

#include "tap.h"

static struct rk_comm of(const char *name)
{
	return rk_comm_of(name, strlen(name));
}

static void is_kernel(const char *name, enum rk_comm_kind kind, const char *label)
{
	struct rk_comm c = of(name);
	char text[128];

	rk_comm_label(name, strlen(name), text, sizeof(text));
	if (!CHECK_I64(c.kind, kind) || !CHECK_STR(text, label))
		CHECK_STR(name, "");
	CHECK(!c.host && !c.queued);
}

TEST(kernels_of_nccl_and_rccl_are_known_in_all_their_spellings)
{
	is_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		  RK_COMM_ALL, "AllReduce Sum f32 RING LL");
	is_kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", RK_COMM_ALL,
		  "AllGather RING LL");
	is_kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, "
		  "ncclWork*)",
		  RK_COMM_ALL, "ReduceScatter Sum bf16 RING LL");
	is_kernel("ncclDevKernel_Broadcast_RING_LL", RK_COMM_ROOTED, "Broadcast RING LL");
	is_kernel("ncclDevKernel_Reduce_Sum_f32_RING_LL", RK_COMM_ROOTED, "Reduce Sum f32 RING LL");
	is_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", RK_COMM_PAIR,
		  "SendRecv");
	is_kernel("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", RK_COMM_ANY,
		  "Generic 1");
	is_kernel("ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)", RK_COMM_ANY,
		  "Generic");
	is_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
		  RK_COMM_ALL, "AllReduce RING LL Sum float");
	is_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, "
		  "ncclWork*)",
		  RK_COMM_ANY, "SendRecv RING SIMPLE Sum int8 t");
	is_kernel("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", RK_COMM_ALL,
		  "AllReduce RingLLKernel sum f32");
	is_kernel("ncclReduceScatterRingLLKernel_sum_f16(ncclColl)", RK_COMM_ALL,
		  "ReduceScatter RingLLKernel sum f16");
	is_kernel("ncclSendRecvKernel_copy_i8(ncclColl)", RK_COMM_PAIR, "SendRecv Kernel copy i8");
	is_kernel("ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32(ncclSymkDevWorkArgs4K)", RK_COMM_ALL,
		  "AllReduce AGxLL R sum f32");
	is_kernel("ncclSymkDevKernel_AllGather_STMC", RK_COMM_ALL, "AllGather STMC");
	is_kernel("mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
		  RK_COMM_ANY, "MSCCL Sum half Simple false");
	is_kernel("ncclDevKernel_Somethingnew_LL", RK_COMM_ANY, "NCCL Somethingnew LL");
}

TEST(collectives_are_known_by_the_names_that_pytorch_gives_them)
{
	static const struct {
		const char *name;
		enum rk_comm_kind kind;
		const char *op;
	} v[] = {
		{ "allreduce", RK_COMM_ALL, "AllReduce" },
		{ "allreduce_coalesced", RK_COMM_ALL, "AllReduce" },
		{ "_allgather_base", RK_COMM_ALL, "AllGather" },
		{ "all_gather_into_tensor_coalesced", RK_COMM_ALL, "AllGather" },
		{ "_reduce_scatter_base", RK_COMM_ALL, "ReduceScatter" },
		{ "reduce_scatter_tensor_coalesced", RK_COMM_ALL, "ReduceScatter" },
		{ "all_to_all", RK_COMM_ALL, "AllToAll" },
		{ "all_to_allv", RK_COMM_ROOTED, "AllToAllv" },
		{ "broadcast", RK_COMM_ROOTED, "Broadcast" },
		{ "_broadcast_oop", RK_COMM_ROOTED, "Broadcast" },
		{ "_reduce_oop", RK_COMM_ROOTED, "Reduce" },
		{ "barrier", RK_COMM_ALL, "Barrier" },
		{ "send", RK_COMM_PAIR, "Send" },
		{ "recv", RK_COMM_PAIR, "Recv" },
		{ "wait", RK_COMM_NOT, "" },
		{ "___", RK_COMM_NOT, "" },
		{ "", RK_COMM_NOT, "" },
		{ "something_new", RK_COMM_ANY, "Collective" },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct rk_comm c = rk_comm_of_collective(v[i].name, strlen(v[i].name));

		if (!CHECK_I64(c.kind, v[i].kind) || !CHECK_STR(c.op, v[i].op))
			CHECK_STR(v[i].name, "");
		CHECK(!c.host && !c.queued);
	}
}

TEST(kernels_of_others_are_known_where_it_is_sure)
{
	is_kernel("void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*, "
		  "vllm::RankSignals, vllm::Signal*, __half*, int, int)",
		  RK_COMM_ALL, "AllReduce cross_device_reduce_1stage");
	is_kernel("aiter::cross_device_reduce_2stage<bf16,8,false>", RK_COMM_ALL,
		  "AllReduce cross_device_reduce_2stage");
	is_kernel("void c10d::symmetric_memory::(anonymous namespace)::"
		  "one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(c10::BFloat16**)",
		  RK_COMM_ALL, "AllReduce one shot all reduce kernel");
	is_kernel("void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 8>(int)", RK_COMM_ALL,
		  "AllReduce oneShotAllReduceKernel");
}

TEST(mangled_names_are_known_as_well)
{
	is_kernel("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
		  RK_COMM_ALL, "AllReduce Sum f32 RING LL");
	is_kernel("_ZN4vllm26cross_device_reduce_1stageI6__halfLi8EEEvPNS_8RankDataE", RK_COMM_ALL,
		  "AllReduce cross_device_reduce_1stage");
	CHECK_I64(of("_Z99ncclDevKernel").kind, RK_COMM_NOT);
	CHECK_I64(of("_Z").kind, RK_COMM_NOT);
	CHECK_I64(of("_ZN").kind, RK_COMM_NOT);
	CHECK_I64(of("_Z99999999999999999999x").kind, RK_COMM_NOT);
}

TEST(what_only_sounds_like_it_is_not)
{
	static const char *const names[] = {
		"",
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at)",
		"void cub::DeviceReduceKernel<int>(int*)",
		"ncclGetUniqueId",
		"ncclCommGetAsyncError",
		"ncclGroupStart",
		"ncclGroupEnd",
		"ncclReduceScatterX",
		"ncclCommInitRankConfig",
		"MPI_Comm_rank",
		"MPI_Iallreduce",
		"MPI_Allreduc",
		"Cijk_Ailk_Bljk_SB_MT64x64x8",
		"void k<ncclDevKernel_AllReduce>(int)",
		"my_cross_device_reduce_1stage",
		"void (anonymous namespace)::",
		"::::",
		"(((((",
		"   ",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!CHECK_I64(of(names[i]).kind, RK_COMM_NOT))
			CHECK_STR(names[i], "");
}

TEST(functions_of_nccl_are_queued_and_those_of_mpi_are_not)
{
	struct rk_comm c = of("ncclAllReduce");
	char text[32];

	CHECK(c.kind == RK_COMM_ALL && c.host && c.queued);
	CHECK_STR(c.op, "AllReduce");
	c = of("ncclAllToAllv");
	CHECK(c.kind == RK_COMM_ROOTED && c.queued);
	c = of("ncclSend");
	CHECK(c.kind == RK_COMM_PAIR && c.queued);
	c = of("ncclCommInitRank");
	CHECK(c.kind == RK_COMM_ALL && c.host && !c.queued);
	c = of("MPI_Allreduce");
	CHECK(c.kind == RK_COMM_ALL && c.host && !c.queued);
	c = of("PMPI_Bcast");
	CHECK(c.kind == RK_COMM_ROOTED && c.host && !c.queued);
	rk_comm_label("MPI_Reduce_scatter", 18, text, sizeof(text));
	CHECK_STR(text, "MPI_Reduce_scatter");
	rk_comm_label("ncclAllReduce", 13, text, sizeof(text));
	CHECK_STR(text, "AllReduce");
}

TEST(labels_fit_their_place)
{
	static const char name[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
	char text[12];

	for (size_t size = 1; size <= sizeof(text); size++) {
		rk_comm_label(name, sizeof(name) - 1, text, size);
		CHECK_U64(strlen(text), size - 1);
	}
	/* nothing behind the end is touched */
	memset(text, '_', sizeof(text));
	rk_comm_label("gemm", 4, text, sizeof(text));
	CHECK_STR(text, "");
	CHECK_MEM(text + 1, "___________", sizeof(text) - 1);
}

TEST(functions_that_wait_for_a_device_are_known)
{
	CHECK(rk_comm_is_wait("hipDeviceSynchronize", 20));
	CHECK(rk_comm_is_wait("cudaDeviceSynchronize", 21));
	CHECK(!rk_comm_is_wait("hipStreamSynchronize", 20));
	CHECK(!rk_comm_is_wait("hipDeviceSynchronize_", 21));
}
