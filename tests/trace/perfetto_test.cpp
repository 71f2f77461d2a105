// Packets of Perfetto: what the annotations of their events say.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/messages.h"
#include "trace/import/perfetto/packets.h"
#include "trace/import/perfetto/slices.h"

namespace jarvis::trace::perfetto {
namespace {

using testing::Bytes;
using testing::Number;

std::string Note(std::uint64_t key, std::uint64_t value) {
  return Bytes(4, Number(1, key) + Number(3, value));
}
std::string Note(std::string_view key, std::string_view text) {
  return Bytes(4, Bytes(10, key) + Bytes(6, text));
}
std::string Interned(std::uint32_t table, std::uint64_t id, std::string_view text) {
  return Bytes(12, Bytes(table, Number(1, id) + Bytes(2, text)));
}
constexpr std::uint32_t kKeys = 3;

class MadeTrace {
 public:
  // `first`: what stands before the event in its packet.
  MadeTrace& Slice(const std::string& annotations, const std::string& first = "",
                   const std::string& at_end = "") {
    Event(1, annotations, first);
    return Event(2, at_end, "");
  }
  struct Read {
    std::int64_t begin, end, correlation;
    std::string args;
    bool operator==(const Read&) const = default;
  };
  std::vector<Read> Slices() const {
    const Packets packets = ReadPackets(bytes_);
    const perfetto::Slices slices = NestSlices(packets);
    std::vector<Read> all;
    for (const perfetto::Slice& slice : slices.slices) {
      const StringId args = slices.KindOf(slice, packets).all;
      all.push_back({slice.begin_ns, slice.end_ns, slice.correlation,
                     args == kNoString ? "" : std::string(packets.texts[args])});
    }
    return all;
  }

 private:
  MadeTrace& Event(std::uint64_t type, const std::string& annotations, const std::string& first) {
    const std::string event = Number(9, type) + Number(11, 5) + annotations;
    bytes_ += Bytes(1, Number(8, ++time_) + Number(10, 1) + first + Bytes(11, event));
    return *this;
  }

  std::string bytes_;
  std::uint64_t time_ = 100;
};

std::string Keys() {
  return Number(13, 1) + Interned(kKeys, 1, "begin_ns") + Interned(kKeys, 2, "end_ns") +
         Interned(kKeys, 3, "debug.corr_id") + Interned(kKeys, 4, "tid");
}

TEST_CASE("what events say for themselves is theirs, the rest of all that say it") {
  const auto said = [](std::uint64_t begin, std::uint64_t id, std::uint64_t tid) {
    return Note(1, begin) + Note(2, begin + 9) + Note(4, tid) + Note(3, id);
  };
  const auto slices = MadeTrace()
                          .Slice(said(10, 7, 1), Keys())
                          .Slice(said(30, 8, 1))
                          .Slice(said(50, 9, 2))
                          .Slice(said(70, 7, 1), "", Note(3, 11) + Note("note", "late"))
                          .Slice("")
                          .Slices();
  using Read = MadeTrace::Read;
  CHECK(slices == std::vector<Read>{{10, 19, 7, "\"tid\": 1,"},
                                    {30, 39, 8, "\"tid\": 1,"},
                                    {50, 59, 9, "\"tid\": 2,"},
                                    {70, 79, 11, "\"note\": \"late\","},
                                    {109, 110, kAbsent, ""}});
}

TEST_CASE("times and ids that are written otherwise are read in turn") {
  const auto slices = MadeTrace()
                          .Slice(Note(1, 10) + Note("end_ns", "25") + Note(3, 4), Keys())
                          .Slice(Note(1, 10) + Note(2, 25) + Note("corr_id", "none"))
                          .Slice(Note(3, 4) + Note("correlation", "6"))
                          .Slice(Note("correlation", "6") + Note(3, 4))
                          .Slice(Bytes(4, Number(3, 12) + Number(1, 3)))
                          .Slice(Bytes(4, Number(1, 3) + Number(3, 12) + Number(1, 4)))
                          .Slices();
  using Read = MadeTrace::Read;
  CHECK(slices == std::vector<Read>{{10, 25, 4, ""},
                                    {10, 25, kAbsent, "\"corr_id\": \"none\","},
                                    {105, 106, 6, "\"correlation\": \"6\","},
                                    {107, 108, 4, "\"correlation\": \"6\","},
                                    {109, 110, 12, ""},
                                    {111, 112, kAbsent, "\"tid\": 12,"}});
}

TEST_CASE("equal bytes say something else when their ids do") {
  const auto slices = MadeTrace()
                          .Slice(Note(9, 1), Keys())
                          .Slice(Note(9, 1), Interned(kKeys, 9, "late"))
                          .Slice(Note(9, 1), Number(13, 1) + Interned(kKeys, 9, "other"))
                          .Slice(Note(9, 1), Interned(kKeys, 9, "again"))
                          .Slice(Note(9, 1), Interned(kKeys, 9, "corr_id"))
                          .Slices();
  REQUIRE(slices.size() == 5);
  CHECK(slices[0].args == "\"iid:9\": 1,");
  CHECK(slices[1].args == "\"late\": 1,");
  CHECK(slices[2].args == "\"other\": 1,");
  CHECK(slices[3].args == "\"again\": 1,");
  CHECK(slices[4].args.empty());
  CHECK(slices[4].correlation == 1);
}

TEST_CASE("events that all say something of their own are read as others") {
  MadeTrace trace;
  constexpr std::uint64_t kSlices = 5000;
  for (std::uint64_t i = 0; i < kSlices; ++i)
    trace.Slice(Note(4, i) + Note(3, i + 1), i == 0 ? Keys() : "");
  trace.Slice(Note(4, 3) + Note(3, 1));
  const auto slices = trace.Slices();
  REQUIRE(slices.size() == kSlices + 1);
  CHECK(slices[4999].args == "\"tid\": 4999,");
  CHECK(slices[4999].correlation == 5000);
  CHECK(slices[5000].args == "\"tid\": 3,");
  CHECK(slices[5000].correlation == 1);
}

TEST_CASE("interned texts are found wherever their ids lie") {
  InternedTexts texts;
  constexpr std::uint64_t kFar = std::uint64_t{1} << 63;
  CHECK_FALSE(texts.Set(kFar, "far"));
  CHECK_FALSE(texts.Set(30, "thirty"));
  for (std::uint64_t id = 0; id < 40; ++id)
    texts.Set(id, std::string_view("abcdefgh").substr(0, id % 8));
  CHECK(texts.Find(kFar)->text == "far");
  CHECK(texts.Find(30)->text == "abcdef");
  CHECK(texts.Set(30, "other"));
  CHECK(texts.Find(30)->text == "other");
  CHECK_FALSE(texts.Set(30, "other"));
  CHECK(texts.Find(41) == nullptr);
  texts.Clear();
  CHECK(texts.Find(kFar) == nullptr);
  CHECK(texts.Find(3) == nullptr);
}

}  // namespace
}  // namespace jarvis::trace::perfetto
