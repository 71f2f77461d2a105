// The catalogue of fixes: what the analysis looks for and what can be done about it, in words. One
// file a fix (catalogue/<id>.json) and one file an action of the built-in kind (actions/<id>.json);
// docs/fixes.md describes them. Pattern and Advice (levers/ids.h) are made from the files' names at
// build time: tf32_off.json is Pattern::kTf32Off. Code decides by these, never by a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded_file.h"
#include "base/result.h"
#include "levers/ids.h"

namespace jarvis::levers {

// Where the way out lies, in the users' words. A: fusion, algorithm, API (the model may be
// changed); B: what is set or wrapped around it while its code stays: settings, environment, launch
// flags, the compiler, other kernels, or a reproducer for those who write them.
enum class Path : std::uint8_t { kA, kB };

struct PatternInfo {
  Pattern pattern = Pattern::kCount;
  std::string key;       // "tiny_batched_gemm": stable, in files
  std::string what;      // half a sentence without numbers
  bool notable = false;  // makes an op of any share Medium
  bool inexact = false;  // computes with fewer bits: whether results stay good enough is not known
  bool own_kernel = false;  // somebody has to write a kernel, which may turn out no faster
  // Of several that are found at once the smallest is named first.
  int order = std::numeric_limits<int>::max();
  int section = 0;  // its place in docs/rules.md; 0: as `order` says
};

// What is done once for all who ask for it, whatever a sentence says around it.
struct Action {
  // The same for fixes that are one action; may name facts in braces ("merge {merge}"). Empty: the
  // fix's own, told apart by the facts that its short form names.
  std::string key;
  std::string part_of;             // the key of the action that takes this one along; empty: none
  std::vector<std::string> facts;  // those that the short form names
};

// What a fix says to users of another framework than the one that its own texts are for; a text
// that is empty is not known there.
struct Elsewhere {
  std::string framework;       // "JAX", "TensorFlow", or kAnyFramework
  std::string path_a, path_b;  // of a fix
  std::string what, why;       // of an action
};

struct RuleRow {
  Pattern pattern = Pattern::kCount;
  std::string framework;  // whose settings or API its paths name; empty: they hold anywhere
  std::vector<Elsewhere> elsewhere;
  std::string signature;  // what in the trace makes it one
  // Texts with {key} for the finding's facts. Evidence goes on after "... takes 3 ms"; an empty
  // path is one that is not known to help.
  std::string evidence;
  std::string path_a;
  std::string path_b;
  std::string excluded;  // where it does not hold
  std::string target;
  std::string source;  // of the target
  std::string open;    // what decides whether it pays and no trace shows: a clause, "whether ..."
  std::string record;  // what to record next to know it, a clause; may be empty
  Action action_a;
  Action action_b;
};

// Which GPU work a fix is about, where data alone decides it (docs/fixes.md, "A fix of a line").
// Lists that are empty ask for nothing.
struct LineRule {
  Pattern pattern = Pattern::kCount;
  std::vector<std::string> kinds;      // of work, as ledger::WorkKindText spells them
  std::vector<std::string> libraries;  // files of ledger/kinds/names
  std::vector<std::string> classes;    // KernelKind::sub
  std::vector<std::string> names;      // parts of kernels' names
  std::vector<std::string> precisions;
  std::vector<std::string> kernels;  // predicates of a kernel: all hold; "!": does not
  std::vector<std::string> when;     // predicates of the trace, likewise
  // Of the work's own time what goes: at least, expected, at most.
  std::array<double, 3> saves = {};
  std::optional<std::array<double, 3>> saves_b;  // by path B, where that is another part
  // Kernels in a row on a stream keep the time of the longest; the parts above are of what is left.
  bool rows = false;
};

// What a library's kernel or an engine's switch needs to do anything, by its documentation or its
// source. What is empty or 0 is not asked.
struct Needs {
  bool cuda = false;                     // it is not built for ROCm
  std::vector<int> architectures;        // NVIDIA's: 90, 100, 103
  std::vector<std::string> model_files;  // one of these defines the model: "qwen3_moe.py"
  std::int64_t tokens_max = 0;           // of a step
  // Of the message of a collective, in MiB: by architecture and number of ranks.
  std::map<int, std::map<int, double>> message_mib;
};

struct AdviceInfo {
  Advice advice = Advice::kCount;
  std::string key;   // "channels_last"
  std::string what;  // an imperative, its short form first
  std::string why;   // what it helps by, in half a sentence; may be empty
  Path path = Path::kA;
  double most = 1;  // of the time that it is about: what can go at most
  Needs needs;
  std::string open, record;  // as of a fix
  Action action;
  std::string framework;  // as of a fix
  std::vector<Elsewhere> elsewhere;
};

// The texts of all fixes: ours, or ours with a user's over them.
class Fixes {
 public:
  const PatternInfo& Of(Pattern pattern) const {
    return patterns_[static_cast<std::size_t>(pattern)];
  }
  const AdviceInfo& Of(Advice advice) const { return advices_[static_cast<std::size_t>(advice)]; }
  const RuleRow* RuleOf(Pattern pattern) const;  // null: no rule of this kind
  std::span<const PatternInfo> patterns() const { return patterns_; }
  std::span<const AdviceInfo> advices() const { return advices_; }
  std::span<const RuleRow> rules() const { return rules_; }   // as docs/rules.md has them
  std::span<const LineRule> lines() const { return lines_; }  // in the order of their patterns

