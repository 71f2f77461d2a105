// A crowd of well-behaved MCP clients in one thread: how fast a server answers tool calls while
// streams of events stay open on it.
//
//   http_load --port PORT --pid PID [--streams N] [--connections N] [--seconds S | --calls N]
//             [--rate N]
//
// Half of the streams are subscriptions/listen of 2026-07-28, half the GET streams of sessions. The
// calls are of 2026-07-28, to the tool echo of the test server (tests/http/fixture_main.cpp), each
// with a text of its own that must come back. Without --rate each connection sends its next call
// when it has its answer. With it, calls are due at fixed times, N a second, and a call that has to
// wait for a free connection is late from the moment when it was due.
//
// Prints "name value" a line. Exit code 1: an answer was wrong, or a stream ended.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "load/http_client.h"
#include "load/process_stats.h"

namespace jarvis::load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";
constexpr double kAnswerPatienceS = 60;  // then the server hangs

struct Options {
  int port = 0;
  int pid = 0;
  std::size_t streams = 200;
  std::size_t connections = 20;
  double seconds = 10;
  std::uint64_t calls = 0;  // 0: as many as fit into the time
  double rate = 0;          // calls per second; 0: as fast as possible
};

Options ReadOptions(int argc, char** argv) {
  std::map<std::string, double> values;
  for (int i = 1; i + 1 < argc; i += 2)
    values[argv[i]] = std::stod(argv[i + 1]);
  const auto take = [&](const char* name, auto& option) {
    const auto found = values.find(name);
    if (found == values.end()) return;
    option = static_cast<std::remove_reference_t<decltype(option)>>(found->second);
    values.erase(found);
  };
  Options options;
  take("--port", options.port);
  take("--pid", options.pid);
  take("--streams", options.streams);
  take("--connections", options.connections);
  take("--seconds", options.seconds);
  take("--calls", options.calls);
  take("--rate", options.rate);
  if (!values.empty() || argc % 2 == 0 || options.port == 0 || options.pid == 0) {
    throw std::runtime_error("see the head of tests/load/http_load.cpp for the arguments");
  }
  return options;
}

std::string StatelessPost(int port, const std::string& method, const std::string& name_line,
                          const std::string& id, const std::string& params) {
  const std::string lines =
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n" + name_line;
  return PostBytes(port, lines,
                   R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method +
                       R"(","params":{)" + params + "," + std::string(kMeta) + "}}");
}

FileDescriptor OpenListen(int port) {
  FileDescriptor fd = ConnectTo(port);
  SendAll(fd.get(), StatelessPost(port, "subscriptions/listen", "", R"("listen:0")",
                                  R"("notifications":{})"));
  ReceiveUntil(fd.get(), "notifications/subscriptions/acknowledged");
  return fd;
}

// The handshake and the stream share a connection, as in clients that keep theirs.
FileDescriptor OpenSession(int port) {
  FileDescriptor fd = ConnectTo(port);
  const Reply hello =
      Ask(fd.get(), PostBytes(port, "",
                              R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{)"
                              R"("protocolVersion":"2025-11-25","capabilities":{},)"
                              R"("clientInfo":{"name":"load","version":"1"}}})"));
  const std::string session = "Mcp-Session-Id: " + hello.Header("mcp-session-id") +
                              "\r\nMCP-Protocol-Version: 2025-11-25\r\n";
  const Reply noted = Ask(fd.get(), PostBytes(port, session,
                                              R"({"jsonrpc":"2.0",)"
                                              R"("method":"notifications/initialized"})"));
  if (noted.status != 202) throw std::runtime_error("initialized: " + noted.head);
  SendAll(fd.get(), "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                        "\r\nAccept: text/event-stream\r\n" + session + "\r\n");
  const std::string head = ReceiveUntil(fd.get(), "\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 200 ")) throw std::runtime_error("no stream: " + head);
  return fd;
}

