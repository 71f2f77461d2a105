#include "documents/comparative_words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/tables/summary.h"
#include "base/text.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "findings/two/compare_table.h"

namespace jarvis::documents {
namespace {

using findings::Balance;
using findings::BalanceKind;
using findings::BalanceLine;
using findings::BalancePart;
using findings::PairLever;
using findings::PairTarget;
using findings::WorkClass;

// What of a unit is worth a sentence.
constexpr double kWorthShare = 0.02;
constexpr std::size_t kShapesMax = 3;

std::string Capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string PercentText(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string BytesText(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.3g} kB", bytes / 1e3);
  return bytes < 1e9 ? fmt::format("{:.3g} MB", bytes / 1e6)
                     : fmt::format("{:.3g} GB", bytes / 1e9);
}

// "474 TFLOPS/s, 36 % of its peak": of a class on one side; empty: not known. Rate and share are of
// one resource.
std::string RateText(const BalanceLine& line, int side) {
  const bool arithmetic = line.told_by_arithmetic();
  const std::optional<double>& rate = arithmetic ? line.tflops[side] : line.tb_per_s[side];
  const std::optional<double>& share =
      arithmetic ? line.rate_share[side] : line.bandwidth_share[side];
  if (!rate || !share) return {};
  std::string text = fmt::format("{:.3g} {}, {} of its {}", *rate, arithmetic ? "TFLOPS/s" : "TB/s",
                                 PercentText(*share), arithmetic ? "peak" : "bandwidth");
  const bool products = line.work == WorkClass::kProducts || line.work == WorkClass::kConvolution;
  if (side == 0 && products && arithmetic && line.practical_ms)
    text += fmt::format(" and {} of what was measured to be possible",
                        PercentText(*line.practical_ms / line.ms[0]));
  return text;
}

std::string BothRates(const BalanceLine* line) {
  if (line == nullptr) return {};
  const std::string target = RateText(*line, 0);
  const std::string reference = RateText(*line, 1);
  if (target.empty() || reference.empty()) return {};
  return fmt::format(" ({}; the reference {})", target, reference);
}

// The shapes with the largest gaps, as a tuning run needs them.
std::string ShapesText(const std::vector<const findings::CompareRow*>& rows) {
  std::vector<std::string> shapes;
  for (const findings::CompareRow* row : rows) {
    if (shapes.size() == kShapesMax) break;
    if (!row->shape.empty() && row->shape != "(same work)")
      shapes.push_back(Md(findings::ShortShape(row->shape), 80));
  }
  return fmt::format("{}", fmt::join(shapes, ", "));
}

// What the target's own analysis has for these products where the model may change: "Merge products
// that share their input: ..."; empty: nothing.
std::string OwnProductsWay(const ComparativeFacts& facts) {
  const findings::Analysis& analysis = *facts.pair.primary;
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.tier != findings::Tier::kCompute ||
        findings::KindOf(finding.category) != findings::Kind::kGemm)
      continue;
    const std::string draft = DraftText(analysis, finding).path_a;
    const std::string way(Trim(draft));
    if (!way.empty() && !way.starts_with("None")) return way.substr(0, way.find(". ")) ;
  }
  return {};
}

std::string ProductsAction(const ComparativeFacts& facts, const PairLever& lever) {
  const std::string shapes = ShapesText(lever.rows);
  const std::string for_shapes = shapes.empty() ? "" : " for " + shapes;
  std::string own = OwnProductsWay(facts);
  if (own.ends_with('.')) own.pop_back();
  if (lever.library == "Tensile" || lever.library == "rocBLAS") {
    return fmt::format(
        "{}Path B: tune the solutions{}: TunableOp (`PYTORCH_TUNABLEOP_ENABLED=1`, one run that "
        "tunes, its results file kept), or hipBLASLt instead of rocBLAS "
        "(`TORCH_BLAS_PREFER_HIPBLASLT=1`): up to {}",
        own.empty() ? "" : "Path A: " + own + " (a part of that). ", for_shapes,
        Ms(lever.saved_ms()));
  }
  if (lever.library == "cuBLAS" || lever.library == "cuBLASLt") {
    return fmt::format(
        "Path A: let `torch.compile(mode=\"max-autotune\")` choose among cuBLASLt, CUTLASS and "
        "Triton{}, or merge products of one input. Path B: the cuBLASLt algorithm and its "
        "workspace for these shapes",
        for_shapes);
  }
  return fmt::format(
      "Path A: try the vendor's library for these products. Path B: autotune tiles and stages of "
      "the {}kernel{}",
      lever.library.empty() ? "" : lever.library + " ", for_shapes);
}

