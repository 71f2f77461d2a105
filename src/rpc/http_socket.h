// The bytes of one HTTP connection: reading with limits and deadlines, writing with patience.
//
// Threads: one, except ShutRead(), which may come from any while the socket lives.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "rpc/http_message.h"

namespace jarvis::rpc {

using HttpClock = std::chrono::steady_clock;

class HttpSocket : public HttpPeer {
 public:
  HttpSocket(FileDescriptor fd, std::chrono::milliseconds write_stall)
      : fd_(std::move(fd)), write_stall_(write_stall) {}

  // A status of 0: the peer is gone, or was silent; nothing is to be answered.
  // Waits for the first byte of a request.
  bool WaitForRequest(std::chrono::milliseconds idle);
  tl::expected<HttpRequest, HttpStatus> ReadHead(const HttpHeadLimits& limits,
                                                 HttpClock::time_point deadline);
  // Into request.body; answers Expect: 100-continue first.
  tl::expected<void, HttpStatus> ReadBody(HttpRequest& request, std::size_t bytes_max,
                                          HttpClock::time_point deadline);

  // Both pieces leave in one go: a head and its body in one packet, if they fit into one.
  bool Write(std::string_view bytes, std::string_view more = {});
  bool PeerGone() const;
  Event Wait(int wake_fd, int timeout_ms) override;

  // Says that nothing more comes, then lets the peer finish sending for a moment: closing on
  // unread bytes would destroy the answer on its way.
  void CloseGently();
  // Wakes a thread that reads.
  void ShutRead();

 private:
  enum class Filled { kYes, kGone, kTime };
  // Adds what has come, at most `bytes_max`, to `to`.
  Filled Fill(std::string& to, std::size_t bytes_max, HttpClock::time_point deadline);
  // Waits in the kernel's receive, without asking first whether something has come.
  Filled FillIdle(std::chrono::milliseconds idle);
  tl::expected<void, HttpStatus> ReadChunked(std::string& body, std::size_t bytes_max,
                                             HttpClock::time_point deadline);
  tl::expected<void, HttpStatus> ReadPlain(std::string& body, std::size_t length,
                                           HttpClock::time_point deadline);

  FileDescriptor fd_;
  const std::chrono::milliseconds write_stall_;
  std::chrono::milliseconds receive_time_{0};  // as the kernel was told; 0: no limit
  std::string unread_;                         // pipelined requests wait here
};

}  // namespace jarvis::rpc
