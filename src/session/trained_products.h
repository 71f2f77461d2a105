// The sizes of the three products of a linear layer in training, where no op has shapes.
//
// Y = X W has rows M, columns N and sums of K; the gradients are dX = dY W^T, M by K with sums of
// N, and dW, N by K or K by N with sums of M. Each tile and grid gives two of the three sizes
// (session/grid_sizes.h), autograd's number says which products belong together: of all three every
// size is seen twice. Two of them tell as much where it is plain which gradient the second is.
//
// Errors: none. Threads: const once it is made.
#pragma once

#include <optional>
#include <unordered_map>

#include "session/layer_sizes.h"
#include "tree/call_tree.h"

namespace jarvis::session {

class TrainedProducts {
 public:
  TrainedProducts(const trace::EventStore& events, const tree::CallTree& tree,
                  const ledger::KindsOfWork& kinds);

  // Absent: a product was not recorded, or was parted into several launches; names or grids do not
  // tell; or the sizes do not fit, or fit in two ways.
  std::optional<ProductSizes> Product(trace::EventIndex kernel) const;

 private:
  std::unordered_map<trace::EventIndex, ProductSizes> products_;
};

}  // namespace jarvis::session
