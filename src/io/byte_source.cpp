#include "io/byte_source.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "io/archive.h"
#include "io/layers.h"

namespace jarvis::io {
namespace {

// The one file of an archive of which nobody said which one is meant.
Result<std::string> OnlyFileOf(const InputFile& input, const Layers& outer, const Job* job) {
  std::string only;
  std::uint64_t files = 0;
  JV_TRY(VisitArchive(input, outer, job, 0, [&](const ArchiveMember& member) {
    only = member.name;
    ++files;
  }));
  if (files == 1) return only;
  return Fail(
      ErrorCode::kNotATrace,
      fmt::format("\"{}\" is {} of {} files", input.given, NameOf(outer.back().packing), files),
      fmt::format("name one of them: \"{}#NAME\"", input.given));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenBytes(const std::string& path) {
  JV_ASSIGN(InputFile input, FilePolicy().OpenInput(path));
  return OpenBytes(std::move(input));
}

Result<std::unique_ptr<ByteSource>> OpenBytes(InputFile input, const BytesOptions& options) {
  JV_ASSIGN(const FileLook look, LookAt(input, 0));
  return OpenBytes(std::move(input), look.layers, options);
}

Result<std::unique_ptr<ByteSource>> OpenBytes(InputFile input, const Layers& outer,
                                              const BytesOptions& options) {
  const std::string& named = options.member.empty() ? input.member : options.member;
  if (!outer.empty() && HoldsFiles(outer.back().packing)) {
    Layers layers = outer;
    layers.back().member = named;
    if (named.empty()) {
      JV_ASSIGN(layers.back().member, OnlyFileOf(input, outer, options.job));
    }
    return UnpackMember(std::move(input), std::move(layers), options.job);
  }
  if (!named.empty()) {
    return Fail(ErrorCode::kTraceNotFound,
                "what stands before the # is no archive with files in it",
                "give the path of the file alone");
  }
  return Unpack(std::move(input), outer, options.job);
}

Status CheckExpansion(std::uint64_t packed, std::uint64_t unpacked) {
  if (unpacked <= limits::kExpansionFreeBytes || unpacked / limits::kExpansionMax <= packed)
    return {};
  return Fail(ErrorCode::kTooLarge,
              fmt::format("{} compressed bytes became {} bytes, more than {} times as many: no "
                          "trace, or a trap",
                          packed, unpacked, limits::kExpansionMax));
}

}  // namespace jarvis::io