struct Caller {
  FileDescriptor fd;
  std::string received;
  std::string expected;  // in the answer
  Clock::time_point due;
  bool busy = false;
};

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options), poll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  void OpenStreams() {
    for (std::size_t i = 0; i < options_.streams; ++i) {
      streams_.push_back(i % 2 == 0 ? OpenListen(options_.port) : OpenSession(options_.port));
      Watch(streams_.back().get(), kStreamMark | i);
    }
  }

  void Run() {
    callers_.resize(options_.connections);
    for (std::size_t i = 0; i < callers_.size(); ++i) {
      callers_[i].fd = ConnectTo(options_.port);
      Watch(callers_[i].fd.get(), i);
      free_.push_back(i);
    }
    began_ = Clock::now();
    last_answer_ = began_;
    while (true) {
      SendDue();
      if (Done() && answered_ + errors_ >= sent_) break;
      if (Seconds(last_answer_, Clock::now()) > kAnswerPatienceS) {
        throw std::runtime_error("the server answers no more");
      }
      Wait();
    }
    took_s_ = Seconds(began_, last_answer_);
  }

  // Calls a second; milliseconds. False: something was wrong.
  bool Print() {
    std::sort(times_us_.begin(), times_us_.end());
    std::printf("calls %llu\n", static_cast<unsigned long long>(answered_));
    std::printf("seconds %.2f\n", took_s_);
    std::printf("calls_per_s %.0f\n", static_cast<double>(answered_) / took_s_);
    for (const auto& [name, share] : std::initializer_list<std::pair<const char*, double>>{
             {"p50_ms", 0.5}, {"p99_ms", 0.99}, {"p99.9_ms", 0.999}, {"max_ms", 1}}) {
      std::printf("%s %.2f\n", name, Quantile(share));
    }
    std::printf("errors %llu\n", static_cast<unsigned long long>(errors_));
    std::printf("streams_open %zu\n", streams_.size() - streams_ended_);
    std::printf("streams_ended %zu\n", streams_ended_);
    return errors_ == 0 && streams_ended_ == 0;
  }

  void Close() {
    callers_.clear();
    streams_.clear();
  }

 private:
  static constexpr std::uint64_t kStreamMark = std::uint64_t{1} << 32;

  static double Seconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }

  void Watch(int fd, std::uint64_t mark) {
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = mark;
    ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  bool Done() const {
    if (options_.calls > 0) return sent_ >= options_.calls;
    return Seconds(began_, Clock::now()) >= options_.seconds;
  }

  // When the next call is due.
  Clock::time_point NextDue() const {
    if (options_.rate <= 0) return Clock::now();
    const std::chrono::duration<double> after(static_cast<double>(sent_) / options_.rate);
    return began_ + std::chrono::duration_cast<Clock::duration>(after);
  }

  void SendDue() {
    while (!free_.empty() && !Done()) {
      const auto due = NextDue();
      if (due > Clock::now()) return;
      Caller& caller = callers_[free_.front()];
      free_.pop_front();
      const std::string text = "call " + std::to_string(sent_);
      caller.expected = R"("structuredContent":{"text":")" + text + "\"}";
      caller.due = due;
      caller.busy = true;
      const std::string request =
          StatelessPost(options_.port, "tools/call", "Mcp-Name: echo\r\n", std::to_string(sent_),
                        R"("name":"echo","arguments":{"text":")" + text + "\"}");
      ++sent_;
      // Small enough to go at once: there is never more than one request on the way.
      SendAll(caller.fd.get(), request);
    }
  }

  void Wait() {
    timespec patience{1, 0};
    if (!free_.empty() && !Done()) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::max(NextDue() - Clock::now(), Clock::duration::zero()));
      patience = {left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    }
    epoll_event events[256];
    const int ready = ::epoll_pwait2(poll_.get(), events, 256, &patience, nullptr);
    for (int i = 0; i < ready; ++i) {
      const std::uint64_t mark = events[i].data.u64;
      if ((mark & kStreamMark) != 0) {
        ReadStream(streams_[mark & (kStreamMark - 1)].get());
      } else {
        ReadAnswer(mark);
      }
    }
  }

  // Comments that keep a stream alive may come, and news; the end may not.
  void ReadStream(int fd) {
    char bytes[4096];
    const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
    const bool ended =
        got == 0 || (got < 0 && errno != EAGAIN) ||
        (got > 0 &&
         std::string_view(bytes, static_cast<std::size_t>(got)).ends_with("\r\n0\r\n\r\n"));
    if (!ended) return;
    ++streams_ended_;
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }

  void ReadAnswer(std::size_t index) {
    Caller& caller = callers_[index];
    char bytes[16384];
    const ssize_t got = ::recv(caller.fd.get(), bytes, sizeof bytes, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return Broken(index);
    caller.received.append(bytes, static_cast<std::size_t>(got));
    const auto reply = TakeReply(caller.received);
    if (!reply) return;
    last_answer_ = Clock::now();
    if (reply->status != 200 || reply->body.find(caller.expected) == std::string::npos) {
      if (errors_ == 0)
        std::fprintf(stderr, "wrong: %s %s\n", reply->head.c_str(), reply->body.c_str());
      ++errors_;
    } else {
      times_us_.push_back(static_cast<float>(Seconds(caller.due, last_answer_) * 1e6));
      ++answered_;
    }
    caller.busy = false;
    free_.push_back(index);
  }

  // The server hung up in the middle: an error, and the connection is replaced.
  void Broken(std::size_t index) {
    Caller& caller = callers_[index];
    if (caller.busy) ++errors_;
    caller.fd = ConnectTo(options_.port);
    caller.received.clear();
    Watch(caller.fd.get(), index);
    if (caller.busy) free_.push_back(index);
    caller.busy = false;
  }

  double Quantile(double share) const {
    if (times_us_.empty()) return 0;
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(times_us_.size())));
    return static_cast<double>(times_us_[std::max<std::size_t>(rank, 1) - 1]) / 1e3;
  }

  const Options options_;
  const FileDescriptor poll_;
  std::vector<FileDescriptor> streams_;
  std::vector<Caller> callers_;
  std::deque<std::size_t> free_;  // callers that wait for nothing
  Clock::time_point began_;
  Clock::time_point last_answer_;
  double took_s_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t errors_ = 0;
  std::size_t streams_ended_ = 0;
  std::vector<float> times_us_;
};

