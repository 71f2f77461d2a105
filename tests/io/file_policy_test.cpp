#include "io/file_policy.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/byte_source.h"
#include "io/input_folder.h"
#include "io/text_file.h"
#include "support/temp_folder.h"

namespace jarvis::io {
namespace {

namespace fs = std::filesystem;

// in/ is allowed, out/ is written to, secret/ is neither.
class Place : public testing::TempFolder {
 public:
  Place() {
    for (const char* folder : {"in", "in/deep", "out", "secret"})
      fs::create_directory(*this / folder);
    Write("in/a.json", "a");
    Write("in/deep/b.json", "b");
    Write("secret/s.json", "secret");
    fs::create_symlink(*this / "secret", *this / "in/folder_link");
    fs::create_symlink(*this / "secret/s.json", *this / "in/file_link");
    fs::create_symlink(*this / "secret/none.json", *this / "in/dangling_link");
    fs::create_symlink("../in/deep/../a.json", *this / "in/good_link");
    fs::create_symlink("loop", *this / "in/loop");
  }
  FilePolicy Policy() const {
    auto policy = FilePolicy::Limit({{*this / "in"}, *this / "out"});
    REQUIRE(policy.has_value());
    return *policy;
  }
};

std::string Text(const FilePolicy& policy, const std::string& given) {
  const auto text = ReadTextFile(policy, given, 1000);
  REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().message));
  return *text;
}

Error Refused(const FilePolicy& policy, const std::string& given) {
  const auto opened = policy.OpenInput(given);
  REQUIRE_FALSE(opened.has_value());
  return opened.error();
}

TEST_CASE("inputs below a root are read, however they are written") {
  const Place place;
  const FilePolicy policy = place.Policy();
  for (const std::string& given :
       {place / "in/a.json", place / "in/./deep/../a.json", place / "in//a.json",
        place / "out/../in/a.json", place / "in/good_link", "file://" + (place / "in/a.json"),
        std::string("a.json"), std::string("./deep/../a.json")}) {
    CAPTURE(given);
    CHECK(Text(policy, given) == "a");
  }
  CHECK(policy.OpenInput("a.json")->path == place / "in/a.json");
  CHECK(policy.OpenInput("a.json")->given == "a.json");
}

TEST_CASE("nothing outside is read, and nobody learns what is there") {
  const Place place;
  const FilePolicy policy = place.Policy();
  const std::vector<std::string> outside = {place / "secret/s.json",
                                            place / "secret/none.json",
                                            place / "in/../secret/s.json",
                                            "../secret/s.json",
                                            "deep/../../secret/s.json",
                                            place / "in/folder_link/s.json",
                                            place / "in/folder_link",
                                            place / "in/file_link",
                                            place / "in/dangling_link",
                                            place / "in/nothing/../../x",
                                            place / "inside",
                                            "/etc/passwd",
                                            "/proc/self/environ",
                                            place / "in/folder_link/../x",
                                            "/",
                                            "~/x.json"};
  for (const std::string& given : outside) {
    CAPTURE(given);
    const Error error = Refused(policy, given);
    CHECK(error.code == ErrorCode::kNotAllowed);
    CHECK(error.message.find("\"" + given + "\"") == 0);
    CHECK(error.message.find(place / "in") != std::string::npos);
    CHECK(error.hint.find("--allow-root") != std::string::npos);
  }
  // There or not: the same words.
  const auto words = [&](const std::string& given) {
    std::string text = Refused(policy, given).message;
    return text.erase(0, given.size() + 2);
  };
  CHECK(words(place / "secret/s.json") == words(place / "secret/none.json"));
  CHECK(words(place / "in/file_link") == words(place / "in/dangling_link"));
}

TEST_CASE("what is no regular file is refused without waiting") {
  const Place place;
  const FilePolicy policy = place.Policy();
  REQUIRE(::mkfifo((place / "in/pipe").c_str(), 0600) == 0);
  for (const FilePolicy& any : {policy, FilePolicy()}) {
    const Error pipe = Refused(any, place / "in/pipe");
    CHECK(pipe.code == ErrorCode::kNotATrace);
    CHECK(pipe.message.find("not a regular file") != std::string::npos);
    place.Write("in/z.json", "z");
    const Error folder = Refused(any, place / "in");
    CHECK(folder.code == ErrorCode::kNotATrace);
    CHECK(folder.message.find("directory") != std::string::npos);
    CHECK(folder.hint.find("a.json") != std::string::npos);
    CHECK(Refused(any, place / "in/none.json").code == ErrorCode::kTraceNotFound);
    CHECK(Refused(any, place / "in/a.json/below").code == ErrorCode::kTraceNotFound);
    CHECK_FALSE(OpenBytes(place / "in/pipe").has_value());
  }
  CHECK(Refused(FilePolicy(), "/dev/zero").message.find("not a regular") != std::string::npos);
  CHECK_FALSE(policy.OpenInput("loop").has_value());
  const auto everything = FilePolicy::Limit({{"/"}, ""});
  REQUIRE(everything.has_value());
  CHECK(Refused(*everything, "/dev/zero").code == ErrorCode::kNotATrace);
  CHECK(Refused(*everything, "/proc/self/environ").code == ErrorCode::kNotAllowed);
  CHECK(Text(*everything, place / "in/a.json") == "a");
}

