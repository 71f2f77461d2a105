#include "rpc/log.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <mutex>

#include <poll.h>
#include <unistd.h>

namespace jarvis::rpc {
namespace {

// A pipe that polls as writable takes this much without waiting (PIPE_BUF is 4096 on Linux).
constexpr std::size_t kLogLineBytesMax = 1024;
constexpr int kLinesPerSecond = 20;

struct LogState {
  std::mutex mutex;
  std::chrono::steady_clock::time_point second{};
  int lines = 0;  // in this second
  std::size_t dropped = 0;
};

LogState& State() {
  static LogState state;
  return state;
}

bool Writable() {
  pollfd fd{STDERR_FILENO, POLLOUT, 0};
  return ::poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0;
}

}  // namespace

void LogWarning(std::string_view text, std::string_view detail) noexcept {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  const auto now = std::chrono::steady_clock::now();
  if (now - state.second >= std::chrono::seconds(1)) {
    state.second = now;
    state.lines = 0;
  }
  if (state.lines >= kLinesPerSecond || !Writable()) {
    ++state.dropped;
    return;
  }
  ++state.lines;
  std::array<char, kLogLineBytesMax> line;
  std::size_t size = 0;
  const auto add = [&](std::string_view part) {
    for (const char c : part.substr(0, line.size() - 1 - size)) {
      line[size++] = static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  };
  add("jarvis: ");
  if (state.dropped > 0) {
    std::array<char, 24> number;
    const char* const end =
        std::to_chars(number.data(), number.data() + number.size(), state.dropped).ptr;
    add("(");
    add({number.data(), static_cast<std::size_t>(end - number.data())});
    add(" lines dropped) ");
  }
  add(text);
  add(detail);
  line[size++] = '\n';
  if (::write(STDERR_FILENO, line.data(), size) >= 0) {
    state.dropped = 0;
  } else {
    ++state.dropped;
  }
}

}  // namespace jarvis::rpc
