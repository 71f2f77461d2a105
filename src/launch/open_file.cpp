#include "launch/open_file.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jarvis::launch {
namespace {

constexpr std::chrono::milliseconds kOpenPatience(3000);
constexpr std::chrono::milliseconds kOpenPause(20);

bool HasDesktop() {
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

// In a session of its own, with no descriptors but those of nothing; -1: it cannot be started.
pid_t StartOpener(const std::string& path) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  std::string program = "xdg-open";
  std::string argument = path;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, program.c_str(), &files, &how, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  return failed == 0 ? pid : -1;
}

}  // namespace

bool OpenFile(const std::string& path) {
  const pid_t pid = HasDesktop() ? StartOpener(path) : -1;
  if (pid < 0) return false;
  const auto until = std::chrono::steady_clock::now() + kOpenPatience;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    // What it opened may run as long as it is looked at.
    if (std::chrono::steady_clock::now() > until) return true;
    std::this_thread::sleep_for(kOpenPause);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace jarvis::launch
