#include "documents/bottlenecks.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/tables/summary.h"
#include "documents/base_text.h"
#include "documents/host_prose.h"
#include "documents/markdown_text.h"
#include "documents/report_parts.h"

namespace jarvis::documents {
namespace {

struct Bottleneck {
  std::string name;
  double ms = 0;  // of all units of the base
  bool computes = false;
  std::string achieved = std::string(kAbsentText);
  int priority = 0;  // of the finding that is about it; 0: none
};

// The first finding about an operation, or about a chain that it is in.
int PriorityOf(const findings::Analysis& analysis, const findings::Operation& operation) {
  const auto has = [](const std::vector<std::string>& all, const std::string& id) {
    return std::find(all.begin(), all.end(), id) != all.end();
  };
  for (const findings::Finding& finding : analysis.findings) {
    if (has(finding.members, operation.id)) return finding.global_rank;
    for (const findings::FusionCandidate& candidate : analysis.fusion.candidates) {
      if (has(candidate.operations, operation.id) && has(finding.members, candidate.id))
        return finding.global_rank;
    }
  }
  return 0;
}

// Whether the most of its time is that of communication kernels, which are no part of computing.
bool IsCommunication(const findings::Operation& operation) {
  return !operation.kernels.empty() &&
         analysis::ClassOf(trace::EventKind::kKernel, operation.kernels.front().name,
                           analysis::Communicators::kAll) == analysis::WorkClass::kCommunication;
}

// An operation with its shapes, as far as they fit a cell. What no op launched is known by its
// longest kernel.
std::string OperationCell(const findings::Operation& operation) {
  constexpr std::size_t kArgsMax = 70;
  const std::string_view name = operation.name;
  if ((name.starts_with("cuda") || name.starts_with("hip")) && name.find("Launch") != name.npos &&
      !operation.kernels.empty()) {
    return "Kernels launched outside of any op, most of it " +
           Code(analysis::ShortKernelName(operation.kernels.front().name), 60);
  }
  const std::string args = ArgsText(operation.args);
  const bool shown = !operation.args.empty() && args.size() <= kArgsMax;
  return Code(operation.name, 60) + (shown ? " " + args : "");
}

void AddOperations(const findings::Analysis& analysis, std::size_t count,
                   std::vector<Bottleneck>* out) {
  std::size_t added = 0;
  for (const findings::Operation* op : TopOperations(analysis, 4 * count)) {
    if (IsCommunication(*op) || added == count) continue;
    ++added;
    out->push_back({OperationCell(*op), OwnMs(*op), true, AchievedText(op->efficiency),
                    PriorityOf(analysis, *op)});
  }
}

// Communication beside computing costs nothing: what counts is what nothing hides, by kind.
void AddCommunication(const findings::Analysis& analysis, std::vector<Bottleneck>* out) {
  std::map<std::string, std::pair<std::uint64_t, double>> kinds;  // calls, exposed ms
  for (const findings::CollectiveRow& row : analysis.multi_kernel.collectives) {
    auto& [calls, ms] = kinds[row.name];
    calls += row.count;
    ms += row.exposed_us / 1000;
  }
  // Rows are of the whole recording; no more than the steps' own part is a cost of theirs.
  const double own = static_cast<double>(analysis.base.balance.exposed_comm_ns) / 1e6;
  const auto found =
      std::find_if(analysis.findings.begin(), analysis.findings.end(),
                   [](const findings::Finding& one) { return one.subject == "communication"; });
  const int priority = found == analysis.findings.end() ? 0 : found->global_rank;
  for (const auto& [name, sum] : kinds) {
    out->push_back(
        {fmt::format("{}, {} that computing does not hide", Code(name, 60), Calls(sum.first)),
         std::min(sum.second, own), false, std::string(kAbsentText), priority});
  }
}

void AddHost(const findings::Analysis& analysis, std::vector<Bottleneck>* out) {
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.host == nullptr || finding.one_off || finding.host->idle_ms <= 0) continue;
    std::string title = HostTitle(analysis, finding);
    // Its own time stands in the next column.
    if (finding.host->kind == findings::HostCauseKind::kSection || finding.host->ramp)
      title = title.substr(0, title.rfind(", "));
    out->push_back({"GPU idle: " + title, IdleMs(*finding.host), false, std::string(kAbsentText),
                    finding.global_rank});
  }
}

}  // namespace

std::string BottleneckTable(const findings::Analysis& analysis, std::size_t rows) {
  std::vector<Bottleneck> all;
  AddHost(analysis, &all);
  AddCommunication(analysis, &all);
  AddOperations(analysis, rows, &all);
  std::stable_sort(all.begin(), all.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.ms > b.ms; });
  MarkdownTable table({"Rank", "Operation", "Time", "% Compute",
                       "Share of the " + analysis.base.unit, "Achieved", "Priority"});
  const double computing = static_cast<double>(analysis.base.balance.computation_ns) / 1e6;
  for (const Bottleneck& one : all) {
    if (table.rows() == rows || one.ms <= 0) break;
    table.Row(
        {fmt::format("{}", table.rows() + 1), one.name, EachMs(analysis, one.ms),
         one.computes && computing > 0 ? Pct(one.ms / computing * 100) : std::string(kAbsentText),
         BaseShare(analysis, one.ms), one.achieved,
         one.priority > 0 ? fmt::format("{}", one.priority) : std::string(kAbsentText)});
  }
  return table.text() + "\n";
}

}  // namespace jarvis::documents
