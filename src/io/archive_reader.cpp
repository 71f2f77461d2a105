#include "io/archive_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <locale.h>

#include "base/text.h"
#include "io/archive_library.h"

namespace jarvis::io {
namespace {

constexpr std::size_t kPackedPiece = std::size_t{64} << 10;
constexpr std::size_t kMemberNameBytesMax = 4096;

// A format or filter that the library would leave to another program does not count.
bool Supports(const ArchiveLibrary& library, ::archive* archive, Packing packing) {
  if (HoldsFiles(packing)) {
    return (packing == Packing::kZip ? library.format_zip(archive) : library.format_tar(archive)) ==
           ARCHIVE_OK;
  }
  if (library.format_raw(archive) != ARCHIVE_OK) return false;
  switch (packing) {
    case Packing::kZstd: return library.filter_zstd(archive) == ARCHIVE_OK;
    case Packing::kXz: return library.filter_xz(archive) == ARCHIVE_OK;
    case Packing::kBzip2: return library.filter_bzip2(archive) == ARCHIVE_OK;
    case Packing::kLz4: return library.filter_lz4(archive) == ARCHIVE_OK;
    default: return false;
  }
}

// The library gives no name that the thread's locale cannot write, and the program's has ASCII
// alone.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (utf8 != nullptr) before_ = ::uselocale(utf8);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  ~Utf8Locale() {
    if (before_ != nullptr) ::uselocale(before_);
  }

 private:
  locale_t before_ = nullptr;
};

// Where even so there is none, the place in the archive is one.
std::string NameOf(const char* name, std::uint64_t number) {
  if (name == nullptr || *name == '\0') return fmt::format("file {}", number);
  return ValidUtf8(std::string_view(name).substr(0, kMemberNameBytesMax));
}

}  // namespace

// What the library asks of the bytes. It is C: nothing may be thrown through it.
struct ArchiveReader::Callbacks {
  static la_ssize_t Read(::archive* archive, void* self, const void** bytes) {
    auto& reader = *static_cast<ArchiveReader*>(self);
    try {
      const Result<std::size_t> got = reader.ReadPacked();
      if (got) {
        *bytes = reader.buffer_.data();
        return static_cast<la_ssize_t>(*got);
      }
      reader.error_ = got.error();
    } catch (...) {
      reader.thrown_ = std::current_exception();
    }
    reader.library_->set_error(archive, EIO, "reading failed");
    return ARCHIVE_FATAL;
  }

  static la_int64_t Seek(::archive*, void* self, la_int64_t offset, int whence) {
    PlainSource& file = *static_cast<ArchiveReader*>(self)->file_;
    std::int64_t place = offset;
    if (whence == SEEK_CUR) place += static_cast<std::int64_t>(file.place());
    if (whence == SEEK_END) place += static_cast<std::int64_t>(file.file_size());
    if (place < 0) return ARCHIVE_FATAL;
    file.Seek(static_cast<std::uint64_t>(place));
    return place;
  }
};

ArchiveReader::ArchiveReader(Packing packing, std::unique_ptr<ByteSource> from, PlainSource* file,
                             const Job* job)
    : library_(TheArchiveLibrary()),
      packing_(packing),
      from_(std::move(from)),
      file_(file),
      job_(job),
      buffer_(kPackedPiece, '\0') {}

ArchiveReader::~ArchiveReader() {
  if (archive_ != nullptr) library_->read_free(archive_);
}

Result<std::size_t> ArchiveReader::ReadPacked() {
  if (job_ != nullptr) JV_TRY(job_->Check());
  JV_ASSIGN(const std::size_t got, from_->Read(buffer_));
  given_ += got;
  JV_TRY(CheckExpansion(from_->consumed(), given_));
  return got;
}

