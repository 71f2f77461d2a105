#include "compat/tracelens_jax_kernels.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compat/python_set.h"
#include "table/py_text.h"
#include "trace/json_text.h"

namespace jarvis::compat {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::EventStore;

// The first that has a part which occurs in the name.
struct CategoryParts {
  std::string_view category;
  std::initializer_list<std::string_view> parts;
};

std::string_view CategoryIn(std::string_view name) {
  static const CategoryParts kCategories[] = {
      {"GEMM", {"Cijk", "gemm", "nvjet", "cublasLt"}},
      {"FA BWD", {"FmhaBwd", "flash_bprop", "ck_fused_attn::dk_dv_reduce_thd", "fmha_bwd"}},
      {"FA FWD", {"FmhaFwd", "flash_fprop", "fmha_fwd"}},
      {"FA V3", {"kernel_func"}},
      {"Conv", {"conv_", "conv.", "conv-"}},
      {"TE", {"transformer_engine", "te_fused_attn"}},
      {"Communication rccl/nccl", {"rccl", "nccl"}},
  };
  for (const CategoryParts& one : kCategories) {
    for (const std::string_view part : one.parts)
      if (JaxHas(name, part)) return one.category;
  }
  return {};
}

// An instruction's own category replaces that of the kernel, but for attention.
std::string_view CategoryOf(std::string_view kernel, std::string_view hlo_op) {
  const std::string_view by_name = CategoryIn(kernel);
  if (by_name.starts_with("FA ")) return by_name;
  const std::string_view by_op = CategoryIn(hlo_op);
  if (!by_op.empty()) return by_op;
  return by_name.empty() ? "Uncategorized Events/XLA" : by_name;
}

bool StartsNoCase(std::string_view text, std::string_view lower) {
  return EqualsNoCase(text.substr(0, lower.size()), lower);
}

// Up to the first character that the reference does not know there.
std::string CutMetadata(std::string_view text) {
  const auto known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_=\"()/ @.-").find(c) != std::string_view::npos;
  };
  const auto* end = std::ranges::find_if_not(text, known);
  return "metadata={" + std::string(text.begin(), end);
}

std::string TextAt(std::string_view members, std::string_view key) {
  return trace::Unescape(trace::Unquoted(trace::MemberOf(members, key)));
}

std::vector<std::string> TextsAt(std::string_view members, std::string_view key) {
  std::vector<std::string> texts;
  for (const std::string_view one : trace::ElementsOf(trace::MemberOf(members, key)))
    texts.push_back(trace::Unescape(trace::Unquoted(one)));
  return texts;
}

JaxOp ReadOp(std::string_view args) {
  constexpr std::size_t kCounted = 5;  // every so many operands HLO's text counts
  JaxOp op;
  op.known = trace::MemberOf(args, "root").empty();
  if (!op.known) return op;
  if (const std::string target = TextAt(args, "custom_call_target"); !target.empty())
    op.target = fmt::format("custom_call_target=\"{}\"", target);
  op.operands = TextsAt(args, "operands");
  const std::vector<std::string> names = TextsAt(args, "operand names");
  for (std::size_t i = kCounted; i < std::min(op.operands.size(), names.size()); i += kCounted)
    op.operands[i] = fmt::format("/*index={}*/%{}", i, names[i]);
  std::string metadata;
  const auto add = [&](std::string text) {
    metadata += (metadata.empty() ? "" : " ") + std::move(text);
  };
  if (const std::string type = TextAt(args, "op_type"); !type.empty())
    add(fmt::format("op_type=\"{}\"", type));
  if (const std::string name = TextAt(args, "op_name"); !name.empty())
    add(fmt::format("op_name=\"{}\"", name));
  // A frame of the call stack has the name of its function behind the line, and is no metadata.
  const std::string source = TextAt(args, "source");
  const std::size_t colon = source.rfind(':');
  if (colon != std::string::npos && ParseInt(std::string_view(source).substr(colon + 1)))
    add(fmt::format("source_file=\"{}\" source_line={}", source.substr(0, colon),
                    source.substr(colon + 1)));
  if (!metadata.empty()) op.metadata = CutMetadata(metadata);
  op.output = TextAt(args, "output");
  for (const std::string_view key : {"M", "N", "K", "B"}) {
    if (const auto size = trace::IntegerOf(trace::MemberOf(args, key))) op.product.push_back(*size);
  }
  op.bias = !trace::MemberOf(args, "bias").empty();
  return op;
}

using OpKey = std::tuple<std::string, std::string, std::string>;  // program, its id, instruction

}  // namespace

struct JaxProfile::Ops {
  std::map<OpKey, JaxOp> by_key;
  std::unordered_map<std::int64_t, EventIndex> launch;  // by correlation, the last
};

