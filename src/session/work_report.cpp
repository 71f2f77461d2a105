#include "session/work_report.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/tables/family_table.h"
#include "analysis/tables/unified_table.h"
#include "base/parallel.h"
#include "compat/move_backward_rows.h"
#include "compat/tracelens_work.h"

namespace jarvis::session {
namespace {

using analysis::WorkCall;

// Families that both directions of an op share one table of.
bool IsOneTable(std::string_view sheet) {
  return sheet == "GEMM" || sheet == "UnaryElementwise" || sheet == "BinaryElementwise" ||
         sheet == "Normalization";
}

// Each family that we know beyond the reference's has its name alone, without a direction.
std::string FamilyName(const WorkCall& call) {
  const std::string& sheet = call.model->sheet;
  const auto order = analysis::FamilyOrder();
  if (IsOneTable(sheet) || std::find(order.begin(), order.end(), sheet) == order.end()) {
    return sheet;
  }
  const bool backward = call.backward || call.model->category.ends_with("_bwd");
  return sheet + (backward ? "_bwd" : "_fwd");
}

// By the report's order, then by name; "_fwd" before "_bwd".
using Families = std::vector<std::pair<std::string, std::vector<const WorkCall*>>>;
Families FamiliesOf(const std::vector<WorkCall>& calls) {
  std::map<std::string, std::vector<const WorkCall*>> families;
  for (const WorkCall& call : calls) {
    if (call.work == nullptr || !call.work->flops ||
        call.work->failure != perf::OpWork::Failure::kNone) {
      continue;
    }
    families[FamilyName(call)].push_back(&call);
  }
  Families out;
  const auto take = [&](const std::string& name) {
    const auto found = families.find(name);
    if (found == families.end()) return;
    out.emplace_back(name, std::move(found->second));
    families.erase(found);
  };
  for (const std::string_view sheet : analysis::FamilyOrder()) {
    for (const char* direction : {"", "_fwd", "_bwd"})
      take(std::string(sheet) + direction);
  }
  while (!families.empty())
    take(families.begin()->first);
  return out;
}

class WorkReport {
 public:
  WorkReport(const LoadedTrace& trace, const ReportParts& parts, const ReportOptions& options,
             const analysis::TableInput& input)
      : trace_(trace), parts_(parts), options_(options), input_(input) {
    table_options_.metrics = {
        options.platform ? &*options.platform : nullptr,
        Compatible() ? perf::RoofRule::kTraceLens : perf::RoofRule::kAchievable};
    table_options_.call_stacks = options.include_call_stack;
    // P9
    table_options_.stacks_in_kernel_cells =
        Compatible() && parts.python_frames && !options.include_call_stack;
    table_options_.parent = parts.caller;
  }

  Result<void> Run(Job& job, std::vector<Table>* tables) {
    analysis::OpWorks works(trace_.events(), *parts_.rules.models);
    if (Compatible()) return Reference(works, job, tables);
    const std::vector<WorkCall> calls =
        analysis::CollectWorkCalls({trace_.events(), trace_.tree(), parts_.attribution, works});
    JV_TRY(job.Check());
    std::vector<Table> families;
    JV_TRY(AddAll(calls, FamiliesOf(calls), job, tables, &families));
    for (Table& table : families)
      tables->push_back(std::move(table));
    tables->push_back(analysis::ModelCoverage(input_, calls));
    return {};
  }

 private:
  bool Compatible() const { return options_.compat == Compat::kTraceLens; }

  Result<void> Reference(analysis::OpWorks& works, Job& job, std::vector<Table>* tables) {
    const compat::TraceLensWork work =
        compat::CollectTraceLensWork(trace_.events(), *parts_.reference_tree, parts_.attribution,
                                     works, {parts_.python_frames, options_.inference});
    JV_TRY(job.Check());
    Families named;
    for (const compat::TraceLensWork::Family& family : work.families) {
      named.emplace_back(family.name, std::vector<const WorkCall*>());
      for (const WorkCall& call : family.calls)
        named.back().second.push_back(&call);
    }
    std::vector<Table> families;
    JV_TRY(AddAll(work.unified, named, job, tables, &families));
    compat::MoveBackwardRows(&families, options_.inference);
    for (Table& table : families)
      tables->push_back(std::move(table));
    return {};
  }

  // The unified table and each family's are made at the same time; they come in order.
  Result<void> AddAll(const std::vector<WorkCall>& calls, const Families& families, Job& job,
                      std::vector<Table>* unified, std::vector<Table>* tables) {
    for (const analysis::Launcher& launcher : parts_.attribution.launchers) {
      launchers_.emplace(launcher.op, &launcher);
    }
    std::vector<std::vector<Table>> made(families.size());
    ParallelFor(families.size() + 1, 0, [&](std::size_t piece) {
      if (!job.Check()) return;
      if (piece == 0) {
        AddUnified(calls, unified);
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
  static Table Top(Table table, const std::optional<std::int64_t>& rows) {
    if (rows && static_cast<std::size_t>(*rows) < table.rows.size()) {
      table.rows.resize(static_cast<std::size_t>(*rows));
    }
    return table;
  }

  // P1: the reference reads these options and does nothing with them.
  std::optional<std::int64_t> Unless(const std::optional<std::int64_t>& rows) const {
    return Compatible() ? std::nullopt : rows;
  }

  void AddUnified(const std::vector<WorkCall>& calls, std::vector<Table>* tables) const {
    if (calls.empty()) return;
    analysis::WorkTableOptions compared = table_options_;
    compared.extra = parts_.comparison;
    tables->push_back(
        Top(analysis::UnifiedPerfSummary(input_, calls, compared), Unless(options_.topk_ops)));
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
    tables->push_back(Top(analysis::FamilyTable(input_, name, calls, options),
                          Unless(options_.topk_roofline_ops)));
    if (parts_.overlaps == nullptr) return;
    std::vector<analysis::Overlap> overlaps;
    for (const WorkCall* call : calls) {
      // The reference knows what runs beside launchers, and shows nothing for other ops here.
      overlaps.push_back(Compatible() && LauncherOf(call->op) == nullptr ? analysis::Overlap()
                                                                         : OverlapOf(*call));
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
    // The reference looks at what a launcher launched itself, even where a row has all below it.
    const analysis::Launcher* launcher =
        Compatible() && call.name.empty() ? LauncherOf(call.op) : nullptr;
    if (launcher != nullptr) {
      const auto own = parts_.attribution.KernelsOf(*launcher);
      kernels.assign(own.begin(), own.end());
    }
    std::stable_sort(kernels.begin(), kernels.end(), [&](auto a, auto b) {
      return trace_.events()[a].ts_ns < trace_.events()[b].ts_ns;
    });
    return analysis::OverlapOf(trace_.events(), *parts_.overlaps, kernels, parts_.rules);
  }

  const LoadedTrace& trace_;
  const ReportParts& parts_;
  const ReportOptions& options_;
  const analysis::TableInput& input_;
  analysis::WorkTableOptions table_options_;
  std::unordered_map<trace::EventIndex, const analysis::Launcher*> launchers_;
};

}  // namespace

Result<void> AddWorkTables(const LoadedTrace& trace, const ReportParts& parts,
                           const ReportOptions& options, const analysis::TableInput& input,
                           Job& job, std::vector<Table>* tables) {
  return WorkReport(trace, parts, options, input).Run(job, tables);
}

}  // namespace jarvis::session
