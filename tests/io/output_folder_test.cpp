#include "io/output_folder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace jarvis::io {
namespace {

namespace fs = std::filesystem;

class OutputPlace : public testing::TempFolder {
 public:
  std::unique_ptr<OutputFolder> Open(const std::string& name = "out") const {
    Job job;
    auto folder = OutputFolder::Open(FilePolicy(), *this / name, job);
    REQUIRE_MESSAGE(folder.has_value(), (folder ? "" : folder.error().message));
    return std::move(*folder);
  }
  // A run of a tool that writes one file.
  Status Run(const std::string& name, const std::string& text, bool overwrite = false) const {
    const auto folder = Open();
    JV_TRY(folder->Claim({name}, overwrite));
    JV_ASSIGN(const std::string path, folder->Write(name, text));
    CHECK(path == *this / ("out/" + name));
    return folder->Commit();
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(*this / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::trunc) << text;
  }
};

TEST_CASE("our own files are replaced, others are not") {
  const OutputPlace place;
  REQUIRE(place.Run("a.csv", "one").has_value());
  REQUIRE(place.Run("a.csv", "two").has_value());
  REQUIRE(place.Run("data/b.json", "three").has_value());
  CHECK(place.Text("out/a.csv") == "two");
  CHECK(place.Text("out/data/b.json") == "three");
  // A user's file.
  place.Write("out/mine.csv", "mine");
  Status refused = place.Run("mine.csv", "x");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kExists);
  CHECK(refused.error().message.find("out/mine.csv") != std::string::npos);
  CHECK(refused.error().hint.find("overwrite") != std::string::npos);
  CHECK(place.Text("out/mine.csv") == "mine");
  // A file of ours that the user changed, in place and in length.
  place.Write("out/a.csv", "twx");
  refused = place.Run("a.csv", "x");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("changed") != std::string::npos);
  CHECK(place.Text("out/a.csv") == "twx");
  REQUIRE(place.Run("a.csv", "new", true).has_value());
  CHECK(place.Text("out/a.csv") == "new");
  REQUIRE(place.Run("a.csv", "newer").has_value());  // ours again
}

TEST_CASE("a file in pieces is the same file, and ours") {
  const OutputPlace place;
  for (int run = 0; run < 2; ++run) {
    const auto folder = place.Open();
    REQUIRE(folder->Claim({"a.csv"}, false).has_value());
    const auto written = folder->Write("a.csv", [&](const AddText& add) {
      add("first,");
      add("");
      add("second");
    });
    REQUIRE(written.has_value());
    CHECK(place.Text("out/a.csv") == "first,second");
    REQUIRE(folder->Commit().has_value());
  }
  place.Write("out/a.csv", "first,secomd");
  CHECK_FALSE(place.Run("a.csv", "x").has_value());  // the user's now
}

TEST_CASE("nothing is written if one file is in the way") {
  const OutputPlace place;
  fs::create_directory(place / "out");
  place.Write("out/b.csv", "mine");
  const auto folder = place.Open();
  CHECK_FALSE(folder->Claim({"a.csv", "b.csv"}, false).has_value());
  CHECK_FALSE(fs::exists(place / "out/a.csv"));
  CHECK_FALSE(fs::exists(place / "out/.jarvis-files"));
}

TEST_CASE("a directory or a link in the way") {
  const OutputPlace place;
  fs::create_directories(place / "out/a.csv");
  for (const bool overwrite : {false, true}) {
    const Status refused = place.Run("a.csv", "x", overwrite);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::kExists);
  }
  place.Write("elsewhere", "mine");
  fs::create_symlink(place / "elsewhere", place / "out/link.csv");
  for (const bool overwrite : {false, true}) {
    const Status refused = place.Run("link.csv", "x", overwrite);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("is a link") != std::string::npos);
    CHECK(place.Text("elsewhere") == "mine");
    CHECK(fs::is_symlink(place / "out/link.csv"));
  }
  // A directory on the way that is a link.
  fs::create_directory(place / "other");
  fs::create_directory_symlink(place / "other", place / "out/data");
  CHECK_FALSE(place.Run("data/b.json", "x").has_value());
  CHECK(fs::is_empty(place / "other"));
  CHECK_FALSE(place.Run("../c.csv", "x").has_value());
  CHECK_FALSE(fs::exists(place / "c.csv"));
}

