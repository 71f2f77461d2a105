#include "rpc/http_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

namespace jarvis::rpc {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReadBytes = std::size_t{16} << 10;
constexpr milliseconds kLinger(300);
constexpr std::size_t kLingerBytes = std::size_t{1} << 20;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

int Left(HttpClock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - HttpClock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 3'600'000));
}

}  // namespace

HttpSocket::Filled HttpSocket::Fill(std::string& to, std::size_t bytes_max,
                                    HttpClock::time_point deadline) {
  std::array<char, kReadBytes> bytes;
  while (true) {
    pollfd fd{fd_.get(), POLLIN, 0};
    const int ready = ::poll(&fd, 1, Left(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Filled::kGone;
    if (ready == 0) return Filled::kTime;
    const std::size_t wanted = std::min(bytes.size(), bytes_max);
    const ssize_t got = ::recv(fd_.get(), bytes.data(), wanted, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Filled::kGone;
    to.append(bytes.data(), static_cast<std::size_t>(got));
    return Filled::kYes;
  }
}

HttpSocket::Filled HttpSocket::FillIdle(milliseconds idle) {
  if (receive_time_ != idle) {
    timeval time{};
    time.tv_sec = idle.count() / 1000;
    time.tv_usec = idle.count() % 1000 * 1000;
    if (::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) != 0) {
      return Filled::kGone;
    }
    receive_time_ = idle;
  }
  std::array<char, kReadBytes> bytes;
  const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && errno == EINTR) return Fill(unread_, kReadBytes, HttpClock::now() + idle);
  if (got < 0 && errno == EAGAIN) return Filled::kTime;
  if (got <= 0) return Filled::kGone;
  unread_.append(bytes.data(), static_cast<std::size_t>(got));
  return Filled::kYes;
}

// Where a connection spends its life, so what usually happens costs one call of the kernel.
bool HttpSocket::WaitForRequest(milliseconds idle) {
  if (!unread_.empty() && !unread_.starts_with('\r')) return true;
  const auto deadline = HttpClock::now() + idle;
  Filled filled = unread_.empty() ? FillIdle(idle) : Filled::kYes;
  while (filled == Filled::kYes) {
    // Empty lines between requests are allowed and mean nothing.
    while (unread_.starts_with("\r\n"))
      unread_.erase(0, 2);
    if (!unread_.empty()) return true;
    filled = Fill(unread_, kReadBytes, deadline);
  }
  return false;
}

tl::expected<HttpRequest, HttpStatus> HttpSocket::ReadHead(const HttpHeadLimits& limits,
                                                           HttpClock::time_point deadline) {
  std::size_t seen = 0;
  std::size_t end = std::string::npos;
  while ((end = unread_.find(kHeadEnd, seen)) == std::string::npos) {
    if (unread_.size() > limits.bytes) return tl::make_unexpected(431);
    seen = unread_.size() < kHeadEnd.size() ? 0 : unread_.size() - kHeadEnd.size() + 1;
    const Filled filled = Fill(unread_, kReadBytes, deadline);
    if (filled != Filled::kYes) return tl::make_unexpected(filled == Filled::kTime ? 408 : 0);
  }
  if (end > limits.bytes) return tl::make_unexpected(431);
  auto head = ParseHttpHead(std::string_view(unread_).substr(0, end), limits);
  unread_.erase(0, end + kHeadEnd.size());
  return head;
}

tl::expected<void, HttpStatus> HttpSocket::ReadBody(HttpRequest& request, std::size_t bytes_max,
                                                    HttpClock::time_point deadline) {
  const auto framing = ReadHttpFraming(request);
  if (!framing) return tl::make_unexpected(framing.error());
  if (framing->length > bytes_max) return tl::make_unexpected(413);
  if ((framing->chunked || framing->length > 0) && request.minor_version > 0 &&
      request.Lists("expect", "100-continue")) {
    if (!Write("HTTP/1.1 100 Continue\r\n\r\n")) return tl::make_unexpected(0);
  }
  return framing->chunked ? ReadChunked(request.body, bytes_max, deadline)
                          : ReadPlain(request.body, framing->length, deadline);
}

tl::expected<void, HttpStatus> HttpSocket::ReadChunked(std::string& body, std::size_t bytes_max,
                                                       HttpClock::time_point deadline) {
  ChunkDecoder chunks(bytes_max);
  while (true) {
    const auto state = chunks.Feed(unread_, body);
    if (!state) return tl::make_unexpected(state.error());
    if (*state == ChunkDecoder::State::kDone) return {};
    const Filled filled = Fill(unread_, kReadBytes, deadline);
    if (filled != Filled::kYes) return tl::make_unexpected(filled == Filled::kTime ? 408 : 0);
  }
}

// What has come already is usually the body and nothing else; what is missing goes straight there.
tl::expected<void, HttpStatus> HttpSocket::ReadPlain(std::string& body, std::size_t length,
                                                     HttpClock::time_point deadline) {
  if (unread_.size() <= length) {
    body.swap(unread_);
    unread_.clear();
  } else {
    body.assign(unread_, 0, length);
    unread_.erase(0, length);
  }
  while (body.size() < length) {
    const Filled filled = Fill(body, length - body.size(), deadline);
    if (filled != Filled::kYes) return tl::make_unexpected(filled == Filled::kTime ? 408 : 0);
  }
  return {};
}

bool HttpSocket::Write(std::string_view bytes, std::string_view more) {
  auto deadline = HttpClock::now() + write_stall_;
  while (!bytes.empty() || !more.empty()) {
    std::array<iovec, 2> pieces = {iovec{const_cast<char*>(bytes.data()), bytes.size()},
                                   iovec{const_cast<char*>(more.data()), more.size()}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t put = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) {
      const auto sent = static_cast<std::size_t>(put);
      more.remove_prefix(sent - std::min(sent, bytes.size()));
      bytes.remove_prefix(std::min(sent, bytes.size()));
      deadline = HttpClock::now() + write_stall_;
      continue;
    }
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno != EAGAIN) return false;
    pollfd fd{fd_.get(), POLLOUT, 0};
    if (::poll(&fd, 1, Left(deadline)) == 0) return false;
    if ((fd.revents & (POLLERR | POLLHUP)) != 0) return false;
  }
  return true;
}

bool HttpSocket::PeerGone() const {
  pollfd fd{fd_.get(), POLLRDHUP, 0};
  return ::poll(&fd, 1, 0) > 0;
}

HttpPeer::Event HttpSocket::Wait(int wake_fd, int timeout_ms) {
  const auto deadline = HttpClock::now() + milliseconds(timeout_ms);
  while (true) {
    // POLLRDHUP sees the end of the peer's side even behind a request that waits in the socket.
    pollfd fds[] = {{fd_.get(), POLLRDHUP, 0}, {wake_fd, POLLIN, 0}};
    const int ready = ::poll(fds, 2, Left(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return Event::kTime;
    if (ready < 0 || fds[0].revents != 0) return Event::kGone;
    return Event::kWoken;
  }
}

void HttpSocket::CloseGently() {
  if (::shutdown(fd_.get(), SHUT_WR) == 0) {
    const auto deadline = HttpClock::now() + kLinger;
    std::size_t thrown_away = 0;
    while (thrown_away < kLingerBytes) {
      unread_.clear();
      if (Fill(unread_, kReadBytes, deadline) != Filled::kYes) break;
      thrown_away += unread_.size();
    }
  }
  fd_ = FileDescriptor();
}

void HttpSocket::ShutRead() {
  ::shutdown(fd_.get(), SHUT_RD);
}

}  // namespace jarvis::rpc
