#include "documents/bottlenecks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/tables/summary.h"
#include "documents/base_text.h"
#include "documents/host_prose.h"
#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "documents/report_parts.h"
#include "findings/one/wall_classes.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

// Percent of the base: a finding with less has no row of its own, an operation with less no rate.
constexpr double kFindingShown = 1;
constexpr double kRowLeast = 0.1;  // of a row, whatever it is about
constexpr double kRateShown = 3;
constexpr std::size_t kOperationsCompared = 10;

struct Bottleneck {
  std::string name;
  double ms = 0;  // of all units of the base
  bool computes = false;
  std::string achieved = std::string(kAbsentText);
  int priority = 0;  // of the finding that is about it; 0: none
};

double ComputingMs(const findings::Analysis& analysis) {
  return static_cast<double>(analysis.base.balance.computation_ns) / 1e6;
}

// How many GPUs times of work add up over.
double GpusOf(const findings::Analysis& analysis) {
  for (const findings::Quality& one : analysis.quality) {
    if (one.code == "merged_ranks" || one.code == "multi_device")
      return std::max(1.0, one.value.value_or(1));
  }
  return 1;
}

// Of copies: what nothing hides, and no more than the base has of it on each GPU.
double MovedMs(const findings::Analysis& analysis, const findings::Finding& finding) {
  const ledger::WallBook& wall = analysis.frames->books.wall;
  const bool inside = finding.subject.starts_with("D2D");
  const double line =
      MillisOf(wall.Of(inside ? ledger::WorkKind::kCopy : ledger::WorkKind::kHostCopy));
  return std::min(finding.OwnExclusiveMs(), line * GpusOf(analysis));
}

// Ids of the operations that a finding is about, those of its chains too.
std::vector<std::string> OperationsOf(const findings::Analysis& analysis,
                                      const findings::Finding& finding) {
  std::vector<std::string> ids;
  for (const std::string& member : finding.members) {
    if (analysis.FindOperation(member) != nullptr) ids.push_back(member);
    for (const findings::FusionCandidate& candidate : analysis.fusion.candidates) {
      if (candidate.id == member)
        ids.insert(ids.end(), candidate.operations.begin(), candidate.operations.end());
    }
  }
  return ids;
}

// The first finding about an operation, or about a chain that it is in.
int PriorityOf(const findings::Analysis& analysis, const findings::Operation& operation) {
  for (const findings::Finding& finding : analysis.findings) {
    const std::vector<std::string> ids = OperationsOf(analysis, finding);
    if (std::find(ids.begin(), ids.end(), operation.id) != ids.end()) return finding.global_rank;
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
    const findings::KernelShare& first = operation.kernels.front();
    const bool most = 2 * first.total_us > operation.gpu_us;
    return fmt::format("Kernels launched outside any op, {} {}", most ? "mostly" : "the longest",
                       Code(analysis::ShortKernelName(first.name), 60));
  }
  const std::string args = ArgsText(operation.args);
  const bool shown = !operation.args.empty() && args.size() <= kArgsMax;
  return Code(operation.name, 60) + (shown ? " " + args : "");
}

// The work of the operation that takes as long as a finding that does not say which work it is of;
// empty: none does.
std::set<trace::EventIndex> AlikeOperation(const findings::Analysis& analysis, double ms) {
  constexpr double kAlike = 0.05;
  for (const findings::Operation* operation : TopOperations(analysis, kOperationsCompared)) {
    if (std::abs(OwnMs(*operation) - ms) <= kAlike * ms)
      return {operation->gpu.begin(), operation->gpu.end()};
  }
  return {};
}

// The GPU work that a finding is of; empty: it does not say, and nothing is like it.
std::set<trace::EventIndex> EventsOf(const findings::Analysis& analysis,
                                     const findings::Finding& finding) {
  const std::vector<trace::EventIndex> own = analysis.WorkOf(finding);
  return own.empty() ? AlikeOperation(analysis, finding.OwnMs())
                     : std::set<trace::EventIndex>(own.begin(), own.end());
}

// What is wrong, and the first of the ops that it is about; of chains and parts of a step the
// former.
std::string FindingCell(const findings::Analysis& analysis, const findings::Finding& finding) {
  const std::string title = DraftText(analysis, finding).title;
  const std::size_t ops = title.find(": `");
  const findings::Operation* first =
      finding.members.empty() ? nullptr : analysis.FindOperation(finding.members.front());
  constexpr std::size_t kEnough = 20;
  const bool named =
      first != nullptr && ops != std::string::npos &&
      std::string_view(title).substr(ops + 3).starts_with(first->name.substr(0, kEnough));
  if (!named) return WithoutDirectories(ShortTitle(title));
  // Shapes stand beside what is to be done about it.
  std::string cell = title;
  const std::string args = " " + ArgsText(first->args);
  if (const std::size_t at = cell.find(args + " and "); at != std::string::npos)
    cell.erase(at, args.size());
  return cell;
}

