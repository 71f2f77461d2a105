#include "findings/one/structure_findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/host/runtime_calls.h"
#include "analysis/tables/summary.h"
#include "base/text.h"
#include "findings/one/argument_sharding.h"
#include "findings/one/autocast_weights.h"
#include "findings/one/constant_projections.h"
#include "findings/one/estimates.h"
#include "findings/one/evaluation_passes.h"
#include "findings/one/exclusive.h"
#include "findings/one/expert_loop.h"
#include "findings/one/few_query_attention.h"
#include "findings/one/foreach_optimizer.h"
#include "findings/one/library_results.h"
#include "findings/one/loader_transforms.h"
#include "findings/one/loss_over_vocabulary.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/needs.h"
#include "findings/one/passes_in_turn.h"
#include "findings/one/product_kernels.h"
#include "findings/one/repeated_inputs.h"
#include "findings/one/repeated_work.h"
#include "findings/one/small_for_gpu.h"
#include "findings/one/sparse_product.h"
#include "findings/one/structure_maker.h"
#include "findings/one/system_findings.h"
#include "findings/one/thresholds.h"
#include "findings/one/triton_products.h"
#include "trace/by_name.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

class TraceStructures {
 public:
  TraceStructures(const Calls& calls, const WorkContext& context,
                  std::vector<CategoryAnalysis>* categories)
      : calls_(calls),
        events_(calls.events()),
        tree_(calls.trace.tree()),
        context_(context),
        categories_(*categories) {}

  std::vector<Finding> Run() {
    HalfPrecision();
    GraphCopies();
    CollectiveCopies();
    CutExperts();
    FindAutocastWeights(calls_, context_, &categories_, &out_);
    FindExpertLoops(calls_, context_, categories_, &out_);
    FindForeachOptimizer(calls_, context_, &categories_, &out_);
    FindSmallForGpu(calls_, context_, &out_);
    FindPassesInTurn(calls_, context_, &out_);
    FindEvaluationPasses(calls_, context_, &out_);
    FindLoaderTransforms(calls_, context_, &out_);
    FindArgumentSharding(calls_, context_, &out_);
    FindLibraryResults(calls_, context_, &out_);
    FindFewQueryAttention(calls_, context_, &out_);
    FindConstantProjections(calls_, context_, &out_);
    FindSparseProducts(calls_, &categories_, &out_);
    FindTritonProducts(calls_, context_, &categories_, &out_);
    FindVocabularyLoss(calls_, &categories_, &out_);
    FindRepeatedWork(calls_, context_, &out_);
    FindEqualCopies(calls_, context_, &out_);
    return std::move(out_);
  }

 private:
  // ---- precision

  // Tensor cores that take fp16 and no TF32, by platform or by the names of kernels.
  bool HasHalfUnitsOnly() const {
    if (calls_.platform != nullptr) {
      const auto half = perf::PeakFor(*calls_.platform, "matrix_fp16");
      const auto fp32 = perf::PeakFor(*calls_.platform, "matrix_fp32");
      const auto vector = perf::PeakFor(*calls_.platform, "vector_fp32");
      const double single = std::max(fp32 ? fp32->tflops : 0, vector ? vector->tflops : 0);
      constexpr double kUnits = 3;  // tensor cores, not packed vector arithmetic
      return !perf::PeakFor(*calls_.platform, "matrix_tf32") && half && single > 0 &&
             half->tflops >= kUnits * single && calls_.platform->vendor == "NVIDIA";
    }
    for (const EventIndex e : calls_.trace.attribution().timeline) {
      if (events_.name(e).starts_with("volta_") || events_.name(e).starts_with("turing_"))
        return true;
    }
    return false;
  }

  static bool IsHalfKernel(std::string_view name) {
    return name.find("h884") != name.npos || name.find("h1688") != name.npos ||
           name.find("s884") != name.npos || name.find("fp16") != name.npos ||
           name.find("__half") != name.npos || name.find("hgemm") != name.npos;
  }

  Kind KindOf(EventIndex gpu) const {
    const std::uint32_t call = calls_.call_of[gpu];
    if (call == kNone || calls_.place_of[call].category == kNone) return Kind::kOther;
    return categories_[calls_.place_of[call].category].kind;
  }

