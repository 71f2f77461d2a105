#include "documents/comparative_facts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/tables/ops_tables.h"
#include "analysis/tables/summary.h"
#include "base/text.h"
#include "documents/markdown_text.h"
#include "findings/one/thresholds.h"
#include "findings/one/workload_finder.h"
#include "findings/two/compare_table.h"
#include "output/number_format.h"

namespace jarvis::documents {
namespace {

using analysis::GroupBy;

std::string PlatformNameOf(const findings::CompareSide& side) {
  if (side.platform) return side.platform->name;
  const std::string devices = findings::DeviceNames(side.trace);
  return devices.empty() ? "unknown device" : devices;
}

std::vector<const findings::CompareRow*> Judged(const findings::TraceComparison& ops,
                                                findings::CompareVerdict verdict) {
  std::vector<const findings::CompareRow*> rows;
  for (const findings::CompareRow& row : ops.rows) {
    if (row.verdict != verdict || !row.unexpected_ms) continue;
    if (std::abs(*row.unexpected_ms) >= findings::limits::kSlowerShareListed * ops.primary_ms)
      rows.push_back(&row);
  }
  return rows;
}

// Parts of a workload in which runs that are held against each other are told apart.
constexpr findings::WorkloadPart kTellingParts[] = {
    findings::WorkloadPart::kModel,     findings::WorkloadPart::kPhase,
    findings::WorkloadPart::kBatch,     findings::WorkloadPart::kInput,
    findings::WorkloadPart::kLayers,    findings::WorkloadPart::kPrecision,
    findings::WorkloadPart::kExecution, findings::WorkloadPart::kParallelism};

// Collectives, and ops with communication kernels of their own, that one side alone has.
std::string CommunicationOf(const findings::Balance& balance, int side, std::size_t most) {
  std::vector<std::string> names;
  for (const findings::ExchangePart& part : balance.exchanges) {
    if (part.ms[side] > 0 && !(part.ms[1 - side] > 0) && names.size() < most &&
        (most > 1 || !findings::IsOnlyWaiting(part, side)) &&
        std::find(names.begin(), names.end(), part.name) == names.end())
      names.push_back(part.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// What is recorded of the software of two devices, and what is not; empty: it is the same.
std::string SoftwareText(const ComparativeFacts& facts) {
  constexpr std::string_view kNotRecorded =
      "host processors are not recorded, so that they may differ too";
  for (const std::string& reason : facts.comparability().reasons) {
    if (!reason.starts_with("software: ") || reason == "software: the same versions") continue;
    if (reason == "software: versions not recorded")
      return fmt::format("software versions and {}", kNotRecorded);
    return fmt::format(
        "{}; {}{}", reason,
        reason.find("torch") == std::string::npos ? "the framework's version and " : "",
        kNotRecorded);
  }
  return {};
}

// What one side knows beyond the other is no difference, nor is how a mixture of the same
// precisions is shared.
bool Differ(findings::WorkloadPart part, std::string_view a, std::string_view b) {
  if (a.starts_with(b) || b.starts_with(a)) return false;
  if (part != findings::WorkloadPart::kPrecision) return true;
  const auto names = [](std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool share =
          text[i] == ' ' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
      if (!share) {
        out += text[i];
        continue;
      }
      i = std::min(text.find(',', i), text.size()) - 1;
    }
    return out;
  };
  return names(a) != names(b);
}

// Fills what tells the two apart: names for titles, and the list of differences.
void TellApart(ComparativeFacts* facts) {
  const findings::Workload& a = facts->pair.primary->workload;
  const findings::Workload& b = facts->pair.comparison->workload;
  std::string candidate;
  std::string baseline;
  const auto add = [](std::string* text, const std::string& what) {
    if (!what.empty()) *text += (text->empty() ? "" : ", ") + Md(what, 60);
  };
  for (const findings::WorkloadPart part : kTellingParts) {
    if (!a[part].known() || !b[part].known() || !Differ(part, a[part].value, b[part].value))
      continue;
    // Layers that are counted by kernels are no others where every kernel runs so much more often.
    if (part == findings::WorkloadPart::kLayers && facts->pair.changes.times_as_often != 1)
      continue;
    facts->differences.push_back(fmt::format("{}: {} instead of {}", findings::WorkloadKey(part),
                                             Md(a[part].value, 80), Md(b[part].value, 80)));
    add(&candidate, a[part].value);
    add(&baseline, b[part].value);
  }
  constexpr std::size_t kMost = 3;
  const findings::Balance& balance = facts->pair.balance;
  const std::string comm[2] = {CommunicationOf(balance, 0, kMost),
                               CommunicationOf(balance, 1, kMost)};
  if (comm[0] != comm[1]) {
    facts->differences.push_back(fmt::format("communication: {} instead of {}",
                                             comm[0].empty() ? "none" : Md(comm[0], 120),
                                             comm[1].empty() ? "none" : Md(comm[1], 120)));
    add(&candidate, CommunicationOf(balance, 0, 1));
    add(&baseline, CommunicationOf(balance, 1, 1));
  }
  if (facts->candidate_name != facts->baseline_name) {
    facts->differences.insert(
        facts->differences.begin(),
        fmt::format("device: {} instead of {}", facts->candidate_name, facts->baseline_name));
    if (std::string software = SoftwareText(*facts); !software.empty())
      facts->differences.push_back(Md(software, 300));
    return;
  }
  facts->candidate_name +=
      fmt::format(" ({})", candidate.empty() ? Md(facts->candidate.name, 60) : candidate);
  facts->baseline_name +=
      fmt::format(" ({})", baseline.empty() ? Md(facts->baseline.name, 60) : baseline);
}

// What only one side's calls show (a graph's kernels have no shapes) describes both, where the work
// is the same.
std::string SharedText(const ComparativeFacts& facts) {
  constexpr findings::WorkloadPart kParts[] = {
      findings::WorkloadPart::kModel,  findings::WorkloadPart::kBatch,
      findings::WorkloadPart::kInput,  findings::WorkloadPart::kLayers,
      findings::WorkloadPart::kHidden, findings::WorkloadPart::kHeads,
      findings::WorkloadPart::kExperts};
  constexpr std::string_view kSame[] = {"equal work", "comparable",
                                        "the same but for a changed part"};
  if (std::find(std::begin(kSame), std::end(kSame), facts.comparability().verdict) ==
          std::end(kSame) ||
      !facts.ops().same_device || facts.pair.changes.times_as_often != 1)
    return {};
  const findings::Workload* sides[2] = {&facts.pair.primary->workload,
                                        &facts.pair.comparison->workload};
  std::string text;
  for (int side = 0; side < 2; ++side) {
    std::vector<std::string> parts;
    for (const findings::WorkloadPart part : kParts) {
      const std::string& own = (*sides[side])[part].value;
      const std::string& other = (*sides[1 - side])[part].value;
      if (own.size() < other.size() && other.starts_with(own))
        parts.push_back(other.starts_with(findings::WorkloadKey(part))
                            ? Md(other, 120)
                            : fmt::format("{} {}", findings::WorkloadKey(part), Md(other, 120)));
    }
    if (parts.empty()) continue;
    text += fmt::format("{}also of the {}, as the work is the same: {}", text.empty() ? "" : "; ",
                        side == 0 ? "candidate" : "baseline", fmt::join(parts, "; "));
  }
  return text;
}

}  // namespace

Result<ComparativeFacts> CollectFacts(const ComparativeSide& candidate,
                                      const ComparativeSide& baseline, Job& job) {
  JV_ASSIGN(findings::ComparedPair pair, findings::ComparePair(candidate.side, baseline.side, job));
  ComparativeFacts facts{candidate, baseline, {}, {}, {}, {}, std::move(pair),
                         {},        {},       {}, {}, {}, {}};
  facts.model = Md(findings::WorkloadName(facts.pair.primary->workload), 60);
  facts.candidate_name = Md(PlatformNameOf(candidate.side), 60);
  facts.baseline_name = Md(PlatformNameOf(baseline.side), 60);
  facts.candidate_device = facts.candidate_name;
  TellApart(&facts);
  facts.shared = SharedText(facts);
  JV_ASSIGN(facts.categories,
            findings::CompareTraces(candidate.side, baseline.side, GroupBy::kCategory, job));
  JV_ASSIGN(facts.modules,
            findings::CompareTraces(candidate.side, baseline.side, GroupBy::kModule, job));
  facts.slower = Judged(facts.pair.ops, findings::CompareVerdict::kSlower);
  facts.faster = Judged(facts.pair.ops, findings::CompareVerdict::kFaster);
  return facts;
}

std::vector<WindowPart> WindowParts(const ComparativeFacts& facts) {
  const findings::Balance& balance = facts.pair.balance;
  std::vector<WindowPart> parts;
  const std::string unit = Capitalised(balance.unit);
  const auto add = [&](std::string name, const double(&ms)[2]) {
    if (ms[0] > 0 || ms[1] > 0) parts.push_back({std::move(name), ms[1], ms[0]});
  };
  add(unit, balance.ms);
  add("GPU busy", balance.busy_ms);
  add("GPU idle", balance.idle_ms);
  add("Exposed communication", balance.exposed_comm_ms);
  return parts;
}

std::vector<RowKernel> KernelsOf(const session::LoadedTrace& trace,
                                 const std::vector<std::uint32_t>& launchers, double parts,
                                 std::size_t most, std::size_t* rest) {
  std::map<std::string, RowKernel> by_name;
  for (const std::uint32_t i : launchers) {
    const auto& attribution = trace.attribution();
    for (const auto kernel : attribution.KernelsOf(attribution.launchers[i])) {
      const auto& event = trace.events()[kernel];
      RowKernel& sum = by_name[std::string(trace.events().strings[event.name])];
      sum.ms += static_cast<double>(event.dur_ns) / 1e6 / parts;
      sum.count += 1 / parts;
    }
  }
  std::vector<RowKernel> kernels;
  for (auto& [name, kernel] : by_name) {
    kernel.name = analysis::ShortKernelName(name);
    kernels.push_back(std::move(kernel));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const RowKernel& a, const RowKernel& b) { return a.ms > b.ms; });
  *rest = kernels.size() > most ? kernels.size() - most : 0;
  if (kernels.size() > most) kernels.resize(most);
  return kernels;
}

std::string RowIdOf(const session::LoadedTrace& trace,
                    const std::vector<std::uint32_t>& launchers) {
  if (launchers.empty()) return {};
  const std::string name = analysis::LauncherName(trace.events(), trace.attribution(),
                                                  trace.attribution().launchers[launchers.front()]);
  const auto& rows = trace.SummaryBy(GroupBy::kOp).rows;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const analysis::SummaryRow& known) {
    return known.name == name;
  });
  return found == rows.end() ? std::string() : found->id;
}