// ", the exposed part of its 11.1 ms": of what runs beside other work, which costs
// nothing; empty where that is next to nothing.
std::string HiddenPart(const findings::Analysis& analysis, double ms, double exposed_ms) {
  constexpr double kAll = 0.9;
  if (exposed_ms >= kAll * ms) return "";
  return fmt::format(", the exposed part of its {}", EachMs(analysis, ms));
}

// The GPU's time by what is to be done about it: a finding's work is one row, whatever ops it
// consists of. Adds the events that it is of to `told`.
void AddFindings(const findings::Analysis& analysis, std::set<trace::EventIndex>* told,
                 std::vector<Bottleneck>* out) {
  for (const findings::Finding& finding : analysis.findings) {
    const bool large = analysis.base.Percent(finding.OwnMs()) >= kFindingShown;
    // What was added about the host is no GPU work, and how long the GPU waits for it is not known.
    const bool of_host = finding.host != nullptr ||
                         (finding.by_hand != nullptr && finding.tier == findings::Tier::kSystem);
    // A change of the whole workload is no place where time goes: the places are rows themselves.
    const bool of_all = finding.rule == findings::Pattern::kNarrowerPrecision;
    if (of_host || of_all || finding.one_off || finding.subject == "communication" || !large)
      continue;
    const std::vector<std::string> ids = OperationsOf(analysis, finding);
    if (ids.size() == 1) continue;  // the operation's own row says more
    const std::set<trace::EventIndex> own = EventsOf(analysis, finding);
    const bool fresh = std::any_of(own.begin(), own.end(),
                                   [&](trace::EventIndex e) { return told->count(e) == 0; });
    if (!fresh && !own.empty()) continue;  // a finding before it has all of it
    told->insert(own.begin(), own.end());
    const bool moves = MovesData(finding);
    // Kernels that run at the same time take no more than computing does.
    const double computing = ComputingMs(analysis);
    const double all = computing > 0 ? std::min(finding.OwnMs(), computing) : finding.OwnMs();
    const double ms = moves ? MovedMs(analysis, finding) : all;
    out->push_back({FindingCell(analysis, finding) + HiddenPart(analysis, finding.OwnMs(), ms), ms,
                    !moves, std::string(kAbsentText), finding.global_rank});
  }
}

// A copy between memories is no computing, whichever op asked for it.
bool Computes(const findings::Operation& operation) {
  return operation.kernels.empty() || !operation.kernels.front().name.starts_with("Memcpy");
}

// What no row above is of.
void AddOperations(const findings::Analysis& analysis, std::size_t count,
                   const std::set<trace::EventIndex>& told, std::vector<Bottleneck>* out) {
  std::size_t added = 0;
  for (const findings::Operation* op : TopOperations(analysis, 8 * count)) {
    if (IsCommunication(*op) || added == count) continue;
    const auto known = std::count_if(op->gpu.begin(), op->gpu.end(),
                                     [&](trace::EventIndex e) { return told.count(e) != 0; });
    if (!op->gpu.empty() && 2 * static_cast<std::size_t>(known) >= op->gpu.size()) continue;
    ++added;
    const int priority = PriorityOf(analysis, *op);
    // Of little that nobody is to change a rate says nothing.
    const bool rated = priority > 0 || analysis.base.Percent(OwnMs(*op)) >= kRateShown;
    const double ms = Computes(*op) ? OwnMs(*op) : std::min(OwnMs(*op), op->exclusive_us / 1000);
    out->push_back({OperationCell(*op) + HiddenPart(analysis, OwnMs(*op), ms), ms, Computes(*op),
                    rated ? AchievedText(op->efficiency) : std::string(kAbsentText), priority});
  }
}

// Of the whole recording; of one unit, where they come out even.
std::string CallsOfUnit(const findings::Analysis& analysis, std::uint64_t calls) {
  const findings::StepBase& base = analysis.base;
  if (base.count <= 1 || calls % base.count != 0) return Calls(calls);
  return Calls(calls / base.count) + " " + UnitPhrase(analysis);
}

