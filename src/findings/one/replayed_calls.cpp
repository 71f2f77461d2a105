#include "findings/one/replayed_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/align/role_rules.h"
#include "analysis/align/roles.h"
#include "analysis/attribution/stats.h"
#include "analysis/host/runtime_calls.h"
#include "analysis/tables/summary.h"
#include "base/text.h"
#include "findings/one/kernel_categories.h"
#include "perf/model_rows.h"
#include "perf/op_category.h"

namespace jarvis::findings {
namespace {

using analysis::WorkCall;
using trace::EventIndex;

// The category of a part of a model; empty: the kernel's name must tell.
std::string_view CategoryOfRole(std::string_view role) {
  constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
      {"communication", "CustomCollective"},
      {"router", "MoE_aux"},
      {"experts", "MoE_fused"},
      {"attention", "InferenceAttention"},
      {"kv cache", "InferenceAttention"},
      {"rotary embedding", "RoPE_fwd"},
      {"norm", "NORM_fwd"},
      {"convolution", "CONV_fwd"},
      {"mlp activation", "elementwise"},
      {"copies and fills", "elementwise"},
      {"embedding", "index"},
      {"sampling", "reduce"},
      {"attention projections", "GEMM"},
      {"logits", "GEMM"},
      {"mlp up", "GEMM"},
      {"mlp down", "GEMM"},
      {analysis::kProductRole, "GEMM"},
  };
  for (const auto& [name, category] : kCategories) {
    if (name == role) return category;
  }
  return {};
}

// A product that scatters, gathers or finalises for experts multiplies nothing.
std::string_view CategoryOfKernel(std::string_view kernel, std::string_view role) {
  if (kernel.starts_with("triton_")) return "triton";
  if (role == "router" && ContainsNoCase(kernel, "cijk_")) return "GEMM";
  const std::string_view by_role = CategoryOfRole(role);
  if (!by_role.empty()) return by_role;
  return perf::CategoryOfOp(perf::BuiltinRows(), {}, kernel);
}

// What a kernel outside of graphs is for, where no op tells it.
std::string_view CategoryWithoutOps(std::string_view kernel, std::string_view role) {
  const std::string_view named = CategoryByName(kernel);
  return named.empty() ? WithoutDirection(CategoryOfKernel(kernel, role)) : named;
}

// The call's kernels that a graph launch replayed, or any launch in a recording without ops, where
// nobody knows what they compute.
std::vector<EventIndex> ReplayedOf(const session::LoadedTrace& trace, const WorkCall& call) {
  std::vector<EventIndex> out;
  const perf::OpWork* work = call.work;
  const bool modelled = work != nullptr && work->failure == perf::OpWork::Failure::kNone &&
                        (work->flops || work->bytes);
  if (modelled) return out;
  for (const EventIndex e : call.kernels) {
    const EventIndex launch = trace.tree().parent(e);
    // Without ops a launch is all that is known of any kernel.
    const bool replayed =
        launch != trace::kNoEvent && !trace.OfCapture(launch) &&
        trace::IsLaunchCall(trace.events()[launch].kind) &&
        (!trace.recorded().cpu_ops || analysis::IsGraphLaunch(trace.events().name(launch)));
    if (replayed) out.push_back(e);
  }
  return out;
}

class ReplaySplitter {
 public:
  explicit ReplaySplitter(const session::LoadedTrace& trace)
      : trace_(trace), events_(trace.events()), roles_(events_) {}

  void Add(const WorkCall& call) {
    const std::vector<EventIndex> replayed = ReplayedOf(trace_, call);
    if (replayed.size() < call.kernels.size()) Rest(call, replayed);
    const std::vector<std::string_view> roles = roles_.Of(replayed);
    for (std::size_t i = 0; i < replayed.size(); ++i)
      One(replayed[i], roles[i]);
  }

  std::vector<WorkCall> Take() && { return std::move(out_); }

 private:
  // What the call launched beside the replay: copies into its inputs.
  void Rest(const WorkCall& call, const std::vector<EventIndex>& replayed) {
    WorkCall rest = call;
    if (!replayed.empty()) {
      const std::set<EventIndex> gone(replayed.begin(), replayed.end());
      std::erase_if(rest.kernels, [&](EventIndex e) { return gone.contains(e); });
      rest.kernel_us = analysis::BusyUs(events_, rest.kernels, trace_.attribution().clock);
    }
    if (rest.category == "other") rest.category = CategoryOfCaptured(rest);
    out_.push_back(std::move(rest));
  }

  // Of a call of the capture whose op tells nothing: what its longest kernel tells.
  std::string_view CategoryOfCaptured(const WorkCall& call) {
    if (call.kernels.empty() || !trace_.OfCapture(call.op)) return call.category;
    const auto longest = std::max_element(
        call.kernels.begin(), call.kernels.end(),
        [&](EventIndex a, EventIndex b) { return events_[a].dur_ns < events_[b].dur_ns; });
    const auto roles = roles_.Of(call.kernels);
    const auto at = static_cast<std::size_t>(longest - call.kernels.begin());
    return CategoryOfKernel(events_.name(*longest), roles[at]);
  }

  // By name and role.
  struct Named {
    std::string name;
    std::string_view category;
  };
  Named NamedOf(std::string_view kernel, std::string_view role) const {
    Named named{analysis::ShortKernelName(kernel), trace_.recorded().cpu_ops
                                                       ? CategoryOfKernel(kernel, role)
                                                       : CategoryWithoutOps(kernel, role)};
    if (role != analysis::kOtherRole) named.name += fmt::format(" [{}]", role);
    return named;
  }

  void One(EventIndex e, std::string_view role) {
    const auto [known, added] = names_.try_emplace({events_[e].name, role});
    if (added) known->second = NamedOf(events_.name(e), role);
    WorkCall one;
    one.op = trace_.tree().parent(e);
    one.name = known->second.name;
    one.uid = events_[e].uid;
    one.category = known->second.category;
    one.kernels = {e};
    one.kernel_us = trace::MicrosOf(events_[e].dur_ns);
    one.owns_stack = false;
    out_.push_back(std::move(one));
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  analysis::NamedRoles roles_;
  std::map<std::pair<StringId, std::string_view>, Named> names_;
  std::vector<WorkCall> out_;
};

}  // namespace

bool IsReplayCall(const trace::EventStore& events, const WorkCall& call) {
  return trace::IsLaunchCall(events[call.op].kind) && analysis::IsGraphLaunch(events.name(call.op));
}

bool HasReplays(const session::LoadedTrace& trace, std::span<const WorkCall> calls) {
  return trace.capture().replays > 0 ||
         std::any_of(calls.begin(), calls.end(),
                     [&](const WorkCall& call) { return !ReplayedOf(trace, call).empty(); });
}

std::vector<WorkCall> SplitReplays(const session::LoadedTrace& trace,
                                   std::span<const WorkCall> calls) {
  ReplaySplitter splitter(trace);
  for (const WorkCall& call : calls)
    splitter.Add(call);
  return std::move(splitter).Take();
}

}  // namespace jarvis::findings
