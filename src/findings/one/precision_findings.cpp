#include "findings/one/precision_findings.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using ledger::WorkKind;
using trace::EventIndex;

constexpr double kWideLeast = 0.15;  // of the GPU's time: else precision is not what it is about
constexpr double kNarrowMost = 0.1;  // of the products' time, in 16 bits already
constexpr double kRateLeast = 1.5;   // of bf16 to TF32

// What goes of each kind of work where the forward pass runs in 16 bits. Autocast adds casts, and
// copies and casts of what stays in 32 bits stay as they are.
enum class Work : std::uint8_t {
  kProducts,
  kShortProducts,
  kPlanar,
  kAttention,
  kPasses,
  kReductions,
  kNone
};
constexpr std::size_t kWorks = static_cast<std::size_t>(Work::kNone);
constexpr std::array<Range, kWorks> kNarrowParts = {{
    {0.2, 0.4, 0.5},     // twice the rate of TF32 at best, as products reach it
    {0, 0.1, 0.4},       // latency for the most part, whatever the type
    {0, 0.15, 0.5},      // convolutions in NCHW: 16 bits ask for more conversions (planar_network)
    {0.25, 0.55, 0.85},  // half of the bytes at least, FlashAttention where it takes these shapes
    {0, 0.3, 0.5},       // half of the bytes at best
    {0, 0.1, 0.25},      // under autocast they stay in fp32: half of what they read at best
}};

// Of a model whose weights are in 16 bits all that runs between its products is.
const Range& PartOfWork(std::size_t work, const WorkContext& context) {
  const bool in_16_bits = work == static_cast<std::size_t>(Work::kReductions) && !context.training;
  return kNarrowParts[in_16_bits ? static_cast<std::size_t>(Work::kPasses) : work];
}

// The program's work in 32 bits, by what 16 bits do to it.
struct WideWork {
  std::array<std::vector<EventIndex>, kWorks> of;
  std::array<double, ledger::kWorkKinds> kind_ns = {};
  double all_ns = 0, narrow_ns = 0, tf32_ns = 0;
  bool convolutions = false;  // in TF32

  double ns(WorkKind kind) const { return kind_ns[static_cast<std::size_t>(kind)]; }
  double wide_ns() const {
    return ns(WorkKind::kProduct) + ns(WorkKind::kConvolution) + ns(WorkKind::kAttention);
  }
  // Whether it is 32 bits that its time goes to, and 16 bits would be another program.
  bool IsWide() const {
    return wide_ns() >= kWideLeast * all_ns && narrow_ns <= kNarrowMost * wide_ns();
  }
};

Work WorkOf(WorkKind kind) {
  switch (kind) {
    case WorkKind::kProduct:
    case WorkKind::kConvolution: return Work::kProducts;
    case WorkKind::kAttention: return Work::kAttention;
    case WorkKind::kPooling:
    case WorkKind::kElementwise:
    case WorkKind::kLayout: return Work::kPasses;
    case WorkKind::kNormalisation:
    case WorkKind::kReduction:
    case WorkKind::kSoftmax: return Work::kReductions;
    default: return Work::kNone;
  }
}

// By GPU event: whether it is of a convolutional network in NCHW.
std::vector<bool> PlanarWork(const Calls& calls, const std::vector<CategoryAnalysis>& categories) {
  std::vector<bool> planar(calls.events().size(), false);
  for (const CategoryAnalysis& category : categories) {
    for (const Operation& operation : category.operations) {
      if (!operation.cause || operation.cause->pattern != Pattern::kPlanarNetwork) continue;
      for (const EventIndex e : operation.gpu)
        planar[e] = true;
    }
  }
  return planar;
}

// Work on doubles or on integers alone, which no cast of the model makes shorter: by the operands
// of its op, else by the first type of its kernel's template.
class OtherTypes {
 public:
  explicit OtherTypes(const Calls& calls)
      : events_(calls.events()), tree_(calls.trace.tree()), doubles_(events_, IsOfDoubles) {}

  bool Has(EventIndex gpu) {
    for (EventIndex e = tree_.parent(gpu); e != trace::kNoEvent; e = tree_.parent(e)) {
      if (events_[e].kind != trace::EventKind::kCpuOp) continue;
      const trace::Args& args = events_.args_of(e);
      if (args.types == kNoString || args.dims == kNoString) break;
      const auto [known, added] = known_.try_emplace({args.types, args.dims});
      if (added) known->second = OfOperands(events_.text(args.types), events_.text(args.dims));
      return known->second;
    }
    return doubles_.Of(gpu);
  }

 private:
  static bool IsOfDoubles(std::string_view kernel) {
    const std::size_t open = kernel.find('<');
    return open != kernel.npos && kernel.substr(open + 1).starts_with("double");
  }

