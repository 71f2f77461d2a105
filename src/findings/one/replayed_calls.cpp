#include "findings/one/replayed_calls.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/align/role_rules.h"
#include "analysis/align/roles.h"
#include "analysis/host/runtime_calls.h"
#include "analysis/tables/summary.h"
#include "base/text.h"
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

}  // namespace

bool IsReplayCall(const trace::EventStore& events, const WorkCall& call) {
  return trace::IsLaunchCall(events[call.op].kind) && analysis::IsGraphLaunch(events.name(call.op));
}

bool HasReplays(const session::LoadedTrace& trace, std::span<const WorkCall> calls) {
  return std::any_of(calls.begin(), calls.end(),
                     [&](const WorkCall& call) { return IsReplayCall(trace.events(), call); });
}

std::vector<WorkCall> SplitReplays(const session::LoadedTrace& trace,
                                   std::span<const WorkCall> calls) {
  const trace::EventStore& events = trace.events();
  std::map<std::pair<StringId, std::string_view>, std::string> names;
  std::vector<WorkCall> out;
  for (const WorkCall& call : calls) {
    if (!IsReplayCall(events, call)) {
      out.push_back(call);
      continue;
    }
    const std::vector<std::string_view> roles = analysis::RolesByName(events, call.kernels);
    for (std::size_t i = 0; i < call.kernels.size(); ++i) {
      const EventIndex e = call.kernels[i];
      const std::string_view kernel = events.name(e);
      std::string& name = names[{events[e].name, roles[i]}];
      if (name.empty()) {
        name = analysis::ShortKernelName(kernel);
        if (roles[i] != analysis::kOtherRole) name += fmt::format(" [{}]", roles[i]);
      }
      WorkCall one;
      one.op = call.op;
      one.name = name;
      one.uid = events[e].uid;
      one.category = CategoryOfKernel(kernel, roles[i]);
      one.kernels = {e};
      one.kernel_us = trace::MicrosOf(events[e].dur_ns);
      one.owns_stack = false;
      out.push_back(std::move(one));
    }
  }
  return out;
}

}  // namespace jarvis::findings