 private:
  friend class FixReader;
  std::vector<PatternInfo> patterns_;  // by Pattern
  std::vector<AdviceInfo> advices_;    // by Advice
  std::vector<RuleRow> rules_;
  std::vector<LineRule> lines_;
};

// Those of files; an error names the file, the key and what was expected.
Result<Fixes> ReadFixes(std::span<const EmbeddedFile> fixes, std::span<const EmbeddedFile> actions);

// Ours, read when they are first asked for. Threads: any.
const Fixes& Shipped();

// Ours with the texts of a user's file over them: its member "fixes" is a list of objects with an
// `id` and the texts that it replaces (docs/fixes.md). Null: the file has no such member. Only
// words change: whatever decides, the actions' keys among it, stays ours.
Result<std::shared_ptr<const Fixes>> ShippedWith(std::string_view file, std::string_view json);

inline const PatternInfo& Info(Pattern pattern) {
  return Shipped().Of(pattern);
}
inline const AdviceInfo& Info(Advice advice) {
  return Shipped().Of(advice);
}
inline const RuleRow* RuleOf(Pattern pattern) {
  return Shipped().RuleOf(pattern);
}
inline Path PathOf(Advice advice) {
  return Info(advice).path;
}

// Whose words fixes use in a recording of that framework, as trace::Recording has it: empty for
// PyTorch's own, kAnyFramework where the catalogue has none of its own or nothing shows which it
// is.
inline constexpr std::string_view kAnyFramework = "any";
std::string_view WordsFor(std::string_view recorded);

// The same for a recording of another framework than PyTorch: what only PyTorch has is said as it
// is done there, or not at all (its text is empty). `framework`: a name as Recording::framework has
// it.
Fixes ForFramework(const Fixes& fixes, std::string_view framework);
// The same for PyTorch on a platform ("ROCm", "Hopper", "Blackwell"): only what has words for it is
// said in these.
Fixes ForPlatform(const Fixes& fixes, std::string_view platform);
// Whether an action can be taken there. Threads: any.
bool IsKnownIn(Advice advice, std::string_view framework);

// For sets and maps: in which order patterns are told.
struct InOrder {
  bool operator()(Pattern a, Pattern b) const {
    return std::pair(Info(a).order, a) < std::pair(Info(b).order, b);
  }
};

}  // namespace jarvis::levers
