// The sizes of a kernel's work by its name and its launch: the name has how much of the result a
// block makes, the grid how many blocks there are. The last block of a side may be partly empty,
// so that a size is a range. Of recordings without shapes, replays of graphs among them.
//
// Errors: none. Threads: any; pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "ledger/kinds/kinds_of_work.h"
#include "trace/event_store.h"

namespace jarvis::session {

// A size that is not below `low` and not above `high`.
struct SizeRange {
  double low = 0, high = 0;

  bool Meets(const SizeRange& other) const { return low <= other.high && other.low <= high; }
  bool Has(double size) const { return low <= size && size <= high; }
  // REQUIRES: they meet.
  SizeRange And(const SizeRange& other) const {
    return {std::max(low, other.low), std::min(high, other.high)};
  }
  bool operator==(const SizeRange&) const = default;
};

// The recorded grid; absent: not all three of its sizes are there.
std::optional<std::array<std::int64_t, 3>> GridOf(const trace::EventStore& events,
                                                  trace::EventIndex kernel);

// The result of one product, rows by columns, row-major as PyTorch has it.
struct ResultSizes {
  SizeRange rows, columns;
};

// Absent: the name gives no tile; nothing is recorded of the grid; or it has a third side, which
// counts products of a batch or parts of the sums, and which of them is not known: `no_batch`, the
// op is a product of two matrices. Of a library's call in several launches it is one launch's.
std::optional<ResultSizes> ResultOf(const trace::EventStore& events,
                                    const ledger::KindsOfWork& kinds, trace::EventIndex kernel,
                                    bool no_batch = false);

// Forward attention of one call.
struct AttentionSizes {
  double batch = 0, heads = 0;
  SizeRange queries;  // of each of the batch; of sequences of several lengths the longest
  SizeRange head;     // elements of a head
  bool causal = false;
};

// Absent: likewise.
std::optional<AttentionSizes> AttentionOf(const trace::EventStore& events,
                                          const ledger::KindsOfWork& kinds,
                                          trace::EventIndex kernel);

}  // namespace jarvis::session