std::string AttentionAction(const PairLever& lever) {
  if (lever.library == "AOTriton") {
    return "Path A: another backend behind the same call: the CK flash attention of ROCm PyTorch "
           "(`torch.backends.cuda.preferred_rocm_fa_library(\"ck\")`, where the build has it) or "
           "AITER, or a newer AOTriton: as much. Path B: its tile configuration for this head size "
           "and length";
  }
  if (lever.library == "FlashAttention" || lever.library == "CUTLASS") {
    return "Path A: the cuDNN backend of `scaled_dot_product_attention` (`torch.nn.attention."
           "sdpa_kernel`), or a FlashAttention of the device's generation. Path B: tiles for this "
           "head size and length";
  }
  return "Path A: another backend behind `scaled_dot_product_attention` (`torch.nn.attention."
         "sdpa_kernel`), with contiguous inputs. Path B: tiles for this head size and length";
}

std::string LeverAction(const ComparativeFacts& facts, const PairLever& lever) {
  switch (lever.work) {
    case WorkClass::kProducts: return ProductsAction(facts, lever);
    case WorkClass::kAttention: return AttentionAction(lever);
    case WorkClass::kConvolution:
      return "Path A: `torch.backends.cudnn.benchmark = True` (MIOpen: a find run) and the "
             "channels_last format. Path B: the library's solutions for these shapes";
    case WorkClass::kMemoryBound:
      return "Path A: fuse them with their neighbours (`torch.compile`), so that their bytes move "
             "once. Path B: vector width and blocks a compute unit of these kernels";
    case WorkClass::kIndexing:
      return "Path A: read by index instead of writing by index, or fuse with what uses it. Path "
             "B: wide, coalesced rows in the kernel";
    default:
      return "Path A: fuse it with its neighbours. Path B: compare the two kernels on equal inputs";
  }
}

