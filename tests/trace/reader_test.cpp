// The whole reader: threads, damage, containers, limits, cancelling.
#include "trace/reader.h"

#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/limits.h"
#include "support/memory_source.h"
#include "support/trace_builder.h"

namespace jarvis::trace {
namespace {

using testing::MemorySource;
using testing::Read;
using testing::TraceText;
using testing::TryRead;

// Everything that was read, as text.
std::string Dump(const Trace& trace) {
  const EventStore& s = trace.events;
  std::string out = fmt::format("{} {} {} {} '{}' {}\n", s.elements, s.text_bytes, s.ignored_events,
                                s.dialect.Name(), trace.damage, trace.partial);
  const auto text = [&](StringId id) { return s.text(id); };
  for (EventIndex e = 0; e < s.size(); ++e) {
    const Event& event = s[e];
    const Args& args = s.args_of(e);
    out += fmt::format("{} {} {} {} {} {} {} {} {} {}|", event.uid, event.ts_ns, event.dur_ns,
                       s.name(e), s.tracks[event.track].pid, s.tracks[event.track].tid, event.order,
                       static_cast<int>(event.kind), s.categories[event.category], event.flags);
    out += fmt::format("{} {} {} {} {} {} {} {} {}|{} {}\n", args.correlation, args.external_id,
                       args.sequence, args.stream, text(args.dims), text(args.strides),
                       text(args.types), text(args.concrete), text(args.other), s.ts_us(e),
                       s.dur_us(e));
  }
  for (const Flow& flow : s.flows) {
    out +=
        fmt::format("flow {} {} {} {}\n", flow.id, s.tracks[flow.track].tid, flow.phase, flow.ac2g);
  }
  for (const TrackNames& names : trace.track_names) {
    out += names.process_name + "/" + names.process_label + "/" + names.thread_name + "\n";
  }
  for (const Oddity oddity : s.oddities.Seen()) {
    out += fmt::format("{} {} {}\n", Info(oddity).name, s.oddities.count(oddity),
                       s.oddities.first(oddity));
  }
  for (const TopLevelValue& value : trace.metadata.values)
    out += value.key + "=" + value.json + "\n";
  return out;
}

// A few megabytes with something strange every now and then, so that it takes several pieces.
std::string LargeText() {
  std::mt19937 random(17);
  TraceText text;
  for (int i = 0; i < 12000; ++i) {
    const double ts = 1e6 + i * 3;
    const int n = static_cast<int>(random() % 50);
    text.Thread(100, 100 + n % 3);
    text.Op("aten::op_" + std::to_string(n), ts, 2,
            fmt::format(R"("External id":{},"Input Dims":[[{},{}],[]],"note":"{}")", i, n, i % 7,
                        std::string(static_cast<std::size_t>(n), 'x')));
    text.Kernel("kernel_" + std::to_string(n % 11), ts + 1.0005, 1.5, i);
    if (n == 0) text.Raw(R"({"ph":"X" "broken":1})");
    if (n == 1)
      text.Raw(
          "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\xff\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":"
          "1}");
    if (n == 2) text.Arrow(i).Meta("thread_name", fmt::format(R"("name":"t{}")", i));
    if (n == 3)
      text.Raw(
          fmt::format(R"({{"ph":"B","cat":"cpu_op","name":"b","pid":1,"tid":9,"ts":{}}})", ts));
    if (n == 4) text.Raw(fmt::format(R"({{"ph":"E","pid":1,"tid":9,"ts":{}}})", ts + 1));
    if (n == 5) text.Raw("17");
  }
  return text.Json();
}

TEST_CASE("any number of threads, and any size of reads, give the same trace") {
  const std::string json = LargeText();
  REQUIRE(json.size() > (3u << 20));
  const std::string one = Dump(Read(json, 1));
  for (const int threads : {2, 3, 8}) {
    const bool same = Dump(Read(json, threads)) == one;
    CHECK_MESSAGE(same, threads, " threads");
  }
  for (const std::size_t piece :
       {std::size_t{1000}, std::size_t{65536}, (std::size_t{1} << 20) + 1}) {
    const auto read = TryRead(json, 2, piece);
    REQUIRE(read.has_value());
    const bool same = Dump(*read) == one;
    CHECK_MESSAGE(same, piece, " bytes at a time");
  }
}

TEST_CASE("a text that is cut off gives every whole event before the cut") {
  TraceText text;
  text.Thread(1, 1);
  for (int i = 0; i < 6; ++i) {
    text.Op("op \"{" + std::to_string(i) + "}\"", 10 * i + 1, 5,
            R"("Input Dims":[[1,2],[]],"x":"\\")");
  }
  const std::string json = text.Json();
  const Trace whole = Read(json);
  CHECK_FALSE(whole.partial);
  CHECK(whole.damage == "");
  const std::size_t array = json.find('[');
  std::uint64_t before = 0;
  for (std::size_t cut = 0; cut < json.size(); ++cut) {
    CAPTURE(cut);
    const auto read = TryRead(json.substr(0, cut));
    if (!read) {
      CHECK(read.error().code == ErrorCode::kNotATrace);
      CHECK(read.error().message != "");
      CHECK(before == 0);  // never an error once there was an event
      continue;
    }
    CHECK(cut > array);
    CHECK(read->partial);
    CHECK(read->damage.find(fmt::format("{} whole events", read->events.elements)) !=
          std::string::npos);
    CHECK(read->events.oddities.count(Oddity::kTruncated) == 1);
    CHECK(read->events.size() == read->events.elements);
    CHECK(read->events.size() >= before);
    before = read->events.size();
    for (EventIndex e = 0; e < read->events.size(); ++e) {
      CHECK(read->events.name(e) == whole.events.name(e));
      CHECK(read->events[e].ts_ns == whole.events[e].ts_ns);
    }
  }
  CHECK(before == 6);
}

void CheckNoTrace(const std::string& text, std::string_view message) {
  CAPTURE(text.substr(0, 60));
  const auto read = TryRead(text);
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == ErrorCode::kNotATrace);
  CHECK_MESSAGE(read.error().message.find(message) != std::string::npos, read.error().message);
}

TEST_CASE("what is no trace says so") {
  CheckNoTrace("", "white space");
  CheckNoTrace(" \n\t ", "white space");
  CheckNoTrace("<html>404</html>", "web page");
  CheckNoTrace("plain words", "0x70");
  CheckNoTrace("PK\x03\x04", "zip");
  CheckNoTrace("{}", "without a traceEvents");
  CheckNoTrace(R"({"schemaVersion":1})", "without a traceEvents");
  CheckNoTrace(R"({"traceEvents":{}})", "without a traceEvents");
  CheckNoTrace(R"({"schemaVersion":1,)", "ends before");
  CheckNoTrace(R"({"traceEvents":[]})", "empty");
  CheckNoTrace("[]", "empty");
  CheckNoTrace(R"({"traceEvents":[{"ph":"M","name":"process_name"}]})", "none of the 1 elements");
  CheckNoTrace(R"([{"a":1},{"b":2}])", "none of the 2 elements");
  CheckNoTrace("{nonsense}", "expected a member name");
}

TEST_CASE("nesting of any depth is no danger") {
  const std::string deep(200000, '[');
  CheckNoTrace(deep + std::string(200000, ']'), "none of the 1 elements");
  CheckNoTrace(deep, "empty");  // one element that never ends
  const std::string objects = [] {
    std::string text;
    for (int i = 0; i < 50000; ++i)
      text += R"({"a":)";
    return text + "1" + std::string(50000, '}');
  }();
  TraceText text;
  text.Op("before", 1, 1)
      .Raw(objects)
      .Raw(R"({"ph":"X","cat":"cpu_op","name":"deep args","ts":2,"dur":1,"args":)" + objects + "}");
  text.Op("after", 3, 1);
  const Trace trace = Read(text.Json());
  CHECK(trace.events.name(0) == "before");
  CHECK(trace.events.name(trace.events.size() - 1) == "after");
}

TEST_CASE("metadata on either side of the events") {
  const Trace trace = Read(
      R"({"deviceProperties":[{"id":0,"name":"GPU X","totalGlobalMem":99,"numSms":3},{"id":1,"name":"GPU Y"}],
    "traceEvents":[)" +
      TraceText().Op("a", 1, 1).Elements() + R"(],
    "distributedInfo":{"backend":"nccl","rank":3,"world_size":8},"traceName":"/tmp/\u00e9.json"})");
  REQUIRE(trace.metadata.devices.size() == 2);
  CHECK(trace.metadata.devices[0].name == "GPU X");
  CHECK(trace.metadata.devices[0].memory_bytes == 99);
  CHECK(trace.metadata.devices[0].sm_count == 3);
  CHECK_FALSE(trace.metadata.devices[1].memory_bytes.has_value());
  CHECK(trace.metadata.rank == 3);
  CHECK(trace.metadata.world_size == 8);
  CHECK(trace.metadata.backend == "nccl");
  CHECK(trace.metadata.values.size() == 3);
  // Damaged metadata costs the metadata only.
  CHECK(Read(R"({"deviceProperties":[{"id":}],"distributedInfo":7,"traceEvents":[)" +
             TraceText().Op("a", 1, 1).Elements() + "]}")
            .metadata.devices.empty());
}

