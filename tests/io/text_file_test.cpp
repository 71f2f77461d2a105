#include "io/text_file.h"

#include <string>

#include <doctest/doctest.h>

#include "support/temp_folder.h"

namespace jarvis::io {
namespace {

TEST_CASE("a small file is read whole or refused") {
  const testing::TempFolder folder;
  const std::string path = folder.Write("a.json", std::string("{\"a\":\0 1}\r\n", 11));
  CHECK(*ReadTextFile({}, path, 11) == std::string("{\"a\":\0 1}\r\n", 11));
  CHECK(ReadTextFile({}, path, 10).error().code == ErrorCode::kTooLarge);
  CHECK(ReadTextFile({}, folder.path(), 10).error().message ==
        "\"" + folder.path() + "\" is no regular file");
  CHECK(ReadTextFile({}, folder / "b.json", 10).error().code == ErrorCode::kBadValue);
  folder.Write("a.json", "");
  CHECK(ReadTextFile({}, path, 10)->empty());
}

}  // namespace
}  // namespace jarvis::io
