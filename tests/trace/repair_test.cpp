#include "trace/repair.h"

#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::trace {
namespace {

using testing::Read;
using testing::TraceText;

// Kernels as "name dur" in the file's order; those left out in brackets.
std::string Work(const EventStore& events) {
  std::string text;
  for (EventIndex e = 0; e < events.size(); ++e) {
    if (!IsGpuWork(events[e].kind)) continue;
    std::string one = std::string(events.name(e)) + " " + std::to_string(events[e].dur_ns / 1000);
    if ((events[e].flags & kLeftOut) != 0) one = "(" + one + ")";
    if ((events[e].flags & kClipped) != 0) one += "!";
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

void Check(const TraceText& text, const std::string& work, std::uint64_t duplicates = 0,
           std::uint64_t overlaps = 0, std::uint64_t zeros = 0) {
  const Trace trace = Read(text.Json());
  CHECK(Work(trace.events) == work);
  CHECK(trace.events.oddities.count(Oddity::kDuplicate) == duplicates);
  CHECK(trace.events.oddities.count(Oddity::kOverlapOnStream) == overlaps);
  CHECK(trace.events.oddities.count(Oddity::kZeroTimestamp) == zeros);
}

TEST_CASE("what runs past a whole later event on its stream is clipped") {
  Check(TraceText().Kernel("a", 10, 100, 1).Kernel("b", 50, 10, 2), "a 40!, b 10", 0, 1);
  Check(TraceText().Kernel("b", 50, 10, 2).Kernel("a", 10, 100, 1), "b 10, a 40!", 0, 1);
  // Several in a row, each by the next that is left.
  Check(TraceText().Kernel("a", 10, 500, 1).Kernel("b", 50, 400, 2).Kernel("c", 100, 10, 3),
        "a 40!, b 50!, c 10", 0, 2);
}

TEST_CASE("overlaps that streams have are left alone") {
  Check(TraceText().Kernel("a", 10, 45, 1).Kernel("b", 50, 10, 2), "a 45, b 10");    // in part
  Check(TraceText().Kernel("a", 10, 50, 1).Kernel("b", 50, 10, 2), "a 50, b 10");    // to its end
  Check(TraceText().Kernel("a", 10, 50.9, 1).Kernel("b", 50, 10, 2), "a 50, b 10");  // clock noise
  Check(TraceText().Kernel("a", 10, 51, 1).Kernel("b", 50, 10, 2), "a 51, b 10");    // exactly 1 us
  Check(TraceText().Kernel("a", 10, 100, 1).Kernel("b", 50, 0, 2), "a 100, b 0");    // empty event
  Check(TraceText().Kernel("a", 10, 100, 1, 7).Kernel("b", 50, 10, 2, 8), "a 100, b 10");
  Check(TraceText().Kernel("a", 10, 100, 1).Kernel("b", 10, 10, 2), "a 100, b 10");  // same start
  // Host events nest, of course.
  const Trace trace = Read(TraceText().Op("a", 10, 100).Op("b", 50, 10).Json());
  CHECK(trace.events[0].dur_ns == 100000);
}

TEST_CASE("a few events that are hours from all others are left out, a long wait is not") {
  const auto trace = [](int before, double gap_us, int after) {
    TraceText text;
    for (int i = 0; i < before; ++i)
      text.Op("early", 10.0 + 10.0 * i, 5);
    for (int i = 0; i < after; ++i)
      text.Op("late", gap_us + 10.0 * i, 5);
    return text;
  };
  const auto far = [](const TraceText& text) {
    return Read(text.Json()).events.oddities.count(Oddity::kFarTimestamp);
  };
  constexpr double kHour = 3.6e9;
  CHECK(far(trace(1, 2 * kHour, 100)) == 1);
  CHECK(far(trace(3, 27 * kHour, 100)) == 3);
  CHECK(far(trace(100, kHour, 1)) == 1);
  // A program that waits has work on both sides, and one that waits for minutes is not far.
  CHECK(far(trace(40, 3 * kHour, 100)) == 0);
  CHECK(far(trace(1, 6e8, 100)) == 0);
  // An hour beside a recording of minutes.
  TraceText minutes;
  minutes.Op("early", 10, 5);
  for (int i = 0; i < 100; ++i)
    minutes.Op("late", kHour + 6e6 * i, 5);
  CHECK(far(minutes) == 0);
}

TEST_CASE("devices of several processes under one number overlap by right") {
  TraceText text;
  text.Thread(1, 1).Runtime("launch", 0, 3, 1).Thread(2, 2).Runtime("launch", 0, 3, 1);
  Check(TraceText(text).Kernel("a", 10, 100, 1).Kernel("b", 50, 10, 1), "a 100, b 10");
  Check(TraceText(text).Kernel("a", 10, 100, 1).Kernel("a", 10, 100, 1), "a 100, a 100");
  // Ids of one process each, or once each, say nothing of that.
  Check(TraceText(text).Kernel("a", 10, 100, 2).Kernel("b", 50, 10, 2), "a 40!, b 10", 0, 1);
  Check(TraceText(text).Kernel("a", 10, 100, 1).Kernel("b", 50, 10, 2), "a 40!, b 10", 0, 1);
}

TEST_CASE("the recorded duration stays known") {
  const Trace trace = Read(TraceText().Kernel("a", 10, 100, 1).Kernel("b", 50, 10, 2).Json());
  CHECK(trace.events[0].dur_ns == 40000);
  CHECK(trace.events.recorded_duration_ns(0) == 100000);
  CHECK(trace.events.dur_us(0) == 100);
  CHECK(trace.events.recorded_duration_ns(1) == 10000);
}

TEST_CASE("GPU events that are in the file twice count once") {
  Check(TraceText()
            .Kernel("a", 10, 5, 1)
            .Kernel("b", 20, 5, 2)
            .Kernel("a", 10, 5, 1)
            .Kernel("a", 10, 5, 1),
        "a 5, b 5, (a 5), (a 5)", 2);
  // Not the same work: another correlation, name, duration, stream or kind.
  Check(TraceText().Kernel("a", 10, 5, 1).Kernel("a", 10, 5, 2), "a 5, a 5");
  Check(TraceText().Kernel("a", 10, 5, 1).Kernel("b", 10, 5, 1), "a 5, b 5");
  Check(TraceText().Kernel("a", 10, 5, 1).Kernel("a", 10, 6, 1), "a 5, a 6");
  Check(TraceText().Kernel("a", 10, 5, 1, 7).Kernel("a", 10, 5, 1, 8), "a 5, a 5");
  Check(TraceText().Kernel("a", 10, 5, 1).Memset("a", 10, 5, 1), "a 5, a 5");
}

TEST_CASE("events at the epoch are left out, unless the trace is there") {
  const double now = 1751410836123456.0;
  Check(TraceText().Kernel("a", 0, 0, 1).Kernel("b", now, 5, 2), "(a 0), b 5", 0, 0, 1);
  Check(TraceText().Kernel("a", 0, 5, 1).Kernel("b", 20, 5, 2), "a 5, b 5");
  Check(TraceText().Kernel("a", 0, 5, 1), "a 5");
  Check(TraceText().Kernel("a", 0, 5, 1, 7).Kernel("b", 0, 5, 2, 8), "a 5, b 5");
  const Trace trace = Read(TraceText().Op("x", 0, 0).Kernel("b", now, 5, 2).Json());
  CHECK((trace.events[0].flags & kLeftOut) != 0);
}

}  // namespace
}  // namespace jarvis::trace
