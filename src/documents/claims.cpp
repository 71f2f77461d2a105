#include "documents/claims.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "documents/sentences.h"

namespace jarvis::documents {
namespace {

// Naming the tool that could see it is no claim.
constexpr std::string_view kCounters =
    "counter|counters|rocprof*|nsight*|ncu|trace does not show|trace cannot show|not observable";

constexpr Observable kObservables[] = {
    {"Kernel names", "kernel events; kernel_details_summary of <cat>_ops.csv"},
    {"Kernel durations and counts", "kernel events"},
    {"Input shapes, dtypes, strides", "Input Dims, Input type, Input Strides of the op"},
    {"Achieved TB/s and TFLOPS/s", "modelled bytes and FLOPs over measured time"},
    {"Efficiency in percent of the roof", "achieved over the platform's limit"},
    {"Bound (compute or memory)", "arithmetic intensity against the platform's ridge"},
    {"Call stack and module", "<cat>_tree_data.json, parent_chain"},
    {"Library of a kernel", "the kernel's name"},
    {"Kernel lowering of a shape", "kernels below the op, compared between shapes"},
    {"Gaps on the GPU and what the host did meanwhile", "idle_gaps.json"},
    {"Overlap of communication, copies and computation", "gpu_timeline"},
};

constexpr ClaimRule kRules[] = {
    {"occupancy", "Occupancy", "Needs hardware counters.", "Kernel running slower than expected",
     "occupanc*|active warps|resident warps|active waves|wavefronts|waves per", kCounters},
    {"bank_conflicts", "Bank conflicts", "Needs hardware counters (rocprof, nsight-compute).",
     "Low efficiency - profile the reproducer with a counter tool to diagnose", "bank conflict*",
     kCounters},
    {"coalescing", "Memory coalescing", "Needs hardware counters.",
     "Replay artifact provided for kernel team investigation",
     "coalesc*|uncoalesced|non-coalesced|memory divergence", kCounters},
    {"cache", "Cache hit rates", "Needs hardware counters.", "Large working set may exceed cache",
     "cache hit*|cache miss*|hit rate*|miss rate*|cache thrash*|l1 hit*|l2 hit*|l1 miss*|l2 miss*|"
     "cache efficienc*",
     kCounters},
    {"on_chip_memory", "LDS and shared memory use", "Needs hardware counters.",
     "Kernel running slower than expected",
     "lds usage|lds pressure|lds conflict*|shared memory pressure|shared memory conflict*",
     kCounters},
    {"registers", "Register use and spills", "Needs the compiled kernel or hardware counters.",
     "Kernel running slower than expected", "register spill*|register pressure|vgpr*|spills to",
     kCounters},
    {"divergence", "Divergence and shuffle efficiency", "Needs hardware counters.",
     "Kernel running slower than expected",
     "warp diverg*|branch diverg*|thread diverg*|wave diverg*|shuffle efficienc*", kCounters},
    {"stalls", "Instruction stalls", "Needs hardware counters.",
     "Low efficiency - profile the reproducer with a counter tool to diagnose",
     "instruction stall*|pipeline stall*|memory stall*|warp stall*|latency hiding", kCounters},
    {"tile_choice", "That a tile size is the wrong one",
     "The name may show the tile; whether another is faster must be measured.",
     "Replay artifact provided to try other tile sizes",
     "wrong tile|bad tile|poor tile|suboptimal tile|inefficient tile|wrong tile size", kCounters},
    {"clocks", "Clocks, power and temperature", "A trace has times only.",
     "Kernel running slower than expected", "throttl*|power limit*|power cap*|downclock*|overheat*",
     kCounters},
    {"root_cause", "Specific root causes", "Traces show WHAT, not WHY.",
     "Bottleneck identified - generate reproducer for kernel team",
     "root cause|root causes|because the kernel|because its kernel|due to poor|due to bad|"
     "due to inefficient|caused by poor|caused by bad|caused by inefficient|poorly written|"
     "badly written|badly tuned|poorly tuned",
     kCounters},
    {"straggler", "Stragglers, from the trace of one rank",
     "One rank does not show when the others arrived.",
     "Collective types, sizes and time of this rank; compare all ranks",
     "straggler*|slow rank|slowest rank|load imbalance", "all ranks|other ranks|every rank|ranks'"},
    {"winner", "A better vendor or platform", "A comparison serves to improve the candidate.",
     "Candidate is N % slower on this op than the hardware explains",
     "winner|loser|better vendor|better platform|better "
     "gpu|superior|inferior|outperform*|outclass*",
     ""},
    {"certain_gain", "A certain gain", "A saving is a range up to the roof, not a promise.",
     "Saves up to N ms if the op reaches its roof", "guarantee*|will definitely|certain to save",
     ""},
    {"over_roof", "Efficiency above 100 % as a success",
     "More than the limit means a wrong limit, dtype or model.",
     "Anomaly: verify the platform, the dtype and the model", "", "anomal*"},
};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether a phrase of a rule stands at `at`, where a word begins. `text` in lower case.
bool IsPhraseAt(std::string_view text, std::size_t at, std::string_view phrase) {
  const bool open = phrase.ends_with('*');
  if (open) phrase.remove_suffix(1);
  const std::size_t end = at + phrase.size();
  return text.substr(at).starts_with(phrase) && (open || end == text.size() || !IsWord(text[end]));
}

template <typename Use>
void ForEachPhrase(std::string_view phrases, const Use& use) {
  while (!phrases.empty()) {
    const std::string_view phrase = phrases.substr(0, phrases.find('|'));
    use(phrase);
    phrases.remove_prefix(std::min(phrases.size(), phrase.size() + 1));
  }
}

template <typename Use>
void ForEachWord(std::string_view text, const Use& use) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at == 0 || !IsWord(text[at - 1])) use(at);
  }
}

