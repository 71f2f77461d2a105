#include <algorithm>

#include <fmt/format.h>

#include "analysis/tables/callers.h"
#include "base/text.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/trace/trace_tools.h"
#include "trace/how_to_record.h"

namespace jarvis::tools {
namespace {

using analysis::Caller;
using analysis::GroupBy;
using analysis::SummaryRow;
using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kSubtreeNodesMax = 40;
constexpr std::size_t kNameBytesMax = 200;       // of an op or a module in a tree
constexpr std::size_t kFullNameBytesMax = 2000;  // the longest of kernels have about 1,500

Result<const SummaryRow*> FindRow(const session::LoadedTrace& trace, const std::string& id) {
  const SummaryRow* row = trace.FindRow(id);
  if (row == nullptr) {
    return Fail(
        ErrorCode::kUnknownRow,
        fmt::format("no row \"{}\" in trace {}: op1..op{} are ops, k1..k{} kernels (by rank)",
                    id.substr(0, 40), trace.id(), trace.SummaryBy(GroupBy::kOp).rows.size(),
                    trace.SummaryBy(GroupBy::kKernel).rows.size()),
        fmt::format("ops_summary {{\"trace\":\"{}\"}}", trace.id()));
  }
  if (row->launchers.empty()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("row \"{}\" ({}) is no operation: it has no callers", id,
                            OneLine(Utf8Prefix(ShownName(*row), kNameBytesMax))),
                fmt::format("ops_summary {{\"trace\":\"{}\",\"by\":\"op\"}}", trace.id()));
  }
  return row;
}

// Kernels go by a short name, with the id under which ops_summary by kernel has them.
std::string NodeName(const analysis::SubtreeNode& node, const session::LoadedTrace& trace) {
  if (node.kind != "kernel") return OneLine(Utf8Prefix(node.name, kNameBytesMax));
  const std::vector<SummaryRow>& kernels = trace.SummaryBy(GroupBy::kKernel).rows;
  const auto row = std::find_if(kernels.begin(), kernels.end(),
                                [&](const SummaryRow& kernel) { return kernel.name == node.name; });
  const std::string name = OneLine(analysis::ShortKernelName(node.name));
  return row == kernels.end() ? name : fmt::format("{} ({})", name, row->id);
}

// The row's name as answers show it; where that is not all of it, the whole goes into the facts.
std::string RowName(const SummaryRow& row, Answer* answer) {
  const std::string name = ShownName(row);
  if (name != row.name) answer->facts["full_name"] = Utf8Prefix(row.name, kFullNameBytesMax);
  return name;
}

Cell TextCell(std::string text) {
  return text.empty() ? Cell() : Cell(std::move(text));
}

std::string Joined(const std::vector<std::string>& parts, std::string_view by) {
  std::string joined;
  for (const std::string& part : parts)
    joined += (joined.empty() ? "" : std::string(by)) + part;
  return joined;
}

void AnswerCallers(const session::LoadedTrace& trace, const SummaryRow& row, const Json& arguments,
                   Answer* answer) {
  const std::vector<Caller>& callers = trace.CallersOf(row);
  const auto limit = arguments.at("limit").get<std::size_t>();
  const auto depth = arguments.at("depth").get<std::size_t>();
  answer->columns = {"chain", "gpu_ms", "percent_of_row", "count", "module",
                     "code",  "ops",    "example_uid"};
  double row_us = 0;
  for (const Caller& caller : callers)
    row_us += caller.gpu_us;
  for (std::size_t i = 0; i < callers.size() && i < limit; ++i) {
    const Caller& caller = callers[i];
    answer->rows.push_back(
        {fmt::format("c{}", i + 1), caller.gpu_us / 1000, CellOf(Percent(caller.gpu_us, row_us)),
         static_cast<std::int64_t>(caller.count), TextCell(analysis::ModulePath(caller.frames)),
         TextCell(Joined(analysis::CodePlaces(caller.frames, depth), " < ")),
         caller.example == kNoEvent ? Cell(std::string("(unlinked)"))
                                    : TextCell(analysis::OpPath(caller.frames)),
         caller.example == kNoEvent
             ? Cell()
             : Cell(static_cast<std::int64_t>(trace.events()[caller.example].uid))});
  }
  answer->total = callers.size();
  answer->summary = fmt::format("{} {}: {} calls, {} ms, called from {} place{}.", row.id,
                                RowName(row, answer), row.count, output::Rounded(row_us / 1000),
                                callers.size(), callers.size() == 1 ? "" : "s");
  const session::Recorded& recorded = trace.recorded();
  if (!recorded.python_frames) {
    answer->notes.push_back(
        "[no_stacks] no Python frames in the trace: record with " +
        trace::PlainWords(trace::HowToRecordNext(trace.trace().metadata).stacks));
  } else {
    answer->notes.push_back("code: innermost caller first; instances of a module are folded");
  }
  answer->next = {{"parent_chain",
                   {{"trace", trace.id()}, {"row", row.id}, {"mode", "subtree"}},
                   "what one call does"}};
}

// The first of the row's calls that takes the most time.
EventIndex CostliestCall(const session::LoadedTrace& trace, const SummaryRow& row) {
  const analysis::Launcher* best = nullptr;
  for (const std::uint32_t i : row.launchers) {
    const analysis::Launcher& launcher = trace.attribution().launchers[i];
    if (launcher.op == kNoEvent) continue;
    if (best == nullptr || launcher.subtree_us > best->subtree_us) best = &launcher;
  }
  return best == nullptr ? kNoEvent : best->op;
}

void AnswerTree(const session::LoadedTrace& trace, EventIndex root, const Json& arguments,
                Answer* answer) {
  const auto nodes = analysis::PrintableSubtree(trace.Input(), root,
                                                arguments.at("depth").get<int>(), kSubtreeNodesMax);
  for (const analysis::SubtreeNode& node : nodes) {
    if (!answer->block.empty()) answer->block += '\n';
    answer->block += std::string(static_cast<std::size_t>(node.depth) * 2, ' ');
    answer->block += fmt::format("{} [{}] gpu {} µs", NodeName(node, trace), node.kind,
                                 output::Rounded(node.gpu_us));
    if (node.host_us > 0)
      answer->block += fmt::format(", host {} µs", output::Rounded(node.host_us));
    if (node.kind != "more") answer->block += fmt::format(" (uid {})", node.uid);
  }
}

// The event whose parts are the siblings of `call`: the nearest module around it, else its caller.
EventIndex FamilyOf(const session::LoadedTrace& trace, EventIndex call) {
  const tree::CallTree& tree = trace.tree();
  for (EventIndex up = tree.parent(call); up != kNoEvent; up = tree.parent(up)) {
    if (!analysis::ModuleClass(trace.events().name(up)).empty()) return up;
  }
  return tree.parent(call) == kNoEvent ? call : tree.parent(call);
}

}  // namespace

Result<Answer> ParentChain(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(const SummaryRow* row, FindRow(*trace, arguments.at("row").get<std::string>()));
  const std::string mode = arguments.at("mode").get<std::string>();
  Answer answer;
  answer.facts = Json::object();
  answer.trace = trace->id();
  if (mode == "callers") {
    AnswerCallers(*trace, *row, arguments, &answer);
    return answer;
  }
  const EventIndex call = CostliestCall(*trace, *row);
  if (call == kNoEvent) {
    answer.summary = fmt::format("{} {} is unlinked GPU work: no call of it is in the trace.",
                                 row->id, RowName(*row, &answer));
    return answer;
  }
  const EventIndex root = mode == "subtree" ? call : FamilyOf(*trace, call);
  answer.summary = fmt::format("{} of the costliest call of {} {} (uid {}), by time below it.",
                               mode == "subtree" ? "Subtree" : "Siblings", row->id,
                               RowName(*row, &answer), trace->events()[call].uid);
  AnswerTree(*trace, root, arguments, &answer);
  answer.next = {{"parent_chain", {{"trace", trace->id()}, {"row", row->id}}, "who calls it"}};
  return answer;
}

}  // namespace jarvis::tools