TEST_CASE("a directory with one trace stands for it, and with two for neither") {
  const Place place;
  for (const FilePolicy& any : {place.Policy(), FilePolicy()}) {
    fs::remove(place / "in/deep/c.json.gz");
    fs::create_directories(place / "in/deep/capture.json");
    place.Write("in/deep/notes.txt", "n");
    const auto opened = any.OpenTrace(place / "in/deep");
    REQUIRE(opened.has_value());
    CHECK(opened->path == place / "in/deep/b.json");
    CHECK(any.OpenTrace(place / "in/a.json")->path == place / "in/a.json");
    CHECK_FALSE(any.OpenInput(place / "in/deep").has_value());
    place.Write("in/deep/c.json.gz", "c");
    const auto two = any.OpenTrace(place / "in/deep");
    REQUIRE_FALSE(two.has_value());
    CHECK(two.error().hint.find("b.json") != std::string::npos);
  }
  // A name alone is no trace that may be read.
  fs::create_directory(place / "in/links");
  fs::create_symlink(place / "secret/s.json", place / "in/links/s.json");
  CHECK_FALSE(place.Policy().OpenTrace(place / "in/links").has_value());
}

TEST_CASE("paths that are none") {
  const FilePolicy policy = Place().Policy();
  for (const char* address : {"https://example.com/t.json", "http://x/", "s3://bucket/t.json"}) {
    const Error error = Refused(policy, address);
    CHECK(error.code == ErrorCode::kNotAllowed);
    CHECK(error.hint.find("download") != std::string::npos);
    CHECK(Refused(FilePolicy(), address).code == ErrorCode::kNotAllowed);
  }
  CHECK(Refused(policy, std::string("a.json\0/../../x", 15)).code == ErrorCode::kBadValue);
  CHECK(Refused(policy, std::string(5000, 'a')).code == ErrorCode::kBadValue);
  CHECK_FALSE(Refused(policy, "").message.empty());
}

TEST_CASE("a link that is put there between the check and the opening leads nowhere") {
  const Place place;
  const FilePolicy policy = place.Policy();
  const auto file = policy.ResolveInput("a.json");
  const auto below = policy.ResolveInput("deep/b.json");
  REQUIRE(file.has_value());
  REQUIRE(below.has_value());
  fs::remove(place / "in/a.json");
  fs::create_symlink(place / "secret/s.json", place / "in/a.json");
  fs::rename(place / "in/deep", place / "in/gone");
  fs::create_symlink(place / "secret", place / "in/deep");
  place.Write("secret/b.json", "secret");
  const auto opened = policy.OpenResolved("a.json", *file);
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kNotAllowed);
  CHECK_FALSE(policy.OpenResolved("deep/b.json", *below).has_value());
  CHECK_FALSE(policy.OpenResolved("x", place / "secret/s.json").has_value());
}

TEST_CASE("several roots, or none") {
  const Place place;
  const auto two = FilePolicy::Limit({{place / "in/deep", place / "secret"}, ""});
  REQUIRE(two.has_value());
  CHECK(Text(*two, "b.json") == "b");
  CHECK(Text(*two, "s.json") == "secret");  // of the second root
  CHECK(Refused(*two, place / "in/a.json").code == ErrorCode::kNotAllowed);
  CHECK_FALSE(two->may_write());
  const auto none = FilePolicy::Limit({});
  REQUIRE(none.has_value());
  const Error error = Refused(*none, place / "in/a.json");
  CHECK(error.code == ErrorCode::kNotAllowed);
  CHECK(error.hint.find("--allow-root") != std::string::npos);
  CHECK(FilePolicy::Limit({{place / "none"}, ""}).error().code == ErrorCode::kBadValue);
  CHECK(FilePolicy::Limit({{place / "in/a.json"}, ""}).error().code == ErrorCode::kBadValue);
}

