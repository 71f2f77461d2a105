#include "rpc/http_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

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

HttpSocket::Filled HttpSocket::Fill(HttpClock::time_point deadline) {
  std::array<char, kReadBytes> bytes;
  while (true) {
    pollfd fd{fd_.get(), POLLIN, 0};
    const int ready = ::poll(&fd, 1, Left(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Filled::kGone;
    if (ready == 0) return Filled::kTime;
    const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Filled::kGone;
    unread_.append(bytes.data(), static_cast<std::size_t>(got));
    return Filled::kYes;
  }
}

bool HttpSocket::WaitForRequest(milliseconds idle) {
  const auto deadline = HttpClock::now() + idle;
  while (true) {
    // Empty lines between requests are allowed and mean nothing.
    while (unread_.starts_with("\r\n"))
      unread_.erase(0, 2);
    if (!unread_.empty()) return true;
    if (Fill(deadline) != Filled::kYes) return false;
  }
}

tl::expected<HttpRequest, HttpStatus> HttpSocket::ReadHead(const HttpHeadLimits& limits,
                                                           HttpClock::time_point deadline) {
  std::size_t seen = 0;
  std::size_t end = std::string::npos;
  while ((end = unread_.find(kHeadEnd, seen)) == std::string::npos) {
    if (unread_.size() > limits.bytes) return tl::make_unexpected(431);
    seen = unread_.size() < kHeadEnd.size() ? 0 : unread_.size() - kHeadEnd.size() + 1;
    const Filled filled = Fill(deadline);
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
  ChunkDecoder chunks(bytes_max);
  while (true) {
    if (framing->chunked) {
      const auto state = chunks.Feed(unread_, request.body);
      if (!state) return tl::make_unexpected(state.error());
      if (*state == ChunkDecoder::State::kDone) return {};
    } else {
      const std::size_t taken = std::min(unread_.size(), framing->length - request.body.size());
      request.body.append(unread_, 0, taken);
      unread_.erase(0, taken);
      if (request.body.size() == framing->length) return {};
    }
    const Filled filled = Fill(deadline);
    if (filled != Filled::kYes) return tl::make_unexpected(filled == Filled::kTime ? 408 : 0);
  }
}

bool HttpSocket::Write(std::string_view bytes) {
  auto deadline = HttpClock::now() + write_stall_;
  while (!bytes.empty()) {
    const ssize_t put = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
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
      if (Fill(deadline) != Filled::kYes) break;
      thrown_away += unread_.size();
    }
  }
  fd_ = FileDescriptor();
}

void HttpSocket::ShutRead() {
  ::shutdown(fd_.get(), SHUT_RD);
}

}  // namespace jarvis::rpc
