// A flood of messages through a program that serves MCP on stdin and stdout: valid, broken, huge
// and cancelled ones of both eras, each with the answer that it is owed, every one checked.
//
//   stdio_million PROGRAM [--messages N] [--seed N] [--rss-growth-mb N] [--exit-s N]
//                 [--patience-s N]
//
// Sends to `PROGRAM serve`. Waits ten times on the way until everything is answered and looks at
// the program's memory; from the third time on it may not grow by more than --rss-growth-mb (0: not
// looked at). At the end the input is closed, and the program must be gone within --exit-s seconds,
// with exit code 0. A program that answers nothing for --patience-s seconds hangs.
//
// Prints "name value" a line. Exit code 1: a wrong or missing answer, a leak, a bad end.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "load/process_stats.h"
#include "load/stdio_million_ledger.h"
#include "load/stdio_million_messages.h"

namespace jarvis::load {
namespace {

using Clock = std::chrono::steady_clock;

// So that the program's queues never have to refuse a call, and no answer waits in its memory.
constexpr std::size_t kDebtsMax = 1000;
constexpr std::size_t kCallsMax = 100;
constexpr std::size_t kChunkBytes = std::size_t{32} << 10;
constexpr int kLooks = 10;

struct Options {
  std::string program;
  std::uint64_t messages = 1'000'000;
  std::uint64_t seed = 1;
  double rss_growth_mb = 16;  // an allocator that keeps what is freed needs some
  double exit_s = 1;
  double patience_s = 90;
};

Options ReadOptions(int argc, char** argv) {
  Options options;
  if (argc < 2 || argc % 2 != 0) {
    throw std::runtime_error("see the head of tests/load/stdio_million.cpp for the arguments");
  }
  options.program = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i];
    const double value = std::stod(argv[i + 1]);
    if (name == "--messages") {
      options.messages = static_cast<std::uint64_t>(value);
    } else if (name == "--seed") {
      options.seed = static_cast<std::uint64_t>(value);
    } else if (name == "--rss-growth-mb") {
      options.rss_growth_mb = value;
    } else if (name == "--exit-s") {
      options.exit_s = value;
    } else if (name == "--patience-s") {
      options.patience_s = value;
    } else {
      throw std::runtime_error("no argument is named " + name);
    }
  }
  return options;
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The program under test. Killed if it is still there at the end.
class Child {
 public:
  explicit Child(const std::string& program) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipes");
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execl(program.c_str(), program.c_str(), "serve", nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = FileDescriptor(in[1]);
    from_ = FileDescriptor(out[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0 && !waited_) Kill();
  }

  int pid() const { return pid_; }
  int from() const { return from_.get(); }
  void Kill() { ::kill(pid_, SIGKILL); }

  // False: it reads no more.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(to_.get(), bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }
  void CloseInput() { to_ = FileDescriptor(); }
  // The exit code, or 128 and the signal.
  int Wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    waited_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  bool waited_ = false;
  FileDescriptor to_;
  FileDescriptor from_;
};

// Reads until the program's output ends. Keeps the first thing that was wrong.
class Reader {
 public:
  Reader(Child& child, Ledger& ledger)
      : child_(child), ledger_(ledger), thread_([this] { Run(); }) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (thread_.joinable()) thread_.join();
  }

  std::string Join() {
    thread_.join();
    return problem_;
  }

 private:
  void Run() {
    try {
      ReadLines();
    } catch (const std::exception& error) {
      problem_ = error.what();
      child_.Kill();
    }
    ledger_.Close();
  }

  void ReadLines() {
    std::string pending;
    std::vector<char> bytes(std::size_t{256} << 10);
    while (true) {
      const ssize_t got = ::read(child_.from(), bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      pending.append(bytes.data(), static_cast<std::size_t>(got));
      std::size_t start = 0;
      for (std::size_t end = 0; (end = pending.find('\n', start)) != std::string::npos;
           start = end + 1) {
        ledger_.Settle(std::string_view(pending).substr(start, end - start));
      }
      pending.erase(0, start);
    }
    if (!pending.empty()) throw std::runtime_error("half a line: " + pending.substr(0, 400));
  }

  Child& child_;
  Ledger& ledger_;
  std::string problem_;
  std::thread thread_;  // last: it uses the rest
};

class Flood {
 public:
  Flood(const Options& options, Child& child, Ledger& ledger)
      : options_(options), child_(child), ledger_(ledger), maker_(options.seed) {}