  void HalfPrecision() {
    if (!HasHalfUnitsOnly()) return;
    std::vector<EventIndex> gpu;
    std::map<std::string_view, std::int64_t> time;
    std::int64_t half = 0, single = 0;
    bool convolutions = false;
    trace::ByName<bool> is_half(events_, &IsHalfKernel);
    trace::ByName<bool> is_fp32_product(events_, &IsFp32ProductKernel);
    for (const EventIndex e : calls_.trace.attribution().timeline) {
      if (events_[e].kind != trace::EventKind::kKernel) continue;
      const Kind kind = KindOf(e);
      const bool product = kind == Kind::kGemm || kind == Kind::kConvolution;
      if (is_half.Of(e)) {
        half += events_[e].dur_ns;
      } else if (product || is_fp32_product.Of(e)) {
        gpu.push_back(e);
        time[events_.name(e)] += events_[e].dur_ns;
        single += events_[e].dur_ns;
        convolutions = convolutions || kind == Kind::kConvolution;
      }
    }
    // By now the program knows of mixed precision, and has left out what it wants.
    if (gpu.empty() || half > single / 10) return;
    const auto longest = std::max_element(
        time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (!IsFp32ProductKernel(longest->first) && !AnyFp32(time)) return;
    std::vector<Fact> facts = {StructureText("kernel", analysis::ShortKernelName(longest->first))};
    const auto add = [&](bool holds, const char* key, std::string words) {
      if (holds && !words.empty()) facts.push_back(StructureWords(key, std::move(words)));
    };
    add(true, "autocast",
        !context_.training       ? "`model.half()` and half-precision inputs"
        : context_.before_torch2 ? "`torch.cuda.amp.autocast()`"
                                 : "`torch.autocast(\"cuda\", torch.float16)`");
    add(context_.training, "scaler", "`torch.cuda.amp.GradScaler`");
    add(convolutions, "layout", "`model.to(memory_format=torch.channels_last)`");
    add(MostlyReplayed(gpu), "capture",
        context_.training
            ? "It must be on when the graphs are captured, whose static inputs then become fp16"
            : "Graphs are captured anew then, with static inputs in fp16");
    add(true, "sizes", UnalignedSizes());
    add(convolutions && SameShapes(), "benchmark",
        "Also set `torch.backends.cudnn.benchmark = True`, as the kernels are the same in each "
        "step.");
    Add(Pattern::kHalfPrecisionOff, "Precision",
        convolutions ? "fp32 convolutions and GEMMs" : "fp32 GEMMs", std::move(gpu),
        {0.4, 0.6, 0.75}, {{}, "fp16 on the tensor cores", "published speedups of mixed precision"},
        std::move(facts));
  }

  bool MostlyReplayed(const std::vector<EventIndex>& gpu) const {
    constexpr double kGoodPart = 0.25;
    double all = 0, replayed = 0;
    for (const EventIndex e : gpu) {
      const auto ns = static_cast<double>(events_[e].dur_ns);
      all += ns;
      replayed += calls_.trace.IsReplayed(e) ? ns : 0;
    }
    return replayed >= kGoodPart * all && all > 0;
  }

  static bool AnyFp32(const std::map<std::string_view, std::int64_t>& time) {
    return std::any_of(time.begin(), time.end(),
                       [](const auto& one) { return IsFp32ProductKernel(one.first); });
  }

  // "1705, 9375": sizes of the longest products that fp16's tensor cores do not take.
  std::string UnalignedSizes() const {
    constexpr std::int64_t kHalfUnit = 8;
    constexpr std::size_t kSizesMax = 4;
    std::vector<std::string> sizes;
    for (const CategoryAnalysis& category : categories_) {
      if (category.kind != Kind::kGemm) continue;
      for (const Operation& o : category.operations) {
        for (const Fact& fact : o.details) {
          const auto* size = std::get_if<std::int64_t>(&fact.value);
          if (size == nullptr || (fact.key != "N" && fact.key != "K")) continue;
          if (*size <= kHalfUnit || *size % kHalfUnit == 0) continue;
          std::string text = std::to_string(*size);
          const bool known = std::find(sizes.begin(), sizes.end(), text) != sizes.end();
          if (!known && sizes.size() < kSizesMax) sizes.push_back(std::move(text));
        }
      }
    }
    std::string text;
    for (const std::string& size : sizes)
      text += (text.empty() ? "" : ", ") + size;
    return text;
  }

  // Each convolution runs several times with one set of shapes.
  bool SameShapes() const {
    for (const CategoryAnalysis& category : categories_) {
      if (category.kind != Kind::kConvolution) continue;
      for (const Operation& o : category.operations) {
        if (o.count < 2) return false;
      }
    }
    return true;
  }

  // ---- copies

  bool IsDeviceCopy(EventIndex gpu) const {
    if (events_[gpu].kind == trace::EventKind::kMemcpy)
      return DirectionOf(events_.name(gpu)) == CopyDirection::kOnDevice;
    const EventIndex launch = tree_.parent(gpu);
    if (launch == kNoEvent) return false;
    const EventIndex op = events_[launch].kind == trace::EventKind::kCpuOp
                              ? launch
                              : tree_.Enclosing(events_, launch, trace::EventKind::kCpuOp);
    return op != kNoEvent && events_.name(op) == "aten::copy_";
  }

  double BytesOf(EventIndex gpu) const {
    const StringId other = events_.args_of(gpu).other;
    if (other == kNoString) return 0;
    const auto bytes = ParseInt(trace::Unquoted(trace::MemberOf(events_.text(other), "bytes")));
    return bytes ? static_cast<double>(*bytes) : 0;
  }

  // The copies of what launches a graph: the nearest host event around the launch that has some.
  std::vector<EventIndex> CopiesBeside(EventIndex launch) const {
    constexpr int kUpMax = 4;
    EventIndex up = tree_.parent(launch);
    for (int level = 0; level < kUpMax && up != kNoEvent; ++level, up = tree_.parent(up)) {
      // Not the whole step: what else is in it belongs to others.
      if (events_[up].kind == trace::EventKind::kUserAnnotation) break;
      std::vector<EventIndex> copies;
      for (const EventIndex e : tree_.GpuBelow(up)) {
        if (IsDeviceCopy(e)) copies.push_back(e);
      }
      if (static_cast<double>(copies.size()) >= limits::kBesides) return copies;
      if (events_[up].kind == trace::EventKind::kCpuOp) break;
    }
    return {};
  }

  void GraphCopies() {
    std::set<EventIndex> copies;
    std::size_t launches = 0;
    std::string owner;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (!trace::IsLaunchCall(events_[e].kind) || !analysis::IsGraphLaunch(events_.name(e)))
        continue;
      const std::vector<EventIndex> some = CopiesBeside(e);
      if (some.empty()) continue;
      ++launches;
      copies.insert(some.begin(), some.end());
      if (owner.empty()) owner = events_.name(tree_.parent(e));
    }
    if (launches == 0) return;
    double bytes = 0;
    for (const EventIndex e : copies)
      bytes += BytesOf(e);
    std::vector<Fact> facts = {StructureCount("launches", launches),
                               StructureCount("copies_per_launch", copies.size() / launches)};
    if (bytes > 0) facts.push_back(NumberFact("bytes", bytes / 1e9, "GB"));
    Add(Pattern::kGraphInputCopies, "Copies", "device copies around " + owner,
        {copies.begin(), copies.end()}, {0.5, 0.9, 1},
        {{}, "no copies", "their time in this trace"}, std::move(facts));
    // What is captured changes, the model does not.
    std::swap(out_.back().path_a, out_.back().path_b);
    std::swap(out_.back().change_a, out_.back().change_b);
  }

