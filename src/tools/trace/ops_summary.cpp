#include <algorithm>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "findings/one/thresholds.h"
#include "output/number_format.h"
#include "session/category_names.h"
#include "session/trace_bounds.h"
#include "session/trace_work.h"
#include "tools/shared/answer_picture.h"
#include "tools/shared/arguments.h"
#include "tools/shared/platform_choice.h"
#include "tools/trace/iteration_rows.h"
#include "tools/trace/kind_rows.h"
#include "tools/trace/phase_rows.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using analysis::GroupBy;
using analysis::Summary;
using analysis::SummaryRow;

GroupBy GroupByOf(const std::string& by) {
  if (by == "category") return GroupBy::kCategory;
  if (by == "kernel") return GroupBy::kKernel;
  if (by == "module") return GroupBy::kModule;
  if (by == "stream") return GroupBy::kStream;
  if (by == "step") return GroupBy::kStep;
  return GroupBy::kOp;
}

struct Filter {
  std::string text;  // in lower case; empty: any name
  std::optional<std::string> category;
  double percent_min = 0;

  bool Takes(const SummaryRow& row, double window_us) const {
    if (!text.empty() && !ContainsNoCase(row.name, text)) return false;
    if (category &&
        !session::CategoryMatches(*category, row.category.empty() ? row.name : row.category)) {
      return false;
    }
    return Percent(row.gpu_us, window_us).value_or(0) >= percent_min;
  }
};

// The shapes of a call, short: the scalars after the last tensor say nothing here.
std::string ShortShape(std::string shape) {
  static constexpr std::string_view kScalar = ", ()";
  constexpr std::size_t kLength = 96;
  while (shape.size() > kScalar.size() + 1 &&
         std::string_view(shape).substr(0, shape.size() - 1).ends_with(kScalar)) {
    shape.erase(shape.size() - 1 - kScalar.size(), kScalar.size());
  }
  if (shape.size() > kLength) shape = std::string(Utf8Prefix(shape, kLength)) + "...";
  return shape;
}

// Rows whose work is known from their calls' arguments.
bool HasWork(GroupBy by) {
  return by == GroupBy::kOp || by == GroupBy::kCategory || by == GroupBy::kModule;
}

// How near the row comes to the roof, and which roof; empty where less than most of its time has
// one.
void AddRoof(const session::LoadedTrace& trace, const SummaryRow& row,
             const analysis::MetricRules& rules, std::vector<Cell>* cells) {
  constexpr double kMost = 0.9;
  const analysis::RoofShare share =
      analysis::RoofShareOf(trace.attribution(), trace.Works(), row.launchers, rules);
  const bool known = share.pct_roof && share.known_us >= kMost * row.gpu_us;
  cells->push_back(known ? Cell(*share.pct_roof) : Cell());
  cells->push_back(
      !known ? Cell()
             : Cell(std::string(share.bound == perf::Bound::kMemory ? "memory" : "compute")));
}

// Of rows that are faster than can be; empty if there are none.
std::string AboveRoofNote(const Answer& answer, bool roof) {
  std::size_t count = 0;
  std::string first;
  for (const std::vector<Cell>& row : answer.rows) {
    const auto* percent = roof ? std::get_if<double>(&row[row.size() - 2]) : nullptr;
    if (percent == nullptr || *percent <= findings::limits::kAtRoof) continue;
    if (count++ == 0)
      first = fmt::format("{}, {:.0f} %", std::get<std::string>(row.front()), *percent);
  }
  if (count == 0) return {};
  return fmt::format(
      "[anomaly] {} of these rows exceed{} the roofline ({}{}): the platform is another, data are "
      "in cache, or the model counts too much work. Do not use their percent_of_roof.",
      count, count == 1 ? "s" : "", count == 1 ? "" : "first: ", first);
}

std::vector<Cell> CellsOf(const SummaryRow& row, GroupBy by, double window_us, double gpu_us) {
  std::vector<Cell> cells = {row.id,
                             ShownName(row),
                             row.gpu_us / 1000,
                             CellOf(Percent(row.gpu_us, window_us)),
                             CellOf(Percent(row.gpu_us, gpu_us)),
                             static_cast<std::int64_t>(row.count)};
  if (by == GroupBy::kOp || by == GroupBy::kKernel) cells.emplace_back(row.category);
  if (by == GroupBy::kOp)
    cells.emplace_back(row.shape.empty() ? Cell() : Cell(ShortShape(row.shape)));
  return cells;
}

