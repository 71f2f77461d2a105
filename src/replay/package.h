// A replay package: a zip archive that runs where torch is. The same entries give the same bytes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/embedded_file.h"

namespace jarvis::replay {

// The Python files, README.md and LICENSE by their stems, as the build put them into the
// program.
std::span<const EmbeddedFile> ReplayPackageFiles();

}  // namespace jarvis::replay

namespace jarvis::replay {

struct PackedFile {
  std::string name;
  std::string content;
};

// The archive's bytes: entries by name, all of one fixed time. It is made in memory: throws
// std::bad_alloc where that is refused, and nothing else can be.
std::string MakeZip(std::vector<PackedFile> files);

// replay_ir.json and manifest.json together with what runs them.
std::string MakePackage(std::string ir, std::string manifest);

// "aten::add_" as part of a file name: letters, digits and underscores, at most 60.
std::string SafeName(std::string_view op);

}  // namespace jarvis::replay
