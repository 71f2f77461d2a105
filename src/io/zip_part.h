// A ZIP archive that is made part by part: each is deflated as it is written, so that parts can be
// made on several threads and no more than their deflated bytes is held.
//
// The same parts give the same bytes: no clock is in the archive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jarvis::io {

// One file of the archive. Threads: one writer.
class ZipPart {
 public:
  explicit ZipPart(std::string name);  // in ASCII
  ZipPart(ZipPart&&) noexcept;
  ZipPart& operator=(ZipPart&&) noexcept;
  ~ZipPart();

  void Add(std::string_view text);
  // After the last text, and before the archive is joined.
  void Finish();

  const std::string& name() const { return name_; }
  const std::string& deflated() const { return deflated_; }
  std::uint64_t size() const { return size_; }
  std::uint32_t checksum() const { return checksum_; }
  // Lets go of the bytes.
  void Drop() { deflated_ = std::string(); }

 private:
  struct Stream;
  void Deflate(std::string_view text, bool last);

  std::string name_;
  std::string deflated_;
  std::uint64_t size_ = 0;
  std::uint32_t checksum_ = 0;
  std::unique_ptr<Stream> stream_;  // null: finished
};

// The archive of finished parts. Fails where a part or the whole is 4 GiB or more, which the plain
// form of the format cannot say. Each part is let go of once it is in the archive.
Result<std::string> JoinZip(std::vector<ZipPart> parts);

}  // namespace jarvis::io
