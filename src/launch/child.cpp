#include "launch/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "base/text.h"
#include "launch/group.h"
#include "launch/output_log.h"

namespace jarvis::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kTickMs = 50;

// Ends the run's processes when we die without a word, be it by SIGKILL: its input is a pipe of
// ours, which then ends. A shell, not a fork of us, so that it holds none of our memory.
constexpr const char* kGuard = R"(
read -r word && exit 0
kill -s TERM -- "-$1" 2>/dev/null
n=0
while [ $n -lt 30 ] && kill -s 0 -- "-$1" 2>/dev/null; do sleep 0.1; n=$((n + 1)); done
kill -s KILL -- "-$1" 2>/dev/null
grep -lsxzF -- "$2" /proc/[0-9]*/environ | tr -dc '0-9\n' |
  while read -r process; do kill -s KILL "$process" 2>/dev/null; done
)";

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Result<Pipe> MakePipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kIo, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

struct Spawned {
  std::vector<std::string> words;
  std::vector<std::string> environment;
  std::string workdir;
  int input = -1;   // -1: nothing to read
  int output = -1;  // stdout and stderr; -1: nowhere
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In a session, and so a process group, of its own; signals as a program expects them; no
// descriptor but the first three. posix_spawn does not copy our memory, however large.
Result<pid_t> Spawn(Spawned spawned) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t usual;
  ::sigemptyset(&none);
  ::sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD, SIGXFSZ})
    ::sigaddset(&usual, signal);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const auto connect = [&](int from, int to, int flags) {
    if (from >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions, from, to);
    } else {
      ::posix_spawn_file_actions_addopen(&actions, to, "/dev/null", flags, 0);
    }
  };
  connect(spawned.input, STDIN_FILENO, O_RDONLY);
  connect(spawned.output, STDOUT_FILENO, O_WRONLY);
  connect(spawned.output, STDERR_FILENO, O_WRONLY);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  if (!spawned.workdir.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&actions, spawned.workdir.c_str());
  }
  pid_t process = -1;
  const int error =
      ::posix_spawnp(&process, spawned.words.front().c_str(), &actions, &attributes,
                     Pointers(spawned.words).data(), Pointers(spawned.environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return process;
  return Fail(
      ErrorCode::kIo,
      fmt::format("cannot start \"{}\"{}: {}", Utf8Prefix(spawned.words.front(), 200),
                  spawned.workdir.empty() ? "" : " in " + spawned.workdir, std::strerror(error)),
      "is the program in the PATH of jarvis?");
}

std::vector<std::string> EnvironmentWith(const std::string& mark, const Environment& more) {
  std::vector<std::string> lines = {fmt::format("{}={}", RunGroup::kMarkVariable, mark)};
  for (const auto& [name, value] : more)
    lines.push_back(name + "=" + value);
  const std::size_t ours = lines.size();
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string_view text = *line;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (std::size_t i = 0; i < ours; ++i)
      replaced = replaced || lines[i].starts_with(name);
    if (!replaced) lines.emplace_back(text);
  }
  return lines;
}

// The guard of a group, for as long as it is there.
class Guard {
 public:
  Guard(pid_t group, const std::string& mark) {
    auto pipe = MakePipe();
    if (!pipe) return;
    auto process = Spawn({{"/bin/sh", "-c", kGuard, "jarvis-guard", std::to_string(group),
                           fmt::format("{}={}", RunGroup::kMarkVariable, mark)},
                          {"PATH=/usr/bin:/bin"},
                          {},
                          pipe->read.get(),
                          -1});
    if (!process) return;  // then only an orderly end ends the group
    process_ = *process;
    pipe_ = std::move(pipe->write);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() {
    if (process_ < 0) return;
    static_cast<void>(!::write(pipe_.get(), "done\n", 5));
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  pid_t process_ = -1;
  FileDescriptor pipe_;
};

class Running {
 public:
  Running(const ChildRequest& request, pid_t leader, const std::string& mark, FileDescriptor output)
      : request_(request),
        leader_(leader),
        group_(leader, mark),
        guard_(leader, mark),
        output_(std::move(output)),
        log_(request.log, request.log_bytes_max),
        began_(Clock::now()) {
    ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  }

  ChildEnd Wait(Job& job, const std::function<void()>& tick) {
    while (!Ended()) {
      Read();
      tick();
      if (job.stopped() && !end_.cancelled) {
        end_.cancelled = true;
        Ask();
      }
      if (TimeIsUp() && !end_.timed_out && !end_.cancelled) {
        end_.timed_out = true;
        Ask();
      }
      if (kill_at_ && Clock::now() >= *kill_at_) group_.Signal(SIGKILL);
    }
    EndOthers();
    Read();
    end_.log_left_out = log_.Finish();
    int status = 0;
    while (::waitpid(leader_, &status, 0) < 0 && errno == EINTR) {
    }
    end_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return end_;
  }

 private:
  bool TimeIsUp() const {
    return request_.timeout_s &&
           Clock::now() - began_ >= std::chrono::duration<double>(*request_.timeout_s);
  }

  // Without waiting for it: its number stays its own until all others of the group are gone.
  bool Ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == leader_;
  }

  void Ask() {
    group_.Signal(SIGTERM);
    kill_at_ = Clock::now() + request_.grace;
  }

  void EndOthers() {
    std::vector<pid_t> others = group_.Others();
    if (others.empty()) return;
    if (!kill_at_) {  // the program ended by itself and left them
      end_.left_behind = others.size();
      Ask();
    }
    while (!others.empty() && Clock::now() < *kill_at_) {
      Read();
      others = group_.Others();
    }
    if (!others.empty()) group_.Signal(SIGKILL);
  }

  // What there is, waiting a moment for it.
  void Read() {
    pollfd ready{output_.get(), POLLIN, 0};
    if (closed_) {
      std::this_thread::sleep_for(milliseconds(kTickMs));
      return;
    }
    if (::poll(&ready, 1, kTickMs) <= 0) return;
    // A program that never stops writing must not keep us from looking at the clock.
    for (int i = 0; i < 64; ++i) {
      const ssize_t got = ::read(output_.get(), buffer_.data(), buffer_.size());
      closed_ = got == 0;
      if (got <= 0) return;
      log_.Add({buffer_.data(), static_cast<std::size_t>(got)});
    }
  }

  const ChildRequest& request_;
  const pid_t leader_;
  const RunGroup group_;
  const Guard guard_;
  const FileDescriptor output_;
  OutputLog log_;
  const Clock::time_point began_;
  std::optional<Clock::time_point> kill_at_;
  std::array<char, 65536> buffer_{};
  bool closed_ = false;
  ChildEnd end_;
};

}  // namespace

Result<ChildEnd> RunChild(const ChildRequest& request, Job& job,
                          const std::function<void()>& tick) {
  JV_ASSIGN(Pipe output, MakePipe());
  const std::string mark = RunGroup::NewMark();
  JV_ASSIGN(const pid_t leader, Spawn({request.command, EnvironmentWith(mark, request.env),
                                       request.workdir, -1, output.write.get()}));
  output.write = FileDescriptor();
  return Running(request, leader, mark, std::move(output.read)).Wait(job, tick);
}

}  // namespace jarvis::launch
