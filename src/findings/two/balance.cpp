#include "findings/two/balance.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "output/number_format.h"

namespace jarvis::findings {
namespace {

constexpr double kLineShare = 0.01;  // of the larger window
constexpr std::size_t kNameBytes = 60;

BalanceLine PlainLine(BalanceKind kind, double primary_ms, double comparison_ms) {
  BalanceLine line;
  line.kind = kind;
  line.primary.ms = primary_ms;
  line.comparison.ms = comparison_ms;
  return line;
}

double CallsMs(const session::LoadedTrace& trace) {
  double us = 0;
  for (const analysis::Launcher& launcher : trace.attribution().launchers)
    us += launcher.direct_us;
  return us / 1000;
}

std::string Named(std::string_view text) {
  std::string name = OneLine(Utf8Prefix(text, kNameBytes));
  std::replace(name.begin(), name.end(), '`', '\'');
  std::replace(name.begin(), name.end(), '|', '/');
  return "`" + name + "`";
}

std::string SideText(const BlockSide& side, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < side.names.size() && i < most; ++i) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", Named(side.names[i].first),
                        output::CellText(Cell(side.names[i].second)));
  }
  if (side.names.size() > most) text += fmt::format(" and {} more", side.names.size() - most);
  return text;
}

std::string ChangedText(const BalanceLine& line, std::size_t most) {
  const std::string target = SideText(line.primary, most);
  const std::string reference = SideText(line.comparison, most);
  std::string text = reference.empty() ? target + " added"
                     : target.empty()  ? reference + " dropped"
                                       : target + " instead of " + reference;
  if (line.count > 1) text += fmt::format(", {} times", line.count);
  if (line.after.empty() && line.before.empty()) return text;
  if (line.after.empty()) return text + fmt::format(" (before {})", Named(line.before));
  if (line.before.empty()) return text + fmt::format(" (after {})", Named(line.after));
  return text + fmt::format(" (between {} and {})", Named(line.after), Named(line.before));
}

}  // namespace

Balance BalanceOf(const session::LoadedTrace& primary, const session::LoadedTrace& comparison,
                  const CommonOrder& order) {
  Balance balance;
  if (!primary.timeline() || !comparison.timeline()) return balance;
  const analysis::GpuTimeline& a = *primary.timeline();
  const analysis::GpuTimeline& b = *comparison.timeline();
  balance.primary_ms = a.total / 1000;
  balance.comparison_ms = b.total / 1000;
  std::vector<BalanceLine> all = {
      PlainLine(BalanceKind::kIdle, a.idle / 1000, b.idle / 1000),
      PlainLine(BalanceKind::kUnlinked, order.primary_unlinked_ms, order.comparison_unlinked_ms),
      PlainLine(BalanceKind::kOverlap, a.busy / 1000 - CallsMs(primary),
                b.busy / 1000 - CallsMs(comparison))};
  for (const ChangedBlock& block : order.blocks) {
    BalanceLine line;
    line.kind = BalanceKind::kChanged;
    line.count = block.count;
    line.primary = block.primary;
    line.comparison = block.comparison;
    line.after = block.after;
    line.before = block.before;
    all.push_back(std::move(line));
  }
  for (const CommonCalls& calls : order.common) {
    BalanceLine line = PlainLine(BalanceKind::kCommon, calls.primary_ms, calls.comparison_ms);
    line.count = calls.calls;
    line.name = calls.name;
    all.push_back(std::move(line));
  }
  const double least = kLineShare * std::max(balance.primary_ms, balance.comparison_ms);
  BalanceLine rest;
  for (BalanceLine& line : all) {
    if (std::abs(line.difference_ms()) >= least) {
      balance.lines.push_back(std::move(line));
      continue;
    }
    rest.primary.ms += line.primary.ms;
    rest.comparison.ms += line.comparison.ms;
  }
  std::stable_sort(balance.lines.begin(), balance.lines.end(),
                   [](const BalanceLine& x, const BalanceLine& y) {
                     return std::abs(x.difference_ms()) > std::abs(y.difference_ms());
                   });
  balance.lines.push_back(std::move(rest));
  return balance;
}

std::string LineText(const BalanceLine& line, std::size_t most) {
  switch (line.kind) {
    case BalanceKind::kIdle: return "GPU idle";
    case BalanceKind::kUnlinked: return "GPU work launched before the recording";
    case BalanceKind::kOverlap: return "less what ran beside other work";
    case BalanceKind::kRest: return "all else, each below 1 % of the window";
    case BalanceKind::kCommon:
      return fmt::format("{}, the same {} calls", Named(line.name), line.count);
    case BalanceKind::kChanged: break;
  }
  return ChangedText(line, most);
}

}  // namespace jarvis::findings