// Communication beside computing costs nothing: what counts is what nothing hides, by kind.
void AddCommunication(const findings::Analysis& analysis, std::vector<Bottleneck>* out) {
  struct Sum {
    std::uint64_t calls = 0;
    double exposed_ms = 0;
    double total_ms = 0;
  };
  std::map<std::string, Sum> kinds;
  for (const findings::CollectiveRow& row : analysis.multi_kernel.collectives) {
    Sum& sum = kinds[row.name];
    sum.calls += row.count;
    sum.exposed_ms += row.exposed_us / 1000;
    sum.total_ms += row.total_us / 1000;
  }
  // Rows are of the whole recording; no more than the steps' own part is a cost of theirs.
  const double own = static_cast<double>(analysis.base.balance.exposed_comm_ns) / 1e6;
  const auto found =
      std::find_if(analysis.findings.begin(), analysis.findings.end(),
                   [](const findings::Finding& one) { return one.subject == "communication"; });
  const int priority = found == analysis.findings.end() ? 0 : found->global_rank;
  for (const auto& [name, sum] : kinds) {
    const double exposed = std::min(sum.exposed_ms, own);
    const bool hidden = sum.exposed_ms <= own && sum.total_ms > 1.01 * exposed;
    out->push_back(
        {fmt::format("{}, {}, {}", Code(name, 60), CallsOfUnit(analysis, sum.calls),
                     hidden ? "the exposed part of their " + EachMs(analysis, sum.total_ms)
                            : "not overlapped with computation"),
         exposed, false, std::string(kAbsentText), priority});
  }
}

void AddHost(const findings::Analysis& analysis, std::vector<Bottleneck>* out) {
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.host == nullptr || finding.one_off || finding.host->idle_ms <= 0) continue;
    std::string title = HostTitle(analysis, finding);
    // Its own time stands in the next column.
    if (finding.host->kind == findings::HostCauseKind::kSection || finding.host->ramp)
      title = title.substr(0, title.rfind(", "));
    const bool says = finding.host->kind == findings::HostCauseKind::kSection ||
                      finding.host->kind == findings::HostCauseKind::kReplayGap ||
                      finding.host->ahead;
    out->push_back({(says ? "" : "GPU idle: ") + WithoutDirectories(title),
                    IdleMs(analysis, *finding.host), false, std::string(kAbsentText),
                    finding.global_rank});
  }
}

// The host takes several times as long as all GPU work: no kernel lengthens the step. Between the
// steps of a server it may take long for reasons of its own.
bool HidesKernels(const findings::Analysis& analysis) {
  constexpr double kBusyMax = 20;  // percent of the base
  constexpr double kSlower = 3;
  const double busy_ms = static_cast<double>(analysis.base.balance.busy_ns()) / 1e6;
  const findings::WallBase& wall = analysis.wall;
  return wall.known && !analysis.context.IsServer() && analysis.base.Percent(busy_ms) < kBusyMax &&
         wall.host_floor_ms > kSlower * wall.gpu_floor_ms;
}

// A table without the columns that say nothing in any row.
std::string WithoutEmptyColumns(const std::vector<std::string>& titles,
                                const std::vector<std::vector<std::string>>& rows) {
  std::vector<bool> told(titles.size());
  for (std::size_t i = 0; i < titles.size(); ++i) {
    told[i] = rows.empty() || std::any_of(rows.begin(), rows.end(),
                                          [&](const auto& row) { return row[i] != kAbsentText; });
  }
  const auto cut = [&](const std::vector<std::string>& row) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (told[i]) kept.push_back(row[i]);
    }
    return kept;
  };
  MarkdownTable table(cut(titles));
  for (const std::vector<std::string>& row : rows)
    table.Row(cut(row));
  return table.text();
}

}  // namespace

std::string BottleneckTable(const findings::Analysis& analysis, std::size_t rows) {
  std::vector<Bottleneck> all;
  AddHost(analysis, &all);
  const std::size_t of_host = all.size();
  AddCommunication(analysis, &all);
  if (all.empty() || !HidesKernels(analysis)) {
    std::set<trace::EventIndex> told;
    AddFindings(analysis, &told, &all);
    AddOperations(analysis, rows, told, &all);
  }
  const double gpus = GpusOf(analysis);
  for (std::size_t i = of_host; i < all.size(); ++i)
    all[i].ms /= gpus;
  std::stable_sort(all.begin(), all.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.ms > b.ms; });
  std::vector<std::vector<std::string>> table;
  const double computing = ComputingMs(analysis);
  for (const Bottleneck& one : all) {
    if (table.size() == rows || one.ms <= 0) break;
    // What nobody would miss.
    const double least = one.priority > 0 ? kRowLeast : kFindingShown;
    if (analysis.base.Percent(one.ms) < least && !table.empty()) continue;
    table.push_back(
        {fmt::format("{}", table.size() + 1), one.name, EachMs(analysis, one.ms),
         one.computes && computing > 0 ? Pct(one.ms / computing * 100) : std::string(kAbsentText),
         BaseShare(analysis, one.ms), one.achieved,
         one.priority > 0 ? fmt::format("{}", one.priority) : std::string(kAbsentText)});
  }
  return WithoutEmptyColumns(
             {"Rank", "Operation", gpus > 1 ? fmt::format("Time (mean of {} GPUs)", gpus) : "Time",
              "Share of compute time", "Share of the " + analysis.base.unit, "Achieved",
              "Priority"},
             table) +
         "\n";
}

}  // namespace jarvis::documents
