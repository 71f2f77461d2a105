#include "io/temporary_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "base/file_descriptor.h"
#include "io/atomic_file.h"
#include "support/temp_folder.h"

namespace jarvis::io {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

std::string TextAt(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a pipe is written to, as much as its reader takes, and stays") {
  const TempFolder folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const std::string text(std::size_t{3} << 20, 'a');  // more than a pipe holds
  std::string read;
  std::thread reader([&] { read = TextAt(path); });
  Status written;
  do {
    written = WriteFileAtomically(path, text);  // until the reader is there
  } while (!written && written.error().message.find("nobody reads") != std::string::npos);
  reader.join();
  CHECK(written.has_value());
  CHECK((read == text));
  CHECK(fs::is_fifo(path));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a pipe that nobody reads is not waited for") {
  const TempFolder folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const Status written = WriteFileAtomically(path, "text");
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().message.find("start its reader first") != std::string::npos);
  CHECK(WriteFileAtomically(path, "text", Existing::kKeep).error().code != ErrorCode::kInternal);
  CHECK(fs::is_fifo(path));
}

TEST_CASE("a device is written to and stays") {
  const TempFolder folder;
  CHECK(WriteGivenFile("/dev/null", "text").has_value());
  CHECK(fs::is_character_file("/dev/null"));
  const Status full = WriteGivenFile("/dev/full", "text");
  REQUIRE_FALSE(full.has_value());
  CHECK(full.error().message.find("No space left") != std::string::npos);
  const std::string path = folder / "null";
  if (::mknod(path.c_str(), S_IFCHR | 0600, ::makedev(1, 3)) != 0) return;  // not for everybody
  CHECK(WriteFileAtomically(path, "text").has_value());
  CHECK(fs::is_character_file(path));
}

TEST_CASE("links, directories and sockets are refused and stay") {
  const TempFolder folder;
  folder.Write("file", "mine");
  fs::create_symlink("file", folder / "link");
  fs::create_symlink("none", folder / "dangling");
  fs::create_directory(folder / "folder");
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string place = folder / "socket";
  REQUIRE(place.size() < sizeof address.sun_path);
  place.copy(address.sun_path, place.size());
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  for (const char* name : {"link", "dangling", "folder", "socket"}) {
    CAPTURE(name);
    const auto kind = fs::symlink_status(folder / name).type();
    CHECK_FALSE(WriteFileAtomically(folder / name, "x").has_value());
    CHECK(fs::symlink_status(folder / name).type() == kind);
  }
  CHECK(TextAt(folder / "file") == "mine");
  CHECK(WriteFileAtomically(folder / "link", "x").error().message.find("link") !=
        std::string::npos);
  // A path that was typed leads where its links lead.
  CHECK(IsReplaced(folder / "link"));
  CHECK_FALSE(IsReplaced(folder / "dangling"));
  CHECK_FALSE(IsReplaced("/dev/null"));
  CHECK(WriteGivenFile(folder / "link", "x").has_value());
  CHECK(WriteGivenFile(folder / "dangling", "y").has_value());
  CHECK(TextAt(folder / "file") == "x");
  CHECK(TextAt(folder / "none") == "y");
  CHECK(fs::is_symlink(folder / "link"));
}

TEST_CASE("what came in between is kept where nothing was to be replaced") {
  const TempFolder folder;
  const std::string path = folder / "file";
  TemporaryFile file = TemporaryFile::Beside(AT_FDCWD, path);
  REQUIRE(file.valid());
  CHECK(file.Write("ours"));
  folder.Write("file", "mine");
  CHECK_FALSE(file.Finish(Existing::kKeep));
  CHECK(errno == EEXIST);
  CHECK(TextAt(path) == "mine");
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
  CHECK(WriteFileAtomically(path, "x", Existing::kKeep).error().code == ErrorCode::kExists);
  CHECK(WriteFileAtomically(folder / "new", "x", Existing::kKeep).has_value());
  CHECK(TextAt(folder / "new") == "x");
}

}  // namespace
}  // namespace jarvis::io
