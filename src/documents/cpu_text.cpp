#include "documents/cpu_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/base_text.h"
#include "documents/markdown_text.h"

namespace jarvis::documents {
namespace {

constexpr double kCpuPartShown = 0.5;  // percent of the base

std::string WaitingName(const findings::CpuSteps& cpu) {
  if (cpu.collectives.empty()) return "Waiting";
  return fmt::format("No op runs while {} is under way", Code(cpu.collectives.front().name, 60));
}

std::string PartName(const findings::CpuSteps& cpu, findings::CpuPart part) {
  switch (part) {
    case findings::CpuPart::kWaiting: return WaitingName(cpu);
    case findings::CpuPart::kLoading: return "Data loading";
    case findings::CpuPart::kForward: return "Forward, in ops";
    case findings::CpuPart::kBackward: return "Backward, in ops";
    case findings::CpuPart::kOptimizer: return "Optimizer, in ops";
    case findings::CpuPart::kOtherOps: return "Other ops";
    case findings::CpuPart::kNoOp: break;
  }
  return "Outside ops: Python or unrecorded code";
}

// "Forward, in ops" is "forward" in a list of parts that are in ops.
std::string OpsWords(const findings::CpuSteps& cpu, findings::CpuPart part) {
  const std::string name = PartName(cpu, part);
  return LowerAscii(std::string_view(name).substr(0, name.find(',')));
}

}  // namespace

std::string CpuSentence(const findings::Analysis& analysis) {
  const findings::CpuSteps& cpu = *analysis.cpu;
  const findings::StepBase& base = analysis.base;
  std::string text = UnitLength(analysis);
  const double wait = cpu.Of(findings::CpuPart::kWaiting);
  if (base.Percent(wait) >= kCpuPartShown) {
    std::string name = WaitingName(cpu);
    name[0] = 'n';  // ours: a capital letter
    text +=
        fmt::format("; for {} ({}) {}", EachMs(analysis, wait), BaseShare(analysis, wait), name);
  }
  std::string ops;
  for (const findings::CpuPart part :
       {findings::CpuPart::kLoading, findings::CpuPart::kForward, findings::CpuPart::kBackward,
        findings::CpuPart::kOptimizer, findings::CpuPart::kOtherOps}) {
    const double ms = cpu.Of(part);
    if (base.Percent(ms) < kCpuPartShown) continue;
    ops += fmt::format("{}{} {} ({})", ops.empty() ? "; in ops: " : ", ", OpsWords(cpu, part),
                       EachMs(analysis, ms), BaseShare(analysis, ms));
  }
  text += ops;
  text += ". The recording has no GPU work.";
  const std::string left_out = LeftOut(analysis);
  return left_out.empty() ? text : text + " " + left_out;
}

std::vector<TimePart> CpuParts(const findings::Analysis& analysis) {
  std::vector<TimePart> parts;
  double beside = 0;
  for (std::size_t i = 0; i < findings::kCpuParts; ++i) {
    const auto part = static_cast<findings::CpuPart>(i);
    const double ms = analysis.cpu->Of(part);
    if (analysis.base.Percent(ms) < kCpuPartShown) {
      beside += ms;
      continue;
    }
    const bool in_no_op = part == findings::CpuPart::kWaiting || part == findings::CpuPart::kNoOp;
    parts.push_back({PartName(*analysis.cpu, part), in_no_op ? "wait" : "ops", ms});
  }
  if (analysis.base.Percent(beside) >= kCpuPartShown) parts.push_back({"All else", "else", beside});
  return parts;
}

std::string CpuTable(const findings::Analysis& analysis) {
  const findings::StepBase& base = analysis.base;
  MarkdownTable table({"Metric", "Value", "Share of the " + base.unit});
  const auto row = [&](const std::string& name, double ms) {
    table.Row({name, EachMs(analysis, ms), BaseShare(analysis, ms)});
  };
  row(Capitalised(UnitTitle(analysis)), base.total_ms);
  for (const TimePart& part : CpuParts(analysis))
    row(part.name, part.ms);
  for (const auto& [name, ms] : LeftOutUnits(analysis))
    table.Row({name, Ms(ms), std::string(kAbsentText)});
  return table.text() + "\n";
}

std::string CpuOperations(const findings::Analysis& analysis, std::size_t count) {
  constexpr std::size_t kArgsMax = 70;
  MarkdownTable table({"Rank", "Operation", CallsTitle(analysis), "Self time",
                       "Share of the " + analysis.base.unit});
  const double wait = analysis.cpu->Of(findings::CpuPart::kWaiting);
  if (analysis.base.Percent(wait) >= kCpuPartShown) {
    const auto& collectives = analysis.cpu->collectives;
    table.Row({"1", WaitingName(*analysis.cpu),
               collectives.empty() ? std::string(kAbsentText)
                                   : EachCalls(analysis, collectives.front().count, 0),
               EachMs(analysis, wait), BaseShare(analysis, wait)});
  }
  for (const findings::CpuOperation& one : analysis.cpu->operations) {
    if (table.rows() == count || one.self_ms <= 0) break;
    const std::string args = ArgsText(one.args);
    const bool shown = !one.args.empty() && args.size() <= kArgsMax;
    table.Row({fmt::format("{}", table.rows() + 1), Code(one.name, 60) + (shown ? " " + args : ""),
               EachCalls(analysis, one.count, 0), EachMs(analysis, one.self_ms),
               BaseShare(analysis, one.self_ms)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::vector<std::pair<std::string, std::string>> CpuFigures(const findings::Finding& finding) {
  constexpr std::pair<std::string_view, std::string_view> kTitles[] = {
      {"calls", "Calls"}, {"pace", "Pace"}, {"odd", "In the steps left out"}, {"ops", "Ops"}};
  std::vector<std::pair<std::string, std::string>> figures;
  for (const findings::PatternHit& hit : finding.patterns) {
    for (const findings::Fact& fact : hit.facts) {
      for (const auto& [key, title] : kTitles) {
        const auto* value = std::get_if<std::string>(&fact.value);
        if (fact.key != key || value == nullptr) continue;
        figures.emplace_back(title, key == "ops" ? *value + " ops" : *value);
      }
    }
  }
  return figures;
}

}  // namespace jarvis::documents
