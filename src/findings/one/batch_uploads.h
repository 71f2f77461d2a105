// Uploads that a step waits for, one by one: data of its batch cannot be made once, as constants
// can; internal to the layer.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "findings/one/host_cause.h"
#include "findings/one/host_findings.h"
#include "findings/one/wait_places.h"

namespace jarvis::findings {

// Of a copy, as its arguments tell; 0: they do not.
std::int64_t CopiedBytes(const trace::EventStore& events, trace::EventIndex copy);

// Whether the op that uploads follows one that made a tensor of no data of the caller's.
bool IsJustMade(const session::LoadedTrace& trace, trace::EventIndex op);

class BatchUploads {
 public:
  explicit BatchUploads(const HostEvidence& evidence);

  // Whether a wait is for an upload of the batch's data: more than a few values, of no op right
  // before it, copied before the first computation of its step or as long as what is.
  bool Has(trace::EventIndex wait) const { return waits_.contains(wait); }

 private:
  struct Upload;
  std::optional<Upload> UploadOf(const HostEvidence& evidence, trace::EventIndex wait) const;

  std::unordered_set<trace::EventIndex> waits_;
};

// From pinned memory the copies stay and the host goes on. Absent: too little.
std::optional<HostCause> CauseOfBatch(const HostEvidence& evidence, WaitPlaces* found);

// These waits go with a finding of all uploads that says the same.
void DropToldUploads(const std::vector<Finding>& copies, std::vector<Finding>* host);

}  // namespace jarvis::findings
