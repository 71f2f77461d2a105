#include "documents/comparative_words.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/tables/summary.h"
#include "base/number_text.h"
#include "base/text.h"
#include "documents/comparative_base.h"
#include "documents/comparative_rates.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "documents/time_parts.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

using findings::Balance;
using findings::BalanceLine;
using findings::ExchangePart;
using findings::PairLever;
using findings::PairTarget;
using ledger::WorkKind;

// What of a unit is worth a sentence.
constexpr double kWorthShare = 0.02;

std::string CollectiveText(const ExchangePart& part, int side, const std::string& unit) {
  const std::string name = PartName(part);
  if (!(part.longest_us[side] > 0)) return fmt::format("{} {} {}", name, Ms(part.ms[side]), unit);
  std::string text =
      fmt::format("{} takes {} to {} µs ({} {})", name, ThreeDigits(part.shortest_us[side]),
                  ThreeDigits(part.longest_us[side]), Ms(part.ms[side]), unit);
  if (findings::IsOnlyWaiting(part, side))
    return text + ": so few bytes move in microseconds, so it waits for another rank";
  if (!part.bytes || !(part.shortest_us[side] > 0)) return text;
  const double mean_us = part.ms[side] * 1000 / part.calls[side];
  const double link_kb = *part.bytes * part.link_part.value_or(1) / 1000;
  text +=
      fmt::format(": {:.0f} GB/s{} at best, {:.0f} on average", link_kb / part.shortest_us[side],
                  part.link_part ? " on the bus" : "", link_kb / mean_us);
  // Above this the mean says more of others' lateness than of the link.
  constexpr double kMostlyTransfer = 1.3;
  return text + (mean_us <= kMostlyTransfer * part.shortest_us[side]
                     ? ", nearly all of it transfer"
                     : fmt::format(", {} beyond the best call: waiting, or a busy link",
                                   PercentText(1 - part.shortest_us[side] / mean_us)));
}

class FindingsWriter {
 public:
  explicit FindingsWriter(const ComparativeFacts& facts)
      : f_(facts), balance_(facts.pair.balance) {}

  std::vector<std::string> Run() {
    if (!f_.pair.comparable()) return {"Nothing is judged: the traces are not comparable."};
    Unexplained();
    Together();
    Exchanged();
    Explained();
    Idle();
    Collectives();
    Faster();
    Host();
    return std::move(out_);
  }

 private:
  bool Worth(double ms) const { return std::abs(ms) >= kWorthShare * balance_.ms[0]; }

  void Unexplained() {
    for (const PairLever& lever : f_.pair.levers) {
      std::string text =
          fmt::format("**{}**: {} where the baseline takes {}{}",
                      Capitalised(std::string(ledger::WorkKindText(lever.work))), Ms(lever.now_ms),
                      Ms(lever.comparison_ms), BothRates(balance_.Find(lever.work)));
      text += f_.ops().same_device ? ": slower on the same device."
              : lever.target == PairTarget::kBandwidth
                  ? fmt::format(": the bandwidths alone would give {}.", Ms(lever.target_ms))
                  : fmt::format(": not explained by the hardware: library, tuning or layout; {}.",
                                TargetText(lever));
      out_.push_back(std::move(text));
    }
  }

  // What the GPU's work would come to, and whether that would still set the pace.
  void Together() {
    // Where the host sets the pace now, that is said instead.
    if (f_.pair.levers.size() < 2 || f_.pair.host_bound()) return;
    double saved = 0;
    for (const PairLever& lever : f_.pair.levers)
      saved += lever.saved_ms();
    const double left = balance_.busy_ms[0] - saved;
    std::string text =
        fmt::format("With all of these the candidate's GPU work would take {} of its {}", Ms(left),
                    Ms(balance_.busy_ms[0]));
    if (f_.pair.host_floor_ms.value_or(0) > left)
      text += fmt::format("; the host, which alone takes {}, would set the pace then",
                          Ms(*f_.pair.host_floor_ms));
    out_.push_back(text + ".");
  }

  // What products of a changed part achieve, where their own arguments do not tell.
  void Exchanged() {
    if (!f_.pair.exchanged) return;
    const findings::ExchangedProducts& of = *f_.pair.exchanged;
    const auto rate = [&](int side, const std::string& precision) {
      return fmt::format("{:.0f} TFLOPS/s{}", of.tflops[side],
                         of.share[side] ? fmt::format(" ({} of the {}peak)",
                                                      PercentText(*of.share[side]), precision)
                                        : "");
    };
    out_.push_back(fmt::format(
        "**Products of the changed part**: {} against {} {}: {} in the baseline; the same work in "
        "the candidate's time is {}.",
        Ms(of.ms[0]), Ms(of.ms[1]), UnitText(f_), rate(1, ""),
        rate(0, of.primary_precision.empty() ? "" : of.primary_precision + " ")));
  }

