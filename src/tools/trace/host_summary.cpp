#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/attribution/kernel_cells.h"
#include "analysis/host/host_tables.h"
#include "base/text.h"
#include "findings/one/quality.h"
#include "output/number_format.h"
#include "session/trace_host.h"
#include "tools/shared/arguments.h"
#include "tools/trace/trace_tools.h"
#include "trace/how_to_record.h"

namespace jarvis::tools {
namespace {

using analysis::HostRowKind;
using analysis::HostSummary;

constexpr std::size_t kHostNameBytesMax = 110;
constexpr std::size_t kOverviewRowsMax = 5;  // of each kind

std::string HostMsText(std::int64_t ns) {
  return output::CellText(Cell(trace::MicrosOf(ns) / 1000));
}

std::size_t ColumnOf(const Table& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

// Rows below the share go; tables are sorted by it.
void DropSmall(double min_percent, Table* table) {
  const std::size_t at = ColumnOf(*table, "percent");
  if (at == table->columns.size()) return;
  std::erase_if(table->rows, [&](const std::vector<Cell>& row) {
    const double* percent = std::get_if<double>(&row[at]);
    return percent != nullptr && *percent < min_percent;
  });
}

void DropEmptyColumns(std::vector<std::string>* columns, std::vector<std::vector<Cell>>* rows) {
  for (std::size_t c = columns->size(); c-- > 0;) {
    const bool used = std::any_of(rows->begin(), rows->end(), [&](const std::vector<Cell>& row) {
      return !std::holds_alternative<Absent>(row[c]);
    });
    if (used) continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    columns->erase(columns->begin() + at);
    for (std::vector<Cell>& row : *rows)
      row.erase(row.begin() + at);
  }
}

Cell Shortened(const Cell& cell) {
  const std::string* text = std::get_if<std::string>(&cell);
  if (text == nullptr || text->size() <= kHostNameBytesMax) return cell;
  return std::string(Utf8Prefix(*text, kHostNameBytesMax)) + "...";
}

void ShowTable(Table table, double min_percent, std::size_t limit, Answer* answer) {
  DropSmall(min_percent, &table);
  answer->total = table.rows.size();
  if (table.rows.size() > limit) table.rows.resize(limit);
  const std::size_t work = ColumnOf(table, "work");
  for (std::vector<Cell>& row : table.rows) {
    if (work < row.size()) {
      if (const std::string* kernel = std::get_if<std::string>(&row[work]))
        row[work] = analysis::ShortKernelName(*kernel);
    }
    for (Cell& cell : row)
      cell = Shortened(cell);
  }
  DropEmptyColumns(&table.columns, &table.rows);
  answer->columns = std::move(table.columns);
  answer->rows = std::move(table.rows);
}

// A cell of a table's row as text; empty: absent.
std::string TextIn(const Table& table, const std::vector<Cell>& row, std::string_view column) {
  const Cell& cell = row[ColumnOf(table, column)];
  return std::holds_alternative<Absent>(cell) ? std::string() : output::CellText(cell);
}

Cell CellIn(const Table& table, const std::vector<Cell>& row, std::string_view column) {
  const std::size_t at = ColumnOf(table, column);
  return at == table.columns.size() ? Cell() : row[at];
}

// Annotations by total time, which their share is of, too; steps themselves are none.
Table RangesTable(const HostSummary& summary, double min_percent) {
  Table table = analysis::HostTimeTable(summary, HostRowKind::kRange);
  const std::size_t total = ColumnOf(table, "total_ms");
  const auto& base = summary.time.base;
  const double base_ms = trace::MicrosOf(base.end - base.start) / 1000;
  for (std::vector<Cell>& row : table.rows)
    row[ColumnOf(table, "percent")] = CellOf(Percent(std::get<double>(row[total]), base_ms));
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    return std::get<std::string>(row[0]).starts_with("ProfilerStep#");
  });
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    return std::get<double>(a[total]) > std::get<double>(b[total]);
  });
  DropSmall(min_percent, &table);
  return table;
}

class Overview {
 public:
  Overview(const HostSummary& summary, double min_percent, Answer* answer)
      : summary_(summary), min_percent_(min_percent), answer_(*answer) {}

  void Show() {
    answer_.columns = {"kind", "name", "ms", "percent", "count", "median_us", "detail"};
    ShowSteps();
    ShowThreads();
    ShowRanges();
    ShowTime(HostRowKind::kFrame, "frame");
    ShowTime(HostRowKind::kOp, "op");
    ShowTime(HostRowKind::kCall, "call");
    ShowWaits();
    ShowStretches();
    answer_.total = answer_.rows.size();
    DropEmptyColumns(&answer_.columns, &answer_.rows);
  }