  void CollectiveCopies() {
    // Buckets are filled beside backward work.
    if (context_.bucketed) return;
    std::set<EventIndex> copies;
    std::size_t collectives = 0;
    std::string kernel;
    Message message;  // of the first
    for (const std::vector<EventIndex>& work : WorkByStream(calls_)) {
      for (std::size_t i = 0; i < work.size(); ++i) {
        if (!IsCollective(work[i])) continue;
        const std::size_t before = copies.size();
        if (i > 0 && IsDeviceCopy(work[i - 1])) copies.insert(work[i - 1]);
        if (i + 1 < work.size() && IsDeviceCopy(work[i + 1])) copies.insert(work[i + 1]);
        if (copies.size() > before) ++collectives;
        if (copies.size() > before && kernel.empty()) message = MessageOf(calls_.trace, work[i]);
        if (copies.size() > before && kernel.empty())
          kernel = analysis::ShortKernelName(events_.name(work[i]));
      }
    }
    if (static_cast<double>(collectives) < limits::kBesides) return;
    std::vector<Fact> facts = {StructureCount("collectives", collectives),
                               StructureText("kernel", kernel)};
    const Fit fit = FitOf(Info(Advice::kFuseAllReduceVllm).needs, context_, message);
    if (context_.engine == Engine::kVllm && fit != Fit::kNot) {
      facts.push_back(StructureWords(
          "server", fmt::format("Where vLLM fuses the all-reduce with the normalization after it "
                                "(pass_config: fuse_allreduce_rms{}), the copies go with it",
                                fit == Fit::kUnknown ? fmt::format(", {}", kIfSupported) : "")));
    }
    Add(Pattern::kCollectiveCopies, "Copies", "device copies", {copies.begin(), copies.end()},
        {0.5, 0.8, 1}, {{}, "no copies", "their time in this trace"}, std::move(facts));
  }

