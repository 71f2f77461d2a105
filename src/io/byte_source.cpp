#include "io/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>
#include <xxhash.h>

namespace jarvis::io {
namespace {

constexpr std::size_t kInputBytes = std::size_t{256} << 10;

// Reads a file from front to back and hashes what it reads.
class File {
 public:
  File(FileDescriptor fd, std::uint64_t size)
      : fd_(std::move(fd)), size_(size), hash_(XXH3_createState()) {
    XXH3_64bits_reset(hash_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { XXH3_freeState(hash_); }

  Result<std::size_t> Read(char* to, std::size_t bytes) {
    for (;;) {
      const ssize_t got = ::read(fd_.get(), to, bytes);
      if (got >= 0) {
        XXH3_64bits_update(hash_, to, static_cast<std::size_t>(got));
        read_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        return Fail(ErrorCode::kIo, fmt::format("reading failed: {}", std::strerror(errno)));
      }
    }
  }
  // Goes on at that place of the file.
  Status Seek(std::uint64_t place) {
    if (::lseek(fd_.get(), static_cast<off_t>(place), SEEK_SET) < 0)
      return Fail(ErrorCode::kIo, fmt::format("reading failed: {}", std::strerror(errno)));
    read_ = place;
    return {};
  }
  std::uint64_t read() const { return read_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t hash() const { return XXH3_64bits_digest(hash_); }

 private:
  FileDescriptor fd_;
  std::uint64_t size_;
  std::uint64_t read_ = 0;
  XXH3_state_t* hash_;
};

Result<std::unique_ptr<File>> OpenAt(InputFile input, std::uint64_t place) {
  auto file = std::make_unique<File>(std::move(input.fd), input.size);
  JV_TRY(file->Seek(place));
  return file;
}

class PlainPoint : public RestartPoint {
 public:
  explicit PlainPoint(std::uint64_t place) : place_(place) {}
  Result<std::unique_ptr<ByteSource>> Open(InputFile input) const override;
  std::size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  std::uint64_t place_;
};

class PlainSource : public ByteSource {
 public:
  PlainSource(std::unique_ptr<File> file, std::string start)
      : file_(std::move(file)), start_(std::move(start)) {}

  Result<std::size_t> Read(std::span<char> buffer) override {
    if (!start_.empty()) {
      const std::size_t bytes = std::min(start_.size(), buffer.size());
      std::memcpy(buffer.data(), start_.data(), bytes);
      start_.erase(0, bytes);
      return bytes;
    }
    return file_->Read(buffer.data(), buffer.size());
  }
  std::uint64_t consumed() const override { return file_->read(); }
  std::uint64_t file_size() const override { return file_->size(); }
  std::uint64_t content_hash() override {
    // The rest of a file that was not read to its end is part of the identity all the same.
    std::vector<char> rest(kInputBytes);
    while (file_->Read(rest.data(), rest.size()).value_or(0) > 0) {
    }
    return file_->hash();
  }
  const std::string& damage() const override { return damage_; }
  bool compressed() const override { return false; }
  std::unique_ptr<const RestartPoint> Mark() const override {
    return std::make_unique<PlainPoint>(file_->read() - start_.size());
  }

 private:
  std::unique_ptr<File> file_;
  std::string start_;  // bytes read while looking at the content
  std::string damage_;
};

Result<std::unique_ptr<ByteSource>> PlainPoint::Open(InputFile input) const {
  JV_ASSIGN(auto file, OpenAt(std::move(input), place_));
  return std::make_unique<PlainSource>(std::move(file), std::string());
}

// How far inflating has come. ISA-L keeps the text that later text may refer to inside its state
// between calls, so that a copy of the state is all that it takes to go on.
struct Inflating {
  inflate_state state{};
  bool inside_member = false;
  int members = 0;
};

class GzipPoint : public RestartPoint {
 public:
  GzipPoint(std::uint64_t place, const Inflating& inflating) : place_(place), at_(inflating) {}
  Result<std::unique_ptr<ByteSource>> Open(InputFile input) const override;
  std::size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  std::uint64_t place_;
  Inflating at_;
};

// gzip of one or more members.
class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<File> file, const std::string& start)
      : file_(std::move(file)), input_(kInputBytes) {
    std::memcpy(input_.data(), start.data(), start.size());
    isal_inflate_init(&at_.state);
    at_.state.crc_flag = ISAL_GZIP;
    at_.state.next_in = input_.data();
    at_.state.avail_in = static_cast<std::uint32_t>(start.size());
  }
  // Goes on from where another source was. `file` stands at the first byte not inflated yet.
  GzipSource(std::unique_ptr<File> file, const Inflating& at)
      : file_(std::move(file)), input_(kInputBytes), at_(at) {
    at_.state.next_in = input_.data();
    at_.state.avail_in = 0;
  }

  Result<std::size_t> Read(std::span<char> buffer) override {
    at_.state.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
    at_.state.avail_out =
        static_cast<std::uint32_t>(std::min<std::size_t>(buffer.size(), std::size_t{1} << 30));
    const std::uint32_t wanted = at_.state.avail_out;
    while (!done_ && at_.state.avail_out > 0)
      JV_TRY(Step());
    return wanted - at_.state.avail_out;
  }
  std::uint64_t consumed() const override { return file_->read() - at_.state.avail_in; }
  std::uint64_t file_size() const override { return file_->size(); }
  std::uint64_t content_hash() override {
    // After damage the rest of the file has not been read; it is part of the identity all the same.
    while (file_->Read(reinterpret_cast<char*>(input_.data()), input_.size()).value_or(0) > 0) {
    }
    return file_->hash();
  }
  const std::string& damage() const override { return damage_; }
  bool compressed() const override { return true; }
  std::unique_ptr<const RestartPoint> Mark() const override {
    if (done_) return nullptr;
    return std::make_unique<GzipPoint>(consumed(), at_);
  }

 private:
  Status Step() {
    if (!at_.inside_member) {
      JV_ASSIGN(const bool more, Refill());
      if (!more) {
        done_ = true;
        return {};
      }
      if (at_.members > 0 && *at_.state.next_in != 0x1f) {
        // Padding after the last member (tape blocks, some uploaders) is not data.
        End(fmt::format("{} or more bytes after the gzip stream are not gzip; ignored",
                        at_.state.avail_in));
        return {};
      }
      at_.inside_member = true;
    }
    const std::uint32_t room = at_.state.avail_out;
    const std::uint32_t input = at_.state.avail_in;
    const int code = isal_inflate(&at_.state);
    if (code < 0) {
      End(fmt::format("the gzip stream is corrupt near compressed byte {} ({})", consumed(),
                      code == ISAL_INCORRECT_CHECKSUM ? "checksum mismatch" : "invalid data"));
      return {};
    }
    if (at_.state.block_state == ISAL_BLOCK_FINISH) {
      ++at_.members;
      at_.inside_member = false;
      isal_inflate_reset(&at_.state);
      at_.state.crc_flag = ISAL_GZIP;
      return {};
    }
    if (at_.state.avail_out == room && at_.state.avail_in == input) {  // it wants more input
      JV_ASSIGN(const bool more, Refill());
      if (!more || input > 0) {
        End(fmt::format("the gzip stream is cut off after {} compressed bytes", file_->read()));
      }
    }
    return {};
  }

  // Makes sure that there is input; false at the end of the file.
  Result<bool> Refill() {
    if (at_.state.avail_in > 0) return true;
    JV_ASSIGN(const std::size_t got,
              file_->Read(reinterpret_cast<char*>(input_.data()), input_.size()));
    at_.state.next_in = input_.data();
    at_.state.avail_in = static_cast<std::uint32_t>(got);
    return got > 0;
  }

  void End(std::string damage) {
    damage_ = std::move(damage);
    done_ = true;
  }

  std::unique_ptr<File> file_;
  std::vector<std::uint8_t> input_;
  Inflating at_;
  bool done_ = false;
  std::string damage_;
};

Result<std::unique_ptr<ByteSource>> GzipPoint::Open(InputFile input) const {
  JV_ASSIGN(auto file, OpenAt(std::move(input), place_));
  return std::make_unique<GzipSource>(std::move(file), at_);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenBytes(const std::string& path) {
  JV_ASSIGN(InputFile input, FilePolicy().OpenInput(path));
  return OpenBytes(std::move(input));
}

Result<std::unique_ptr<ByteSource>> OpenBytes(InputFile input) {
  const std::string given = std::move(input.given);
  auto file = std::make_unique<File>(std::move(input.fd), input.size);
  std::string start(64, '\0');
  JV_ASSIGN(const std::size_t got, file->Read(start.data(), start.size()));
  start.resize(got);
  if (got == 0) {
    return Fail(ErrorCode::kNotATrace, fmt::format("\"{}\" is empty (0 bytes)", given));
  }
  std::unique_ptr<ByteSource> source;
  if (start.starts_with("\x1f\x8b")) {
    source = std::make_unique<GzipSource>(std::move(file), start);
  } else {
    source = std::make_unique<PlainSource>(std::move(file), std::move(start));
  }
  return source;
}

}  // namespace jarvis::io