 private:
  void Add(const std::string& kind, const std::string& name, Cell ms, Cell percent, Cell count,
           Cell median_us, const std::string& detail) {
    answer_.rows.push_back({kind, Shortened(name), std::move(ms), std::move(percent),
                            std::move(count), std::move(median_us),
                            detail.empty() ? Cell() : Shortened(detail)});
  }

  void ShowSteps() {
    const Table table = analysis::StepPartsTable(summary_);
    const std::size_t steps = analysis::SteadySteps(summary_).size();
    for (const auto& row : table.rows) {
      const std::string spread =
          steps < 2 ? std::string()
                    : fmt::format("{} to {} ms; the longest part of {} of {} steps",
                                  TextIn(table, row, "min_ms"), TextIn(table, row, "max_ms"),
                                  TextIn(table, row, "critical_in"), steps);
      Add(summary_.steps_marked ? "step" : "span", TextIn(table, row, "part"),
          CellIn(table, row, "ms"), CellIn(table, row, "percent_of_step"), {}, {}, spread);
    }
  }

  void ShowThreads() {
    Table table = analysis::HostThreadsTable(summary_);
    if (table.rows.size() < 2) return;
    DropSmall(min_percent_, &table);
    for (std::size_t i = 0; i < table.rows.size() && i < kOverviewRowsMax; ++i) {
      const auto& row = table.rows[i];
      Add("thread", TextIn(table, row, "thread"), CellIn(table, row, "work_ms"),
          CellIn(table, row, "percent"), {}, {},
          fmt::format("{}; {} launches", TextIn(table, row, "role"),
                      TextIn(table, row, "launches")));
    }
  }

  // By all that is inside: an annotation's own time says little.
  void ShowRanges() {
    const Table table = RangesTable(summary_, min_percent_);
    for (std::size_t i = 0; i < table.rows.size() && i < kOverviewRowsMax; ++i) {
      const auto& row = table.rows[i];
      Add("range", TextIn(table, row, "name"), CellIn(table, row, "total_ms"),
          CellIn(table, row, "percent"), CellIn(table, row, "count"), {}, {});
    }
  }

  void ShowTime(HostRowKind kind, const std::string& label) {
    Table table = analysis::HostTimeTable(summary_, kind);
    DropSmall(min_percent_, &table);
    std::size_t shown = 0;
    for (const auto& row : table.rows) {
      if (shown == kOverviewRowsMax) break;
      // Waiting is told by what is waited for.
      if (!std::holds_alternative<Absent>(CellIn(table, row, "waits"))) continue;
      ++shown;
      Add(label, TextIn(table, row, "name"), CellIn(table, row, "self_ms"),
          CellIn(table, row, "percent"), CellIn(table, row, "count"),
          CellIn(table, row, "median_us"), TextIn(table, row, "code"));
    }
  }

  void ShowWaits() {
    Table table = analysis::SynchronisationsTable(summary_);
    DropSmall(min_percent_, &table);
    for (std::size_t i = 0; i < table.rows.size() && i < kOverviewRowsMax; ++i) {
      const auto& row = table.rows[i];
      std::string name = TextIn(table, row, "call");
      if (const std::string op = TextIn(table, row, "op"); !op.empty()) name += " in " + op;
      std::string detail = "for " + TextIn(table, row, "waits_for");
      if (const std::string work = TextIn(table, row, "work"); !work.empty())
        detail += ": " + analysis::ShortKernelName(work);
      if (const std::string code = TextIn(table, row, "code"); !code.empty()) detail += "; " + code;
      Add("wait", name, CellIn(table, row, "ms"), CellIn(table, row, "percent"),
          CellIn(table, row, "count"), CellIn(table, row, "median_us"), detail);
    }
  }

  void ShowStretches() {
    const auto& groups = summary_.stretches.groups;
    Table table = analysis::HostStretchesTable(summary_);
    DropSmall(min_percent_, &table);
    for (std::size_t i = 0; i < table.rows.size() && i < kOverviewRowsMax; ++i) {
      const auto& row = table.rows[i];
      const auto& group = groups[i];
      std::string detail;
      for (std::size_t f = 0; f < group.frames.size() && f < 2; ++f) {
        detail += fmt::format("{}{} ({} ms)", detail.empty() ? "" : "; ", group.frames[f].name,
                              HostMsText(group.frames[f].ns));
      }
      if (!group.meanwhile.empty()) {
        detail += fmt::format("{}other threads: {} ({} ms)", detail.empty() ? "" : "; ",
                              group.meanwhile, HostMsText(group.meanwhile_ns));
      }
      if (!group.range.empty()) detail += (detail.empty() ? "in " : "; in ") + group.range;
      Add("stretch",
          fmt::format("{} .. {}", group.before.empty() ? "(begin)" : group.before,
                      group.after.empty() ? "(end)" : group.after),
          CellIn(table, row, "ms"), CellIn(table, row, "percent"), CellIn(table, row, "count"),
          trace::MicrosOf(group.median_ns), detail);
    }
  }

