// Traces for tests of what a workload is: ops one after the other, each with its kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/analyzed.h"

namespace jarvis::findings {

using testing::Shapes;
using testing::TraceText;

inline std::string Of(const testing::Analyzed& one, WorkloadPart part) {
  return one.analysis.workload[part].value;
}

inline constexpr const char* kBf16 = "c10::BFloat16";

// Work that follows work: ops of 10 us, each with one kernel.
class Script {
 public:
  Script& Op(std::string_view name, std::string_view kernel, double us, std::string_view dims,
             std::string_view type = kBf16, int operands = 2, std::string_view more = {}) {
    text_.OpWithKernel(
        name, host_, 8, kernel, gpu_, us, ++id_,
        dims.empty() ? std::string() : Shapes(dims, type, operands) + std::string(more));
    host_ += 10;
    gpu_ += us + 1;
    return *this;
  }
  // From the graph launched before. `launch`: "grid" and "block".
  Script& Replayed(std::string_view kernel, double us, std::string_view launch = {}) {
    text_.Kernel(kernel, gpu_, us, graph_, 7, launch);
    gpu_ += us + 1;
    return *this;
  }
  Script& Graph() {
    graph_ = ++id_;
    text_.Runtime("cudaGraphLaunch", host_, 8, graph_);
    host_ += 10;
    return *this;
  }
  // A module around the work of `ops` of 10 us each, which come next.
  Script& Module(std::string_view name, int ops) {
    text_.Module(name, host_ - 0.5, 10.0 * ops);
    return *this;
  }
  // Likewise an op, with its arguments.
  Script& Around(std::string_view name, int ops, std::string_view args = {}) {
    text_.Op(name, host_ - 0.5, 10.0 * ops, args);
    return *this;
  }
  Script& Note(std::string_view name, int ops) {
    text_.Annotation(name, host_ - 0.5, 10.0 * ops);
    return *this;
  }
  TraceText& text() { return text_; }

 private:
  TraceText text_;
  double host_ = 10, gpu_ = 1000;
  std::int64_t id_ = 0, graph_ = 0;
};

}  // namespace jarvis::findings
