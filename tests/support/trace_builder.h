// Traces for tests, written in a few lines, as a profiler would export them; and the ways into the
// program for them.
//
//   TraceText text;
//   text.Op("aten::mm", 0, 10).Runtime("cudaLaunchKernel", 2, 3, 1).Kernel("gemm", 20, 50, 1);
//   const Loaded loaded = Load(text);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/reader.h"
#include "tree/call_tree.h"

namespace jarvis::testing {

// Events come in the order of the calls. Times are in microseconds. `args`: further members of the
// event's args as JSON, `"Input Dims":[[8,4]],"Sequence number":3`; may be empty.
class TraceText {
 public:
  // Host events from here on are of this thread; the first is 100/100.
  TraceText& Thread(int pid, int tid);

  TraceText& Op(std::string_view name, double ts, double dur, std::string_view args = {});
  TraceText& Python(std::string_view name, double ts, double dur, std::string_view args = {});
  TraceText& Module(std::string_view name, double ts, double dur);  // "nn.Module: " + name
  TraceText& Annotation(std::string_view name, double ts, double dur);
  TraceText& Runtime(std::string_view name, double ts, double dur, std::int64_t correlation,
                     std::string_view args = {});
  TraceText& Driver(std::string_view name, double ts, double dur, std::int64_t correlation,
                    std::string_view args = {});

  TraceText& Kernel(std::string_view name, double ts, double dur, std::int64_t correlation,
                    int stream = 7, std::string_view args = {});
  TraceText& Memcpy(std::string_view name, double ts, double dur, std::int64_t correlation,
                    int stream = 7, std::string_view args = {});
  TraceText& Memset(std::string_view name, double ts, double dur, std::int64_t correlation,
                    int stream = 7);

  // The two ends of a launch arrow (ac2g).
  TraceText& Start(std::int64_t id);
  TraceText& Finish(std::int64_t id, int stream = 7);
  TraceText& Arrow(std::int64_t id, int stream = 7) { return Start(id).Finish(id, stream); }

  // An op over [ts, ts+dur] with a launch of its own and a kernel on stream 7 that the arrow links.
  TraceText& OpWithKernel(std::string_view op, double ts, double dur, std::string_view kernel,
                          double kernel_ts, double kernel_dur, std::int64_t correlation,
                          std::string_view args = {});

  // One element of traceEvents as it is.
  TraceText& Raw(std::string_view element);
  // "thread_name", "process_name" and the like of the current thread.
  TraceText& Meta(std::string_view name, std::string_view args);

  // The elements, separated by commas; and a whole document.
  std::string Elements() const;
  std::string Json() const;

 private:
  TraceText& Event(std::string_view category, std::string_view name, double ts, double dur,
                   const std::string& args);

  int pid_ = 100;
  int tid_ = 100;
  std::vector<std::string> elements_;
};

// Reads text as the program reads a file. `piece_bytes`: how much comes at a time.
Result<trace::Trace> TryRead(const std::string& json, int threads = 1,
                             std::size_t piece_bytes = std::string::npos);
// The same; fails the test on an error.
trace::Trace Read(const std::string& json, int threads = 1);

struct Loaded {
  trace::Trace trace;
  tree::CallTree tree;

  const trace::EventStore& events() const { return trace.events; }
  // The n-th event in the file with that name (from 0), or kNoEvent.
  trace::EventIndex Find(std::string_view name, int n = 0) const;
  // The name, or "-" for kNoEvent.
  std::string NameOf(trace::EventIndex e) const;
  std::string ParentOf(std::string_view name, int n = 0) const;
  std::string Names(std::span<const trace::EventIndex> which) const;  // "a b c"
};
Loaded Load(const TraceText& text);

}  // namespace jarvis::testing
