// A finding: what is worth work, how much it may save at most, and the ways out. No prose: facts
// and keys, from which reports are written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/host_cause.h"
#include "findings/one/operation.h"
#include "findings/one/pattern.h"
#include "ledger/books/books.h"
#include "ledger/kinds/work_kind.h"

namespace jarvis::findings {

enum class Tier : std::uint8_t { kCompute, kFusion, kSystem };
std::string_view TierText(Tier tier);  // "compute_kernel", "fusion", "system"

// The users' classes; see limits::kCriticalShare and those after it.
enum class PriorityClass : std::uint8_t { kCritical = 1, kHigh = 2, kMedium = 3, kLow = 4 };
std::string_view PriorityText(PriorityClass priority);  // "Critical", "High", "Medium", "Low"
// By the share of what the user waits for that a saving is, in percent.
PriorityClass PriorityOfSaving(double percent);
// `share`: percent of compute time; efficiency absent: not known.
PriorityClass PriorityOf(double share, std::optional<double> efficiency, bool notable_pattern);

enum class EstimateMethod : std::uint8_t {
  kRoof,      // the gap to the roof
  kMeasured,  // time that was seen: gaps, exposed communication, transposes
  kTraffic,   // bytes that fusion saves, at the bandwidth that the chain has now
  kTarget,    // a target with a source: a sibling in the trace, a published rate
  kNone,      // no saving can be told from the trace
};
std::string_view MethodText(EstimateMethod method);  // "quantified", "measured", ...

// The lines of the wall book that what a finding is about stands in (ledger::WallBook).
struct LinesTaken {
  std::vector<ledger::WorkKind> work;
  std::vector<ledger::IdleCause> idle;
};

// What a way out saves of wall time: the trace's dependencies replayed with the change made (see
// wall_savings.h).
struct WallSaving {
  Range ms;                    // alone; low and high by the replay's readings and the target
  double after_others_ms = 0;  // middle, once what is ranked before it is done
  // Its most, once what is ranked before it does its most; absent: not asked.
  std::optional<double> after_most_ms = {};
  bool low_by_recording = false;  // its low end is what is left if recording slowed the host most
  // What it saves, expected, of a host that is not recorded, where that is more; else 0.
  double unrecorded_ms = 0;
};

// What a way out does to GPU work, so that a simulation can be asked what it saves in wall time.
struct Change {
  struct Part {
    Range saved_part;                    // of each event's duration, from 0 to 1
    std::vector<trace::EventIndex> gpu;  // the events that get shorter
  };
  std::vector<Part> parts;
  Range savings_ms;    // GPU time, each part at most what ran alone
  std::string target;  // of the costliest part; see Target
  std::string source;
  // What the simulation is asked instead of `parts`, where launches go, too; empty: the parts.
  std::vector<analysis::Change> exact = {};
};

struct WayOut;
struct ByHand;

struct Finding {
  std::string id;             // "f3": by global rank; "a1": added by somebody
  std::string category;       // "gemm", "cpu_idle", "multi_kernel", "kernel_fusion"...
  std::string category_name;  // display name: "GEMM"
  Tier tier = Tier::kCompute;
  int rank = 0;              // in the category, from 1
  int global_rank = 0;       // from 1
  std::string subject;       // what it is about: the costliest member's name, a gap class, ...
  std::string subject_args;  // its args text; may be empty
  // The subject is the name of a kernel, and the finding is about so many others, too; absent: it
  // is what the tier says.
  std::optional<std::size_t> other_kernels;
  Bound bound = Bound::kUnknown;
  std::string library;  // empty: unknown
  std::string bucket;   // "0-30", "30-60", "60-100", "unknown"
  Band band = Band::kUnknown;
  std::optional<double> efficiency;  // of all members together, percent
  // See Operation::least_percent, of all members together.
  std::optional<double> least_percent;
  bool least_by_grid = false;
  EstimateMethod method = EstimateMethod::kNone;
  PriorityClass priority = PriorityClass::kLow;

  double time_ms = 0;  // of the members
  // Of their GPU time, the part in the steps that shares are of: neither launched before the
  // recording nor in an odd step.
  double own_part = 1;
  double exclusive_ms = 0;                       // while nothing else ran
  std::optional<double> upper_bound_ms;          // time minus roof time, whatever else runs
  std::optional<Range> impact_percent;           // of the window
  std::optional<Range> savings_ms;               // never above exclusive_ms
  std::optional<double> percent_of_total;        // time of the window
  std::optional<double> percent_of_computation;  // time of the computing time
  std::uint64_t count = 0;                       // calls, gaps, copies, instances
  std::optional<double> starved_percent;         // see Operation::starved_percent

  std::vector<std::string> members;       // Operation ids, FusionCandidate ids, gap classes
  std::vector<std::string> row_ids;       // "op3": rows that tools take
  std::vector<std::string> module_paths;  // the members', the most time first, at most three
  std::vector<PatternHit> patterns;
  std::vector<Remedy> path_a;  // empty: no rule assessed it; kNoneKnown with its reason: none
  std::vector<Remedy> path_b;
  std::optional<Pattern> rule;  // what found it; absent: the roof, or gaps and copies
  // What path B does (levers::Action::key) where the finder tells it; empty: as the rule's file
  // says.
  std::string_view action_b;
  std::optional<Change> change_a;  // absent: the path has no target
  std::optional<Change> change_b;
  bool replay_recommended = false;         // see limits::kReplayShare
  std::vector<Fact> evidence;              // the numbers that a report may cite
  std::vector<std::string> overlaps_with;  // ids of findings that claim the same kernels
  std::shared_ptr<const HostCause> host;   // of findings about the host; null: another finding
  std::optional<WallSaving> wall_a;        // absent: nothing to ask, or no simulation
  std::optional<WallSaving> wall_b;
  std::optional<double> bound_ms;     // of what has no saving: wall time without any of it
  std::optional<double> joint_ms;     // the same if the host took no time either
  std::shared_ptr<const WayOut> way;  // the better one, as simulated; null: adds to no other saving
  std::string shows_after;            // id of the finding before which it saves next to nothing
  bool one_off = false;               // no cost of a steady step, and in no sum of savings
  LinesTaken lines;                   // of one with a way out
  bool minor = false;                 // saves next to nothing alone and after those before it
  std::shared_ptr<const ByHand> by_hand;  // of what somebody added; null: ours
  std::vector<std::string> warnings;      // codes: "graph_replay", "starved", "routing_assumed"
  std::string source_file;                // "category_data/gemm_metrics.json"
  std::string source_cell;                // "/category_findings/0"

  // Of all those steps together.
  double OwnMs() const { return time_ms * own_part; }
  double OwnExclusiveMs() const { return exclusive_ms * own_part; }
  Range OwnSavingsMs() const {
    const Range all = savings_ms.value_or(Range{});
    return {all.low * own_part, all.mid * own_part, all.high * own_part};
  }
};

// The way out that saves more wall time (middle), of equals the surer one, and else path B, which
// needs no change of the code; null: neither is known.
const WallSaving* BestWall(const Finding& finding);

// Whether a way out of it asks for inputs of a few sizes, as their sizes differ by step.
bool PadsInputs(const Finding& finding);

// Something that cannot be: an efficiency above the roof. Shown as it is, with no saving and no
// story.
struct Anomaly {
  std::string operation;  // Operation id
  std::string name;
  std::string args;
  double efficiency = 0;  // percent
  double time_ms = 0;
  bool impossible = false;  // above limits::kImpossible
  std::string assumption;   // what the model had to assume; empty: nothing
};

}  // namespace jarvis::findings
