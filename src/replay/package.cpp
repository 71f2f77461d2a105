#include "replay/package.h"

#include <algorithm>
#include <cctype>
#include <memory>

#include <fmt/format.h>
#include <zip.h>

namespace jarvis::replay {
namespace {

// 1 January 1980, 00:00: the first time that the format can hold, in no time zone.
constexpr zip_uint16_t kDosTime = 0;
constexpr zip_uint16_t kDosDate = (1 << 5) | 1;

constexpr std::pair<std::string_view, const char*> kFiles[] = {
    {"utils", "utils.py"},
    {"batched_replay", "batched_replay.py"},
    {"matching", "matching.py"},
    {"workloads", "workloads.py"},
    {"substitutes", "substitutes.py"},
    {"README", "README.md"},
    {"LICENSE", "LICENSE"},
};

struct CloseSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Source = std::unique_ptr<zip_source_t, CloseSource>;

Status Refused(std::string_view what, const char* why) {
  return Fail(ErrorCode::kIo, fmt::format("cannot {} the replay package: {}", what, why));
}

Status AddFile(zip_t* archive, const PackedFile& file) {
  zip_source_t* source = zip_source_buffer(archive, file.content.data(), file.content.size(), 0);
  if (source == nullptr) return Refused("write", zip_strerror(archive));
  const zip_int64_t index = zip_file_add(archive, file.name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return Refused("write", zip_strerror(archive));
  }
  const auto at = static_cast<zip_uint64_t>(index);
  constexpr zip_uint32_t kReadable = 0100644U << 16;
  if (zip_file_set_dostime(archive, at, kDosTime, kDosDate, 0) != 0 ||
      zip_set_file_compression(archive, at, ZIP_CM_DEFLATE, 9) != 0 ||
      zip_file_set_external_attributes(archive, at, 0, ZIP_OPSYS_UNIX, kReadable) != 0) {
    return Refused("write", zip_strerror(archive));
  }
  return {};
}

// What was written behind the archive.
Result<std::string> BytesOf(zip_source_t* source) {
  zip_stat_t stat;
  if (zip_source_stat(source, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0 ||
      zip_source_open(source) != 0) {
    return Fail(ErrorCode::kIo, "cannot read the replay package back");
  }
  std::string bytes(stat.size, '\0');
  const zip_int64_t read = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (read < 0 || static_cast<std::size_t>(read) != bytes.size())
    return Fail(ErrorCode::kIo, "cannot read the replay package back");
  return bytes;
}

}  // namespace

Result<std::string> MakeZip(std::vector<PackedFile> files) {
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  zip_error_t error;
  zip_error_init(&error);
  const Source source(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (!source) return Fail(ErrorCode::kIo, "cannot make the replay package");
  zip_t* archive = zip_open_from_source(source.get(), ZIP_TRUNCATE, &error);
  if (archive == nullptr) return Fail(ErrorCode::kIo, "cannot make the replay package");
  zip_source_keep(source.get());  // the archive gives its own hold back when it is closed
  for (const PackedFile& file : files) {
    if (auto added = AddFile(archive, file); !added) {
      zip_discard(archive);
      return tl::make_unexpected(std::move(added.error()));
    }
  }
  if (zip_close(archive) != 0) {
    const std::string why = zip_strerror(archive);
    zip_discard(archive);
    return Fail(ErrorCode::kIo, "cannot finish the replay package: " + why);
  }
  return BytesOf(source.get());
}

Result<std::string> MakePackage(std::string ir, std::string manifest) {
  std::vector<PackedFile> files = {{"replay_ir.json", std::move(ir)},
                                   {"manifest.json", std::move(manifest)},
                                   {"requirements.txt", "torch\n"}};
  for (const EmbeddedFile& file : ReplayPackageFiles()) {
    for (const auto& [stem, name] : kFiles) {
      if (file.name == stem) files.push_back({name, std::string(file.text)});
    }
  }
  return MakeZip(std::move(files));
}

std::string SafeName(std::string_view op) {
  constexpr std::size_t kLength = 60;
  std::string safe;
  for (const char c : op.substr(0, kLength)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) {
      safe += c;
    } else if (!safe.empty() && safe.back() != '_') {
      safe += '_';
    }
  }
  return safe.empty() ? "op" : safe;
}

}  // namespace jarvis::replay
