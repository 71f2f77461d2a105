// Relations of which each row is an event.
#include "base/text.h"
#include "query/catalogue_parts.h"
#include "trace/json_text.h"

namespace jarvis::query {
namespace {

using analysis::GroupBy;
using trace::Event;
using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

std::string_view KindText(EventKind kind) {
  switch (kind) {
    case EventKind::kCpuOp: return "op";
    case EventKind::kUserAnnotation: return "annotation";
    case EventKind::kPythonFunction: return "python";
    case EventKind::kRuntime: return "runtime";
    case EventKind::kDriver: return "driver";
    case EventKind::kKernel: return "kernel";
    case EventKind::kMemcpy: return "memcpy";
    case EventKind::kMemset: return "memset";
    default: return "other";
  }
}

// "torch/nn/module.py(1511): _call_impl" in its parts; `file` is empty where the name is no place.
struct CodeName {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view function;
};
CodeName CodeNameOf(std::string_view name) {
  const std::size_t colon = name.find("): ");
  const std::size_t open = colon == std::string_view::npos ? colon : name.rfind('(', colon);
  if (open == std::string_view::npos) return {{}, 0, name};
  const auto line = trace::IntegerOf(name.substr(open + 1, colon - open - 1));
  if (!line) return {{}, 0, name};
  return {name.substr(0, open), *line, name.substr(colon + 3)};
}

// "Memcpy HtoD (Pageable -> Device)": the kinds of memory; empty where they are not told.
std::pair<std::string_view, std::string_view> MemoriesOf(std::string_view name) {
  const std::size_t open = name.rfind('(');
  const std::size_t arrow = name.rfind(" -> ");
  if (!name.starts_with("Memcpy") || !name.ends_with(')') || open == std::string_view::npos ||
      arrow == std::string_view::npos || arrow < open)
    return {};
  return {name.substr(open + 1, arrow - open - 1), name.substr(arrow + 4, name.size() - arrow - 5)};
}

}  // namespace

void Catalogue::Parts::MakeHostSums() {
  if (!self_ns_.empty()) return;
  self_ns_.resize(events_.size());
  depth_.resize(events_.size());
  below_ns_.resize(events_.size());
  const auto order = tree_.preorder();
  for (const EventIndex e : order) {  // callers before those whom they call
    self_ns_[e] += events_[e].dur_ns;
    const EventIndex parent = tree_.parent(e);
    if (parent == kNoEvent) continue;
    self_ns_[parent] -= events_[e].dur_ns;
    depth_[e] = depth_[parent] + 1;
  }
  for (auto e = order.rbegin(); e != order.rend(); ++e) {
    for (const EventIndex gpu : tree_.GpuOf(*e))
      below_ns_[*e] += events_[gpu].dur_ns;
    const EventIndex parent = tree_.parent(*e);
    if (parent != kNoEvent) below_ns_[parent] += below_ns_[*e];
  }
}

void Catalogue::Parts::MakeOwners() {
  if (!op_of_.empty()) return;
  op_of_.assign(events_.size(), kNoEvent);
  launcher_of_.assign(events_.size(), kNone);
  kernel_row_.assign(events_.size(), kNone);
  const analysis::Attribution& all = trace_.attribution();
  op_row_.assign(all.launchers.size(), kNone);
  for (std::uint32_t i = 0; i < all.launchers.size(); ++i) {
    const analysis::Launcher& launcher = all.launchers[i];
    if (launcher.op == kNoEvent || events_[launcher.op].kind != EventKind::kCpuOp) continue;
    launcher_of_[launcher.op] = i;
    for (const EventIndex gpu : all.KernelsOf(launcher))
      op_of_[gpu] = launcher.op;
  }
  const auto& ops = trace_.SummaryBy(GroupBy::kOp).rows;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    for (const std::uint32_t launcher : ops[row].launchers)
      op_row_[launcher] = row;
  }
  const auto& kernels = trace_.SummaryBy(GroupBy::kKernel).rows;
  for (std::uint32_t row = 0; row < kernels.size(); ++row) {
    for (const EventIndex gpu : kernels[row].gpu)
      kernel_row_[gpu] = row;
  }
}