  // False: the program is gone or hangs.
  bool Run() {
    const std::uint64_t part = std::max<std::uint64_t>(1, options_.messages / kLooks);
    // Twice, because an allocator learns from what it sees.
    if (!Post(maker_.First()) || !Post(maker_.First())) return false;
    while (sent_ < options_.messages) {
      if (!Post(maker_.Next())) return false;
      if (sent_ < (rss_mb_.size() + 1) * part) continue;
      if (!Flush() || !ledger_.WaitFor(0, 0)) return false;
      rss_mb_.push_back(static_cast<double>(ReadProcessStats(child_.pid()).rss_bytes) / 1e6);
    }
    // The last message comes without a line end, as from a host that dies in the middle.
    if (!Post(maker_.Last())) return false;
    pending_.pop_back();
    return Flush();
  }

  std::uint64_t sent() const { return sent_; }
  const std::vector<double>& rss_mb() const { return rss_mb_; }

 private:
  bool Post(const std::vector<Outgoing>& messages) {
    for (const Outgoing& message : messages) {
      ledger_.Owe(message, ++sent_);
      pending_ += message.line;
      pending_ += '\n';
    }
    if (pending_.size() < kChunkBytes) return true;
    return Flush() && ledger_.WaitFor(kDebtsMax, kCallsMax);
  }

  bool Flush() {
    const bool sent = child_.Send(pending_);
    pending_.clear();
    return sent;
  }

  const Options& options_;
  Child& child_;
  Ledger& ledger_;
  MessageMaker maker_;
  std::string pending_;
  std::uint64_t sent_ = 0;
  std::vector<double> rss_mb_;
};

// What the program held at most in the beginning, and at most from then on.
double Growth(const std::vector<double>& rss_mb) {
  constexpr std::size_t kWarm = 3;
  if (rss_mb.size() <= kWarm) return 0;
  const auto warm = rss_mb.begin() + kWarm;
  return *std::max_element(warm, rss_mb.end()) - *std::max_element(rss_mb.begin(), warm);
}

int Main(int argc, char** argv) {
  const Options options = ReadOptions(argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  Child child(options.program);
  Ledger ledger(std::chrono::seconds(static_cast<long>(options.patience_s)));
  Reader reader(child, ledger);
  Flood flood(options, child, ledger);
  const auto began = Clock::now();
  std::vector<std::string> problems;
  const bool whole = flood.Run();
  if (!whole) child.Kill();
  const double took_s = SecondsSince(began);
  const auto closed = Clock::now();
  child.CloseInput();
  const std::string wrong = reader.Join();
  const int code = child.Wait();
  const double exit_s = SecondsSince(closed);

  // After a wrong answer the rest is its consequence.
  if (!wrong.empty()) {
    problems.push_back(wrong);
  } else {
    if (!whole) problems.emplace_back("the program is gone, or hangs");
    const std::string missing = ledger.Missing();
    if (!missing.empty()) problems.push_back("no answer to" + missing);
    if (code != 0) problems.push_back("exit code " + std::to_string(code));
  }
  if (exit_s > options.exit_s) problems.push_back("took " + std::to_string(exit_s) + " s to end");
  const double growth = Growth(flood.rss_mb());
  if (options.rss_growth_mb > 0 && growth > options.rss_growth_mb)
    problems.emplace_back("its memory grows");

  std::printf("messages %llu\nanswers %llu\n", static_cast<unsigned long long>(flood.sent()),
              static_cast<unsigned long long>(ledger.answers()));
  std::printf("seconds %.2f\nmessages_per_s %.0f\nexit_s %.3f\nrss_growth_mb %.1f\nrss_mb", took_s,
              static_cast<double>(flood.sent()) / took_s, exit_s, growth);
  for (const double mb : flood.rss_mb())
    std::printf(" %.1f", mb);
  std::printf("\n");
  for (const std::string& problem : problems)
    std::fprintf(stderr, "stdio_million: seed %llu: %s\n",
                 static_cast<unsigned long long>(options.seed), problem.c_str());
  return problems.empty() ? 0 : 1;
}

}  // namespace
}  // namespace jarvis::load

int main(int argc, char** argv) {
  try {
    return jarvis::load::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stdio_million: %s\n", error.what());
    return 2;
  }
}
