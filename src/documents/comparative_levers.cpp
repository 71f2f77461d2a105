#include "documents/comparative_levers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "base/text.h"
#include "documents/comparative_other_side.h"
#include "documents/comparative_own.h"
#include "documents/comparative_rates.h"
#include "documents/comparative_saving.h"
#include "documents/comparative_words.h"
#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "findings/one/wall_classes.h"
#include "findings/two/compare_table.h"

namespace jarvis::documents {
namespace {

using findings::Balance;
using findings::BalanceLine;
using findings::ExchangePart;
using findings::PairLever;
using ledger::WorkKind;

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
  const FindingText draft = DraftText(*facts.pair.primary, plain);
  if (!draft.way_a) return {};
  std::string way(Trim(draft.path_a));
  way = way.substr(0, way.find(". "));
  if (way.ends_with('.')) way.pop_back();
  return way;
}

// What the candidate's own analysis has for these products where the model may change: "Merge
// products that share their input: ..."; empty: nothing.
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

// Ways to one saving.
std::vector<LeverWay> Ways(const PairLever& lever,
                           std::vector<std::pair<char, std::string>> words) {
  std::vector<LeverWay> ways;
  for (auto& [path, text] : words)
    ways.push_back({path, std::move(text), UpTo(lever.saved_ms())});
  return ways;
}

std::vector<LeverWay> ProductsWays(const ComparativeFacts& facts, const PairLever& lever) {
  const std::string shapes = ShapesText(lever.rows);
  const std::string for_shapes = shapes.empty() ? "" : " for " + shapes;
  if (lever.library == "Tensile" || lever.library == "rocBLAS") {
    auto ways =
        Ways(lever,
             {{'B', fmt::format("TunableOp (`PYTORCH_TUNABLEOP_ENABLED=1`, one run that tunes, its "
                                "results file kept){}, or hipBLASLt instead of rocBLAS "
                                "(`TORCH_BLAS_PREFER_HIPBLASLT=1`)",
                                for_shapes)}});
    if (const std::string own = OwnProductsWay(facts); !own.empty())
      ways.push_back({'A', own, "a part of the same " + Ms(lever.saved_ms())});
    return ways;
  }
  if (lever.library == "cuBLAS" || lever.library == "cuBLASLt") {
    return Ways(lever,
                {{'A', fmt::format("`torch.compile(mode=\"max-autotune\")` chooses among cuBLASLt, "
                                   "CUTLASS and Triton{}, or merge products of one input",
                                   for_shapes)},
                 {'B', "the cuBLASLt algorithm and its workspace for these shapes"}});
  }
  return Ways(lever,
              {{'A', "try the vendor's library for these products"},
               {'B', fmt::format("autotune tiles and stages of the {}kernel{}",
                                 lever.library.empty() ? "" : lever.library + " ", for_shapes)}});
}

std::vector<LeverWay> AttentionWays(const PairLever& lever) {
  if (lever.library == "AOTriton") {
    return Ways(lever, {{'B',
                         "another backend behind the same call: CK flash attention "
                         "(`torch.backends.cuda.preferred_rocm_fa_library(\"ck\")`, where the "
                         "build has it), AITER, or a newer AOTriton"}});
  }
  if (lever.library == "FlashAttention" || lever.library == "CUTLASS") {
    return Ways(lever, {{'B',
                         "the cuDNN backend of `scaled_dot_product_attention` (`torch.nn.attention."
                         "sdpa_kernel`), or a FlashAttention of the device's generation"}});
  }
  return Ways(lever, {{'A',
                       "another backend behind `scaled_dot_product_attention` (`torch.nn.attention."
                       "sdpa_kernel`), with contiguous inputs"},
                      {'B', "tiles for this head size and length"}});
}

std::vector<LeverWay> WaysOf(const ComparativeFacts& facts, const PairLever& lever) {
  switch (lever.work) {
    case WorkKind::kProduct: return ProductsWays(facts, lever);
    case WorkKind::kAttention: return AttentionWays(lever);
    case WorkKind::kConvolution:
      return Ways(lever, {{'A', "the channels_last format"},
                          {'B', "`torch.backends.cudnn.benchmark = True` (MIOpen: a find run)"}});
    case WorkKind::kNormalisation:
    case WorkKind::kSoftmax:
    case WorkKind::kElementwise:
    case WorkKind::kReduction:
      return Ways(lever, {{'A',
                           "fuse them with their neighbours (`torch.compile`), so that their bytes "
                           "move once"},
                          {'B', "vector width and blocks a compute unit of these kernels"}});
    case WorkKind::kGather:
      return Ways(lever,
                  {{'A', "read by index instead of writing by index, or fuse with what uses it"},
                   {'B', "wide, coalesced rows in the kernel"}});
    default:
      return Ways(lever, {{'A', "fuse it with its neighbours"},
                          {'B', "compare the two kernels on equal inputs"}});
  }
}

std::string RowsText(const PairLever& lever) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> texts;
  for (const findings::CompareRow* row : lever.rows) {
    if (texts.size() == kMost) break;
    texts.push_back(fmt::format("{} {} against {}", TitleOf(*row), Digits(*row->primary_ms),
                                Ms(*row->comparison_ms)));
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
std::vector<LeverWay> SameDeviceWays(const ComparativeFacts& facts, const PairLever& lever) {
  const findings::CompareRow& row = *lever.rows.front();
  std::size_t rest = 0;
  const auto candidate = KernelsOf(facts.candidate.side.trace, row.primary_launchers, 1, 1, &rest);
  const auto baseline = KernelsOf(facts.baseline.side.trace, row.comparison_launchers, 1, 1, &rest);
  if (candidate.empty() || baseline.empty()) return WaysOf(facts, lever);
  if (candidate.front().name == baseline.front().name) {
    return Ways(lever, {{'B', fmt::format("compare clocks, power limit and other work on the GPU "
                                          "(`nvidia-smi -q -d CLOCK,PERFORMANCE`, `rocm-smi`), and "
                                          "record both again in turns: `{}` is the same kernel on "
                                          "both sides, for the same shapes",
                                          MdCode(candidate.front().name, 80))}});
  }
  return Ways(
      lever,
      {{'A', fmt::format("find what chose `{}` in place of `{}`: the version of PyTorch or "
                         "of the library, a setting, a layout, and go back to it",
                         MdCode(candidate.front().name, 80), MdCode(baseline.front().name, 80))}});
}

LeverText TextOfLever(const ComparativeFacts& facts, const PairLever& lever) {
  const Balance& balance = facts.pair.balance;
  LeverText text;
  const std::string name(ledger::WorkKindText(lever.work));
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
                  change * 100, expected, BothRates(line), RowsText(lever));
  text.why = fmt::format("{}: {} against {} ({:+.0f} %)", name, Ms(lever.now_ms),
                         Ms(lever.comparison_ms), change * 100);
  text.ways = facts.ops().same_device ? SameDeviceWays(facts, lever) : WaysOf(facts, lever);
  text.saves = GpuSavingCell(facts, UpTo(lever.saved_ms()), lever.saved_ms());
  text.gpu_ms = lever.saved_ms();
  text.impact = fmt::format("{} ({} of it), {}.",
                            GpuSavingText(facts, UpTo(lever.saved_ms()), lever.saved_ms(), false),
                            PercentText(lever.saved_ms() / balance.ms[0]), TargetText(lever));
  text.order_ms = WallMs(facts, lever.saved_ms());
  text.row = lever.rows.front();
  return text;
}

LeverText TextOfGraph(const ComparativeFacts& facts) {
  const findings::GraphLever& graph = *facts.pair.graph;
  const double saved = graph.now_ms - graph.left_ms;
  LeverText text;
  text.title = "The host sets the pace: replay it as a GPU graph";
  text.gap =
      fmt::format("the host needs all of the {} {} to launch {} of GPU work, and {}.",
                  Ms(graph.now_ms), UnitText(facts), Ms(facts.pair.balance.busy_ms[0]),
                  facts.pair.syncs[1] >= 0.5
                      ? fmt::format("no longer waits for the GPU ({} calls of the baseline do)",
                                    ThreeDigits(facts.pair.syncs[1]))
                      : std::string("no call of it waits for the GPU"));
  text.why =
      fmt::format("{} of GPU work take {}", Ms(facts.pair.balance.busy_ms[0]), Ms(graph.now_ms));
  text.ways = {
      {'B',
       "capture it with `torch.cuda.graph` (or `torch.compile(mode=\"reduce-overhead\")`), as "
       "nothing synchronises",
       UpTo(saved)}};
  text.saves = UpTo(saved);
  text.order_ms = saved;
  text.impact = fmt::format(
      "up to {} {} ({} of it): without pauses between launches {} are left{}.", Ms(saved),
      UnitText(facts), PercentText(saved / graph.now_ms), Ms(graph.left_ms),
      graph.waiting_ms > 0
          ? fmt::format("; {} of the saving is waiting for other ranks, which goes only if they "
                        "launch as early",
                        Ms(std::min(graph.waiting_ms, saved)))
          : "");
  return text;
}

LeverText TextOfWaiting(const ComparativeFacts& facts, const ExchangePart& part) {
  LeverText text;
  text.title = PartName(part) + " waits for another rank";
  text.gap = fmt::format("{} to {} µs a call for bytes that need a few: {} {}.",
                         ThreeDigits(part.shortest_us[0]), ThreeDigits(part.longest_us[0]),
                         Ms(part.ms[0]), UnitText(facts));
  text.why = fmt::format("{} for bytes that need microseconds", Ms(part.ms[0]));
  text.ways = {
      {'A',
       "send these bytes with an exchange that is there anyway, issue it asynchronously "
       "before work that does not need its result, or drop it",
       "nothing where the next exchange waits instead"},
      {'B', "record the other rank too, to find why it is late; that alone saves nothing", ""}};
  text.saves = "what the other rank is late";
  text.impact = fmt::format(
      "none that this rank can claim: {} {} is another rank's lateness, which shows at the next "
      "exchange if this one goes.",
      Ms(part.ms[0]), UnitText(facts));
  return text;
}

// Several findings on neighbouring ops as what they are: one tensor that goes through memory often.
// Whether a way out is about an op of the row.
bool IsOfRun(const findings::Analysis& primary, const findings::Finding& part,
             const findings::MemoryRun& run) {
  return std::any_of(part.members.begin(), part.members.end(), [&](const std::string& member) {
    const findings::Operation* operation = primary.FindOperation(member);
    return operation != nullptr &&
           std::find(run.ops.begin(), run.ops.end(), operation->name) != run.ops.end();
  });
}

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
  std::vector<bool> reached(runs.runs.size());  // rows that one of these ways is about
  for (const findings::Finding* part : facts.pair.in_runs) {
    std::string way = FirstWay(facts, *part);
    if (way.empty()) continue;
    for (std::size_t i = 0; i < runs.runs.size(); ++i)
      reached[i] = reached[i] || IsOfRun(*facts.pair.primary, *part, runs.runs[i]);
    if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(std::move(way));
  }
  double by_hand_ms = 0;
  for (std::size_t i = 0; i < runs.runs.size(); ++i)
    by_hand_ms += reached[i] ? runs.runs[i].ms - runs.runs[i].left_ms : 0;
  text.why = fmt::format("{} in passes over one tensor, a kernel each", Ms(runs.ms));
  if (!ways.empty()) {
    text.ways.push_back({'A', fmt::format("{}", fmt::join(ways, "; ")),
                         by_hand_ms > 0 ? UpTo(std::min(by_hand_ms, runs.saved_ms())) : ""});
  }
  text.ways.push_back({'B',
                       "one Triton kernel a row, which reads each element once and writes it once",
                       UpTo(runs.saved_ms())});
  text.saves = GpuSavingCell(facts, UpTo(runs.saved_ms()), runs.saved_ms());
  text.gpu_ms = runs.saved_ms();
  text.shares_kernels = !facts.pair.beside_runs.empty();
  text.order_ms = kBoundPart * WallMs(facts, runs.saved_ms());
  text.impact = fmt::format(
      "{}: one pass over the most bytes that one of them moves, at 70 % of the bandwidth, takes "
      "{}.",
      GpuSavingText(facts, UpTo(runs.saved_ms()), runs.saved_ms(), true), Ms(runs.left_ms));
  return text;
}

}  // namespace

