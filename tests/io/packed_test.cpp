// Packed files and archives as bytes, and what hostile ones come to.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

#include "base/limits.h"
#include "io/archive.h"
#include "io/byte_source.h"
#include "io/packing.h"
#include "support/temp_folder.h"

namespace jarvis::io {
namespace {

using testing::TempFolder;

struct Member {
  std::string name;
  std::string bytes;
  std::string link = {};  // a symbolic one
};

// What libarchive writes in that format, packed by that filter.
std::string Archived(int format, int filter, const std::vector<Member>& members,
                     const char* options = nullptr) {
  std::string out(std::size_t{8} << 20, '\0');
  std::size_t used = 0;
  ::archive* to = ::archive_write_new();
  REQUIRE(::archive_write_set_format(to, format) == ARCHIVE_OK);
  REQUIRE(::archive_write_add_filter(to, filter) == ARCHIVE_OK);
  if (options != nullptr) {
    REQUIRE(::archive_write_set_options(to, options) == ARCHIVE_OK);
    REQUIRE(::archive_write_set_passphrase(to, "secret") == ARCHIVE_OK);
  }
  REQUIRE(::archive_write_open_memory(to, out.data(), out.size(), &used) == ARCHIVE_OK);
  for (const Member& member : members) {
    ::archive_entry* entry = ::archive_entry_new();
    ::archive_entry_set_pathname(entry, member.name.c_str());
    ::archive_entry_set_perm(entry, 0644);
    ::archive_entry_set_filetype(entry, member.link.empty() ? AE_IFREG : AE_IFLNK);
    if (member.link.empty()) {
      ::archive_entry_set_size(entry, static_cast<la_int64_t>(member.bytes.size()));
    } else {
      ::archive_entry_set_symlink(entry, member.link.c_str());
    }
    REQUIRE(::archive_write_header(to, entry) >= ARCHIVE_WARN);  // of letters in this locale
    if (member.link.empty()) ::archive_write_data(to, member.bytes.data(), member.bytes.size());
    ::archive_entry_free(entry);
  }
  REQUIRE(::archive_write_close(to) == ARCHIVE_OK);
  ::archive_write_free(to);
  out.resize(used);
  return out;
}

std::string Zip(const std::vector<Member>& members) {
  return Archived(ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE, members);
}

std::string Tar(const std::vector<Member>& members, int filter = ARCHIVE_FILTER_NONE) {
  return Archived(ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, filter, members);
}

std::string Stream(int filter, const std::string& bytes) {
  return Archived(ARCHIVE_FORMAT_RAW, filter, {{"data", bytes}});
}

struct Bytes {
  std::string text;
  std::string damage;
  std::uint64_t hash = 0;
};

Result<Bytes> ReadPacked(const std::string& given, std::size_t piece = 1000) {
  JV_ASSIGN(auto source, OpenBytes(given));
  Bytes read;
  std::string buffer(piece, '\0');
  for (;;) {
    JV_ASSIGN(const std::size_t got, source->Read(buffer));
    if (got == 0) break;
    read.text.append(buffer, 0, got);
  }
  read.damage = source->damage();
  read.hash = source->content_hash();
  return read;
}

std::string Numbers(std::size_t bytes) {
  std::string text = "{\"a\":[";
  for (std::uint32_t x = 1; text.size() < bytes;)
    text += std::to_string(x = x * 1664525u + 1013904223u) + ",";
  return text + "0]}";
}

std::string Utf16(const std::u16string& text, bool big) {
  std::string out;
  for (const char16_t unit : u"\xFEFF" + text) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xFF);
    out += {big ? high : low, big ? low : high};
  }
  return out;
}

std::vector<std::string> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  const auto file = FilePolicy().OpenInput(path);
  const auto look = LookAt(*file, 0);
  REQUIRE(look->archive());
  const auto damage = VisitArchive(*file, look->layers, nullptr, 16,
                                   [&](const ArchiveMember& one) { names.push_back(one.name); });
  CHECK(damage == "");
  return names;
}

