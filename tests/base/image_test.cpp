#include "base/image.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <doctest/doctest.h>

#include "base/build_id.h"
#include "base/string_pool.h"

namespace jarvis {
namespace {

struct Parts {
  int number = 0;
  Column<std::uint64_t> column;
  std::vector<std::uint16_t> values;
  std::string text;
  std::vector<std::string_view> texts;
  std::unordered_map<std::uint32_t, double> map;
  StringPool pool;

  template <typename Self, typename Image>
  static void EachPart(Self& self, Image& image) {
    image(self.number);
    image(self.column);
    image(self.values);
    image(self.text);
    image(self.texts);
    image(self.map);
    StringPool::EachPart(self.pool, image);
  }
};

void Fill(Parts* parts) {
  parts->number = -7;
  for (std::uint64_t i = 0; i < 1000; ++i)
    parts->column.push_back(i * i);
  parts->values = {1, 2, 65535};
  parts->text = "a text\nof two lines";
  parts->texts = {"", "one", "two"};
  parts->map = {{3, 0.5}, {70000, -1}};
  for (const char* text : {"aten::mm", "", "gemm"})
    parts->pool.Intern(text);
}

// Aligned as a mapping is.
class Bytes {
 public:
  explicit Bytes(const ImageWriter& writer) : size_(writer.bytes()) {
    data_ = static_cast<std::byte*>(std::aligned_alloc(64, (size_ + 64) / 64 * 64));
    std::size_t at = 0;
    for (const auto piece : writer.pieces()) {
      std::memcpy(data_ + at, piece.data(), piece.size());
      at += piece.size();
    }
    REQUIRE(at == size_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { std::free(data_); }
  std::span<std::byte> span() { return {data_, size_}; }

 private:
  std::byte* data_;
  std::size_t size_;
};

TEST_CASE("what was written as an image is read from it") {
  Parts written;
  Fill(&written);
  ImageWriter writer;
  Parts::EachPart(static_cast<const Parts&>(written), writer);
  Bytes bytes(writer);
  Parts read;
  ImageReader reader(bytes.span());
  Parts::EachPart(read, reader);
  CHECK(reader.good());
  CHECK(reader.at_end());
  CHECK(read.number == -7);
  REQUIRE(read.column.size() == 1000);
  CHECK(read.column[999] == 999 * 999);
  CHECK(read.values == written.values);
  CHECK(read.text == written.text);
  CHECK(read.texts == written.texts);
  CHECK(read.map == written.map);
  REQUIRE(read.pool.size() == 3);
  CHECK(read.pool[2] == "gemm");
  CHECK(read.pool.Find("aten::mm") == 0);
  CHECK(read.pool.Find("nothing") == kNoString);
}

TEST_CASE("what lies in an image is copied before it changes") {
  Parts written;
  Fill(&written);
  ImageWriter writer;
  Parts::EachPart(static_cast<const Parts&>(written), writer);
  Bytes bytes(writer);
  const std::vector<std::byte> before(bytes.span().begin(), bytes.span().end());
  {
    Parts read;
    ImageReader reader(bytes.span());
    Parts::EachPart(read, reader);
    read.column.push_back(5);
    CHECK(read.column.size() == 1001);
    CHECK(read.column[1000] == 5);
    CHECK(read.column[10] == 100);
    for (int i = 0; i < 5000; ++i)
      read.pool.Intern("text " + std::to_string(i));
    CHECK(read.pool.Find("gemm") == 2);
    CHECK(read.pool.Find("text 4999") == 5002);
  }
  CHECK(std::equal(before.begin(), before.end(), bytes.span().begin()));
}

TEST_CASE("an image that ends too soon gives nothing and reads nothing beyond it") {
  Parts written;
  Fill(&written);
  ImageWriter writer;
  Parts::EachPart(static_cast<const Parts&>(written), writer);
  Bytes bytes(writer);
  for (std::size_t size = 0; size < bytes.span().size(); size += 61) {
    Parts read;
    ImageReader reader(bytes.span().first(size));
    Parts::EachPart(read, reader);
    CHECK_FALSE(reader.good());
  }
}

TEST_CASE("a program knows which build it is") {
  const std::string id = BuildId();
  CHECK(id.size() >= 16);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
}

}  // namespace
}  // namespace jarvis
