// Cuts a byte stream into lines for a Receiver. A line ends with \n or \r\n; blank lines are
// skipped. Of a line over the limit, or for which there is no memory, nothing is kept: it is
// reported once and skipped to its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rpc/transport.h"

namespace jarvis::rpc {

inline constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;

class LineSplitter {
 public:
  explicit LineSplitter(Receiver& receiver, std::size_t bytes_max = kLineBytesMax)
      : receiver_(receiver), bytes_max_(bytes_max) {}

  void Feed(std::string_view bytes);
  // The stream is over: what is left counts as a line.
  void Finish();

 private:
  void Append(std::string_view piece);
  void Deliver(std::string_view line);

  Receiver& receiver_;
  std::size_t bytes_max_;
  std::string pending_;    // the start of a line whose end has not been seen
  bool skipping_ = false;  // inside a line over the limit
};

}  // namespace jarvis::rpc