  bool IsCollective(EventIndex e) { return classes_.Of(e) == analysis::WorkClass::kCommunication; }

  // ---- experts

  // Nothing tells what whole experts would save, so the finding claims nothing; the time of their
  // operations stays to be judged by others, unless only the reading of their weights is known: for
  // that this is the advice.
  void CutExperts() {
    if (!context_.IsServer() || context_.cut_experts < 2) return;
    std::vector<EventIndex> gpu;
    std::vector<Operation*> rated;
    double us = 0;
    for (CategoryAnalysis& category : categories_) {
      if (category.kind != Kind::kMoe) continue;
      for (Operation& o : category.operations) {
        gpu.insert(gpu.end(), o.gpu.begin(), o.gpu.end());
        us += o.gpu_us;
        if (!o.has_model && o.efficiency.tb_per_s && !o.cause) rated.push_back(&o);
      }
    }
    if (gpu.empty() || 100 * us < limits::kExpertShare * calls_.computation_us) return;
    const char* setting = context_.engine == Engine::kVllm ? "vLLM with --enable-expert-parallel"
                          : context_.engine == Engine::kSglang
                              ? "SGLang with --ep-size"
                              : "TensorRT-LLM with moe_expert_parallel_size";
    std::vector<Fact> facts = {StructureCount("ranks", context_.cut_experts),
                               StructureWords("setting", setting)};
    for (Operation* o : rated)
      o->claimed = true;
    if (rated.size() == 1) {
      const Efficiency& e = rated.front()->efficiency;
      facts.push_back(NumberFact("tb_s_achieved", *e.tb_per_s, "TB/s"));
      facts.push_back(NumberFact("bandwidth_percent", *e.percent, "%"));
    }
    Finding f = StructureFinding(calls_, Pattern::kCutExperts, "Experts", "expert layers",
                                 std::move(gpu), {0, 0, 0}, {}, std::move(facts));
    f.change_a.reset();
    f.savings_ms.reset();
    f.path_a.clear();
    f.path_b = {{Advice::kRule, {}, {}}};
    f.method = EstimateMethod::kNone;
    out_.push_back(std::move(f));
  }

  // ---- all

  void Add(Pattern rule, const char* name, std::string subject, std::vector<EventIndex> gpu,
           const Range& part, Target target, std::vector<Fact> facts) {
    ClaimOperations(events_, Marked(gpu, events_.size()), &categories_);
    out_.push_back(StructureFinding(calls_, rule, name, std::move(subject), std::move(gpu), part,
                                    std::move(target), std::move(facts)));
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  analysis::WorkClasses classes_{events_, analysis::Communicators::kAll};
  const tree::CallTree& tree_;
  const WorkContext& context_;
  std::vector<CategoryAnalysis>& categories_;
  std::vector<Finding> out_;
};

// Chains most of whose time is work that a finding takes away as a whole.
void LeaveOutChains(const trace::EventStore& events, const std::vector<EventIndex>& gpu,
                    std::vector<CategoryAnalysis>* categories, FusionAnalysis* fusion) {
  const std::vector<bool> own = Marked(gpu, events.size());
  std::set<std::string> gone;
  for (const FusionCandidate& candidate : fusion->candidates) {
    if (candidate.kind == FusionKind::kAttention) continue;
    double us = 0;
    for (const EventIndex e : candidate.gpu)
      us += own[e] ? trace::MicrosOf(events[e].dur_ns) : 0;
    if (us > 0 && us >= candidate.total_us / 2) gone.insert(candidate.id);
  }
  if (gone.empty()) return;
  for (const FusionCandidate& candidate : fusion->candidates)
    fusion->total_us -= gone.contains(candidate.id) ? candidate.total_us : 0;
  std::erase_if(fusion->candidates,
                [&](const FusionCandidate& candidate) { return gone.contains(candidate.id); });
  for (CategoryAnalysis& category : *categories) {
    for (Operation& o : category.operations) {
      if (gone.contains(o.fusion_candidate)) o.fusion_candidate.clear();
    }
  }
}

}  // namespace

