// Units of unlike kinds that recur in a fixed order, and units that only seem to.
#include "analysis/frames/unit_groups.h"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/frames/phases.h"
#include "analysis/frames/time_frames.h"
#include "support/loop_script.h"

namespace jarvis::analysis {
namespace {

using testing::Load;
using testing::Loaded;
using testing::LoopScript;

BaseOfTime BaseOfLoop(LoopScript* script) {
  const Loaded loaded = Load(script->text());
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  return MakeTimeFrames(CollectFrameFacts({loaded.events(), loaded.tree, attribution})).base;
}

// 'a': a pass; 'r': one whose results, and those of the ones before it, are read; 's': one behind
// which nothing is recorded for a while; 'c': a cold one; 'p': over a prompt; 'v': one of another
// kind that takes as long.
LoopScript PassesOf(const std::string& kinds) {
  LoopScript script;
  for (const char kind : kinds) {
    switch (kind) {
      case 'r': script.Pass({.reads = 30}); break;
      case 's': script.Pass({.pause_us = 600}); break;
      case 'c': script.Pass({.pause_us = 5000}); break;
      case 'p': script.Pass({.ops = 60}); break;
      case 'v': script.Pass({.ops = 10, .reads = 10}); break;
      default: script.Pass({});
    }
  }
  return script;
}

// "4 x 3": three groups of four in the base.
std::string GroupsIn(const BaseOfTime& base) {
  return std::to_string(base.group.size) + " x " + std::to_string(base.count);
}
std::string GroupsOf(const std::string& kinds) {
  LoopScript script = PassesOf(kinds);
  return GroupsIn(BaseOfLoop(&script));
}

LoopScript RequestsOf(const std::vector<std::string>& requests) {
  LoopScript script;
  for (const std::string& one : requests) {
    script.Open();
    for (const char kind : one)
      script.Pass({.reads = kind == 'r' ? 30 : 0,
                   .pause_us = kind == 's'   ? 600.0
                               : kind == 'c' ? 5000.0
                                             : 0.0});
    script.Close("serve.py(7): request");
  }
  return script;
}

TEST_CASE("a request of several passes is the unit, from the begin of the frame around it") {
  LoopScript two = RequestsOf({"aaar", "aaar"});
  const BaseOfTime base = BaseOfLoop(&two);
  CHECK(GroupsIn(base) == "4 x 2");
  CHECK(base.unit == TimeUnit::kPass);
  CHECK(base.unit_text() == "group of 4 passes");
  CHECK(base.group.scope == "serve.py(7): request");
  CHECK(base.parts() == 8);
  REQUIRE(base.units.size() == 2);
  // Ten microseconds before its first pass.
  CHECK(base.host_units.front().host.start == 10'000);
  CHECK(base.host_units.front().name == "passes 1 to 4");
  // Three passes of 20 ops and one of 50, every 25 us; the frame opens 10 us before and closes 5
  // after them.
  CHECK(base.units.front().end - base.units.front().start == (110 * 25 + 15) * 1000);
  // A request that began before the recording is no whole group.
  LoopScript cut = RequestsOf({"ar", "aaar", "aaar"});
  CHECK(GroupsIn(BaseOfLoop(&cut)) == "4 x 2");
  // One of a cold start is left out as a whole.
  LoopScript cold = RequestsOf({"caar", "aaar", "aaar"});
  CHECK(GroupsIn(BaseOfLoop(&cold)) == "4 x 2");
}

TEST_CASE("parts of a group are those of its passes") {
  LoopScript script = RequestsOf({"aaar", "aaar"});
  const Loaded loaded = Load(script.text());
  const Attribution attribution = Attribute(loaded.events(), loaded.tree);
  const FrameFacts facts = CollectFrameFacts({loaded.events(), loaded.tree, attribution});
  const TimeFrames frames = MakeTimeFrames(facts);
  const Phases phases = MakePhases(facts, frames);
  CHECK(phases.steps == 2);
  CHECK(phases.total_ns == Length(frames.base.host_base));
  // What repeats does so within a pass, of each of which something comes before.
  std::uint64_t before = 0;
  for (const Phase& one : phases.phases)
    before += one.name.starts_with("before ") ? one.count : 0;
  CHECK(before == 8);
}

TEST_CASE("without a frame around them passes form groups if that is no chance") {
  CHECK(GroupsOf("aaaraaaraaar") == "4 x 3");
  CHECK(GroupsOf("aaraaraar") == "3 x 3");
  CHECK(GroupsOf("ararararar") == "2 x 5");
  // Two odd ones of eight stand so in 5 of 28 orders.
  CHECK(GroupsOf("aaaraaar").starts_with("1 x"));
  // The group ends with what is done once in it; what is before and behind is in no whole one.
  LoopScript shifted = PassesOf("araaaraaaraaaraa");
  const BaseOfTime base = BaseOfLoop(&shifted);
  CHECK(GroupsIn(base) == "4 x 3");
  CHECK(base.group.HeldIn(0) == 1);
  CHECK(base.host_units[2].name == "passes 3 to 6");
  // Behind a cold start.
  CHECK(GroupsOf("caaaraaaraaar") == "4 x 3");
}

TEST_CASE("steps that accumulate gradients are one unit with the optimizer at its end") {
  LoopScript script;
  for (const bool optimizer : {true, false, false, false, true, false, false, false, true, false})
    script.Step({.optimizer = optimizer});
  const BaseOfTime base = BaseOfLoop(&script);
  CHECK(GroupsIn(base) == "4 x 2");
  CHECK(base.unit == TimeUnit::kStep);
  CHECK(base.host_units[1].name == "ProfilerStep#2 to ProfilerStep#5");
}

TEST_CASE("time alone makes no group") {
  // A loader's workers take turns; a collection of garbage, a checkpoint, a busy machine.
  CHECK(GroupsOf("aaasaaasaaas").starts_with("1 x"));
  CHECK(GroupsOf("aaaaaasaaaaa").starts_with("1 x"));
  LoopScript marked;
  for (int i = 0; i < 12; ++i)
    marked.Step({.pause_us = i % 4 == 3 ? 600.0 : 0.0});
  CHECK(GroupsIn(BaseOfLoop(&marked)).starts_with("1 x"));
  // Nor does what is called only while the host waits.
  LoopScript waiting;
  for (int i = 0; i < 12; ++i) {
    waiting.Pass({.pause_us = i % 4 == 3 ? 600.0 : 0.0});
    if (i % 4 == 3) {
      waiting.text().Python("queue.py(154): get", waiting.at() - 590, 580);
      waiting.text().Python("threading.py(280): wait", waiting.at() - 580, 560);
    }
  }
  CHECK(GroupsIn(BaseOfLoop(&waiting)).starts_with("1 x"));
  LoopScript framed = RequestsOf({"aaas", "aaas"});
  CHECK(GroupsIn(BaseOfLoop(&framed)).starts_with("1 x"));
}

TEST_CASE("what does not recur exactly, or is alike, forms no group") {
  CHECK(GroupsOf("aaraaaaraarar").starts_with("1 x"));
  CHECK(GroupsOf("aaaaaraaaaaa").starts_with("1 x"));
  CHECK(GroupsOf("caaaaaaa") == "1 x 7");
  CHECK(GroupsOf("paaaaaaaaaaa") == "1 x 11");
  CHECK(GroupsOf("aaaaaaaaaaaa") == "1 x 12");
  // Two kinds in turn that take as long, as of a pass with and without a condition.
  CHECK(GroupsOf("avavavavav") == "1 x 10");
  // Epochs of equal passes, and one of unlike ones.
  LoopScript epochs = RequestsOf({"aaaa", "aaaa", "aaaa"});
  CHECK(GroupsIn(BaseOfLoop(&epochs)) == "1 x 12");
  LoopScript once = RequestsOf({"aaar", "aaaa"});
  CHECK(GroupsIn(BaseOfLoop(&once)).starts_with("1 x"));
}

double ChanceOf(const std::string& kinds, std::size_t period) {
  return ChanceOfPeriod(std::vector<std::size_t>(kinds.begin(), kinds.end()), period);
}

TEST_CASE("the chance of a period is the share of orders that have it") {
  CHECK(ChanceOf("abababab", 2) == doctest::Approx(2.0 / 70));
  CHECK(ChanceOf("aabaabaab", 3) == doctest::Approx(3.0 / 84));
  // Every fourth in four places, and every third from the third on.
  CHECK(ChanceOf("aaabaaab", 4) == doctest::Approx(5.0 / 28));
  CHECK(ChanceOf("abcabc", 3) == doctest::Approx(6.0 / 90));
  // A period and a half is none.
  CHECK(ChanceOf("aaabaa", 4) == 1);
}

}  // namespace
}  // namespace jarvis::analysis
