// Tables about operations: ops_summary_by_category, ops_summary, ops_unique_args and its variant
// ops_unique_args_kl_overlap.
#pragma once

#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/call_stack.h"
#include "analysis/attribution/overlap.h"
#include "analysis/attribution/table_rules.h"
#include "table/table.h"
#include "trace/metadata.h"

namespace jarvis::analysis {

// The modules around each launcher.
struct LauncherModules {
  struct Texts {
    StringId parent;  // see ParentModule
    StringId stack;   // ModuleStack as text
  };
  StringPool texts;
  std::vector<Texts> of;  // by launcher
};
// `parent`: the caller of an event, or kNoEvent. Unlinked GPU work has no module.
LauncherModules FindModules(const EventStore& events, const Attribution& attribution,
                            const ParentFunction& parent);

// What the tables are made from.
struct TableInput {
  const EventStore& events;
  const std::vector<trace::TrackNames>& track_names;
  const Attribution& attribution;
  const TableRules& rules;
  // By event, as tree::MarkRecompute gives it. With it the tables have a column is_recompute and
  // keep recomputed calls apart; null: no such column.
  const std::vector<char>* recompute = nullptr;
  // The columns of the report about inference in ops_summary.
  bool inference = false;
  // With it the tables keep the calls of different modules apart: columns parent_module and
  // call_stack; null: no such columns.
  const LauncherModules* modules = nullptr;

  // Of an op, or of the pseudo-op that stands at a frame.
  std::string_view OpName(EventIndex op) const { return attribution.pseudo.NameOf(events, op); }
  const trace::Args& OpArgs(EventIndex op) const {
    const PseudoOp* pseudo = attribution.pseudo.AtFrame(op);
    return events.args_of(pseudo == nullptr ? op : pseudo->donor);
  }
  std::uint32_t OpUid(EventIndex op) const {
    const PseudoOp* pseudo = attribution.pseudo.AtFrame(op);
    return pseudo == nullptr ? events[op].uid : pseudo->uid;
  }
  Cell ParentModuleOf(std::size_t launcher) const {
    return std::string(modules->texts[modules->of[launcher].parent]);
  }
  Cell ModuleStackOf(std::size_t launcher) const {
    return std::string(modules->texts[modules->of[launcher].stack]);
  }
  bool Recomputed(EventIndex e) const {
    return recompute != nullptr && e != kNoEvent && (*recompute)[e] != 0;
  }
};

// The name of a launcher in a table: the op's, or "(unlinked) <kernel>".
std::string LauncherName(const EventStore& events, const Attribution& attribution,
                         const Launcher& launcher);

Table OpsSummaryByCategory(const TableInput& input);
Table OpsSummary(const TableInput& input);

// What ops_unique_args has beyond its plain columns.
struct UniqueArgsOptions {
  // Calls that launched another number of kernels are rows of their own: a column num_kernels.
  bool num_kernels = false;
  // A column first_occurrence_time: from the start of the table's first call to that of the row's,
  // in microseconds.
  bool first_occurrence_time = false;
  // By launcher. With it the table is ops_unique_args_kl_overlap: calls that ran beside other
  // kernels are rows of their own, and the columns of OverlapColumns follow the kernel cells.
  const std::vector<Overlap>* overlaps = nullptr;
};

// One row per distinct (op, argument list), and whatever else the options keep apart.
struct UniqueArgsRow {
  std::vector<std::size_t> launchers;  // indices into Attribution::launchers, in order
  double direct_us = 0;                // sum
};
// Ordered by time, the longest first; ties by the first call's uid.
std::vector<UniqueArgsRow> GroupUniqueArgs(const TableInput& input,
                                           const UniqueArgsOptions& options = {});
Table OpsUniqueArgs(const TableInput& input, const std::vector<UniqueArgsRow>& rows,
                    const UniqueArgsOptions& options = {});

}  // namespace jarvis::analysis