  // Scalars and single elements decide nothing.
  static bool OfOperands(std::string_view raw_types, std::string_view raw_dims) {
    const std::vector<Shape> shapes = ParseShapes(raw_dims);
    const std::vector<std::string> types = ParseTypes(raw_types);
    if (shapes.size() != types.size()) return false;
    bool doubles = false, integers = false, others = false;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].empty() || Elements(shapes[i]) <= 1) continue;
      const std::string type = ShortType(types[i]);
      const bool integer = type.starts_with("int") || type == "uint8" || type == "bool";
      doubles = doubles || type == "fp64";
      integers = integers || integer;
      others = others || (type != "fp64" && !integer);
    }
    return doubles || (integers && !others);
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  trace::ByName<bool> doubles_;
  std::map<std::pair<StringId, StringId>, bool> known_;
};

WideWork WideWorkOf(const Calls& calls, const ledger::KindsOfWork& kinds,
                    const std::vector<CategoryAnalysis>& categories) {
  WideWork out;
  const std::vector<bool> planar = PlanarWork(calls, categories);
  OtherTypes other_types(calls);
  for (const EventIndex e : calls.trace.attribution().timeline) {
    const trace::Event& event = calls.events()[e];
    if (event.kind != trace::EventKind::kKernel) continue;
    const ledger::KernelKind& kind = kinds.Of(e);
    const auto ns = static_cast<double>(event.dur_ns);
    out.all_ns += ns;
    const Work work = WorkOf(kind.kind);
    if (work == Work::kNone) continue;
    const bool computes = work == Work::kProducts || work == Work::kAttention;
    const bool wide = kind.precision == "fp32" || kind.precision == "tf32";
    if (computes && !wide) out.narrow_ns += kind.precision.empty() ? 0 : ns;
    // Kernels between products rarely name a type: theirs is that of the products.
    if (!wide && (computes || !kind.precision.empty())) continue;
    if (other_types.Has(e)) continue;
    const bool is_short = ns < 1000 * limits::kSmallKernelUs;
    const Work as = work != Work::kProducts ? work
                    : planar[e]             ? Work::kPlanar
                    : is_short              ? Work::kShortProducts
                                            : work;
    out.of[static_cast<std::size_t>(as)].push_back(e);
    out.kind_ns[static_cast<std::size_t>(kind.kind)] += ns;
    if (work != Work::kProducts || kind.precision != "tf32") continue;
    out.tf32_ns += ns;
    out.convolutions = out.convolutions || kind.kind == WorkKind::kConvolution;
  }
  return out;
}

// The kinds with most of the time that a change takes along beside products.
std::string NamesOf(const WideWork& work) {
  constexpr std::size_t kNamed = 3;
  constexpr double kNamedPart = 0.03;  // of the GPU's time
  std::vector<std::pair<double, WorkKind>> kinds;
  for (int k = 0; k < ledger::kWorkKinds; ++k) {
    const auto kind = static_cast<WorkKind>(k);
    if (kind == WorkKind::kProduct) continue;
    if (work.ns(kind) > kNamedPart * work.all_ns) kinds.emplace_back(-work.ns(kind), kind);
  }
  std::sort(kinds.begin(), kinds.end());
  if (kinds.size() > kNamed) kinds.resize(kNamed);
  std::vector<std::string> names;
  for (const auto& [ns, kind] : kinds)
    names.emplace_back(ledger::WorkKindText(kind));
  return Enumerated(names);
}

void AddRange(const Range& more, Range* sum) {
  for (double Range::*x : {&Range::low, &Range::mid, &Range::high})
    (*sum).*x += more.*x;
}

// Path A takes more work along than what the finding is about. Returns a finding of that work.
Finding TakeAlong(const Calls& calls, std::vector<EventIndex> gpu, const Range& part, Finding* f) {
  Finding more =
      StructureFinding(calls, *f->rule, "Precision", f->subject, std::move(gpu), part, {}, {});
  AddRange(*more.savings_ms, &f->change_a->savings_ms);
  f->path_a.front().savings_ms = f->change_a->savings_ms;
  if (more.count > 0) f->change_a->parts.push_back(more.change_a->parts.front());
  return more;
}

