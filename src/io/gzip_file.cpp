#include "io/gzip_file.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <isa-l/igzip_lib.h>

#include "base/check.h"

namespace jarvis::io {
namespace {

constexpr std::size_t kOutBytes = std::size_t{256} << 10;
constexpr int kLevel = 1;

}  // namespace

class GzipFile::Deflater {
 public:
  explicit Deflater(OutputFile file)
      : file_(std::move(file)), level_(ISAL_DEF_LVL1_DEFAULT), out_(kOutBytes) {
    isal_deflate_init(&stream_);
    stream_.level = kLevel;
    stream_.level_buf = level_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(level_.size());
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.flush = NO_FLUSH;
  }

  Status Add(std::string_view text, bool last) {
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
        JV_CHECK(isal_deflate(&stream_) == COMP_OK);
        const std::size_t made = out_.size() - stream_.avail_out;
        JV_TRY(file_.Write({reinterpret_cast<const char*>(out_.data()), made}));
      } while (stream_.avail_out == 0);
    } while (!text.empty());
    return {};
  }
  Result<std::string> Finish() { return file_.Finish(); }
  std::uint64_t bytes() const { return file_.bytes(); }

 private:
  OutputFile file_;
  isal_zstream stream_{};
  std::vector<std::uint8_t> level_;
  std::vector<std::uint8_t> out_;
};

GzipFile::GzipFile() = default;
GzipFile::~GzipFile() = default;

Result<std::unique_ptr<GzipFile>> GzipFile::Create(OutputFolder& folder, const std::string& name) {
  JV_ASSIGN(OutputFile made, folder.Create(name));
  std::unique_ptr<GzipFile> file(new GzipFile());
  file->deflater_ = std::make_unique<Deflater>(std::move(made));
  return file;
}

Status GzipFile::Write(std::string_view text) {
  return text.empty() ? Status() : deflater_->Add(text, false);
}

Status GzipFile::Close() {
  JV_TRY(deflater_->Add({}, true));
  JV_ASSIGN(path_, deflater_->Finish());
  return {};
}

std::uint64_t GzipFile::bytes() const {
  return deflater_->bytes();
}

}  // namespace jarvis::io
