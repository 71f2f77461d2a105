// What the workload is told from: the modules of a trace with their GPU time, its names with how
// often they occur, and the shapes of its operations. Internal to the layer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/category_analysis.h"
#include "findings/one/shapes.h"
#include "ledger/kinds/work_kind.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// All module calls of one class below the same path of classes.
struct ModulePlace {
  static constexpr std::uint32_t kNoParent = 0xFFFFFFFFu;
  std::string_view name;  // class
  std::uint32_t parent = kNoParent;
  std::uint32_t depth = 0;
  std::vector<std::uint32_t> children;
  std::uint64_t calls = 0;
  std::uint64_t instances = 0;                  // different modules
  double gpu_us = 0;                            // forward and backward, what lies below included
  trace::EventIndex example = trace::kNoEvent;  // the call with the longest GPU time
  std::string_view file;                        // of its forward function; empty: not known
};

// A name with all its occurrences.
struct NamedWork {
  std::string_view name;
  std::uint64_t count = 0;
  double us = 0;  // of annotations and ops: host time; of kernels: GPU time
  ledger::WorkKind kind = ledger::WorkKind::kUnknown;  // of kernels
};

// One operation with its recorded arguments as values.
struct ShapedOperation {
  const Operation* operation = nullptr;
  Kind kind = Kind::kOther;
  std::vector<Shape> shapes;  // by argument; empty: not recorded
  std::vector<std::string> types;
  std::string_view concrete;  // raw
};

struct WorkloadFacts {
  const session::LoadedTrace& trace;
  const std::vector<CategoryAnalysis>& categories;

  std::vector<ModulePlace> modules = {};
  std::vector<std::uint32_t> roots = {};  // of modules, the longest on the GPU first
  std::vector<NamedWork> ops = {}, annotations = {}, frames = {}, kernels = {},
                         copies = {};            // by name
  std::vector<ShapedOperation> operations = {};  // the longest first
  std::map<Shape, std::uint64_t> shapes = {};    // of all ops, views too: how often

  // Last axes of what ops choose among (argmax, softmax, a loss): the op.
  std::map<std::int64_t, std::string_view> choices = {};

  std::map<std::string_view, std::uint64_t> instances = {};  // of a module class: different ones

  double gpu_us = 0;               // sum of GPU work
  double comm_us = 0;              // of it communication
  double graph_us = 0;             // of it replayed from recorded graphs
  double shaped_us = 0;            // of it of operations whose shapes are known
  std::uint64_t main_replays = 0;  // see MainReplays
  std::uint64_t units = 0;         // of the base of time, left out ones as well; 0: not known
  std::map<std::int64_t, std::uint64_t> uploads = {};  // from host to device, by bytes: how often
  double compiled_us = 0;         // of it launched by compiled regions, replays apart
  double triton_us = 0;           // of it kernels that Inductor made, replays apart
  double replayed_triton_us = 0;  // of graph_us
  bool backward = false;          // links from backward nodes to forward ops
  // Ops with a sequence number, which the dispatcher gives where autograd is on alone.
  std::uint64_t autograd_ops = 0;

  double ComputeUs() const { return gpu_us - comm_us; }
  // Shapes are known of a small part alone: what they tell is of another component than the one
  // that takes most of the time.
  bool shapes_are_partial() const { return shaped_us < 0.5 * ComputeUs(); }
};

WorkloadFacts CollectWorkloadFacts(const session::LoadedTrace& trace,
                                   const std::vector<CategoryAnalysis>& categories);

// Replays of the graph with the most time, where it has most of all computing; 0: there is none. Of
// the trace as it was recorded: with a capture the work stands below its ops.
std::uint64_t MainReplays(const session::LoadedTrace& recorded, double compute_us);

// All whose name contains one of the parts (given in lower case), added up; the name is the first
// one's.
NamedWork Containing(const std::vector<NamedWork>& names,
                     std::initializer_list<std::string_view> lower_parts);

}  // namespace jarvis::findings
