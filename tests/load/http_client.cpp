#include "load/http_client.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace jarvis::load {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lowered;
}

std::size_t ReadNumber(std::string_view text, int base) {
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (read.ec != std::errc()) throw std::runtime_error("no number: " + std::string(text));
  return number;
}

// Where the chunked body that starts at `at` ends; its data goes to `body`. npos: not yet.
std::size_t ReadChunks(std::string_view bytes, std::size_t at, std::string& body) {
  while (true) {
    const std::size_t end = bytes.find(kLineEnd, at);
    if (end == std::string_view::npos) return end;
    const std::size_t size = ReadNumber(bytes.substr(at, end - at), 16);
    const std::size_t next = end + kLineEnd.size() + size + kLineEnd.size();
    if (next > bytes.size()) return std::string_view::npos;
    if (size == 0) return next;
    body.append(bytes, end + kLineEnd.size(), size);
    at = next;
  }
}

}  // namespace

FileDescriptor ConnectTo(int port) {
  FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

std::string PostBytes(int port, std::string_view lines, std::string_view body) {
  std::string bytes = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                      "\r\nContent-Type: application/json"
                      "\r\nAccept: application/json, text/event-stream\r\n";
  bytes += lines;
  bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  bytes += body;
  return bytes;
}

std::string Reply::Header(std::string_view name) const {
  const std::string lowered = Lowered(head);
  const std::string start = std::string(kLineEnd) + std::string(name) + ":";
  const std::size_t at = lowered.find(start);
  if (at == std::string::npos) return {};
  const std::size_t value = head.find_first_not_of(' ', at + start.size());
  return head.substr(value, head.find(kLineEnd, value) - value);
}

std::optional<Reply> TakeReply(std::string& bytes) {
  constexpr std::string_view kStart = "HTTP/1.1 ";
  const std::size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string::npos) return std::nullopt;
  if (!bytes.starts_with(kStart)) throw std::runtime_error("no reply: " + bytes.substr(0, 80));
  Reply reply;
  reply.head = bytes.substr(0, head_end);
  reply.status = static_cast<int>(ReadNumber(std::string_view(bytes).substr(kStart.size(), 3), 10));
  std::size_t end = head_end + 4;
  if (!reply.Header("transfer-encoding").empty()) {
    end = ReadChunks(bytes, end, reply.body);
    if (end == std::string::npos) return std::nullopt;
  } else {
    const std::string length = reply.Header("content-length");
    const std::size_t size = length.empty() ? 0 : ReadNumber(length, 10);
    if (bytes.size() - end < size) return std::nullopt;
    reply.body = bytes.substr(end, size);
    end += size;
  }
  bytes.erase(0, end);
  return reply;
}

void SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) throw std::runtime_error("the server hung up while we sent");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

namespace {

void Receive(int fd, std::string& bytes) {
  char piece[4096];
  const ssize_t got = ::recv(fd, piece, sizeof piece, 0);
  if (got <= 0) throw std::runtime_error("the server hung up after \"" + bytes + "\"");
  bytes.append(piece, static_cast<std::size_t>(got));
}

}  // namespace

std::string ReceiveUntil(int fd, std::string_view mark) {
  std::string bytes;
  while (bytes.find(mark) == std::string::npos)
    Receive(fd, bytes);
  return bytes;
}

Reply Ask(int fd, std::string_view request) {
  SendAll(fd, request);
  std::string bytes;
  while (true) {
    Receive(fd, bytes);
    if (auto reply = TakeReply(bytes)) return *std::move(reply);
  }
}

}  // namespace jarvis::load
