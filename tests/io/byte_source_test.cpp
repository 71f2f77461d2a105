#include "io/byte_source.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <zlib.h>

#include "io/atomic_file.h"
#include "io/gzip_file.h"
#include "support/temp_folder.h"

namespace jarvis::io {
namespace {

using testing::TempFolder;

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
}

std::string Gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

struct Content {
  std::string text;
  std::string damage;
  bool compressed = false;
  std::uint64_t hash = 0;
};

Content ReadAll(const std::string& path, std::size_t piece = 1000) {
  auto source = OpenBytes(path);
  REQUIRE(source.has_value());
  Content content;
  std::string buffer(piece, '\0');
  for (;;) {
    const auto got = (*source)->Read(buffer);
    REQUIRE(got.has_value());
    if (*got == 0) break;
    content.text.append(buffer, 0, *got);
  }
  content.damage = (*source)->damage();
  content.compressed = (*source)->compressed();
  content.hash = (*source)->content_hash();
  return content;
}

// Text that does not compress away.
std::string Text(std::size_t bytes) {
  std::string text;
  std::uint32_t x = 1;
  while (text.size() < bytes)
    text += std::to_string(x = x * 1664525u + 1013904223u) + ",";
  text.resize(bytes);
  return text;
}

TEST_CASE("plain and gzip files are told apart by content") {
  const TempFolder folder;
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{999}, std::size_t{1000000}}) {
    const std::string text = Text(bytes);
    CAPTURE(bytes);
    Write(folder / "a.json.gz", text);
    Content content = ReadAll(folder / "a.json.gz");
    CHECK(content.text == text);
    CHECK_FALSE(content.compressed);
    Write(folder / "b.json", Gzip(text));
    content = ReadAll(folder / "b.json");
    CHECK(content.text == text);
    CHECK(content.compressed);
    CHECK(content.damage == "");
  }
}

TEST_CASE("several gzip members are one text") {
  const TempFolder folder;
  const std::string text = Text(500000);
  Write(folder / "a", Gzip(text.substr(0, 1)) + Gzip("") + Gzip(text.substr(1, 200000)) +
                          Gzip(text.substr(200001)));
  for (const std::size_t piece : {std::size_t{7}, std::size_t{1} << 20}) {
    const Content content = ReadAll(folder / "a", piece);
    CHECK(content.text == text);
    CHECK(content.damage == "");
  }
}

TEST_CASE("a damaged gzip file gives what came before the damage") {
  const TempFolder folder;
  const std::string text = Text(300000);
  const std::string whole = Gzip(text);
  for (const std::size_t cut : {std::size_t{3}, std::size_t{12}, whole.size() / 2, whole.size() - 9,
                                whole.size() - 8, whole.size() - 1}) {
    CAPTURE(cut);
    Write(folder / "cut", whole.substr(0, cut));
    const Content content = ReadAll(folder / "cut");
    CHECK(content.text == text.substr(0, content.text.size()));
    CHECK(content.damage != "");
    if (cut >= whole.size() - 8) CHECK(content.text.size() == text.size());
  }
  std::string wrong_sum = whole;
  wrong_sum[whole.size() - 8] = static_cast<char>(wrong_sum[whole.size() - 8] ^ 1);
  Write(folder / "crc", wrong_sum);
  CHECK(ReadAll(folder / "crc").text == text);
  CHECK(ReadAll(folder / "crc").damage != "");
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(~flipped[whole.size() / 2]);
  Write(folder / "flipped", flipped);
  const Content content = ReadAll(folder / "flipped");
  CHECK(content.damage != "");
  CHECK(content.text.size() > 1000);
}

TEST_CASE("what follows the last gzip member does no harm") {
  const TempFolder folder;
  const std::string text = Text(1000);
  for (const std::string& tail :
       {std::string(512, '\0'), std::string("garbage"), std::string("\x1f")}) {
    Write(folder / "a", Gzip(text) + tail);
    CHECK(ReadAll(folder / "a").text == text);
  }
}

TEST_CASE("the hash is of the file, however it is read") {
  const TempFolder folder;
  const std::string text = Text(400000);
  Write(folder / "plain", text);
  Write(folder / "same", text);
  Write(folder / "other", text + "x");
  Write(folder / "gzip", Gzip(text));
  CHECK(ReadAll(folder / "plain", 10).hash == ReadAll(folder / "same", 100000).hash);
  CHECK(ReadAll(folder / "plain").hash != ReadAll(folder / "other").hash);
  CHECK(ReadAll(folder / "gzip", 10).hash == ReadAll(folder / "gzip", 100000).hash);
  const std::string cut = Gzip(text).substr(0, 1000);
  Write(folder / "cut", cut);
  Write(folder / "cut2", cut + "!");
  CHECK(ReadAll(folder / "cut").hash != ReadAll(folder / "cut2").hash);
}

TEST_CASE("files that cannot be read say why") {
  const TempFolder folder;
  const auto error = [](const std::string& path) {
    const auto opened = OpenBytes(path);
    REQUIRE_FALSE(opened.has_value());
    return opened.error();
  };
  CHECK(error(folder / "missing").code == ErrorCode::kTraceNotFound);
  CHECK(error(folder / "").message.find("director") != std::string::npos);
  Write(folder / "empty", "");
  CHECK(error(folder / "empty").code == ErrorCode::kNotATrace);
  CHECK(error(folder / "empty").message.find("empty") != std::string::npos);
}

