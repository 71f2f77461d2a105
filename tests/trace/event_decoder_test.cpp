// Elements of traceEvents to events, through the whole reader.
#include "trace/event_decoder.h"

#include <string>

#include <doctest/doctest.h>

#include "support/trace_builder.h"

namespace jarvis::trace {
namespace {

using testing::Read;
using testing::TraceText;

// The element between two plain events, which must come through whatever it is.
Trace Among(std::string_view element) {
  TraceText text;
  text.Op("before", 10, 1).Raw(element).Op("after", 30, 1);
  Trace trace = Read(text.Json());
  const EventStore& events = trace.events;
  REQUIRE(events.size() >= 2);
  CHECK(events.name(0) == "before");
  CHECK(events[0].uid == 0);
  CHECK(events.name(events.size() - 1) == "after");
  return trace;
}

// Exactly one more event; the trace, for further questions.
Trace One(std::string_view element) {
  CAPTURE(element);
  Trace trace = Among(element);
  REQUIRE(trace.events.size() == 3);
  CHECK(trace.events[1].uid == 1);
  CHECK(trace.events[2].uid == 2);
  return trace;
}

// No event, one oddity.
void LeftOut(std::string_view element, Oddity oddity) {
  CAPTURE(element);
  const Trace trace = Among(element);
  CHECK(trace.events.size() == 2);
  CHECK(trace.events.elements == 3);
  CHECK(trace.events[1].uid == 2);
  CHECK(trace.events.oddities.Seen() == std::vector<Oddity>{oddity});
  CHECK(trace.events.oddities.count(oddity) == 1);
  CHECK(trace.events.oddities.first(oddity) == 1);
}

TEST_CASE("a bracket of the wrong kind does not invent events") {
  const Trace trace = Among(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Input Dims":[[8,4}],"b":2}})");
  CHECK(trace.events.size() == 2);
  CHECK(trace.events.oddities.count(Oddity::kMalformedEvent) > 0);
  CHECK(trace.events.oddities.first(Oddity::kMalformedEvent) == 1);
}

TEST_CASE("a broken event leaves nothing behind") {
  // Each of its own kind, right up to a bracket of the wrong kind.
  for (
      const char* element :
      {R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20.1234,"dur":5,"args":{"stream":7},"foo":{1]}})",
       R"({"ph":"B","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":20,"args":{"External id":5},"foo":{1]}})",
       R"({"ph":"E","pid":1,"tid":1,"ts":20,"foo":{1]}})",
       R"({"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"other"},"foo":{1]}})",
       R"({"ph":"s","cat":"ac2g","id":3,"pid":1,"tid":1,"ts":20,"foo":{1]}})",
       R"({"ph":"i","cat":"nobody knows","name":"x","pid":1,"tid":1,"ts":20,"foo":{1]}})",
       R"({"cat":"nobody knows","pid":9,"tid":9,"ts":20,"dur":1,"foo":{1]}})"}) {
    LeftOut(element, Oddity::kMalformedEvent);
    const Trace trace = Among(element);
    const EventStore& events = trace.events;
    CHECK(events.args.empty());
    CHECK(events.flows.empty());
    CHECK(events.meta_events.empty());
    CHECK(events.exact_times.empty());
    CHECK(events.ignored_events == 0);
    CHECK_FALSE(events.dialect.begin_end_pairs);
    CHECK_FALSE(events.dialect.arrows_ac2g);
    CHECK(events.tracks.size() == 1);
    CHECK(events.categories == std::vector<std::string_view>{"cpu_op"});
  }
}

TEST_CASE("the end of a broken begin event is an end alone") {
  const Trace trace = Among(
      R"({"ph":"B","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":20,"args":{"External id":5},"foo":{1]}},)"
      R"({"ph":"E","pid":1,"tid":1,"ts":21})");
  CHECK(trace.events.size() == 2);
  CHECK(trace.events.oddities.count(Oddity::kMalformedEvent) == 1);
  CHECK(trace.events.oddities.count(Oddity::kUnmatchedEnd) == 1);
  CHECK(trace.events.oddities.count(Oddity::kUnmatchedBegin) == 0);
}

