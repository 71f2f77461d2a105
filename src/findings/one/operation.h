// One signature of a trace: an op with its recorded arguments, all its calls, what they took and
// how far they are from what the hardware can do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/pattern.h"
#include "trace/event.h"

namespace jarvis::findings {

enum class Bound : std::uint8_t {
  kCompute,
  kMemory,
  kUnknown,    // a model, but no platform to hold it against
  kUnmodeled,  // no model, or one that says too little
  kFewBlocks,  // neither: its grids leave most compute units idle
};
std::string_view BoundText(
    Bound bound);  // "compute", "memory", "unknown", "unmodeled", "few_blocks"

// The users' bands; see limits::kExcellent and those after it.
enum class Band : std::uint8_t { kExcellent, kGood, kAcceptable, kInvestigate, kUnknown, kAnomaly };
std::string_view BandText(Band band);  // "excellent", ..., "needs investigation", "unknown"
Band BandOf(std::optional<double> efficiency);

// Where the bound comes from.
enum class BoundSource : std::uint8_t {
  kRidge,      // the platform's ridge point
  kIntensity,  // no platform: the bands of limits::kComputeIntensity
  kNone,
};
std::string_view BoundSourceText(BoundSource source);

struct Efficiency {
  std::optional<double> percent;  // time at the roof / time * 100, mean over calls
  Bound bound = Bound::kUnknown;
  BoundSource source = BoundSource::kNone;
  Band band = Band::kUnknown;
  std::optional<double> tflops_per_s;    // mean over calls
  std::optional<double> tb_per_s;        //
  std::optional<double> flops_per_byte;  // of one call
  std::optional<double> flops;           // of one call (the first)
  std::optional<double> bytes;           // of one call (the first)
  std::string spec;                      // "matrix_bf16"
  std::optional<double> peak_tflops;     // the rate that it is held against
  std::string peak_source;               // "achievable", "peak"...
  std::optional<double> peak_tb_per_s;
  std::optional<double> roof_us;  // of all calls
  bool anomaly = false;           // above limits::kAtRoof
  bool impossible = false;        // above limits::kImpossible: no estimate is made from it
  bool launch_floor = false;      // short kernels with a roof below limits::kFloorRoofUs: no target
  std::string assumption;         // what the model had to assume; empty: nothing
};

struct KernelShare {
  std::string name;    // whole
  std::string row_id;  // "k3" of ops_summary by kernel; empty: none
  std::int64_t stream = trace::kAbsent;
  std::uint64_t count = 0;
  double total_us = 0;
};

// What a way out makes of a piece of work, and why that is believed.
struct Target {
  Range saved_part;    // of its time, from 0 to 1: what goes away
  std::string text;    // "60 % of the TF32 rate"
  std::string source;  // of the figure: "best sibling in this trace", "FlashAttention-3, 2024"
  // Of whole durations, the dispatch of kernels included: they go, or their length is known. Else
  // only what they do becomes faster.
  bool of_durations = false;
};

// What a path does, where the finder's own words say it.
struct ToldWay {
  std::string_view action;  // see Finding::action_b; empty: as the rule's file says
  bool generates = false;   // chooses among kernels that a compiler generates, too
};

// The one reason why a piece of work takes longer than it must, found by a rule (see
// levers/fixes.h). Operations with the same pattern and group are one finding.
struct Cause {
  Pattern pattern = Pattern::kCount;
  std::string group;
  std::vector<Fact> facts;  // evidence of this operation
  std::optional<Target> a, b;
  std::optional<Target> option;  // goes further where accuracy allows it; in no saving
  // The GPU events of the operation that it is about, and their time; empty: all of them.
  std::vector<trace::EventIndex> gpu = {};
  double gpu_us = 0;
  std::string subject = {};  // what it is about; empty: the costliest operation
  ToldWay way_b = {};
};

struct Operation {
  std::string id;         // "gemm.1": category key and rank in it
  std::string row_id;     // "op3": the op's row in ops_summary, for tools; all shapes together
  std::string name;       // "aten::mm"
  std::string category;   // key: "gemm"
  std::uint32_t uid = 0;  // an example call: position in traceEvents
  trace::EventIndex example = trace::kNoEvent;
  std::string dims, types, strides, concrete;  // as tuples, as in the report's tables; may be empty
  std::string args;                            // "(4096,4096) bf16<br>(4096,11008) bf16"
  std::string parameters;                      // of the model: "{'M': 1, ...}"; empty: none
  bool has_model = false;
  std::string model_failure;  // why a model said nothing; empty: it did, or there is none

  std::uint64_t count = 0;   // calls
  double gpu_us = 0;         // busy time of all calls, summed over calls
  double foreign_us = 0;     // of it, launched before the recording or in odd steps
  double foreign_calls = 0;  // of its calls, by the share of their GPU events
  double dispatch_us = 0;    // of it, what kernels take however little they do
  double exclusive_us = 0;   // of it, while nothing else ran on the GPU: only this shortens a step
  double host_us = 0;        // host duration of all calls
  double sync_us = 0;        // in synchronising runtime calls below the op (evidence, not a guess)
  std::uint64_t sync_calls = 0;
  double mean_us = 0, min_us = 0, max_us = 0;  // GPU time per call
  std::optional<double> variation;             // std/mean of that; absent: fewer than two calls
  // Share of the GPU time after which the GPU ran dry: the next work had not been launched when
  // this ended, so that a faster kernel means a longer wait. Absent: launches are not recorded.
  std::optional<double> starved_percent;

  std::optional<double> percent_of_category, percent_of_total, percent_of_computation;
  Efficiency efficiency;
  // Without an efficiency: the percent of peak memory bandwidth that the sizes in its kernels'
  // names prove (session/name_floors.h), or of what the device can reach, where grids tell with
  // them; absent: they prove none that tells anything.
  std::optional<double> least_percent;
  bool least_by_grid = false;
  std::string library;                  // "Tensile", "cuBLAS", "PyTorch Native"...; empty: unknown
  std::vector<KernelShare> kernels;     // the longest first
  std::string entry_point;              // "model.py(243): forward"; empty: no Python frames
  std::string module_path;              // "GPT2 / Block[*] / MLP"; of the caller with most time
  std::vector<std::string> call_chain;  // outermost first, of the caller with most time
  std::string classification;           // of its category: "quantized", "flash", "depthwise"...
  std::vector<PatternHit> patterns;
  std::vector<Fact> details;  // category specifics: "transpose_us", "batch", "M"...
  // The part of the roof gap that can shorten the window: percent of the window and ms. Absent: no
  // estimate (see Efficiency::impossible, and operations without time).
  std::optional<Range> impact_percent;
  std::optional<Range> savings_ms;
  bool quantified = false;             // a gap to the roof is known
  std::string fusion_candidate;        // "fusion.2" if one takes kernels of this; empty: none
  std::optional<Cause> cause;          // absent: no rule explains it
  bool claimed = false;                // most of its time belongs to the finding of a chain
  std::vector<trace::EventIndex> gpu;  // its GPU events
};

// So many operations of a category, or members of a finding, are listed one by one in a report or
// a JSON file. Nobody reads thousands; the tables have all.
inline constexpr std::size_t kListedMost = 200;

bool HasPattern(const Operation& operation, Pattern pattern);

// A model knows the op, and the recording has no sizes to evaluate it with.
inline bool LacksShapes(const Operation& operation) {
  return operation.has_model && operation.dims.empty();
}

}  // namespace jarvis::findings
