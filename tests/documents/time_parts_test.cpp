// Where the time of a step goes: the lines of the wall book as a reader meets them.
#include "documents/time_parts.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "findings/one/wall_plan.h"
#include "session/trace_frames.h"

namespace jarvis::documents {
namespace {

using findings::Analysis;
using ledger::IdleCause;
using ledger::WorkKind;

// 50 ms of GEMMs and 30 of casts, 19.6 ms idle while the host issues ops, 0.4 of copies.
struct BookedStep {
  std::shared_ptr<session::TraceFrames> frames = std::make_shared<session::TraceFrames>();
  Analysis analysis;

  BookedStep() {
    analysis.base.unit = "step";
    analysis.base.count = 1;
    analysis.base.total_ms = 100;
    analysis.platform = "H100";
    analysis.frames = frames;
    frames->frames.base.base = {{0, 100'000'000}};
    Work(WorkKind::kProduct) = 50'000'000;
    Work(WorkKind::kCast) = 30'000'000;
    Work(WorkKind::kCopy) = 400'000;
    frames->books.wall.idle_ns[static_cast<std::size_t>(IdleCause::kHostIssues)] = 19'600'000;
    Judge({});
  }
  std::int64_t& Work(WorkKind kind) {
    return frames->books.wall.work_ns[static_cast<std::size_t>(kind)];
  }
  void Judge(const ledger::KnownFloors& floors) {
    frames->books.gpu.kinds[0].ns = Work(WorkKind::kProduct);
    analysis.line_bounds = ledger::BoundsOf(frames->books, floors);
  }
};

ledger::KnownFloors AtTheRoof() {
  ledger::KnownFloors floors;
  floors[0] = {50'000'000, 50'000'000, "down to what the GPU can reach"};
  return floors;
}

}  // namespace

TEST_CASE("the parts of a step add up to it, small ones too") {
  BookedStep step;
  const std::vector<TimePart> parts = TimeParts(step.analysis);
  double ms = 0;
  for (const TimePart& part : parts)
    ms += part.ms;
  CHECK(ms == doctest::Approx(100));
  CHECK(parts.front().name == "GPU: GEMMs");
  CHECK(parts.back().name == "GPU: device copies and fills");  // one line, by its name
  step.Work(WorkKind::kLayout) = 200'000;
  step.Judge({});
  CHECK(TimeParts(step.analysis).back().name == "All other lines");
  CHECK(TimeParts(step.analysis).back().ms == doctest::Approx(0.6));
}

TEST_CASE("GPU work that nothing bounds is said, with what to record") {
  BookedStep step;
  CHECK(UnassessedSentence(step.analysis) ==
        "50.0% of the step could not be assessed: GEMMs (50.0 ms). Reason: no "
        "performance model covers the "
        "ops that launch these kernels.");
  CHECK(WallTimeTable(step.analysis).find("not assessed") != std::string::npos);
  step.analysis.quality.emplace_back().code = "no_shapes";
  CHECK(UnassessedSentence(step.analysis).find("`record_shapes=True`") != std::string::npos);
  step.Judge(AtTheRoof());
  CHECK(UnassessedSentence(step.analysis).empty());
  CHECK(WallTimeTable(step.analysis).find("not assessed") == std::string::npos);
}

TEST_CASE("faster GPU work saves nothing while the host sets the pace") {
  BookedStep step;
  step.Judge(AtTheRoof());
  step.analysis.bound.kind = ledger::BoundKind::kHost;
  step.analysis.wall.known = true;
  step.analysis.wall.wall_ms = 100;
  step.analysis.wall.host_floor_ms = 95;
  step.analysis.wall.gpu_floor_ms = 80;
  const auto fixes_of = [&](std::string_view name) {
    for (const TimePart& part : TimeParts(step.analysis)) {
      if (part.name == name) return FixesOf(part);
    }
    return std::string("no such part");
  };
  CHECK(fixes_of("GPU: casts and quantization") == "little gain: the GPU waits for the host");
  CHECK(fixes_of("GPU idle: host executing an op").empty());
  step.Judge({});
  CHECK(UnassessedSentence(step.analysis).empty());
  // Where the host's work and the GPU's lie one behind the other, it saves what the host leaves.
  step.analysis.wall.host_floor_ms = 75;
  CHECK(fixes_of("GPU: GEMMs") == "not assessed");
  CHECK_FALSE(UnassessedSentence(step.analysis).empty());
}

TEST_CASE("a part names the fixes that are about it, and is assessed where they size the most") {
  BookedStep step;
  findings::Finding& finding = step.analysis.findings.emplace_back();
  finding.global_rank = 3;
  finding.lines.work = {WorkKind::kProduct};
  finding.lines.idle = {IdleCause::kHostIssues};
  CHECK(FixesOf(TimeParts(step.analysis).front()) == "3");
  CHECK(WallTimeTable(step.analysis).find("| GPU: GEMMs | 50.0 ms | 3 | 50.0% |") !=
        std::string::npos);
  // Less than half of the line has a size.
  CHECK(step.analysis.UnassessedMs() == doctest::Approx(50));
  step.analysis.covered[0] = 0.6;
  CHECK(step.analysis.UnassessedMs() == 0);
  finding.minor = true;  // saves next to nothing
  CHECK(FixesOf(TimeParts(step.analysis).front()).empty());
}

TEST_CASE("no total of savings is told beside more that nobody assessed") {
  BookedStep step;
  step.analysis.wall.known = true;
  step.analysis.wall.wall_ms = 100;
  findings::Finding finding;
  finding.wall_a.emplace();
  finding.wall_a->ms = {20, 20, 20};
  finding.wall_a->after_others_ms = 20;
  step.analysis.findings.push_back(finding);
  CHECK_FALSE(findings::TogetherOf(step.analysis));
  step.Judge(AtTheRoof());
  REQUIRE(findings::TogetherOf(step.analysis));
  CHECK(findings::TogetherOf(step.analysis)->high == 20);
  // What is not assessed is less than what the first one saves.
  step.Work(WorkKind::kProduct) = 10'000'000;
  step.Judge({});
  CHECK(findings::TogetherOf(step.analysis));
}

TEST_CASE("nothing is worth doing only where every large line has a bound") {
  BookedStep step;
  step.Judge(AtTheRoof());
  CHECK_FALSE(step.analysis.NothingToSave());  // casts could go, and so could idle time
  step.Work(WorkKind::kCast) = 0;
  step.frames->books.wall.idle_ns = {};
  step.Judge(AtTheRoof());
  CHECK(step.analysis.NothingToSave());
  step.Judge({});
  CHECK_FALSE(step.analysis.NothingToSave());
}

}  // namespace jarvis::documents