TEST_CASE("a file is written whole or not at all") {
  const TempFolder folder;
  const std::string path = folder / "deep/er/file.txt";
  REQUIRE(WriteFileAtomically(path, "one").has_value());
  REQUIRE(WriteFileAtomically(path, "two").has_value());
  CHECK(ReadAll(path).text == "two");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "deep/er")) {
    CHECK(entry.path().filename() == "file.txt");  // nothing left beside it
    ++files;
  }
  CHECK(files == 1);
  const Status over_a_folder = WriteFileAtomically(folder / "deep", "x");
  CHECK_FALSE(over_a_folder.has_value());
  const Status below_a_file = WriteFileAtomically(path + "/below", "x");
  REQUIRE_FALSE(below_a_file.has_value());
  CHECK(below_a_file.error().code == ErrorCode::kIo);
}

TEST_CASE("a gzip file written piece by piece reads back; half of one is not there") {
  TempFolder folder;
  std::string wanted;
  for (int i = 0; i < 50'000; ++i)
    wanted += "event " + std::to_string(i * 7919 % 10'007) + "\n";
  Job job;
  const auto out = OutputFolder::Open(FilePolicy(), folder.path(), job);
  REQUIRE(out.has_value());
  REQUIRE((*out)->Claim({"a.gz", "b.gz"}, false).has_value());
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1000}}) {
    auto file = GzipFile::Create(**out, "a.gz");
    REQUIRE(file.has_value());
    for (std::size_t at = 0; at < wanted.size(); at += piece)
      REQUIRE((*file)->Write(std::string_view(wanted).substr(at, piece)).has_value());
    CHECK((*file)->Write("").has_value());
    REQUIRE((*file)->Close().has_value());
    CHECK((*file)->path() == folder / "a.gz");
    CHECK((*file)->bytes() == std::filesystem::file_size(folder / "a.gz"));
    const Content content = ReadAll(folder / "a.gz");
    CHECK(content.compressed);
    CHECK(content.damage.empty());
    const bool same = content.text == wanted;
    CHECK(same);
  }
  {
    auto file = GzipFile::Create(**out, "b.gz");
    REQUIRE(file.has_value());
    CHECK((*file)->Write(wanted).has_value());
  }
  // a.gz and the list of our files.
  CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 2);
}

// What a source has left, in pieces.
std::string RestOf(ByteSource& source, std::size_t piece) {
  std::string rest;
  std::string buffer(piece, '\0');
  for (;;) {
    const auto got = source.Read(buffer);
    REQUIRE(got.has_value());
    if (*got == 0) return rest;
    rest.append(buffer, 0, *got);
  }
}

TEST_CASE("reading goes on from every marked place, whatever the container") {
  const TempFolder folder;
  const std::string text = Text(700'000);
  Write(folder / "plain", text);
  Write(folder / "one", Gzip(text));
  std::string members;
  for (std::size_t at = 0; at < text.size(); at += 100'000)
    members += Gzip(text.substr(at, 100'000));
  Write(folder / "many", members);
  for (const char* name : {"plain", "one", "many"}) {
    for (const std::size_t piece : {std::size_t{50}, std::size_t{33'333}, std::size_t{262'144}}) {
      CAPTURE(name);
      CAPTURE(piece);
      auto source = OpenBytes(folder / name);
      REQUIRE(source.has_value());
      std::string buffer(piece, '\0');
      std::size_t read = 0;
      for (int i = 0; i < 20; ++i) {
        const auto point = (*source)->Mark();
        REQUIRE(point != nullptr);
        CHECK(point->MemoryBytes() < 100'000);
        auto again = point->Open(FilePolicy().OpenInput(folder / name).value());
        REQUIRE(again.has_value());
        CHECK((*again)->consumed() <= (*source)->consumed());
        CHECK(RestOf(**again, 10'000) == text.substr(read));
        CHECK((*again)->damage().empty());
        const auto got = (*source)->Read(buffer);
        REQUIRE(got.has_value());
        read += *got;
        if (read == text.size()) break;
      }
    }
  }
}

TEST_CASE("damage behind a marked place is told as if all had been read") {
  const TempFolder folder;
  std::string bytes = Gzip(Text(700'000));
  bytes[bytes.size() - 5] ^= 1;  // of the checksum
  Write(folder / "a", bytes);
  auto source = OpenBytes(folder / "a");
  REQUIRE(source.has_value());
  std::string buffer(100'000, '\0');
  REQUIRE((*source)->Read(buffer).has_value());
  const auto point = (*source)->Mark();
  auto again = point->Open(FilePolicy().OpenInput(folder / "a").value());
  REQUIRE(again.has_value());
  RestOf(**again, 10'000);
  RestOf(**source, 10'000);
  CHECK((*again)->damage().find("checksum mismatch") != std::string::npos);
  CHECK((*again)->damage() == (*source)->damage());
}

}  // namespace
}  // namespace jarvis::io
