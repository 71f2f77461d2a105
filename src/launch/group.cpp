#include "launch/group.h"

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "base/text.h"

namespace jarvis::launch {
namespace {

// Environments are mostly a few kilobytes; the mark stands first in one that we made.
constexpr std::size_t kEnvironmentBytesMax = std::size_t{256} << 10;

// The start of a file of /proc; empty: the process is gone, or another user's.
std::string ProcText(pid_t process, std::string_view name, std::size_t bytes_max) {
  const FileDescriptor file(
      ::open(fmt::format("/proc/{}/{}", process, name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16384> buffer{};
  while (file.valid() && text.size() < bytes_max) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> processes;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return processes;
  while (const dirent* entry = ::readdir(folder)) {
    const auto number = ParseInt(static_cast<const char*>(entry->d_name));
    if (number && *number > 1) processes.push_back(static_cast<pid_t>(*number));
  }
  ::closedir(folder);
  return processes;
}

}  // namespace

std::string RunGroup::NewMark() {
  static std::atomic<unsigned> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}.{}.{}", ::getpid(), now.count(), counter++);
}

bool RunGroup::Marked(pid_t process) const {
  const std::string line = fmt::format("{}={}", kMarkVariable, mark_);
  std::string_view left;
  const std::string text = ProcText(process, "environ", kEnvironmentBytesMax);
  for (left = text; !left.empty();) {
    const std::string_view one = left.substr(0, left.find('\0'));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    if (one == line) return true;
  }
  return false;
}

// /proc/N/stat is "N (name) state parent group ..."; a name may hold anything.
bool RunGroup::InGroup(pid_t process, bool* lives) const {
  const std::string text = ProcText(process, "stat", 4096);
  const std::size_t name_end = text.rfind(") ");
  *lives = name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
  if (!*lives) return false;
  std::string_view fields = std::string_view(text).substr(name_end + 4);
  fields.remove_prefix(std::min(fields.size(), fields.find(' ') + 1));
  return ParseInt(fields.substr(0, fields.find(' '))) == std::int64_t{leader_};
}

std::vector<pid_t> RunGroup::Others() const {
  std::vector<pid_t> others;
  for (const pid_t process : AllProcesses()) {
    bool lives = false;
    if (process == leader_ || process == ::getpid()) continue;
    if (InGroup(process, &lives) || (lives && Marked(process))) others.push_back(process);
  }
  return others;
}

void RunGroup::Signal(int signal) const {
  ::kill(-leader_, signal);
  for (const pid_t process : Others()) {
    bool lives = false;
    if (InGroup(process, &lives)) continue;  // has it; some take a second one for impatience
    // Through a descriptor, so that a number that is given to another process in between does no
    // harm: it is looked at again once it cannot change any more.
    const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    if (handle.valid() && Marked(process)) {
      static_cast<void>(::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0));
    }
  }
}

}  // namespace jarvis::launch
