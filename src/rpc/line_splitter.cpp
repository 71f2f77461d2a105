#include "rpc/line_splitter.h"

#include <new>

namespace jarvis::rpc {

void LineSplitter::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    Append(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    Finish();
  }
}

void LineSplitter::Finish() {
  if (!skipping_) Deliver(pending_);
  skipping_ = false;
  pending_.clear();
  // One large message must not keep its memory for the rest of the session.
  if (pending_.capacity() > (std::size_t{1} << 20)) pending_.shrink_to_fit();
}

void LineSplitter::Append(std::string_view piece) {
  if (skipping_) return;
  if (piece.size() <= bytes_max_ - pending_.size()) {
    try {
      pending_.append(piece);
      return;
    } catch (const std::bad_alloc&) {
    }
  }
  skipping_ = true;
  pending_ = std::string();
  receiver_.OnOverlong();
}

void LineSplitter::Deliver(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  receiver_.OnMessage(line);
}

}  // namespace jarvis::rpc