TEST_CASE("after the user deleted files") {
  const OutputPlace place;
  REQUIRE(place.Run("a.csv", "one").has_value());
  fs::remove(place / "out/a.csv");
  REQUIRE(place.Run("a.csv", "two").has_value());
  fs::remove(place / "out/a.csv");
  REQUIRE(place.Run("b.csv", "two").has_value());
  place.Write("out/a.csv", "mine");  // the user's now
  CHECK_FALSE(place.Run("a.csv", "x").has_value());
  fs::remove_all(place / "out");
  REQUIRE(place.Run("a.csv", "three").has_value());
}

TEST_CASE("what a run that died left is ours") {
  const OutputPlace place;
  {
    const auto folder = place.Open();
    REQUIRE(folder->Claim({"a.csv", "b.csv"}, false).has_value());
    REQUIRE(folder->Write("a.csv", "half").has_value());
  }
  CHECK(place.Run("a.csv", "whole").has_value());
  CHECK(place.Text("out/a.csv") == "whole");
}

// A run that ends before it remembers what it wrote.
void Die(const OutputPlace& place, const std::vector<std::string>& names,
         const std::string& written = "") {
  const auto folder = place.Open();
  REQUIRE(folder->Claim(names, false).has_value());
  if (!written.empty()) REQUIRE(folder->Write(names.front(), written).has_value());
}

TEST_CASE("what a user puts where a run died before it wrote is the user's") {
  const OutputPlace place;
  REQUIRE(place.Run("old.csv", "one").has_value());
  Die(place, {"a.csv", "b.csv", "old.csv"}, "half");
  place.Write("out/b.csv", "mine");
  const Status refused = place.Run("b.csv", "x");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kExists);
  CHECK(place.Text("out/b.csv") == "mine");
  CHECK(place.Run("a.csv", "whole").has_value());    // written by the run that died
  CHECK(place.Run("old.csv", "again").has_value());  // and this by the one before
  // A user's file that was to be replaced, by a run that died before it did.
  place.Write("out/c.csv", "mine");
  REQUIRE(place.Open()->Claim({"c.csv"}, true).has_value());
  CHECK_FALSE(place.Run("c.csv", "x").has_value());
  CHECK(place.Text("out/c.csv") == "mine");
}

TEST_CASE("a file that comes to its place while another is written stays") {
  const OutputPlace place;
  for (const bool overwrite : {false, true}) {
    const auto folder = place.Open();
    REQUIRE(folder->Claim({"a.csv"}, overwrite).has_value());
    place.Write("out/a.csv", "mine");
    const auto written = folder->Write("a.csv", "ours");
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().code == ErrorCode::kExists);
    CHECK(place.Text("out/a.csv") == "mine");
    fs::remove(place / "out/a.csv");
  }
}

TEST_CASE("temporary files of a run that was killed go with the next; users' files stay") {
  const OutputPlace place;
  REQUIRE(place.Run("done.csv", "one").has_value());
  fs::create_directory(place / "out/data");
  const std::string ending = ".jarvis-0123456789abcdef.tmp";
  const std::string gone[] = {"out/a.csv" + ending, "out/data/b.json" + ending};
  // Names of files that no run was writing when it was killed among them.
  const std::string kept[] = {"out/a.csv.tmp",          "out/a.csv.jarvis-0123456789abcdeX.tmp",
                              "out/other.csv" + ending, "out/done.csv" + ending,
                              "out/new.csv" + ending,   "out/.jarvis-files" + ending};
  SUBCASE("after a killed run") {
    Die(place, {"a.csv", "data/b.json"});
    const std::string list = place.Text("out/.jarvis-files");
    for (const std::string& name : gone)
      place.Write(name, "half");
    for (const std::string& name : kept)
      place.Write(name, "mine");
    place.Write("out/.jarvis-files.jarvis-fedcba9876543210.tmp", list);
    // Of a run that was killed before it wrote a byte, or all of the head; and one of somebody's.
    place.Write("out/.jarvis-files.jarvis-0000000000000001.tmp", "");
    place.Write("out/.jarvis-files.jarvis-0000000000000002.tmp", list.substr(0, 5));
    place.Write("out/.jarvis-files.jarvis-0000000000000003.tmp", "mine");
    REQUIRE(place.Open()->Claim({"new.csv", "done.csv"}, false).has_value());
    for (const std::string& name : gone)
      CHECK_FALSE(fs::exists(place / name));
    CHECK_FALSE(fs::exists(place / "out/.jarvis-files.jarvis-fedcba9876543210.tmp"));
    CHECK_FALSE(fs::exists(place / "out/.jarvis-files.jarvis-0000000000000001.tmp"));
    CHECK_FALSE(fs::exists(place / "out/.jarvis-files.jarvis-0000000000000002.tmp"));
    CHECK(fs::exists(place / "out/.jarvis-files.jarvis-0000000000000003.tmp"));
    for (const std::string& name : kept)
      CHECK(place.Text(name) == "mine");
  }
  SUBCASE("and no run was killed") {
    for (const std::string& name : gone)
      place.Write(name, "mine");
    REQUIRE(place.Run("a.csv", "x").has_value());
    REQUIRE(place.Run("data/b.json", "x").has_value());
    REQUIRE(place.Run("a.csv", "y").has_value());
    for (const std::string& name : gone)
      CHECK(place.Text(name) == "mine");
  }
}