TEST_CASE("members in any order") {
  for (
      const char* element :
      {R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":5.5,"args":{"correlation":3,"stream":7}})",
       R"({"args":{"stream":7,"correlation":3},"dur":5.5,"ts":20,"tid":7,"pid":0,"name":"k","cat":"kernel","ph":"X"})",
       R"({"dur" : 5.5 , "extra":[{"ph":"M"}], "ts": 20,"tid":7,"args":{"correlation":3,"x":{"stream":9},"stream":7},"pid":0,"name":"k","cat":"kernel","ph":"X"})"}) {
    const Trace trace = One(element);
    const Event& event = trace.events[1];
    CHECK(trace.events.name(1) == "k");
    CHECK(event.kind == EventKind::kKernel);
    CHECK(event.ts_ns == 20000);
    CHECK(event.dur_ns == 5500);
    CHECK(trace.events.args_of(1).correlation == 3);
    CHECK(trace.events.args_of(1).stream == 7);
    CHECK(trace.events.tracks[event.track].pid == "0");
    CHECK(trace.events.tracks[event.track].tid == "7");
    CHECK(trace.events.oddities.Seen().empty());
  }
}

TEST_CASE("times") {
  const auto check = [](std::string_view ts, std::string_view dur, std::int64_t ts_ns,
                        std::int64_t dur_ns, int flags = 0) {
    const Trace trace = One(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":)" +
                            std::string(ts) + ",\"dur\":" + std::string(dur) + "}");
    CHECK(trace.events[1].ts_ns == ts_ns);
    CHECK(trace.events[1].dur_ns == dur_ns);
    CHECK(trace.events[1].flags == flags);
  };
  check("1751410836123456", "1", 1751410836123456000, 1000);
  check("1751410836123456.789", "0.001", 1751410836123456789, 1);
  check("\"25.5\"", "\"1\"", 25500, 1000);
  check("2.5e1", "1E1", 25000, 10000, kInexact);
  check("20.12345", "1", 20123, 1000, kInexact);
  check("-20", "1", -20000, 1000);
  check("20", "0", 20000, 0);
}

TEST_CASE("digits below a nanosecond stay for those who compute in doubles") {
  const Trace trace =
      One(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":20.12345,"dur":0.1})");
  CHECK(trace.events.ts_us(1) == 20.12345);
  CHECK(trace.events.dur_us(1) == 0.1);
}

TEST_CASE("events without a usable time are left out and counted") {
  const auto element = [](std::string_view members) {
    return R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1)" + std::string(members) + "}";
  };
  LeftOut(element(R"(,"dur":1)"), Oddity::kNoTimestamp);
  LeftOut(element(R"(,"ts":null,"dur":1)"), Oddity::kNoTimestamp);
  LeftOut(element(R"(,"ts":20)"), Oddity::kNoDuration);
  LeftOut(element(R"(,"ts":20,"dur":null)"), Oddity::kNoDuration);
  LeftOut(element(R"(,"ts":"soon","dur":1)"), Oddity::kBadTimestamp);
  LeftOut(element(R"(,"ts":20,"dur":NaN)"), Oddity::kBadTimestamp);
  LeftOut(element(R"(,"ts":1e400,"dur":1)"), Oddity::kBadTimestamp);
  LeftOut(element(R"(,"ts":[20],"dur":1)"), Oddity::kBadTimestamp);
  LeftOut(element(R"(,"ts":99999999999999999999,"dur":1)"), Oddity::kHugeTimestamp);
  LeftOut(element(R"(,"ts":20,"dur":-1)"), Oddity::kNegativeDuration);
  // Ends and windows must fit 64 bits of nanoseconds.
  LeftOut(element(R"(,"ts":8999999999999999,"dur":8999999999999999)"), Oddity::kHugeTimestamp);
  LeftOut(element(R"(,"ts":-3000000000000001,"dur":1)"), Oddity::kBadTimestamp);
}

TEST_CASE("names") {
  const auto check = [](std::string_view name, std::string_view text, bool odd = false) {
    const Trace trace = One(R"({"ph":"X","cat":"cpu_op","name":)" + std::string(name) +
                            R"(,"pid":1,"tid":1,"ts":20,"dur":1})");
    CHECK(trace.events.name(1) == text);
    CHECK(trace.events.oddities.count(Oddity::kNoName) == (odd ? 1 : 0));
  };
  check(R"("a\"b\\c")", "a\"b\\c");
  check(R"("\u00e9 \ud83d\ude00")", "é 😀");
  check(R"("\ud83d alone")", "\uFFFD alone");
  check("\"é😀\"", "é😀");
  check("\"\"", "");
  check("null", "(unnamed)", true);
  check("17", "(unnamed)", true);
  CHECK(One(R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":20,"dur":1})").events.name(1) ==
        "(unnamed)");
}

