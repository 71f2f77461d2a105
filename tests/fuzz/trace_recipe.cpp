#include "fuzz/trace_recipe.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace jarvis::testing {
namespace {

constexpr std::size_t kElementsMax = 600;
constexpr std::size_t kRepeatsMax = 64;

constexpr std::array<std::string_view, 28> kOps = {
    "aten::mm",
    "aten::addmm",
    "aten::bmm",
    "aten::linear",
    "aten::copy_",
    "aten::to",
    "aten::item",
    "aten::nonzero",
    "aten::add_",
    "aten::mul",
    "aten::native_layer_norm",
    "aten::_softmax",
    "aten::_scaled_dot_product_flash_attention",
    "aten::convolution",
    "aten::cudnn_batch_norm",
    "aten::embedding",
    "autograd::engine::evaluate_function: AddmmBackward0",
    "record_param_comms",
    "vllm::moe_forward",
    "triton_poi_fused_add_0",
    "CompiledFunctionBackward",
    "Optimizer.step#Adam.step",
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
    "aten::_foreach_add_",
    "aten::rms_norm",
    "c10d::allreduce_",
    "aten::index",
    "aten::fill_"};
constexpr std::array<std::string_view, 16> kKernels = {
    "ampere_sgemm_128x64_tn",
    "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1",
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)",
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_64x64_128x2_nn_align8>()",
    "flash_fwd_kernel",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)",
    "void at::native::batch_norm_transform_input_kernel<float, float, float, true, int>()",
    "triton_red_fused_mean_pow_0",
    "_fused_moe_kernel",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>()",
    "cross_device_reduce_1stage",
    "paged_attention_ll4mi_reduce_kernel",
    "Memcpy DtoD (Device -> Device)",
    "void at::native::indexSelectSmallIndex<float, long>()",
    "k"};
constexpr std::array<std::string_view, 12> kRanges = {
    "ProfilerStep#",
    "forward",
    "backward",
    "##preprocess##",
    "execute_1024_context_1(sq1024sk1024sqsq1sqsk1)_generation_0(sq0sk0sqsq0sqsk0)",
    "gpu_model_runner: forward",
    "Iteration ",
    "DistributedDataParallel.forward",
    "denoise",
    "scheduler: schedule",
    "nn.Module: Block_",
    "nn.Module: Linear_0"};
constexpr std::array<std::string_view, 12> kDims = {
    "[[128,64],[64,32]]",
    "[[4096,4096],[4096,4096]]",
    "[[8,4,16,64],[8,4,16,64],[8,4,16,64]]",
    "[[32,3,224,224],[64,3,7,7],[64]]",
    "[[]]",
    "[[1],[]]",
    "[[1,3137,768],[768]]",
    "[[151936,1024],[1,77]]",
    "[[0,0],[0,0]]",
    "[[2147483647,2147483647],[2147483647,2147483647]]",
    "[[32],[32],[32,32]]",
    "[[[16,16],[16,16]],[]]"};
constexpr std::array<std::string_view, 6> kTypes = {
    "float", "c10::BFloat16", "c10::Half", "c10::Float8_e4m3fn", "long int", ""};
constexpr std::array<std::string_view, 8> kWaits = {"cudaStreamSynchronize",
                                                    "cudaDeviceSynchronize",
                                                    "cudaEventSynchronize",
                                                    "hipStreamSynchronize",
                                                    "cudaStreamWaitEvent",
                                                    "cudaEventRecord",
                                                    "cudaMalloc",
                                                    "cudaFree"};
constexpr std::array<std::string_view, 4> kCopies = {
    "Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)",
    "Memcpy DtoD (Device -> Device)", "Memset (Device)"};

template <std::size_t size>
std::string_view Choose(const std::array<std::string_view, size>& from, unsigned which) {
  return from[which % size];
}

// The host events that are open on a thread, innermost last.
struct Open {
  std::string_view category;
  std::string name;
  std::string args;
  std::int64_t begin_ns = 0;
};

class Kitchen {
 public:
  explicit Kitchen(std::span<const std::uint8_t> recipe) : recipe_(recipe) {}

  std::vector<std::string> Cook() {
    while (at_ < recipe_.size() && elements_.size() < kElementsMax)
      Step();
    for (auto& [thread, open] : open_) {
      thread_ = thread;
      while (!open.empty())
        Close();
    }
    return std::move(elements_);
  }

