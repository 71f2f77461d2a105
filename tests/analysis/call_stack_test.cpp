#include "analysis/attribution/call_stack.h"

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using Names = std::vector<std::string>;
using Direction = EntryPoint::Direction;

void CheckEntry(const Names& stack, std::string_view op, Direction direction,
                std::string_view frame, int wrappers = -1) {
  const EntryPoint found = FindEntryPoint(stack, op);
  CHECK(found.frame == frame);
  CHECK(found.direction == direction);
  CHECK(found.wrappers == wrappers);
}

TEST_CASE("where the code enters an op") {
  // A function of the op's name below it; files of wrappers count there.
  CheckEntry({"user_code.py(10): my_func", "aten::addmm", "torch/functional.py(5): addmm"},
             "aten::addmm", Direction::kInward, "torch/functional.py(5): addmm", 0);
  CheckEntry({"user_code.py(10): forward", "aten::addmm"}, "aten::addmm", Direction::kOutward,
             "user_code.py(10): forward", 0);
  CheckEntry({"torch/nn/modules/module.py(5): _call_impl", "aten::addmm"}, "aten::addmm",
             Direction::kNone, kNotFound);
  CheckEntry({"user.py(1): addmm_triton", "aten::addmm_triton"}, "aten::addmm_triton_340",
             Direction::kOutward, "user.py(1): addmm_triton", 0);
  CheckEntry({"user.py(1): f", "torch/_ops.py(1): __call__", "nn.Module: Linear", "aten::mm"},
             "aten::mm", Direction::kOutward, "user.py(1): f", 2);
  CheckEntry({"user.py(1): f", "aten::mm", "no python: mm"}, "aten::mm", Direction::kOutward,
             "user.py(1): f", 0);
  CheckEntry({"user.py(1): f"}, "aten::mm", Direction::kNone, kNotFound);
  CheckEntry({}, "aten::mm", Direction::kNone, kNotFound);
  // The op is looked for from the end.
  CheckEntry({"a.py(1): f", "aten::mm", "b.py(2): g", "aten::mm"}, "aten::mm", Direction::kOutward,
             "b.py(2): g", 0);
}

TEST_CASE("wrapper frames") {
  for (const char* frame :
       {"torch/nn/modules/module.py(5): _call_impl", "torch/_ops.py(10): wrapper_custom",
        "<built-in method mm of type object>", "nn.Module: Linear_3", "x.py(3): decorate_context",
        "pybind11_builtins.pybind11_detail_function", "triton/backends/amd/driver.py(1): __call__"})
    CHECK_MESSAGE(IsWrapperFrame(frame), frame);
  CHECK_FALSE(IsWrapperFrame("user_code.py(10): forward"));
  CHECK_FALSE(IsWrapperFrame("triton/runtime/jit.py(574): run"));
}

TEST_CASE("what stands on a call stack") {
  using trace::EventKind;
  CHECK(WithoutNumbers("nn.Module: Linear_12") == "nn.Module: Linear");
  CHECK(WithoutNumbers("triton_poi_fused_3_x_14") == "triton_poi_fused_x");
  CHECK(WithoutNumbers("__init__") == "__init__");
  CHECK(WithoutNumbers("a_1b") == "ab");
  CHECK(StandsOnCallStack(EventKind::kCpuOp, "TopK"));
  CHECK(StandsOnCallStack(EventKind::kPythonFunction, "torch/nn/functional.py(3): relu"));
  CHECK(StandsOnCallStack(EventKind::kPythonFunction, "nn.Module: Net_0"));
  CHECK_FALSE(StandsOnCallStack(EventKind::kPythonFunction, "model.py(3): forward"));
  CHECK_FALSE(StandsOnCallStack(EventKind::kRuntime, "hipLaunchKernel"));
}