TEST_CASE("a missing ph is forgiven when the event has a start and a duration") {
  const Trace trace = One(R"({"cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":20,"dur":1})");
  CHECK(trace.events.oddities.count(Oddity::kNoPhase) == 1);
  CHECK(Among(R"({"cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":20})").events.ignored_events == 1);
}

TEST_CASE("phases that no analysis uses pass") {
  for (const char* phase : {"i", "I", "C", "b", "e", "n", "t", "P", "", "XX"}) {
    const Trace trace =
        Among(R"({"ph":")" + std::string(phase) + R"(","name":"a","pid":1,"tid":1,"ts":20})");
    CHECK(trace.events.size() == 2);
    CHECK(trace.events.ignored_events == 1);
    CHECK(trace.events.oddities.Seen().empty());
  }
}

TEST_CASE("process and thread names") {
  TraceText text;
  text.Thread(5, 6).Op("a", 1, 1).Thread(5, 0).Meta("process_name", R"("name":"python3")");
  text.Meta("process_labels", R"("labels":"CPU")")
      .Thread(5, 6)
      .Meta("thread_name", R"("name":"thread 6 \"x\"")");
  text.Meta("process_uptime_seconds", R"("uptime":7)")
      .Meta("", "")
      .Raw(R"({"ph":"M","name":"thread_name"})");
  const Trace trace = Read(text.Json());
  const TrackNames& names = trace.track_names[trace.events[0].track];
  CHECK(names.process_name == "python3");
  CHECK(names.process_label == "CPU");
  CHECK(names.thread_name == "thread 6 \"x\"");
}

TEST_CASE("begin and end events") {
  const auto mark = [](const char* phase, const char* name, int ts, int tid = 1) {
    return R"({"ph":")" + std::string(phase) + R"(","cat":"cpu_op","name":")" + name +
           R"(","pid":1,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) + "}";
  };
  TraceText text;
  text.Raw(mark("B", "outer", 10)).Raw(mark("B", "inner", 20)).Raw(mark("B", "other", 21, 2));
  text.Raw(mark("E", "inner", 30)).Raw(mark("E", "other", 31, 2)).Raw(mark("E", "outer", 40));
  Trace trace = Read(text.Json());
  REQUIRE(trace.events.size() == 3);
  CHECK(trace.events.name(0) == "outer");
  CHECK(trace.events[0].dur_ns == 30000);
  CHECK(trace.events.name(1) == "inner");
  CHECK(trace.events[1].dur_ns == 10000);
  CHECK(trace.events[2].dur_ns == 10000);
  CHECK(trace.events.oddities.Seen().empty());
  CHECK(trace.events.dialect.Name().find("begin/end pairs") != std::string::npos);

  // In no order; one end and one begin too many.
  TraceText odd;
  odd.Raw(mark("E", "b", 30))
      .Raw(mark("B", "b", 20))
      .Raw(mark("E", "a", 5))
      .Raw(mark("B", "c", 50));
  trace = Read(odd.Json());
  REQUIRE(trace.events.size() == 1);
  CHECK(trace.events.name(0) == "b");
  CHECK(trace.events[0].dur_ns == 10000);
  CHECK(trace.events.oddities.count(Oddity::kUnmatchedEnd) == 1);
  CHECK(trace.events.oddities.count(Oddity::kUnmatchedBegin) == 1);
}

TEST_CASE("launch arrows of every era") {
  const auto arrow = [](const char* category, const char* name) {
    TraceText text;
    text.Op("a", 1, 1);
    text.Raw(R"({"ph":"s","id":5,"pid":1,"tid":2,"ts":3,"cat":")" + std::string(category) +
             R"(","name":")" + name + "\"}");
    text.Raw(R"({"ph":"f","id":"5","pid":0,"tid":7,"ts":4,"bp":"e","cat":")" +
             std::string(category) + R"(","name":")" + name + "\"}");
    return Read(text.Json());
  };
  for (const auto& [category, name] :
       {std::pair("ac2g", "ac2g"), std::pair("async_cpu_to_gpu", "async_gpu"),
        std::pair("async", "launch")}) {
    CAPTURE(category);
    const Trace trace = arrow(category, name);
    REQUIRE(trace.events.flows.size() == 2);
    CHECK(trace.events.flows[0].phase == 's');
    CHECK(trace.events.flows[0].id == 5);
    CHECK(trace.events.flows[1].phase == 'f');
    CHECK(trace.events.flows[1].id == 5);
    CHECK(trace.events.tracks[trace.events.flows[1].track].tid == "7");
    CHECK(trace.events.flows[0].ac2g == (std::string(category) == "ac2g"));
  }
  CHECK(arrow("fwdbwd", "fwdbwd").events.flows.empty());
}

