#include "app/progress_line.h"

#include <cstddef>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace jarvis::app {
namespace {

// Counts have no unit here: they may be bytes, events or ranks.
std::string Short(std::uint64_t count) {
  constexpr std::string_view kPrefixes = " kMGTPE";
  auto value = static_cast<double>(count);
  std::size_t prefix = 0;
  while (value >= 999.95 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  if (prefix == 0) return fmt::format("{}", count);
  return fmt::format("{:.1f} {}", value, kPrefixes[prefix]);
}

void Draw(int fd, const std::string& text) {
  static_cast<void>(!::write(fd, text.data(), text.size()));
}

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::size_t TerminalColumns(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

documents::TerminalLook TerminalLookOf(int fd) {
  if (::isatty(fd) == 0) return {};
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return {TerminalColumns(fd), !dumb && !IsSet("NO_COLOR")};
}

std::string ProgressText(std::uint64_t done, std::uint64_t total, std::string_view what) {
  std::string text(what);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (total == 0) return text + "  " + Short(done);
  const double percent = 100.0 * static_cast<double>(done) / static_cast<double>(total);
  return fmt::format("{}  {:.0f} %  {} of {}", text, percent > 100 ? 100 : percent, Short(done),
                     Short(total));
}

ProgressLine::ProgressLine(int fd) : fd_(fd), draws_(::isatty(fd) != 0) {}

ProgressLine::~ProgressLine() {
  if (drawn_) Draw(fd_, "\r\x1b[K");
}

void ProgressLine::Show(std::uint64_t done, std::uint64_t total, std::string_view what) {
  if (!draws_) return;
  drawn_ = true;
  Draw(fd_, "\r\x1b[K" + ProgressText(done, total, what).substr(0, TerminalColumns(fd_) - 1));
}

}  // namespace jarvis::app
