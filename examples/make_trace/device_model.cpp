#include "device_model.h"

#include <algorithm>

namespace make_trace {
namespace {

constexpr DeviceModel kH100Model = {
    Platform::kH100, "NVIDIA H100 80GB HBM3", 989e3, 3350, 370, 50, 132, 32, 7, 24};
constexpr DeviceModel kMi300xModel = {
    Platform::kMi300x, "AMD Instinct MI300X", 1307e3, 5300, 310, 50, 304, 64, 0, 4};

constexpr LaunchCall kRun = LaunchCall::kRuntime;
constexpr LaunchCall kLib = LaunchCall::kLibrary;
constexpr LaunchCall kDrv = LaunchCall::kDriver;

// Elementwise kernels have the same name on both platforms.
#define JV_ELEMENTWISE(functor)                                \
  "void at::native::vectorized_elementwise_kernel<4, " functor \
  ", std::array<char*, 2ul> >(int, " functor ", std::array<char*, 2ul>)"
#define JV_BOTH(name) name, name

constexpr KernelInfo kKernels[] = {
    {Kernel::kGemm, "gemm", kLib, 384, 128, 168, 213216,
     "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNT",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1_WG64_4_1"},
    {Kernel::kGemmSkinny, "gemm", kLib, 128, 64, 96, 49152,
     "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize32x32x64_stage6_warpsize2x2x1_"
     "tensor16x8x16_kernel",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT32x32x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1"},
    {Kernel::kFlashForward, "attention", kRun, 128, 64, 255, 81920,
     "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
     "cutlass::bfloat16_t, Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, "
     "true, false, false, true, true, false, false>(pytorch_flash::Flash_fwd_params)",
     "attn_fwd"},
    {Kernel::kFlashBackwardDot, "attention", kRun, 256, 64, 48, 0,
     "void pytorch_flash::flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<128, 64, 128, 8, "
     "2, 4, 2, false, false, cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 8, "
     "cutlass::bfloat16_t> > >(pytorch_flash::Flash_bwd_params)",
     "bwd_preprocess"},
    {Kernel::kFlashBackward, "attention", kRun, 256, 64, 255, 147456,
     "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128,"
     " 64, 128, 8, 2, 4, 2, false, false, cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, "
     "8, cutlass::bfloat16_t> >, false, true, false, false, true, true, "
     "false>(pytorch_flash::Flash_bwd_params)",
     "bwd_kernel_dk_dv"},
    {Kernel::kFlashBackwardConvert, "attention", kRun, 256, 64, 48, 16384,
     "void pytorch_flash::flash_bwd_convert_dq_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8, 2, "
     "4, 2, false, false, cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 8, "
     "cutlass::bfloat16_t> > >(pytorch_flash::Flash_bwd_params, int)",
     "bwd_kernel_dq"},
    {Kernel::kRope, "rope", kDrv, 128, 8, 40, 0, JV_BOTH("rotary_kernel")},
    {Kernel::kRopeBackward, "rope", kDrv, 128, 8, 40, 0, JV_BOTH("rotary_backward_kernel")},
    {Kernel::kLayerNorm, "normalization", kRun, 128, 16, 32, 24,
     JV_BOTH("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
             "float, false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 "
             "const*, float*, float*, c10::BFloat16*)")},
    {Kernel::kLayerNormBackward, "normalization", kRun, 512, 4, 32, 64,
     JV_BOTH("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<"
             "c10::BFloat16, float, false>(c10::BFloat16 const*, c10::BFloat16 const*, float const*"
             ", float const*, c10::BFloat16 const*, c10::BFloat16*, int)")},
    {Kernel::kLayerNormBackwardWeight, "normalization", kRun, 512, 64, 40, 8448,
     JV_BOTH("void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::"
             "BFloat16, float, 32u, 8u, 64u, false, true, false>(long, long, c10::BFloat16 const*, "
             "c10::BFloat16 const*, float const*, float const*, c10::BFloat16*, c10::BFloat16*)")},
    {Kernel::kRmsNorm, "normalization", kRun, 128, 16, 32, 24,
     JV_BOTH("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
             "float, true>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 "
             "const*, float*, float*, c10::BFloat16*)")},
    {Kernel::kRmsNormBackward, "normalization", kRun, 512, 4, 32, 64,
     JV_BOTH("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<"
             "c10::BFloat16, float, true>(c10::BFloat16 const*, c10::BFloat16 const*, float const*"
             ", float const*, c10::BFloat16 const*, c10::BFloat16*, int)")},
    {Kernel::kRmsNormBackwardWeight, "normalization", kRun, 512, 64, 40, 8448,
     JV_BOTH("void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::"
             "BFloat16, float, 32u, 8u, 64u, false, true, true>(long, long, c10::BFloat16 const*, "
             "c10::BFloat16 const*, float const*, float const*, c10::BFloat16*, c10::BFloat16*)")},
    {Kernel::kPow, "elementwise", kRun, 128, 4, 24, 0,
     JV_BOTH(JV_ELEMENTWISE(
         "at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<c10::BFloat16, "
         "c10::BFloat16>(at::TensorIteratorBase&, c10::BFloat16)::{lambda(c10::BFloat16)#1}"))},
    {Kernel::kRsqrt, "elementwise", kRun, 128, 4, 20, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
                            "operator()() const::{lambda()#4}::operator()() const::"
                            "{lambda(c10::BFloat16)#1}"))},
    {Kernel::kAddScalar, "elementwise", kRun, 128, 4, 20, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::CUDAFunctorOnSelf_add<c10::BFloat16>"))},
    {Kernel::kMulScalar, "elementwise", kRun, 128, 4, 20, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::AUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16"
                            ", at::native::binary_internal::MulFunctor<float> >"))},
    {Kernel::kAdd, "elementwise", kRun, 128, 4, 26, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::CUDAFunctor_add<c10::BFloat16>"))},
    {Kernel::kMul, "elementwise", kRun, 128, 4, 26, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16"
                            ", at::native::binary_internal::MulFunctor<float> >"))},
    {Kernel::kDiv, "elementwise", kRun, 128, 4, 26, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16"
                            ", at::native::binary_internal::DivFunctor<float> >"))},
    {Kernel::kSilu, "elementwise", kRun, 128, 4, 24, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&"
                            ")::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const"
                            "::{lambda(c10::BFloat16)#1}"))},
    {Kernel::kSiluBackward, "elementwise", kRun, 128, 4, 28, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::(anonymous namespace)::silu_backward_kernel(at::"
                            "TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#4}"
                            "::operator()() const::{lambda(c10::BFloat16, c10::BFloat16)#1}"))},
    {Kernel::kFill, "elementwise", kRun, 128, 4, 16, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::FillFunctor<c10::BFloat16>"))},
    {Kernel::kCopy, "elementwise", kRun, 128, 4, 16, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
                            "{lambda(float)#1}"))},
    {Kernel::kEqual, "elementwise", kRun, 128, 4, 22, 0,
     JV_BOTH(JV_ELEMENTWISE("at::native::(anonymous namespace)::CompareEqFunctor<long>"))},
    {Kernel::kMean, "reduction", kRun, 128, 16, 40, 16,
     JV_BOTH("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native"
             "::MeanOps<c10::BFloat16, float, float, c10::BFloat16>, unsigned int, c10::BFloat16, "
             "4, 4> >(at::native::ReduceOp<c10::BFloat16, at::native::MeanOps<c10::BFloat16, float,"
             " float, c10::BFloat16>, unsigned int, c10::BFloat16, 4, 4>)")},
    {Kernel::kSum, "reduction", kRun, 128, 16, 40, 2064,
     JV_BOTH("void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native"
             "::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::"
             "BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
             "c10::BFloat16, 4, 4> >(at::native::ReduceOp<c10::BFloat16>)")},
    {Kernel::kSumLong, "reduction", kRun, 128, 16, 32, 16,
     JV_BOTH("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<bool, at::native::"
             "func_wrapper_t<long, at::native::sum_functor<bool, long, long>::operator()(at::"
             "TensorIterator&)::{lambda(long, long)#1}>, unsigned int, long, 4, 4> >(at::native::"
             "ReduceOp<bool>)")},
    {Kernel::kEmbedding, "embedding", kRun, 128, 8, 28, 0,
     JV_BOTH("void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
             "unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned "
             "int>, at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>, at::cuda::"
             "detail::TensorInfo<long const, unsigned int>, int, int, unsigned int, unsigned int, "
             "long)")},
    {Kernel::kEmbeddingBackward, "embedding", kRun, 128, 16, 40, 0,
     JV_BOTH("void at::native::(anonymous namespace)::compute_grad_weight<c10::BFloat16, int>(int "
             "const*, c10::BFloat16 const*, int const*, long, long, int const*, int const*, float*,"
             " long)")},
    {Kernel::kLogSoftmax, "loss", kRun, 1024, 8, 32, 8192,
     JV_BOTH("void at::native::(anonymous namespace)::cunn_SoftMaxForwardSmem<8, c10::BFloat16, "
             "float, c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue, "
             "long>(c10::BFloat16*, c10::BFloat16 const*, long)")},
    {Kernel::kLogSoftmaxBackward, "loss", kRun, 1024, 8, 32, 8192,
     JV_BOTH("void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, c10::BFloat16, float,"
             " c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(c10::"
             "BFloat16*, c10::BFloat16 const*, c10::BFloat16 const*, long)")},
    {Kernel::kNll, "loss", kRun, 32, 16, 24, 256,
     JV_BOTH("void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<c10::"
             "BFloat16, float, long>(c10::BFloat16*, c10::BFloat16*, c10::BFloat16 const*, long "
             "const*, c10::BFloat16 const*, bool, long, long, long, long)")},
    {Kernel::kNllBackward, "loss", kRun, 32, 16, 24, 0,
     JV_BOTH("void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<c10::"
             "BFloat16, long>(c10::BFloat16*, c10::BFloat16 const*, long const*, c10::BFloat16 "
             "const*, c10::BFloat16 const*, bool, int, int, long, long)")},
    {Kernel::kForeachNorm, "optimizer", kRun, 512, 64, 32, 0,
     JV_BOTH("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
             "anonymous namespace)::TensorListMetadata<1>, at::native::LpNormFunctor<c10::BFloat16,"
             " (at::native::NormType)1, c10::BFloat16, 1, 1, 0>, float*, int>(at::native::("
             "anonymous namespace)::TensorListMetadata<1>, float*, int)")},
    {Kernel::kForeachMul, "optimizer", kRun, 512, 64, 32, 0,
     JV_BOTH("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
             "anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::"
             "BinaryOpScalarTensorFunctor<c10::BFloat16, 1, 1, 0>, std::multiplies<float>, c10::"
             "BFloat16*, float>(at::native::(anonymous namespace)::TensorListMetadata<1>)")},
    {Kernel::kFusedAdam, "optimizer", kRun, 512, 64, 48, 0,
     JV_BOTH("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
             "anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
             "namespace)::FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::ADAM_MODE)1, false>, "
             "float const*, double, double, double, double, double, bool, float const*, float "
             "const*>(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)")},
    {Kernel::kAllReduce, "communication", kLib, 544, 0, 96, 88016,
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"},
};

