#include "documents/comparative_levers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "documents/comparative_rates.h"
#include "documents/comparative_words.h"
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
using findings::WorkClass;

// What of a unit is worth a lever.
constexpr double kWaitWorthShare = 0.02;
constexpr std::size_t kShapesMax = 3;

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

// The first sentence of what may be done where the model may change, without its full stop.
std::string FirstWay(const ComparativeFacts& facts, const findings::Finding& finding) {
  findings::Finding plain = finding;
  plain.wall_a.reset();
  plain.change_a.reset();
  std::string way(Trim(DraftText(*facts.pair.primary, plain).path_a));
  if (way.starts_with("None")) return {};
  way = way.substr(0, way.find(". "));
  if (way.ends_with('.')) way.pop_back();
  return way;
}

// What the target's own analysis has for these products where the model may change: "Merge products
// that share their input: ..."; empty: nothing.
std::string OwnProductsWay(const ComparativeFacts& facts) {
  const findings::Analysis& analysis = *facts.pair.primary;
  for (const findings::Finding& finding : analysis.findings) {
    if (finding.tier != findings::Tier::kCompute ||
        findings::KindOf(finding.category) != findings::Kind::kGemm)
      continue;
    if (std::string way = FirstWay(facts, finding); !way.empty()) return way;
  }
  return {};
}

std::string ProductsAction(const ComparativeFacts& facts, const PairLever& lever) {
  const std::string shapes = ShapesText(lever.rows);
  const std::string for_shapes = shapes.empty() ? "" : " for " + shapes;
  const std::string own = OwnProductsWay(facts);
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

std::string Libraries(const PairLever& lever) {
  if (lever.library.empty() || lever.comparison_library.empty() ||
      lever.library == lever.comparison_library)
    return {};
  return fmt::format(", {} against {}", lever.library, lever.comparison_library);
}

// On one device it is the kernel that changed, or what it ran under.
std::string SameDeviceAction(const ComparativeFacts& facts, const PairLever& lever) {
  const findings::CompareRow& row = *lever.rows.front();
  std::size_t rest = 0;
  const auto target = KernelsOf(facts.target.side.trace, row.primary_launchers, 1, 1, &rest);
  const auto reference =
      KernelsOf(facts.reference.side.trace, row.comparison_launchers, 1, 1, &rest);
  if (target.empty() || reference.empty()) return LeverAction(facts, lever) + ".";
  if (target.front().name == reference.front().name) {
    return fmt::format(
        "Path A: none in the model: `{}` is the same kernel on both sides, for the same shapes. "
        "Path B: compare clocks, power limit and other work on the GPU (`nvidia-smi -q -d CLOCK,"
        "PERFORMANCE`, `rocm-smi`), and record both again in turns: up to {}.",
        MdCode(target.front().name, 80), Ms(lever.saved_ms()));
  }
  return fmt::format(
      "Path A: find what chose `{}` in place of `{}`: the version of PyTorch or of the library, a "
      "setting, a layout, and go back to it: up to {}. Path B: the old kernel's tiles in the new "
      "one.",
      MdCode(target.front().name, 80), MdCode(reference.front().name, 80), Ms(lever.saved_ms()));
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
  text.action =
      facts.ops().same_device ? SameDeviceAction(facts, lever) : LeverAction(facts, lever) + ".";
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
      "nothing synchronises, so that it can be captured. Path B: fewer launches by fusing: a "
      "part of that.";
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
  if (finding.host == nullptr) return;
  const double before = finding.host->idle_ms / balance.units[0] - balance.idle_ms[0];
  const findings::BalanceLine* host = nullptr;
  for (const BalanceLine& line : balance.lines) {
    if (line.kind == BalanceKind::kHostBefore) host = &line;
  }
  if (host == nullptr || before < 0.005 * balance.ms[0] || before > host->ms[0]) return;
  text->gap += fmt::format(" {} of it lie before the first GPU work, {} between GPU work.",
                           Ms(before), Ms(balance.idle_ms[0]));
}

std::string OwnImpact(const ComparativeFacts& facts, const findings::Finding& finding) {
  const double units = facts.pair.balance.units[0];
  const std::string unit = UnitText(facts);
  const findings::WallSaving* best = findings::BestWall(finding);
  const bool launches = findings::HelpsHost(finding);
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
    const bool shows = !facts.pair.host_bound() || findings::HelpsHost(finding);
    if (wall && wall->ms.high > 0 && shows)
      text += fmt::format(" Saves up to {} {} alone.", Ms(wall->ms.high / units), UnitText(facts));
    return fmt::format("Path {}: {} ", name, text);
  };
  LeverText text;
  text.own = true;
  text.title = draft.title;
  text.gap = draft.insight;
  if (finding.category == "cpu_idle") {
    // Its idle time may be of another stretch than the balance's: the gap tells both.
    text.title = text.title.substr(0, text.title.find(", GPU idle "));
    TellBeginning(facts, finding, &text);
  }
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
  std::vector<std::string> ways;
  for (const findings::Finding* part : facts.pair.in_runs) {
    std::string way = FirstWay(facts, *part);
    if (!way.empty() && std::find(ways.begin(), ways.end(), way) == ways.end())
      ways.push_back(std::move(way));
  }
  text.action = fmt::format(
      "{}Path B: one Triton kernel a row, which reads each element once and writes it once: up to "
      "{}.",
      ways.empty() ? "" : fmt::format("Path A: {}: all together as much. ", fmt::join(ways, "; ")),
      Ms(runs.saved_ms()));
  text.impact = fmt::format(
      "up to {} of GPU time {}: one pass over the most bytes that one of them moves, at 70 % of "
      "the bandwidth, takes {}{}.",
      Ms(runs.saved_ms()), UnitText(facts), Ms(runs.left_ms),
      facts.pair.host_bound() ? "; it shows as far as the host keeps up" : "");
  return text;
}

}  // namespace

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
  // Where the host sets the pace, what it does comes before all GPU work.
  bool compared = !host_first;
  for (const findings::Finding* finding : facts.pair.own) {
    if (!compared && !findings::HelpsHost(*finding)) {
      add_compared();
      compared = true;
    }
    levers.push_back(TextOfOwn(facts, *finding));
  }
  if (!compared) add_compared();
  if (const findings::BalanceLine* line = facts.pair.balance.Find(WorkClass::kCommunication)) {
    for (const BalancePart& part : line->parts) {
      if (findings::IsOnlyWaiting(part, 0) &&
          part.ms[0] >= kWaitWorthShare * facts.pair.balance.ms[0])
        levers.push_back(TextOfWaiting(facts, part));
    }
  }
  return levers;
}

}  // namespace jarvis::documents
