#include "io/text_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

namespace jarvis::io {
namespace {

TEST_CASE("a small file is read whole or refused") {
  std::string folder = (std::filesystem::temp_directory_path() / "jarvis_text_XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::string path = folder + "/a.json";
  std::ofstream(path, std::ios::binary) << std::string("{\"a\":\0 1}\r\n", 11);
  CHECK(*ReadTextFile({}, path, 11) == std::string("{\"a\":\0 1}\r\n", 11));
  CHECK(ReadTextFile({}, path, 10).error().code == ErrorCode::kTooLarge);
  CHECK(ReadTextFile({}, folder, 10).error().message == "\"" + folder + "\" is no regular file");
  CHECK(ReadTextFile({}, folder + "/b.json", 10).error().code == ErrorCode::kBadValue);
  std::ofstream(path, std::ios::trunc).flush();
  CHECK(ReadTextFile({}, path, 10)->empty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace jarvis::io
