#include "analysis/frames/phases.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/frames/frame_tables.h"
#include "analysis/frames/repetition.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

Phases PhasesIn(const TraceText& text) {
  const Loaded loaded = Load(text);
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  const FrameFacts facts = CollectFrameFacts({loaded.events(), loaded.tree, attribution});
  return MakePhases(facts, MakeTimeFrames(facts));
}

// "name x count host busy" a row, in microseconds; "- " before what is within another.
std::string PhaseRows(const Phases& phases) {
  std::string text;
  for (const Phase& phase : phases.phases) {
    text += (phase.level == 0 ? "" : "- ") + phase.name + (phase.first ? " (first)" : "") + " x " +
            std::to_string(phase.count) + " " + std::to_string(phase.host_ns / 1000) + " " +
            std::to_string(phase.gpu_busy_ns / 1000) + "\n";
  }
  return text;
}

TEST_CASE("a training step is cut by well-known names and autograd's thread") {
  TraceText t;
  int id = 0;
  for (int step = 0; step < 2; ++step) {
    const double at = 10000.0 * step;
    t.Thread(1, 1).Op("ProfilerStep#" + std::to_string(step), at, 9900);
    t.Op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 10, 2990);
    for (int i = 0; i < 4; ++i) {
      const double op = at + 3000 + 500 * i;
      t.OpWithKernel("aten::conv2d", op, 100, "conv", op + 120, 300, ++id);
    }
    t.Op("Optimizer.zero_grad#SGD.zero_grad", at + 5000, 500);
    t.Thread(1, 2);
    for (int i = 0; i < 3; ++i) {
      const double op = at + 5600 + 700 * i;
      t.OpWithKernel("autograd::engine::evaluate_function: ConvBackward0", op, 600, "dgrad",
                     op + 120, 400, ++id);
    }
    t.Thread(1, 1).Op("Optimizer.step#SGD.step", at + 8000, 1900);
  }
  const Phases phases = PhasesIn(t);
  CHECK(phases.steps == 2);
  CHECK(PhaseRows(phases) ==
        "loader x 2 5980 0\nforward x 2 4000 2400\nzero_grad x 2 1000 0\n"
        "between zero_grad and backward x 2 200 0\nbackward x 2 4000 2400\n"
        "between backward and optimizer x 2 800 0\noptimizer x 2 3800 0\n");
  CHECK(phases.phases[1].kind == PhaseKind::kForward);
  CHECK(phases.phases[1].source == PhaseSource::kTraining);
}

TEST_CASE("calls that take turns are parts, named by the module or the first telling frame") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 10000).Python("pipe.py(3): __call__", 10, 9980);
  for (int i = 0; i < 3; ++i) {
    const double at = 100 + 3000 * i;
    t.Python("<built-in function next>", at, 1900).Python("pre.py(7): preprocess", at + 10, 1880);
    t.Python("pipe.py(9): forward", at + 1950, 950).Module("Net_0", at + 1960, 930);
    t.OpWithKernel("aten::mm", at + 2000, 100, "gemm", at + 2120, 700, i + 1);
  }
  t.Python("pipe.py(20): postprocess", 9200, 700);
  CHECK(PhaseRows(PhasesIn(t)) ==
        "before pre.py(7): preprocess x 1 100 0\npre.py(7): preprocess x 3 5700 0\n"
        "nn.Module: Net x 3 2850 2100\n"
        "between nn.Module: Net and pre.py(7): preprocess x 2 200 0\n"
        "between nn.Module: Net and pipe.py(20): postprocess x 1 200 0\n"
        "pipe.py(20): postprocess x 1 700 0\nafter pipe.py(20): postprocess x 1 100 0\n");
}

TEST_CASE("layers are found within a large part, and a first one that differs stands alone") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 10000).Module("Model_0", 100, 7000);
  t.Op("aten::copy_", 7200, 2700);
  double at = 200;
  for (int i = 0; i < 6; ++i) {
    const double length = i == 0 ? 1600 : 700;
    t.Module("Layer_" + std::to_string(i), at, length);
    t.OpWithKernel("aten::mm", at + 10, 100, "gemm", at + 150, 400, i + 1);
    at += length + 10;
  }
  CHECK(PhaseRows(PhasesIn(t)) ==
        "before nn.Module: Model x 1 100 0\nnn.Module: Model x 1 7000 2400\n"
        "- nn.Module: Layer (first) x 1 1600 400\n- nn.Module: Layer x 5 3500 2000\n"
        "between nn.Module: Model and aten::copy_ x 1 100 0\naten::copy_ x 1 2700 0\n"
        "after aten::copy_ x 1 100 0\n");
}

TEST_CASE("a scope that is entered inside a frame holds what follows") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 10000);
  t.Python("contextlib.py(1): __enter__", 10, 40).Annotation("inference", 30, 9900);
  t.Python("a.py(1): encode", 100, 4000).Python("a.py(2): decode", 4200, 5500);
  CHECK(PhaseRows(PhasesIn(t)) ==
        "before a.py(1): encode x 1 100 0\na.py(1): encode x 1 4000 0\n"
        "between a.py(1): encode and a.py(2): decode x 1 100 0\n"
        "a.py(2): decode x 1 5500 0\nafter a.py(2): decode x 1 300 0\n");
}

