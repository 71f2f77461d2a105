#include "io/cache_folder.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/string_pool.h"
#include "support/temp_folder.h"

namespace jarvis::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirst = "0123456789abcdef-1f-0123456789ab.trace";
constexpr const char* kSecond = "fedcba9876543210-2a-0123456789ab.trace";
constexpr const char* kStamp = "00000000000000ff.stamp";
constexpr std::string_view kMagic("jarvis trace\0\r\n\x1a", 16);

class CachePlace : public testing::TempFolder {
 public:
  CacheFolder cache() const { return CacheFolder(*this / "cache"); }
  bool Put(const std::string& name, const std::string& text) const {
    const std::span<const std::byte> piece = std::as_bytes(std::span(text));
    return cache().Write(name, std::span(&piece, 1), Job()).has_value();
  }
  std::string Got(const std::string& name) const {
    const CachedBytes read = cache().Read(name);
    return {reinterpret_cast<const char*>(read.bytes().data()), read.bytes().size()};
  }
  std::string Bytes(const std::string& name) const {
    std::ifstream file(*this / ("cache/" + name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Plant(const std::string& name, std::string_view bytes, int hours_old = 48) const {
    fs::create_directories(*this / "cache");
    Write("cache/" + name, bytes);
    const auto now = fs::file_time_type::clock::now();
    fs::last_write_time(*this / ("cache/" + name), now - std::chrono::hours(hours_old));
  }
  std::set<std::string> There() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(*this / "cache"))
      names.insert(entry.path().filename().string());
    return names;
  }
};

TEST_CASE("what was written is read as it was, and by nobody else") {
  const CachePlace place;
  const std::string large(std::size_t{9} << 20, 'x');
  REQUIRE(place.Put(kFirst, large));
  REQUIRE(place.Put(kStamp, "stamp"));
  CHECK((place.Got(kFirst) == large));
  CHECK(place.Got(kStamp) == "stamp");
  CHECK(place.Got(kSecond).empty());
  CHECK(place.Put(kFirst, "other"));
  CHECK(place.Got(kFirst) == "other");
  for (const std::string& name : place.There()) {
    CAPTURE(name);
    CHECK((fs::status(place / ("cache/" + name)).permissions() & fs::perms(0177)) ==
          fs::perms::none);
  }
  CHECK(place.cache().Refusal().empty());
  CHECK(place.cache().Names().size() == 2);
}

TEST_CASE("what was changed, cut or written with another key is not believed") {
  const CachePlace place;
  REQUIRE(place.Put(kFirst, "some text that is long enough"));
  const std::string good = place.Bytes(kFirst);
  for (std::size_t at = 0; at < 32; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    place.Plant(kFirst, bad);
    CAPTURE(at);
    CHECK(place.Got(kFirst).empty());
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{8}, std::size_t{63}, std::size_t{64}, good.size() - 1}) {
    place.Plant(kFirst, good.substr(0, size));
    CHECK(place.Got(kFirst).empty());
    CHECK(place.Put(kFirst, "anew"));  // what is left of a file of ours is ours
    CHECK(place.Got(kFirst) == "anew");
  }
  place.Plant(kFirst, good + "x");
  CHECK(place.Got(kFirst).empty());
  place.Plant(kFirst, good);
  CHECK_FALSE(place.Got(kFirst).empty());
  SUBCASE("another key") {
    fs::remove(place / "cache/.jarvis-cache");
    CHECK(place.Got(kFirst).empty());
    REQUIRE(place.Put(kSecond, "two"));  // makes another
    CHECK(place.Got(kFirst).empty());
    CHECK(place.Got(kSecond) == "two");
  }
  SUBCASE("a key that was cut, or that others could read") {
    const std::string marker = place.Bytes(".jarvis-cache");
    for (const std::string& text :
         {std::string(), marker.substr(0, 40), marker.substr(0, marker.size() - 9)}) {
      place.Plant(".jarvis-cache", text);
      CHECK(place.Got(kFirst).empty());
      CHECK(place.cache().Refusal().empty());
    }
    place.Plant(".jarvis-cache", marker);
    ::chmod((place / "cache/.jarvis-cache").c_str(), 0644);
    CHECK(place.Got(kFirst).empty());
    REQUIRE(place.Put(kFirst, "anew"));
    CHECK(place.Got(kFirst) == "anew");
    CHECK((place.Bytes(".jarvis-cache") != marker));
  }
}