bool HasAny(std::string_view text, std::string_view phrases) {
  bool found = false;
  ForEachWord(text, [&](std::size_t at) {
    ForEachPhrase(phrases,
                  [&](std::string_view phrase) { found = found || IsPhraseAt(text, at, phrase); });
  });
  return found;
}

// "138 % of the roof", "efficiency of 138%".
bool IsOverRoof(std::string_view lower) {
  if (lower.find('%') == std::string_view::npos) return false;
  if (!HasAny(lower, "roof*|peak*|efficien*|maf")) return false;
  for (std::size_t at = lower.find('%'); at != std::string_view::npos;
       at = lower.find('%', at + 1)) {
    std::size_t end = at;
    while (end > 0 && lower[end - 1] == ' ')
      --end;
    std::size_t begin = end;
    while (begin > 0 && (std::isdigit(static_cast<unsigned char>(lower[begin - 1])) != 0 ||
                         lower[begin - 1] == '.' || lower[begin - 1] == ','))
      --begin;
    const std::optional<double> value = ParseDouble(lower.substr(begin, end - begin));
    // "+120 %" and "-120 %" are changes.
    const bool change = begin > 0 && (lower[begin - 1] == '+' || lower[begin - 1] == '-');
    if (value && *value > 100 && !change) return true;
  }
  return false;
}

// The phrases of all rules by their first letters: a text is looked through once for all of them.
class PhraseIndex {
 public:
  PhraseIndex() {
    for (std::size_t rule = 0; rule < std::size(kRules); ++rule) {
      ForEachPhrase(kRules[rule].phrases, [&](std::string_view phrase) {
        by_letter_[static_cast<unsigned char>(phrase[0])].push_back({phrase, rule});
      });
    }
  }

  // Which rules a text in lower case has a phrase of.
  std::bitset<std::size(kRules)> RulesIn(std::string_view text) const {
    std::bitset<std::size(kRules)> rules;
    ForEachWord(text, [&](std::size_t at) {
      for (const auto& [phrase, rule] : by_letter_[static_cast<unsigned char>(text[at])]) {
        if (!rules[rule] && IsPhraseAt(text, at, phrase)) rules.set(rule);
      }
    });
    return rules;
  }

 private:
  struct Entry {
    std::string_view phrase;
    std::size_t rule;
  };
  std::array<std::vector<Entry>, 256> by_letter_;
};

}  // namespace

std::span<const Observable> Observables() {
  return kObservables;
}

std::span<const ClaimRule> ClaimRules() {
  return kRules;
}

std::vector<ClaimFault> CheckClaims(std::string_view prose) {
  static const PhraseIndex kIndex;
  std::vector<ClaimFault> faults;
  for (const std::string& sentence : Sentences(prose)) {
    const std::string lower = LowerAscii(sentence);
    const auto named = kIndex.RulesIn(lower);
    for (std::size_t i = 0; i < std::size(kRules); ++i) {
      const ClaimRule& rule = kRules[i];
      const bool claimed = rule.id == "over_roof" ? IsOverRoof(lower) : named[i];
      if (claimed && !HasAny(lower, rule.excuses))
        faults.push_back({&rule, std::string(Utf8Prefix(sentence, 160))});
    }
  }
  return faults;
}

}  // namespace jarvis::documents