TEST_CASE("without names, repeated kernels make blocks, with what comes before and after") {
  TraceText t;
  int id = 0;
  double at = 0;
  const auto launch = [&](const std::string& op) {
    t.OpWithKernel(op, at, 50, "k_" + op, at + 60, 30, ++id);
    at += 100;
  };
  for (int i = 0; i < 20; ++i)
    launch("enc" + std::to_string(i % 7));
  for (int block = 0; block < 5; ++block) {
    for (const char* op : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
      launch(op);
    for (int i = 0; i < 3 * block; ++i)  // a loop that depends on the data
      launch("small" + std::to_string(i % 3));
  }
  for (int i = 0; i < 15; ++i)
    launch("post" + std::to_string(i));
  const Phases phases = PhasesIn(t);
  REQUIRE(phases.phases.size() == 3);
  CHECK(phases.phases[0].name == "before the 5 repeated blocks");
  CHECK(phases.phases[0].gpu_events == 20);
  CHECK(phases.phases[1].count == 5);
  CHECK(phases.phases[1].gpu_events >= 5 * 10 + 18);
  CHECK(phases.phases[2].name == "after the 5 repeated blocks");
}

TEST_CASE("a recording without names or repetition has no phases, and says so") {
  TraceText t;
  t.Kernel("a", 0, 100, 1);
  const Phases none = PhasesIn(t);
  CHECK(none.phases.empty());
  CHECK(none.reason.find("no host events") != std::string::npos);
  CHECK(PhasesTable(none).rows.empty());
}

TEST_CASE("time of a phase when the GPU had nothing to do is told from unrecorded work") {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 20000);
  t.Annotation("wait", 0, 10000).Op("aten::copy_", 190, 9700);
  t.Runtime("hipMemcpyWithStream", 200, 9680, 1).Memcpy("Memcpy DtoH", 9800, 5, 1);
  t.Annotation("run", 10000, 9900).OpWithKernel("aten::mm", 10100, 50, "gemm", 10200, 6000, 2);
  const Phases phases = PhasesIn(t);
  REQUIRE(phases.phases.size() == 2);
  CHECK(phases.phases[0].unrecorded_ns == 9580 * 1000);
  CHECK(phases.phases[0].gpu_idle_ns == 415 * 1000);
  CHECK(phases.phases[1].gpu_idle_ns == 3900 * 1000);
}

std::vector<SequenceItem> Items(const std::string& keys) {
  std::vector<SequenceItem> items;
  for (const char key : keys)
    items.push_back({static_cast<std::uint64_t>(key), static_cast<std::int64_t>(items.size())});
  return items;
}
std::string StartsIn(const std::string& keys) {
  const auto found = FindRepetition(Items(keys), static_cast<std::int64_t>(keys.size()));
  if (!found) return "none";
  std::string text;
  for (const std::size_t start : found->starts)
    text += std::to_string(start) + " ";
  return text + "| " + std::to_string(found->end);
}

TEST_CASE("repetition is what takes turns, the outer loop before the inner one") {
  CHECK(StartsIn("abcabcabcabc") == "0 3 6 9 | 12");
  CHECK(StartsIn("xyabbbcabbbcabbbcz") == "2 7 12 | 17");
  CHECK(StartsIn("abcdefghijkl") == "none");
  CHECK(StartsIn("abab") == "none");
  CHECK(StartsIn("") == "none");
  CHECK(StartsIn("aaaaaaaaaaaa") == "0 1 2 3 4 5 6 7 8 9 10 11 | 12");
}

// Two steps whose forward part has a module in the one and an annotation in the other.
TraceText TwoNames(double second) {
  TraceText t;
  t.Annotation("ProfilerStep#1", 0, 4900).Annotation("ProfilerStep#2", 5000, 4900);
  t.Module("Net_0", 100, 2000).Annotation("backward", 2200, 2500);
  t.Annotation("forward", 5100, second).Annotation("backward", 7200, 2500);
  t.OpWithKernel("aten::mm", 200, 50, "gemm", 300, 400, 1);
  t.OpWithKernel("aten::mm", 5200, 50, "gemm", 5300, 400, 2);
  return t;
}

TEST_CASE("a part that two steps name differently is one, unless it is of another length") {
  const std::string joined = PhaseRows(PhasesIn(TwoNames(1900)));
  CHECK(joined.find("nn.Module: Net x 2 3900 800\n") != std::string::npos);
  CHECK(joined.find("forward x 1 1900") == std::string::npos);
  const std::string apart = PhaseRows(PhasesIn(TwoNames(300)));
  CHECK(apart.find("nn.Module: Net x 1 2000 400\n") != std::string::npos);
  CHECK(apart.find("forward x 1 300 400\n") != std::string::npos);
}

}  // namespace
}  // namespace jarvis::analysis