TEST_CASE("every packing gives the same text, one inside another too") {
  const TempFolder folder;
  const std::string text = Numbers(700'000);
  const std::map<std::string, int> filters = {{"gzip", ARCHIVE_FILTER_GZIP},
                                              {"zstd", ARCHIVE_FILTER_ZSTD},
                                              {"xz", ARCHIVE_FILTER_XZ},
                                              {"bzip2", ARCHIVE_FILTER_BZIP2},
                                              {"lz4", ARCHIVE_FILTER_LZ4}};
  for (const auto& [name, filter] : filters) {
    CAPTURE(name);
    const std::string packed = Stream(filter, text);
    for (const std::string& bytes :
         {packed, Stream(ARCHIVE_FILTER_GZIP, packed), Tar({{"a", text}}, filter),
          Tar({{"a", packed}}), Zip({{"a", packed}}), Stream(filter, Zip({{"a", packed}}))}) {
      const std::string path = folder.Write("packed", bytes);
      for (const std::size_t piece : {std::size_t{333}, std::size_t{1} << 20}) {
        const auto read = ReadPacked(path, piece);
        REQUIRE(read.has_value());
        CHECK(read->text == text);
        CHECK(read->damage == "");
        CHECK(read->hash == HashOf(*FilePolicy().OpenInput(path)));
      }
    }
  }
}

TEST_CASE("text in UTF-16 is read as UTF-8, half a pair as a mark") {
  const TempFolder folder;
  const std::u16string text = u"{\"ä\": \"\xD83D\xDE80 \xD83D!\xDE80\"}";
  const std::string utf8 = "{\"ä\": \"\xF0\x9F\x9A\x80 \xEF\xBF\xBD!\xEF\xBF\xBD\"}";
  for (const bool big : {false, true}) {
    const std::string path = folder.Write("text", Utf16(text, big));
    CHECK(ReadPacked(path, 1)->text == utf8);
    CHECK(ReadPacked(folder.Write("z", Stream(ARCHIVE_FILTER_GZIP, Utf16(text, big))))->text ==
          utf8);
  }
  const auto cut = ReadPacked(folder.Write("cut", Utf16(text, true) + "{"));
  CHECK(cut->text == utf8);
  CHECK(cut->damage != "");
}

TEST_CASE("what only looks packed is plain") {
  const TempFolder folder;
  for (const std::string bytes :
       {"BZh is no archive", "BZh91AY", "PK", "\xFF", "\x28\xB5\x2F", "ustar at the begin"}) {
    CHECK(TellPacking(bytes) == Packing::kNone);
    CHECK(ReadPacked(folder.Write("plain", bytes))->text == bytes);
  }
}

TEST_CASE("a packed file can be read again from its begin, and from there alone") {
  const TempFolder folder;
  const std::string text = Numbers(10'000);
  const std::string path = folder.Write("a.zip", Zip({{"x", "no"}, {"a.json", text}}));
  auto source = OpenBytes(path + "#a.json");
  REQUIRE(source.has_value());
  const auto point = (*source)->Mark();
  REQUIRE(point != nullptr);
  std::string buffer(100, '\0');
  REQUIRE((*source)->Read(buffer).value() == 100);
  CHECK((*source)->Mark() == nullptr);
  auto again = point->Open(*FilePolicy().OpenInput(path + "#a.json"));
  REQUIRE(again.has_value());
  CHECK((*again)->Read(buffer).value() == 100);
  CHECK(buffer == text.substr(0, 100));
}

TEST_CASE("files of an archive are named behind a mark, and their names are never paths") {
  const TempFolder folder;
  folder.Write("secret", "not in the archive");
  const std::vector<Member> members = {{"../secret", "one"},    {"/etc/passwd", "two"},
                                       {"a/b#c.json", "three"}, {"link", "", "/etc/passwd"},
                                       {"a/b#c.json", "again"}, {"ü.json", "four"}};
  for (const std::string& bytes : {Zip(members), Tar(members), Tar(members, ARCHIVE_FILTER_GZIP)}) {
    const std::string path = folder.Write("some#.zip", bytes);
    CHECK(NamesIn(path) ==
          std::vector<std::string>{"../secret", "/etc/passwd", "a/b#c.json", "ü.json"});
    CHECK(ReadPacked(path + "#../secret")->text == "one");
    CHECK(ReadPacked(path + "#/etc/passwd")->text == "two");
    CHECK(ReadPacked(path + "#a/b#c.json")->text == "three");
    CHECK(ReadPacked(path + "#ü.json")->text == "four");
    CHECK(ReadPacked(path + "#../secret")->hash != ReadPacked(path + "#/etc/passwd")->hash);
    CHECK(ReadPacked(path + "#link").error().code == ErrorCode::kTraceNotFound);
    CHECK(ReadPacked(path + "#nothing").error().code == ErrorCode::kTraceNotFound);
    CHECK(ReadPacked(path + "#").error().code == ErrorCode::kTraceNotFound);
    CHECK(ReadPacked(path).error().code == ErrorCode::kNotATrace);  // which of them?
  }
  // A file of that very name counts first; a mark behind a plain file means nothing.
  CHECK(ReadPacked(folder.Write("some#.zip#x", "plain"))->text == "plain");
  CHECK(ReadPacked(folder / "secret#x").error().code == ErrorCode::kTraceNotFound);
}

TEST_CASE("an encrypted file is said to be one") {
  const TempFolder folder;
  const std::string path =
      folder.Write("a.zip", Archived(ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE,
                                     {{"a.json", Numbers(1000)}}, "zip:encryption=traditional"));
  const auto read = ReadPacked(path + "#a.json");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().message.find("encrypted") != std::string::npos);
}

TEST_CASE("a cut or changed file gives what can be had and says so, or one error") {
  const TempFolder folder;
  const std::string text = Numbers(200'000);
  for (const std::string& whole :
       {Zip({{"a", text}}), Tar({{"a", text}}), Tar({{"a", text}}, ARCHIVE_FILTER_GZIP),
        Stream(ARCHIVE_FILTER_ZSTD, text), Stream(ARCHIVE_FILTER_XZ, text),
        Stream(ARCHIVE_FILTER_BZIP2, text), Zip({{"a", Stream(ARCHIVE_FILTER_GZIP, text)}})}) {
    for (std::size_t i = 1; i < 20; ++i) {
      const std::size_t at = whole.size() * i / 20;
      CAPTURE(at);
      const auto cut = ReadPacked(folder.Write("cut", whole.substr(0, at)));
      if (cut && cut->text != text) {
        // The head of a file may be too short to tell what it is.
        CHECK((at < 512 || (cut->damage != "" && text.starts_with(cut->text))));
      }
      if (!cut) CHECK(cut.error().message != "");
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      const auto other = ReadPacked(folder.Write("changed", changed));
      if (!other) CHECK(other.error().message != "");
    }
  }
}

TEST_CASE("traps end at a limit, before and behind the file that is meant") {
  const TempFolder folder;
  const std::string zeros(std::size_t{4} << 20, '\0');
  std::string bomb = zeros;
  for (int i = 0; i < 2; ++i)
    bomb = Stream(ARCHIVE_FILTER_GZIP, bomb);
  std::string packed;
  for (int i = 0; i < 200; ++i)
    packed += Stream(ARCHIVE_FILTER_ZSTD, zeros);  // frames one after the other: 800 MB
  const auto frames = ReadPacked(folder.Write("frames.zst", packed), std::size_t{1} << 20);
  REQUIRE_FALSE(frames.has_value());
  CHECK(frames.error().code == ErrorCode::kTooLarge);
  CHECK(ReadPacked(folder.Write("small.gz", bomb), std::size_t{1} << 20)->text == zeros);
}

TEST_CASE("a file that is packed again and again is refused") {
  const TempFolder folder;
  std::string bytes = "{}";
  for (int i = 0; i < 5; ++i)
    bytes = Stream(ARCHIVE_FILTER_GZIP, bytes);
  CHECK(ReadPacked(folder.Write("five", bytes))->text == "{}");
  const auto six = ReadPacked(folder.Write("six", Stream(ARCHIVE_FILTER_GZIP, bytes)));
  REQUIRE_FALSE(six.has_value());
  CHECK(six.error().code == ErrorCode::kNotATrace);
}

}  // namespace
}  // namespace jarvis::io
