#include "byte_sink.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

namespace make_trace {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, with a gzip header (mtime 0)

[[noreturn]] void Fail(const std::string& path, const char* what) {
  throw std::runtime_error(path + ": " + what);
}

}  // namespace

struct ByteSink::Deflate {
  z_stream stream{};
  std::vector<unsigned char> out = std::vector<unsigned char>(kBlockBytes);
};

ByteSink::ByteSink(const std::string& path, bool compact) : path_(path), compact_(compact) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) Fail(path_, std::strerror(errno));
  pending_.reserve(kBlockBytes + kBlockBytes / 4);
  if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0) {
    deflate_ = std::make_unique<Deflate>();
    if (deflateInit2(&deflate_->stream, 6, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      Fail(path_, "cannot start zlib");
  }
}

ByteSink::~ByteSink() {
  if (deflate_ != nullptr) deflateEnd(&deflate_->stream);
  if (file_ >= 0) ::close(file_);
}

void ByteSink::Append(std::string_view text) {
  const std::size_t before = pending_.size();
  if (compact_) {
    AppendWithoutSpace(text);
  } else {
    pending_ += text;
  }
  bytes_ += static_cast<std::int64_t>(pending_.size() - before);
  if (pending_.size() >= kBlockBytes) Flush();
}

// No text that we write has a backslash, so a quote always opens or closes a string.
void ByteSink::AppendWithoutSpace(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t quote = std::min(text.find('"', at), text.size());
    if (in_string_) {
      pending_.append(text, at, quote - at);
    } else {
      for (std::size_t i = at; i < quote; ++i) {
        if (text[i] != ' ' && text[i] != '\n') pending_ += text[i];
      }
    }
    if (quote < text.size()) {
      pending_ += '"';
      in_string_ = !in_string_;
    }
    at = quote + 1;
  }
}

void ByteSink::WriteOut(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file_, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(path_, std::strerror(errno));
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

void ByteSink::WriteDeflated(int mode) {
  z_stream& stream = deflate_->stream;
  do {
    stream.next_out = deflate_->out.data();
    stream.avail_out = static_cast<uInt>(deflate_->out.size());
    deflate(&stream, mode);
    WriteOut(reinterpret_cast<const char*>(deflate_->out.data()),
             deflate_->out.size() - stream.avail_out);
  } while (stream.avail_out == 0);
}

void ByteSink::Flush() {
  if (deflate_ != nullptr) {
    deflate_->stream.next_in = reinterpret_cast<unsigned char*>(pending_.data());
    deflate_->stream.avail_in = static_cast<uInt>(pending_.size());
    WriteDeflated(Z_NO_FLUSH);
  } else {
    WriteOut(pending_.data(), pending_.size());
  }
  pending_.clear();
}

void ByteSink::Close() {
  Flush();
  if (deflate_ != nullptr) WriteDeflated(Z_FINISH);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) Fail(path_, std::strerror(errno));
}

}  // namespace make_trace