TEST_CASE("a long list of unknown args is cut, and the known ones are kept") {
  TraceText text;
  text.Op("a", 1, 1, R"("big":")" + std::string(10000, 'x') + R"(","External id":5)");
  const Trace trace = Read(text.Json());
  CHECK(trace.events.args_of(0).external_id == 5);
  CHECK(trace.events.text(trace.events.args_of(0).other).size() < 10000);
  CHECK(trace.events.oddities.count(Oddity::kLongArgs) == 1);
}

TEST_CASE("a long name is cut, and stays different from others") {
  const std::string same(limits::kNameBytesMax + 100, 'x');
  TraceText text;
  text.Op(same + "a", 1, 1).Op(same + "b", 3, 1).Op(same + "a", 5, 1);
  text.Op(std::string(limits::kNameBytesMax, 'y'), 7, 1);
  // Neither an escape nor a character is cut in two.
  std::string escapes = std::string(limits::kNameBytesMax - 1, 'z') + "\\u00e9 end";
  std::string characters = std::string(limits::kNameBytesMax - 1, 'z') + "é end";
  text.Op(escapes, 9, 1).Op(characters, 11, 1);
  const Trace trace = Read(text.Json());
  const EventStore& s = trace.events;
  REQUIRE(s.size() == 6);
  CHECK(s.name(0).size() < limits::kNameBytesMax + 30);
  CHECK(s.name(0).starts_with(std::string(limits::kNameBytesMax, 'x') + "…#"));
  CHECK(s.name(0) != s.name(1));
  CHECK(s[0].name == s[2].name);
  CHECK(s.name(3) == std::string(limits::kNameBytesMax, 'y'));
  for (const EventIndex e : {4U, 5U})
    CHECK(s.name(e).starts_with(std::string(limits::kNameBytesMax - 1, 'z') + "…#"));
  CHECK(s.oddities.count(Oddity::kLongName) == 5);
  CHECK(s.oddities.first(Oddity::kLongName) == 0);
}