Status ArchiveReader::Open() {
  opened_ = true;
  if (library_ == nullptr) {
    return Fail(
        ErrorCode::kNotATrace,
        fmt::format("{}, which takes a library to unpack (libarchive.so.13)", io::NameOf(packing_)),
        "install it (apt install libarchive13), or unpack the file and give the result");
  }
  archive_ = library_->read_new();
  if (archive_ == nullptr) throw std::bad_alloc();
  if (!Supports(*library_, archive_, packing_)) {
    return Fail(
        ErrorCode::kNotATrace,
        fmt::format("{}, which this system's libarchive cannot unpack", io::NameOf(packing_)),
        "unpack it and give the result");
  }
  library_->set_read(archive_, &Callbacks::Read);
  if (file_ != nullptr) library_->set_seek(archive_, &Callbacks::Seek);
  library_->set_data(archive_, this);
  const int code = library_->open(archive_);
  return code == ARCHIVE_OK ? Status() : Failed(code);
}

Status ArchiveReader::Failed(int code) {
  ended_ = true;
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (error_) return tl::make_unexpected(*std::exchange(error_, std::nullopt));
  if (code == ARCHIVE_EOF) return {};
  if (library_->error_number(archive_) == ENOMEM) throw std::bad_alloc();
  const char* why = library_->error_string(archive_);
  damage_ = fmt::format("{} that is cut off or corrupt near byte {} ({})", io::NameOf(packing_),
                        from_->consumed(), why == nullptr ? "no reason given" : OneLine(why));
  return {};
}

Result<std::optional<ArchiveReader::Entry>> ArchiveReader::Next() {
  if (!opened_) JV_TRY(Open());
  if (ended_) return std::nullopt;
  const Utf8Locale locale;
  ::archive_entry* entry = nullptr;
  const int code = library_->next_header(archive_, &entry);
  // A warning is of a name or a time that is written strangely.
  if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
    JV_TRY(Failed(code));
    return std::nullopt;
  }
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  block_bytes_ = 0;
  block_at_ = at_ = 0;
  Entry found;
  found.name = NameOf(library_->pathname(entry), ++entries_);
  found.is_file = !HoldsFiles(packing_) ||
                  (library_->filetype(entry) == AE_IFREG && library_->hardlink(entry) == nullptr);
  found.encrypted = library_->is_encrypted(entry) != 0;
  return found;
}

// False at the entry's end.
Result<bool> ArchiveReader::NextBlock() {
  const void* block = nullptr;
  la_int64_t offset = 0;
  block_bytes_ = 0;
  const int code = library_->data_block(archive_, &block, &block_bytes_, &offset);
  if (code == ARCHIVE_EOF) {
    ended_ = !HoldsFiles(packing_);
    return false;
  }
  if (code != ARCHIVE_OK) {
    block_bytes_ = 0;
    JV_TRY(Failed(code));
    return false;
  }
  block_ = static_cast<const char*>(block);
  block_at_ = std::max<std::int64_t>(offset, at_);
  return true;
}

Result<std::size_t> ArchiveReader::Read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    if (at_ >= block_at_ && block_bytes_ == 0) {
      if (ended_) break;
      JV_ASSIGN(const bool more, NextBlock());
      if (!more) break;
      continue;
    }
    std::size_t bytes = buffer.size() - filled;
    if (at_ < block_at_) {
      bytes = static_cast<std::size_t>(
          std::min<std::int64_t>(static_cast<std::int64_t>(bytes), block_at_ - at_));
      std::memset(buffer.data() + filled, 0, bytes);
    } else {
      bytes = std::min(bytes, block_bytes_);
      std::memcpy(buffer.data() + filled, block_, bytes);
      block_ += bytes;
      block_bytes_ -= bytes;
      block_at_ += static_cast<std::int64_t>(bytes);
    }
    at_ += static_cast<std::int64_t>(bytes);
    filled += bytes;
  }
  unpacked_ += filled;
  JV_TRY(CheckExpansion(from_->consumed(), unpacked_));
  return filled;
}

}  // namespace jarvis::io
