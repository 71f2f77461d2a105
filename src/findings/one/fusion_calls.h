// What the search for fusion candidates asks of the calls of a trace: what an op moves, where in
// the model a call stands, and what ran next to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/fusion.h"
#include "findings/one/shapes.h"

namespace jarvis::findings {

// What of a signature fusion asks for; made once per operation.
struct FusionTraits {
  Kind kind = Kind::kOther;
  std::vector<Shape> shapes;  // of tensors
  double input_bytes = 0;     // of those, all together
  double largest_bytes = 0;   // of one of them
  std::optional<double> bytes;
  std::optional<double> flops;
  bool fusible = false;
  bool product = false;
  double batch = 1, m = 0, n = 0, k = 0;
  std::string spec;
  double output_bytes() const {
    if (!bytes) return largest_bytes;
    const double out = *bytes - input_bytes;
    return out > 0 ? std::min(out, *bytes) : largest_bytes;
  }
};

// Where a call stands in the model.
struct FusionScope {
  trace::EventIndex module = trace::kNoEvent;
  bool backward = false;
  friend bool operator==(const FusionScope&, const FusionScope&) = default;
};

// Calls that one kernel could do together, once; by place in Calls::calls.
struct FusionInstance {
  FusionKind kind = FusionKind::kChain;
  std::vector<std::uint32_t> calls;
  std::uint32_t producer = kNone;  // of an epilogue
  bool after_bias = false;         // the producer adds its bias in a kernel that can take the rest
  FusionScope scope;
  bool shapes_known = true;
  Shape scores;          // of attention: what softmax reads
  double head_size = 0;  // of attention
};

class FusionCalls {
 public:
  // Both must outlive the object.
  FusionCalls(Calls& calls, const std::vector<CategoryAnalysis>& categories);

  Calls& calls() const { return calls_; }
  const trace::EventStore& events() const { return events_; }
  const std::vector<CategoryAnalysis>& categories() const { return categories_; }
  // Calls of the host by start, thread by thread, without those of value checks (allclose): nothing
  // is fused with what is there for debugging, and without it its neighbours are each other's.
  const std::vector<std::vector<std::uint32_t>>& threads() const { return threads_; }

  const FusionTraits& TraitsOf(std::uint32_t call) const;
  std::string_view NameOf(std::uint32_t call) const { return calls_.NameOf(calls_.calls[call]); }
  // The module instance around a call; of backward work that of the forward op. Without modules
  // the Python frame around it.
  FusionScope ScopeOf(std::uint32_t call) const;
  // Does b, the next of its thread, follow a on its stream without much of a gap?
  bool Neighbours(std::uint32_t a, std::uint32_t b) const;

  // Whether a convolution adds its bias in a kernel of its own, last, and `next` takes its result.
  // A compiler leaves the library's kernel without the bias and fuses that add with what follows.
  bool AddsBiasFor(std::uint32_t convolution, std::uint32_t next) const;

  // The kind that the ops of an instance make it, or kChain.
  FusionKind Composition(const FusionInstance& instance) const;
  // The kind that the name of its module makes it, or kChain.
  FusionKind Hint(const FusionInstance& instance) const;

 private:
  void Describe(const analysis::WorkCall& call, Kind kind, FusionTraits* out) const;
  bool Any(const FusionInstance& instance, std::initializer_list<std::string_view> parts) const;
  // Whether a Python frame around a call, below its module, has one of the parts in its name.
  bool InFrame(std::uint32_t call, std::initializer_list<std::string_view> lower_parts) const;

  Calls& calls_;
  const std::vector<CategoryAnalysis>& categories_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  std::vector<std::vector<FusionTraits>> traits_;  // by category and operation
  std::vector<std::vector<std::uint32_t>> threads_;
  std::vector<bool> after_check_;  // by call: a check's calls come between it and the one before
};

// Is one of the parts, which are in lower case, in the text, whatever its case?
bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> lower_parts);

}  // namespace jarvis::findings
