#include "rpc/http_socket.h"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sys/socket.h>

namespace jarvis::rpc {
namespace {

using std::chrono::milliseconds;

struct Pair {
  explicit Pair(int kind = SOCK_STREAM) {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, kind, 0, fds.data()) == 0);
    client = FileDescriptor(fds[0]);
    server = std::make_unique<HttpSocket>(FileDescriptor(fds[1]), milliseconds(5000));
  }
  void Say(std::string_view text) const {
    REQUIRE(::send(client.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }

  FileDescriptor client;
  std::unique_ptr<HttpSocket> server;
};

HttpClock::time_point Soon() {
  return HttpClock::now() + std::chrono::seconds(10);
}

// A socket that keeps the borders of messages shows how many there were.
TEST_CASE("a head and its body leave together") {
  const Pair pair(SOCK_SEQPACKET);
  CHECK(pair.server->Write("head\r\n\r\n", "body"));
  std::array<char, 64> bytes{};
  const ssize_t got = ::recv(pair.client.get(), bytes.data(), bytes.size(), 0);
  CHECK(std::string(bytes.data(), static_cast<std::size_t>(got)) == "head\r\n\r\nbody");
}

TEST_CASE("what does not fit at once is written in pieces, in order") {
  const Pair pair;
  const std::string head(3'000'000, 'h');
  const std::string body(3'000'000, 'b');
  std::thread writer([&] { CHECK(pair.server->Write(head, body)); });
  std::string read;
  std::array<char, 65536> bytes{};
  while (read.size() < head.size() + body.size()) {
    const ssize_t got = ::recv(pair.client.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) break;
    read.append(bytes.data(), static_cast<std::size_t>(got));
  }
  writer.join();
  CHECK(read == head + body);
}

TEST_CASE("requests that come together are read one by one") {
  const Pair pair;
  const std::string post = "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n";
  pair.Say("\r\n\r\n" + post + "abc\r\n" + post + "d");
  REQUIRE(pair.server->WaitForRequest(milliseconds(5000)));
  auto first = pair.server->ReadHead({}, Soon());
  REQUIRE(first);
  REQUIRE(pair.server->ReadBody(*first, 100, Soon()));
  CHECK(first->body == "abc");
  REQUIRE(pair.server->WaitForRequest(milliseconds(5000)));
  auto second = pair.server->ReadHead({}, Soon());
  REQUIRE(second);
  pair.Say("ef" + post + "ghi");
  REQUIRE(pair.server->ReadBody(*second, 100, Soon()));
  CHECK(second->body == "def");
  REQUIRE(pair.server->WaitForRequest(milliseconds(5000)));
  auto third = pair.server->ReadHead({}, Soon());
  REQUIRE(third);
  REQUIRE(pair.server->ReadBody(*third, 100, Soon()));
  CHECK(third->body == "ghi");
}

TEST_CASE("a silent client is waited for so long and no longer") {
  const Pair pair;
  CHECK_FALSE(pair.server->WaitForRequest(milliseconds(30)));
  pair.Say("\r");  // half an empty line is no request
  const auto began = HttpClock::now();
  CHECK(pair.server->WaitForRequest(milliseconds(30)));
  const auto head = pair.server->ReadHead({}, HttpClock::now() + milliseconds(30));
  REQUIRE_FALSE(head);
  CHECK(head.error() == 408);
  CHECK(HttpClock::now() - began < std::chrono::seconds(5));
}

TEST_CASE("one who waits for a request is woken") {
  const Pair pair;
  std::thread waker([&] {
    std::this_thread::sleep_for(milliseconds(30));
    pair.server->ShutRead();
  });
  CHECK_FALSE(pair.server->WaitForRequest(milliseconds(60000)));
  waker.join();
}

}  // namespace
}  // namespace jarvis::rpc
