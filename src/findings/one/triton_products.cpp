#include "findings/one/triton_products.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "findings/one/structure_maker.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr double kFasterLeast = 1.3;  // the library's rate over Triton's
constexpr double kLikeFlops = 2;      // times as many, or a part

// By its kernel, which XLA calls as the fusion.
bool IsTriton(const Operation& operation) {
  return std::ranges::any_of(operation.kernels, [](const KernelShare& kernel) {
    return kernel.name.starts_with("gemm_fusion") ||
           kernel.name.starts_with("nested_gemm_fusion") ||
           kernel.name.starts_with("triton_gemm") || kernel.name.starts_with("__triton_gemm");
  });
}

// A product with what adds up its parts.
struct XlaProduct {
  const Operation* operation = nullptr;
  std::string_view type;  // of its first operand, as recorded
  double flops = 0;       // of one call
  double us = 0;          // of all calls
  std::vector<EventIndex> sums;
  double sums_us = 0;

  double Rate() const {  // FLOPs a microsecond
    return (us + sums_us) > 0 ? flops * static_cast<double>(operation->count) / (us + sums_us) : 0;
  }
};

class TritonProductFinder {
 public:
  TritonProductFinder(const Calls& calls, const std::vector<CategoryAnalysis>& categories)
      : calls_(calls), events_(calls.events()) {
    for (const CategoryAnalysis& category : categories) {
      if (category.kind != Kind::kGemm) continue;
      for (const Operation& one : category.operations)
        Read(one);
    }
    if (!triton_.empty() && !library_.empty()) FindSums();
  }

  struct Slow {
    const XlaProduct* product = nullptr;
    const XlaProduct* library = nullptr;  // the fastest of like work
  };
  std::vector<Slow> Run() const {
    std::vector<Slow> slow;
    for (const XlaProduct& one : triton_) {
      const XlaProduct* best = nullptr;
      for (const XlaProduct& other : library_) {
        const double ratio = other.flops / one.flops;
        const bool like = ratio <= kLikeFlops && ratio >= 1 / kLikeFlops && other.type == one.type;
        if (like && (best == nullptr || other.Rate() > best->Rate())) best = &other;
      }
      if (best != nullptr && best->Rate() >= kFasterLeast * one.Rate())
        slow.push_back({&one, best});
    }
    return slow;
  }

 private:
  void Read(const Operation& one) {
    if (!one.efficiency.flops || *one.efficiency.flops <= 0 || one.count == 0 || one.gpu_us <= 0)
      return;
    XlaProduct product;
    product.operation = &one;
    product.type = std::string_view(one.types).substr(0, one.types.find(','));
    product.flops = *one.efficiency.flops;
    product.us = one.gpu_us;
    if (IsTriton(one)) {
      triton_.push_back(std::move(product));
    } else if (OpText(one.example, "custom_call_target").find("gemm") != std::string::npos ||
               OpText(one.example, "custom_call_target").find("matmul") != std::string::npos) {
      library_.push_back(std::move(product));
    }
  }

  // What XLA recorded of an op.
  std::string OpText(EventIndex op, std::string_view key) const {
    if (op == kNoEvent) return {};
    return std::string(trace::MemberOf(events_.text(events_.args_of(op).other), key));
  }

  // The next work of the stream, if it is a reduction that XLA split off the same instruction.
  void FindSums() {
    std::unordered_map<EventIndex, XlaProduct*> product_of;
    for (XlaProduct& one : triton_) {
      for (const EventIndex e : one.operation->gpu)
        product_of.emplace(e, &one);
    }
    for (const std::vector<EventIndex>& work : WorkByStream(calls_)) {
      for (std::size_t i = 0; i + 1 < work.size(); ++i) {
        const auto found = product_of.find(work[i]);
        if (found == product_of.end()) continue;
        const std::uint32_t call = calls_.call_of[work[i + 1]];
        if (call == kNone) continue;
        const EventIndex op = calls_.calls[call].op;
        if (op == kNoEvent || events_.name(op).find("reduce") == std::string_view::npos) continue;
        const std::string name = OpText(op, "op_name");
        if (name.empty() || name != OpText(found->second->operation->example, "op_name")) continue;
        found->second->sums.push_back(work[i + 1]);
        found->second->sums_us += trace::MicrosOf(events_[work[i + 1]].dur_ns);
      }
    }
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  std::vector<XlaProduct> triton_, library_;
};

}  // namespace

void FindTritonProducts(const Calls& calls, const WorkContext& context,
                        std::vector<CategoryAnalysis>* categories, std::vector<Finding>* out) {
  if (context.framework != "JAX") return;
  const TritonProductFinder finder(calls, *categories);
  const std::vector<TritonProductFinder::Slow> slow = finder.Run();
  if (slow.empty()) return;
  std::vector<EventIndex> gpu;
  double us = 0, sums_us = 0, left_us = 0;
  const TritonProductFinder::Slow* largest = &slow.front();
  const auto all_us = [](const XlaProduct& one) { return one.us + one.sums_us; };
  for (const TritonProductFinder::Slow& one : slow) {
    const XlaProduct& product = *one.product;
    us += all_us(product);
    sums_us += product.sums_us;
    left_us += all_us(product) * product.Rate() / one.library->Rate();
    gpu.insert(gpu.end(), product.operation->gpu.begin(), product.operation->gpu.end());
    gpu.insert(gpu.end(), product.sums.begin(), product.sums.end());
    if (all_us(product) > all_us(*largest->product)) largest = &one;
  }
  const double part = 1 - left_us / us;
  std::vector<Fact> facts = {
      StructureText("gemm", largest->product->operation->name),
      StructureText("library", largest->library->operation->name),
      NumberFact("rate", largest->product->Rate() / 1e6, "TFLOPS/s"),
      NumberFact("library_rate", largest->library->Rate() / 1e6, "TFLOPS/s")};
  if (sums_us > 0) facts.push_back(NumberFact("sums", sums_us / 1000, "ms"));
  ClaimOperations(calls.events(), Marked(gpu, calls.events().size()), categories);
  // Of other sizes the library may be no faster.
  Finding f = StructureFinding(
      calls, Pattern::kTritonProducts, "GEMMs", largest->product->operation->name, std::move(gpu),
      {0, part / 2, part}, {{}, "the library's rate", "times and FLOPs in this trace"},
      std::move(facts));
  f.other_kernels = slow.size() - 1;
  std::swap(f.path_a, f.path_b);
  std::swap(f.change_a, f.change_b);
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
