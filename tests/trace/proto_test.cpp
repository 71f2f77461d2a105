// The wire format, what a file of it is, shapes of XLA.
#include <string>

#include <doctest/doctest.h>

#include "support/messages.h"
#include "trace/import/hlo/shape.h"
#include "trace/import/proto/tell.h"
#include "trace/import/proto/wire.h"

namespace jarvis {
namespace {

using namespace std::string_literals;
using proto::Cursor;
using proto::Field;

TEST_CASE("fields are read where they lie") {
  const std::string message = "\x08\x96\x01\x12\x02hi\x19\0\0\0\0\0\0\xF0\x3F\x25\x07\0\0\0"s;
  Cursor cursor(message);
  Field field;
  REQUIRE(cursor.Next(&field));
  CHECK(field.IsVarint(1));
  CHECK(field.value == 150);
  REQUIRE(cursor.Next(&field));
  CHECK(field.IsBytes(2));
  CHECK(field.bytes == "hi");
  CHECK(field.bytes.data() == message.data() + 5);
  REQUIRE(cursor.Next(&field));
  CHECK(field.Double() == 1.0);
  REQUIRE(cursor.Next(&field));
  CHECK(field.value == 7);
  CHECK_FALSE(cursor.Next(&field));
  CHECK_FALSE(cursor.broken());
}

TEST_CASE("numbers of any length are read, wherever they end") {
  for (int bits = 0; bits <= 64; ++bits) {
    for (const std::uint64_t less : {0u, 1u, 2u}) {
      const std::uint64_t value = (bits == 64 ? 0 : std::uint64_t{1} << bits) - less;
      const std::string bytes = testing::Varint(value);
      for (const std::string& behind :
           {""s, "\x01"s, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s}) {
        const std::string all = bytes + behind;
        const char* at = all.data();
        std::uint64_t read = 0;
        REQUIRE(proto::ReadVarint(&at, all.data() + all.size(), &read) == nullptr);
        CHECK(read == value);
        CHECK(at == all.data() + bytes.size());
      }
      const char* cut = bytes.data();
      std::uint64_t read = 0;
      CHECK(proto::ReadVarint(&cut, bytes.data() + bytes.size() - 1, &read) != nullptr);
    }
  }
}

TEST_CASE("what a file states is no more than a claim") {
  const std::string broken[] = {
      "\x08"s,                                          // no number
      "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"s,  // above 64 bits
      "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s,
      "\x12\x05hi"s,  // a length beyond the end
      "\x12\xFF\xFF\xFF\xFF\x0F"s,
      "\x00\x01"s,      // field 0
      "\x0B\x0C"s,      // a group
      "\x09\x01\x02"s,  // a double that is cut off
  };
  for (const std::string& message : broken) {
    Cursor cursor(message);
    Field field;
    while (cursor.Next(&field)) {
    }
    CHECK(cursor.broken());
    CHECK(cursor.offset() == 0);
    CHECK(cursor.problem() != "");
  }
  const std::string largest = "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s;
  Cursor cursor(largest);
  Field field;
  REQUIRE(cursor.Next(&field));
  CHECK(field.Signed() == -1);
}

TEST_CASE("repeated numbers come packed or one by one") {
  std::vector<std::int64_t> numbers;
  Field field{.number = 3, .wire = proto::Wire::kBytes, .bytes = "\x01\x96\x01"};
  CHECK(proto::AppendIntegers(field, &numbers));
  CHECK(proto::AppendIntegers({.number = 3, .value = 9}, &numbers));
  CHECK(numbers == std::vector<std::int64_t>{1, 150, 9});
  field.bytes = "\x96";
  CHECK_FALSE(proto::AppendIntegers(field, &numbers));
}

TEST_CASE("files are told apart by their first messages") {
  using proto::FileKind;
  CHECK(proto::TellFile("\x0A\x0D\x08\x01\x12\x09/host:CPU"s) == FileKind::kXspace);
  CHECK(proto::TellFile("\x0A\x06\x40\x05\x50\x01\x5A\x00"s) == FileKind::kPerfetto);
  CHECK(proto::TellFile("\x0A\x09\x0A\x05jit_f\x1A\x00"s) == FileKind::kHlo);
  CHECK(proto::TellFile("\x0A\x0D\xEF\xBF\xBD"s) == FileKind::kConverted);
  for (const std::string& other : {""s, "{\"traceEvents\":["s, "PK\3\4"s, "\x80\x04"s, "\0\0\0"s})
    CHECK(proto::TellFile(other) == FileKind::kOther);
  // The first message may go on behind what is seen of it.
  CHECK(proto::TellFile("\x0A\xFF\x7F\x08\x01\x12\x09/host:CPU\x1A\xF0\x7E"s) == FileKind::kXspace);
}

TEST_CASE("shapes are read from their text") {
  std::string_view text = "bf16[4096,8192]{1,0:T(8,128)(2,1)} %x";
  const auto shape = hlo::TakeShape(&text);
  REQUIRE(shape.has_value());
  CHECK(text == " %x");
  CHECK(hlo::TextOf(*shape) == "bf16[4096,8192]{1,0}");
  CHECK(hlo::BytesOf(*shape) == 4096.0 * 8192 * 2);
  CHECK(hlo::StridesOf(*shape) == std::vector<std::int64_t>{8192, 1});
  for (std::string_view other : {"%x", "bf16", "b16[2]", "f32[-1]", "f32[2", "f32[a]"}) {
    const std::string_view before = other;
    CHECK_FALSE(hlo::TakeShape(&other).has_value());
    CHECK(other == before);
  }
}

TEST_CASE("shapes of other layouts and of tuples") {
  hlo::Shape column{.type = "f32", .dims = {3, 4}, .layout = {0, 1}};
  CHECK(hlo::StridesOf(column) == std::vector<std::int64_t>{1, 3});
  column.layout = {0, 0};
  CHECK(hlo::StridesOf(column).empty());
  const hlo::Shape tuple{.type = "tuple", .parts = {{.type = "f32"}, {.type = "s4", .dims = {8}}}};
  CHECK(hlo::TextOf(tuple) == "(f32[], s4[8])");
  CHECK(hlo::BytesOf(tuple) == 8.0);
  CHECK(hlo::BytesOf({.type = "token"}) == std::nullopt);
}

TEST_CASE("a shape that is nested without end is refused") {
  std::string message = "\x10\x0B";
  for (int depth = 0; depth < 70; ++depth) {
    std::string length(1, static_cast<char>(message.size() % 128 | 128));
    length += static_cast<char>(message.size() / 128);
    message = "\x10\x0D\x22" + length + message;
  }
  CHECK_FALSE(hlo::ReadShape(message).has_value());
}

}  // namespace
}  // namespace jarvis
