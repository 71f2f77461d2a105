#include "replay/package.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <new>

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

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;

// The archive lies in memory, so that nothing else can be refused to it.
void Hold(bool held) {
  if (!held) throw std::bad_alloc();
}

void AddFile(zip_t* archive, const PackedFile& file) {
  Source source(zip_source_buffer(archive, file.content.data(), file.content.size(), 0));
  Hold(source != nullptr);
  const zip_int64_t index =
      zip_file_add(archive, file.name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  Hold(index >= 0);
  static_cast<void>(source.release());  // the archive's from here on
  const auto at = static_cast<zip_uint64_t>(index);
  constexpr zip_uint32_t kReadable = 0100644U << 16;
  Hold(zip_file_set_dostime(archive, at, kDosTime, kDosDate, 0) == 0);
  Hold(zip_set_file_compression(archive, at, ZIP_CM_DEFLATE, 9) == 0);
  Hold(zip_file_set_external_attributes(archive, at, 0, ZIP_OPSYS_UNIX, kReadable) == 0);
}

// What was written behind the archive.
std::string BytesOf(zip_source_t* source) {
  zip_stat_t stat;
  Hold(zip_source_stat(source, &stat) == 0 && (stat.valid & ZIP_STAT_SIZE) != 0);
  std::string bytes(stat.size, '\0');
  Hold(zip_source_open(source) == 0);
  const zip_int64_t read = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  Hold(read >= 0 && static_cast<std::size_t>(read) == bytes.size());
  return bytes;
}

}  // namespace

std::string MakeZip(std::vector<PackedFile> files) {
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  zip_error_t error;
  zip_error_init(&error);
  const Source source(zip_source_buffer_create(nullptr, 0, 0, &error));
  Hold(source != nullptr);
  Archive archive(zip_open_from_source(source.get(), ZIP_TRUNCATE, &error));
  Hold(archive != nullptr);
  zip_source_keep(source.get());  // the archive gives its own hold back when it is closed
  for (const PackedFile& file : files)
    AddFile(archive.get(), file);
  Hold(zip_close(archive.get()) == 0);
  static_cast<void>(archive.release());
  return BytesOf(source.get());
}

std::string MakePackage(std::string ir, std::string manifest) {
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