  const HostSummary& summary_;
  double min_percent_;
  Answer& answer_;
};

// "launch_to_launch_us": 83.6, ... in the order in which one reads them.
Json LaunchFacts(const analysis::LaunchFigures& figures) {
  Json facts = {{"launches", figures.launches}};
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) facts[key] = output::Rounded(*value);
  };
  if (figures.graph_launches > 0) facts["graph_launches"] = figures.graph_launches;
  add("launch_to_launch_median_us", figures.to_next_median_us);
  add("launch_to_launch_mean_us", figures.to_next_mean_us);
  add("gpu_work_median_us", figures.work_median_us);
  add("gpu_work_mean_us", figures.work_mean_us);
  add("launch_to_start_median_us", figures.latency_median_us);
  add("lead_median_us", figures.lead_median_us);
  add("lead_first_us", figures.lead_first_us);
  add("lead_last_us", figures.lead_last_us);
  add("found_stream_idle_percent", figures.idle_percent);
  return facts;
}

// Streams that work is launched into.
Json StreamFacts(const session::LoadedTrace& trace, const HostSummary& summary) {
  Json streams = Json::array();
  for (const analysis::TrackLaunches& stream : summary.by_stream) {
    Json facts = LaunchFacts(stream.figures);
    facts["stream"] = std::string(trace.events().tracks[stream.track].tid);
    streams.push_back(std::move(facts));
  }
  return streams;
}

// What the longest stretches are made of: "1: images.py(30): normalize 105 ms".
Json FrameFacts(const HostSummary& summary) {
  constexpr std::size_t kGroupsMax = 3;
  Json frames = Json::array();
  const auto& groups = summary.stretches.groups;
  for (std::size_t i = 0; i < groups.size() && i < kGroupsMax; ++i) {
    for (const analysis::StretchFrame& frame : groups[i].frames) {
      if (frame.ns * 100 < groups[i].total_ns) continue;  // below a hundredth: noise
      frames.push_back(
          OneLine(fmt::format("{}: {} {} ms{}", i + 1, Utf8Prefix(frame.name, kHostNameBytesMax),
                              HostMsText(frame.ns), frame.waits ? " (waits)" : "")));
    }
  }
  return frames;
}

std::string BaseText(const HostSummary& summary) {
  const auto& base = summary.time.base;
  const std::string ms = HostMsText(base.end - base.start);
  if (!summary.steps_marked) return fmt::format("{} ms from the first to the last host event", ms);
  const std::size_t steps = summary.threads.steps.size();
  return fmt::format("{} ms of {} step{}", ms, steps, steps == 1 ? "" : "s");
}

std::string Headline(const HostSummary& summary) {
  const Table parts = analysis::StepPartsTable(summary);
  std::string text;
  for (std::size_t i = 0; i < parts.rows.size() && i < 3; ++i) {
    text += fmt::format("{}{} {} ms ({:.0f} %)", i == 0 ? "" : ", ",
                        std::get<std::string>(parts.rows[i][0]), output::CellText(parts.rows[i][1]),
                        std::get<double>(parts.rows[i][2]));
  }
  const std::size_t all = summary.threads.steps.size();
  const std::size_t steady = analysis::SteadySteps(summary).size();
  const std::string whole = !summary.steps_marked ? std::string("The host: ")
                            : all == 1            ? std::string("The step: ")
                            : steady == all
                                ? std::string("A step, mean: ")
                                : fmt::format("A step, mean of the {} steady of {}: ", steady, all);
  return fmt::format("{}{}. Shares of rows are of {}.", whole, text, BaseText(summary));
}

void AddHostNotes(const HostSummary& summary, const std::string& by, Answer* answer) {
  const analysis::LaunchFigures& launching = summary.launching;
  if (launching.launches == 0) {
    answer->notes.emplace_back(summary.has_gpu_work
                                   ? "no launches are recorded: no launch lead, no idle streams"
                                   : "no GPU work is recorded: what the host says of itself");
  } else if (launching.launch_bound) {
    answer->notes.push_back(fmt::format(
        "launch-bound: {:.0f} % of launches found their stream idle, {} µs from launch to launch "
        "against {} µs of GPU work",
        *launching.idle_percent, output::Rounded(*launching.to_next_median_us),
        output::Rounded(*launching.work_median_us)));
  }
  constexpr std::uint64_t kFewPerHundred = 1;  // single ones are a slip of the recording
  if (launching.before_call * 100 > launching.launches * kFewPerHundred) {
    answer->notes.push_back(fmt::format(
        "{} pieces of GPU work start before their call, by {} µs in the median: the clocks of "
        "host and GPU disagree",
        launching.before_call, output::Rounded(launching.clocks_off_us.value_or(0))));
  }
  if (!summary.has_frames && (by == "overview" || by == "frame" || by == "stretch")) {
    answer->notes.emplace_back(
        "[no_stacks] no Python frames in the trace: plain Python is a stretch between ops");
  }
  if (!summary.steps_marked)
    answer->notes.emplace_back("no steps are known: shares are of the whole recording");
  const analysis::HostStretches& stretches = summary.stretches;
  if (by == "stretch" && stretches.short_count > 0) {
    answer->notes.push_back(fmt::format("{} ms more in {} stretches below {} ms",
                                        HostMsText(stretches.short_ns), stretches.short_count,
                                        HostMsText(stretches.threshold_ns)));
  }
}