std::string ActionText(const LeverText& lever) {
  std::vector<const LeverWay*> ways;
  for (const LeverWay& way : lever.ways)
    ways.push_back(&way);
  std::stable_sort(ways.begin(), ways.end(),
                   [](const LeverWay* a, const LeverWay* b) { return a->path < b->path; });
  std::string text;
  for (const LeverWay* way : ways) {
    // What saves that much is all that stands before, be it several sentences.
    const bool sentences = way->words.find(". ") != std::string::npos;
    text += fmt::format("{}Path {}: {}", text.empty() ? "" : " ", way->path, way->words);
    if (!way->saves.empty())
      text += (sentences ? ". " + Capitalised(way->saves) : ": " + way->saves);
    text += ".";
  }
  return text;
}

std::string ChangeClause(const LeverText& lever) {
  constexpr std::size_t kMost = 110;
  if (lever.ways.empty()) return "–";
  const std::string& words = lever.ways.front().words;
  const std::string clause = Capitalised(words.substr(0, words.find(". ")));
  if (clause.size() <= kMost) return clause;
  // The last place before the limit that is in no brackets and no code.
  std::size_t end = 0;
  std::size_t space = 0;
  int depth = 0;
  bool code = false;
  for (std::size_t i = 0; i < kMost; ++i) {
    const char c = clause[i];
    if (c == '`') code = !code;
    if (!code && c == '(') ++depth;
    if (depth > 0 || code) {
      if (!code && c == ')') --depth;
      continue;
    }
    if (c == ',' || c == ';' || (c == ':' && i > kMost / 2) || (c == ' ' && clause[i + 1] == '('))
      end = i;
    if (c == ' ') space = i;
  }
  if (end == 0) return clause.substr(0, space) + " …";
  std::string text = clause.substr(0, end);
  for (const std::string_view link : {" for", " of", " in", " by", " to", " or"}) {
    if (text.ends_with(link)) text.resize(text.size() - link.size());
  }
  return text;
}

