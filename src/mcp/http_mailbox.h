// The channel of one HTTP request: what is sent on it waits here for the thread that writes to the
// client.
//
// Threads: Send() and Finish() from any; the rest from the one that writes.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/file_descriptor.h"
#include "rpc/transport.h"

namespace jarvis::mcp {

class Mailbox : public rpc::Channel {
 public:
  // A client that does not read loses notifications, never the answer.
  static constexpr std::size_t kNotificationsMax = 256;
  // Progress comes for every piece of work; the writer is woken for it this often.
  static constexpr std::chrono::milliseconds kProgressInterval{100};

  // Null: there are no descriptors left.
  static std::shared_ptr<Mailbox> Make();

  void Send(const Json& message) override;
  void Finish() override;
  void HangUp() override;
  // Makes the reader look.
  void Wake();

  // Between two readers it holds no descriptor. False: there are none left.
  void Sleep();
  bool Rouse();

  // Readable when something has come since the last Take(). REQUIRES: not asleep
  int wake_fd() const;
  struct Mail {
    std::vector<Json> notifications;
    Json answer;           // null: not yet; for a batch an array
    bool over = false;     // the answer is here, or none will come
    bool hang_up = false;  // the connection is to be closed, although the answer is to come
  };
  Mail Take();

 private:
  explicit Mailbox(FileDescriptor wake) : wake_(std::move(wake)) {}
  void WakeLocked();  // REQUIRES: mutex_ held

  mutable std::mutex mutex_;
  FileDescriptor wake_;
  std::deque<Json> notifications_;
  Json answer_;
  bool over_ = false;
  bool woken_up_ = false;  // the descriptor is readable
  bool hang_up_ = false;
  std::chrono::steady_clock::time_point woken_{};
};

}  // namespace jarvis::mcp