// Of the host's time above, what is no work of the program: what the profiler takes, and time in
// which nothing of the process ran. True: the profiler's cost is among it.
bool AddForeignTime(const std::vector<findings::Quality>& list, Answer* answer) {
  constexpr std::string_view kCodes[] = {"profiler_frames", "descheduled_host", "profiler_events"};
  bool profiler = false;
  for (const findings::Quality* one : findings::LeadingQualities(list)) {
    if (std::find(std::begin(kCodes), std::end(kCodes), one->code) == std::end(kCodes)) continue;
    profiler |= one->code != "descheduled_host";
    answer->notes.push_back(fmt::format("[{}] in the times above: {}", one->code, one->text));
  }
  return profiler;
}

void AddHostNext(const HostSummary& summary, const std::string& id, const std::string& by,
                 Answer* answer) {
  if (by == "overview") {
    const bool stretches = !summary.stretches.groups.empty();
    const std::int64_t waited = summary.waits.empty() ? 0 : summary.waits.front().total_ns;
    const std::int64_t empty = stretches ? summary.stretches.groups.front().total_ns : 0;
    if (stretches && empty >= waited)
      answer->next.push_back(
          {"host_summary", {{"trace", id}, {"by", "stretch"}}, "plain Python between ops"});
    if (waited > empty)
      answer->next.push_back({"host_summary", {{"trace", id}, {"by", "sync"}}, "who waits"});
  }
  if (summary.has_gpu_work && by != "sync")
    answer->next.push_back({"idle_gaps", {{"trace", id}}, "what the GPU lost meanwhile"});
  if (by == "sync" && !summary.waits.empty())
    answer->next.push_back(
        {"gpu_timeline", {{"trace", id}}, "whether the GPU was busy while the host waited"});
}

}  // namespace

Result<Answer> HostSummaryTool(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(const auto summary, session::HostOf(*trace, job));
  const std::string by = arguments.at("by").get<std::string>();
  const auto limit = arguments.at("limit").get<std::size_t>();
  const auto min_percent = arguments.at("min_percent").get<double>();
  Answer answer;
  answer.trace = trace->id();
  if (!summary->has_host_events) {
    answer.summary = "The trace has no host events, so nothing can be said about the host.";
    answer.notes = {trace::RecordGpuWork(trace->trace().metadata)};
    return answer;
  }
  answer.summary = Headline(*summary);
  if (by == "overview" || by == "thread") answer.facts = LaunchFacts(summary->launching);
  if (by == "thread" && summary->by_stream.size() > 1)
    answer.facts["streams"] = StreamFacts(*trace, *summary);
  if (by == "stretch" && summary->has_frames) answer.facts["frames_of_rows"] = FrameFacts(*summary);
  if (by == "overview") {
    Overview(*summary, min_percent, &answer).Show();
  } else {
    const std::map<std::string_view, HostRowKind> kinds = {
        {"op", HostRowKind::kOp}, {"frame", HostRowKind::kFrame}, {"call", HostRowKind::kCall}};
    const auto kind = kinds.find(by);
    ShowTable(by == "range"         ? RangesTable(*summary, min_percent)
              : kind != kinds.end() ? analysis::HostTimeTable(*summary, kind->second)
              : by == "thread"      ? analysis::HostThreadsTable(*summary)
              : by == "step"        ? analysis::HostStepsTable(*summary)
              : by == "sync"        ? analysis::SynchronisationsTable(*summary)
                                    : analysis::HostStretchesTable(*summary),
              min_percent, limit, &answer);
  }
  AddHostNotes(*summary, by, &answer);
  JV_ASSIGN(const auto quality, findings::QualityOf(*trace, job));
  if (!AddForeignTime(*quality, &answer) && summary->has_frames && by != "sync")
    answer.notes.emplace_back("recording stacks costs host time: see the quality list");
  AddHostNext(*summary, trace->id(), by, &answer);
  return answer;
}

}  // namespace jarvis::tools
