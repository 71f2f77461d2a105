// A file as a stream of bytes, unpacked: plain, gzip, zstd, xz, bzip2, lz4, one file of a zip or
// tar archive, and text in UTF-16 as UTF-8; one inside another too. Told apart by content, never by
// name.
//
// Threads: one reader. Damage (a cut or corrupt stream) is not an error: reading ends there, what
// came before is good, and damage() says what was found. Memory is bounded by what the format needs
// to look back; nothing is unpacked to disk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"

namespace jarvis::io {

class ByteSource;

// A place in a file from which reading can begin anew, with what inflating had come to there.
// Const; any number of threads may open sources from it.
class RestartPoint {
 public:
  virtual ~RestartPoint() = default;
  // A source that goes on where this point was taken. REQUIRES: `input` is the same file.
  virtual Result<std::unique_ptr<ByteSource>> Open(InputFile input) const = 0;
  virtual std::size_t MemoryBytes() const = 0;
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `buffer`; how many bytes, 0 at the end.
  virtual Result<std::size_t> Read(std::span<char> buffer) = 0;
  // Bytes of the file on disk consumed so far, and its size.
  virtual std::uint64_t consumed() const = 0;
  virtual std::uint64_t file_size() const = 0;
  // XXH3 of the file's bytes as they are on disk, which tells a named file of an archive from
  // others of it; reads those that Read has not come to.
  virtual std::uint64_t content_hash() = 0;
  // What was wrong with the container, as a sentence; empty if nothing.
  virtual const std::string& damage() const = 0;
  virtual bool compressed() const = 0;
  // The place that Read has come to; null where reading cannot begin anew. What a source that was
  // opened there says of consumed() and damage() is as if it had read all before.
  virtual std::unique_ptr<const RestartPoint> Mark() const { return nullptr; }
};

struct BytesOptions {
  // The file that is meant where the input is an archive; empty: the one that the input names, else
  // the only one there is.
  std::string member = {};
  const Job* job = nullptr;  // stops what takes long: passing over the files before that one
};

// Errors: kNotATrace: the file is empty, or an archive of several; kTraceNotFound: no such member;
// kTooLarge: a trap; kIo.
Result<std::unique_ptr<ByteSource>> OpenBytes(InputFile input, const BytesOptions& options = {});
// Any path; for programs that have no callers to protect from.
Result<std::unique_ptr<ByteSource>> OpenBytes(const std::string& path);

// The content_hash() of an input.
std::uint64_t HashOf(const InputFile& input);

// kTooLarge where so few bytes became so many that it is a trap.
Status CheckExpansion(std::uint64_t packed, std::uint64_t unpacked);

}  // namespace jarvis::io