TEST_CASE("args that no type holds do not cost the event") {
  for (const char* args :
       {R"("weight":NaN)", R"("weight":Infinity)", R"("weight":-Infinity)", R"("weights":[NaN,1])",
        R"("id64":1180591620717411303424)", R"("x":1e999)", R"("x":null)", R"("":{})",
        R"("nested":{"a":[{"b":[[[]]]}]})", R"("Input Dims":null)", R"("correlation":null)",
        R"("correlation":{"a":1})", R"("stream":"seven")", R"("Sequence number":1.5)"}) {
    const Trace trace =
        One(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":20,"dur":1,"args":{)" +
            std::string(args) + R"(,"External id":77}})");
    CHECK(trace.events.oddities.Seen().empty());
    CHECK(trace.events.args_of(1).external_id == 77);
  }
  for (const char* args : {"null", "[]", "3", "\"text\"", "NaN"}) {
    const Trace trace =
        One(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":20,"dur":1,"args":)" +
            std::string(args) + "}");
    CHECK(trace.events.oddities.Seen().empty());
  }
}

TEST_CASE("what is malformed costs its own event only") {
  for (const char* element :
       {R"({"ph":"X","name":"a","ts":20,"dur":1,})", R"({"ph":"X" "name":"a"})", R"({ph:"X"})",
        R"({"ph"})", R"({"ph":"X","args":{"a":}})", R"({"ph":"X",,"name":"a"})"}) {
    LeftOut(element, Oddity::kMalformedEvent);
  }
  for (const char* element : {"goo", "'x'", "+1", "u{\"a\":1}"}) {
    LeftOut(element, Oddity::kMalformedEvent);
  }
  for (const char* element :
       {"17", "null", "\"text\"", "[]", R"([{"ph":"X"}])", "true", "NaN", "nan", "foo"}) {
    LeftOut(element, Oddity::kNotAnObject);
  }
}

TEST_CASE("bytes that JSON forbids are replaced, and nothing else is lost") {
  Trace trace =
      One("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\xff"
          "b\",\"pid\":1,\"tid\":1,\"ts\":20,\"dur\":1}");
  CHECK(trace.events.name(1) ==
        "a\uFFFD"
        "b");
  CHECK(trace.events.oddities.count(Oddity::kBadUtf8) == 1);
  CHECK(trace.events.oddities.first(Oddity::kBadUtf8) == 1);
  trace =
      One("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\x01"
          "b\",\"pid\":1,\"tid\":1,\"ts\":20,\"dur\":1}");
  CHECK(trace.events.name(1) == "a b");
  CHECK(trace.events.oddities.count(Oddity::kControlCharacter) == 1);
  trace =
      One("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\tb\",\"pid\":1,\"tid\":1,\"ts\":20,"
          "\"dur\":1}");
  CHECK(trace.events.name(1) == "a b");
  // Both at once, and truncated sequences.
  trace =
      One("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\x02\xe2\x82\",\"pid\":1,\"tid\":1,\"ts\":"
          "20,\"dur\":1}");
  CHECK(trace.events.oddities.count(Oddity::kBadUtf8) == 1);
  CHECK(trace.events.oddities.count(Oddity::kControlCharacter) == 1);
}

TEST_CASE("pids and tids are opaque") {
  TraceText text;
  text.Raw(
      R"({"ph":"X","cat":"Trace","name":"a","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":1})");
  text.Raw(R"({"ph":"X","cat":"Operator","name":"b","pid":12,"tid":1890023232,"ts":1,"dur":1})");
  text.Raw(
      R"({"ph":"X","cat":"Operator","name":"c","pid":"12","tid":"1890023232","ts":1,"dur":1})");
  text.Raw(R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":1,"dur":1})");
  text.Raw(R"({"ph":"X","cat":"Kernel","name":"l","ts":1,"dur":1})");
  const Trace trace = Read(text.Json());
  REQUIRE(trace.events.size() == 5);
  CHECK(trace.events.tracks[trace.events[0].track].pid == "Spans");
  CHECK(trace.events[1].track == trace.events[2].track);  // the same thread, as number and as text
  CHECK(trace.events.args_of(3).stream == 7);
  CHECK(trace.events.tracks[trace.events[4].track].pid == "");
}

}  // namespace
}  // namespace jarvis::trace
