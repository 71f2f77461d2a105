#include "documents/comparative_fair.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "findings/one/thresholds.h"
#include "findings/two/balance.h"
#include "output/number_format.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kRecommendedMax = 5;
constexpr std::size_t kSlowerMax = 10;  // with a section of their own
constexpr std::size_t kFasterMax = 5;
constexpr std::size_t kListedMax = 6;
constexpr std::size_t kKernelsMax = 3;

std::string Number(double value) {
  return output::CellText(Cell(value));
}
std::string Number(const std::optional<double>& value) {
  return value ? Number(*value) : "–";
}

std::string_view ComparativeIcon(std::size_t priority) {
  return priority == 1 ? "🔴" : priority == 2 ? "🟡" : "🟢";
}

// What could be done without another kernel for the same calls, by category.
std::string_view PathA(std::string_view category) {
  const auto has = [&](std::string_view part) { return ContainsNoCase(category, part); };
  if (has("sdpa") || has("attention")) {
    return "try another attention backend behind the same call, or a layout that it prefers";
  }
  if (has("gemm")) return "merge products that share an input, or pad sizes to whole tiles";
  if (has("conv")) return "try the channels_last memory format";
  if (has("norm") || has("reduce")) {
    return "use a fused normalization, which reads its input once";
  }
  if (has("elementwise") || has("index") || has("triton")) {
    return "fuse it with its neighbours (torch.compile), which saves its memory traffic";
  }
  return "look for a fused or newer op that does the same";
}

std::optional<double> Over(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b || !(*b > 0)) return std::nullopt;
  return *a / *b;
}

std::string Percent(const std::optional<double>& part, const std::optional<double>& whole) {
  const auto share = Over(part, whole);
  return share ? fmt::format("{:.1f} %", *share * 100) : "–";
}

std::string_view BoundWord(perf::Bound bound) {
  return bound == perf::Bound::kMemory ? "memory" : "compute";
}

class FairWriter {
 public:
  explicit FairWriter(const ComparativeFacts& facts) : f_(facts) {}

  std::string Write() {
    Summary();
    Recommendations();
    Details();
    Appendix();
    return std::move(out_);
  }