bool JaxHas(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

JaxOperand OperandOf(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find("]{");
  if (open == std::string_view::npos || close == std::string_view::npos || text.front() == '/')
    return {};
  return {text.substr(0, open), text.substr(open + 1, close - open - 1)};
}

JaxProfile::JaxProfile(const EventStore& events) : events_(events) {
  FindOps();
  FindGpus();
}

void JaxProfile::FindOps() {
  auto ops = std::make_shared<Ops>();
  for (EventIndex e = 0; e < events_.size(); ++e) {
    const trace::Event& event = events_[e];
    const trace::Args& args = events_.args_of(e);
    if (trace::IsLaunchCall(event.kind) && args.correlation != trace::kAbsent)
      ops->launch[args.correlation] = e;
    if (args.known_as == kNoString) continue;
    const std::string_view other = events_.text(args.other);
    const OpKey key{TextAt(other, "hlo_module"), std::string(trace::MemberOf(other, "program_id")),
                    std::string(events_.name(e))};
    if (!ops->by_key.contains(key)) ops->by_key.emplace(key, ReadOp(other));
  }
  ops_ = std::move(ops);
}

void JaxProfile::FindGpus() {
  std::vector<EventIndex> order;
  for (EventIndex e = 0; e < events_.size(); ++e) {
    if (trace::IsGpuWork(events_[e].kind)) order.push_back(e);
  }
  const auto key = [&](EventIndex e) {
    const trace::Track& track = events_.tracks[events_[e].track];
    return std::tuple(ParseInt(track.pid).value_or(0), ParseInt(track.tid).value_or(0),
                      events_.ts_us(e), -events_.dur_us(e), e);
  };
  std::sort(order.begin(), order.end(),
            [&](EventIndex a, EventIndex b) { return key(a) < key(b); });
  std::map<std::uint64_t, JaxGpu> by_pid;
  std::vector<std::uint64_t> pids;
  std::int64_t uid = 0;
  for (const EventIndex e : order) {
    const std::int64_t pid = std::get<0>(key(e)) + 1;
    const auto [gpu, added] = by_pid.try_emplace(static_cast<std::uint64_t>(pid));
    if (added) pids.push_back(gpu->first);
    gpu->second.pid = pid;
    gpu->second.all.push_back(e);
    const std::string_view name = events_.name(e);
    if (StartsNoCase(name, "copy") || StartsNoCase(name, "memcpy")) {
      gpu->second.copies.push_back(e);
    } else {
      gpu->second.kernels.push_back(e);
      if (!StartsNoCase(name, "memset")) AddKernel(e, uid, pid);
    }
    ++uid;
  }
  for (const std::uint64_t pid : InPythonSetOrder(pids))
    gpus_.push_back(std::move(by_pid.at(pid)));
}

void JaxProfile::AddKernel(EventIndex e, std::int64_t uid, std::int64_t pid) {
  JaxKernel& kernel = kernels_.emplace_back();
  kernel.event = e;
  kernel.uid = uid;
  kernel.gpu_pid = pid;
  const trace::Args& args = events_.args_of(e);
  const std::string_view other = events_.text(args.other);
  const std::string hlo_op = TextAt(other, "hlo_op");
  kernel.category = CategoryOf(events_.name(e), hlo_op);
  const auto launch = ops_->launch.find(args.correlation);
  if (launch != ops_->launch.end()) {
    kernel.latency_us = events_.ts_us(e) - events_.ts_us(launch->second);
    const auto found = ops_->by_key.find(
        {TextAt(other, "hlo_module"), std::string(trace::MemberOf(other, "program_id")), hlo_op});
    if (found != ops_->by_key.end() && found->second.known) kernel.op = &found->second;
  }
  AddArguments(&kernel);
}

void JaxProfile::AddArguments(JaxKernel* kernel) const {
  std::vector<JaxOperand> operands;
  if (kernel->op != nullptr) {
    for (const std::string& text : kernel->op->operands) {
      if (const JaxOperand operand = OperandOf(text); !operand.type.empty())
        operands.push_back(operand);
    }
  }
  const auto tuple_of = [](std::string_view dims) {
    std::string text = "(";
    for (const char c : dims)
      text += c == ',' ? std::string(", ") : std::string(1, c);
    return text + (dims.find(',') == std::string_view::npos && !dims.empty() ? ",)" : ")");
  };
  const auto listed = [](const std::vector<std::string>& items) {
    std::string text = "(";
    for (std::size_t i = 0; i < items.size(); ++i)
      text += (i == 0 ? "" : ", ") + items[i];
    return text + (items.size() == 1 ? ",)" : ")");
  };
  // Attention has a bias behind its three tensors.
  constexpr std::size_t kAttended = 3;
  const bool attention = kernel->op != nullptr && JaxHas(kernel->op->target, "te_fused_attn") &&
                         operands.size() > kAttended &&
                         std::ranges::count(operands[0].dims, ',') == 3;
  std::vector<std::string> dims, types;
  for (std::size_t i = 0; i < operands.size() && !(attention && i == kAttended); ++i) {
    dims.push_back(tuple_of(operands[i].dims));
    types.push_back(PyString(operands[i].type));
  }
  kernel->dims = listed(dims);
  kernel->types = listed(types);
  kernel->concrete = attention ? listed({tuple_of(operands[kAttended].dims)}) : "()";
}

}  // namespace jarvis::compat
