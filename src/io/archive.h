// What is in an archive.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"
#include "io/packing.h"

namespace jarvis::io {

// More files than any job has ranks.
inline constexpr std::uint64_t kArchiveFilesMax = 100'000;

struct ArchiveMember {
  std::string name;        // in UTF-8, as the archive has it: data, never a path
  std::string head;        // how it begins, unpacked as OpenBytes would; empty: not to be had
  bool encrypted = false;  // cannot be read
};

struct ArchiveFacts {
  Packing packing = Packing::kNone;
  std::string damage;  // where the archive's reading ended before its end; mostly empty
};

// Shows the regular files of an archive, in its order; of several with one name the first, which is
// the one that this name opens. At most `head_bytes` of each are unpacked. Absent: the file is no
// archive. Errors: those of OpenBytes, and kTooLarge: more files than the limit.
Result<std::optional<ArchiveFacts>> VisitArchive(
    const InputFile& input, const Job* job, std::size_t head_bytes,
    const std::function<void(const ArchiveMember&)>& visit);

}  // namespace jarvis::io