Relation Catalogue::Parts::GpuWork() {
  MakeOwners();
  const Rows rows = Select([](EventKind kind) { return trace::IsGpuWork(kind); });
  const auto of = [rows, this](auto cell) {
    return [rows, cell, this](std::size_t row) -> Value {
      const EventIndex e = (*rows)[row];
      return cell(e, events_[e]);
    };
  };
  const auto arg = [this](EventIndex e, std::string_view key) {
    return trace::MemberOf(events_.text(events_.args_of(e).other), key);
  };
  const auto number = [&](std::string_view key) {
    return of([arg, key](EventIndex e, const Event&) {
      const auto value = trace::IntegerOf(arg(e, key));
      return value ? Value(*value) : Value();
    });
  };
  const auto& kernels = trace_.SummaryBy(GroupBy::kKernel).rows;
  return {
      rows->size(),
      {of([this](EventIndex e, const Event&) { return IdOf(e); }),
       of([this](EventIndex e, const Event&) -> Value { return events_.name(e); }),
       of([](EventIndex, const Event& event) -> Value { return KindText(event.kind); }),
       of([](EventIndex, const Event& event) -> Value { return event.ts_ns; }),
       of([](EventIndex, const Event& event) -> Value { return event.end_ns(); }),
       of([](EventIndex, const Event& event) -> Value { return event.dur_ns; }),
       of([this](EventIndex, const Event& event) {
         return TextOr(events_.tracks[event.track].pid);
       }),
       of([this](EventIndex e, const Event&) { return StreamOf(e); }),
       of([this](EventIndex e, const Event&) { return IdOf(tree_.parent(e)); }),
       of([this](EventIndex e, const Event&) { return IdOf(op_of_[e]); }),
       of([this, &kernels](EventIndex e, const Event&) -> Value {
         return kernel_row_[e] == kNone ? Value()
                                        : Value(std::string_view(kernels[kernel_row_[e]].id));
       }),
       of([this](EventIndex e, const Event&) { return StepOf(e); }),
       number("bytes"),
       of([arg](EventIndex e, const Event&) {
         const auto value = ParseDouble(arg(e, "memory bandwidth (GB/s)"));
         return value ? Value(*value) : Value();
       }),
       of([this](EventIndex e, const Event&) { return TextOr(MemoriesOf(events_.name(e)).first); }),
       of([this](EventIndex e, const Event&) {
         return TextOr(MemoriesOf(events_.name(e)).second);
       }),
       of([arg](EventIndex e, const Event&) { return TextOr(arg(e, "grid")); }),
       of([arg](EventIndex e, const Event&) { return TextOr(arg(e, "block")); }),
       number("registers per thread"),
       number("shared memory"),
       number("graph id")}};
}

Relation Catalogue::Parts::HostCalls() {
  MakeHostSums();
  const Rows rows = Select([](EventKind kind) { return tree::IsHost(kind); });
  const auto of = [rows, this](auto cell) {
    return [rows, cell, this](std::size_t row) -> Value {
      const EventIndex e = (*rows)[row];
      return cell(e, events_[e]);
    };
  };
  return {rows->size(),
          {of([this](EventIndex e, const Event&) { return IdOf(e); }),
           of([this](EventIndex e, const Event&) { return IdOf(tree_.parent(e)); }),
           of([](EventIndex, const Event& event) -> Value { return KindText(event.kind); }),
           of([this](EventIndex e, const Event&) -> Value { return events_.name(e); }),
           of([](EventIndex, const Event& event) -> Value { return event.ts_ns; }),
           of([](EventIndex, const Event& event) -> Value { return event.end_ns(); }),
           of([](EventIndex, const Event& event) -> Value { return event.dur_ns; }),
           of([this](EventIndex e, const Event&) -> Value {
             return std::max<std::int64_t>(0, self_ns_[e]);
           }),
           of([this](EventIndex, const Event& event) {
             return TextOr(events_.tracks[event.track].pid);
           }),
           of([this](EventIndex, const Event& event) {
             return TextOr(events_.tracks[event.track].tid);
           }),
           of([this](EventIndex e, const Event&) -> Value { return std::int64_t{depth_[e]}; }),
           of([this](EventIndex e, const Event&) { return Known(events_.args_of(e).correlation); }),
           of([this](EventIndex e, const Event&) -> Value { return below_ns_[e]; }),
           of([this](EventIndex e, const Event&) {
             return tree_.position(e) == tree::kNoPosition ? Value()
                                                           : Count(tree_.GpuBelow(e).size());
           })}};
}

