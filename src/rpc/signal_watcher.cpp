#include "rpc/signal_watcher.h"

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include "base/parallel.h"

namespace jarvis::rpc {
namespace {

constexpr int kPatienceMs = 5000;

sigset_t Watched() {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGINT);
  ::sigaddset(&mask, SIGTERM);
  return mask;
}

}  // namespace

Status SignalWatcher::Block() {
  const sigset_t mask = Watched();
  if (::pthread_sigmask(SIG_BLOCK, &mask, nullptr) == 0) return {};
  return Fail(ErrorCode::kIo, "cannot block signals");
}

bool SignalWatcher::Blocked() {
  sigset_t mask;
  ::sigemptyset(&mask);
  return ::pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0 && ::sigismember(&mask, SIGINT) == 1 &&
         ::sigismember(&mask, SIGTERM) == 1;
}

Result<std::unique_ptr<SignalWatcher>> SignalWatcher::Start(Callback on_signal) {
  JV_TRY(Block());
  const sigset_t mask = Watched();
  FileDescriptor signals(::signalfd(-1, &mask, SFD_CLOEXEC));
  FileDescriptor stop(::eventfd(0, EFD_CLOEXEC));
  if (!signals.valid() || !stop.valid()) return Fail(ErrorCode::kIo, "cannot watch signals");
  std::unique_ptr<SignalWatcher> watcher(new SignalWatcher(std::move(signals), std::move(stop)));
  try {
    watcher->thread_ = std::thread(
        [raw = watcher.get(), callback = std::move(on_signal)] { raw->Watch(callback); });
  } catch (const std::system_error&) {
    return Fail(ErrorCode::kBusy, kNoThread);
  }
  return watcher;
}

SignalWatcher::SignalWatcher(FileDescriptor signals, FileDescriptor stop)
    : signals_(std::move(signals)), stop_(std::move(stop)) {}

SignalWatcher::~SignalWatcher() {
  ::eventfd_write(stop_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void SignalWatcher::Watch(const Callback& on_signal) {
  int first = 0;
  while (true) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    const int ready = ::poll(fds, 2, first == 0 ? -1 : kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || fds[1].revents != 0) return;
    if (ready == 0) ::_exit(128 + first);  // the patience is over
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    if (first != 0) ::_exit(128 + first);
    first = static_cast<int>(info.ssi_signo);
    on_signal(first);
  }
}

}  // namespace jarvis::rpc