TEST_CASE("beyond the budget long texts are cut or left out, whatever the number of threads") {
  const std::string concrete(std::size_t{1} << 20, 'c');
  TraceText text;
  constexpr int kEvents = 60;  // a MiB each
  for (int i = 0; i < kEvents; ++i) {
    text.Op(fmt::format("op {} {}", i, std::string(1000, 'n')), i * 10.0, 5,
            fmt::format(R"("Concrete Inputs":["{} {}"],"External id":{})", concrete, i, i));
  }
  // A text that was kept before is still known, and short ones always are.
  text.Op("short", 1000, 1, fmt::format(R"("Concrete Inputs":["{} 0"])", concrete));
  const std::string json = text.Json();
  const Trace trace = Read(json);
  const EventStore& s = trace.events;
  REQUIRE(s.size() == kEvents + 1);
  CHECK(s.strings.bytes() < limits::kTextBytesFree + (std::size_t{4} << 20));
  CHECK_FALSE(s.text(s.args_of(0).concrete).empty());
  CHECK(s.args_of(kEvents).concrete == s.args_of(0).concrete);
  CHECK(s.name(kEvents) == "short");
  EventIndex without = 0;
  for (EventIndex e = 0; e < kEvents; ++e) {
    CHECK(s.args_of(e).external_id == e);
    without += s.args_of(e).concrete == kNoString ? 1U : 0U;
  }
  CHECK(without > 20);
  CHECK(without < 40);
  CHECK(s.oddities.count(Oddity::kTextBudget) >= without);
  CHECK(Dump(Read(json, 4)) == Dump(trace));
}

