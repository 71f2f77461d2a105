// What a finding is worth, in a sentence: one figure with its share, and what it is on top of.
#include "documents/impact_text.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "documents/saving_base.h"

namespace jarvis::documents {
namespace {

// A recording of 100 ms, and a finding about 10 ms of its GPU time.
struct Impacted {
  findings::Analysis analysis;
  findings::Finding finding;

  Impacted() {
    analysis.base.unit = "recording";
    analysis.base.total_ms = 100;
    analysis.wall.known = true;
    analysis.wall.wall_ms = 100;
    finding.category = "elementwise";
    finding.global_rank = 1;
    finding.time_ms = 10;
    finding.own_part = 1;
    Saves({4, 6, 9}, 6);
  }

  void Saves(const findings::Range& alone, double after) {
    finding.wall_b = findings::WallSaving{.ms = alone, .after_others_ms = after};
  }
  std::string Impact() const { return ImpactSentence(analysis, finding, nullptr); }
};

TEST_CASE("each share stands for the figure in its place") {
  const Impacted one;
  CHECK(one.Impact() == "Saves about 6.00 ms (4.00 to 9.00 ms; 6.0% of the recording).");
}

TEST_CASE("where ends have bases of their own, the share is of the middle alone") {
  Impacted one;
  one.analysis.wall.of_unrecorded = true;
  one.analysis.wall.wall_ms = 30;
  one.analysis.wall.unrecorded_ms = findings::Range{10, 30, 90};
  CHECK(one.Impact() == "Saves about 6.00 ms (4.00 to 9.00 ms; 20.0% of 30.0 ms).");
  // The middle is near an end and is not told.
  one.Saves({8, 8.1, 9}, 8.1);
  CHECK(one.Impact() == "Saves 8.00 to 9.00 ms (26.7% to 30.0% of 30.0 ms).");
  // An end longer than the estimated recording is of the recorded one, and says so.
  one.finding.time_ms = 70;
  one.Saves({4, 20, 60}, 20);
  CHECK(one.Impact() ==
        "Saves about 20.0 ms (up to 60.0 ms of the 100.0 ms recording; 66.7% of 30.0 ms).");
  one.analysis.base.unit = "step";
  one.Saves({0, 59, 60}, 59);
  CHECK(one.Impact() == "Saves up to 60.0 ms (60.0% of the recorded 100.0 ms).");
}

TEST_CASE("what stands before a finding is named where it takes from its saving") {
  Impacted one;
  one.finding.global_rank = 2;
  one.Saves({4, 6, 9}, 6);  // nothing
  CHECK(one.Impact().find(" on top of ") == std::string::npos);
  one.Saves({4, 6, 9}, 3);
  CHECK(one.Impact().ends_with(" on top of priority 1."));
  one.finding.global_rank = 3;
  CHECK(one.Impact().ends_with(" on top of priorities 1 and 2."));
  one.finding.global_rank = 5;
  CHECK(one.Impact().ends_with(" on top of priorities 1 to 4."));
  one.Saves({4, 6, 9}, 0);
  CHECK(one.Impact() == "Saves almost nothing on top of priorities 1 to 4.");
}

TEST_CASE("a saving larger than the time beside it says why") {
  Impacted one;
  CHECK(BeyondText(one.analysis, one.finding).empty());
  one.Saves({4, 6, 10.1}, 6);  // a rounding
  CHECK(BeyondText(one.analysis, one.finding).empty());
  one.Saves({4, 10, 15}, 10);
  CHECK(BeyondText(one.analysis, one.finding).find("it includes host time") != std::string::npos);
  CHECK(one.Impact().find("of the recording). The upper end of the saving exceeds") !=
        std::string::npos);
  one.Saves({11, 12, 13}, 12);  // all of it is longer
  CHECK(BeyondText(one.analysis, one.finding).starts_with("The saving exceeds"));
  one.finding.patterns.push_back(
      {findings::Pattern::kTf32Off, {{"also", std::string("attention"), "words"}}});
  CHECK(BeyondText(one.analysis, one.finding).find("others become faster") != std::string::npos);
  one.finding.patterns.clear();
  one.finding.category = "multi_kernel";
  one.finding.category_name = "Copies";
  CHECK(BeyondText(one.analysis, one.finding).find("copies") != std::string::npos);
  auto host = std::make_shared<findings::HostCause>();
  host->total_ms = host->idle_ms = 10;
  one.finding.host = host;
  CHECK(BeyondText(one.analysis, one.finding).find("idle time") != std::string::npos);
  host->gpu_ms = 6;  // of what checks compute: it goes with the idle time
  CHECK(BeyondText(one.analysis, one.finding).empty());
  host->gpu_ms = 0;
  one.finding.one_off = true;  // what happens once is told by its host time
  CHECK(BeyondText(one.analysis, one.finding).empty());
}

TEST_CASE("what a saving rests on reads as a sentence, whatever its target is") {
  const auto text = [](std::string target, std::string source) {
    findings::Change change;
    change.target = std::move(target);
    change.source = std::move(source);
    return TargetText(change);
  };
  CHECK(text("one kernel per chain", "calls in this trace") ==
        "with one kernel per chain (based on: calls in this trace)");
  CHECK(text("639 TFLOPS/s", "another GEMM") ==
        "if it reaches 639 TFLOPS/s (based on: another GEMM)");
  CHECK(text("the rate of a GEMM", "estimate: not measured") ==
        "at the rate of a GEMM (estimate: not measured)");
  CHECK(text("half of the bytes", "estimate") == "with half of the bytes (estimate)");
}

TEST_CASE("a path does not repeat the action or what the impact says") {
  Impacted one;
  FindingText text;
  text.action = text.path_b = "Compile the model.";
  text.path_a = "None known.";
  text.chosen = 'B';
  text.saves_b = "On its own it saves 4.00 to 9.00 ms of the recording.";
  CHECK(PathLine(one.analysis, one.finding, text, 'B') == "The action above.");
  CHECK(PathLine(one.analysis, one.finding, text, 'A') == "None known.");
  // Alone it saves more, or it rests on an assumption: both are told.
  one.Saves({4, 6, 9}, 3);
  CHECK(PathLine(one.analysis, one.finding, text, 'B') == "The action above. " + text.saves_b);
  one.Saves({4, 6, 9}, 6);
  text.saves_b = "Saves 4.00 to 9.00 ms of the recording with one kernel (based on: traffic).";
  CHECK(PathLine(one.analysis, one.finding, text, 'B') == "The action above. " + text.saves_b);
}

}  // namespace
}  // namespace jarvis::documents