  void Explained() {
    for (const BalanceLine& line : balance_.lines) {
      const bool told =
          std::any_of(f_.pair.levers.begin(), f_.pair.levers.end(),
                      [&](const PairLever& lever) { return lever.work == line.work; });
      if (!line.work || told || !Worth(line.gpu_ms[0] - line.gpu_ms[1])) continue;
      const std::string name = Capitalised(std::string(ledger::WorkKindText(*line.work)));
      if (line.expected_ms) {
        out_.push_back(fmt::format(
            "**{}**: {} against {}, {:.2f} of the baseline's time; the hardware alone would give "
            "{:.2f}{}.",
            name, Ms(line.gpu_ms[0]), Ms(line.gpu_ms[1]), line.gpu_ms[0] / line.gpu_ms[1],
            *line.expected_ms / line.gpu_ms[1], BothRates(&line)));
      } else if (const std::string rates = BothRates(&line);
                 f_.ops().same_device && !rates.empty()) {
        out_.push_back(fmt::format("**{}**: {} against {}{}.", name, Ms(line.gpu_ms[0]),
                                   Ms(line.gpu_ms[1]), rates));
      }
    }
  }

  // On one device it is among the changes.
  void Idle() {
    const double change = balance_.idle_ms[0] - balance_.idle_ms[1];
    if (!Worth(change) || f_.ops().same_device) return;
    std::string text = fmt::format("**GPU idle**: {} against {} {}", Ms(balance_.idle_ms[0]),
                                   Ms(balance_.idle_ms[1]), UnitText(f_));
    const double(&syncs)[2] = f_.pair.syncs;
    if (std::abs(syncs[0] - syncs[1]) >= 0.5) {
      text += fmt::format(": {} calls {} wait for the GPU, {} in the baseline",
                          ThreeDigits(syncs[0]), UnitText(f_), ThreeDigits(syncs[1]));
    }
    const double busy = balance_.busy_ms[0] - balance_.busy_ms[1];
    constexpr double kMuch = 0.5;
    if (f_.pair.host_bound() && Worth(busy) && busy < 0 && change >= kMuch * -busy) {
      text += fmt::format(
          "; the GPU is busy for {} less, and most of that became idle time: the host sets the "
          "pace, "
          "so that fewer launches come next",
          Ms(-busy));
    }
    out_.push_back(text + ".");
  }

  void Collectives() {
    const char* const names[2] = {"candidate", "baseline"};
    for (int side = 0; side < 2; ++side) {
      std::vector<std::string> texts;
      for (const ExchangePart& part : balance_.exchanges) {
        if (part.calls[side] > 0 && Worth(part.ms[side]))
          texts.push_back(CollectiveText(part, side, UnitText(f_)));
      }
      if (texts.empty()) continue;
      out_.push_back(
          fmt::format("**Communication of the {}**: {}.", names[side], fmt::join(texts, "; ")));
    }
  }

  // Where the baseline may have room: one sentence.
  void Faster() {
    std::vector<std::string> texts;
    double sum = 0;
    constexpr std::size_t kMost = 2;
    for (const findings::CompareRow* row : f_.faster) {
      sum += std::abs(*row->unexpected_ms);
      if (texts.size() < kMost)
        texts.push_back(fmt::format("{} ({:.2f} of the baseline's time, {:.2f} expected)",
                                    TitleOf(*row), *row->ratio, *row->expected));
    }
    if (texts.empty() || !Worth(sum) || f_.ops().same_device) return;
    out_.push_back(
        fmt::format("Faster than the hardware explains, so the baseline's kernels have "
                    "room: {}.",
                    fmt::join(texts, "; ")));
  }

  // GPU time that is saved shows only as far as the host lets it.
  void Host() {
    if (!f_.pair.host_bound()) return;
    const double floor = *f_.pair.host_floor_ms;
    const double rest = balance_.ms[0] - floor;
    out_.push_back(fmt::format(
        "**The host bounds the candidate**: if its GPU work took no time, {} of {} {} would remain "
        "as "
        "traced. GPU time that is saved{} shows only with fewer or cheaper launches (compile, "
        "graphs).",
        Ms(floor), Ms(balance_.ms[0]), UnitText(f_),
        Worth(rest) ? " beyond " + Ms(rest) : std::string()));
  }