 private:
  unsigned Next() { return at_ < recipe_.size() ? recipe_[at_++] : 0U; }
  // From one nanosecond to some milliseconds.
  std::int64_t Length() {
    const unsigned length = Next();
    return 1 + static_cast<std::int64_t>(length % 16) * (std::int64_t{1} << (length / 16 + 7));
  }

  void Add(std::string_view category, std::string_view name, std::int64_t ts_ns,
           std::int64_t dur_ns, int pid, int tid, const std::string& args) {
    elements_.push_back(fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},"args":{{{}}}}})",
        category, name, pid, tid, ts_ns / 1000, ts_ns % 1000, dur_ns / 1000, dur_ns % 1000, args));
  }

  void Begin(std::string_view category, std::string name, std::string args) {
    open_[thread_].push_back({category, std::move(name), std::move(args), now_});
    now_ += 100;
  }

  void Close() {
    std::vector<Open>& open = open_[thread_];
    if (open.empty()) return;
    const Open last = std::move(open.back());
    open.pop_back();
    now_ += 100;
    Add(last.category, last.name, last.begin_ns, now_ - last.begin_ns, kProcess, thread_,
        last.args);
    now_ += 1;
  }

  void BeginOp() {
    const std::string_view name = Choose(kOps, Next());
    const unsigned shape = Next();
    const std::string_view type = Choose(kTypes, shape / 12);
    std::string args = fmt::format(R"("External id":{})", ++external_);
    if (shape < 200) {
      args += fmt::format(R"(,"Input Dims":{},"Input type":["{}","{}","{}"])", Choose(kDims, shape),
                          type, type, type);
    }
    if (shape % 7 == 0) args += fmt::format(R"(,"Sequence number":{})", shape % 5);
    if (name == "record_param_comms") {
      args += R"(,"Collective name":"allreduce","In msg nelems":4096,"Out msg nelems":4096,)"
              R"("dtype":"BFloat16","Group size":8,"Process Group Name":"0")";
    }
    Begin("cpu_op", std::string(name), std::move(args));
  }

  void Gpu(std::string_view category, std::string_view name, std::int64_t correlation) {
    const unsigned where = Next();
    const int stream = 7 + static_cast<int>(where % 3) * 4;
    std::int64_t& end = stream_end_[stream];
    // Work of a stream comes in order, but for a recording that is wrong about it.
    const bool early = where >= 250;
    const std::int64_t begin = early ? std::max<std::int64_t>(now_ - 5000, 0)
                                     : std::max(now_ + 500 + (where / 3) * 20, end);
    const std::int64_t length = Length();
    end = std::max(end, begin + length);
    Add(category, name, begin, length, 0, stream,
        fmt::format(
            R"("device":0,"stream":{},"correlation":{},"External id":{},"grid":[{},1,1],"block":[256,1,1])",
            stream, correlation, external_, 1 + where));
  }

  void Launch() {
    const unsigned what = Next();
    const std::int64_t correlation = ++correlation_;
    const bool copy = what % 5 == 4;
    const std::string_view call = copy             ? "cudaMemcpyAsync"
                                  : what % 16 == 3 ? "cudaGraphLaunch"
                                                   : "cudaLaunchKernel";
    Add("cuda_runtime", call, now_, 900, kProcess, thread_,
        fmt::format(R"("correlation":{},"External id":{})", correlation, external_));
    const std::size_t works = call == "cudaGraphLaunch" ? 1 + what / 16 : 1;
    for (std::size_t i = 0; i < works && elements_.size() < kElementsMax; ++i) {
      if (copy) {
        const std::string_view name = Choose(kCopies, what);
        Gpu(name.starts_with("Memset") ? "gpu_memset" : "gpu_memcpy", name, correlation);
      } else {
        Gpu("kernel", Choose(kKernels, what + static_cast<unsigned>(i)), correlation);
      }
    }
    now_ += 1000;
  }

  void Wait() {
    const std::string_view call = Choose(kWaits, Next());
    const std::int64_t length = Length();
    Add("cuda_runtime", call, now_, length, kProcess, thread_,
        fmt::format(R"("correlation":{})", ++correlation_));
    now_ += length + 1;
  }

  void BeginRange() {
    const unsigned which = Next();
    std::string name(Choose(kRanges, which));
    const bool module = name.starts_with("nn.Module");
    if (name.ends_with('#') || name.ends_with(' ') || name.ends_with('_')) {
      name += std::to_string(which % 5 + steps_++);
    }
    Begin(module ? "python_function" : "user_annotation", std::move(name),
          module ? fmt::format(R"("Python id":{})", ++external_) : std::string());
  }

  void BeginFrame() {
    const unsigned which = Next();
    Begin("python_function", fmt::format("model_{}.py({}): f{}", which % 7, which, which % 11),
          fmt::format(R"("Python id":{})", ++external_));
  }

  void Odd() {
    static constexpr std::array<std::string_view, 10> kOdd = {
        R"({"ph":"X","cat":"kernel","name":"no end","pid":0,"tid":7,"ts":5})",
        R"({"ph":"X","cat":"kernel","name":"long","pid":0,"tid":7,"ts":1,"dur":1e12,"args":{"stream":7,"correlation":1}})",
        R"({"ph":"X","cat":"cpu_op","name":"early","pid":1,"tid":1,"ts":-1e9,"dur":1})",
        R"({"ph":"X","cat":"kernel","name":"back","pid":0,"tid":7,"ts":9,"dur":-4,"args":{"stream":7,"correlation":2}})",
        R"({"ph":"B","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":3})",
        R"({"ph":"E","pid":1,"tid":1,"ts":30})",
        R"({"ph":"s","id":1,"pid":1,"tid":1,"ts":3,"cat":"ac2g","name":"ac2g"})",
        R"({"ph":"f","id":1,"pid":0,"tid":7,"ts":4,"cat":"ac2g","name":"ac2g","bp":"e"})",
        R"({"ph":"X","cat":"overhead","name":"Buffer Flush","pid":-1,"tid":0,"ts":50,"dur":900})",
        R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"rank 3: python"}})"};
    elements_.emplace_back(Choose(kOdd, Next()));
  }

  // The last bytes of the recipe once more: steps, layers, identical calls.
  void Repeat() {
    const unsigned bytes = Next();
    const std::size_t back = std::min<std::size_t>(bytes, at_ - 2);
    const std::size_t end = at_;
    std::size_t times = 1 + Next() % 8;
    const std::size_t after = at_;
    if (inside_ || repeats_ >= kRepeatsMax || back == 0) return;
    inside_ = true;
    for (; times > 0 && elements_.size() < kElementsMax; --times) {
      ++repeats_;
      for (at_ = end - 2 - back; at_ + 2 < end && elements_.size() < kElementsMax;)
        Step();
    }
    inside_ = false;
    at_ = after;
  }

  void Step() {
    const unsigned what = Next();
    switch (what % 16) {
      case 0:
      case 1:
      case 2: BeginOp(); break;
      case 3:
      case 4:
      case 5: Close(); break;
      case 6:
      case 7:
      case 8: Launch(); break;
      case 9: Wait(); break;
      case 10: BeginRange(); break;
      case 11: BeginFrame(); break;
      case 12: now_ += Length(); break;
      case 13: thread_ = 1 + static_cast<int>(what / 16 % 3); break;
      case 14: Repeat(); break;
      default:
        if (what >= 240)
          Odd();
        else
          now_ += 10;
    }
  }

  static constexpr int kProcess = 1;
  std::span<const std::uint8_t> recipe_;
  std::size_t at_ = 0;
  std::vector<std::string> elements_;
  std::map<int, std::vector<Open>> open_;
  std::map<int, std::int64_t> stream_end_;
  std::int64_t now_ = 1'000'000;
  std::int64_t correlation_ = 0;
  std::int64_t external_ = 0;
  int thread_ = 1;
  unsigned steps_ = 0;
  bool inside_ = false;
  std::size_t repeats_ = 0;
};

}  // namespace

std::vector<std::string> ElementsOf(std::span<const std::uint8_t> recipe) {
  return Kitchen(recipe).Cook();
}

std::string DocumentOf(const std::vector<std::string>& elements) {
  std::string text =
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-80GB",)"
      R"("numSms":108}],"traceEvents":[)";
  for (std::size_t i = 0; i < elements.size(); ++i)
    text += (i == 0 ? "" : ",") + elements[i];
  return text + "]}";
}

}  // namespace jarvis::testing
