#include "documents/report_parts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "documents/base_text.h"
#include "documents/chains_table.h"
#include "documents/copy_text.h"
#include "documents/cpu_text.h"
#include "documents/host_prose.h"
#include "documents/host_rows.h"
#include "documents/impact_text.h"
#include "documents/lever_table.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "documents/remedy_text.h"
#include "documents/saving_base.h"
#include "documents/saving_rows.h"
#include "documents/subjects.h"
#include "documents/time_parts.h"
#include "findings/one/estimates.h"
#include "findings/one/thresholds.h"
#include "findings/one/wall_classes.h"
#include "session/trace_frames.h"

namespace jarvis::documents {

std::string ModelName(const findings::Analysis& analysis) {
  return CellOfText(findings::WorkloadName(analysis.workload));
}

std::string WorkloadParagraph(const findings::Analysis& analysis) {
  const std::string line = findings::WorkloadLine(analysis.workload);
  return line.empty() ? "" : "**Workload**: " + CellOfText(line) + "\n\n";
}

std::string PlatformName(const findings::Analysis& analysis) {
  const findings::WorkloadField& device = analysis.workload[findings::WorkloadPart::kDevice];
  const auto& quality = analysis.quality;
  const bool by_units = std::any_of(quality.begin(), quality.end(), [](const auto& one) {
    return one.code.starts_with("device_by_");
  });
  // The platform is one of several that it may be.
  if (by_units && device.known()) return CellOfText(device.value) + " [inferred]";
  if (!analysis.platform.empty()) return CellOfText(analysis.platform);
  if (!analysis.device.empty()) return CellOfText(analysis.device);
  return device.known() ? CellOfText(device.value) : "Unknown GPU";
}

std::string_view Icon(const findings::Finding& finding, int number) {
  const bool low = finding.priority == findings::PriorityClass::kLow;
  if (number == 1 && !low) return "\xF0\x9F\x94\xB4";
  return number == 2 && !low ? "\xF0\x9F\x9F\xA1" : "\xF0\x9F\x9F\xA2";
}

std::string Anchor(std::string_view id) {
  return "detail-" + std::string(id);
}

std::string AnchorTag(std::string_view id) {
  return "<a id=\"" + Anchor(id) + "\"></a>\n";
}

std::vector<const findings::Operation*> MembersOf(const findings::Analysis& analysis,
                                                  const findings::Finding& finding) {
  std::vector<const findings::Operation*> members;
  for (const std::string& id : finding.members) {
    if (const findings::Operation* operation = analysis.FindOperation(id))
      members.push_back(operation);
  }
  return members;
}

std::string LauncherText(const findings::Operation& operation) {
  if (!operation.entry_point.empty()) return CellOfText(operation.entry_point);
  if (!operation.module_path.empty()) return CellOfText(operation.module_path);
  if (!operation.library.empty()) return CellOfText(operation.library + " (vendor)");
  return "Not found";
}

std::string KernelText(const findings::Operation& operation) {
  if (operation.kernels.empty()) return std::string(kAbsentText);
  if (operation.kernels.size() == 1)
    return Code(analysis::ShortKernelName(operation.kernels[0].name));
  std::string text;
  for (std::size_t i = 0; i < operation.kernels.size() && i < 3; ++i) {
    text += fmt::format("{}Kernel {}: {}", i == 0 ? "" : "<br>", i + 1,
                        Code(analysis::ShortKernelName(operation.kernels[i].name)));
  }
  return text;
}

std::string EfficiencyText(const findings::Operation& op) {
  const findings::Efficiency& efficiency = op.efficiency;
  const char* const least = op.least_by_grid ? "the roofline" : "peak bandwidth";
  if (op.least_percent) return fmt::format("≥ {:.2f}% of {}", *op.least_percent, least);
  if (!efficiency.percent) return std::string(kAbsentText);
  if (efficiency.launch_floor) return std::string(kAbsentText) + " (launch floor)";
  std::string text = fmt::format("{:.2f}%", *efficiency.percent);
  if (efficiency.bound == findings::Bound::kMemory && efficiency.peak_tb_per_s) {
    text += fmt::format(" of {} TB/s", Digits(*efficiency.peak_tb_per_s));
  } else if (efficiency.bound == findings::Bound::kCompute && efficiency.peak_tflops) {
    text += fmt::format(" of {} TFLOPS", Digits(*efficiency.peak_tflops));
    if (efficiency.spec == "matrix_tf32") text += " (TF32)";
  }
  return efficiency.anomaly ? text + " ANOMALY" : text;
}

std::string AchievedText(const findings::Efficiency& efficiency) {
  if (efficiency.launch_floor) return std::string(kAbsentText);
  if (efficiency.anomaly) return std::string(kAbsentText) + " (above the roofline)";
  const bool compute = efficiency.bound == findings::Bound::kCompute;
  if (compute && efficiency.tflops_per_s) return Digits(*efficiency.tflops_per_s) + " TFLOPS/s";
  if (efficiency.tb_per_s) return Digits(*efficiency.tb_per_s) + " TB/s";
  const bool memory = efficiency.bound == findings::Bound::kMemory;
  if (efficiency.tflops_per_s && !memory) return Digits(*efficiency.tflops_per_s) + " TFLOPS/s";
  return std::string(kAbsentText);
}

namespace {

// Figures of calls and kernels that are compared with their equals.
constexpr std::pair<std::string_view, std::string_view> kComparedFacts[] = {
    {"slow_us", "Time of slow calls"},
    {"usual_us", "Time of usual calls"},
    {"times", "Times as long"},
    {"factor", "Times as long"},
};

// What the patterns of a finding rest on.
void AddFacts(const findings::Analysis& analysis, const findings::Finding& finding,
              MarkdownTable* table) {
  for (const findings::PatternHit& hit : finding.patterns) {
    for (const findings::Fact& fact : hit.facts) {
      if (fact.key == "kernels") table->Row({"Kernels", FactText(fact)});
      if (fact.key == "collectives") table->Row({"Beside", FactText(fact) + " collectives"});
      const auto* few = std::get_if<std::string>(&fact.value);
      if (fact.key == "few_blocks" && few != nullptr) table->Row({"Few blocks", *few});
      for (const auto& [key, title] : kComparedFacts) {
        if (fact.key == key && few != nullptr) table->Row({std::string(title), *few});
      }
      const double* ms = std::get_if<double>(&fact.value);
      if (ms == nullptr || (fact.key != "option_ms" && fact.key != "merge_ms")) continue;
      table->Row({fact.key == "option_ms" ? "Lower precision saves at most"
                                          : "Merged launches save at most",
                  EachMs(analysis, *ms)});
    }
  }
  if (!analysis.cpu) return;
  for (auto& [title, value] : CpuFigures(finding))
    table->Row({std::move(title), std::move(value)});
}

}  // namespace

std::string NumbersTable(const findings::Analysis& analysis, const findings::Finding& finding,
                         const std::optional<findings::Range>& additional) {
  MarkdownTable table({"Metric", "Value"});
  const bool waits =
      finding.host != nullptr && finding.host->kind == findings::HostCauseKind::kWaits;
  // Beside what is told of one of several units.
  const bool all = finding.own_part < 1 || analysis.base.count > 1;
  table.Row({fmt::format("{}{}", waits ? "Host time in these waits" : "Time",
                         all ? " in the whole recording" : ""),
             Ms(finding.time_ms)});
  if (finding.own_part < 1)
    table.Row({"Time " + UnitPhrase(analysis), EachMs(analysis, finding.OwnMs())});
  if (finding.percent_of_computation && finding.tier != findings::Tier::kSystem)
    table.Row({"Share of compute time", Pct(*finding.percent_of_computation)});
  if (finding.percent_of_total && *finding.percent_of_total <= 100)
    table.Row({"Share of the GPU window", Pct(*finding.percent_of_total)});
  if (finding.count > 0) {
    table.Row(
        {finding.category == "cpu_idle" ? "Gaps" : "Count", fmt::format("{}", finding.count)});
  }
  if (finding.members.size() > 1) {
    table.Row({"Operations", Calls(finding.members.size(), "operations")});
    table.Row({"Operations besides the first", Calls(finding.members.size() - 1, "operations")});
  }
  if (finding.tier == findings::Tier::kCompute) {
    const bool above = finding.efficiency.value_or(0) > findings::limits::kAtRoof;
    table.Row({"Efficiency", PctOrDash(finding.efficiency) + (above ? " ANOMALY" : "")});
    const char* const least = finding.least_by_grid ? "Of the roofline" : "Memory bandwidth";
    if (finding.least_percent) table.Row({least, "≥ " + Pct(*finding.least_percent)});
    table.Row({"Assessment", std::string(findings::BandText(finding.band))});
    table.Row({"Bound", std::string(findings::BoundText(finding.bound))});
    if (!finding.library.empty()) table.Row({"Library", CellOfText(finding.library)});
    table.Row({"Time while nothing else ran", Ms(finding.exclusive_ms)});
  }
  if (finding.starved_percent)
    table.Row(
        {"Share of this time after which the GPU queue was empty", Pct(*finding.starved_percent)});
  AddSavingRows(analysis, finding, &table);
  const findings::WallSaving* best = findings::BestWall(finding);
  const bool several = analysis.base.count > 1 && !finding.one_off;
  const std::string each = several ? " " + UnitPhrase(analysis) : "";
  if (best != nullptr) {
    for (const auto& [path, saving] :
         {std::pair{"Path A", &finding.wall_a}, {"Path B", &finding.wall_b}}) {
      if (*saving)
        table.Row({fmt::format("{} on its own, wall time{}", path, each),
                   several ? EachRange(analysis, (*saving)->ms) : RangeMs((*saving)->ms)});
    }
    const double after = std::max(0.0, best->after_others_ms);
    // What happens once is no part of what savings are of, which may then be nothing.
    if (!finding.one_off && analysis.wall.wall_ms > 0) {
      table.Row(
          {fmt::format("Expected wall-time saving{} on top of the priorities before it", each),
           EachMs(analysis, after)});
    }
  } else if (additional) {
    table.Row({"Not covered by the priorities before it", RangeMs(*additional)});
  }
  if (finding.bound_ms)
    table.Row({"Upper bound of the saving", "at most " + EachMs(analysis, *finding.bound_ms)});
  if (const double most_ms = MostOnceFaster(analysis, finding); most_ms > 0)
    table.Row({"Of it transfer, by the shortest of equal calls", EachMs(analysis, most_ms)});
  if (TellsJoint(analysis, finding))
    table.Row({"Saving if the host took no time either",
               "at most " + EachMs(analysis, *finding.joint_ms)});
  AddFacts(analysis, finding, &table);
  if (finding.host != nullptr) AddHostRows(analysis, *finding.host, &table);
  table.Row({"Estimate", Words(findings::MethodText(finding.method))});
  return table.text() + "\n" + ChainsTable(analysis, finding);
}

namespace {

// Tensile makes the kernels that both of AMD's libraries choose from.
std::string LibraryName(const std::string& library) {
  return library == "Tensile" ? "hipBLASLt or rocBLAS (Tensile)" : CellOfText(library);
}

}  // namespace

std::string FiguresTable(const findings::Analysis& analysis, const findings::Finding& finding) {
  std::vector<std::string> header = {"Time", "Share of the " + analysis.base.unit};
  std::vector<std::string> row = {
      finding.one_off ? Ms(finding.time_ms) + ", once" : EachMs(analysis, finding.OwnMs()),
      finding.one_off ? std::string(kAbsentText) : BaseShare(analysis, finding.OwnMs())};
  const auto add = [&](std::string name, std::string value) {
    header.push_back(std::move(name));
    row.push_back(std::move(value));
  };
  // How long the host waits is no cost; how long the GPU then has nothing to do is.
  if (finding.host != nullptr && !finding.one_off && finding.host->idle_ms > 0) {
    const double idle = IdleMs(analysis, *finding.host);
    header = {"GPU idle", "Share of the " + analysis.base.unit};
    row = {EachMs(analysis, idle), BaseShare(analysis, idle)};
  }
  if (finding.host != nullptr) {
    for (const auto& [name, ms] : PlaceInStep(*finding.host))
      add(name, Ms(ms));
  }
  if (finding.count > 0) {
    const bool once = finding.one_off || analysis.base.count <= 1;
    add(once ? "Count" : "Count per " + analysis.base.unit,
        (once ? fmt::format("{}", finding.count) : EachCalls(analysis, finding.count)) +
            OfEqualCalls(finding));
  }
  if (finding.efficiency) {
    add("Efficiency", PctOrDash(finding.efficiency) +
                          (*finding.efficiency > findings::limits::kAtRoof ? " ANOMALY" : ""));
    add("Bound", std::string(findings::BoundText(finding.bound)));
  }
  if (!finding.library.empty()) add("Library", LibraryName(finding.library));
  for (const auto& [path, change, wall] : {std::tuple{"Path A", &finding.change_a, &finding.wall_a},
                                           {"Path B", &finding.change_b, &finding.wall_b}}) {
    if (*wall && !finding.one_off)
      add(fmt::format("{} on its own", path), EachRange(analysis, (*wall)->ms));
    if (*change && finding.rule)
      add(fmt::format("{} reaches", path), InDeviceWords(analysis, CellOfText((*change)->target)));
  }
  if (finding.bound_ms) {
    add("Upper bound of the saving",
        fmt::format("at most {} ({})", EachMs(analysis, *finding.bound_ms),
                    SavingShare(analysis, *finding.bound_ms)));
  }
  if (const double most_ms = MostOnceFaster(analysis, finding); most_ms > 0)
    add("Of it transfer, by the shortest of equal calls", EachMs(analysis, most_ms));
  if (TellsJoint(analysis, finding))
    add("Saving if the host took no time either", "at most " + EachMs(analysis, *finding.joint_ms));
  const findings::WallSaving* best = findings::BestWall(finding);
  if (best == nullptr && finding.savings_ms) {
    add("Saving of GPU time", EachRange(analysis, finding.OwnSavingsMs()));
    add("Share at most", BaseShare(analysis, finding.OwnSavingsMs().high));
  }
  if (best == nullptr && finding.bound_ms) {
    const double bound_ms = BoundOfAction(finding, TakesPathB(finding));
    add("Of it by the action",
        fmt::format("{} ({})", EachMs(analysis, bound_ms), SavingShare(analysis, bound_ms)));
  }
  if (auto ms = CopyCallsMs(finding)) add("Host time in their calls", EachMs(analysis, *ms));
  const bool once = best != nullptr && finding.one_off;
  if (once) add(IsPaidOnce(finding) ? "Paid by each process" : "Saves once", Ms(OnceMs(finding)));
  if (best != nullptr && !once)
    add("On top of the priorities before it", AfterText(analysis, *best));
  if (analysis.cpu) {
    for (auto& [title, value] : CpuFigures(finding))
      add(std::move(title), std::move(value));
  }
  MarkdownTable table(std::move(header));
  table.Row(std::move(row));
  return table.text() + "\n" + ChainsTable(analysis, finding);
}

std::string HostTable(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.host == nullptr) return "";
  const findings::HostCause& cause = *finding.host;
  MarkdownTable table({"Of the " + analysis.base.unit, "Value", "Share"});
  const auto row = [&](const char* name, double ms) {
    if (ms > 0) table.Row({name, EachMs(analysis, ms), BaseShare(analysis, ms)});
  };
  row("Host time", cause.total_ms);
  row("GPU idle", IdleMs(analysis, cause));
  row("GPU time of what the checks compute", cause.gpu_ms);
  row("Without any recorded event", NothingMs(analysis, cause));
  if (cause.ramp) row("Idle at the start of the GPU work", cause.early_ms);
  if (cause.ramp && cause.until_ms > 0)
    table.Row({"The last of that ends at", Ms(cause.until_ms), std::string(kAbsentText)});
  for (const auto& [name, ms] : PlaceInStep(cause))
    table.Row({name, Ms(ms), std::string(kAbsentText)});
  for (const auto& [name, ms] : StretchRows(cause))
    table.Row({name, Ms(ms), std::string(kAbsentText)});
  return table.empty() ? "" : table.text() + "\n";
}