const SummaryRow* TopOf(const std::vector<const SummaryRow*>& rows, GroupBy by) {
  if (by == GroupBy::kStream || by == GroupBy::kStep || rows.empty()) return nullptr;
  return rows.front();
}

// Rows from `first` to before `last` are shown.
std::vector<NextCall> NextCalls(const std::string& trace,
                                const std::vector<const SummaryRow*>& rows, GroupBy by,
                                std::size_t first, std::size_t last) {
  std::vector<NextCall> next;
  if (const SummaryRow* top = TopOf(rows, by)) {
    next.push_back(
        {"parent_chain", {{"trace", trace}, {"row", top->id}}, "where the top row is called"});
  }
  // Products have a roof that is known from their shapes.
  for (std::size_t r = first; by == GroupBy::kOp && r < last; ++r) {
    if (rows[r]->category != "GEMM" || rows[r]->shape.empty()) continue;
    next.push_back({"gemm_roofline",
                    {{"trace", trace}, {"row", rows[r]->id}},
                    "how far it is from what the GPU can do"});
    break;
  }
  return next;
}

// `by_name`: the column that names a row.
std::string PictureOfRows(const Answer& answer, const std::string& by_name) {
  return DrawBars({.title = fmt::format("GPU time by {}", by_name),
                   .subtitle = answer.summary,
                   .axis = "ms of GPU time",
                   .bars = BarsOf(answer, {{"row", by_name}, {{"gpu_ms", ""}}})});
}

// Of phases and iterations: what the host took, and the GPU within it.
std::string PictureOfStretches(const Answer& answer, const std::string& by_name) {
  return DrawBars({.title = fmt::format("Time by {}", by_name),
                   .subtitle = answer.summary,
                   .axis = "ms",
                   .bars = BarsOf(answer, {{"row", by_name},
                                           {{"host_ms", "wall time on the host's thread"},
                                            {"gpu_ms", "GPU busy with what it launched"},
                                            {"gpu_busy_ms", "GPU busy with what it launched"}}})});
}

// Rows of the trace's frames: phases, iterations, kinds of work.
Result<Answer> ByFrames(session::Workspace& workspace, const session::LoadedTrace& trace,
                        const std::string& by, const Filter& filter, const Json& arguments,
                        Job& job) {
  JV_ASSIGN(const auto frames, session::FramesOf(trace, job));
  Answer answer;
  answer.trace = trace.id();
  answer.cursor_key = fmt::format("{}/{}/{}/{}", trace.id(), by, filter.text, filter.percent_min);
  if (const auto cursor = TextArgument(arguments, "cursor")) {
    JV_ASSIGN(answer.offset, ReadCursor(answer.cursor_key, *cursor));
  }
  const auto limit = arguments.at("limit").get<std::uint64_t>();
  if (by == "iteration") {
    AddIterationRows(*frames, filter.text, limit, &answer);
  } else if (by == "kind") {
    JV_ASSIGN(const PlatformChoice choice,
              ChoosePlatform(workspace.files(), TextArgument(arguments, "platform").value_or(""),
                             &trace));
    JV_ASSIGN(
        const ledger::Bounds bounds,
        session::BoundsOf(trace, choice.platform ? &*choice.platform : nullptr, nullptr, job));
    AddKindRows(trace, *frames, bounds, {filter.text, filter.percent_min}, limit, &answer);
  } else {
    AddPhaseRows(*frames, {filter.text, filter.percent_min}, limit, &answer);
  }
  if (WantsPicture(arguments))
    answer.picture = by == "kind" ? PictureOfRows(answer, by) : PictureOfStretches(answer, by);
  return answer;
}

// What the columns are shares of. `platform`: null where there is no roof.
std::string BasesText(const session::LoadedTrace& trace, double gpu_us,
                      const perf::Platform* platform) {
  std::string text = "percent is of the GPU window, percent_gpu of all GPU time in this table";
  if (platform != nullptr) {
    text += fmt::format(", percent_of_roof of what {} can do ({} GB/s, achievable FLOP/s)",
                        platform->name, platform->mem_bw_gbps.value_or(0));
  }
  const auto& timeline = trace.timeline();
  if (timeline && gpu_us > timeline->total) {
    text += fmt::format(
        "; all rows add up to {:.0f} % of the window, as kernels overlap (streams, devices, "
        "dependent launches)",
        100 * gpu_us / timeline->total);
  }
  return text;
}

}  // namespace