std::string LeverOrderText(const std::vector<LeverText>& levers) {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < levers.size(); ++i) {
    if (levers[i].own) own.push_back(i + 1);
  }
  if (own.empty()) return {};
  const std::string which = own.size() == levers.size() ? std::string("All come")
                            : own.size() == 1
                                ? fmt::format("Number {} comes", own.front())
                                : fmt::format("Numbers {} come", fmt::join(own, ", "));
  return fmt::format(
      "{} from the candidate's own analysis; the baseline may have the same{}.", which,
      own.size() == levers.size()
          ? ""
          : ". Such bounds count for less than what the baseline shows to be possible");
}

std::string LeverSumText(const ComparativeFacts& facts, const std::vector<LeverText>& levers) {
  std::vector<std::size_t> gpu;
  std::vector<std::size_t> shared;
  double sum = 0;
  for (std::size_t i = 0; i < levers.size(); ++i) {
    if (levers[i].shares_kernels) shared.push_back(i + 1);
    if (!(levers[i].gpu_ms > 0)) continue;
    gpu.push_back(i + 1);
    sum += levers[i].gpu_ms;
  }
  std::string text;
  if (shared.size() > 1)
    text = fmt::format("Numbers {} share kernels and do not add up. ", fmt::join(shared, ", "));
  const std::optional<double> room = RoomMs(facts);
  const bool none = room && *room < kRoomShare * facts.pair.balance.ms[0];  // as cells say
  if (gpu.size() < 2 || !room || none || sum <= *room) return text;
  return text + fmt::format(
                    "Numbers {} together save at most {} of wall time {} until the host, "
                    "which alone takes {}, is faster.",
                    fmt::join(gpu, ", "), Ms(*room), UnitText(facts),
                    Ms(*facts.pair.host_floor_ms));
}