std::string PlacesTable(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.host == nullptr || finding.host->places.empty()) return "";
  const bool once = finding.one_off || analysis.base.count <= 1;
  MarkdownTable table({"Where", "Code", once ? "Times" : "Times per " + analysis.base.unit,
                       "Host time", "GPU idle"});
  const auto times = [&](std::uint64_t count) {
    return once ? fmt::format("{}", count) : EachCalls(analysis, count);
  };
  const auto time = [&](double ms) {
    if (ms <= 0) return std::string(kAbsentText);
    return finding.one_off ? Ms(ms) : EachMs(analysis, ms);
  };
  const double idle = IdleMs(analysis, *finding.host);
  for (const findings::HostPlace& place : finding.host->places) {
    table.Row({Code(place.name, 90), Code(place.code, 90),
               place.count > 0 ? times(place.count) : std::string(kAbsentText), time(place.ms),
               time(std::min(place.idle_ms, idle))});
  }
  for (const findings::HostPlace& place : finding.host->python)
    table.Row({Code(place.name, 90), Code(place.code, 90), times(place.count), time(place.ms),
               std::string(kAbsentText)});
  return table.text() + "\n";
}

std::string PatternTable(const findings::Finding& finding) {
  MarkdownTable table({"Pattern", "Evidence"});
  for (const findings::PatternHit& hit : finding.patterns) {
    std::string facts;
    for (const findings::Fact& fact : hit.facts) {
      if (fact.unit == "words" || fact.unit == "place") continue;  // pieces of sentences
      facts += (facts.empty() ? "" : "; ") + Words(fact.key) + ": " + FactText(fact);
    }
    table.Row({Words(findings::Info(hit.pattern).key),
               facts.empty() ? std::string(kAbsentText) : std::move(facts)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string ProjectionTable(const findings::Finding& finding, const findings::Analysis& analysis) {
  if (!finding.efficiency || *finding.efficiency > findings::limits::kAtRoof) return "";
  MarkdownTable table({"Target Efficiency", "Time", "Saved", "E2E Improvement"});
  for (const findings::Projection& row :
       findings::ProjectionsOf(finding, analysis.totals.window_ms)) {
    table.Row({Pct(row.target_percent) + " of peak", Ms(row.new_ms), Ms(row.saved_ms),
               PctOrDash(row.percent_of_total)});
  }
  if (table.empty()) return "";
  return "**Impact Projection** (if the work reaches that share of its roofline, whatever else "
         "runs):\n\n" +
         table.text() + "\n";
}

std::string EvidenceTable(const findings::Finding& finding) {
  // What the table of its numbers says already.
  static const std::set<std::string_view> kSaid = {
      "time_ms",           "exclusive_ms",           "upper_bound_ms",
      "percent_of_total",  "impact_score_low",       "impact_score",
      "impact_score_high", "percent_of_computation", "savings_ms_low",
      "savings_ms",        "savings_ms_high",        "bandwidth_percent_least",
      "member_count",      "efficiency_percent",     "count"};
  MarkdownTable table({"Metric", "Value"});
  for (const findings::Fact& fact : finding.evidence) {
    if (!kSaid.contains(fact.key) && fact.key != "roof_percent_least")
      table.Row({Words(fact.key), FactText(fact)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string InnerKernels(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr std::size_t kKernelsMax = 10;
  MarkdownTable table({"Kernel", CallsTitle(analysis), "Time", "Share of the finding"});
  double all_ms = 0;  // of members, shown or not: their heading's
  for (const findings::Operation* operation : MembersOf(analysis, finding))
    all_ms += OwnMs(*operation);
  // A finding about some kernels of operations is not made of all of theirs.
  constexpr double kWhole = 1.1;
  if (all_ms > kWhole * finding.time_ms) return "";
  for (const findings::Operation* operation : MembersOf(analysis, finding)) {
    // A rate that is not a model's says nothing of the kernels one by one.
    const bool rated = operation->efficiency.percent.has_value();
    const bool explained = rated ? operation->has_model : finding.efficiency.has_value();
    if (operation->kernels.size() < 2 || explained) continue;
    const double own = OwnMs(*operation) * 1000 / operation->gpu_us;  // without other steps' work
    for (const findings::KernelShare& kernel : operation->kernels) {
      if (table.rows() == kKernelsMax) break;
      const auto calls = static_cast<double>(kernel.count);
      const double ms = own * kernel.total_us / 1000;
      table.Row({Code(analysis::ShortKernelName(kernel.name)),
                 EachCalls(analysis, kernel.count, (1 - own) * calls), EachMs(analysis, ms),
                 Pct(ms / all_ms * 100)});
    }
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string CallSites(const findings::Analysis& analysis, const findings::Finding& finding) {
  std::string text;
  std::vector<std::string> seen;
  for (const findings::Operation* operation : MembersOf(analysis, finding)) {
    if (seen.size() == 3) break;
    if (operation->entry_point.empty() && operation->module_path.empty()) continue;
    std::string line = operation->module_path.empty() ? "" : Code(operation->module_path, 160);
    if (!operation->entry_point.empty()) {
      line += (line.empty() ? "" : " at ") + Code(operation->entry_point, 120);
    }
    if (std::find(seen.begin(), seen.end(), line) != seen.end()) continue;
    text += fmt::format("- {} from {}\n", Code(operation->name, 80), line);
    seen.push_back(std::move(line));
  }
  const bool operations = !seen.empty();
  for (const std::string& path : finding.module_paths) {
    if (operations || std::find(seen.begin(), seen.end(), path) != seen.end()) continue;
    text += "- in " + Code(path, 160) + "\n";
    seen.push_back(path);
  }
  return text.empty() ? "" : "Where:\n\n" + text + "\n";
}

namespace {

// The shapes, the first four of many.
std::string ArgsText(const findings::Operation& operation) {
  constexpr int kShown = 4;
  const std::string args = CellOfText(operation.args);
  std::size_t at = 0;
  for (int i = 0; i < kShown; ++i) {
    at = args.find("<br>", at);
    if (at == std::string::npos) return args;
    at += 4;
  }
  return args.substr(0, at) + "...";
}

}  // namespace

std::string DataTable(std::span<const findings::Operation* const> operations) {
  MarkdownTable table({"Operation", "Args", "Kernel Path", "Kernel Name", "Time (ms)", "%E2E",
                       "Count", "FLOPS/Byte", "Efficiency", "Bound"});
  for (const findings::Operation* op : operations) {
    const findings::Efficiency& efficiency = op->efficiency;
    const bool known = efficiency.bound == findings::Bound::kCompute ||
                       efficiency.bound == findings::Bound::kMemory;
    const bool few = efficiency.bound == findings::Bound::kFewBlocks;
    table.Row(
        {Code(op->name, 80), CellOfText(op->args), LauncherText(*op), KernelText(*op),
         Digits(op->gpu_us / 1000),
         op->percent_of_total ? Digits(*op->percent_of_total) : std::string(kAbsentText),
         fmt::format("{}", op->count),
         efficiency.flops_per_byte ? Digits(*efficiency.flops_per_byte) : std::string(kAbsentText),
         EfficiencyText(*op),
         known ? std::string(findings::BoundText(efficiency.bound)) + "-bound"
         : few ? std::string("too few blocks")
               : std::string(kAbsentText)});
  }
  return table.text() + "\n";
}

std::string OperationsTable(const findings::Analysis& analysis,
                            std::span<const findings::Operation* const> operations) {
  MarkdownTable table({"Operation", "Args", "Kernel", "Time", "Share of the " + analysis.base.unit,
                       CallsTitle(analysis), "Achieved", "Efficiency", "Bound"});
  for (const findings::Operation* op : operations) {
    table.Row({Code(op->name, 80), ArgsText(*op), KernelText(*op), EachMs(analysis, OwnMs(*op)),
               BaseShare(analysis, OwnMs(*op)), EachCalls(analysis, op->count, op->foreign_calls),
               AchievedText(op->efficiency), EfficiencyText(*op),
               std::string(findings::BoundText(op->efficiency.bound))});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string TimeTable(const findings::Analysis& analysis) {
  const findings::Totals& totals = analysis.totals;
  if (!totals.has_gpu_work) return "The trace has no GPU time.\n\n";
  MarkdownTable table({"Part", "Time", "Share of the window"});
  const auto row = [&](std::string name, double ms) {
    table.Row({std::move(name), Ms(ms), PctOrDash(totals.Percent(ms))});
  };
  row("Window (first start to last end of GPU work)", totals.window_ms);
  row("GPU busy", totals.busy_ms);
  row("Computation", totals.computation_ms);
  row("Exposed communication", totals.exposed_comm_ms);
  row("Exposed copies", totals.exposed_copy_ms);
  row("Idle", totals.idle_ms);
  if (totals.unlinked_count > 0) row("Kernels without a launch in the trace", totals.unlinked_ms);
  row("Work without a roofline (no model or no platform)", totals.unmodeled_ms);
  row("Sum of the categories (concurrent work counts more than once)", totals.category_sum_ms);
  return table.text() + "\n";
}

std::string WallTable(const findings::Analysis& analysis) {
  const findings::WallBase& wall = analysis.wall;
  MarkdownTable table({"Wall time", "Value"});
  if (!wall.known) {
    if (wall.replay_error_percent == 0) return "";
    table.Row(
        {"Error of the simulation without a change", Pct(std::abs(wall.replay_error_percent))});
    return table.text() + "\n";
  }
  table.Row({"Recorded, first to last activity", Ms(wall.recorded_ms)});
  table.Row({"Time that savings refer to", Ms(wall.wall_ms)});
  table.Row({"Wall time if GPU work took no time", Ms(wall.host_floor_ms)});
  table.Row({"Wall time if the host took no time", Ms(wall.gpu_floor_ms)});
  table.Row({"Error of the simulation without a change", Pct(std::abs(wall.replay_error_percent))});
  table.Row({"Host waits that it explains", Pct(wall.matched_waits_percent)});
  return table.text() + "\n";
}

std::vector<const findings::Operation*> TopOperations(const findings::Analysis& analysis,
                                                      std::size_t count) {
  std::vector<const findings::Operation*> all;
  for (const findings::CategoryAnalysis& category : analysis.categories) {
    for (const findings::Operation& operation : category.operations) {
      if (OwnMs(operation) > 0) all.push_back(&operation);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const findings::Operation* a, const findings::Operation* b) {
                     const double x = OwnMs(*a);
                     const double y = OwnMs(*b);
                     return x != y ? x > y : a->id < b->id;
                   });
  all.resize(std::min(all.size(), count));
  return all;
}

// What keeps the analysis from judging, in the order in which one hides the next: what has no
// shapes or model would have no roofline on a known GPU either.
constexpr std::string_view kUnjudged[] = {"too_little",  "no_gpu_work", "no_ops",
                                          "no_shapes",   "no_model",    "no_platform",
                                          "no_launches", "graph_replay"};

std::string NothingText(const findings::Analysis& analysis) {
  const auto* unjudged = std::ranges::find_if(kUnjudged, [&](std::string_view code) {
    return std::ranges::find(analysis.nothing_because, code) != analysis.nothing_because.end();
  });
  if (unjudged != std::end(kUnjudged) || !analysis.totals.has_gpu_work ||
      !analysis.NothingToSave()) {
    // What could not be assessed, and why, is told by its line.
    const bool told = unjudged == std::end(kUnjudged) || !UnassessedSentence(analysis).empty();
    return "No finding, which does not mean that nothing could be faster." +
           (told ? "" : " " + WarningText(*unjudged));
  }
  std::string text = "\xE2\x9C\x85 Nothing to fix.";
  for (const std::string& code : analysis.nothing_because)
    text += " " + WarningText(code);
  return text;
}

}  // namespace jarvis::documents
