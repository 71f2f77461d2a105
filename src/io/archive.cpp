#include "io/archive.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "io/archive_reader.h"

namespace jarvis::io {
namespace {

// bzip2 gives nothing before the end of its first block, which can have that many packed bytes.
constexpr std::size_t kPackedHeadBytes = std::size_t{1} << 20;

Result<std::string> MemberHead(ArchiveReader& reader, std::size_t bytes_max) {
  std::string raw;
  for (std::size_t wanted = bytes_max;;) {
    const std::size_t filled = raw.size();
    raw.resize(wanted);
    JV_ASSIGN(const std::size_t got, reader.Read({raw.data() + filled, wanted - filled}));
    raw.resize(filled + got);
    const bool packed = TellPacking(raw) != Packing::kNone;
    if (!packed || raw.size() < wanted || wanted >= kPackedHeadBytes)
      return packed ? UnpackedHead(std::move(raw), bytes_max) : std::move(raw);
    wanted = kPackedHeadBytes;
  }
}

}  // namespace

Result<std::string> VisitArchive(const InputFile& input, const Layers& layers, const Job* job,
                                 std::size_t head_bytes,
                                 const std::function<void(const ArchiveMember&)>& visit) {
  JV_CHECK(!layers.empty() && HoldsFiles(layers.back().packing));
  const Packing packing = layers.back().packing;
  const Layers outside(layers.begin(), layers.end() - 1);
  JV_ASSIGN(InputFile again, AnotherOf(input));
  std::unique_ptr<ByteSource> bytes;
  PlainSource* file = nullptr;
  if (outside.empty()) {
    auto plain = std::make_unique<PlainSource>(std::move(again));
    file = plain.get();
    bytes = std::move(plain);
  } else {
    JV_ASSIGN(bytes, Unpack(std::move(again), outside, job));
  }
  ArchiveReader reader(packing, std::move(bytes), file, job);
  std::set<std::string> seen;
  std::size_t name_bytes = 0;
  for (;;) {
    JV_ASSIGN(const std::optional<ArchiveReader::Entry> entry, reader.Next());
    if (!entry) break;
    if (!entry->is_file || entry->name.empty() || !seen.insert(entry->name).second) continue;
    name_bytes += entry->name.size();
    if (seen.size() > kArchiveFilesMax || name_bytes > kArchiveNameBytesMax) {
      return Fail(ErrorCode::kTooLarge,
                  fmt::format("{} of more than {} files, or of names with more than {} bytes",
                              NameOf(packing), kArchiveFilesMax, kArchiveNameBytesMax));
    }
    ArchiveMember member{entry->name, {}, entry->encrypted};
    if (!entry->encrypted && head_bytes > 0) {
      JV_ASSIGN(member.head, MemberHead(reader, head_bytes));
    }
    visit(member);
  }
  const std::string& below = reader.from().damage();
  return below.empty() ? reader.damage() : below;
}

}  // namespace jarvis::io