// `written_to`: somebody has the file open to write, so that it is copied instead of mapped.
void CheckStays(std::size_t size, bool written_to,
                const std::function<void(const std::string& path)>& change) {
  const CachePlace place;
  const std::string path = place / (std::string("cache/") + kFirst);
  const std::string text(size, 'y');
  REQUIRE(place.Put(kFirst, text));
  std::fstream writer;
  if (written_to) writer.open(path, std::ios::binary | std::ios::in | std::ios::out);
  const CachedBytes read = place.cache().Read(kFirst);
  const CachedBytes again = place.cache().Read(kFirst);
  CachedBytes gone = place.cache().Read(kFirst);
  gone = CachedBytes();
  change(path);
  for (const CachedBytes* one : {&read, &again}) {
    const auto bytes = one->bytes();
    CHECK((std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == text));
  }
}

TEST_CASE("what was read stays, whatever becomes of the file") {
  for (const std::size_t size : {std::size_t{1000}, std::size_t{6} << 20}) {
    for (const bool written_to : {false, true}) {
      CheckStays(size, written_to, [](const std::string& path) { fs::resize_file(path, 0); });
      CheckStays(size, written_to, [](const std::string& path) { fs::remove(path); });
      CheckStays(size, written_to, [](const std::string& path) {
        std::ofstream(path, std::ios::binary | std::ios::in)
            << std::string(std::size_t{7} << 20, 'j');
      });
    }
  }
}

TEST_CASE("only what has a name and a head of ours is removed") {
  const CachePlace place;
  REQUIRE(place.Put(kFirst, "one"));
  REQUIRE(place.Put(kSecond, "two"));
  REQUIRE(place.Put(kStamp, "three"));
  const std::string ours = place.Bytes(kFirst);
  const std::string temporary = std::string(kFirst) + ".jarvis-0123456789abcdef.tmp";
  // The user's: another name, or another head.
  const std::vector<std::pair<std::string, std::string>> kept = {
      {"notes.txt", "mine"},
      {".bashrc", "mine"},
      {"model.trace", ours},
      {"copy of " + std::string(kFirst), ours},
      {"0123456789ABCDEF-1f-0123456789ab.trace", ours},
      {"0123456789abcdef-1f-0123456789ab.trace.bak", ours},
      {"1111111111111111-10-0123456789ab.trace", "my own trace"},
      {"2222222222222222-10-0123456789ab.trace", ""},
      {"3333333333333333-10-0123456789ab.trace", "jarvis trace"},
      {"4444444444444444.stamp", "mine"},
      {"notes.txt.jarvis-0123456789abcdef.tmp", ours},
      {std::string(kSecond) + ".jarvis-0123456789abcdef.tmp", "mine"}};
  for (const auto& [name, text] : kept)
    place.Plant(name, text);
  fs::create_directory(place / "cache/5555555555555555.stamp");
  fs::create_symlink("notes.txt", place / "cache/6666666666666666.stamp");
  REQUIRE(::mkfifo((place / "cache/7777777777777777.stamp").c_str(), 0600) == 0);
  place.Plant(temporary, ours, 0);
  SUBCASE("below the limit nothing is") {
    place.cache().Shrink(1 << 20);
    CHECK(place.Got(kFirst) == "one");
    CHECK(place.Got(kStamp) == "three");
    CHECK(place.There().contains(temporary));
  }
  SUBCASE("beyond it all of ours, and what was abandoned") {
    place.Plant(temporary, ours);
    place.cache().Shrink(0);
    for (const std::string& name :
         {std::string(kFirst), std::string(kSecond), std::string(kStamp), temporary})
      CHECK_FALSE(place.There().contains(name));
  }
  for (const auto& [name, text] : kept) {
    CAPTURE(name);
    CHECK((place.Bytes(name) == text));
  }
  for (const char* name : {"5555555555555555.stamp", "6666666666666666.stamp",
                           "7777777777777777.stamp", ".jarvis-cache"})
    CHECK(place.There().contains(name));
}

