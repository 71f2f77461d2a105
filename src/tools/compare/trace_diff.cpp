#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "analysis/align/view.h"
#include "analysis/attribution/module_paths.h"
#include "base/text.h"
#include "io/output_folder.h"
#include "output/csv_writer.h"
#include "output/number_format.h"
#include "session/diff_report.h"
#include "session/trace_work.h"
#include "table/column_place.h"
#include "tools/compare/compare_tools.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {
namespace {

using analysis::DiffGroup;
using analysis::TraceDiff;
using trace::EventIndex;

constexpr std::size_t kNameBytesMax = 120;
constexpr std::size_t kTreeLinesMax = 36;
constexpr std::size_t kMergedLinesMax = 500'000;

struct Pair {
  TracePtr traces[2];
  std::unique_ptr<const session::AlignedTraces> aligned;
  const TraceDiff& diff() const { return aligned->diff(); }
};

std::string Shown(std::string_view text) {
  return OneLine(Utf8Prefix(text, kNameBytesMax));
}

double Ms(double us) {
  return us / 1000;
}

// How the GPU time of the traces falls into what is compared and what is not.
struct Shares {
  double all[2] = {0, 0};
  double compared[2] = {0, 0};  // below ops and modules that both have
  double whole[2] = {0, 0};     // below frames, threads: only comparable as a whole
  double alone[2] = {0, 0};     // in groups that one has work in
  double unlinked[2] = {0, 0};
};

bool IsOpOrModule(const TraceDiff& diff, const DiffGroup& group) {
  const analysis::DiffIndex at = diff.merged.nodes[group.lca].a;
  if (at == analysis::kNoDiffNode) return false;
  return diff.sides[0].tree.nodes[at].kind != analysis::DiffKind::kFrame ||
         !analysis::ModuleClass(diff.NameOf(0, at)).empty();
}

Shares SharesOf(const TraceDiff& diff) {
  Shares shares;
  for (const DiffGroup& group : diff.groups) {
    const bool both = !group.gpu[0].empty() && !group.gpu[1].empty();
    for (const int side : {0, 1}) {
      shares.all[side] += group.busy_us[side];
      double* part = group.unlinked              ? shares.unlinked
                     : !both                     ? shares.alone
                     : IsOpOrModule(diff, group) ? shares.compared
                                                 : shares.whole;
      part[side] += group.busy_us[side];
    }
  }
  return shares;
}

bool AllEqual(const Table& summary) {
  return std::all_of(summary.rows.begin(), summary.rows.end(),
                     [](const auto& row) { return row.back() == Cell(std::string("equal")); });
}

void AddTimes(const Pair& pair, Answer* answer) {
  const Shares shares = SharesOf(pair.diff());
  answer->facts["baseline"] = pair.traces[1]->id();
  for (const int side : {0, 1}) {
    answer->facts[side == 0 ? "trace1" : "trace2"] = {
        {"gpu_ms", output::Rounded(Ms(shares.all[side]))},
        {"below_common_ops_ms", output::Rounded(Ms(shares.compared[side]))},
        {"only_as_a_whole_ms", output::Rounded(Ms(shares.whole[side]))},
        {"alone_ms", output::Rounded(Ms(shares.alone[side]))},
        {"unlinked_ms", output::Rounded(Ms(shares.unlinked[side]))}};
  }
}

void AddNotes(const Pair& pair, Answer* answer) {
  const Shares shares = SharesOf(pair.diff());
  answer->notes.push_back(
      "ratio and difference are trace 2 (baseline) against trace 1 (candidate); gpu time is the "
      "busy time of what is compared as one");
  if (shares.unlinked[0] > 0 || shares.unlinked[1] > 0) {
    answer->notes.push_back(fmt::format(
        "{:.3f} ms of trace 1 and {:.3f} ms of trace 2 have no launch call: they are one row, "
        "(unlinked)",
        Ms(shares.unlinked[0]), Ms(shares.unlinked[1])));
  }
  const auto steps = [&](int side) { return pair.traces[side]->steps().size(); };
  if (steps(0) != steps(1)) {
    answer->notes.push_back(
        fmt::format("trace 1 has {} marked steps, trace 2 {}: times are totals, not per step",
                    steps(0), steps(1)));
  }
  if (pair.diff().merged.approximate) {
    answer->notes.push_back(
        "some lists of calls were too long to align exactly; those are aligned nearly");
  }
}

std::string Headline(const Pair& pair, bool equal) {
  const Shares shares = SharesOf(pair.diff());
  std::string text =
      fmt::format("GPU time: trace 1 {} ms, trace 2 {} ms", output::Rounded(Ms(shares.all[0])),
                  output::Rounded(Ms(shares.all[1])));
  if (shares.all[0] <= 0 && shares.all[1] <= 0) return text + ": neither has GPU work to compare.";
  if (equal) return text + ". No difference in any call.";
  text += fmt::format(
      " ({}).", analysis::DifferenceInWords(Ms(shares.all[0]), Ms(shares.all[1]), shares.all[0] > 0,
                                            shares.all[1] > 0, "ms"));
  const auto percent = [&](int side) {
    return Percent(shares.compared[side], shares.all[side]).value_or(0);
  };
  text += fmt::format(
      " Below ops and modules that both have: {:.1f} % of trace 1, {:.1f} % of trace 2.",
      percent(0), percent(1));
  if (shares.whole[0] + shares.whole[1] > shares.compared[0] + shares.compared[1]) {
    text += " Most is only comparable as a whole, because the call stacks differ.";
  }
  return text;
}

void AnswerCalls(const Pair& pair, const Json& arguments, Answer* answer) {
  const Table summary = analysis::DiffSummary(pair.diff());
  answer->summary = Headline(pair, AllEqual(summary));
  answer->columns = {"call", "module", "count", "trace1_ms", "trace2_ms", "ratio", "difference"};
  const auto limit = arguments.at("limit").get<std::size_t>();
  const auto place = [&](const char* column) { return PlaceOf(summary.columns, column); };
  const std::size_t name = place("lca_name");
  const std::size_t stack = place("nn_module_stack");
  const std::size_t count = place("lca_count");
  const std::size_t ratio = place("time_ratio (trace2/trace1)");
  const std::size_t kernels[2] = {place("kernels_trace1"), place("kernels_trace2")};
  const std::size_t times[2] = {place("time_trace1_us"), place("time_trace2_us")};
  for (const std::vector<Cell>& row : summary.rows) {
    if (answer->rows.size() == limit) break;
    const auto* modules = std::get_if<std::string>(&row[stack]);
    // The innermost three tell the place.
    std::string module = modules == nullptr ? "" : *modules;
    std::size_t at = module.size();
    for (int i = 0; i < 3 && at != std::string::npos; ++i)
      at = at == 0 ? std::string::npos : module.rfind(';', at - 1);
    if (at != std::string::npos) module.erase(0, at + 1);
    for (std::size_t cut; (cut = module.find("nn.Module: ")) != std::string::npos;)
      module.erase(cut, 11);
    const double first = std::get<double>(row[times[0]]);
    const double second = std::get<double>(row[times[1]]);
    const auto any = [&](std::size_t of) { return std::get<std::int64_t>(row[of]) > 0; };
    answer->rows.push_back({Shown(std::get<std::string>(row[name])),
                            module.empty() ? Cell() : Cell(Shown(module)), row[count], Ms(first),
                            Ms(second), row[ratio],
                            analysis::DifferenceInWords(Ms(first), Ms(second), any(kernels[0]),
                                                        any(kernels[1]), "ms")});
  }
  answer->total = summary.rows.size();
  AddNotes(pair, answer);
  if (!answer->rows.empty()) {
    answer->next = {
        {"trace_diff",
         {{"candidate", pair.traces[0]->id()}, {"baseline", pair.traces[1]->id()}, {"by", "role"}},
         "the same by part of the model"}};
  }
}

void AnswerRoles(const Pair& pair, const Json& arguments, Answer* answer) {
  const Table roles = pair.aligned->Roles();
  answer->columns = {"role",           "trace1_ms",      "trace2_ms", "ratio",
                     "trace1_kernels", "trace2_kernels", "difference"};
  const auto limit = arguments.at("limit").get<std::size_t>();
  double all[2] = {0, 0};
  const auto place = [&](const char* column) { return PlaceOf(roles.columns, column); };
  const std::size_t name = place("role");
  const std::size_t ratio = place("time_ratio (trace2/trace1)");
  const std::size_t times[2] = {place("time_trace1_us"), place("time_trace2_us")};
  const std::size_t counts[2] = {place("kernels_trace1"), place("kernels_trace2")};
  for (const std::vector<Cell>& row : roles.rows) {
    const double us[2] = {std::get<double>(row[times[0]]), std::get<double>(row[times[1]])};
    const std::int64_t kernels[2] = {std::get<std::int64_t>(row[counts[0]]),
                                     std::get<std::int64_t>(row[counts[1]])};
    for (const int side : {0, 1})
      all[side] += us[side];
    if (answer->rows.size() == limit) continue;
    answer->rows.push_back(
        {row[name], Ms(us[0]), Ms(us[1]), row[ratio], kernels[0], kernels[1],
         analysis::DifferenceInWords(Ms(us[0]), Ms(us[1]), kernels[0] > 0, kernels[1] > 0, "ms")});
  }
  answer->total = roles.rows.size();
  answer->summary =
      fmt::format("{} roles by difference: kernels of trace 1 take {} ms, of trace 2 {} ms in all.",
                  roles.rows.size(), output::Rounded(Ms(all[0])), output::Rounded(Ms(all[1])));
  answer->notes = {
      "each GPU event is in one role, by names of kernel, ops and modules; products without such a "
      "name by what runs before and after them",
      "times are durations added up; ratio and difference are trace 2 against trace 1"};
}

// The row, event or name that `at` is; nothing: none such.
Result<std::vector<std::uint32_t>> Find(const Pair& pair, const analysis::DiffView& view,
                                        const std::string& at) {
  const session::LoadedTrace& trace = *pair.traces[0];
  std::vector<EventIndex> events;
  if (const analysis::SummaryRow* row = trace.FindRow(at); row != nullptr) {
    for (const std::uint32_t i : row->launchers) {
      const EventIndex op = trace.attribution().launchers[i].op;
      if (op != trace::kNoEvent) events.push_back(op);
    }
    if (row->launchers.empty()) events.assign(row->gpu.begin(), row->gpu.end());
  } else if (const auto uid = ParseInt(at); uid && *uid >= 0) {
    for (EventIndex e = 0; e < trace.events().size(); ++e) {
      if (trace.events()[e].uid == static_cast<std::uint64_t>(*uid)) events.push_back(e);
    }
  }
  std::vector<std::uint32_t> nodes = events.empty() ? view.NodesNamed(at) : view.NodesOf(0, events);
  if (!nodes.empty()) return nodes;
  return Fail(ErrorCode::kUnknownRow,
              fmt::format("nothing \"{}\" in the aligned traces: give a row id of ops_summary of "
                          "trace 1 (op1), the uid of an event in it, an op's name (aten::mm) or a "
                          "module's class (MLP)",
                          Shown(at)),
              fmt::format("ops_summary {{\"trace\":\"{}\"}}", trace.id()));
}

Status AnswerPlace(const Pair& pair, const std::string& at, Answer* answer) {
  const analysis::DiffView view(pair.diff());
  JV_ASSIGN(const std::vector<std::uint32_t> nodes, Find(pair, view, at));
  double all[2] = {0, 0};
  bool present[2] = {false, false};
  for (const analysis::DiffLine& line : view.Lines(nodes, kTreeLinesMax)) {
    for (const int side : {0, 1}) {
      if (line.depth > 0) continue;
      all[side] += line.us[side];
      present[side] = present[side] || line.present[side];
    }
    std::string text(static_cast<std::size_t>(line.depth) * 2, ' ');
    text += line.more ? fmt::format("... {} more", line.count) : Shown(line.name);
    if (!line.more && line.count > 1) text += fmt::format(" x{}", line.count);
    if (line.present[0] && line.present[1]) {
      text += fmt::format(": {} | {} µs", output::Rounded(line.us[0]), output::Rounded(line.us[1]));
    } else {
      text += fmt::format(": {} µs", output::Rounded(line.us[0] + line.us[1]));
    }
    text +=
        fmt::format(" ({})", analysis::DifferenceInWords(line.us[0], line.us[1], line.present[0],
                                                         line.present[1], "µs"));
    answer->block += (answer->block.empty() ? "" : "\n") + text;
  }
  answer->summary = fmt::format(
      "{}: {} place{} in the aligned trees; GPU work below takes {} µs in trace 1, {} µs in trace "
      "2 ({}).",
      Shown(at), nodes.size(), nodes.size() == 1 ? "" : "s", output::Rounded(all[0]),
      output::Rounded(all[1]),
      analysis::DifferenceInWords(all[0], all[1], present[0], present[1], "µs"));
  answer->notes = {
      "a line: trace 1 | trace 2, durations of the GPU work below; equal siblings are "
      "one line (xN); Python frames are passed over"};
  return {};
}

Status WriteFiles(const Pair& pair, const session::Workspace& workspace, const Json& arguments,
                  Job& job, Answer* answer) {
  std::vector<Table> tables = pair.aligned->Tables();
  tables.push_back(pair.aligned->StatsSummary(tables.back()));
  const auto formulas = arguments.at("compat").get<std::string>() == "tracelens"
                            ? output::CsvFormulas::kAsIs
                            : output::CsvFormulas::kQuoted;
  constexpr const char* kMergedTree = "merged_tree_output.txt";
  std::vector<std::string> names = {kMergedTree};
  for (const Table& table : tables)
    names.push_back(table.name + ".csv");
  JV_ASSIGN(const std::string directory, OutputDirectory(workspace, arguments, *pair.traces[0]));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
  JV_TRY(folder->Claim(names, MayOverwrite(arguments)));
  for (const Table& table : tables) {
    JV_TRY(job.Check());
    JV_ASSIGN(std::string path, folder->Write(table.name + ".csv", output::ToCsv(table, formulas)));
    answer->files.push_back({std::move(path), table.name, table.rows.size()});
  }
  JV_ASSIGN(std::string path,
            folder->Write(kMergedTree, analysis::MergedTreeText(pair.diff(), kMergedLinesMax)));
  answer->files.push_back({std::move(path), "both trees as one", pair.diff().merged.nodes.size()});
  return folder->Commit();
}

}  // namespace