TEST_CASE("names beyond the budget are cut short") {
  TraceText text;
  for (int i = 0; i < 5000; ++i)
    text.Op(fmt::format("op {} {}", i, std::string(10'000, 'n')), i * 10.0, 5);
  const Trace trace = Read(text.Json());
  const EventStore& s = trace.events;
  CHECK(s.strings.bytes() < limits::kTextBytesFree + (std::size_t{8} << 20));
  CHECK(s.name(0).size() > 10'000);
  CHECK(s.name(4999).size() < limits::kNameBytesShort + 30);
  CHECK(s.name(4999).starts_with("op 4999 nnn"));
  CHECK(s.name(4999) != s.name(4998));
  CHECK(s.oddities.count(Oddity::kTextBudget) > 1000);
}

TEST_CASE("names of devices are cut") {
  const Trace trace = Read(R"({"deviceProperties":[{"id":0,"name":")" + std::string(1 << 20, 'd') +
                           R"("},{"id":1,"name":"NVIDIA H100"}],"traceEvents":[)" +
                           TraceText().Op("a", 1, 1).Elements() + "]}");
  REQUIRE(trace.metadata.devices.size() == 2);
  CHECK(trace.metadata.devices[0].name.size() <= limits::kDeviceNameBytesMax);
  CHECK(trace.metadata.devices[1].name == "NVIDIA H100");
}

TEST_CASE("text after the end makes a trace partial") {
  const std::string json = TraceText().Op("a", 1, 1).Json();
  const Trace trace = Read(json + "{\"again\":1}");
  CHECK(trace.events.oddities.count(Oddity::kTextAfterEnd) == 1);
  CHECK(trace.partial);
  CHECK(Read(json + " \n").events.oddities.Seen().empty());
}

TEST_CASE("a stopped job ends the reading") {
  const std::string json = LargeText();
  for (const int threads : {1, 4}) {
    MemorySource source(json, 4096);
    Job job;
    job.Stop();
    const auto read = ReadTrace(source, {.threads = threads}, job);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::kCancelled);
  }
}

// A source that stops the job, or fails, half way.
class HalfWay : public MemorySource {
 public:
  HalfWay(std::string text, Job* job) : MemorySource(std::move(text), 65536), job_(job) {}
  Result<std::size_t> Read(std::span<char> buffer) override {
    if (++reads_ == 20) {
      if (job_ == nullptr) return Fail(ErrorCode::kIo, "the disk is gone");
      job_->Stop();
    }
    return MemorySource::Read(buffer);
  }

 private:
  Job* job_;
  int reads_ = 0;
};

TEST_CASE("stopping and failing half way") {
  for (const int threads : {1, 3}) {
    Job job;
    HalfWay stopped(LargeText(), &job);
    auto read = ReadTrace(stopped, {.threads = threads}, job);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::kCancelled);
    Job calm;
    HalfWay failing(LargeText(), nullptr);
    read = ReadTrace(failing, {.threads = threads}, calm);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::kIo);
    CHECK(read.error().message == "the disk is gone");
  }
}

}  // namespace
}  // namespace jarvis::trace
