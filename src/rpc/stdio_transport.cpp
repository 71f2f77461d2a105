#include "rpc/stdio_transport.h"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/parallel.h"
#include "rpc/line_splitter.h"

namespace jarvis::rpc {
namespace {

constexpr std::size_t kStdinReadBytes = std::size_t{64} << 10;

// A program started with a standard descriptor closed would get it again for something else.
void FillStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

}  // namespace

Result<std::unique_ptr<StdioTransport>> StdioTransport::Open() {
  FillStandardDescriptors();
  std::signal(SIGPIPE, SIG_IGN);
  FileDescriptor out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!out.valid() || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return Fail(ErrorCode::kIo, "cannot take over stdout");
  }
  return Over(STDIN_FILENO, std::move(out));
}

Result<std::unique_ptr<StdioTransport>> StdioTransport::Over(int in, FileDescriptor out) {
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake.valid()) return Fail(ErrorCode::kIo, "cannot make an eventfd");
  std::unique_ptr<StdioTransport> transport(
      new StdioTransport(in, std::move(out), std::move(wake)));
  try {
    transport->writer_ = std::thread([raw = transport.get()] { raw->Write(); });
  } catch (const std::system_error&) {
    return Fail(ErrorCode::kBusy, kNoThread);
  }
  return transport;
}

StdioTransport::StdioTransport(int in, FileDescriptor out, FileDescriptor wake)
    : in_(in), out_(std::move(out)), wake_(std::move(wake)) {}

StdioTransport::~StdioTransport() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void StdioTransport::Send(const Json& message) {
  std::string line = DumpLine(message);
  line += '\n';
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [this] { return backlog_bytes_ < kBacklogBytesMax || broken_ || stopping_; });
    // A client that has not read for so long, and is told to go, gets no more.
    if (broken_ || backlog_bytes_ >= kBacklogBytesMax) return;
    const std::size_t bytes = line.size();
    backlog_.push_back(std::move(line));
    backlog_bytes_ += bytes;
  }
  changed_.notify_all();
}

StdioTransport::End StdioTransport::Run(Receiver& receiver) {
  LineSplitter lines(receiver);
  std::string chunk(kStdinReadBytes, '\0');
  while (true) {
    pollfd fds[] = {{in_, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return End::kInput;
    }
    if (fds[1].revents != 0) {
      const std::lock_guard lock(mutex_);
      return broken_ ? End::kOutput : End::kStopped;
    }
    const ssize_t got = ::read(in_, chunk.data(), chunk.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) break;
    lines.Feed({chunk.data(), static_cast<std::size_t>(got)});
  }
  lines.Finish();
  return End::kInput;
}

void StdioTransport::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  Wake();
}

void StdioTransport::Wake() {
  ::eventfd_write(wake_.get(), 1);
}

bool StdioTransport::Flush(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return backlog_.empty() || broken_; });
}

void StdioTransport::Write() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !backlog_.empty() || closing_; });
    if (backlog_.empty()) return;
    // A reference into a deque outlives push_back, and only this thread pops.
    const std::string& line = backlog_.front();
    lock.unlock();
    const bool written = WriteAll(line);
    lock.lock();
    if (!written) {
      broken_ = true;
      backlog_.clear();
      backlog_bytes_ = 0;
    } else {
      backlog_bytes_ -= line.size();
      backlog_.pop_front();
    }
    changed_.notify_all();
    if (broken_) {
      Wake();
      return;
    }
  }
}

bool StdioTransport::WriteAll(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(out_.get(), bytes.data() + done, bytes.size() - done);
    if (put >= 0) {
      done += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN) {
      // Whoever started us may have made the shared descriptor non-blocking.
      pollfd fd{out_.get(), POLLOUT, 0};
      static_cast<void>(::poll(&fd, 1, -1));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace jarvis::rpc
