// What kind of work each GPU event of a trace is.
//
// By its name, but of products below a convolution's op; where the name tells nothing, by the op
// that launched it (ops.json); where that
// tells nothing either, by what the launch needed. Each distinct name is classified once.
//
// Errors: none. Threads: const once it is made. The trace must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ledger/kinds/work_kind.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::ledger {

class KindsOfWork {
 public:
  KindsOfWork(const trace::EventStore& events, const tree::CallTree& tree);

  // REQUIRES: GPU work (trace::IsGpuWork). Of what was left out as an oddity too.
  const KernelKind& Of(trace::EventIndex gpu_event) const;
  // Of most of their time; unknown if they take none.
  WorkKind OfMost(std::span<const trace::EventIndex> gpu_events) const;

 private:
  const trace::EventStore& events_;
  std::unordered_map<StringId, KernelKind> of_name_;
  std::unordered_map<trace::EventIndex, KernelKind> of_event_;  // where it is not its name's
};

}  // namespace jarvis::ledger
