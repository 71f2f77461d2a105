#include "analysis/host/host_stretches.h"

#include <string>

#include <doctest/doctest.h>

#include "analysis/host/host_summary.h"
#include "support/trace_builder.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::TraceText;

HostStretches StretchesOf(const TraceText& text) {
  const Loaded loaded = Load(text);
  auto summary = SummariseHost({loaded.events(), loaded.tree, loaded.trace.track_names, {}}, Job());
  REQUIRE(summary.has_value());
  return std::move(summary->stretches);
}

// A loop: op, 400 us of nothing, op; every 1,000 us.
TraceText Loop(int turns) {
  TraceText t;
  for (int i = 0; i < turns; ++i) {
    const double at = 1000 * i;
    t.Op("aten::cat", at, 100).Runtime("cudaLaunchKernel", at + 10, 5, 2 * i + 1);
    t.Kernel("cat", at + 50, 200, 2 * i + 1);
    t.Op("aten::full", at + 500, 499).Op("aten::empty", at + 500, 100);
  }
  return t;
}

TEST_CASE("grouped by neighbours, with period and what the GPU did") {
  const HostStretches found = StretchesOf(Loop(5));
  CHECK(found.threshold_ns == 100'000);
  REQUIRE(found.groups.size() == 1);
  const StretchGroup& group = found.groups[0];
  CHECK(group.before == "aten::cat");
  CHECK(group.after == "aten::full");  // the outermost that begins
  CHECK(group.count == 5);
  CHECK(group.median_ns == 400'000);
  CHECK(group.total_ns == 2'000'000);
  CHECK(group.period_ns == 1'000'000);
  CHECK(group.gpu_busy_ns == 5 * 150'000);
  CHECK(group.frames.empty());
  CHECK(found.short_count == 4);  // a microsecond between two turns
  CHECK(found.short_ns == 4'000);
}

TEST_CASE("a loop's last turn joins its group though it leaves by another way") {
  TraceText t = Loop(5);
  t.Op("aten::cat", 5000, 100).Op("aten::stack", 5450, 10);  // a little shorter, another op after
  t.Op("aten::sum", 9000, 10);                               // much longer: a group of its own
  const HostStretches found = StretchesOf(t);
  REQUIRE(found.groups.size() == 2);
  CHECK(found.groups[0].before == "aten::stack");
  CHECK(found.groups[0].total_ns == 3'540'000);
  CHECK(found.groups[1].count == 6);
  CHECK(found.groups[1].after == "aten::full");
}

TEST_CASE("frames: what built-ins take is their caller's; annotations; parts of one") {
  TraceText t;
  t.Op("aten::a", 0, 10).Runtime("cudaLaunchKernel", 1, 5, 1).Kernel("k", 20, 5, 1);
  t.Annotation("preprocess", 5000, 5000)
      .Python("train.py(1): main", 5000, 5000)
      .Python("images.py(9): resize", 5100, 3000)
      .Python("<built-in function zoom>", 5200, 2000)
      .Python("images.py(30): normalize", 8200, 1700);
  t.Op("aten::b", 10000, 10);
  const HostStretches found = StretchesOf(t);
  REQUIRE(found.groups.size() == 1);
  const StretchGroup& group = found.groups[0];
  CHECK(group.total_ns == 9'990'000);
  CHECK(group.range.empty());  // it begins before the annotation
  CHECK(group.frames_ns == 5'000'000);
  REQUIRE(group.frames.size() == 3);
  CHECK(group.frames[0].name == "images.py(9): resize");
  CHECK(group.frames[0].ns == 3'000'000);
  CHECK(group.frames[1].name == "images.py(30): normalize");
  CHECK(group.frames[2].ns == 300'000);
}

TEST_CASE("no stretch while another thread that launches works, or a call waits") {
  TraceText t;
  t.Thread(1, 1).Op("aten::mm", 0, 100).Runtime("cudaLaunchKernel", 10, 5, 1);
  t.Runtime("cudaDeviceSynchronize", 1000, 500, 3);
  t.Thread(1, 2).Op("autograd::engine::evaluate_function: MmBackward0", 110, 880);
  t.Op("aten::mm", 120, 860).Runtime("cudaLaunchKernel", 130, 5, 2);
  t.Kernel("k", 200, 800, 1).Kernel("k", 1000, 450, 2);
  const HostStretches found = StretchesOf(t);
  CHECK(found.groups.empty());
  CHECK(found.short_ns == 20'000);
}

TEST_CASE("other threads meanwhile; waiting frames after those that work") {
  TraceText t;
  t.Thread(1, 1).Op("aten::a", 0, 10).Runtime("cudaLaunchKernel", 1, 5, 1).Kernel("k", 20, 5, 1);
  t.Python("queue.py(171): get", 10, 4990).Op("aten::b", 5000, 10);
  t.Thread(1, 2).Annotation("gloo:all_reduce", 500, 4000);
  const HostStretches found = StretchesOf(t);
  REQUIRE(found.groups.size() == 1);
  CHECK(found.groups[0].meanwhile == "gloo:all_reduce");
  CHECK(found.groups[0].meanwhile_ns == 4'000'000);
  REQUIRE(found.groups[0].frames.size() == 1);
  CHECK(found.groups[0].frames[0].waits);
}

TEST_CASE("begin and end of the recording; nothing at all") {
  TraceText t;
  t.Annotation("ProfilerStep#3", 0, 5000).Op("aten::a", 1000, 10).Op("aten::b", 1020, 10);
  const HostStretches found = StretchesOf(t);
  REQUIRE(found.groups.size() == 2);
  CHECK(found.groups[0].before == "aten::b");
  CHECK(found.groups[0].after.empty());
  CHECK_FALSE(found.groups[0].period_ns.has_value());
  CHECK(found.groups[1].before.empty());
  CHECK(found.groups[1].total_ns == 1'000'000);
  CHECK(StretchesOf(TraceText().Kernel("k", 0, 5, 1)).groups.empty());
}

}  // namespace
}  // namespace jarvis::analysis