TEST_CASE("a folder of somebody else's is not used and says so") {
  const CachePlace place;
  SUBCASE("files") {
    place.Plant("thesis.tex", "mine");
  }
  SUBCASE("a hidden file") {
    place.Plant(".bashrc", "mine");
  }
  SUBCASE("a directory of a name of ours") {
    fs::create_directories(place / (std::string("cache/") + kFirst));
  }
  SUBCASE("a file of the marker's name") {
    place.Plant(".jarvis-cache", "my notes");
  }
  SUBCASE("a pipe of the marker's name") {
    fs::create_directories(place / "cache");
    REQUIRE(::mkfifo((place / "cache/.jarvis-cache").c_str(), 0600) == 0);
  }
  const std::set<std::string> before = place.There();
  CHECK(place.cache().Refusal().find(*before.begin()) != std::string::npos);
  CHECK(place.cache().Refusal().find("name a directory") != std::string::npos);
  CHECK_FALSE(place.Put(kFirst, "one"));
  CHECK(place.Got(kFirst).empty());
  place.cache().Shrink(0);
  CHECK(place.There() == before);
}

TEST_CASE("rights and kinds of a folder that is not used") {
  const CachePlace place;
  CHECK(place.cache().Refusal().empty());  // nothing is there yet
  CHECK(CacheFolder("").Refusal().empty());
  place.Write("file", "x");
  CHECK(CacheFolder(place / "file").Refusal().find("no directory") != std::string::npos);
  fs::create_directory(place / "cache");
  CHECK(place.cache().Refusal().empty());
  fs::create_symlink(place / "cache", place / "link");
  CHECK(CacheFolder(place / "link").Refusal().find("link") != std::string::npos);
  ::chmod((place / "cache").c_str(), 0777);
  CHECK(place.cache().Refusal().find("chmod") != std::string::npos);
}

TEST_CASE("a folder of an earlier version goes on being ours") {
  const CachePlace place;
  // A head that begins as ours does, and a stamp without a head; its name is its text's hash.
  place.Plant(kFirst, std::string(kMagic) + std::string(200, 'z'));
  const std::string text = "10 20 30 40 /traces/a.json";
  const std::string name = fmt::format("{:016x}.stamp", HashText(text));
  std::string stamp = text + "contents";
  const std::uint64_t hash = HashText(stamp);
  stamp.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  place.Plant(name, stamp);
  place.Plant("8888888888888888.stamp", stamp);
  CHECK(place.cache().Refusal().empty());
  CHECK(place.Got(kFirst).empty());
  REQUIRE(place.Put(kSecond, "two"));
  CHECK(place.Got(kSecond) == "two");
  place.cache().Shrink(0);
  CHECK_FALSE(place.There().contains(kFirst));
  CHECK_FALSE(place.There().contains(name));
  CHECK(place.There().contains("8888888888888888.stamp"));  // not the name of what it holds
}

TEST_CASE("what is no file of ours is neither waited for nor replaced") {
  const CachePlace place;
  REQUIRE(place.Put(kSecond, "two"));
  const std::string pipe = place / (std::string("cache/") + kFirst);
  SUBCASE("a pipe") {
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  }
  SUBCASE("a link") {
    place.Write("elsewhere", kMagic);
    fs::create_symlink(place / "elsewhere", pipe);
  }
  SUBCASE("a user's file") {
    place.Plant(kFirst, "mine");
  }
  const auto kind = fs::symlink_status(pipe).type();
  CHECK(place.Got(kFirst).empty());
  CHECK_FALSE(place.Put(kFirst, "one"));
  CHECK(fs::symlink_status(pipe).type() == kind);
}

TEST_CASE("names of the cache") {
  for (const char* name : {kFirst, kStamp})
    CHECK(CacheFolder::IsName(name));
  for (const char* name :
       {"", ".trace", ".stamp", "0123456789abcdef.trace", "0123456789abcdef-1f.trace",
        "0123456789abcdef-1f-0123456789ab-.trace", "0123456789abcdef--0123456789ab.trace",
        "0123456789abcde-1f-0123456789ab.trace", "0123456789abcdef-1f-0123456789ab",
        "../56789abcdef01.stamp", "0123456789abcdeg.stamp", "00123456789abcdef.stamp"})
    CHECK_FALSE(CacheFolder::IsName(name));
}

}  // namespace
}  // namespace jarvis::io
