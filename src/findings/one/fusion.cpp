#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/baseline.h"
#include "findings/one/enum_text.h"
#include "findings/one/exclusive.h"
#include "findings/one/fusion_finder.h"
#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using analysis::WorkCall;
using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kChainMax = 40;
constexpr std::size_t kReachMax = 10;  // calls between a softmax and its products

bool Contains(std::string_view text, std::initializer_list<std::string_view> lower_parts) {
  return std::any_of(lower_parts.begin(), lower_parts.end(),
                     [&](std::string_view part) { return ContainsNoCase(text, part); });
}

// Whether two shapes broadcast to each other.
bool Fits(const Shape& a, const Shape& b) {
  const std::size_t n = std::min(a.size(), b.size());
  for (std::size_t i = 1; i <= n; ++i) {
    const std::int64_t x = a[a.size() - i];
    const std::int64_t y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return n > 0;
}

// What of a signature fusion asks for; made once an operation.
struct Traits {
  Kind kind = Kind::kOther;
  std::vector<Shape> shapes;  // of tensors
  double input_bytes = 0;     // of those, all together
  double largest_bytes = 0;   // of one of them
  std::optional<double> bytes;
  std::optional<double> flops;
  bool fusible = false;
  bool product = false;
  double batch = 1, m = 0, n = 0, k = 0;
  std::string spec;
  double output_bytes() const {
    if (!bytes) return largest_bytes;
    const double out = *bytes - input_bytes;
    return out > 0 ? std::min(out, *bytes) : largest_bytes;
  }
};

// Where a call stands in the model.
struct Scope {
  EventIndex module = kNoEvent;
  bool backward = false;
  friend bool operator==(const Scope&, const Scope&) = default;
};

struct Instance {
  FusionKind kind = FusionKind::kChain;
  std::vector<std::uint32_t> calls;
  std::uint32_t producer = kNone;  // of an epilogue
  Scope scope;
  bool shapes_known = true;
};

class Finder {
 public:
  Finder(Calls& calls, const std::vector<CategoryAnalysis>& categories, const Baseline& baseline)
      : calls_(calls),
        categories_(categories),
        baseline_(baseline),
        events_(calls.events()),
        tree_(calls.trace.tree()) {}

  FusionAnalysis Run() {
    if (!calls_.trace.recorded().cpu_ops) {
      out_.notes.emplace_back("no_ops");
      return std::move(out_);
    }
    if (!calls_.trace.recorded().shapes) out_.notes.emplace_back("no_shapes");
    Prepare();
    for (const std::vector<std::uint32_t>& thread : threads_) {
      Attention(thread);
      Chains(thread);
    }
    Group();
    return std::move(out_);
  }

 private:
  // ---- what the calls are

  void Prepare() {
    traits_.resize(categories_.size());
    for (std::size_t c = 0; c < categories_.size(); ++c)
      traits_[c].resize(categories_[c].operations.size());
    std::vector<std::vector<char>> made(categories_.size());
    for (std::size_t c = 0; c < categories_.size(); ++c)
      made[c].assign(categories_[c].operations.size(), 0);
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_track;
    for (std::size_t i = 0; i < calls_.calls.size(); ++i) {
      const WorkCall& call = calls_.calls[i];
      const Place place = calls_.place_of[i];
      if (made[place.category][place.operation] == 0) {
        made[place.category][place.operation] = 1;
        Describe(call, categories_[place.category].kind, &traits_[place.category][place.operation]);
      }
      if (calls_.IsHostCall(call))
        by_track[events_[call.op].track].push_back(static_cast<std::uint32_t>(i));
    }
    for (auto& [track, members] : by_track)
      threads_.push_back(std::move(members));
    used_.assign(calls_.calls.size(), 0);
  }

  void Describe(const WorkCall& call, Kind kind, Traits* out) const {
    out->kind = kind;
    const trace::Args& args = events_.args_of(call.op);
    const std::vector<Shape> shapes = ParseShapes(events_.text(args.dims));
    const std::vector<std::string> types = ParseTypes(events_.text(args.types));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].empty()) continue;
      double size = types.size() == shapes.size() ? TypeBytes(ShortType(types[i])) : 2;
      if (size <= 0) size = 4;
      const double bytes = Elements(shapes[i]) * size;
      out->shapes.push_back(shapes[i]);
      out->input_bytes += bytes;
      out->largest_bytes = std::max(out->largest_bytes, bytes);
    }
    if (call.work != nullptr && call.work->failure == perf::OpWork::Failure::kNone) {
      out->bytes = call.work->bytes;
      out->flops = call.work->flops;
      out->spec = call.work->spec;
      out->m = call.work->NumberOf("M").value_or(0);
      out->n = call.work->NumberOf("N").value_or(0);
      out->k = call.work->NumberOf("K").value_or(0);
      out->batch = std::max(1.0, call.work->NumberOf("B").value_or(1));
    }
    out->product = kind == Kind::kGemm;
    const bool kernels_only =
        std::all_of(call.kernels.begin(), call.kernels.end(), [&](EventIndex e) {
          return events_[e].kind == trace::EventKind::kKernel &&
                 !events_.name(e).starts_with("triton_");
        });
    out->fusible = kernels_only && !call.name.starts_with("(unlinked)") &&
                   (kind == Kind::kElementwise || kind == Kind::kReduce || kind == Kind::kNorm) &&
                   !Contains(calls_.NameOf(call), {"_foreach", "_fused", "fused_"});
  }

  const Traits& TraitsOf(std::uint32_t call) const {
    const Place place = calls_.place_of[call];
    return traits_[place.category][place.operation];
  }
  std::string_view Name(std::uint32_t call) const { return calls_.NameOf(calls_.calls[call]); }

  // The module instance around a call; of backward work that of the forward op. Without modules
  // the Python frame around it.
  Scope ScopeOf(std::uint32_t call) const {
    Scope scope;
    EventIndex frame = kNoEvent;
    for (EventIndex e = calls_.calls[call].op; e != kNoEvent;) {
      const trace::Event& event = events_[e];
      if (event.kind == trace::EventKind::kPythonFunction) {
        if (!analysis::ModuleClass(events_.name(e)).empty()) {
          scope.module = e;
          return scope;
        }
        if (frame == kNoEvent && !scope.backward) frame = e;
      }
      const EventIndex forward = tree_.ForwardOf(e);
      scope.backward = scope.backward || forward != kNoEvent;
      e = forward != kNoEvent ? forward : tree_.parent(e);
    }
    scope.module = frame;
    return scope;
  }

  std::int64_t StreamOf(std::uint32_t call) const {
    return events_.args_of(calls_.calls[call].kernels.front()).stream;
  }
  std::int64_t StartOf(std::uint32_t call) const {
    return events_[calls_.calls[call].kernels.front()].ts_ns;
  }
  std::int64_t EndOf(std::uint32_t call) const {
    return events_[calls_.calls[call].kernels.back()].end_ns();
  }
  bool Neighbours(std::uint32_t a, std::uint32_t b) const {
    const double gap = trace::MicrosOf(StartOf(b) - EndOf(a));
    return StreamOf(a) == StreamOf(b) && gap >= 0 && gap <= limits::kFusionGapUs;
  }

  // ---- attention

  void Attention(const std::vector<std::uint32_t>& thread) {
    for (std::size_t i = 0; i < thread.size(); ++i) {
      if (!ContainsNoCase(Name(thread[i]), "softmax") || used_[thread[i]] != 0) continue;
      if (ContainsNoCase(Name(thread[i]), "backward")) continue;
      const std::size_t first = Product(thread, i, -1);
      const std::size_t last = Product(thread, i, +1);
      if (first == thread.size() || last == thread.size()) continue;
      const Scope scope = ScopeOf(thread[i]);
      if (scope.module == kNoEvent || !(ScopeOf(thread[first]) == scope) ||
          !(ScopeOf(thread[last]) == scope)) {
        continue;
      }
      // Scores are as wide as the softmax, and the second product sums over them.
      const Traits& scores = TraitsOf(thread[first]);
      const Traits& values = TraitsOf(thread[last]);
      if (scores.n != values.k || scores.m != values.m) continue;
      Instance instance;
      instance.kind = FusionKind::kAttention;
      instance.scope = scope;
      for (std::size_t at = first; at <= last; ++at) {
        instance.calls.push_back(thread[at]);
        used_[thread[at]] = 1;
      }
      instances_.push_back(std::move(instance));
    }
  }

  // The nearest product before or after a call with nothing but memory-bound work between;
  // thread.size(): none.
  std::size_t Product(const std::vector<std::uint32_t>& thread, std::size_t from, int way) const {
    std::size_t at = from;
    for (std::size_t n = 0; n < kReachMax; ++n) {
      if (way < 0 && at == 0) break;
      at = way < 0 ? at - 1 : at + 1;
      if (at >= thread.size() || used_[thread[at]] != 0) break;
      const Traits& traits = TraitsOf(thread[at]);
      if (traits.product) return at;
      if (!traits.fusible && !Contains(Name(thread[at]), {"dropout", "masked_fill"})) break;
    }
    return thread.size();
  }

  // ---- chains

  void Chains(const std::vector<std::uint32_t>& thread) {
    Instance open;
    std::uint32_t before = kNone;  // the call before the open chain
    const auto close = [&] {
      Close(before, &open);
      open = {};
    };
    std::uint32_t previous = kNone;
    for (const std::uint32_t call : thread) {
      if (used_[call] != 0 || !TraitsOf(call).fusible) {
        close();
      } else {
        const Scope scope = ScopeOf(call);
        if (!open.calls.empty() && !Joins(open, call, scope)) close();
        if (open.calls.empty()) {
          before = previous;
          open.scope = scope;
        }
        open.shapes_known = open.shapes_known && !TraitsOf(call).shapes.empty();
        open.calls.push_back(call);
      }
      previous = call;
    }
    close();
  }

  bool Joins(const Instance& open, std::uint32_t call, const Scope& scope) const {
    if (open.calls.size() >= kChainMax || !(open.scope == scope)) return false;
    if (!Neighbours(open.calls.back(), call)) return false;
    // The next round of a loop.
    const Place first = calls_.place_of[open.calls.front()];
    const Place place = calls_.place_of[call];
    if (first.category == place.category && first.operation == place.operation) return false;
    const Traits& traits = TraitsOf(call);
    if (traits.shapes.empty() || !open.shapes_known) {
      return scope.module != kNoEvent && !calls_.trace.recorded().shapes;
    }
    const Traits& last = TraitsOf(open.calls.back());
    return std::any_of(traits.shapes.begin(), traits.shapes.end(), [&](const Shape& shape) {
      return std::any_of(last.shapes.begin(), last.shapes.end(),
                         [&](const Shape& other) { return Fits(shape, other); });
    });
  }

  void Close(std::uint32_t before, Instance* open) {
    if (open->calls.empty()) return;
    open->kind = KindOfChain(*open);
    if (before != kNone && used_[before] == 0 && TraitsOf(before).product &&
        Neighbours(before, open->calls.front())) {
      const Traits& product = TraitsOf(before);
      const double elements = product.batch * product.m * product.n;
      const bool same = std::any_of(
          TraitsOf(open->calls.front()).shapes.begin(), TraitsOf(open->calls.front()).shapes.end(),
          [&](const Shape& shape) { return elements > 0 && Elements(shape) == elements; });
      if (same) open->producer = before;
    }
    std::set<std::string_view> names;
    for (const std::uint32_t call : open->calls)
      names.insert(Name(call));
    const bool chain = names.size() > 1;
    if (!chain && open->producer == kNone) return;
    if (!chain && open->calls.size() > 1) return;  // a loop
    // A reduction has to see whole rows; it is no epilogue.
    if (!chain && TraitsOf(open->calls.front()).kind != Kind::kElementwise) return;
    if (!chain) open->kind = FusionKind::kEpilogue;
    for (const std::uint32_t call : open->calls)
      used_[call] = 1;
    instances_.push_back(std::move(*open));
  }

  bool Any(const Instance& instance, std::initializer_list<std::string_view> parts) const {
    return std::any_of(instance.calls.begin(), instance.calls.end(),
                       [&](std::uint32_t call) { return Contains(Name(call), parts); });
  }

  FusionKind KindOfChain(const Instance& chain) const {
    if (Composition(chain) != FusionKind::kChain) return Composition(chain);
    // A module's name alone makes no attention.
    return Hint(chain) == FusionKind::kAttention ? FusionKind::kChain : Hint(chain);
  }

  // By what it does.
  FusionKind Composition(const Instance& chain) const {
    if (chain.kind == FusionKind::kAttention) return FusionKind::kAttention;
    const bool mean = Any(chain, {"::mean", "::var", "::sum"});
    if (Any(chain, {"rsqrt"}) || (mean && Any(chain, {"::pow", "::var"}))) return FusionKind::kNorm;
    if (Any(chain, {"addcdiv", "addcmul", "::lerp"})) return FusionKind::kOptimizer;
    if (Any(chain, {"::neg"}) && Any(chain, {"::cat"})) return FusionKind::kRotary;
    if (Any(chain, {"silu", "gelu", "sigmoid", "tanh", "relu"})) return FusionKind::kActivation;
    return FusionKind::kChain;
  }

  // By what its module is called.
  FusionKind Hint(const Instance& instance) const {
    if (instance.scope.module == kNoEvent) return FusionKind::kChain;
    const std::string_view name = events_.name(instance.scope.module);
    if (Contains(name, {"attention", "sdpa", "attn"})) return FusionKind::kAttention;
    if (Contains(name, {"norm"})) return FusionKind::kNorm;
    if (Contains(name, {"rotary", "rope"})) return FusionKind::kRotary;
    if (Contains(name, {"silu", "swiglu", "gelu", "mlp", "activation", "feedforward"}))
      return FusionKind::kActivation;
    return FusionKind::kChain;
  }

  // ---- candidates

  void Group() {
    std::map<std::string, std::size_t> index;
    for (const Instance& instance : instances_) {
      std::string key =
          fmt::format("{}/{}/{}/", static_cast<int>(instance.kind),
                      calls_.chains->Of(ScopeEvent(instance)), instance.scope.backward ? 1 : 0);
      for (const std::uint32_t call : instance.calls) {
        const Place place = calls_.place_of[call];
        if (instance.kind == FusionKind::kOptimizer) {
          key += Name(call);
          key += '/';
        } else {
          key += fmt::format("{}.{}/", place.category, place.operation);
        }
      }
      const auto [found, added] = index.try_emplace(std::move(key), groups_.size());
      if (added) groups_.emplace_back();
      groups_[found->second].push_back(&instance);
    }
    std::vector<std::uint32_t> owner(events_.size(), kNoOwner);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const Instance* instance : groups_[g]) {
        for (const std::uint32_t call : instance->calls) {
          for (const EventIndex e : calls_.calls[call].kernels)
            owner[e] = static_cast<std::uint32_t>(g);
        }
      }
    }
    const auto& work = calls_.trace.attribution().timeline;
    std::vector<std::uint32_t> owners;
    owners.reserve(work.size());
    for (const EventIndex e : work)
      owners.push_back(owner[e]);
    const std::vector<double> alone = ExclusiveUs(events_, work, owners, groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g)
      Candidate(groups_[g], alone[g]);
    std::stable_sort(out_.candidates.begin(), out_.candidates.end(),
                     [](const FusionCandidate& a, const FusionCandidate& b) {
                       const double x = a.savings_ms ? a.savings_ms->mid : 0;
                       const double y = b.savings_ms ? b.savings_ms->mid : 0;
                       return x != y ? x > y : a.total_us > b.total_us;
                     });
    for (std::size_t i = 0; i < out_.candidates.size(); ++i) {
      out_.candidates[i].id = fmt::format("fusion.{}", i + 1);
      out_.total_us += out_.candidates[i].total_us;
    }
  }

  EventIndex ScopeEvent(const Instance& instance) const {
    return instance.scope.module == kNoEvent ? calls_.calls[instance.calls.front()].op
                                             : instance.scope.module;
  }

  double TimeOf(const Instance& instance) const {
    double us = 0;
    for (const std::uint32_t call : instance.calls)
      us += calls_.calls[call].kernel_us;
    return us;
  }

  void Candidate(const std::vector<const Instance*>& group, double alone_us) {
    const Instance& first = *group.front();
    FusionCandidate c;
    c.kind = first.kind;
    c.instances = group.size();
    c.exclusive_us = alone_us;
    std::vector<double> times;
    double saved[3] = {0, 0, 0};
    bool estimated = true;
    for (const Instance* instance : group) {
      const double us = TimeOf(*instance);
      times.push_back(us);
      c.total_us += us;
      const auto savings = SavingsUs(*instance, us);
      estimated = estimated && savings.has_value();
      for (int i = 0; savings && i < 3; ++i)
        saved[i] += (*savings)[static_cast<std::size_t>(i)];
      for (const std::uint32_t call : instance->calls)
        c.gpu.insert(c.gpu.end(), calls_.calls[call].kernels.begin(),
                     calls_.calls[call].kernels.end());
    }
    std::sort(times.begin(), times.end());
    c.instance_min_us = times.front();
    c.instance_median_us = times[times.size() / 2];
    c.instance_max_us = times.back();
    const double cap = std::min(c.total_us, alone_us);
    if (estimated) {
      c.savings_ms = Range{std::min(saved[0], cap) / 1000, std::min(saved[1], cap) / 1000,
                           std::min(saved[2], cap) / 1000};
      if (calls_.window_us > 0) {
        const double to_percent = 1e5 / calls_.window_us;
        c.impact_percent = Range{c.savings_ms->low * to_percent, c.savings_ms->mid * to_percent,
                                 c.savings_ms->high * to_percent};
      }
    }
    if (!c.impact_percent || c.impact_percent->high < limits::kEstimateMin) return;
    Name(first, group, &c);
    out_.candidates.push_back(std::move(c));
  }

  void Name(const Instance& first, const std::vector<const Instance*>& group, FusionCandidate* c) {
    const auto frames = calls_.chains->Frames(calls_.chains->Of(ScopeEvent(first)));
    c->module_path = analysis::ModulePath(frames);
    if (first.scope.backward && !c->module_path.empty() &&
        !c->module_path.ends_with("(backward)")) {
      c->module_path += " (backward)";
    }
    if (first.scope.module != kNoEvent) {
      const std::string_view name = events_.name(first.scope.module);
      const std::string_view module = analysis::ModuleClass(name);
      c->module_class = module.empty() ? name : module;
    }
    c->dependency = !first.shapes_known ? Dependency::kUnknown : Dependency::kPlausible;
    const FusionKind by_name = Hint(first);
    const FusionKind by_work = Composition(first);
    const bool both = by_name == by_work && by_name != FusionKind::kChain;
    const bool one =
        by_name != FusionKind::kChain || by_work != FusionKind::kChain || first.producer != kNone;
    c->confidence = both ? "high" : one ? "medium" : "low";
    if (c->dependency == Dependency::kUnknown) c->confidence = "low";
    c->example_uid = calls_.calls[first.calls.front()].uid;
    std::set<std::string> operations;
    for (std::size_t at = 0; at < first.calls.size(); ++at) {
      const std::uint32_t call = first.calls[at];
      const Place place = calls_.place_of[call];
      const Operation& operation = categories_[place.category].operations[place.operation];
      operations.insert(operation.id);
      double us = 0;
      for (const Instance* instance : group)
        us += calls_.calls[instance->calls[at]].kernel_us;
      FusionKernel kernel;
      kernel.name = events_.name(calls_.calls[call].kernels.front());
      kernel.op = operation.name;
      kernel.operation = operation.id;
      kernel.mean_us = us / static_cast<double>(group.size());
      kernel.bytes = TraitsOf(call).bytes;
      if (kernel.bytes) ++c->modeled_kernels;
      c->kernels.push_back(std::move(kernel));
    }
    c->operations.assign(operations.begin(), operations.end());
    if (const auto bytes = BytesOf(first)) {
      c->bytes_now = bytes->first;
      c->bytes_fused = bytes->second;
    }
  }

  // ---- savings

  // What an instance moves now, and what it would move as one kernel.
  std::optional<std::pair<double, double>> BytesOf(const Instance& instance) const {
    double now = 0;
    double largest = 0;
    double saved = 0;
    std::size_t modeled = 0;
    for (std::size_t i = 0; i < instance.calls.size(); ++i) {
      const Traits& traits = TraitsOf(instance.calls[i]);
      if (traits.bytes) ++modeled;
      now += traits.bytes.value_or(0);
      largest = std::max(largest, traits.largest_bytes);
      if (i + 1 < instance.calls.size()) {
        const Traits& next = TraitsOf(instance.calls[i + 1]);
        saved += 2 * std::min(traits.output_bytes(), next.largest_bytes);
      }
    }
    if (now <= 0 || 2 * modeled < instance.calls.size()) return std::nullopt;
    const Traits& first = TraitsOf(instance.calls.front());
    const Traits& last = TraitsOf(instance.calls.back());
    if (instance.producer != kNone) saved += 2 * first.largest_bytes;
    // At least the result is written and, but for an epilogue, the input read.
    double fused =
        std::max(now - saved,
                 last.output_bytes() + (instance.producer == kNone ? first.largest_bytes : 0.0));
    // A normalisation reads its input once and writes once; its backward pass reads two.
    if (instance.kind == FusionKind::kNorm)
      fused = std::min(fused, (instance.scope.backward ? 3 : 2) * largest);
    return std::pair(now, std::min(fused, now));
  }

  std::optional<std::array<double, 3>> SavingsUs(const Instance& instance, double us) const {
    if (instance.kind == FusionKind::kAttention && TraitsOf(instance.calls.front()).product)
      return AttentionSavings(instance, us);
    const auto bytes = BytesOf(instance);
    if (!bytes || us <= 0) return std::nullopt;
    const double now = bytes->first / us;  // bytes a microsecond
    const double baseline = std::max(now, baseline_.tb_per_s.value_or(0) * 1e6);
    double peak = baseline;
    if (calls_.platform != nullptr && calls_.platform->mem_bw_gbps)
      peak = std::max(now, *calls_.platform->mem_bw_gbps * 1e3);
    const auto saved = [&](double bandwidth) {
      // An epilogue needs no kernel of its own.
      const double floor = instance.producer == kNone ? limits::kLaunchFloorUs : 0;
      return std::max(0.0, us - std::max(bytes->second / bandwidth, floor));
    };
    return std::array{saved(now), saved(std::min(baseline, peak)), saved(peak)};
  }

  std::optional<std::array<double, 3>> AttentionSavings(const Instance& instance, double us) const {
    const Traits& scores = TraitsOf(instance.calls.front());
    const Traits& values = TraitsOf(instance.calls.back());
    if (!scores.flops || !values.flops || calls_.platform == nullptr) return std::nullopt;
    double size = 2;
    if (scores.spec.ends_with("fp32")) size = 4;
    const double bytes =
        size * scores.batch *
        (scores.m * scores.k + scores.n * scores.k + values.k * values.n + values.m * values.n);
    const perf::Roofline roof =
        perf::RooflineOf({*scores.flops + *values.flops, bytes, scores.spec}, *calls_.platform);
    if (!roof.roof_us) return std::nullopt;
    const auto saved = [&](double share) {
      return std::max(0.0, us - std::max(*roof.roof_us / share, limits::kLaunchFloorUs));
    };
    return std::array{saved(limits::kAttentionLow), saved(limits::kAttentionMid), saved(1)};
  }

  Calls& calls_;
  const std::vector<CategoryAnalysis>& categories_;
  const Baseline& baseline_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  std::vector<std::vector<Traits>> traits_;          // by category and operation
  std::vector<std::vector<std::uint32_t>> threads_;  // calls by start
  std::vector<char> used_;                           // by call
  std::vector<Instance> instances_;
  std::vector<std::vector<const Instance*>> groups_;
  FusionAnalysis out_;
};

}  // namespace

std::string_view FusionText(FusionKind kind) {
  return EnumText({"attention", "norm", "activation", "rotary", "epilogue", "optimizer", "chain"},
                  kind);
}
std::string_view DependencyText(Dependency dependency) {
  return EnumText({"proven", "plausible", "unknown"}, dependency);
}

FusionAnalysis FindFusions(Calls& calls, const std::vector<CategoryAnalysis>& categories,
                           const Baseline& baseline) {
  return Finder(calls, categories, baseline).Run();
}

}  // namespace jarvis::findings