constexpr bool InOrder() {
  std::size_t expected = 0;
  for (const KernelInfo& info : kKernels) {
    if (static_cast<std::size_t>(info.kernel) != expected++) return false;
  }
  return expected == static_cast<std::size_t>(Kernel::kAllReduce) + 1;
}
static_assert(InOrder(), "the table is indexed by Kernel");

constexpr CallInfo kCalls[] = {
    {"cudaLaunchKernel", 211, false, "hipLaunchKernel", 107, 4200},
    {"cudaLaunchKernelExC", 430, false, "hipExtModuleLaunchKernel", 65, 4900},
    {"cuLaunchKernelEx", 652, true, "hipModuleLaunchKernel", 137, 3600},
    {"cudaMemcpyAsync", 41, false, "hipMemcpyAsync", 134, 6900},
    {"cudaMemsetAsync", 51, false, "hipMemsetAsync", 159, 4300},
    {"cudaStreamSynchronize", 131, false, "hipStreamSynchronize", 198, 2600},
    {"cudaDeviceSynchronize", 165, false, "hipDeviceSynchronize", 48, 2600},
    {"cudaEventRecord", 135, false, "hipEventRecord", 57, 1100},
    {"cudaStreamWaitEvent", 147, false, "hipStreamWaitEvent", 200, 1300},
    {"cudaStreamIsCapturing", 317, false, "hipStreamIsCapturing", 290, 420},
    {"cudaFuncSetAttribute", 273, false, "hipFuncSetAttribute", 72, 640},
};

