// Any names of files below a directory, one a line, as a sweep or a run.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/require.h"
#include "support/temp_folder.h"
#include "sweep/scan/scan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kFilesMax = 24;

// Only names that stay below the folder.
bool Stays(const std::string& name) {
  return !name.empty() && name.size() < 200 && name.front() != '/' &&
         name.find("..") == std::string::npos && name.find('\0') == std::string::npos;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const jarvis::testing::TempFolder folder;
  std::size_t at = 0;
  for (int files = 0; at < text.size() && files < kFilesMax; ++files) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string name = text.substr(at, end - at);
    at = end + 1;
    if (!Stays(name)) continue;
    std::error_code ignored;
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path(), ignored);
    std::ofstream(path) << "{}";
  }
  const jarvis::io::FilePolicy files;
  for (const auto scan : {jarvis::sweep::ScanSweep, jarvis::sweep::ScanRun}) {
    const auto sweep = scan(files, folder.path());
    if (!sweep) {
      jarvis::testing::Require(!sweep.error().message.empty(), "an error has words");
      continue;
    }
    for (const jarvis::sweep::Config& config : sweep->configs)
      jarvis::testing::Require(config.values.size() == sweep->axes.size(), "a value for each axis");
  }
  return 0;
}