 private:
  template <typename... T>
  void Line(fmt::format_string<T...> format, T&&... values) {
    out_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  const session::LoadedTrace& Target() const { return f_.target.side.trace; }
  const session::LoadedTrace& Reference() const { return f_.reference.side.trace; }
  std::string PerStep() const { return f_.ops.per_step ? " a step" : ""; }

  void Summary() {
    Line("# {} Performance Comparison: {} vs {}\n", f_.model, f_.reference_name, f_.target_name);
    Line("## Executive Summary\n");
    Line("{}\n", Paragraph());
    Line("| Metric | Reference | Target | Δ |\n|---|---|---|---|");
    Line("| Total compute (GPU time) | {} | {} | {} |", Ms(f_.ops.comparison_ms),
         Ms(f_.ops.primary_ms), Delta(f_.ops.primary_ms, f_.ops.comparison_ms));
    const std::vector<WindowPart> parts = WindowParts(f_);
    for (const WindowPart& part : parts) {
      Line("| {} | {} | {} | {} |", part.name, Ms(part.reference_ms), Ms(part.target_ms),
           Delta(part.target_ms, part.reference_ms));
    }
    Line("| GPU utilization (busy / window) | {} | {} | – |",
         Percent(parts[1].reference_ms, parts[0].reference_ms),
         Percent(parts[1].target_ms, parts[0].target_ms));
    Line(
        "\nTarget: {}. Reference: {}. Δ = (target − reference) / reference: with + the target "
        "takes longer{}.\n",
        f_.target_name, f_.reference_name,
        f_.ops.per_step ? fmt::format("; times are a step ({} and {} steps)",
                                      Number(f_.ops.parts[1]), Number(f_.ops.parts[0]))
                        : "");
    BalanceTable();
    Findings();
  }

  // What the difference of the windows is made of.
  void BalanceTable() {
    constexpr std::size_t kNamesMax = 3;
    const findings::Balance balance =
        findings::BalanceOf(Target(), Reference(), f_.comparability.order);
    if (balance.lines.empty() || f_.comparability.verdict == "same file" ||
        f_.comparability.verdict == "not comparable")
      return;
    Line("### Where the difference comes from\n");
    Line("| Part | Reference | Target | Difference |\n|---|---|---|---|");
    for (const findings::BalanceLine& line : balance.lines) {
      Line("| {} | {} | {} | {:+.3g} ms |", findings::LineText(line, kNamesMax),
           Ms(line.comparison.ms), Ms(line.primary.ms), line.difference_ms());
    }
    Line("| **Window** | {} | {} | **{:+.3g} ms** |\n", Ms(balance.comparison_ms),
         Ms(balance.primary_ms), balance.primary_ms - balance.comparison_ms);
  }

  std::string Paragraph() const {
    const findings::Comparability& c = f_.comparability;
    std::string text;
    if (c.verdict == "same file") {
      text = "Both are the same file, so every difference is 0.";
    } else if (c.verdict == "not comparable") {
      text = fmt::format(
          "**The two traces are not comparable ({} of 100)**: what follows lists two different "
          "workloads, and no difference in it is a finding.",
          c.score);
    } else {
      text = fmt::format("The two traces are {} ({} of 100).",
                         c.verdict == "equal work" ? "of equal work" : c.verdict, c.score);
    }
    const auto ratio = Over(f_.ops.primary_ms, f_.ops.comparison_ms);
    if (!ratio) return text + " At least one of them has no GPU time.";
    text +=
        fmt::format(" The target's GPU work takes {}{}, the reference's {}: {}.",
                    Ms(f_.ops.primary_ms), PerStep(), Ms(f_.ops.comparison_ms), ChangeText(*ratio));
    if (!f_.ops.expected) {
      return text + " What the hardware explains of that is not known (see the appendix).";
    }
    const auto measured = Over(f_.ops.expected_known_ms, f_.ops.expected_known_comparison_ms);
    text += fmt::format(
        " For {:.0f} % of the target's time the hardware gives an expectation: {:+.1f} % there, "
        "where {:+.1f} % was measured.",
        f_.ops.expected_known_ms / f_.ops.primary_ms * 100, (*f_.ops.expected - 1) * 100,
        (measured.value_or(1) - 1) * 100);
    return text;
  }

  static double SumOf(const std::vector<const findings::CompareRow*>& rows) {
    double sum = 0;
    for (const findings::CompareRow* row : rows)
      sum += std::abs(row->unexpected_ms.value_or(0));
    return sum;
  }

  static std::string Operations(std::size_t count) {
    return count == 1 ? "One operation of the target takes"
                      : fmt::format("{} operations of the target take", count);
  }

  void Findings() {
    Line("### Key Findings\n");
    int number = 0;
    const auto add = [&](const std::string& text) { Line("{}. {}", ++number, text); };
    const bool comparable = f_.comparability.verdict != "not comparable";
    if (!comparable) {
      add("Nothing is judged: the traces are not comparable.");
    } else if (f_.slower.empty()) {
      add("No operation of the target takes more than the hardware explains by 0.2 % of its GPU "
          "time.");
    } else {
      add(
          fmt::format("{} more than the hardware explains, {} together; the largest excess is {} "
                      "({}).",
                      Operations(f_.slower.size()), Ms(SumOf(f_.slower)),
                      TitleOf(*f_.slower.front()), Ms(f_.slower.front()->unexpected_ms)));
    }
    if (comparable && !f_.faster.empty()) {
      add(
          fmt::format("{} less than the hardware explains, {} together: the reference may have "
                      "room there.",
                      Operations(f_.faster.size()), Ms(SumOf(f_.faster))));
    }
    WindowFindings(add);
    NotJudged(add, true);
    NotJudged(add, false);
    if (f_.ops.only_primary_ms + f_.ops.only_comparison_ms > 0) {
      add(fmt::format("{} are in the target only and {} in the reference only.",
                      Ms(f_.ops.only_primary_ms), Ms(f_.ops.only_comparison_ms)));
    }
    Line("\n---\n");
  }

  // What is no computing: of both sides.
  template <typename Add>
  void WindowFindings(const Add& add) {
    constexpr double kLeastOfWindow = 0.02;
    const std::vector<WindowPart> parts = WindowParts(f_);
    const double window = parts[0].target_ms.value_or(0);
    for (std::size_t i = 2; i < parts.size(); ++i) {
      const WindowPart& part = parts[i];
      const double change = part.target_ms.value_or(0) - part.reference_ms.value_or(0);
      if (!(window > 0) || std::abs(change) < kLeastOfWindow * window) continue;
      add(
          fmt::format("{}: {} in the target, {} in the reference: {} {}, {:.0f} % of the target's "
                      "window.",
                      part.name, Ms(part.target_ms), Ms(part.reference_ms), Ms(std::abs(change)),
                      change > 0 ? "more" : "less", std::abs(change) / window * 100));
    }
  }

  // Matched time without a verdict: communication, and the rest.
  template <typename Add>
  void NotJudged(const Add& add, bool communication) {
    double target = 0;
    double reference = 0;
    for (const findings::CompareRow& row : f_.ops.rows) {
      if (row.verdict != findings::CompareVerdict::kUnknown || row.communication != communication)
        continue;
      target += row.primary_ms.value_or(0);
      reference += row.comparison_ms.value_or(0);
    }
    if (!(target + reference > 0)) return;
    add(fmt::format("{} of the target and {} of the reference are {}.", Ms(target), Ms(reference),
                    communication ? "communication, which is not judged: it is mostly waiting for "
                                    "other ranks, so compare all ranks of a job"
                                  : "matched but not judged: their work, their arguments or their "
                                    "op are not known or differ"));
  }

  void Recommendations() {
    Line("## Recommendations for {}\n", f_.target_name);
    const bool comparable = f_.comparability.verdict != "not comparable";
    if (f_.slower.empty() || !comparable) {
      Line("{}\n\n---\n", comparable
                              ? "No operation of the target is slower than the hardware explains."
                              : "None: the traces are not comparable.");
      return;
    }
    for (std::size_t i = 0; i < f_.slower.size() && i < kRecommendedMax; ++i) {
      if (i > 0 && *f_.slower[i]->unexpected_ms <
                       findings::limits::kSlowerShareOwnSection * f_.ops.primary_ms)
        break;
      Recommend(*f_.slower[i], i + 1);
    }
    Line("---\n");
  }

  void Recommend(const findings::CompareRow& row, std::size_t priority) {
    Line("### {} Priority {}: {}\n", ComparativeIcon(priority), priority, TitleOf(row));
    Line(
        "**Gap**: the target takes {} on this than the reference (unexpected: by the hardware it "
        "would be {}).",
        ChangeText(*row.ratio), ExpectedText(row));
    const std::string id = RowIdOf(Target(), row.primary_launchers);
    const std::string replay =
        id.empty() ? ""
                   : fmt::format(" (`make_replay` with trace {} and row {})", Target().id(), id);
    // Below this a call is mostly what any kernel costs.
    constexpr double kShortMs = 0.01;
    const bool is_short = *row.primary_ms < kShortMs * row.primary_calls.value_or(0);
    Line("**Action**: kernels only: give a kernel team a reproducer{}{}. Changing the code: {}.",
         replay,
         is_short         ? "; calls this short are mostly fixed cost"
         : *row.ratio > 2 ? "; at more than twice the time, check first which kernel is chosen"
                          : "",
         PathA(CategoryOf(Target(), row.primary_launchers)));
    Line(
        "**Impact**: up to {}{}, {:.1f} % of the target's GPU time, if it comes to what the "
        "hardware explains.",
        Ms(row.unexpected_ms), PerStep(), *row.unexpected_ms / f_.ops.primary_ms * 100);
    Line("→ *See [Detailed Comparison {0}](#row-{0})*\n", priority);
  }

  void Details() {
    Line("## Detailed Comparison\n");
    std::size_t number = 0;
    for (std::size_t i = 0; i < f_.slower.size() && i < kSlowerMax; ++i)
      Detail(*f_.slower[i], ++number);
    for (std::size_t i = 0; i < f_.faster.size() && i < kFasterMax; ++i)
      Detail(*f_.faster[i], ++number);
    List("Differences that the hardware explains", findings::CompareVerdict::kAsExpected);
    List("Matched, not judged", findings::CompareVerdict::kUnknown);
    List("In the target only", findings::CompareVerdict::kOnlyInPrimary);
    List("In the reference only", findings::CompareVerdict::kOnlyInComparison);
    Line("---\n");
  }

  void Detail(const findings::CompareRow& row, std::size_t number) {
    Line("<a id=\"row-{0}\"></a>\n### {0}. {1}\n", number, TitleOf(row));
    Line("| Metric | Reference | Target | Δ | Expected? |\n|---|---|---|---|---|");
    Line("| Time | {} | {} | {} | No: {} |", Ms(row.comparison_ms), Ms(row.primary_ms),
         Delta(row.primary_ms, row.comparison_ms), ExpectedText(row));
    Line("| Calls | {} | {} | {} | {} |", Number(row.comparison_calls), Number(row.primary_calls),
         Delta(row.primary_calls, row.comparison_calls),
         row.primary_calls == row.comparison_calls ? "Yes" : "No: equal");
    const auto call = [](const std::optional<double>& ms, const std::optional<double>& calls) {
      return Over(ms, calls);
    };
    const auto of_reference = call(row.comparison_ms, row.comparison_calls);
    const auto of_target = call(row.primary_ms, row.primary_calls);
    Line("| Time a call | {} | {} | {} | – |", Ms(of_reference), Ms(of_target),
         Delta(of_target, of_reference));
    if (row.primary_roof_ms || row.comparison_roof_ms) {
      Line("| Least time by the hardware | {} | {} | {} | – |", Ms(row.comparison_roof_ms),
           Ms(row.primary_roof_ms), Delta(row.primary_roof_ms, row.comparison_roof_ms));
      Line("| Efficiency (least / time) | {} | {} | – | – |",
           Percent(row.comparison_roof_ms, row.comparison_ms),
           Percent(row.primary_roof_ms, row.primary_ms));
    }
    Line("");
    Kernels("Reference", Reference(), row.comparison_launchers, f_.ops.parts[1]);
    Kernels("Target", Target(), row.primary_launchers, f_.ops.parts[0]);
    Line("\n{}\n", Analysis(row));
  }

  void Kernels(const char* side, const session::LoadedTrace& trace,
               const std::vector<std::uint32_t>& launchers, double parts) {
    std::size_t rest = 0;
    std::string text;
    for (const RowKernel& kernel : KernelsOf(trace, launchers, parts, kKernelsMax, &rest)) {
      text += fmt::format("{}`{}` ({}, {} times)", text.empty() ? "" : ", ", MdCode(kernel.name),
                          Ms(kernel.ms), Number(kernel.count));
    }
    if (rest > 0) text += fmt::format(" and {} others", rest);
    Line("* {} kernels: {}", side, text);
  }

  std::string Analysis(const findings::CompareRow& row) const {
    std::string text;
    if (f_.ops.same_device) {
      text = "Both ran on the same kind of device, so the same time is expected.";
    } else {
      const std::string bound =
          *row.primary_bound == *row.comparison_bound
              ? fmt::format("{} bound on both", BoundWord(*row.primary_bound))
              : fmt::format("{} bound on the reference, {} bound on the target",
                            BoundWord(*row.comparison_bound), BoundWord(*row.primary_bound));
      text = fmt::format(
          "By its shapes this work is {}: the hardware explains {:.3g} of the reference's time, {}",
          bound, *row.expected, Ms(*row.expected * *row.comparison_ms));
      const double fixed = row.expected_with_fixed_cost.value_or(*row.expected);
      if (std::abs(fixed / *row.expected - 1) > 0.02) {
        text += fmt::format(" ({:.3g} and {} with 3 µs of fixed cost a kernel)", fixed,
                            Ms(fixed * *row.comparison_ms));
      }
      text += ".";
    }
    text += fmt::format(" The target took {}, {} {} than that.", Ms(row.primary_ms),
                        Ms(std::abs(*row.unexpected_ms)), *row.unexpected_ms > 0 ? "more" : "less");
    if (row.primary_calls != row.comparison_calls) {
      text += " The numbers of calls differ, which is part of it.";
    }
    text += row.verdict == findings::CompareVerdict::kSlower
                ? " Kernel choice, tuning or layout on the target are worth investigating; the "
                  "trace does not show which."
                : " The reference may be inefficient here; nothing to do on the target.";
    return text;
  }

  // The rows of a verdict, the most time first.
  void List(const char* title, findings::CompareVerdict verdict) {
    std::vector<const findings::CompareRow*> rows;
    for (const findings::CompareRow& row : f_.ops.rows) {
      if (row.verdict == verdict) rows.push_back(&row);
    }
    if (rows.empty()) return;
    const auto weight = [](const findings::CompareRow* row) {
      return std::max(row->primary_ms.value_or(0), row->comparison_ms.value_or(0));
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const findings::CompareRow* a, const findings::CompareRow* b) {
                       return weight(a) > weight(b);
                     });
    Line("### {}\n", title);
    Line("| Operation | Reference | Target | Δ | Expected |\n|---|---|---|---|---|");
    for (std::size_t i = 0; i < rows.size() && i < kListedMax; ++i) {
      const findings::CompareRow& row = *rows[i];
      Line("| {}{} | {} | {} | {} | {} |", TitleOf(row),
           row.arguments_differ ? " (other arguments)" : "", Ms(row.comparison_ms),
           Ms(row.primary_ms), Delta(row.primary_ms, row.comparison_ms),
           row.expected ? ExpectedText(row) : "–");
    }
    if (rows.size() > kListedMax) {
      Line("\n{} more in compare_by_op.csv.", rows.size() - kListedMax);
    }
    Line("");
  }

