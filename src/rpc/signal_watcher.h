// SIGINT and SIGTERM as a call on an ordinary thread, so there is no handler code anywhere. The
// first signal calls `on_signal`; a second one, or five seconds without an end, ends the process
// with 128 + the signal's number.
//
// Threads: blocks both signals in the thread that makes it, and so in every thread that this one
// starts later; make it, or call Block(), before any other thread. One at a time.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace jarvis::rpc {

class SignalWatcher {
 public:
  using Callback = std::function<void(int signal)>;

  // Holds both signals back until Start(), in this thread and those it starts from now on. For
  // programs whose other threads come before what the callback needs.
  static Status Block();
  // Are they, in this thread?
  static bool Blocked();
  // The callback runs on the watcher's own thread.
  static Result<std::unique_ptr<SignalWatcher>> Start(Callback on_signal);
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

 private:
  SignalWatcher(FileDescriptor signals, FileDescriptor stop);
  void Watch(const Callback& on_signal);

  FileDescriptor signals_;
  FileDescriptor stop_;
  std::thread thread_;
};

}  // namespace jarvis::rpc
