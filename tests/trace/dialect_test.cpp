#include "trace/dialect.h"

#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::trace {
namespace {

using testing::Read;
using testing::TraceText;

void Check(std::string_view category, EventKind kind, Rule rule, FlowKind flow = FlowKind::kNone) {
  CAPTURE(category);
  const CategoryRule found = FindCategory(category);
  CHECK(found.kind == kind);
  CHECK(found.rule == rule);
  CHECK(found.flow == flow);
}

TEST_CASE("categories of PyTorch 1.12 and later") {
  Check("cpu_op", EventKind::kCpuOp, Rule::kKineto);
  Check("user_annotation", EventKind::kUserAnnotation, Rule::kKineto);
  Check("python_function", EventKind::kPythonFunction, Rule::kKineto);
  Check("cuda_runtime", EventKind::kRuntime, Rule::kKineto);
  Check("cuda_driver", EventKind::kDriver, Rule::kKineto);
  Check("kernel", EventKind::kKernel, Rule::kKineto);
  Check("gpu_memcpy", EventKind::kMemcpy, Rule::kKineto);
  Check("gpu_memset", EventKind::kMemset, Rule::kKineto);
  Check("gpu_user_annotation", EventKind::kGpuAnnotation, Rule::kKineto);
  Check("cuda_sync", EventKind::kSync, Rule::kKineto);
  Check("overhead", EventKind::kOverhead, Rule::kKineto);
  Check("Trace", EventKind::kOther, Rule::kKineto);
  Check("ac2g", EventKind::kOther, Rule::kKineto, FlowKind::kLaunch);
  Check("async_cpu_to_gpu", EventKind::kOther, Rule::kKineto, FlowKind::kLaunch);
  Check("fwdbwd", EventKind::kOther, Rule::kKineto, FlowKind::kForwardBackward);
}

TEST_CASE("categories of PyTorch 1.8") {
  Check("Operator", EventKind::kCpuOp, Rule::kKineto18);
  Check("Runtime", EventKind::kRuntime, Rule::kKineto18);
  Check("Kernel", EventKind::kKernel, Rule::kKineto18);
  Check("Memcpy", EventKind::kMemcpy, Rule::kKineto18);
  Check("Memset", EventKind::kMemset, Rule::kKineto18);
  Check("async", EventKind::kOther, Rule::kKineto18, FlowKind::kLaunch);
}

TEST_CASE("categories of other devices") {
  Check("mtia_runtime", EventKind::kRuntime, Rule::kMtia);
  Check("mtia_ccp_events", EventKind::kKernel, Rule::kMtia);
  Check("xpu_runtime", EventKind::kRuntime, Rule::kXpu);
  Check("xpu_driver", EventKind::kDriver, Rule::kXpu);
  Check("privateuse1_runtime", EventKind::kRuntime, Rule::kPrivateUse);
  Check("privateuse1_driver", EventKind::kDriver, Rule::kPrivateUse);
  Check("async_npu", EventKind::kOther, Rule::kNpu, FlowKind::kLaunch);
}

TEST_CASE("every rule in other letters") {
  for (const CategoryRule& rule : CategoryRules()) {
    std::string upper;
    for (const char c : rule.category)
      upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    const CategoryRule found = FindCategory(upper);
    CAPTURE(upper);
    // "KERNEL" may be either era's: the kind is the same.
    CHECK(found.kind == rule.kind);
    CHECK(found.flow == rule.flow);
    CHECK(FindCategory(rule.category).kind == rule.kind);
  }
}

TEST_CASE("unknown categories are kept, counted and not analysed") {
  Check("something_else", EventKind::kOther, Rule::kUnknown);
  TraceText text;
  text.Op("a", 1, 1).Raw(
      R"({"ph":"X","cat":"something_else","name":"b","pid":1,"tid":1,"ts":2,"dur":1})");
  const Trace trace = Read(text.Json());
  CHECK(trace.events.size() == 2);
  CHECK(trace.events[1].kind == EventKind::kOther);
  CHECK(trace.events.oddities.count(Oddity::kUnknownCategory) == 1);
  CHECK(trace.events.oddities.first(Oddity::kUnknownCategory) == 1);
}

TEST_CASE("Ascend: device work is known by its task type") {
  TraceText text;
  text.Raw(
      R"({"ph":"X","name":"MatMul","pid":3,"tid":2,"ts":"5.500","dur":"2.250","args":{"Task Type":"AI_CORE","Stream Id":4}})");
  text.Raw(R"({"ph":"X","name":"no device work","pid":3,"tid":2,"ts":"9","dur":"1","args":{}})");
  const Trace trace = Read(text.Json());
  REQUIRE(trace.events.size() == 2);
  CHECK(trace.events[0].kind == EventKind::kKernel);
  CHECK(trace.events[0].dur_ns == 2250);
  CHECK(trace.events.args_of(0).stream == 4);
  CHECK(trace.events[1].kind == EventKind::kOther);
  CHECK(trace.events.dialect.Name() == "ascend; timestamps as text");
}

TEST_CASE("the dialect's name") {
  const auto name = [](const TraceText& text) { return Read(text.Json()).events.dialect.Name(); };
  const auto event = [](const char* category) {
    return R"({"ph":"X","cat":")" + std::string(category) +
           R"(","name":"a","pid":1,"tid":1,"ts":1,"dur":1})";
  };
  CHECK(name(TraceText().Op("a", 1, 1).Arrow(1)) == "kineto 1.13+");
  CHECK(name(TraceText().Raw(event("Operator"))) == "kineto 1.8");
  CHECK(
      name(TraceText().Op("a", 1, 1).Raw(
          R"({"ph":"s","id":1,"pid":1,"tid":1,"ts":1,"cat":"async_cpu_to_gpu","name":"async_gpu"})")) ==
      "kineto 1.12");
  CHECK(name(TraceText().Raw(event("foo"))) == "chrome trace");
  CHECK(name(TraceText().Op("a", 1, 1).Raw(event("CPU_OP"))) ==
        "kineto 1.13+; categories in other letters");
  CHECK(Read("[" + TraceText().Op("a", 1, 1).Elements() + "]").events.dialect.Name() ==
        "kineto 1.13+; bare array");
}

}  // namespace
}  // namespace jarvis::trace
