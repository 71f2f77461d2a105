#include "findings/one/epilogue_causes.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "analysis/tables/summary.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

class EpilogueFinder {
 public:
  EpilogueFinder(const Calls& calls, const ledger::KindsOfWork& kinds, const WorkContext& context,
                 std::vector<CategoryAnalysis>* categories)
      : calls_(calls),
        events_(calls.events()),
        kinds_(kinds),
        context_(context),
        categories_(*categories) {}

  void Run() {
    for (CategoryAnalysis& category : categories_) {
      if (category.kind != Kind::kTriton) continue;
      for (Operation& operation : category.operations) {
        if (operation.cause || operation.claimed || !IsActivation(operation)) continue;
        if (before_.empty()) CollectOrder();
        Explain(&operation);
      }
    }
  }

 private:
  static bool IsActivation(const Operation& operation) {
    const std::string& name = operation.name;
    if (!name.starts_with("triton_poi_") || operation.gpu.empty()) return false;
    if (operation.mean_us < limits::kSmallKernelUs) return false;
    const std::initializer_list<std::string_view> parts = {"silu", "gelu", "relu", "tanh"};
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return name.find(part) != std::string::npos; });
  }

  // What ran before each piece of work on its stream.
  void CollectOrder() {
    for (const std::vector<EventIndex>& work : WorkByStream(calls_)) {
      for (std::size_t i = 1; i < work.size(); ++i)
        before_[work[i]] = work[i - 1];
    }
  }

  bool IsProduct(EventIndex gpu) const {
    const std::uint32_t call = calls_.call_of[gpu];
    if (call == kNone || calls_.place_of[call].category == kNone) return false;
    return categories_[calls_.place_of[call].category].kind == Kind::kGemm;
  }

  static bool IsOwnKernel(std::string_view library) {
    return library == "triton_handwritten" || library == "bitsandbytes_torchao";
  }

  // The same setting is the way out of products.
  bool TunesProducts() const {
    for (const CategoryAnalysis& category : categories_) {
      for (const Operation& operation : category.operations) {
        if (operation.cause && operation.cause->way_b.generates) return true;
      }
    }
    return false;
  }

  // Most of its calls stand behind a product.
  void Explain(Operation* operation) const {
    std::size_t behind = 0;
    EventIndex product = trace::kNoEvent;
    for (const EventIndex e : operation->gpu) {
      const auto before = before_.find(e);
      if (before == before_.end() || !IsProduct(before->second)) continue;
      ++behind;
      if (product == trace::kNoEvent) product = before->second;
    }
    const Efficiency& now = operation->efficiency;
    if (2 * behind <= operation->gpu.size()) return;
    std::vector<Fact> facts = {{"product", analysis::ShortKernelName(events_.name(product)), {}}};
    if (now.tb_per_s) facts.push_back(NumberFact("tb_s_achieved", *now.tb_per_s, "TB/s"));
    const Target target{{0, 0.65, 0.9},
                        "no separate kernel after the GEMM",
                        "the memory traffic of that kernel",
                        true};
    // No compiler changes a kernel that somebody wrote, and one that has timed its own GEMMs has
    // none that is as fast with the activation.
    const bool own = IsOwnKernel(kinds_.Of(product).library);
    if (own || context_.autotuned) {
      facts.push_back({"owner", own ? "the GEMM kernel" : "a GEMM kernel of your own", "words"});
    } else {
      facts.push_back({"mode",
                       TunesProducts() ? "`mode=\"max-autotune\"`, as for the GEMMs"
                                       : "`mode=\"max-autotune\"`",
                       "words"});
    }
    operation->cause = Cause{Pattern::kEpilogueLeft, "epilogue", std::move(facts), {}, {}, {}};
    (own || context_.autotuned ? operation->cause->a : operation->cause->b) = target;
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const ledger::KindsOfWork& kinds_;
  const WorkContext& context_;
  std::vector<CategoryAnalysis>& categories_;
  std::map<EventIndex, EventIndex> before_;
};

}  // namespace

void FindEpilogues(const Calls& calls, const ledger::KindsOfWork& kinds, const WorkContext& context,
                   std::vector<CategoryAnalysis>* categories) {
  EpilogueFinder(calls, kinds, context, categories).Run();
}

}  // namespace jarvis::findings