// What a finding sizes for products alone is done where the whole forward pass runs in 16 bits: one
// change, one figure.
void WidenToForward(const Calls& calls, const WorkContext& context, WideWork work, Finding* f) {
  std::vector<EventIndex> own;
  for (const Change::Part& part : f->change_a->parts)
    own.insert(own.end(), part.gpu.begin(), part.gpu.end());
  std::sort(own.begin(), own.end());
  const bool tf32 = f->rule == Pattern::kTf32Off;
  for (std::size_t w = 0; w < kWorks; ++w) {
    std::erase_if(work.of[w],
                  [&](EventIndex e) { return std::binary_search(own.begin(), own.end(), e); });
    TakeAlong(calls, std::move(work.of[w]), PartOfWork(w, context), f);
  }
  const std::string also = NamesOf(work);
  if (also.empty() || !tf32) return;
  f->patterns.front().facts.push_back(StructureWords("also", also));
  if (context.training)
    f->patterns.front().facts.push_back(StructureWords("stay", "Norms, softmax and sums"));
}

std::optional<Finding> NarrowerPrecision(const Calls& calls, WideWork work,
                                         const WorkContext& context) {
  if (context.before_torch2) return std::nullopt;
  const auto tf32 = perf::PeakFor(*calls.platform, "matrix_tf32");
  const auto bf16 = perf::PeakFor(*calls.platform, "matrix_bf16");
  if (!tf32 || !bf16 || bf16->tflops < kRateLeast * tf32->tflops) return std::nullopt;
  if (work.tf32_ns < kWideLeast * work.all_ns) return std::nullopt;
  std::vector<Fact> facts = {NumberFact("tf32_peak", tf32->tflops, "TFLOPS/s")};
  AddWayToNarrow(context, bf16->tflops, &facts);
  if (work.convolutions)
    facts.push_back(StructureWords("layout", "`model.to(memory_format=torch.channels_last)`"));
  const Target target{
      {}, "half of the bytes and twice the rate at best", "dense peaks of " + calls.platform->name};
  const char* subject = work.convolutions ? "TF32 convolutions and GEMMs" : "TF32 GEMMs";
  auto first = static_cast<std::size_t>(Work::kProducts);
  if (work.of[first].empty()) first = static_cast<std::size_t>(Work::kPlanar);
  if (work.of[first].empty()) first = static_cast<std::size_t>(Work::kShortProducts);
  if (!work.of[static_cast<std::size_t>(Work::kPlanar)].empty())
    facts.push_back(
        StructureWords("planar", "convolutions in NCHW gain little from 16 bits alone"));
  Finding f = StructureFinding(calls, Pattern::kNarrowerPrecision, "Precision", subject,
                               std::move(work.of[first]), PartOfWork(first, context), target,
                               std::move(facts));
  for (std::size_t w = 0; w < kWorks; ++w) {
    if (w == first) continue;
    const Finding rest = TakeAlong(calls, std::move(work.of[w]), PartOfWork(w, context), &f);
    f.time_ms += rest.time_ms;
    f.exclusive_ms += rest.exclusive_ms;
    f.count += rest.count;
  }
  f.upper_bound_ms = f.exclusive_ms;
  f.savings_ms = f.change_a->savings_ms;
  return f;
}

}  // namespace

void AddWayToNarrow(const WorkContext& context, double bf16_tflops, std::vector<Fact>* facts) {
  facts->push_back(NumberFact("bf16_peak", bf16_tflops, "TFLOPS/s"));
  facts->push_back(StructureWords(
      "narrow", context.training
                    ? "Run the forward pass under `torch.autocast(\"cuda\", torch.bfloat16)`"
                    : "Keep weights and inputs in bf16: `model.to(torch.bfloat16)`"));
  // Without a backward pass nothing needs the weights in fp32, and a cast of each is a launch.
  if (!context.training)
    facts->push_back(StructureWords("casts", "`torch.autocast` would cast weights in every pass"));
}

void JudgePrecision(const Calls& calls, const ledger::KindsOfWork& kinds,
                    const WorkContext& context, std::vector<CategoryAnalysis>* categories,
                    std::vector<Finding>* structures) {
  if (calls.platform == nullptr) return;
  WideWork work = WideWorkOf(calls, kinds, *categories);
  if (!work.IsWide()) return;
  const auto is_of_products = [](const Finding& f) {
    return f.change_a && !f.path_a.empty() &&
           (f.rule == Pattern::kTf32Off || f.rule == Pattern::kHalfPrecisionOff);
  };
  Finding* of_products = nullptr;
  const auto look = [&](std::vector<Finding>& findings) {
    const auto found = std::find_if(findings.begin(), findings.end(), is_of_products);
    if (found != findings.end()) of_products = &*found;
  };
  look(*structures);
  for (CategoryAnalysis& category : *categories)
    look(category.findings);
  if (of_products != nullptr) return WidenToForward(calls, context, std::move(work), of_products);
  if (auto narrower = NarrowerPrecision(calls, std::move(work), context))
    structures->push_back(std::move(*narrower));
}

}  // namespace jarvis::findings
