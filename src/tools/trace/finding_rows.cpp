#include "tools/trace/finding_rows.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "documents/markdown_text.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {
namespace {

using findings::Analysis;
using findings::Finding;

// The ways' keys; of a rule's way the rule's.
std::string PathText(const Finding& finding, const std::vector<findings::Remedy>& path) {
  std::string text;
  for (const findings::Remedy& remedy : path) {
    const bool of_rule = remedy.advice == findings::Advice::kRule && finding.rule;
    text += fmt::format(
        "{}{}", text.empty() ? "" : " ",
        of_rule ? findings::Info(*finding.rule).key : findings::Info(remedy.advice).key);
  }
  return text;
}

// Findings about sections and waits of the host may be several of one kind: their places tell them
// apart. Empty: nothing is named, or the kind says it.
std::string HostPlaceOf(const Finding& f) {
  if (f.host == nullptr || f.host->loading) return {};
  const findings::HostCause& cause = *f.host;
  const bool named = cause.kind == findings::HostCauseKind::kSection ||
                     cause.kind == findings::HostCauseKind::kWaits;
  if (!named) return {};
  const std::string& around = cause.within.empty() ? cause.work : cause.within;
  if (!around.empty()) return around;
  return cause.places.empty() ? std::string() : cause.places.front().name;
}

struct Reason {
  std::string_view key;
  std::string_view text;
};
constexpr Reason kReasons[] = {
    {"too_little", "a few launches beside the start of their program are too little to rank"},
    {"near_roof", "what has a roof is near it"},
    {"dismissed", "what was found was dismissed"},
    {"no_platform", "no platform to measure against: pass platform"},
    {"no_shapes", "shapes were not recorded"},
    {"no_model", "some ops have no performance model"},
    {"below_threshold", "what could be saved is too little to matter"},
    {"above_roof", "rows above their roof claim nothing"},
    {"routing_assumed", "expert routing is assumed uniform"},
    {"see_multi_kernel", "see category communication"},
    {"busy", "the GPU is busy"},
    {"no_gpu_work", "the trace has no GPU work"},
};

// A recording of the CPU alone.
std::string CpuHeadline(const Analysis& a) {
  return fmt::format("{} findings in {} ms of {}{}; the trace has no GPU work.", a.findings.size(),
                     output::Rounded(a.base.total_ms), a.base.unit, a.base.count == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> FindingColumns() {
  return {"finding",  "category", "subject", "gpu_ms",  "percent",  "efficiency",
          "bound",    "saves_ms", "low_ms",  "high_ms", "after_ms", "priority",
          "estimate", "rows",     "path_a",  "path_b",  "patterns", "warnings"};
}

std::vector<Cell> FindingRow(const Finding& f) {
  const auto text = [](std::string value) {
    return value.empty() ? Cell() : Cell(std::move(value));
  };
  std::string rows;
  for (std::size_t i = 0; i < f.row_ids.size() && i < 3; ++i)
    rows += (i == 0 ? "" : " ") + f.row_ids[i];
  std::string patterns;
  for (const findings::PatternHit& hit : f.patterns)
    patterns += fmt::format("{}{}", patterns.empty() ? "" : " ", findings::Info(hit.pattern).key);
  std::string warnings;
  for (const std::string& warning : f.warnings)
    warnings += (warnings.empty() ? "" : " ") + warning;
  // Of wall time where it is known, by the better way.
  const findings::WallSaving* best = findings::BestWall(f);
  const auto saving = [&](double findings::Range::*part) {
    if (best != nullptr) return Cell(best->ms.*part);
    return f.savings_ms ? Cell((*f.savings_ms).*part) : Cell();
  };
  // Of what has a bound alone, that is the most.
  const Cell high = best == nullptr && !f.savings_ms && f.bound_ms ? Cell(*f.bound_ms)
                                                                   : saving(&findings::Range::high);
  std::string subject = OneLine(Utf8Prefix(f.subject, 60));
  if (!f.subject_args.empty()) subject += " " + ShortArgs(f.subject_args);
  if (const std::string place = HostPlaceOf(f); !place.empty())
    subject += ": " + OneLine(Utf8Prefix(place, 60));
  return {f.id,
          f.category,
          subject,
          f.time_ms,
          CellOf(f.percent_of_total),
          CellOf(f.efficiency),
          std::string(findings::BoundText(f.bound)),
          saving(&findings::Range::mid),
          saving(&findings::Range::low),
          high,
          best != nullptr && !f.one_off ? Cell(best->after_others_ms) : Cell(),
          std::string(findings::PriorityText(f.priority)),
          std::string(findings::MethodText(f.method)),
          text(rows),
          PathText(f, f.path_a),
          PathText(f, f.path_b),
          text(patterns),
          text(warnings)};
}

std::string ReasonText(const std::string& key) {
  for (const Reason& reason : kReasons) {
    if (reason.key == key) return std::string(reason.text);
  }
  return key;
}

std::string ShortArgs(const std::string& args) {
  std::string text;
  std::size_t at = 0;
  for (int tensors = 0; at < args.size(); ++tensors) {
    const std::size_t end = std::min(args.find("<br>", at), args.size());
    if (tensors == 3) return text + " ...";
    text += (text.empty() ? "" : " ") + args.substr(at, end - at);
    at = end == args.size() ? end : end + 4;
  }
  return text;
}

std::string WholeHeadline(const Analysis& a) {
  if (a.cpu) return CpuHeadline(a);
  if (!a.totals.has_gpu_work) return "The trace has no GPU work.";
  std::string text = fmt::format("{} findings in {} ms: computing {:.1f} %, idle {:.1f} %",
                                 a.findings.size(), output::Rounded(a.totals.window_ms),
                                 Percent(a.totals.computation_ms, a.totals.window_ms).value_or(0),
                                 Percent(a.totals.idle_ms, a.totals.window_ms).value_or(0));
  if (!a.findings.empty() && a.wall.together_ms) {
    text += fmt::format("; together they save {} of {} ms of wall time ({:.1f} %)",
                        output::Rounded(a.wall.together_ms->mid), output::Rounded(a.wall.wall_ms),
                        a.wall.together_ms->mid / a.wall.wall_ms * 100);
  } else if (!a.findings.empty() && a.combined.percent && !a.wall.known) {
    text += fmt::format("; together they may save {} ms ({:.1f} %)",
                        output::Rounded(a.combined.savings_ms.mid), a.combined.percent->mid);
  }
  return text + ".";
}

std::string SystemHeadline(const Analysis& a, std::string_view category) {
  if (!a.totals.has_gpu_work) return "The trace has no GPU work.";
  if (category == "cpu_idle") {
    return fmt::format(
        "The GPU is idle {} of {} ms ({:.1f} %){}.", output::Rounded(a.totals.idle_ms),
        output::Rounded(a.totals.window_ms), a.idle.idle_percent.value_or(0),
        a.idle.reliable ? "" : "; causes are unreliable: " + a.idle.unreliable_because);
  }
  if (category == "multi_kernel") {
    return fmt::format(
        "Communication {} ms, {} ms of it exposed; copies {} ms, {} ms of it exposed.",
        output::Rounded(a.multi_kernel.comm_us / 1000),
        output::Rounded(a.multi_kernel.exposed_comm_us / 1000),
        output::Rounded(a.multi_kernel.copy_us / 1000),
        output::Rounded(a.multi_kernel.exposed_copy_us / 1000));
  }
  return fmt::format("{} fusion candidates in {} ms of GPU time.", a.fusion.candidates.size(),
                     output::Rounded(a.fusion.total_us / 1000));
}

std::string AnomalyNote(const findings::CategoryAnalysis& category) {
  JV_CHECK(!category.anomalies.empty());
  const std::size_t count = category.anomalies.size();
  const findings::Anomaly& worst = category.anomalies.front();
  return fmt::format(
      "[anomaly] {} of {} exceed{} the roofline (first: {}, {:.0f} %): check the platform, the "
      "shapes and the model before using {}",
      documents::Calls(count, "rows"), category.key, count == 1 ? "s" : "", worst.operation,
      worst.efficiency, count == 1 ? "it" : "them");
}

}  // namespace jarvis::tools
