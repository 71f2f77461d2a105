#include "launch/output_log.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <unistd.h>

namespace jarvis::launch {
namespace {

constexpr std::size_t kTailBytes = std::size_t{256} << 10;

}  // namespace

void OutputLog::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {  // a full disk must not stop the run
      left_out_ += bytes.size();
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void OutputLog::Add(std::string_view bytes) {
  const std::size_t fits =
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), bytes_max_ - written_));
  Write(bytes.substr(0, fits));
  written_ += fits;
  tail_ += bytes.substr(fits);
  if (tail_.size() > 2 * kTailBytes) {
    left_out_ += tail_.size() - kTailBytes;
    tail_.erase(0, tail_.size() - kTailBytes);
  }
}

std::uint64_t OutputLog::Finish() {
  if (left_out_ > 0 && !tail_.empty()) {
    Write(fmt::format("\n[{} bytes of output left out by jarvis]\n", left_out_));
  }
  Write(tail_);
  tail_.clear();
  return left_out_;
}

}  // namespace jarvis::launch