std::string_view CategoryOf(const session::LoadedTrace& trace,
                            const std::vector<std::uint32_t>& launchers) {
  return launchers.empty()
             ? std::string_view()
             : trace.attribution().CategoryOf(trace.attribution().launchers[launchers.front()]);
}

std::string Md(std::string_view text, std::size_t bytes) {
  const std::string plain = MdCode(text, bytes);
  const bool link = plain.find("](") != std::string::npos || plain.find("][") != std::string::npos;
  std::string out;
  for (const char c : plain) {
    if (c == '<')
      out += "&lt;";
    else if (c == '[' && link)
      out += "\\[";
    else
      out += c;
  }
  return out;
}

std::string MdCode(std::string_view text, std::size_t bytes) {
  std::string out = OneLine(Utf8Prefix(text, bytes));
  for (char& c : out) {
    if (c == '|') c = '/';
    if (c == '`') c = '\'';
  }
  return text.size() > bytes ? out + "..." : out;
}

std::string Ms(const std::optional<double>& value) {
  return value ? Ms(*value) : "–";
}

std::string SignedMs(double ms) {
  return (ms < 0 ? "−" : "+") + Ms(std::abs(ms));
}

std::string Delta(const std::optional<double>& value, const std::optional<double>& from) {
  if (!value || !from || !(*from > 0)) return "–";
  const double percent = (*value / *from - 1) * 100;
  return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
}

