// What names of host events say: frames that only wait, frames of the user's own code, threads'
// work. Pure functions of names, and a table that asks once for each distinct name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/runtime_calls.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

// A Python frame in which a thread does nothing but wait: for a lock, a queue, a socket, another
// thread. Such time is nobody's work.
bool IsWaitingFrame(std::string_view frame);
// ... for the GPU to finish: of JAX, whose runtime calls a profile need not hold.
bool IsGpuWaitFrame(std::string_view frame);
// Loading data: the loader's annotations and its code.
bool IsLoaderName(std::string_view name);
// Waiting for the next batch of a loader's worker processes, by the annotation's name.
bool IsWaitForWorkers(std::string_view name);
// The profiler's own functions: what they take nobody pays who does not record.
bool IsProfilerName(std::string_view name);
// Autograd running a node of the backward pass.
bool IsAutogradNode(std::string_view name);
// A name that a program gave to a stretch of its code ("Optimizer.step#SGD.step"): old producers
// write these as ops. What lies in them and in nothing else is plain Python.
bool IsRangeName(std::string_view name);
// A line of the user's code or of a library above torch: "model.py(12): forward". No built-in, no
// module, no torch, no standard library, no wrapper.
bool IsUserFrame(std::string_view frame);
// As it is shown and grouped by: without addresses of objects; modules without instance numbers.
std::string ShownHostName(trace::EventKind kind, std::string_view name);

// What the trace's names mean, by StringId.
class HostNames {
 public:
  explicit HostNames(const trace::EventStore& events)
      : events_(events), meanings_(events.strings.size()) {}

  struct Meaning {
    bool known = false;
    bool waiting_frame = false;
    bool gpu_wait_frame = false;
    bool loader = false;
    bool profiler = false;
    bool autograd = false;
    bool range = false;
    bool user_frame = false;
    bool sync_call = false;
    RuntimeKind call = RuntimeKind::kOther;
  };
  const Meaning& Of(trace::EventIndex e);
  // An op that computes, not a named stretch of code.
  bool IsOp(trace::EventIndex e) {
    return events_[e].kind == trace::EventKind::kCpuOp && !Of(e).range;
  }

 private:
  const trace::EventStore& events_;
  std::vector<Meaning> meanings_;  // by StringId
};

}  // namespace jarvis::analysis
