#include "session/work_report.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/tables/family_table.h"
#include "analysis/tables/unified_table.h"
#include "base/parallel.h"

namespace jarvis::session {
namespace {

using analysis::WorkCall;

class WorkReport {
 public:
  WorkReport(const ReportParts& parts, const ReportOptions& options,
             const analysis::TableInput& input)
      : parts_(parts), reading_(parts.reading), options_(options), input_(input) {
    table_options_.metrics = {options.platform ? &*options.platform : nullptr, reading_.roof_rule};
    table_options_.call_stacks = options.include_call_stack;
    table_options_.stacks_in_kernel_cells = reading_.stacks_in_kernel_cells;
    table_options_.parts_repeat_callers = reading_.parts_repeat_callers;
    table_options_.parent = reading_.caller;
  }

  Result<void> Run(Job& job, std::vector<Table>* tables) {
    JV_ASSIGN(const analysis::ReportCalls calls, reading_.calls(job));
    JV_TRY(job.Check());
    std::vector<Table> families;
    JV_TRY(AddAll(calls, job, tables, &families));
    if (reading_.finish_families) reading_.finish_families(&families);
    for (Table& table : families)
      tables->push_back(std::move(table));
    if (reading_.has_coverage) tables->push_back(analysis::ModelCoverage(input_, *calls.unified));
    return {};
  }

 private:
  // The unified table and each family's are made at the same time; they come in order.
  Result<void> AddAll(const analysis::ReportCalls& calls, Job& job, std::vector<Table>* unified,
                      std::vector<Table>* tables) {
    for (const analysis::Launcher& launcher : reading_.attribution->launchers) {
      launchers_.emplace(launcher.op, &launcher);
    }
    const auto& families = calls.families;
    std::vector<std::vector<Table>> made(families.size());
    ParallelFor(families.size() + 1, 0, [&](std::size_t piece) {
      if (!job.Check()) return;
      if (piece == 0) {
        AddUnified(*calls.unified, unified);
      } else {
        AddFamily(families[piece - 1].first, families[piece - 1].second, &made[piece - 1]);
      }
    });
    JV_TRY(job.Check());
    for (std::vector<Table>& some : made) {
      for (Table& table : some)
        tables->push_back(std::move(table));
    }
    return {};
  }

  // The first rows of a table, which are the longest.
  Table Top(Table table, const std::optional<std::int64_t>& rows) const {
    if (reading_.limits_rows && rows && static_cast<std::size_t>(*rows) < table.rows.size()) {
      table.rows.resize(static_cast<std::size_t>(*rows));
    }
    return table;
  }

  void AddUnified(const std::vector<WorkCall>& calls, std::vector<Table>* tables) const {
    if (calls.empty()) return;
    analysis::WorkTableOptions compared = table_options_;
    compared.extra = parts_.comparison;
    tables->push_back(
        Top(analysis::UnifiedPerfSummary(input_, calls, compared), options_.topk_ops));
    if (parts_.overlaps == nullptr) return;
    std::vector<analysis::Overlap> overlaps;
    for (const WorkCall& call : calls)
      overlaps.push_back(OverlapOf(call));
    analysis::WorkTableOptions options = table_options_;
    options.overlaps = &overlaps;
    tables->push_back(analysis::UnifiedPerfSummary(input_, calls, options));
  }

  void AddFamily(const std::string& name, const std::vector<const WorkCall*>& calls,
                 std::vector<Table>* tables) const {
    analysis::WorkTableOptions options = table_options_;
    options.num_kernels = options_.group_by_num_kernels;
    tables->push_back(
        Top(analysis::FamilyTable(input_, name, calls, options), options_.topk_roofline_ops));
    if (parts_.overlaps == nullptr) return;
    std::vector<analysis::Overlap> overlaps;
    for (const WorkCall* call : calls) {
      const bool untold = reading_.overlaps_of_launchers && LauncherOf(call->op) == nullptr;
      overlaps.push_back(untold ? analysis::Overlap() : OverlapOf(*call));
    }
    options.overlaps = &overlaps;
    tables->push_back(analysis::FamilyTable(input_, name, calls, options));
  }

  const analysis::Launcher* LauncherOf(trace::EventIndex op) const {
    const auto found = launchers_.find(op);
    return found == launchers_.end() ? nullptr : found->second;
  }

  analysis::Overlap OverlapOf(const WorkCall& call) const {
    std::vector<trace::EventIndex> kernels = call.kernels;
    const analysis::Launcher* launcher =
        reading_.overlaps_of_launchers && call.name.empty() ? LauncherOf(call.op) : nullptr;
    if (launcher != nullptr) {
      const auto own = reading_.attribution->KernelsOf(*launcher);
      kernels.assign(own.begin(), own.end());
    }
    std::stable_sort(kernels.begin(), kernels.end(), [&](auto a, auto b) {
      return input_.events[a].ts_ns < input_.events[b].ts_ns;
    });
    return analysis::OverlapOf(input_.events, *parts_.overlaps, kernels, reading_.rules);
  }

  const ReportParts& parts_;
  const analysis::ReportReading& reading_;
  const ReportOptions& options_;
  const analysis::TableInput& input_;
  analysis::WorkTableOptions table_options_;
  std::unordered_map<trace::EventIndex, const analysis::Launcher*> launchers_;
};

}  // namespace

Result<void> AddWorkTables(const ReportParts& parts, const ReportOptions& options,
                           const analysis::TableInput& input, Job& job,
                           std::vector<Table>* tables) {
  return WorkReport(parts, options, input).Run(job, tables);
}

}  // namespace jarvis::session