std::string ChangeText(double ratio) {
  const double percent = (ratio - 1) * 100;
  if (std::abs(percent) < 0.05) return "the same time";
  return fmt::format("{:.1f} % {} time", std::abs(percent), percent > 0 ? "more" : "less");
}

std::string TitleOf(const findings::CompareRow& row) {
  static constexpr std::string_view kUnlinked = "(unlinked) ";
  std::string name = row.name;
  if (name.starts_with(kUnlinked) && !row.arguments_differ) {
    name = std::string(kUnlinked) +
           analysis::ShortKernelName(std::string_view(name).substr(kUnlinked.size()));
  }
  const std::string shape = row.arguments_differ ? "" : findings::ShortShape(row.shape);
  return Md(name, 90) + (shape.empty() ? "" : " " + Md(shape));
}

std::string ExpectedText(const findings::CompareRow& row) {
  if (!row.expected) return "not known";
  if (row.far_from_roofs && row.verdict == findings::CompareVerdict::kSlower)
    return "the same at most, as neither is near its roof";
  const auto percent = [](double ratio) {
    return static_cast<int>(std::lround((ratio - 1) * 100));
  };
  const auto word = [](int change) { return change > 0 ? "more" : "less"; };
  int near = percent(row.expected_with_fixed_cost.value_or(*row.expected));
  int far = percent(*row.expected);
  if (std::abs(near) > std::abs(far)) std::swap(near, far);
  if (far == 0) return "the same";
  if (near == 0) return fmt::format("the same to {} % {}", std::abs(far), word(far));
  if (near == far) return fmt::format("{} % {}", std::abs(far), word(far));
  return fmt::format("{} to {} % {}", std::abs(near), std::abs(far), word(far));
}

}  // namespace jarvis::documents
