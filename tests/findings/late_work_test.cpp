// Host work that the GPU's queue hides while it lasts, stretches that tell what they are by their
// lengths, and calls that wait for nothing.
#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/analyzed.h"

namespace jarvis::findings {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::TraceText;

bool Tells(const Finding* finding, Advice advice) {
  return finding != nullptr && std::ranges::any_of(finding->path_a, [&](const Remedy& remedy) {
           return remedy.advice == advice;
         });
}

// Eight steps of 10 ms. The host first does `work` for 5 ms, while the GPU computes what it was
// given before; then it launches ten short kernels and ten of `long_us`, one every 250 us.
Analyzed Prefetching(std::string_view work, double long_us) {
  TraceText text;
  int id = 0;
  double gpu = 0;
  for (int step = 0; step < 8; ++step) {
    const double at = 10'100.0 * step;
    text.Annotation(fmt::format("ProfilerStep#{}", step + 3), at, 10'090);
    if (work.starts_with("enumerate")) {
      text.Annotation(work, at + 10, 5'000);
    } else {
      text.Python(work, at + 10, 5'000);
    }
    for (int i = 0; i < 20; ++i) {
      const double launch = at + 5'050 + 250 * i;
      const double us = i < 10 ? 40 : long_us;
      gpu = std::max(gpu, launch + 12);
      text.OpWithKernel("aten::mm", launch, 10, "k", gpu, us, ++id);
      gpu += us + 2;
    }
  }
  return Analyze(text);
}

TEST_CASE("loading that the queue hides is why launches come late after it") {
  constexpr std::string_view kLoader =
      "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  const Analyzed late = Prefetching(kLoader, 765);
  const Finding* finding = late.Find("cpu_idle", "data_loading");
  REQUIRE(finding != nullptr);
  CHECK(finding->host->late);
  CHECK(finding->host->total_ms == doctest::Approx(8 * 5).epsilon(0.15));
  REQUIRE(BestWall(*finding) != nullptr);
  // Without it a step takes as long as its kernels.
  CHECK(BestWall(*finding)->ms.high > 7 * 1.5);
  // Kernels that fill the step hide all of it.
  const Analyzed hidden = Prefetching(kLoader, 970);
  const Finding* none = hidden.Find("cpu_idle", "data_loading");
  CHECK((none == nullptr || none->minor || BestWall(*none)->ms.mid < 1));
}

TEST_CASE("the program's own work is told as loading is, wrappers are no name") {
  const Analyzed own = Prefetching("data.py(7): tokenize", 765);
  const Finding* finding = own.Find("cpu_idle", "host_section");
  REQUIRE(finding != nullptr);
  CHECK(finding->host->late);
  CHECK(finding->host->places.front().name == "data.py(7): tokenize");
  CHECK(Prefetching("<built-in function next>", 765).Find("cpu_idle", "host_section") == nullptr);
}

// Twelve rounds: a kernel that joins `rows(round)` with what is held, then nothing is recorded for
// `pause_ms(round)`. Rows of 0: no sizes are recorded.
template <typename Pause, typename Rows>
Analyzed Pausing(const Pause& pause_ms, const Rows& rows) {
  TraceText text;
  double at = 0;
  int held = 40;
  for (int i = 0; i < 12; ++i) {
    const int added = rows(i);
    const std::string sizes =
        fmt::format(R"("Input Dims":[[[{},4],[{},4]],[]],"Input type":["TensorList","Scalar"],)"
                    R"("Concrete Inputs":["","0"])",
                    held, added);
    text.OpWithKernel("aten::cat", at, 10, "k", at + 12, 900, i + 1, added > 0 ? sizes : "");
    held += added;
    at += 920 + 1000 * pause_ms(i);
  }
  text.OpWithKernel("aten::cat", at, 10, "k", at + 12, 900, 100);
  return Analyze(text);
}

template <typename Pause>
Analyzed Pausing(const Pause& pause_ms) {
  return Pausing(pause_ms, [](int) { return 0; });
}

const Finding* SectionOf(const Analyzed& one) {
  return one.Find("cpu_idle", "host_section");
}

TEST_CASE("rounds that take longer with all that was collected join once") {
  const auto pause = [](int i) { return 1.0 + 0.5 * i + (i % 3 == 0 ? 0.2 : 0); };
  for (const bool even : {true, false}) {
    const Analyzed growing = Pausing(pause, [&](int i) { return even ? 20 : 20 + i * 5 % 7; });
    REQUIRE(Tells(SectionOf(growing), Advice::kJoinOnce));
    // What growth adds is all that the change saves.
    CHECK(BestWall(*SectionOf(growing))->ms.high < 0.7 * SectionOf(growing)->host->total_ms);
    CHECK(BestWall(*SectionOf(growing))->ms.low > 0);
  }
}

TEST_CASE("rounds that take longer with what they add are work on new results") {
  const auto rows = [](int i) { return 10 + 4 * i + (i % 2 == 0 ? 9 : 0); };
  const Analyzed adding = Pausing([&](int i) { return 0.1 * rows(i); }, rows);
  REQUIRE(Tells(SectionOf(adding), Advice::kNewResults));
  CHECK_FALSE(Tells(SectionOf(adding), Advice::kJoinOnce));
  CHECK(BestWall(*SectionOf(adding))->ms.low == 0);
  // Work on the rows that the next join adds, before it.
  const Analyzed ahead = Pausing([&](int i) { return 0.1 * rows(i + 1); }, rows);
  CHECK(Tells(SectionOf(ahead), Advice::kNewResults));
}

TEST_CASE("without sizes nothing tells what growing rounds work on") {
  const Analyzed growing = Pausing([](int i) { return 1.0 + 0.5 * i + (i % 3 == 0 ? 0.2 : 0); });
  CHECK(Tells(SectionOf(growing), Advice::kGrowingRounds));
  CHECK_FALSE(Tells(SectionOf(growing), Advice::kJoinOnce));
  CHECK(BestWall(*SectionOf(growing))->ms.low == 0);
  // Rows added and rows held that grow alike tell no more.
  int held = 40;
  const auto half = [&](int) {
    const int added = held / 2;
    held += added;
    return added;
  };
  const Analyzed alike = Pausing([](int i) { return 1.0 + 0.5 * i; }, half);
  CHECK(Tells(SectionOf(alike), Advice::kGrowingRounds));
  const Analyzed uneven = Pausing([](int i) { return i % 2 == 0 ? 2.0 : 5.0; });
  CHECK_FALSE(Tells(SectionOf(uneven), Advice::kGrowingRounds));
}

TEST_CASE("equally long stretches of a round length are a sleep") {
  const auto section = [](const Analyzed& one) { return one.Find("cpu_idle", "host_section"); };
  CHECK(Tells(section(Pausing([](int i) { return 50.05 + 0.01 * i; })), Advice::kEndSleep));
  // Of no round length, or less alike: work.
  CHECK_FALSE(Tells(section(Pausing([](int) { return 57.3; })), Advice::kEndSleep));
  CHECK_FALSE(Tells(section(Pausing([](int i) { return 50.0 + 0.4 * i; })), Advice::kEndSleep));
}

// Forty ops whose kernels are done before the next one is launched, each followed by a call that
// synchronizes the device.
Analyzed Synchronizing(bool synchronizes) {
  TraceText text;
  double at = 0;
  for (int i = 0; i < 40; ++i) {
    text.OpWithKernel("aten::relu", at, 30, "k", at + 15, 5, 2 * i + 1);
    at += 60;
    if (synchronizes) text.Runtime("cudaDeviceSynchronize", at, 20, 2 * i + 2);
    at += synchronizes ? 30 : 0;
  }
  return Analyze(text);
}

TEST_CASE("calls that synchronize an idle GPU cost the host their own time") {
  const Analyzed one = Synchronizing(true);
  const Finding* finding = one.Find("cpu_idle", "synchronisation");
  REQUIRE(finding != nullptr);
  CHECK(finding->host->places.front().name == "cudaDeviceSynchronize");
  CHECK(Synchronizing(false).Find("cpu_idle", "synchronisation") == nullptr);
}

}  // namespace
}  // namespace jarvis::findings
