#include "rpc/stdio_transport.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "rpc/line_splitter.h"

namespace jarvis::rpc {
namespace {

using std::chrono::milliseconds;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    out = FileDescriptor(ends[0]);
    in = FileDescriptor(ends[1]);
  }
  void Put(const std::string& text) {
    REQUIRE(::write(in.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void CloseIn() { FileDescriptor gone = std::move(in); }
  void CloseOut() { FileDescriptor gone = std::move(out); }
  std::string Rest() {
    std::string all;
    std::array<char, 4096> chunk{};
    ssize_t got = 0;
    while ((got = ::read(out.get(), chunk.data(), chunk.size())) > 0) {
      all.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  FileDescriptor in;
  FileDescriptor out;
};

// Sends every message back as a string.
class Echo : public Receiver {
 public:
  explicit Echo(Channel& channel) : channel_(channel) {}
  void OnMessage(std::string_view text) override { channel_.Send(Json(text)); }
  void OnOverlong() override { channel_.Send("overlong"); }

 private:
  Channel& channel_;
};

TEST_CASE("what goes in comes out, up to the end of the input") {
  Pipe to;
  Pipe from;
  {
    auto transport = StdioTransport::Over(to.out.get(), std::move(from.in));
    REQUIRE(transport.has_value());
    Echo echo(**transport);
    to.Put("one\n\ntwo\r\nthree");
    to.CloseIn();
    CHECK((*transport)->Run(echo) == StdioTransport::End::kInput);
    CHECK((*transport)->Flush(milliseconds(5000)));
  }
  CHECK(from.Rest() == "\"one\"\n\"two\"\n\"three\"\n");
}

TEST_CASE("an over-long line is reported and the next one is read") {
  Pipe to;
  Pipe from;
  std::thread client([&] {
    const std::string piece(1 << 16, 'x');
    for (std::size_t i = 0; i < (kLineBytesMax >> 16) + 2; ++i)
      to.Put(piece);
    to.Put("\nafter\n");
    to.CloseIn();
  });
  {
    auto transport = StdioTransport::Over(to.out.get(), std::move(from.in));
    Echo echo(**transport);
    CHECK((*transport)->Run(echo) == StdioTransport::End::kInput);
  }
  client.join();
  CHECK(from.Rest() == "\"overlong\"\n\"after\"\n");
}

TEST_CASE("Stop ends Run, from another thread and before it") {
  Pipe to;
  Pipe from;
  auto transport = StdioTransport::Over(to.out.get(), std::move(from.in));
  Echo echo(**transport);
  std::thread stopper([&] {
    std::this_thread::sleep_for(milliseconds(20));
    (*transport)->Stop();
  });
  CHECK((*transport)->Run(echo) == StdioTransport::End::kStopped);
  stopper.join();
  CHECK((*transport)->Run(echo) == StdioTransport::End::kStopped);
}

TEST_CASE("a reader that went away ends Run quietly") {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe to;
  Pipe from;
  auto transport = StdioTransport::Over(to.out.get(), std::move(from.in));
  from.CloseOut();
  Echo echo(**transport);
  to.Put("hello\n");
  CHECK((*transport)->Run(echo) == StdioTransport::End::kOutput);
  (*transport)->Send("nobody reads this");
  CHECK((*transport)->Flush(milliseconds(0)));
}

TEST_CASE("a peer that does not read delays nobody") {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe to;
  Pipe from;
  auto transport = StdioTransport::Over(to.out.get(), std::move(from.in));
  const std::string big(1 << 20, 'x');
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 8; ++i)
    (*transport)->Send(big);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK_FALSE((*transport)->Flush(milliseconds(10)));
  from.CloseOut();
  CHECK((*transport)->Flush(milliseconds(5000)));
}

TEST_CASE("messages of many threads stay whole") {
  Pipe to;
  Pipe from;
  std::string all;
  std::thread reader([&] { all = from.Rest(); });
  {
    auto transport = StdioTransport::Over(to.out.get(), std::move(from.in));
    std::vector<std::thread> senders;
    for (char letter = 'a'; letter < 'e'; ++letter) {
      senders.emplace_back([&transport, letter] {
        for (int i = 0; i < 50; ++i)
          (*transport)->Send(std::string(10000, letter));
      });
    }
    for (std::thread& sender : senders)
      sender.join();
  }
  reader.join();
  CHECK(all.size() == std::size_t{4} * 50 * 10003);
  std::size_t whole = 0;
  for (std::size_t at = 0; at + 10003 <= all.size(); at += 10003) {
    const std::string expected = "\"" + std::string(10000, all[at + 1]) + "\"\n";
    if (all.compare(at, 10003, expected) == 0) ++whole;
  }
  CHECK(whole == 200);
}

TEST_CASE("Stop frees who sends to a peer that does not read, and ends Run") {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe to;
  Pipe from;
  auto transport = StdioTransport::Over(to.out.get(), std::move(from.in));
  const std::string big(1 << 20, 'x');
  std::atomic<bool> done{false};
  std::atomic<int> sent{0};
  std::thread sender([&] {
    for (; !done; ++sent)
      (*transport)->Send(big);
  });
  // Until it waits.
  for (int before = -1; before != sent; std::this_thread::sleep_for(milliseconds(500)))
    before = sent;
  done = true;
  const auto start = std::chrono::steady_clock::now();
  (*transport)->Stop();
  sender.join();
  Echo echo(**transport);
  CHECK((*transport)->Run(echo) == StdioTransport::End::kStopped);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  from.CloseOut();
}

}  // namespace
}  // namespace jarvis::rpc
