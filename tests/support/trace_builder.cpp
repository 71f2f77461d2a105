#include "support/trace_builder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/job.h"
#include "support/memory_source.h"
#include "trace/json_text.h"
#include "tree/build.h"

namespace jarvis::testing {
namespace {

std::string Join(const std::string& first, std::string_view more) {
  if (first.empty() || more.empty()) return first + std::string(more);
  return first + "," + std::string(more);
}

std::string Correlation(std::int64_t correlation) {
  return correlation < 0 ? std::string() : fmt::format(R"("correlation":{})", correlation);
}

}  // namespace

TraceText& TraceText::Thread(int pid, int tid) {
  pid_ = pid;
  tid_ = tid;
  return *this;
}

TraceText& TraceText::Event(std::string_view category, std::string_view name, double ts, double dur,
                            const std::string& args) {
  return Raw(fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
      category, trace::Escape(name), pid_, tid_, ts, dur, args));
}

TraceText& TraceText::Op(std::string_view name, double ts, double dur, std::string_view args) {
  return Event("cpu_op", name, ts, dur, std::string(args));
}
TraceText& TraceText::Python(std::string_view name, double ts, double dur, std::string_view args) {
  return Event("python_function", name, ts, dur, std::string(args));
}
TraceText& TraceText::Module(std::string_view name, double ts, double dur) {
  return Python("nn.Module: " + std::string(name), ts, dur);
}
TraceText& TraceText::Annotation(std::string_view name, double ts, double dur) {
  return Event("user_annotation", name, ts, dur, "");
}
TraceText& TraceText::Runtime(std::string_view name, double ts, double dur,
                              std::int64_t correlation, std::string_view args) {
  return Event("cuda_runtime", name, ts, dur, Join(Correlation(correlation), args));
}
TraceText& TraceText::Driver(std::string_view name, double ts, double dur, std::int64_t correlation,
                             std::string_view args) {
  return Event("cuda_driver", name, ts, dur, Join(Correlation(correlation), args));
}

TraceText& TraceText::Kernel(std::string_view name, double ts, double dur, std::int64_t correlation,
                             int stream, std::string_view args) {
  const int pid = std::exchange(pid_, 0);
  const int tid = std::exchange(tid_, stream);
  Event("kernel", name, ts, dur,
        Join(fmt::format(R"("stream":{})", stream), Join(Correlation(correlation), args)));
  return Thread(pid, tid);
}
TraceText& TraceText::Memcpy(std::string_view name, double ts, double dur, std::int64_t correlation,
                             int stream, std::string_view args) {
  const int pid = std::exchange(pid_, 0);
  const int tid = std::exchange(tid_, stream);
  Event("gpu_memcpy", name, ts, dur,
        Join(fmt::format(R"("stream":{})", stream), Join(Correlation(correlation), args)));
  return Thread(pid, tid);
}
TraceText& TraceText::Memset(std::string_view name, double ts, double dur, std::int64_t correlation,
                             int stream) {
  const int pid = std::exchange(pid_, 0);
  const int tid = std::exchange(tid_, stream);
  Event("gpu_memset", name, ts, dur,
        Join(fmt::format(R"("stream":{})", stream), Correlation(correlation)));
  return Thread(pid, tid);
}

TraceText& TraceText::Start(std::int64_t id) {
  return Raw(
      fmt::format(R"({{"ph":"s","id":{},"pid":{},"tid":{},"ts":0,"cat":"ac2g","name":"ac2g"}})", id,
                  pid_, tid_));
}
TraceText& TraceText::Finish(std::int64_t id, int stream) {
  return Raw(fmt::format(
      R"({{"ph":"f","id":{},"pid":0,"tid":{},"ts":0,"cat":"ac2g","name":"ac2g","bp":"e"}})", id,
      stream));
}

TraceText& TraceText::OpWithKernel(std::string_view op, double ts, double dur,
                                   std::string_view kernel, double kernel_ts, double kernel_dur,
                                   std::int64_t correlation, std::string_view args) {
  Op(op, ts, dur, args);
  Runtime("cudaLaunchKernel", ts + dur / 4, dur / 2, correlation);
  Kernel(kernel, kernel_ts, kernel_dur, correlation);
  return Arrow(correlation);
}

TraceText& TraceText::Raw(std::string_view element) {
  elements_.emplace_back(element);
  return *this;
}

TraceText& TraceText::Meta(std::string_view name, std::string_view args) {
  return Raw(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"ts":0,"args":{{{}}}}})", name,
                         pid_, tid_, args));
}

std::string TraceText::Elements() const {
  std::string text;
  for (const std::string& element : elements_) {
    if (!text.empty()) text += ",\n";
    text += element;
  }
  return text;
}

std::string TraceText::Json() const {
  return "{\"schemaVersion\":1,\"traceEvents\":[\n" + Elements() + "\n]}";
}

Result<trace::Trace> TryRead(const std::string& json, int threads, std::size_t piece_bytes) {
  MemorySource source(json, piece_bytes);
  Job job;
  return trace::ReadTrace(source, {.threads = threads}, job);
}

trace::Trace Read(const std::string& json, int threads) {
  Result<trace::Trace> read = TryRead(json, threads);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  return std::move(*read);
}

trace::EventIndex Loaded::Find(std::string_view name, int n) const {
  for (trace::EventIndex e = 0; e < events().size(); ++e) {
    if (events().name(e) == name && n-- == 0) return e;
  }
  return trace::kNoEvent;
}

std::string Loaded::NameOf(trace::EventIndex e) const {
  return e == trace::kNoEvent ? "-" : std::string(events().name(e));
}

std::string Loaded::ParentOf(std::string_view name, int n) const {
  const trace::EventIndex e = Find(name, n);
  REQUIRE(e != trace::kNoEvent);
  return NameOf(tree.parent(e));
}

std::string Loaded::Names(std::span<const trace::EventIndex> which) const {
  std::string names;
  for (const trace::EventIndex e : which) {
    if (!names.empty()) names += ' ';
    names += NameOf(e);
  }
  return names;
}

Loaded Load(const TraceText& text) {
  Loaded loaded{Read(text.Json()), {}};
  Job job;
  Result<tree::CallTree> tree = tree::BuildTree(loaded.trace.events, 1, job);
  REQUIRE(tree.has_value());
  loaded.tree = std::move(*tree);
  return loaded;
}

}  // namespace jarvis::testing