std::vector<bool> Marked(const std::vector<EventIndex>& some, std::size_t events) {
  std::vector<bool> marked(events, false);
  for (const EventIndex e : some)
    marked[e] = true;
  return marked;
}

void ClaimOperations(const trace::EventStore& events, const std::vector<bool>& own,
                     std::vector<CategoryAnalysis>* categories) {
  for (CategoryAnalysis& category : *categories) {
    for (Operation& o : category.operations) {
      double us = 0;
      for (const EventIndex e : o.gpu)
        us += own[e] ? trace::MicrosOf(events[e].dur_ns) : 0;
      o.claimed = o.claimed || us >= o.gpu_us / 2;
    }
  }
}

std::vector<std::vector<EventIndex>> WorkByStream(const Calls& calls) {
  const trace::EventStore& events = calls.events();
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<EventIndex>> streams;
  for (const EventIndex e : calls.trace.attribution().timeline)
    streams[{events[e].track, events.args_of(e).stream}].push_back(e);
  std::vector<std::vector<EventIndex>> out;
  for (auto& [stream, work] : streams) {
    std::stable_sort(work.begin(), work.end(),
                     [&](EventIndex a, EventIndex b) { return events[a].ts_ns < events[b].ts_ns; });
    out.push_back(std::move(work));
  }
  return out;
}

Finding StructureFinding(const Calls& calls, Pattern rule, const char* name, std::string subject,
                         std::vector<EventIndex> gpu, const Range& part, Target target,
                         std::vector<Fact> facts) {
  const trace::EventStore& events = calls.events();
  Finding f = SystemFinding("multi_kernel", name, std::move(subject));
  f.rule = rule;
  f.method = EstimateMethod::kTarget;
  f.count = gpu.size();
  f.patterns.push_back({rule, std::move(facts)});
  f.path_a = {{Advice::kRule, {}, {}}};
  const auto& work = calls.trace.attribution().timeline;
  const std::vector<bool> own = Marked(gpu, events.size());
  std::vector<std::uint32_t> owners;
  owners.reserve(work.size());
  for (const EventIndex e : work) {
    owners.push_back(own[e] ? 0 : kNoOwner);
    f.time_ms += own[e] ? trace::MicrosOf(events[e].dur_ns) / 1000 : 0;
  }
  f.exclusive_ms = ExclusiveUs(events, work, owners, 1).front() / 1000;
  f.upper_bound_ms = f.exclusive_ms;
  Range saved = Scaled(part, f.time_ms);
  for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
    saved.*x = std::min(saved.*x, f.exclusive_ms);
  f.savings_ms = saved;
  f.change_a = Change{{{part, std::move(gpu)}}, saved, target.text, target.source, {}};
  f.path_a.front().savings_ms = saved;
  return f;
}

std::vector<Finding> FindStructures(const Calls& calls, const WorkContext& context,
                                    std::vector<CategoryAnalysis>* categories,
                                    FusionAnalysis* fusion) {
  std::vector<Finding> found = TraceStructures(calls, context, categories).Run();
  for (const Finding& finding : found) {
    const bool whole =
        finding.rule == Pattern::kSparseProduct || finding.rule == Pattern::kLossOverVocabulary;
    if (whole && finding.change_a)
      LeaveOutChains(calls.events(), finding.change_a->parts.front().gpu, categories, fusion);
  }
  return found;
}

void AddStructures(std::vector<Finding> structures, double window_ms, std::vector<Finding>* all) {
  if (window_ms <= 0) return;
  for (Finding& f : structures) {
    f.percent_of_total = f.time_ms / window_ms * 100;
    if (f.savings_ms) f.impact_percent = Scaled(*f.savings_ms, 100 / window_ms);
    // What the host is spared comes on top of what the GPU is.
    const bool exact =
        (f.change_a && !f.change_a->exact.empty()) || (f.change_b && !f.change_b->exact.empty());
    if (!exact && f.impact_percent && f.impact_percent->mid < limits::kFindingMin) continue;
    f.priority = PriorityOf(*f.percent_of_total, std::nullopt, true);
    f.rank = static_cast<int>(all->size()) + 1;
    all->push_back(std::move(f));
  }
}

}  // namespace jarvis::findings