  void Appendix() {
    Line("## Appendix\n");
    Line("### Hardware specs used for \"expected\"\n");
    Line("| Metric | Target Platform | Reference Platform |\n|---|---|---|");
    const auto& target = f_.target.side.platform;
    const auto& reference = f_.reference.side.platform;
    Line("| Platform | {} | {} |", f_.target_name, f_.reference_name);
    Line("| Peak HBM Bandwidth (GB/s) | {} | {} |",
         Number(target ? target->mem_bw_gbps : std::nullopt),
         Number(reference ? reference->mem_bw_gbps : std::nullopt));
    Line("| Memory Size (GB) | {} | {} |", Number(target ? target->memory_gb : std::nullopt),
         Number(reference ? reference->memory_gb : std::nullopt));
    for (const char* spec : {"matrix_bf16", "matrix_fp16", "matrix_fp8", "matrix_fp32",
                             "vector_fp32", "vector_bf16"}) {
      Line("| {} (TFLOPS/s) | {} | {} |", spec, RateText(target, spec), RateText(reference, spec));
    }
    Line("\n### Methodology\n");
    Line("* Comparability: {}.",
         Md(fmt::format("{}", fmt::join(f_.comparability.reasons, "; ")), 800));
    Line(
        "* Rows are an op with its input shapes and types; calls whose arguments the other trace "
        "does not have are matched by name and not judged, nor is communication, which is mostly "
        "waiting for other ranks. \"a ~ b\" are two names for the same kind and amount of work.");
    Line(
        "* Expected = the least time that the row's work can take on the target over that on the "
        "reference: the ratio of memory bandwidths where traffic is the limit, of FLOP rates at "
        "the work's precision where arithmetic is; 1 on the same device.");
    Line(
        "* Up to 3 µs of each kernel count as fixed cost that no device ratio explains, so short "
        "kernels may come near the same time on both.");
    Line(
        "* A row is as expected within 15 % of that; rows below 0.2 % of the target's GPU time "
        "are not listed as slower or faster.");
    Line(
        "* Communication, copies and idle time are of each trace's own window. Causes within a "
        "kernel (occupancy, caches) are not visible in a trace.");
  }

  static std::string RateText(const std::optional<perf::Platform>& platform, const char* spec) {
    if (!platform) return "–";
    const auto rate = perf::CeilingFor(*platform, spec);
    return rate ? fmt::format("{} ({})", Number(rate->tflops), perf::SourceText(rate->source))
                : "–";
  }

  const ComparativeFacts& f_;
  std::string out_;
};

}  // namespace

std::string FairReport(const ComparativeFacts& facts) {
  return FairWriter(facts).Write();
}

}  // namespace jarvis::documents
