#include "findings/one/fusion_calls.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "findings/one/thresholds.h"
#include "perf/op_category.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using analysis::WorkCall;
using trace::EventIndex;
using trace::kNoEvent;

}  // namespace

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> lower_parts) {
  return std::any_of(lower_parts.begin(), lower_parts.end(),
                     [&](std::string_view part) { return ContainsNoCase(text, part); });
}

FusionCalls::FusionCalls(Calls& calls, const std::vector<CategoryAnalysis>& categories)
    : calls_(calls), categories_(categories), events_(calls.events()), tree_(calls.trace.tree()) {
  traits_.resize(categories_.size());
  for (std::size_t c = 0; c < categories_.size(); ++c)
    traits_[c].resize(categories_[c].operations.size());
  std::vector<std::vector<char>> made(categories_.size());
  for (std::size_t c = 0; c < categories_.size(); ++c)
    made[c].assign(categories_[c].operations.size(), 0);
  trace::ByName<bool> checks(events_, &perf::IsValueCheck);
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_track;
  std::set<std::uint32_t> checked;  // tracks whose last call was a check's
  after_check_.assign(calls_.calls.size(), false);
  for (std::size_t i = 0; i < calls_.calls.size(); ++i) {
    const WorkCall& call = calls_.calls[i];
    const Place place = calls_.place_of[i];
    if (made[place.category][place.operation] == 0) {
      made[place.category][place.operation] = 1;
      Describe(call, categories_[place.category].kind, &traits_[place.category][place.operation]);
    }
    if (!calls_.IsHostCall(call)) continue;
    const std::uint32_t track = events_[call.op].track;
    bool check = false;
    for (EventIndex e = call.op; e != kNoEvent && !check; e = tree_.parent(e))
      check = events_[e].kind == trace::EventKind::kCpuOp && checks.Of(e);
    if (check) {
      checked.insert(track);
      continue;
    }
    after_check_[i] = checked.erase(track) > 0;
    by_track[track].push_back(static_cast<std::uint32_t>(i));
  }
  for (auto& [track, members] : by_track)
    threads_.push_back(std::move(members));
}

void FusionCalls::Describe(const WorkCall& call, Kind kind, FusionTraits* out) const {
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
                 !ContainsAny(calls_.NameOf(call), {"_foreach", "_fused", "fused_"});
}

const FusionTraits& FusionCalls::TraitsOf(std::uint32_t call) const {
  const Place place = calls_.place_of[call];
  return traits_[place.category][place.operation];
}

FusionScope FusionCalls::ScopeOf(std::uint32_t call) const {
  FusionScope scope;
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

bool FusionCalls::Neighbours(std::uint32_t a, std::uint32_t b) const {
  const std::vector<EventIndex>& before = calls_.calls[a].kernels;
  const std::vector<EventIndex>& after = calls_.calls[b].kernels;
  if (after_check_[b])  // and nothing else: b comes next where nobody checks
    return events_.args_of(before.front()).stream == events_.args_of(after.front()).stream;
  const double gap =
      trace::MicrosOf(events_[after.front()].ts_ns - events_[before.back()].end_ns());
  return events_.args_of(before.front()).stream == events_.args_of(after.front()).stream &&
         gap >= 0 && gap <= limits::kFusionGapUs;
}

bool FusionCalls::AddsBiasFor(std::uint32_t convolution, std::uint32_t next) const {
  const FusionTraits& traits = TraitsOf(convolution);
  if (traits.kind != Kind::kConvolution || traits.shapes.size() < 2) return false;
  if (ContainsNoCase(NameOf(convolution), "backward")) return false;
  const EventIndex op = calls_.calls[convolution].op;
  bool adds = false;
  for (EventIndex e = tree_.parent(calls_.calls[convolution].kernels.back());
       e != kNoEvent && e != op; e = tree_.parent(e))
    adds = adds || events_.name(e) == "aten::add_" || events_.name(e) == "aten::add";
  const Shape& input = traits.shapes[0];
  const Shape& weight = traits.shapes[1];
  return adds && std::ranges::any_of(TraitsOf(next).shapes, [&](const Shape& shape) {
           return shape.size() == input.size() && shape.size() > 2 && shape[0] == input[0] &&
                  shape[1] == weight[0];
         });
}

bool FusionCalls::Any(const FusionInstance& instance,
                      std::initializer_list<std::string_view> parts) const {
  return std::any_of(instance.calls.begin(), instance.calls.end(),
                     [&](std::uint32_t call) { return ContainsAny(NameOf(call), parts); });
}

bool FusionCalls::InFrame(std::uint32_t call,
                          std::initializer_list<std::string_view> lower_parts) const {
  for (EventIndex e = tree_.parent(calls_.calls[call].op); e != kNoEvent; e = tree_.parent(e)) {
    if (events_[e].kind != trace::EventKind::kPythonFunction) continue;
    if (!analysis::ModuleClass(events_.name(e)).empty()) return false;
    if (ContainsAny(events_.name(e), lower_parts)) return true;
  }
  return false;
}

FusionKind FusionCalls::Composition(const FusionInstance& chain) const {
  if (chain.kind == FusionKind::kAttention) return FusionKind::kAttention;
  const bool mean = Any(chain, {"::mean", "::var", "::sum"});
  if (Any(chain, {"rsqrt"}) || (mean && Any(chain, {"::pow", "::var"}))) return FusionKind::kNorm;
  if (Any(chain, {"addcdiv", "addcmul", "::lerp"})) return FusionKind::kOptimizer;
  if (Any(chain, {"::neg"}) && Any(chain, {"::cat"})) return FusionKind::kRotary;
  if (InFrame(chain.calls.front(), {"rotary", "rotate_half", "apply_rope"}))
    return FusionKind::kRotary;
  if (Any(chain, {"silu", "gelu", "sigmoid", "tanh", "relu"})) return FusionKind::kActivation;
  return FusionKind::kChain;
}

FusionKind FusionCalls::Hint(const FusionInstance& instance) const {
  if (instance.scope.module == kNoEvent) return FusionKind::kChain;
  const std::string_view name = events_.name(instance.scope.module);
  if (ContainsAny(name, {"attention", "sdpa", "attn"})) return FusionKind::kAttention;
  if (ContainsAny(name, {"norm"})) return FusionKind::kNorm;
  if (ContainsAny(name, {"rotary", "rope"})) return FusionKind::kRotary;
  if (ContainsAny(name, {"silu", "swiglu", "gelu", "mlp", "activation", "feedforward"}))
    return FusionKind::kActivation;
  return FusionKind::kChain;
}

}  // namespace jarvis::findings