TEST_CASE("outputs stay below their root") {
  const Place place;
  const FilePolicy policy = place.Policy();
  fs::create_symlink(place / "secret", place / "out/link");
  CHECK(*policy.ResolveOutput("x") == place / "out/x");
  CHECK(*policy.ResolveOutput("x/../y/") == place / "out/y");
  CHECK(*policy.ResolveOutput(place / "out/x") == place / "out/x");
  CHECK(*policy.ResolveOutput(policy.DefaultOutput("t_1")) == place / "out/t_1");
  for (const std::string& given :
       {place / "in", std::string("../in"), std::string("link"), std::string("link/x"),
        std::string("x/../../secret"), std::string("/tmp"), std::string("~/x")}) {
    CAPTURE(given);
    const auto resolved = policy.ResolveOutput(given);
    REQUIRE_FALSE(resolved.has_value());
    CHECK(resolved.error().code == ErrorCode::kNotAllowed);
    CHECK(resolved.error().message.find(place / "out") != std::string::npos);
    CHECK(resolved.error().hint.find("--output-root") != std::string::npos);
  }
  REQUIRE(policy.OpenOutputFolder(place / "out/new/deep").has_value());
  CHECK(fs::is_directory(place / "out/new/deep"));
  // A link that appears after the check.
  CHECK_FALSE(policy.OpenOutputFolder(place / "out/link/x").has_value());
  CHECK_FALSE(policy.OpenOutputFolder(place / "secret").has_value());
  CHECK_FALSE(fs::exists(place / "secret/x"));
  const auto reader = FilePolicy::Limit({{place / "in"}, ""});
  CHECK(reader->ResolveOutput("x").error().code == ErrorCode::kNotAllowed);
}

TEST_CASE("files below a directory") {
  Place place;
  place.Write("in/rank10.json.gz", "");
  place.Write("in/rank2.json.gz", "");
  place.Write("in/notes.txt", "");
  place.Write("in/.hidden.json", "");
  const FilePolicy policy = place.Policy();
  const auto list = [&](const std::string& folder, int depth) {
    const auto files = policy.ListFolder(folder, {".json", ".json.gz"}, depth, 100);
    REQUIRE(files.has_value());
    std::string text;
    for (const std::string& file : *files)
      text += fs::path(file).lexically_relative(place / "in").string() + " ";
    return text;
  };
  // Links lead nowhere, not even to files that may be read.
  CHECK(list(place / "in", 5) == "a.json deep/b.json rank2.json.gz rank10.json.gz ");
  CHECK(list(place / "in", 0) == "a.json rank2.json.gz rank10.json.gz ");
  CHECK(list(place / "in/a.json", 5).empty());
  CHECK(list(place / "in/none", 5).empty());
  CHECK(policy.ListFolder(place / "secret", {".json"}, 5, 100).error().code ==
        ErrorCode::kNotAllowed);
  CHECK(policy.ListFolder(place / "in/folder_link", {".json"}, 5, 100).error().code ==
        ErrorCode::kNotAllowed);
  CHECK(policy.ListFolder(place / "in", {".json"}, 5, 1).error().code == ErrorCode::kTooLarge);
}

TEST_CASE("names below a directory that is swapped for a link while it is listed stay secret") {
  Place place;
  for (int i = 0; i < 50; ++i)
    place.Write("secret/secret" + std::to_string(i) + ".json", "");
  place.Write("secret/inner.csv", "");
  fs::create_directories(place / "in/lists/below");
  fs::create_symlink(place / "secret", place / "in/other");
  const FilePolicy policy = place.Policy();
  std::atomic<bool> stop{false};
  std::thread swapper([&] {
    while (!stop) {
      ::renameat2(AT_FDCWD, (place / "in/lists/below").c_str(), AT_FDCWD,
                  (place / "in/other").c_str(), RENAME_EXCHANGE);
    }
  });
  const auto leaks = [](const Result<std::vector<std::string>>& files) {
    return files && std::any_of(files->begin(), files->end(), [](const std::string& file) {
             return file.find("secret") != std::string::npos ||
                    file.find("inner") != std::string::npos;
           });
  };
  int leaked = 0;
  for (int i = 0; i < 3000; ++i) {
    leaked += leaks(policy.ListFolder(place / "in/lists", {".json"}, 5, 1000)) ? 1 : 0;
    leaked += leaks(policy.ListFolder(place / "in/lists/below", {".json"}, 5, 1000)) ? 1 : 0;
    leaked += leaks(FilesInFolder(policy, place / "in/lists/below", ".csv", 1000)) ? 1 : 0;
    const auto opened = policy.OpenInput("in/lists/below");
    if (!opened) leaked += opened.error().hint.find("secret") != std::string::npos ? 1 : 0;
  }
  stop = true;
  swapper.join();
  CHECK(leaked == 0);
}

TEST_CASE("a path that was resolved once is opened without a link") {
  const Place place;
  CHECK(ReadUnchangedFile(place / "in/deep/b.json", 10) == "b");
  CHECK_FALSE(ReadUnchangedFile(place / "in/deep", 10).has_value());
  CHECK(ReadUnchangedFile(place / "in/none", 10).error().message.find("not there any more") !=
        std::string::npos);
  CHECK_FALSE(ReadUnchangedFile(place / "in/good_link", 10).has_value());
  fs::rename(place / "in/deep", place / "in/gone");
  fs::create_symlink(place / "secret", place / "in/deep");
  place.Write("secret/b.json", "secret");
  CHECK_FALSE(ReadUnchangedFile(place / "in/deep/b.json", 10).has_value());
}

}  // namespace
}  // namespace jarvis::io