std::string RowsText(const ComparativeFacts& facts, const PairLever& lever) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> texts;
  for (const findings::CompareRow* row : lever.rows) {
    if (texts.size() == kMost) break;
    texts.push_back(fmt::format("{} {} against {}", TitleOf(*row),
                                Digits(facts.Each(0, *row->primary_ms)),
                                Ms(facts.Each(1, *row->comparison_ms))));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string TargetText(const PairLever& lever) {
  switch (lever.target) {
    case PairTarget::kSameShare:
      return fmt::format("at the share of the peak that the reference reaches: {}",
                         Ms(lever.target_ms));
    case PairTarget::kMeasured:
      return fmt::format("at the rate that was measured on this device: {}", Ms(lever.target_ms));
    case PairTarget::kBandwidth:
      return fmt::format("at the ratio of the bandwidths: {}", Ms(lever.target_ms));
    case PairTarget::kComparison:
      return fmt::format("as on the reference: {}", Ms(lever.target_ms));
  }
  return {};
}

std::string Libraries(const PairLever& lever) {
  if (lever.library.empty() || lever.comparison_library.empty() ||
      lever.library == lever.comparison_library)
    return {};
  return fmt::format(", {} against {}", lever.library, lever.comparison_library);
}

LeverText TextOfLever(const ComparativeFacts& facts, const PairLever& lever) {
  const Balance& balance = facts.pair.balance;
  LeverText text;
  const std::string name(findings::WorkClassText(lever.work));
  text.title = fmt::format("{}{}", Capitalised(name), Libraries(lever));
  const BalanceLine* line = balance.Find(lever.work);
  const double change = lever.now_ms / lever.comparison_ms - 1;
  std::string expected;
  if (line != nullptr && line->expected_ms) {
    expected = fmt::format("; by the hardware it would be {:+.0f} %",
                           (*line->expected_ms / lever.comparison_ms - 1) * 100);
  } else if (line != nullptr && line->far_from_roofs) {
    expected = "; neither is near its roof, so the devices do not explain it";
  }
  text.gap =
      fmt::format("{} against {} ({:+.0f} %{}){}. {}.", Ms(lever.now_ms), Ms(lever.comparison_ms),
                  change * 100, expected, BothRates(line), RowsText(facts, lever));
  text.action = LeverAction(facts, lever) + ".";
  text.impact =
      fmt::format("up to {} of GPU time {} ({} of it), {}.", Ms(lever.saved_ms()), UnitText(facts),
                  PercentText(lever.saved_ms() / balance.ms[0]), TargetText(lever));
  if (facts.pair.host_bound())
    text.impact += " Next to nothing of it shows while the host sets the pace.";
  text.row = lever.rows.front();
  return text;
}

LeverText TextOfGraph(const ComparativeFacts& facts) {
  const findings::GraphLever& graph = *facts.pair.graph;
  const double saved = graph.now_ms - graph.left_ms;
  LeverText text;
  text.title = "The host sets the pace: replay it as a GPU graph";
  text.gap = fmt::format(
      "the host needs all of the {} {} to launch {} of GPU work, and {}.", Ms(graph.now_ms),
      UnitText(facts), Ms(facts.pair.balance.busy_ms[0]),
      facts.pair.syncs[1] >= 0.5
          ? fmt::format("no longer waits for the GPU ({:.2g} calls of the reference do)",
                        facts.pair.syncs[1])
          : std::string("no call of it waits for the GPU"));
  text.action =
      "Path A: capture it with `torch.cuda.graph` (or `torch.compile(mode=\"reduce-overhead\")`): "
      "nothing synchronises, so that it can be captured. Path B: fewer launches by fusing.";
  text.impact = fmt::format(
      "up to {} {} ({} of it): without pauses between launches {} are left{}.", Ms(saved),
      UnitText(facts), PercentText(saved / graph.now_ms), Ms(graph.left_ms),
      graph.waiting_ms > 0
          ? fmt::format(", {} of waiting for other ranks not counted", Ms(graph.waiting_ms))
          : "");
  return text;
}

LeverText TextOfWaiting(const ComparativeFacts& facts, const BalancePart& part) {
  LeverText text;
  text.title = PartName(part) + " waits for another rank";
  text.gap = fmt::format("{:.3g} to {:.3g} µs a call for bytes that need a few: {} {}.",
                         part.shortest_us[0], part.longest_us[0], Ms(part.ms[0]), UnitText(facts));
  text.action =
      "Path A: send these bytes with an exchange that is there anyway, issue it asynchronously "
      "before work that does not need its result, or drop it. Path B: find out why the other rank "
      "is late: record it too.";
  text.impact = fmt::format(
      "none that this rank can claim: {} {} is another rank's lateness, which shows at the next "
      "exchange if this one goes.",
      Ms(part.ms[0]), UnitText(facts));
  return text;
}

// The idle time of the balance is that between GPU work; of launches that come late a part lies
// before it.
void TellBeginning(const ComparativeFacts& facts, const findings::Finding& finding,
                   LeverText* text) {
  const Balance& balance = facts.pair.balance;
  const double before = finding.time_ms / balance.units[0] - balance.idle_ms[0];
  const findings::BalanceLine* host = nullptr;
  for (const BalanceLine& line : balance.lines) {
    if (line.kind == BalanceKind::kHostBefore) host = &line;
  }
  if (host == nullptr || before < kWorthShare / 2 * balance.ms[0] || before > host->ms[0]) return;
  text->gap += fmt::format(" {} of it lie before the first GPU work, {} between GPU work.",
                           Ms(before), Ms(balance.idle_ms[0]));
}

std::string OwnImpact(const ComparativeFacts& facts, const findings::Finding& finding) {
  const double units = facts.pair.balance.units[0];
  const std::string unit = UnitText(facts);
  const findings::WallSaving* best = findings::BestWall(finding);
  const bool launches = finding.category == "cpu_idle" || findings::DropsLaunches(finding);
  if (facts.pair.host_bound() && !launches) {
    if (!finding.savings_ms || !(finding.savings_ms->high > 0)) return {};
    return fmt::format(
        "up to {} of GPU time {}, and no wall time before the host is faster: as many launches "
        "stay.",
        Ms(finding.savings_ms->high / units), unit);
  }
  if (best != nullptr && best->ms.high > 0) {
    std::string text = fmt::format("up to {} of wall time {}", Ms(best->ms.high / units), unit);
    const double after = best->after_others_ms / units;
    if (after > 0 && after < 0.5 * best->ms.high / units)
      text += fmt::format("; {} once what stands before it is done", Ms(after));
    return text + ".";
  }
  if (!finding.savings_ms || !(finding.savings_ms->high > 0)) return {};
  return fmt::format("up to {} of GPU time {}.", Ms(finding.savings_ms->high / units), unit);
}

// Of the target's own analysis, without savings in its sentences, which are of another base.
LeverText TextOfOwn(const ComparativeFacts& facts, const findings::Finding& finding) {
  const findings::Analysis& analysis = *facts.pair.primary;
  findings::Finding plain = finding;
  for (auto* wall : {&plain.wall_a, &plain.wall_b})
    wall->reset();
  for (auto* change : {&plain.change_a, &plain.change_b})
    change->reset();
  const FindingText draft = DraftText(analysis, plain);
  const double units = facts.pair.balance.units[0];
  const auto path = [&](const char* name, const std::string& words,
                        const std::optional<findings::WallSaving>& wall) {
    std::string text(Trim(words));
    if (text.empty() || text.starts_with("None known")) return std::string();
    const bool shows = !facts.pair.host_bound() || finding.category == "cpu_idle" ||
                       findings::DropsLaunches(finding);
    if (wall && wall->ms.high > 0 && shows)
      text += fmt::format(" Saves up to {} {} alone.", Ms(wall->ms.high / units), UnitText(facts));
    return fmt::format("Path {}: {} ", name, text);
  };
  LeverText text;
  text.own = true;
  text.title = draft.title;
  text.gap = draft.insight;
  if (finding.category == "cpu_idle") TellBeginning(facts, finding, &text);
  text.action = path("A", draft.path_a, finding.wall_a) + path("B", draft.path_b, finding.wall_b);
  if (!text.action.empty()) text.action.pop_back();
  text.impact = OwnImpact(facts, finding);
  return text;
}

// Several findings on neighbouring ops as what they are: one tensor that goes through memory often.
LeverText TextOfRuns(const ComparativeFacts& facts, const findings::MemoryRuns& runs) {
  constexpr std::size_t kMost = 3;
  LeverText text;
  text.own = true;
  std::vector<std::string> chains;
  for (std::size_t i = 0; i < runs.runs.size() && i < kMost; ++i) {
    std::vector<std::string> ops;
    for (const std::string& op : runs.runs[i].ops)
      ops.push_back(Code(op, 60));
    chains.push_back(fmt::format("{} ({})", fmt::join(ops, ", "), Ms(runs.runs[i].ms)));
  }
  text.title = runs.runs.size() == 1 ? "Memory-bound ops in a row on one tensor, a kernel each"
                                     : "Memory-bound ops in rows on one tensor, a kernel each";
  text.gap = fmt::format("{} {} of {}: each reads and writes the whole tensor.", Ms(runs.ms),
                         UnitText(facts), fmt::join(chains, "; "));
  text.action = fmt::format(
      "Path A: one kernel a row by `torch.compile` of that function, reading by index where it "
      "writes by index now: up to {0}. Path B: one Triton kernel a row that reads each element "
      "once and writes it once: up to {0}.",
      Ms(runs.saved_ms()));
  text.impact = fmt::format(
      "up to {} of GPU time {}: one pass over the most bytes that one of them moves, at 70 % of "
      "the bandwidth, takes {}{}.",
      Ms(runs.saved_ms()), UnitText(facts), Ms(runs.left_ms),
      facts.pair.host_bound() ? "; it shows as far as the host keeps up" : "");
  return text;
}

std::string CollectiveText(const BalancePart& part, int side, const std::string& unit) {
  const std::string name = PartName(part);
  if (!(part.longest_us[side] > 0)) return fmt::format("{} {} {}", name, Ms(part.ms[side]), unit);
  std::string text =
      fmt::format("{} takes {:.3g} to {:.3g} µs ({} {})", name, part.shortest_us[side],
                  part.longest_us[side], Ms(part.ms[side]), unit);
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
      std::string text = fmt::format("**{}**: {} where the reference takes {}{}",
                                     Capitalised(std::string(findings::WorkClassText(lever.work))),
                                     Ms(lever.now_ms), Ms(lever.comparison_ms),
                                     BothRates(balance_.Find(lever.work)));
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
    if (f_.pair.levers.size() < 2) return;
    double saved = 0;
    for (const PairLever& lever : f_.pair.levers)
      saved += lever.saved_ms();
    const double left = balance_.busy_ms[0] - saved;
    std::string text =
        fmt::format("With all of these the target's GPU work would take {} of its {}", Ms(left),
                    Ms(balance_.busy_ms[0]));
    if (f_.pair.host_floor_ms.value_or(0) > left)
      text += fmt::format("; the host, which alone takes {}, would set the pace then",
                          Ms(*f_.pair.host_floor_ms));
    out_.push_back(text + ".");
  }

  void Explained() {
    for (const BalanceLine& line : balance_.lines) {
      const bool told =
          std::any_of(f_.pair.levers.begin(), f_.pair.levers.end(),
                      [&](const PairLever& lever) { return lever.work == line.work; });
      if (line.kind != BalanceKind::kClass || !line.expected_ms || told ||
          !Worth(line.difference_ms()))
        continue;
      const double ratio = line.ms[0] / line.ms[1];
      const double by_rates = *line.expected_ms / line.ms[1];
      out_.push_back(fmt::format(
          "**{}**: {} against {}, {:.2f} of the reference's time; the hardware alone would give "
          "{:.2f}{}.",
          Capitalised(std::string(findings::WorkClassText(line.work))), Ms(line.ms[0]),
          Ms(line.ms[1]), ratio, by_rates, BothRates(&line)));
    }
  }

  void Idle() {
    const double change = balance_.idle_ms[0] - balance_.idle_ms[1];
    if (!Worth(change)) return;
    std::string text = fmt::format("**GPU idle**: {} against {} {}", Ms(balance_.idle_ms[0]),
                                   Ms(balance_.idle_ms[1]), UnitText(f_));
    const double(&syncs)[2] = f_.pair.syncs;
    if (std::abs(syncs[0] - syncs[1]) >= 0.5) {
      text += fmt::format(": {:.2g} calls {} wait for the GPU, {:.2g} in the reference", syncs[0],
                          UnitText(f_), syncs[1]);
    }
    out_.push_back(text + ".");
  }

  void Collectives() {
    const BalanceLine* line = balance_.Find(WorkClass::kCommunication);
    if (line == nullptr) return;
    const char* const names[2] = {"target", "reference"};
    for (int side = 0; side < 2; ++side) {
      std::vector<std::string> texts;
      for (const BalancePart& part : line->parts) {
        if (part.calls[side] > 0 && Worth(part.ms[side]))
          texts.push_back(CollectiveText(part, side, UnitText(f_)));
      }
      if (texts.empty()) continue;
      out_.push_back(
          fmt::format("**Communication of the {}**: {}.", names[side], fmt::join(texts, "; ")));
    }
  }

  // Where the reference may have room: one sentence.
  void Faster() {
    std::vector<std::string> texts;
    double sum = 0;
    constexpr std::size_t kMost = 2;
    for (const findings::CompareRow* row : f_.faster) {
      sum += f_.Each(0, std::abs(*row->unexpected_ms));
      if (texts.size() < kMost)
        texts.push_back(fmt::format("{} ({:.2f} of the reference's time, {:.2f} expected)",
                                    TitleOf(*row), *row->ratio, *row->expected));
    }
    if (texts.empty() || !Worth(sum) || f_.ops().same_device) return;
    out_.push_back(
        fmt::format("Faster than the hardware explains, so the reference's kernels have "
                    "room: {}.",
                    fmt::join(texts, "; ")));
  }

  // GPU time that is saved shows only as far as the host lets it.
  void Host() {
    constexpr double kTight = 0.75;
    const double floor = f_.pair.host_floor_ms.value_or(0);
    const findings::WallBase& wall = f_.pair.primary->wall;
    // A GPU that is as busy sets the pace as much.
    if (floor < kTight * balance_.ms[0] || wall.gpu_floor_ms >= kTight * wall.wall_ms) return;
    const double rest = balance_.ms[0] - floor;
    out_.push_back(fmt::format(
        "**The host bounds the target**: if its GPU work took no time, {} of {} {} would remain as "
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

namespace {

// Where kernels of nothing take much longer on one side, ratios of short ops tell that and no more.
std::string FloorText(const ComparativeFacts& facts) {
  constexpr double kMuchLonger = 2;
  const auto& floor = facts.pair.kernel_floor_us;
  if (facts.ops().same_device || !floor[0] || !floor[1]) return {};
  const int slow = *floor[0] > *floor[1] ? 0 : 1;
  if (*floor[slow] < kMuchLonger * *floor[1 - slow]) return {};
  const ComparativeSide& side = slow == 0 ? facts.target : facts.reference;
  const bool amd = side.side.platform && side.side.platform->vendor == "AMD";
  return fmt::format(
      "The shortest kernels take {:.2g} µs on the {} and {:.2g} on the {}{}: short ops differ by "
      "that, not by their work, and only windows, not busy times, are comparable there.",
      *floor[slow], slow == 0 ? "target" : "reference", *floor[1 - slow],
      slow == 0 ? "reference" : "target",
      amd ? ", as AMD's durations hold the dispatch of a kernel" : "");
}

}  // namespace

std::string UnitText(const ComparativeFacts& facts) {
  const std::string& unit = facts.pair.balance.unit;
  if (unit == "recording") return "in all";
  return (unit.starts_with('i') ? "an " : "a ") + unit;
}

std::string PartName(const BalancePart& part) {
  if (!part.collective || part.name.find("::") != std::string::npos || !part.bytes)
    return Code(part.name, 60);
  return fmt::format("{} of {}", part.name, BytesText(*part.bytes));
}

std::string PartsText(const BalanceLine& line, std::size_t most, double least_ms) {
  std::vector<std::string> texts;
  for (const BalancePart& part : line.parts) {
    if (texts.size() == most || std::abs(part.difference_ms()) < least_ms) break;
    texts.push_back(fmt::format("{} {}", PartName(part), SignedMs(part.difference_ms())));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string PairVerdict(const ComparativeFacts& facts) {
  const Balance& balance = facts.pair.balance;
  const findings::Comparability& c = facts.comparability();
  if (c.verdict == "same file") return "Both are the same file, so every difference is 0.";
  std::string text;
  if (!facts.pair.comparable()) {
    text = fmt::format(
        "**The two traces are not comparable ({} of 100)**: what follows lists two different "
        "workloads, and no difference in it is a finding.",
        c.score);
  }
  if (!(balance.ms[0] > 0) || !(balance.ms[1] > 0))
    return text + (text.empty() ? "" : " ") + "At least one of them has no GPU time.";
  const double change = balance.ms[0] - balance.ms[1];
  const bool recording = balance.unit == "recording";
  const std::string unit = recording ? "The recording" : Capitalised(UnitText(facts));
  text +=
      fmt::format("{}{} of the target takes {}, of the reference {}: {} {} ({:+.1f} %)",
                  text.empty() ? "" : " ", unit, Ms(balance.ms[0]), Ms(balance.ms[1]),
                  Ms(std::abs(change)), change > 0 ? "more" : "less", change / balance.ms[1] * 100);
  if (!facts.pair.comparable()) return text + ".";
  constexpr std::size_t kMost = 5;
  std::vector<std::string> parts;
  for (const BalanceLine& line : balance.lines) {
    if (parts.size() == kMost || std::abs(line.difference_ms()) < kWorthShare * balance.ms[0])
      break;
    parts.push_back(fmt::format("{} {}", findings::LineText(line), SignedMs(line.difference_ms())));
  }
  if (parts.empty()) return text + ".";
  return text + fmt::format(": {}.", fmt::join(parts, ", "));
}

std::string_view LeverGroupText(bool own) {
  return own ? "Of the target by itself, whether or not the reference has it too:"
             : "Against the reference:";
}

std::vector<LeverText> PairLevers(const ComparativeFacts& facts) {
  std::vector<LeverText> levers;
  if (!facts.pair.comparable()) return levers;
  const auto add_compared = [&] {
    for (const PairLever& lever : facts.pair.levers) {
      if (!lever.in_chains) levers.push_back(TextOfLever(facts, lever));
    }
  };
  if (facts.pair.graph) levers.push_back(TextOfGraph(facts));
  const bool host_first = facts.pair.host_bound() && !facts.pair.graph;
  if (!host_first) add_compared();
  if (facts.pair.runs) levers.push_back(TextOfRuns(facts, *facts.pair.runs));
  for (std::size_t i = 0; i < facts.pair.own.size(); ++i) {
    levers.push_back(TextOfOwn(facts, *facts.pair.own[i]));
    if (host_first && i == 0) add_compared();
  }
  if (host_first && facts.pair.own.empty()) add_compared();
  if (const findings::BalanceLine* line = facts.pair.balance.Find(WorkClass::kCommunication)) {
    for (const BalancePart& part : line->parts) {
      if (findings::IsOnlyWaiting(part, 0) && part.ms[0] >= kWorthShare * facts.pair.balance.ms[0])
        levers.push_back(TextOfWaiting(facts, part));
    }
  }
  return levers;
}

std::vector<std::string> KeyFindings(const ComparativeFacts& facts) {
  return FindingsWriter(facts).Run();
}

std::vector<std::string> PairLimits(const ComparativeFacts& facts) {
  std::vector<std::string> limits;
  const findings::Comparability& c = facts.comparability();
  limits.push_back(fmt::format("{} ({} of 100): {}.", Capitalised(c.verdict), c.score,
                               Md(fmt::format("{}", fmt::join(c.reasons, "; ")), 600)));
  const findings::Analysis* sides[2] = {facts.pair.primary.get(), facts.pair.comparison.get()};
  double foreign[2];
  for (int i = 0; i < 2; ++i)
    foreign[i] = static_cast<double>(sides[i]->base.balance.foreign_ns) / 1e6;
  if (foreign[0] + foreign[1] > 0) {
    limits.push_back(fmt::format(
        "Left out on both sides: GPU work launched before the recordings began ({} of the target, "
        "{} of the reference), which belongs to a step that is not there. Whole recordings are not "
        "comparable for it.",
        Ms(foreign[0]), Ms(foreign[1])));
  }
  if (const std::string text = FloorText(facts); !text.empty()) limits.push_back(text);
  if (!facts.ops().same_device) {
    limits.push_back(
        "Host time is a property of processor and software, not of the GPUs: only GPU work is held "
        "against the devices' figures.");
  }
  return limits;
}

std::vector<std::string> PairNextRecordings(const ComparativeFacts& facts) {
  std::vector<std::string> next;
  const findings::BalanceLine* comm = facts.pair.balance.Find(WorkClass::kCommunication);
  if (comm != nullptr &&
      std::max(comm->ms[0], comm->ms[1]) > kWorthShare * facts.pair.balance.ms[0])
    next.emplace_back(
        "The same step on every rank, then `jarvis collectives DIRECTORY`: one rank does not tell "
        "waiting from a slow link for certain.");
  const double foreign_ns = static_cast<double>(facts.pair.primary->base.balance.foreign_ns +
                                                facts.pair.comparison->base.balance.foreign_ns);
  if (foreign_ns > 0) {
    next.emplace_back(
        "Both with `torch.cuda.synchronize()` before the profiler starts (or its schedule with a "
        "warm-up step), so that no earlier step runs into the recording.");
  }
  if (facts.pair.balance.units[0] < 2 || facts.pair.balance.units[1] < 2) {
    next.emplace_back(
        "Three steps or more on each side: a difference of one step has no noise to compare with.");
  }
  if (!facts.ops().same_device) {
    next.emplace_back(
        "Both with the same PyTorch version, without stacks and memory, for the host's share.");
  }
  return next;
}

}  // namespace jarvis::documents