TEST_CASE("a pipe in a directory is written to and stays, and is in no list") {
  const OutputPlace place;
  fs::create_directory(place / "out");
  REQUIRE(::mkfifo((place / "out/pipe.csv").c_str(), 0600) == 0);
  const Status unread = place.Run("pipe.csv", "x");
  REQUIRE_FALSE(unread.has_value());
  CHECK(unread.error().message.find("start its reader first") != std::string::npos);
  const int reader = ::open((place / "out/pipe.csv").c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(place.Run("pipe.csv", "text").has_value());
  std::string got(10, '\0');
  got.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(reader, got.data(), 10))));
  ::close(reader);
  CHECK(got == "text");
  CHECK(fs::is_fifo(place / "out/pipe.csv"));
  CHECK_FALSE(fs::exists(place / "out/.jarvis-files"));
  // Beside files of ours.
  CHECK(place.Run("a.csv", "one").has_value());
  CHECK(place.Text("out/.jarvis-files").find("pipe") == std::string::npos);
}

TEST_CASE("the list of our files is no name for a file") {
  const OutputPlace place;
  const auto folder = place.Open();
  const Status claimed = folder->Claim({OutputFolder::kFileList}, true);
  REQUIRE_FALSE(claimed.has_value());
  CHECK(claimed.error().code == ErrorCode::kBadValue);
}

TEST_CASE("a list that cannot be opened for now is nobody else's") {
  const OutputPlace place;
  REQUIRE(place.Run("a.csv", "one").has_value());
  Job job;
  // With one descriptor left, the folder opens and its list does not.
  struct rlimit before {};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup(0);
  ::close(next);
  bool told = false;
  for (int more = 1; more <= 4; ++more) {
    struct rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next + more);
    ::setrlimit(RLIMIT_NOFILE, &few);
    const auto short_of = OutputFolder::Open(FilePolicy(), place / "out", job);
    ::setrlimit(RLIMIT_NOFILE, &before);
    if (short_of) continue;
    CHECK(short_of.error().code == ErrorCode::kIo);
    told = told || short_of.error().message.find("Too many open files") != std::string::npos;
  }
  CHECK(told);
}

TEST_CASE("a list that is not ours") {
  const OutputPlace place;
  fs::create_directory(place / "out");
  place.Write("out/.jarvis-files", "my notes\n");
  Job job;
  const auto opened = OutputFolder::Open(FilePolicy(), place / "out", job);
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kExists);
  CHECK(place.Text("out/.jarvis-files") == "my notes\n");
  fs::remove(place / "out/.jarvis-files");
  REQUIRE(::mkfifo((place / "out/.jarvis-files").c_str(), 0600) == 0);
  CHECK_FALSE(OutputFolder::Open(FilePolicy(), place / "out", job).has_value());
  // Lines that say nothing are passed over.
  fs::remove(place / "out/.jarvis-files");
  REQUIRE(place.Run("a.csv", "one").has_value());
  std::ofstream(place / "out/.jarvis-files", std::ios::app) << "junk\n\n1 2\nx y z w\n";
  REQUIRE(place.Run("a.csv", "two").has_value());
}

TEST_CASE("calls that write to the same place take turns, and can be cancelled") {
  const OutputPlace place;
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        for (int n = 0; n < 10; ++n) {
          Job job;
          auto folder = OutputFolder::Open(FilePolicy(), place / "out", job);
          const bool written = folder && (*folder)->Claim({"a.csv"}, false) &&
                               (*folder)->Write("a.csv", "text") && (*folder)->Commit();
          if (!written) ++failed;
        }
      });
    }
  }
  CHECK(failed == 0);
  const auto held = place.Open();
  Job job;
  job.Stop();
  const auto second = OutputFolder::Open(FilePolicy(), place / "out", job);
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == ErrorCode::kCancelled);
}

}  // namespace
}  // namespace jarvis::io