void PrintStats(const char* when, const ProcessStats& stats) {
  std::printf("rss_mb_%s %.1f\nthreads_%s %zu\nfds_%s %zu\n", when,
              static_cast<double>(stats.rss_bytes) / 1e6, when, stats.threads, when,
              stats.descriptors);
}

// Once the server has let go of us: when its threads and descriptors have stayed the same for half
// a second.
ProcessStats StatsAfter(int pid) {
  const auto until = Clock::now() + std::chrono::seconds(20);
  ProcessStats stats = ReadProcessStats(pid);
  auto since = Clock::now();
  while (Clock::now() < until && Clock::now() - since < std::chrono::milliseconds(500)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const ProcessStats now = ReadProcessStats(pid);
    if (now.threads != stats.threads || now.descriptors != stats.descriptors) since = Clock::now();
    stats = now;
  }
  return stats;
}

int Main(int argc, char** argv) {
  const Options options = ReadOptions(argc, argv);
  Load load(options);
  const ProcessStats before = ReadProcessStats(options.pid);
  load.OpenStreams();
  const ProcessStats open = ReadProcessStats(options.pid);
  load.Run();
  const ProcessStats during = ReadProcessStats(options.pid);
  const bool good = load.Print();
  load.Close();
  std::printf("server_cpu_s %.2f\n", during.cpu_s - open.cpu_s);
  PrintStats("before", before);
  PrintStats("during", during);
  PrintStats("after", StatsAfter(options.pid));
  return good ? 0 : 1;
}

}  // namespace
}  // namespace jarvis::load

int main(int argc, char** argv) {
  try {
    return jarvis::load::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "http_load: %s\n", error.what());
    return 2;
  }
}
