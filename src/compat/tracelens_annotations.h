// The engine step that the reference finds around an op of an inference server.
#pragma once

#include <string_view>
#include <vector>

#include "compat/tracelens_tree.h"

namespace jarvis::compat {

class TraceLensAnnotations {
 public:
  // `inference`: the report about inference annotates more ops.
  TraceLensAnnotations(const trace::EventStore& events, const TraceLensTree& tree, bool inference);

  // The name of the first annotation by start, of whatever thread, that starts no later than the op
  // and ends after it; kNoString: none, or an op that the report does not annotate.
  StringId Around(EventIndex op, std::string_view name) const;

 private:
  const trace::EventStore& events_;
  const TraceLensTree& tree_;
  bool inference_;
  std::vector<EventIndex> annotations_;  // by start
};

}  // namespace jarvis::compat