std::vector<LeverText> PairLevers(const ComparativeFacts& facts) {
  constexpr std::size_t kMost = 6;
  std::vector<LeverText> levers;
  if (!facts.pair.comparable()) return levers;
  if (facts.pair.graph) levers.push_back(TextOfGraph(facts));
  for (const PairLever& lever : facts.pair.levers) {
    if (!lever.in_chains) levers.push_back(TextOfLever(facts, lever));
  }
  if (facts.pair.runs) levers.push_back(TextOfRuns(facts, *facts.pair.runs));
  for (LeverText& own : OwnLevers(facts))
    levers.push_back(std::move(own));
  for (const findings::MovedFinding& moved : facts.pair.of_moved)
    levers.push_back(TextOfMoved(facts, moved));
  for (const findings::PairChange& change : facts.pair.changes.changes) {
    if (IsRegression(facts, change)) levers.push_back(TextOfRegression(facts, change));
  }
  std::stable_sort(levers.begin(), levers.end(),
                   [](const LeverText& a, const LeverText& b) { return a.order_ms > b.order_ms; });
  for (const ExchangePart& part : facts.pair.balance.exchanges) {
    if (findings::IsOnlyWaiting(part, 0) &&
        part.ms[0] >= kWaitWorthShare * facts.pair.balance.ms[0])
      levers.push_back(TextOfWaiting(facts, part));
  }
  if (levers.size() > kMost) levers.resize(kMost);
  return levers;
}

}  // namespace jarvis::documents
