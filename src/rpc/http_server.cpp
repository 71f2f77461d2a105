#include "rpc/http_server.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "rpc/http_writer.h"
#include "rpc/log.h"

namespace jarvis::rpc {
namespace {

using std::chrono::milliseconds;

constexpr int kBacklog = 128;
constexpr milliseconds kTurnTime(1000);      // for a refused client to take its answer
constexpr std::size_t kTurnedMax = 64;       // that are still being refused
constexpr milliseconds kHeadPatience(2000);  // when there is no room for others
constexpr milliseconds kNoDescriptors(20);   // between attempts when there are none left
constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
    "Connection: close\r\n\r\n";

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

socklen_t Fill(const HttpAddress& address, SocketAddress& filled) {
  std::memset(&filled, 0, sizeof filled);
  if (address.is_v6) {
    filled.v6.sin6_family = AF_INET6;
    filled.v6.sin6_port = htons(static_cast<std::uint16_t>(address.port));
    ::inet_pton(AF_INET6, address.host.c_str(), &filled.v6.sin6_addr);
    return sizeof filled.v6;
  }
  filled.v4.sin_family = AF_INET;
  filled.v4.sin_port = htons(static_cast<std::uint16_t>(address.port));
  ::inet_pton(AF_INET, address.host.c_str(), &filled.v4.sin_addr);
  return sizeof filled.v4;
}

int BoundPort(int fd) {
  SocketAddress bound;
  socklen_t size = sizeof bound;
  if (::getsockname(fd, &bound.any, &size) != 0) return 0;
  return ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
}

std::string Shown(const HttpAddress& address) {
  const std::string host = address.is_v6 ? "[" + address.host + "]" : address.host;
  return host + ":" + std::to_string(address.port);
}

// Of an IPv6 address the network, which is what a host is given.
std::string AddressText(const sockaddr_storage& from) {
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else if (from.ss_family == AF_INET6) {
    in6_addr network = reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&network) == 0)
      std::fill(std::begin(network.s6_addr) + 8, std::end(network.s6_addr), std::uint8_t{0});
    ::inet_ntop(AF_INET6, &network, text, sizeof text);
  }
  return text;
}

}  // namespace

Result<HttpAddress> ParseHttpAddress(const std::string& text) {
  const auto fail = [&] {
    return Fail(ErrorCode::kBadValue,
                "\"" + text +
                    "\" is no address; expected HOST:PORT with a numeric host, such as "
                    "127.0.0.1:8765 or [::1]:8765");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return fail();
  HttpAddress address;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, address.port);
  if (read.ec != std::errc() || read.ptr != end || address.port < 0 || address.port > 65535) {
    return fail();
  }
  address.host = text.substr(0, colon);
  if (address.host == "localhost") address.host = "127.0.0.1";
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
    address.is_v6 = true;
  }
  in6_addr v6;
  in_addr v4;
  if (address.is_v6) {
    if (::inet_pton(AF_INET6, address.host.c_str(), &v6) != 1) return fail();
    address.is_loopback = IN6_IS_ADDR_LOOPBACK(&v6);
  } else {
    if (::inet_pton(AF_INET, address.host.c_str(), &v4) != 1) return fail();
    address.is_loopback = (ntohl(v4.s_addr) >> 24) == 127;
  }
  return address;
}

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(const HttpAddress& address,
                                                       const HttpLimits& limits) {
  FileDescriptor listener(
      ::socket(address.is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!listener.valid() || !wake.valid()) return Fail(ErrorCode::kIo, "cannot make a socket");
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(listener.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // for what it accepts
  SocketAddress where;
  const socklen_t size = Fill(address, where);
  if (::bind(listener.get(), &where.any, size) != 0 || ::listen(listener.get(), kBacklog) != 0) {
    const int why = errno;
    std::string message = "cannot listen on " + Shown(address) + ": ";
    if (why == EADDRINUSE) {
      message += "the port is in use; choose another, or 0 for any free one";
    } else {
      message += std::generic_category().message(why);
    }
    return Fail(ErrorCode::kIo, std::move(message));
  }
  const int port = BoundPort(listener.get());
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(listener), std::move(wake), port, limits));
}

HttpServer::HttpServer(FileDescriptor listener, FileDescriptor wake, int port,
                       const HttpLimits& limits)
    : listener_(std::move(listener)), wake_(std::move(wake)), port_(port), limits_(limits) {}

HttpServer::~HttpServer() {
  Stop();
  {
    std::unique_lock lock(mutex_);
    closed_.wait(lock, [this] { return open_.empty(); });
  }
  Reap();
}

void HttpServer::Run(HttpHandler& handler) {
  while (true) {
    pollfd fds[] = {{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    const int ready = ::poll(fds, 2, refused_.empty() ? -1 : 50);
    if (ready < 0 && errno != EINTR) return;
    CloseRefused();
    if (ready <= 0) continue;
    if (fds[1].revents != 0) {
      eventfd_t ignored = 0;
      ::eventfd_read(wake_.get(), &ignored);
      Reap();
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    if (fds[0].revents != 0) Accept(handler);
  }
  refused_.clear();
}

void HttpServer::Accept(HttpHandler& handler) {
  sockaddr_storage from{};
  socklen_t from_size = sizeof from;
  FileDescriptor fd(
      ::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &from_size, SOCK_CLOEXEC));
  if (!fd.valid()) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      LogWarning("no descriptor left for a connection");
      std::this_thread::sleep_for(kNoDescriptors);
    }
    return;
  }
  std::unique_lock lock(mutex_);
  if (open_.size() >= limits_.connections && !MakeRoom()) {
    lock.unlock();
    Turn(std::move(fd));
    return;
  }
  const std::uint64_t id = next_id_++;
  try {
    Connection& connection = open_[id];
    connection.socket = std::make_unique<HttpSocket>(std::move(fd), limits_.write_stall);
    connection.id = id;
    connection.address = AddressText(from);
    connection.thread.emplace_back([this, &connection, &handler] { Serve(connection, handler); });
  } catch (const std::exception&) {  // no more threads or memory to be had
    open_.erase(id);
  }
}