Result<Answer> TraceDiffTool(session::Workspace& workspace, const Json& arguments, Job& job) {
  Pair pair;
  for (const int side : {0, 1}) {
    const char* name = side == 0 ? "candidate" : "baseline";
    JV_ASSIGN(pair.traces[side], OpenTrace(workspace, {{"trace", arguments.at(name)}}, job));
  }
  const bool compatible = arguments.at("compat").get<std::string>() == "tracelens";
  JV_ASSIGN(pair.aligned,
            session::AlignLoaded(*pair.traces[0], *pair.traces[1],
                                 compatible ? session::Compat::kTraceLens : session::Compat::kNone,
                                 {.python_frames = true}, job));
  Answer answer;
  answer.trace = pair.traces[0]->id();
  answer.facts = Json::object();
  AddTimes(pair, &answer);
  const auto at = TextArgument(arguments, "at");
  if (at && !at->empty()) {
    JV_TRY(AnswerPlace(pair, *at, &answer));
  } else if (arguments.at("by").get<std::string>() == "role") {
    // Roles tell products by their shapes; here, where it can be stopped, these are made.
    for (const TracePtr& trace : pair.traces)
      JV_TRY(session::WorkOf(*trace, nullptr, job));
    AnswerRoles(pair, arguments, &answer);
  } else {
    AnswerCalls(pair, arguments, &answer);
  }
  if (TextArgument(arguments, "output_dir")) {
    JV_TRY(WriteFiles(pair, workspace, arguments, job, &answer));
  }
  return answer;
}

}  // namespace jarvis::tools
