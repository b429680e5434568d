/* gen_kernels.c - kernel names as frameworks on AMD GPUs make them, with typical resources. */
#include "gen_workload.h"

/* name, mean ns, weight, block, grid, VGPRs, accumulation VGPRs, SGPRs, LDS, scratch */
/* clang-format off */
const struct gen_kernel gen_kernels[GEN_KERNELS] = {
	{ "Cijk_Ailk_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1_AF"
	  "EM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GS"
	  "U1_GSUASB_GLS0_ISA942_IU1_K1_LBSPPA1024_LBSPPB1024_LRVW8_MIAV0_MIWT8_8_PGR2_PLR1_SIA"
	  "3_SS1_SU0_SUS0_SVW4_TT4_4_VWA4_VWB4_WSGRA0_WSGRB0_WG32_8_1_WGM8",
	  412000, 14, { 256, 1, 1 }, { 30720, 1, 1 }, 192, 64, 112, 34816, 0 },
	{ "Cijk_Ailk_Bjlk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_LDSB1_AFC1_AF"
	  "EM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GS"
	  "U1_GSUASB_GLS0_ISA942_IU1_K1_LBSPPA1024_LBSPPB1024_LRVW8_MIAV0_MIWT8_4_PGR2_PLR1_SIA"
	  "3_SS1_SU0_SUS0_SVW4_TT4_4_VWA4_VWB4_WSGRA0_WSGRB0_WG32_8_1_WGM8",
	  233000, 13, { 256, 1, 1 }, { 30720, 1, 1 }, 128, 64, 112, 65536, 0 },
	{ "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x128x32_MI16x16x1_SN_LDSB1_AFC1_AF"
	  "EM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GS"
	  "U1_GSUASB_GLS0_ISA942_IU1_K1_LBSPPA1024_LBSPPB1024_LRVW8_MIAV0_MIWT4_4_PGR2_PLR1_SIA"
	  "3_SS1_SU0_SUS0_SVW4_TT4_4_VWA4_VWB4_WSGRA0_WSGRB0_WG32_8_1_WGM8",
	  118000, 18, { 256, 1, 1 }, { 30720, 1, 1 }, 128, 128, 112, 65536, 0 },
	{ "Cijk_Alik_Bljk_HHS_BH_MT64x64x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS"
	  "0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSU1_GSUASB_GLS0_ISA942_IU1"
	  "_K1_LBSPPA1024_LBSPPB1024_LRVW8_MIAV0_MIWT2_2_PGR2_PLR1_SIA3_SS1_SU0_SUS0_SVW4_TT4_4"
	  "_VWA4_VWB4_WSGRA0_WSGRB0_WG16_16_1_WGM8",
	  41000, 8, { 256, 1, 1 }, { 30720, 1, 1 }, 128, 256, 112, 25600, 0 },
	{ "Cijk_Ailk_Bljk_SB_Bias_HA_S_SAV_MT128x64x16_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM"
	  "1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSU1_GSUASB_GLS0"
	  "_ISA942_IU1_K1_LBSPPA1024_LBSPPB1024_LRVW8_MIAV0_MIWT4_2_PGR2_PLR1_SIA3_SS1_SU0_SUS0"
	  "_SVW4_TT4_4_VWA4_VWB4_WSGRA0_WSGRB0_WG16_16_1_WGM8",
	  87000, 5, { 256, 1, 1 }, { 30720, 1, 1 }, 128, 64, 112, 34816, 0 },
	{ "Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x128_MI16x16x1_SN_LDSB1_AFC1_"
	  "AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_"
	  "GSU1_GSUASB_GLS0_ISA942_IU1_K1_LBSPPA1024_LBSPPB1024_LRVW8_MIAV0_MIWT8_6_PGR2_PLR1_S"
	  "IA3_SS1_SU0_SUS0_SVW4_TT4_4_VWA4_VWB4_WSGRA0_WSGRB0_WG32_8_1_WGM8",
	  301000, 6, { 256, 1, 1 }, { 30720, 1, 1 }, 256, 64, 112, 25600, 0 },
	{ "Cijk_Alik_Bljk_BBS_BH_MT16x16x128_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CAD"
	  "S0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSU1_GSUASB_GLS0_ISA942_IU"
	  "1_K1_LBSPPA1024_LBSPPB1024_LRVW8_MIAV0_MIWT1_1_PGR2_PLR1_SIA3_SS1_SU0_SUS0_SVW4_TT4_"
	  "4_VWA4_VWB4_WSGRA0_WSGRB0_WG64_4_1_WGM8",
	  9800, 10, { 256, 1, 1 }, { 30720, 1, 1 }, 128, 256, 112, 34816, 0 },
	{ "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::B"
	  "Float16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
	  "std::array<char*, 3ul>)",
	  7800, 36, { 256, 1, 1 }, { 1048576, 1, 1 }, 20, 0, 32, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>"
	  ", std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*"
	  ", 3ul>)",
	  12400, 45, { 256, 1, 1 }, { 1048576, 1, 1 }, 24, 0, 32, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFl"
	  "oat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> "
	  ">, std::array<char*, 3ul> >(int, at::native::BinaryFunctor<c10::BFloat16, c10::BFloa"
	  "t16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<cha"
	  "r*, 3ul>)",
	  8100, 26, { 256, 1, 1 }, { 1048576, 1, 1 }, 36, 0, 32, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, f"
	  "loat, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul"
	  "> >(int, at::native::AUnaryFunctor<float, float, float, at::native::binary_internal:"
	  ":MulFunctor<float> >, std::array<char*, 2ul>)",
	  6900, 20, { 256, 1, 1 }, { 1048576, 1, 1 }, 24, 0, 32, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, st"
	  "d::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
	  4100, 39, { 256, 1, 1 }, { 1048576, 1, 1 }, 24, 0, 48, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<c10::BFloa"
	  "t16>, std::array<char*, 1ul> >(int, at::native::FillFunctor<c10::BFloat16>, std::arr"
	  "ay<char*, 1ul>)",
	  3900, 10, { 256, 1, 1 }, { 1048576, 1, 1 }, 36, 0, 32, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace):"
	  ":silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#5"
	  "}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, at::"
	  "native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::o"
	  "perator()() const::{lambda()#5}::operator()() const::{lambda(c10::BFloat16)#1}, std:"
	  ":array<char*, 2ul>)",
	  15100, 16, { 256, 1, 1 }, { 1048576, 1, 1 }, 20, 0, 48, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at:"
	  ":TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lamb"
	  "da()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int"
	  ", at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{la"
	  "mbda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat"
	  "16)#1}, std::array<char*, 2ul>)",
	  14700, 7, { 256, 1, 1 }, { 1048576, 1, 1 }, 24, 0, 32, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_c"
	  "uda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::n"
	  "ative::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::a"
	  "rray<char*, 2ul>)",
	  10200, 28, { 256, 1, 1 }, { 1048576, 1, 1 }, 24, 0, 48, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::sqrt_kernel_cuda(at::T"
	  "ensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() co"
	  "nst::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::sqrt_kernel_cuda(a"
	  "t::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#2}::operator()("
	  ") const::{lambda(float)#1}, std::array<char*, 2ul>)",
	  5200, 4, { 256, 1, 1 }, { 1048576, 1, 1 }, 20, 0, 32, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::rsqrt_kernel_cuda(at::"
	  "TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() c"
	  "onst::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::rsqrt_kernel_cuda"
	  "(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#2}::operator("
	  ")() const::{lambda(float)#1}, std::array<char*, 2ul>)",
	  5600, 8, { 256, 1, 1 }, { 1048576, 1, 1 }, 20, 0, 32, 0, 0 },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace):"
	  ":pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambd"
	  "a(float)#1}, std::array<char*, 2ul> >(int, at::native::(anonymous namespace)::pow_te"
	  "nsor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float"
	  ")#1}, std::array<char*, 2ul>)",
	  5900, 8, { 256, 1, 1 }, { 1048576, 1, 1 }, 36, 0, 48, 0, 0 },
	{ "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at:"
	  ":TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() "
	  "const::{lambda(float)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsi"
	  "gned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCas"
	  "t<1>, at::native::memory::StoreWithCast<1> >(int, at::native::direct_copy_kernel_cud"
	  "a(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator"
	  "()() const::{lambda(float)#1}, std::array<char*, 2ul>, TrivialOffsetCalculator<1, un"
	  "signed int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithC"
	  "ast<1>, at::native::memory::StoreWithCast<1>)",
	  9900, 9, { 256, 1, 1 }, { 524288, 1, 1 }, 40, 0, 64, 0, 0 },
	{ "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<float>, std"
	  "::array<char*, 3ul>, 4, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalcu"
	  "lator<1, unsigned int>, at::native::memory::LoadWithCast<2>, at::native::memory::Sto"
	  "reWithCast<1> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>, Tri"
	  "vialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at:"
	  ":native::memory::LoadWithCast<2>, at::native::memory::StoreWithCast<1>)",
	  11800, 4, { 256, 1, 1 }, { 524288, 1, 1 }, 40, 0, 64, 0, 0 },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_"
	  "wrapper_t<float, at::native::sum_functor<float, float, float>::operator()(at::Tensor"
	  "Iterator&)::{lambda(float, float)#1}>, unsigned int, float, 4, 4> >(at::native::Redu"
	  "ceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, float, "
	  "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, fl"
	  "oat, 4, 4>)",
	  16800, 6, { 32, 16, 1 }, { 32, 8192, 1 }, 44, 0, 96, 2048, 0 },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::nativ"
	  "e::func_wrapper_t<float, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16"
	  ">::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, c10::BF"
	  "loat16, 4, 4> >(at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<float"
	  ", at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::Tenso"
	  "rIterator&)::{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4, 4>)",
	  19400, 4, { 32, 16, 1 }, { 32, 8192, 1 }, 44, 0, 96, 2048, 0 },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_"
	  "wrapper_t<float, at::native::MaxOps<float>>, unsigned int, float, 4, 4> >(at::native"
	  "::ReduceOp<float, at::native::func_wrapper_t<float, at::native::MaxOps<float>>, unsi"
	  "gned int, float, 4, 4>)",
	  13300, 3, { 32, 16, 1 }, { 32, 8192, 1 }, 44, 0, 96, 2048, 0 },
	{ "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_lay"
	  "out::gemm::RowMajor, ck::tensor_layout::gemm::ColumnMajor, ck::tensor_layout::gemm::"
	  "RowMajor, unsigned short, unsigned short, float, unsigned short, unsigned short, ck:"
	  ":tensor_operation::element_wise::PassThrough, ck::tensor_operation::element_wise::Pa"
	  "ssThrough, ck::tensor_operation::element_wise::PassThrough, (ck::tensor_operation::d"
	  "evice::GemmSpecialization)0, 256, 256, 256, 64, 8, 8, 32, 32, 4, 4>, true, (ck::InMe"
	  "moryDataOperationEnum)0, 2, (ck::TailNumber)10>(ck::GridwiseGemm_xdl_cshuffle_v3<ck:"
	  ":tensor_layout::gemm::RowMajor, ck::tensor_layout::gemm::ColumnMajor, ck::tensor_lay"
	  "out::gemm::RowMajor, unsigned short, unsigned short, float, unsigned short, unsigned"
	  " short>::Argument)",
	  389000, 3, { 256, 1, 1 }, { 77824, 1, 1 }, 128, 128, 112, 32768, 0 },
	{ "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_lay"
	  "out::gemm::RowMajor, ck::tensor_layout::gemm::ColumnMajor, ck::tensor_layout::gemm::"
	  "RowMajor, _Float16, _Float16, float, _Float16, _Float16, ck::tensor_operation::eleme"
	  "nt_wise::PassThrough, ck::tensor_operation::element_wise::PassThrough, ck::tensor_op"
	  "eration::element_wise::PassThrough, (ck::tensor_operation::device::GemmSpecializatio"
	  "n)7, 256, 128, 128, 64, 8, 8, 32, 32, 2, 2>, true, (ck::InMemoryDataOperationEnum)0,"
	  " 2, (ck::TailNumber)10>(ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_layout::gemm::Ro"
	  "wMajor, ck::tensor_layout::gemm::ColumnMajor, ck::tensor_layout::gemm::RowMajor, _Fl"
	  "oat16, _Float16, float, _Float16, _Float16>::Argument)",
	  97000, 3, { 256, 1, 1 }, { 77824, 1, 1 }, 128, 128, 112, 32768, 0 },
	{ "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_lay"
	  "out::gemm::RowMajor, ck::tensor_layout::gemm::ColumnMajor, ck::tensor_layout::gemm::"
	  "RowMajor, unsigned short, unsigned short, float, unsigned short, unsigned short, ck:"
	  ":tensor_operation::element_wise::PassThrough, ck::tensor_operation::element_wise::Pa"
	  "ssThrough, ck::tensor_operation::element_wise::PassThrough, (ck::tensor_operation::d"
	  "evice::GemmSpecialization)0, 256, 256, 128, 64, 8, 8, 32, 32, 4, 2>, true, (ck::InMe"
	  "moryDataOperationEnum)0, 2, (ck::TailNumber)10>(ck::GridwiseGemm_xdl_cshuffle_v3<ck:"
	  ":tensor_layout::gemm::RowMajor, ck::tensor_layout::gemm::ColumnMajor, ck::tensor_lay"
	  "out::gemm::RowMajor, unsigned short, unsigned short, float, unsigned short, unsigned"
	  " short>::Argument)",
	  188000, 3, { 256, 1, 1 }, { 77824, 1, 1 }, 128, 128, 112, 32768, 0 },
	{ "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVS"
	  "Async<ck_tile::BlockFmhaPipelineProblem<ck_tile::bf16_t, ck_tile::bf16_t, ck_tile::b"
	  "f16_t, float, float, ck_tile::bf16_t, unsigned char, float, ck_tile::bf16_t, float, "
	  "ck_tile::bf16_t, ck_tile::TileFmhaShape<ck_tile::sequence<128, 128, 32, 128, 32, 128"
	  ">, ck_tile::sequence<4, 1, 1>, ck_tile::sequence<32, 32, 16>, ck_tile::sequence<4, 1"
	  ", 1>, ck_tile::sequence<32, 32, 16>, true>, false, ck_tile::ComposedAttention<0, tru"
	  "e>, ck_tile::SimplifiedGenericAttentionMask<true> > > >, ck_tile::FmhaFwdKernel<...>"
	  "::FmhaFwdKargs>(ck_tile::FmhaFwdKernel<...>::FmhaFwdKargs)",
	  276000, 7, { 256, 1, 1 }, { 16384, 32, 1 }, 128, 96, 112, 26112, 0 },
	{ "_attn_fwd_kernel",
	  241000, 10, { 256, 1, 1 }, { 8192, 32, 1 }, 256, 64, 112, 49152, 0 },
	{ "paged_attention_ll4mi_QKV_mfma16_kernel",
	  38100, 25, { 256, 1, 1 }, { 16384, 8, 1 }, 84, 0, 112, 18432, 0 },
	{ "void vllm::paged_attention_v2_reduce_kernel<__hip_bfloat16, 128, 256, 512>(__hip_bfl"
	  "oat16*, float const*, float const*, __hip_bfloat16 const*, int const*, int)",
	  6100, 15, { 256, 1, 1 }, { 8192, 256, 1 }, 28, 0, 112, 0, 0 },
	{ "void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*, c10::BFloat16 const*, long"
	  ", c10::BFloat16 const*, float, int, int)",
	  7400, 125, { 1024, 1, 1 }, { 262144, 1, 1 }, 20, 0, 112, 512, 0 },
	{ "std::enable_if<(8>(0)) && vllm::_typeConvert<c10::BFloat16>::exists, void>::type vll"
	  "m::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*,"
	  " c10::BFloat16 const*, float, int, int)",
	  8300, 28, { 1024, 1, 1 }, { 262144, 1, 1 }, 24, 0, 112, 512, 0 },
	{ "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*,"
	  " c10::BFloat16*, c10::BFloat16 const*, int, long, long, long, int, int, int)",
	  6700, 60, { 512, 1, 1 }, { 131072, 1, 1 }, 24, 0, 112, 0, 0 },
	{ "void vllm::act_and_mul_kernel<c10::BFloat16, c10::BFloat16 (*)(c10::BFloat16 const&)"
	  ">(c10::BFloat16*, c10::BFloat16 const*, int)",
	  11900, 100, { 1024, 1, 1 }, { 262144, 1, 1 }, 24, 0, 112, 0, 0 },
	{ "void vllm::reshape_and_cache_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCach"
	  "eDataType)0>(__hip_bfloat16 const*, __hip_bfloat16 const*, __hip_bfloat16*, __hip_bf"
	  "loat16*, long const*, int, int, int, int, int, int, float const*, float const*)",
	  5800, 21, { 512, 1, 1 }, { 131072, 1, 1 }, 28, 0, 112, 0, 0 },
	{ "void vllm::moe::topkGating<8, 64, 4, 16, 64, int, float>(float const*, bool const*, "
	  "float*, int, int*, int*, int, int, int, bool)",
	  7100, 15, { 64, 4, 1 }, { 4096, 4, 1 }, 36, 0, 112, 0, 0 },
	{ "fused_moe_kernel",
	  156000, 25, { 256, 1, 1 }, { 61440, 1, 1 }, 128, 64, 112, 32768, 0 },
	{ "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0",
	  9700, 40, { 512, 1, 1 }, { 131072, 1, 1 }, 40, 0, 112, 1024, 0 },
	{ "triton_poi_fused_add_mul_sigmoid_silu_split_3",
	  8800, 40, { 256, 1, 1 }, { 262144, 1, 1 }, 24, 0, 112, 0, 0 },
	{ "triton_poi_fused__to_copy_cat_cos_index_mul_neg_sin_5",
	  7200, 30, { 256, 1, 1 }, { 131072, 1, 1 }, 28, 0, 112, 0, 0 },
	{ "triton_per_fused__softmax_add_div_masked_fill_7",
	  13900, 25, { 256, 1, 1 }, { 65536, 1, 1 }, 48, 0, 112, 2048, 0 },
	{ "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, fal"
	  "se, 64>(float*, float const*, int, int, int, bool const*, int, bool)",
	  14400, 10, { 64, 4, 1 }, { 65536, 4, 1 }, 40, 0, 112, 0, 0 },
	{ "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, c10::BFloat16, float,"
	  " c10::BFloat16, at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(c10::BFlo"
	  "at16*, c10::BFloat16 const*, int)",
	  21000, 3, { 1024, 1, 1 }, { 262144, 1, 1 }, 32, 0, 112, 512, 0 },
	{ "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, f"
	  "alse>(int, float, float const*, float const*, float const*, float*, float*, float*)",
	  12600, 12, { 64, 4, 1 }, { 524288, 4, 1 }, 32, 0, 112, 1024, 0 },
	{ "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, u"
	  "nsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned in"
	  "t>, at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>, at::cuda::detai"
	  "l::TensorInfo<long const, unsigned int>, int, int, unsigned int, unsigned int, long)",
	  9300, 2, { 128, 1, 1 }, { 212992, 1, 1 }, 24, 0, 112, 0, 0 },
	{ "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::n"
	  "ative::index_kernel_impl<at::native::OpaqueType<2> >(at::TensorIteratorBase&, c10::A"
	  "rrayRef<long>, c10::ArrayRef<long>)::{lambda(char*, char const*, long)#1}>(at::Tenso"
	  "rIteratorBase&, c10::ArrayRef<long>, c10::ArrayRef<long>, at::native::index_kernel_i"
	  "mpl<at::native::OpaqueType<2> >(at::TensorIteratorBase&, c10::ArrayRef<long>, c10::A"
	  "rrayRef<long>)::{lambda(char*, char const*, long)#1} const&, bool)::{lambda(int)#1}>"
	  "(long, at::native::gpu_index_kernel<...>::{lambda(int)#1})",
	  8600, 2, { 128, 1, 1 }, { 65536, 1, 1 }, 36, 0, 112, 0, 0 },
	{ "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<at::nat"
	  "ive::(anonymous namespace)::OpaqueType<2u>, unsigned int, 2, 128, 1>(at::native::(an"
	  "onymous namespace)::OpaqueType<2u>*, at::native::(anonymous namespace)::CatArrInputT"
	  "ensorMetadata<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 128, "
	  "1>, at::native::(anonymous namespace)::TensorSizeStride<unsigned int, 4u>, int, unsi"
	  "gned int)",
	  10400, 3, { 512, 1, 1 }, { 131072, 2, 1 }, 28, 0, 112, 0, 0 },
	{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anony"
	  "mous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespa"
	  "ce)::FusedAdamMathFunctor<float, 4, (at::native::(anonymous namespace)::ADAM_MODE)1,"
	  " false>, float const*, double, double, double, double, double, bool, float*, float*>"
	  "(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native:"
	  ":(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::(anonymous names"
	  "pace)::ADAM_MODE)1, false>, float const*, double, double, double, double, double, bo"
	  "ol, float*, float*)",
	  173000, 1, { 512, 1, 1 }, { 163840, 1, 1 }, 48, 0, 112, 0, 0 },
	{ "void rocprim::ROCPRIM_304000_NS::detail::trampoline_kernel<rocprim::ROCPRIM_304000_N"
	  "S::detail::radix_sort_onesweep_config<rocprim::ROCPRIM_304000_NS::default_config, un"
	  "signed int, long> >(unsigned int*, unsigned int*, long*, long*, unsigned int, unsign"
	  "ed int*)",
	  23500, 1, { 1024, 1, 1 }, { 32768, 1, 1 }, 48, 0, 112, 16384, 0 },
	{ "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
	  612000, 17, { 256, 1, 1 }, { 28672, 1, 1 }, 128, 0, 112, 26624, 16 },
	{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	  94000, 17, { 256, 1, 1 }, { 14336, 1, 1 }, 96, 0, 112, 26624, 0 },
	{ "__amd_rocclr_copyBuffer",
	  6200, 60, { 512, 1, 1 }, { 512, 1, 1 }, 16, 0, 128, 0, 0 },
	{ "__amd_rocclr_fillBufferAligned",
	  4300, 50, { 256, 1, 1 }, { 4096, 1, 1 }, 16, 0, 128, 0, 0 },
	{ "__amd_rocclr_streamOpsWait",
	  2100, 5, { 1, 1, 1 }, { 1, 1, 1 }, 8, 0, 128, 0, 0 },
	{ "void rocblas_gemvt_warp_reduce_kernel<false, 1024, int, __hip_bfloat16 const*, float"
	  " const*, __hip_bfloat16>(int, int, float, long, __hip_bfloat16 const*, long, int, lo"
	  "ng, __hip_bfloat16 const*, long, int, long, float, long, __hip_bfloat16*, long, int,"
	  " long)",
	  18700, 4, { 1024, 1, 1 }, { 4194304, 1, 1 }, 32, 0, 112, 512, 0 },
	{ "void rocblas_gemmt_copy_scale<float, 32, 32>(int, float const*, float*, long)",
	  8800, 5, { 32, 32, 1 }, { 1024, 1024, 1 }, 24, 0, 112, 4608, 0 },
	{ "MIOpenConvUni.s.igemm_fwd_gtcx3_nhwc_bf16_bx0_ex0_bt256x256x32_wt32x32x8_ws1x1_wr2x2"
	  "_ta1x8x4x1_1x4x1x64_tb1x8x4x1_1x4x1x64_gkgs",
	  205000, 7, { 256, 1, 1 }, { 25088, 1, 1 }, 128, 128, 112, 32768, 0 },
	{ "batched_transpose_32x16_half",
	  7900, 7, { 256, 1, 1 }, { 802816, 1, 1 }, 20, 0, 112, 1536, 0 },
};
/* clang-format on */