// Those that were told to go still count until they are gone, so a few more may come in meanwhile.
bool HttpServer::MakeRoom() {
  if (open_.size() >= limits_.connections + kTurnedMax) return false;
  Connection* oldest = nullptr;
  Connection* slowest = nullptr;
  const auto slow = HttpClock::now() - kHeadPatience;
  for (auto& [id, connection] : open_) {
    if (connection.idle && (oldest == nullptr || connection.since < oldest->since)) {
      oldest = &connection;
    }
    if (connection.in_head && connection.since < slow &&
        (slowest == nullptr || connection.since < slowest->since)) {
      slowest = &connection;
    }
  }
  // Whoever dawdles over a head has shown no token yet, and one who is idle may have.
  if (slowest != nullptr) oldest = slowest;
  if (oldest == nullptr) return false;
  oldest->idle = oldest->in_head = false;
  oldest->socket->ShutRead();
  return true;
}

void HttpServer::Turn(FileDescriptor fd) noexcept {
  static_cast<void>(::send(fd.get(), kFull.data(), kFull.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  ::shutdown(fd.get(), SHUT_WR);
  // Closing at once, on a request that has not been read, would destroy the answer on its way.
  if (refused_.size() >= kTurnedMax) refused_.pop_front();
  std::list<Refused> one;
  try {
    one.push_back({std::move(fd), HttpClock::now() + kTurnTime});
  } catch (const std::bad_alloc&) {
    return;
  }
  refused_.splice(refused_.end(), one);
}

void HttpServer::CloseRefused() {
  const auto now = HttpClock::now();
  refused_.remove_if([now](const Refused& client) {
    char bytes[4096];
    const ssize_t got = ::recv(client.fd.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    return now > client.until || got == 0 || (got < 0 && errno != EAGAIN);
  });
}

void HttpServer::Serve(Connection& connection, HttpHandler& handler) {
  try {
    HttpWriter writer;
    while (ServeOne(connection, handler, writer)) {
    }
  } catch (const std::exception& exception) {  // the writer, or no memory
    LogWarning("a connection failed: ", exception.what());
  }
  std::unique_ptr<HttpSocket> mine;
  {
    // From here on nobody else knows the socket.
    const std::lock_guard lock(mutex_);
    connection.idle = connection.reading = connection.in_head = false;
    mine = std::move(connection.socket);
  }
  mine->CloseGently();
  const std::lock_guard lock(mutex_);
  const auto entry = open_.find(connection.id);
  over_.splice(over_.end(), entry->second.thread);
  open_.erase(entry);
  ::eventfd_write(wake_.get(), 1);
  closed_.notify_all();
}

bool HttpServer::ServeOne(Connection& connection, HttpHandler& handler, HttpWriter& writer) {
  HttpSocket& socket = *connection.socket;
  if (!Note(connection, /*reading=*/true, /*idle=*/true)) return false;
  if (!socket.WaitForRequest(limits_.idle_time)) return false;
  if (!Note(connection, /*reading=*/true, /*idle=*/false, /*in_head=*/true)) return false;
  const auto deadline = HttpClock::now() + limits_.request_time;
  auto request = socket.ReadHead(limits_.head, deadline);
  const auto refuse = [&](HttpReply reply, bool head_only) {
    Note(connection, /*reading=*/false, /*idle=*/false);
    writer.Write(socket, std::move(reply), head_only, /*close=*/true);
    return false;
  };
  if (!request) return request.error() != 0 && refuse(handler.Refuse(request.error()), false);
  request->address = connection.address;
  request->connection = connection.id;
  const bool head_only = request->method == "HEAD";
  if (auto refusal = handler.Admit(*request)) return refuse(std::move(*refusal), head_only);
  Note(connection, /*reading=*/true, /*idle=*/false);
  if (const auto read = socket.ReadBody(*request, limits_.body_bytes, deadline); !read) {
    return read.error() != 0 && refuse(handler.Refuse(read.error()), head_only);
  }
  const bool go_on = Note(connection, /*reading=*/false, /*idle=*/false);
  HttpReply reply = [&] {
    try {
      return handler.Answer(*request, socket);
    } catch (const std::exception& exception) {
      LogWarning("a request failed: ", exception.what());
      HttpReply broken = handler.Refuse(500);
      broken.close = true;
      return broken;
    }
  }();
  const bool close = reply.close || !go_on || WantsClose(*request);
  request->body = std::string();  // not kept while a stream lives
  return writer.Write(socket, std::move(reply), head_only, close) && !close;
}

bool HttpServer::Note(Connection& connection, bool reading, bool idle, bool in_head) {
  const std::lock_guard lock(mutex_);
  connection.reading = reading;
  connection.idle = idle;
  connection.in_head = in_head;
  connection.since = HttpClock::now();
  return !stopping_;
}

void HttpServer::Reap() {
  std::list<std::thread> over;
  {
    const std::lock_guard lock(mutex_);
    over.swap(over_);
  }
  for (std::thread& thread : over)
    thread.join();
}

void HttpServer::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (auto& [id, connection] : open_) {
    if (connection.reading && connection.socket) connection.socket->ShutRead();
  }
  ::eventfd_write(wake_.get(), 1);
}

bool HttpServer::WaitClosed(milliseconds patience) {
  std::unique_lock lock(mutex_);
  return closed_.wait_for(lock, patience, [this] { return open_.empty(); });
}

}  // namespace jarvis::rpc
