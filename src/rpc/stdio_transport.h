// JSON-RPC over standard input and output: one message per line.
//
// Sending never waits for the peer: a thread of its own writes, and only when kBacklogBytesMax are
// waiting does Send() wait. A peer that stops reading therefore stops nothing but its own answers.
//
// Threads: Run() on one thread; Send(), Stop() and Flush() from any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "rpc/transport.h"

namespace jarvis::rpc {

class StdioTransport : public Channel {
 public:
  static constexpr std::size_t kBacklogBytesMax = std::size_t{64} << 20;

  // Takes the process's stdin and stdout. From here on whatever else prints on stdout prints on
  // stderr, and SIGPIPE is ignored. Call it first in the program.
  static Result<std::unique_ptr<StdioTransport>> Open();
  // Owns neither end of the input, and the output.
  static Result<std::unique_ptr<StdioTransport>> Over(int in, FileDescriptor out);
  // Waits for the thread that writes; see Flush() for a peer that does not read.
  ~StdioTransport() override;

  void Send(const Json& message) override;

  // Hands every message to the receiver. Returns when the input ends, after Stop(), or when
  // nobody reads the output any more.
  enum class End { kInput, kStopped, kOutput };
  End Run(Receiver& receiver);

  void Stop();
  // True: everything sent so far is written, or can never be. False: time is up, and the
  // destructor may wait for ever, so leave with _exit().
  bool Flush(std::chrono::milliseconds patience);

 private:
  StdioTransport(int in, FileDescriptor out, FileDescriptor wake);
  void Wake();
  void Write();
  bool WriteAll(const std::string& bytes);

  const int in_;
  FileDescriptor out_;
  FileDescriptor wake_;  // readable: Run() returns

  std::mutex mutex_;
  std::condition_variable changed_;  // backlog, closing or broken
  std::deque<std::string> backlog_;  // the first one may be half written
  std::size_t backlog_bytes_ = 0;
  bool closing_ = false;
  bool stopping_ = false;  // nobody waits any more for a client that does not read
  bool broken_ = false;    // nobody reads
  std::thread writer_;
};

}  // namespace jarvis::rpc