Relation Catalogue::Parts::PythonFrames() {
  MakeHostSums();
  const Rows rows = Select([](EventKind kind) { return kind == EventKind::kPythonFunction; });
  const auto of = [rows, this](auto cell) {
    return [rows, cell, this](std::size_t row) -> Value { return cell((*rows)[row]); };
  };
  return {rows->size(),
          {of([this](EventIndex e) { return IdOf(e); }),
           of([this](EventIndex e) { return IdOf(tree_.parent(e)); }),
           of([this](EventIndex e) { return TextOr(analysis::ModuleClass(events_.name(e))); }),
           of([this](EventIndex e) { return TextOr(CodeNameOf(events_.name(e)).file); }),
           of([this](EventIndex e) -> Value {
             const CodeName code = CodeNameOf(events_.name(e));
             return code.file.empty() ? Value() : Value(code.line);
           }),
           of([this](EventIndex e) { return TextOr(CodeNameOf(events_.name(e)).function); }),
           of([this](EventIndex e) -> Value { return events_.name(e); }),
           of([this](EventIndex e) -> Value { return events_[e].ts_ns; }),
           of([this](EventIndex e) -> Value { return events_[e].end_ns(); }),
           of([this](EventIndex e) -> Value { return events_[e].dur_ns; }),
           of([this](EventIndex e) -> Value { return std::max<std::int64_t>(0, self_ns_[e]); }),
           of([this](EventIndex e) { return TextOr(events_.tracks[events_[e].track].tid); }),
           of([this](EventIndex e) -> Value { return below_ns_[e]; })}};
}

Relation Catalogue::Parts::Ops() {
  MakeHostSums();
  MakeOwners();
  const Rows rows = Select([](EventKind kind) { return kind == EventKind::kCpuOp; });
  const auto of = [rows, this](auto cell) {
    return [rows, cell, this](std::size_t row) -> Value { return cell((*rows)[row]); };
  };
  const auto launched = [this](EventIndex e) {
    return launcher_of_[e] == kNone
               ? std::span<const EventIndex>()
               : trace_.attribution().KernelsOf(trace_.attribution().launchers[launcher_of_[e]]);
  };
  const auto& all = trace_.SummaryBy(GroupBy::kOp).rows;
  const auto arg = [&](StringId trace::Args::*member) {
    return of(
        [this, member](EventIndex e) { return TextOr(events_.text(events_.args_of(e).*member)); });
  };
  return {rows->size(),
          {of([this](EventIndex e) { return IdOf(e); }),
           of([this](EventIndex e) { return IdOf(tree_.parent(e)); }),
           of([this, &all](EventIndex e) -> Value {
             const std::uint32_t launcher = launcher_of_[e];
             if (launcher == kNone || op_row_[launcher] == kNone) return {};
             return std::string_view(all[op_row_[launcher]].id);
           }),
           of([this](EventIndex e) -> Value { return events_.name(e); }),
           of([this](EventIndex e) -> Value {
             return launcher_of_[e] == kNone
                        ? Value()
                        : TextOr(trace_.attribution().CategoryOf(
                              trace_.attribution().launchers[launcher_of_[e]]));
           }),
           of([this](EventIndex e) -> Value { return events_[e].ts_ns; }),
           of([this](EventIndex e) -> Value { return events_[e].end_ns(); }),
           of([this](EventIndex e) -> Value { return events_[e].dur_ns; }),
           of([this](EventIndex e) -> Value { return std::max<std::int64_t>(0, self_ns_[e]); }),
           of([this](EventIndex e) { return TextOr(events_.tracks[events_[e].track].tid); }),
           of([this](EventIndex e) { return ModuleOf(e); }), arg(&trace::Args::dims),
           arg(&trace::Args::types), arg(&trace::Args::strides), arg(&trace::Args::concrete),
           of([this](EventIndex e) { return Known(events_.args_of(e).sequence); }),
           of([this](EventIndex e) { return IdOf(tree_.ForwardOf(e)); }),
           of([this, launched](EventIndex e) -> Value {
             std::int64_t sum = 0;
             for (const EventIndex gpu : launched(e))
               sum += events_[gpu].dur_ns;
             return sum;
           }),
           of([launched](EventIndex e) { return Count(launched(e).size()); })}};
}

}  // namespace jarvis::query
