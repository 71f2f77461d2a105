// The inner dimension of products that no op describes, by the order of the kernels of a layer.
//
// A name and a grid give rows and columns of a product's result (session/grid_sizes.h), but not how
// long its sums are. In the forward pass of a transformer the kernels before it tell that:
//   norm, product                   what is normalised is the residual stream, which is as wide as
//                                   the product that was added to it last has columns
//   norm, product, activation,      the MLP's way back to the stream: as long as the first product
//     product                       has columns, half of it where a gate is multiplied in
//   norm, product, attention,       as long as the heads are wide
//     product
// The stream's width is what most of the products behind a norm agree on; where one does not (a
// norm inside attention, a layer of another width) nothing is said of it.
//
// Errors: none. Threads: const once it is made.
#pragma once

#include <optional>
#include <unordered_map>

#include "session/grid_sizes.h"

namespace jarvis::session {

struct ProductSizes {
  ResultSizes result;
  SizeRange depth;
};

// Of attention whose heads come from one product of a layer: its tokens are its own keys.
struct LayerAttention {
  AttentionSizes sizes;
  SizeRange tokens;  // of all of the batch
};

// What a normalisation writes at least: the operand of the product behind it.
struct NormalisedSize {
  double elements = 0;
  trace::EventIndex product = trace::kNoEvent;
};

struct LayersKnown {
  std::unordered_map<trace::EventIndex, ProductSizes> products;
  std::unordered_map<trace::EventIndex, LayerAttention> attentions;
  std::unordered_map<trace::EventIndex, NormalisedSize> normalised;
};

class LayerSizes {
 public:
  LayerSizes(const trace::EventStore& events, const ledger::KindsOfWork& kinds);

  // Absent: see above.
  std::optional<ProductSizes> Product(trace::EventIndex kernel) const;
  std::optional<LayerAttention> Attention(trace::EventIndex kernel) const;
  std::optional<NormalisedSize> Normalised(trace::EventIndex kernel) const;

 private:
  LayersKnown known_;
};

}  // namespace jarvis::session
