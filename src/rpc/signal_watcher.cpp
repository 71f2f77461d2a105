#include "rpc/signal_watcher.h"

#include <cerrno>
#include <cstdint>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

namespace jarvis::rpc {
namespace {

constexpr int kPatienceMs = 5000;

}  // namespace

Result<std::unique_ptr<SignalWatcher>> SignalWatcher::Start(Callback on_signal) {
  sigset_t mask;
  sigset_t old_mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGINT);
  ::sigaddset(&mask, SIGTERM);
  if (::pthread_sigmask(SIG_BLOCK, &mask, &old_mask) != 0) {
    return Fail(ErrorCode::kIo, "cannot block signals");
  }
  FileDescriptor signals(::signalfd(-1, &mask, SFD_CLOEXEC));
  FileDescriptor stop(::eventfd(0, EFD_CLOEXEC));
  if (!signals.valid() || !stop.valid()) return Fail(ErrorCode::kIo, "cannot watch signals");
  std::unique_ptr<SignalWatcher> watcher(
      new SignalWatcher(std::move(signals), std::move(stop), old_mask));
  watcher->thread_ =
      std::thread([raw = watcher.get(), callback = std::move(on_signal)] { raw->Watch(callback); });
  return watcher;
}

SignalWatcher::SignalWatcher(FileDescriptor signals, FileDescriptor stop, sigset_t old_mask)
    : signals_(std::move(signals)), stop_(std::move(stop)), old_mask_(old_mask) {}

SignalWatcher::~SignalWatcher() {
  ::eventfd_write(stop_.get(), 1);
  if (thread_.joinable()) thread_.join();
  ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
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
