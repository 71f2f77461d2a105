// A folder of a test's own, gone with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace jarvis::testing {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "jarvis_test_XXXXXX").string();
    // Without links in it, so that a path can be compared with what the program makes of it.
    path_ = std::filesystem::canonical(::mkdtemp(name.data())).string();
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // The path of the file.
  std::string Write(std::string_view name, std::string_view bytes) const {
    std::ofstream(*this / name, std::ios::binary | std::ios::trunc) << bytes;
    return *this / name;
  }

 private:
  std::string path_;
};

}  // namespace jarvis::testing