TEST_CASE("stacks of several kernels as one") {
  const Names op = {"run.py", "aten::linear", "aten::addmm"};
  const KernelStack alone[] = {{{"torch/x.py(1): f"}, "gemm_16"}};
  CHECK(JoinCallStacks(op, alone).Text(128) ==
        "['run.py', 'aten::linear', 'aten::addmm', 'torch/x.py(1): f', 'gemm_16']");
  // A row without a stack of its own.
  const KernelStack bare[] = {{{}, "k"}};
  CHECK(JoinCallStacks({}, bare).Text(128) == "['k']");
  const std::vector<std::string> deep = {"a", "b", "c", "d", "e", "f"};
  CHECK(JoinCallStacks(deep, bare).Text(7) == "['a', 'b', 'c', 'd', 'e', 'f', 'k']");
  CHECK(JoinCallStacks(deep, bare).Text(4) == "['a', 'b', '... 3 more ...', 'f', 'k']");
  CHECK(JoinCallStacks(op, {}).Text(128) == "Not found");
  const KernelStack several[] = {{{"f", "g"}, "a"}, {{"f", "h"}, "b"}, {{"f", "g"}, "a"}};
  const CallStack stack = JoinCallStacks(op, several);
  CHECK(stack.Text(128) ==
        "['run.py', 'aten::linear', 'aten::addmm', 'f', ['g', 'a'], ['h', 'b']]");
  CHECK(stack.Flat() == Names{"run.py", "aten::linear", "aten::addmm", "f", "g", "a", "h", "b"});
  // Kernels of one name and place are one stack.
  const KernelStack same[] = {{{"f"}, "a"}, {{"f"}, "a"}};
  CHECK(JoinCallStacks(op, same).Text(128) ==
        "['run.py', 'aten::linear', 'aten::addmm', 'f', 'a']");
  // A kernel's name may be what another one's stack begins with.
  const KernelStack inside[] = {{{}, "a"}, {{"a"}, "b"}};
  CHECK(JoinCallStacks(op, inside).Text(128) ==
        "['run.py', 'aten::linear', 'aten::addmm', 'a', [], ['b']]");
}

TEST_CASE("modules around an op") {
  testing::TraceText text;
  text.Module("Net_0", 0, 100).Python("net.py(3): forward", 1, 90).Module("Linear_12", 2, 80);
  text.Op("aten::linear", 3, 70).Op("aten::addmm", 4, 60).Op("lonely", 200, 5);
  const testing::Loaded loaded = testing::Load(text);
  const auto parent = [&](EventIndex e) { return loaded.tree.parent(e); };
  const auto stack = [&](const char* name) {
    return ModuleStack(loaded.events(), loaded.Find(name), name, parent);
  };
  CHECK(ListText(stack("aten::addmm")) ==
        "['aten::addmm', 'nn.Module: Linear_12', 'nn.Module: Net_0']");
  CHECK(ParentModule(stack("aten::addmm")) == "nn.Module: Linear");
  CHECK(ParentModule(stack("nn.Module: Linear_12")) == "nn.Module: Net");
  CHECK(ListText(FramesDownTo(loaded.events(), loaded.Find("aten::addmm"), parent)) ==
        "['nn.Module: Net', 'nn.Module: Linear', 'aten::linear', 'aten::addmm']");
  CHECK(ListText(stack("lonely")) == "['lonely']");
  CHECK(ParentModule(stack("lonely")) == "NA");
}

TEST_CASE("what lies between an op and its kernel") {
  testing::TraceText text;
  text.Op("aten::linear", 0, 100).Python("torch/x.py(1): f_2", 1, 90).Python("y.py(1): g", 2, 80);
  text.OpWithKernel("aten::addmm", 3, 70, "gemm_16", 200, 5, 1);
  const testing::Loaded loaded = testing::Load(text);
  const KernelStack stack =
      StackBelow(loaded.events(), loaded.Find("aten::linear"), loaded.Find("gemm_16"),
                 [&](EventIndex e) { return loaded.tree.parent(e); });
  CHECK(stack.below == Names{"torch/x.py(1): f", "aten::addmm"});
  CHECK(stack.kernel == "gemm_16");
}

}  // namespace
}  // namespace jarvis::analysis
