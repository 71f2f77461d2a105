#include "io/gzip_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>

#include "io/temporary_file.h"

namespace jarvis::io {
namespace {

constexpr std::size_t kOutBytes = std::size_t{256} << 10;
constexpr int kLevel = 1;

}  // namespace

class GzipFile::Deflater {
 public:
  explicit Deflater(TemporaryFile file)
      : file_(std::move(file)), level_(ISAL_DEF_LVL1_DEFAULT), out_(kOutBytes) {
    isal_deflate_init(&stream_);
    stream_.level = kLevel;
    stream_.level_buf = level_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(level_.size());
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.flush = NO_FLUSH;
  }

  // False: errno says why.
  bool Add(std::string_view text, bool last) {
    do {
      const std::size_t piece =
          std::min<std::size_t>(text.size(), std::numeric_limits<std::uint32_t>::max() / 2);
      // The library only reads what it is given to read.
      stream_.next_in =
          const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
      stream_.avail_in = static_cast<std::uint32_t>(piece);
      text.remove_prefix(piece);
      stream_.end_of_stream = last && text.empty() ? 1 : 0;
      do {
        stream_.next_out = out_.data();
        stream_.avail_out = static_cast<std::uint32_t>(out_.size());
        if (isal_deflate(&stream_) != COMP_OK) {
          errno = EINVAL;
          return false;
        }
        if (!Flush(out_.size() - stream_.avail_out)) return false;
      } while (stream_.avail_out == 0);
    } while (!text.empty());
    return true;
  }

  bool Finish() { return file_.Finish(); }
  std::uint64_t written() const { return written_; }

 private:
  bool Flush(std::size_t size) {
    for (std::size_t at = 0; at < size;) {
      const ssize_t got = ::write(file_.fd(), out_.data() + at, size - at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return false;
      at += static_cast<std::size_t>(got);
    }
    written_ += size;
    return true;
  }

  TemporaryFile file_;
  isal_zstream stream_{};
  std::vector<std::uint8_t> level_;
  std::vector<std::uint8_t> out_;
  std::uint64_t written_ = 0;
};

GzipFile::GzipFile() = default;
GzipFile::~GzipFile() = default;

Result<std::unique_ptr<GzipFile>> GzipFile::Create(const std::string& path,
                                                   const std::string& given) {
  std::unique_ptr<GzipFile> file(new GzipFile());
  file->given_ = given;
  TemporaryFile beside = TemporaryFile::Beside(path);
  if (!beside.valid()) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot write \"{}\": {}", given, std::strerror(errno)));
  }
  file->deflater_ = std::make_unique<Deflater>(std::move(beside));
  return file;
}

Status GzipFile::Write(std::string_view text) {
  if (text.empty() || deflater_->Add(text, false)) return {};
  return Fail(ErrorCode::kIo, fmt::format("cannot write \"{}\": {}", given_, std::strerror(errno)));
}

Result<std::uint64_t> GzipFile::Close() {
  if (!deflater_->Add({}, true) || !deflater_->Finish()) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot write \"{}\": {}", given_, std::strerror(errno)));
  }
  return deflater_->written();
}

}  // namespace jarvis::io