  const ComparativeFacts& f_;
  const Balance& balance_;
  std::vector<std::string> out_;
};

}  // namespace

std::string LineName(const findings::BalanceLine& line) {
  if (line.work) return LineWords(*line.work);
  return line.idle ? LineWords(*line.idle) : line.name;
}

namespace {

// Where kernels of nothing take much longer on one side, ratios of short ops tell that and no more.
std::string FloorText(const ComparativeFacts& facts) {
  constexpr double kMuchLonger = 2;
  const auto& floor = facts.pair.kernel_floor_us;
  if (facts.ops().same_device || !floor[0] || !floor[1]) return {};
  const int slow = *floor[0] > *floor[1] ? 0 : 1;
  if (*floor[slow] < kMuchLonger * *floor[1 - slow]) return {};
  const ComparativeSide& side = slow == 0 ? facts.candidate : facts.baseline;
  const bool amd = side.side.platform && side.side.platform->vendor == "AMD";
  return fmt::format(
      "The shortest kernels take {} µs on the {} and {} on the {}{}: short ops differ by "
      "that, not by their work, and only windows, not busy times, are comparable there.",
      ThreeDigits(*floor[slow]), slow == 0 ? "candidate" : "baseline",
      ThreeDigits(*floor[1 - slow]), slow == 0 ? "baseline" : "candidate",
      amd ? ", as AMD's durations hold the dispatch of a kernel" : "");
}

}  // namespace

std::string UnitText(const ComparativeFacts& facts) {
  const analysis::TimeUnit unit = facts.pair.balance.ledger.unit[0];
  return unit == analysis::TimeUnit::kRecording ? "in all" : OneUnit(unit);
}

std::string PartName(const ExchangePart& part) {
  if (!part.collective || part.name.find("::") != std::string::npos || !part.bytes)
    return Code(part.name, 60);
  return fmt::format("{} of {}", part.name, BytesText(*part.bytes));
}

