// zip and tar archives, and what single files are packed in besides gzip, read as streams by
// libarchive. Names in an archive are data: nothing is written, no path is made of them.
//
// Threads: one reader.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/job.h"
#include "io/byte_source.h"
#include "io/packing.h"
#include "io/plain_source.h"

struct archive;

namespace jarvis::io {

struct ArchiveLibrary;

class ArchiveReader {
 public:
  struct Entry {
    std::string name;        // in valid UTF-8, as it is written there
    bool is_file = false;    // a regular one: no directory, link or device
    bool encrypted = false;  // its bytes cannot be read
  };

  // `packing`: what `from` begins with; all but gzip and UTF-16. A single file is an archive of one
  // entry. `file`: `from`, if that is a file itself, in which what nobody asked for is not read.
  // `job` stops it; null: nothing does.
  ArchiveReader(Packing packing, std::unique_ptr<ByteSource> from, PlainSource* file,
                const Job* job);
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;
  ~ArchiveReader();

  // The next entry; absent at the end, and where damage ends reading. Errors: kTooLarge, kIo,
  // kCancelled.
  Result<std::optional<Entry>> Next();
  // Fills the front of the buffer with the entry's next bytes; 0 at its end.
  Result<std::size_t> Read(std::span<char> buffer);

  ByteSource& from() const { return *from_; }
  // What was wrong, as a sentence; empty if nothing.
  const std::string& damage() const { return damage_; }

 private:
  struct Callbacks;
  Status Open();
  // What a call of the library came to that did not end well.
  Status Failed(int code);
  Result<bool> NextBlock();
  Result<std::size_t> ReadPacked();

  const ArchiveLibrary* const library_;  // null: not to be had
  const Packing packing_;
  std::unique_ptr<ByteSource> from_;
  PlainSource* const file_;
  const Job* const job_;
  std::string buffer_;
  ::archive* archive_ = nullptr;
  bool opened_ = false;
  bool ended_ = false;
  std::string damage_;
  // The entry's block at hand, and where in the entry it begins; before it is a hole.
  const char* block_ = nullptr;
  std::size_t block_bytes_ = 0;
  std::int64_t block_at_ = 0;
  std::uint64_t entries_ = 0;
  std::int64_t at_ = 0;         // in the entry
  std::uint64_t given_ = 0;     // bytes to the library
  std::uint64_t unpacked_ = 0;  // bytes to the caller
  std::optional<Error> error_;  // of the bytes, while the library was in between
  std::exception_ptr thrown_;
};

// One file of an archive as a source.
class ArchiveFileSource : public ByteSource {
 public:
  // `reader` stands at the file.
  explicit ArchiveFileSource(std::unique_ptr<ArchiveReader> reader) : reader_(std::move(reader)) {}

  Result<std::size_t> Read(std::span<char> buffer) override { return reader_->Read(buffer); }
  std::uint64_t consumed() const override { return reader_->from().consumed(); }
  std::uint64_t file_size() const override { return reader_->from().file_size(); }
  std::uint64_t content_hash() override { return reader_->from().content_hash(); }
  const std::string& damage() const override {
    const std::string& below = reader_->from().damage();
    return below.empty() ? reader_->damage() : below;
  }
  bool compressed() const override { return true; }

 private:
  std::unique_ptr<ArchiveReader> reader_;
};

}  // namespace jarvis::io
