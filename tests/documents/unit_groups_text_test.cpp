// What reports say of units that are several passes or steps each, and of much that is left out.
#include <string>

#include <doctest/doctest.h>

#include "documents/base_text.h"
#include "support/analyzed.h"
#include "support/loop_script.h"

namespace jarvis::documents {
namespace {

using testing::Analyze;
using testing::Analyzed;
using testing::LoopScript;

TEST_CASE("a group is named with the frame around it, and its passes are counted one by one") {
  LoopScript script;
  for (int request = 0; request < 2; ++request) {
    script.Open();
    for (int pass = 0; pass < 4; ++pass)
      script.Pass({.reads = pass == 3 ? 30 : 0});
    script.Close("serve.py(7): request");
  }
  const Analyzed one = Analyze(script.text());
  CHECK(UnitLength(one.analysis) ==
        "Group of 4 passes, `serve.py(7): request` (mean of 2): 2.76 ms");
  CHECK(UnitPhrase(one.analysis) == "per group");
  CHECK(LeftOut(one.analysis).empty());
  CHECK(one.Quality("units_left_out") == nullptr);
  CHECK(one.analysis.workload[findings::WorkloadPart::kSteps].value.find("8 forward passes") !=
        std::string::npos);
}

TEST_CASE("what is in no whole group is told as what it is") {
  LoopScript script;
  for (int pass = 0; pass < 14; ++pass)
    script.Pass({.reads = pass % 4 == 3 ? 30 : 0});
  CHECK(LeftOut(Analyze(script.text()).analysis).find("2 passes of 0.5") != std::string::npos);
}

TEST_CASE("much that only its length sets apart limits what is said") {
  LoopScript script;
  for (int step = 0; step < 9; ++step)
    script.Step({.pause_us = step == 2 || step == 7 ? 1500.0 : 0.0});
  const Analyzed much = Analyze(script.text());
  REQUIRE(much.Quality("units_left_out") != nullptr);
  CHECK(much.Quality("units_left_out")->text ==
        "2 steps with 53% of the time of all recorded steps are in no figure: nothing but their "
        "length sets them apart.");
  CHECK(much.Quality("units_left_out")->consequence.find("waits longer") != std::string::npos);
  // A cold start, and little of the time.
  LoopScript cold;
  for (int step = 0; step < 9; ++step)
    cold.Step({.pause_us = step == 0 ? 9000.0 : 0.0});
  CHECK(Analyze(cold.text()).Quality("units_left_out") == nullptr);
  LoopScript little;
  for (int step = 0; step < 12; ++step)
    little.Step({.pause_us = step == 5 ? 500.0 : 0.0});
  CHECK(Analyze(little.text()).Quality("units_left_out") == nullptr);
}

}  // namespace
}  // namespace jarvis::documents
