// SIGINT and SIGTERM as a call on an ordinary thread, so there is no handler code anywhere. The
// first signal calls `on_signal`; a second one, or five seconds without an end, ends the process
// with 128 + the signal's number.
//
// Threads: blocks both signals in the thread that makes it, and so in every thread that this one
// starts later; make it before any other thread. One at a time.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "base/result.h"
#include "rpc/file_descriptor.h"

namespace jarvis::rpc {

class SignalWatcher {
 public:
  using Callback = std::function<void(int signal)>;

  // The callback runs on the watcher's own thread.
  static Result<std::unique_ptr<SignalWatcher>> Start(Callback on_signal);
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

 private:
  SignalWatcher(FileDescriptor signals, FileDescriptor stop, sigset_t old_mask);
  void Watch(const Callback& on_signal);

  FileDescriptor signals_;
  FileDescriptor stop_;
  sigset_t old_mask_;
  std::thread thread_;
};

}  // namespace jarvis::rpc