Result<Answer> OpsSummary(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  const std::string by_name = arguments.at("by").get<std::string>();
  const GroupBy by = GroupByOf(by_name);
  const Filter filter{LowerAscii(TextArgument(arguments, "filter").value_or("")),
                      TextArgument(arguments, "category"),
                      arguments.at("min_percent").get<double>()};
  if (by_name == "phase" || by_name == "iteration" || by_name == "kind")
    return ByFrames(workspace, *trace, by_name, filter, arguments, job);
  const Summary& summary = trace->SummaryBy(by);
  const double window_us = trace->timeline() ? trace->timeline()->total : 0;
  std::vector<const SummaryRow*> rows;
  for (const SummaryRow& row : summary.rows) {
    if (filter.Takes(row, window_us)) rows.push_back(&row);
  }

  Answer answer;
  answer.trace = trace->id();
  answer.cursor_key = fmt::format("{}/{}/{}/{}/{}", trace->id(), by_name, filter.text,
                                  filter.category.value_or(""), filter.percent_min);
  if (const auto cursor = TextArgument(arguments, "cursor")) {
    JV_ASSIGN(answer.offset, ReadCursor(answer.cursor_key, *cursor));
  }
  answer.columns = {"row", by_name, "gpu_ms", "percent", "percent_gpu", "count"};
  if (by == GroupBy::kOp || by == GroupBy::kKernel) answer.columns.push_back("category");
  if (by == GroupBy::kOp) answer.columns.push_back("shape");
  JV_ASSIGN(const PlatformChoice platform,
            ChoosePlatform(workspace.files(), TextArgument(arguments, "platform").value_or(""),
                           trace.get()));
  const bool roof = HasWork(by) && platform.platform && trace->recorded().shapes;
  if (roof) answer.columns.insert(answer.columns.end(), {"percent_of_roof", "bound"});
  const auto limit = arguments.at("limit").get<std::uint64_t>();
  // Here, where it can be stopped, and not when the first row asks for it.
  if (roof) JV_TRY(session::WorkOf(*trace, nullptr, job));
  double shown_us = 0;
  for (std::uint64_t r = answer.offset; r < rows.size() && r < answer.offset + limit; ++r) {
    answer.rows.push_back(CellsOf(*rows[r], by, window_us, summary.gpu_us));
    if (roof) AddRoof(*trace, *rows[r], {&*platform.platform}, &answer.rows.back());
    shown_us += rows[r]->gpu_us;
  }
  answer.total = rows.size();
  if (rows.empty()) {
    answer.summary = summary.rows.empty()
                         ? "No GPU work in the trace."
                         : fmt::format("The filter matched nothing; without it there are {} rows.",
                                       summary.rows.size());
  } else {
    answer.summary =
        fmt::format("{} of {} rows by {} = {:.1f} % of {} ms GPU time.", answer.rows.size(),
                    rows.size(), by_name, Percent(shown_us, summary.gpu_us).value_or(0),
                    output::Rounded(summary.gpu_us / 1000));
  }
  answer.notes = CoverageNotes(*trace);
  answer.notes.insert(answer.notes.begin(),
                      BasesText(*trace, summary.gpu_us, roof ? &*platform.platform : nullptr));
  if (const std::string note = AboveRoofNote(answer, roof); !note.empty())
    answer.notes.insert(answer.notes.begin() + 1, note);
  if (HasWork(by) && !platform.platform)
    answer.notes.insert(answer.notes.begin() + 1, platform.note);
  if (answer.notes.size() > 3) answer.notes.resize(3);
  const std::size_t last = std::min<std::size_t>(rows.size(), answer.offset + answer.rows.size());
  answer.next = NextCalls(trace->id(), rows, by, answer.offset, last);
  if (WantsPicture(arguments)) answer.picture = PictureOfRows(answer, by_name);
  return answer;
}

}  // namespace jarvis::tools