std::string PartsText(const Balance& balance, const BalanceLine& line, std::size_t most,
                      double least_ms) {
  if (!line.work) return {};
  std::vector<std::pair<double, std::string>> parts;
  if (ledger::IsCommunication(*line.work)) {
    for (const ExchangePart& part : balance.exchanges)
      parts.emplace_back(part.difference_ms(), PartName(part));
  } else {
    std::map<std::string, double> names;
    for (const ledger::DifferenceLine& kernel : balance.ledger.kernels) {
      if (kernel.work == line.work)
        names[analysis::ShortKernelName(kernel.line)] +=
            static_cast<double>(kernel.delta_ns()) / 1e6;
    }
    for (const auto& [name, ms] : names)
      parts.emplace_back(ms, Code(name, 60));
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::abs(a.first) > std::abs(b.first);
  });
  std::vector<std::string> texts;
  for (const auto& [ms, name] : parts) {
    if (texts.size() == most || std::abs(ms) < least_ms) break;
    texts.push_back(fmt::format("{} {}", name, SignedMs(ms)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> KeyFindings(const ComparativeFacts& facts) {
  return FindingsWriter(facts).Run();
}

namespace {

// GPU work of an earlier step, which no figure here holds.
double ForeignMs(const findings::Analysis& analysis) {
  return static_cast<double>(Length(analysis.frames->frames.foreign_busy)) / 1e6;
}

// Recording an op takes the host about as long whatever the op does, so that who calls more ops is
// slowed more, and idle time differs by less without the profiler.
std::string ProfiledText(const ComparativeFacts& facts) {
  constexpr double kManyMore = 2;
  constexpr double kMatters = 0.1;  // of the difference
  const double(&ops)[2] = facts.pair.changes.ops;
  const auto& verdict = facts.pair.verdict;
  const int more = ops[0] > ops[1] ? 0 : 1;
  const bool idle = std::abs(verdict.idle_ms) >= kMatters * std::abs(verdict.ms) &&
                    (verdict.idle_ms > 0) == (more == 0);
  if (!idle || !(ops[more] >= kManyMore * ops[1 - more]) || !(ops[1 - more] > 0)) return {};
  return fmt::format(
      "The {} has {} recorded ops {}, the {} {}. Recording slows the host with every op, so "
      "without "
      "the profiler the idle time differs by less; the GPU's work does not depend on it.",
      more == 0 ? "candidate" : "baseline", ThreeDigits(ops[more]), UnitText(facts),
      more == 0 ? "baseline" : "candidate", ThreeDigits(ops[1 - more]));
}

// What was done before the recording to be faster in it.
std::string CompiledText(const ComparativeFacts& facts) {
  const auto& changes = facts.pair.changes.changes;
  const bool generated = std::any_of(changes.begin(), changes.end(), [](const auto& change) {
    return change.kind == findings::ChangeKind::kGenerated;
  });
  const double(&ms)[2] = facts.pair.changes.generated_ms;
  if (!generated || std::min(ms[0], ms[1]) > 0) return {};
  return fmt::format(
      "Compiling, autotuning and graph capture of the {} took place before the recording and are "
      "in "
      "no figure.",
      ms[0] > 0 ? "candidate" : "baseline");
}

// What of the candidate is large and of which nothing recorded says how fast it could be.
std::string NotSizedText(const ComparativeFacts& facts) {
  std::vector<std::string> texts;
  // Kinds of which the baseline's shapes tell.
  const auto told = [&](const findings::Finding& finding) {
    return std::any_of(facts.pair.of_moved.begin(), facts.pair.of_moved.end(), [&](const auto& of) {
      return findings::KindOf(of.finding->category) == findings::KindOf(finding.category);
    });
  };
  constexpr std::size_t kMost = 3;
  for (const findings::Finding* finding : facts.pair.own) {
    if (texts.size() == kMost) break;
    if (findings::BestWall(*finding) == nullptr && !finding->savings_ms && !finding->bound_ms &&
        !told(*finding))
      texts.push_back(fmt::format("{} {}", Code(finding->subject, 60),
                                  Ms(finding->OwnMs() / facts.pair.balance.units[0])));
  }
  if (texts.empty()) return {};
  return fmt::format("Not assessed in the candidate, as nothing recorded tells their work: {}.",
                     fmt::join(texts, ", "));
}

}  // namespace

std::vector<std::string> PairLimits(const ComparativeFacts& facts) {
  std::vector<std::string> limits;
  const findings::Comparability& c = facts.comparability();
  limits.push_back(fmt::format("{} ({} of 100): {}.", Capitalised(c.verdict), c.score,
                               Md(fmt::format("{}", fmt::join(c.reasons, "; ")), 600)));
  const findings::Analysis* sides[2] = {facts.pair.primary.get(), facts.pair.comparison.get()};
  double foreign[2];
  for (int i = 0; i < 2; ++i)
    foreign[i] = ForeignMs(*sides[i]);
  if (foreign[0] + foreign[1] > 0) {
    limits.push_back(fmt::format(
        "Left out on both sides: GPU work launched before the recordings began ({} of the "
        "candidate, "
        "{} of the baseline), which belongs to a step that is not there. Whole recordings are not "
        "comparable for it.",
        Ms(foreign[0]), Ms(foreign[1])));
  }
  if (const std::string text = FloorText(facts); !text.empty()) limits.push_back(text);
  for (const auto& text : {ProfiledText(facts), CompiledText(facts), NotSizedText(facts)}) {
    if (!text.empty()) limits.push_back(text);
  }
  if (!facts.ops().same_device) {
    limits.push_back(
        "Host time is a property of processor and software, not of the GPUs: only GPU work is held "
        "against the devices' figures.");
  }
  return limits;
}

std::vector<std::string> PairNextRecordings(const ComparativeFacts& facts) {
  std::vector<std::string> next;
  double exchanges_ms[2] = {0, 0};
  for (const ExchangePart& part : facts.pair.balance.exchanges) {
    for (int i = 0; i < 2; ++i)
      exchanges_ms[i] += part.ms[i];
  }
  if (std::max(exchanges_ms[0], exchanges_ms[1]) > kWorthShare * facts.pair.balance.ms[0])
    next.emplace_back(
        "The same step on every rank, then `jarvis collectives DIRECTORY`: one rank does not tell "
        "waiting from a slow link for certain.");
  if (ForeignMs(*facts.pair.primary) + ForeignMs(*facts.pair.comparison) > 0) {
    next.emplace_back(
        "Both with `torch.cuda.synchronize()` before the profiler starts (or its schedule with a "
        "warm-up step), so that no earlier step runs into the recording.");
  }
  if (facts.pair.verdict.spread[0].count < 2 || facts.pair.verdict.spread[1].count < 2) {
    next.emplace_back(
        "Ten steps or more on each side, recorded in turns on one machine with the same inputs and "
        "seed: one step a side shows no spread, so a small difference stays unproven.");
  }
  if (!facts.ops().same_device) {
    next.emplace_back(
        "Both with one PyTorch version, its number and the processor's name noted beside them, and "
        "without stacks and memory: the host's share hangs on these.");
  }
  return next;
}

}  // namespace jarvis::documents
