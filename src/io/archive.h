// What is in an archive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"
#include "io/layers.h"

namespace jarvis::io {

// More files than any job has ranks.
inline constexpr std::uint64_t kArchiveFilesMax = 100'000;
inline constexpr std::size_t kArchiveNameBytesMax = std::size_t{32} << 20;  // of all names

struct ArchiveMember {
  std::string name;        // in UTF-8, as the archive has it: data, never a path
  std::string head;        // how it begins, unpacked as OpenBytes would; empty: not to be had
  bool encrypted = false;  // cannot be read
};

// Shows the regular files of an archive, in its order; of several with one name the first, which is
// the one that this name opens. `layers`: from LookAt. At most `head_bytes` of each are unpacked.
// What damage ended reading before the archive's end; mostly empty. Errors: those of OpenBytes, and
// kTooLarge: more files or longer names than the limits. REQUIRES: the file is an archive.
Result<std::string> VisitArchive(const InputFile& input, const Layers& layers, const Job* job,
                                 std::size_t head_bytes,
                                 const std::function<void(const ArchiveMember&)>& visit);

}  // namespace jarvis::io