double UsualEfficiency(const KernelInfo& info) {
  if (info.group == "gemm") return 0.72;
  if (info.group == "attention") return 0.55;
  if (info.group == "embedding" || info.group == "loss") return 0.70;
  return 0.86;
}

}  // namespace

const DeviceModel& Device(Platform platform) {
  return platform == Platform::kH100 ? kH100Model : kMi300xModel;
}

const KernelInfo& Info(Kernel kernel) {
  return kKernels[static_cast<std::size_t>(kernel)];
}

const CallInfo& Info(Call call) {
  return kCalls[static_cast<std::size_t>(call)];
}

Ns RooflineTime(const DeviceModel& device, const KernelInfo& info, const Work& work,
                double efficiency) {
  if (efficiency == kUsualEfficiency) efficiency = UsualEfficiency(info);
  const double ns =
      std::max(work.bytes / device.bytes_per_ns, work.flops / device.bf16_flops_per_ns);
  // Below about a microsecond a kernel's own start and end are what is measured.
  constexpr Ns kSmallest = 1100;
  return kSmallest + static_cast<Ns>(ns / efficiency);
}

Ns AllReduceTime(const DeviceModel& device, double bytes, int world) {
  constexpr Ns kStart = 18'000;
  const double moved = 2.0 * (world - 1) / world * bytes;
  return kStart + static_cast<Ns>(moved / device.link_bytes_per_ns);
}

}  // namespace make_trace
