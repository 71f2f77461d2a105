// What a command prints or writes, made with a progress line and Ctrl-C.
#pragma once

#include <functional>
#include <string>

#include "base/job.h"
#include "base/result.h"

namespace jarvis::app {

// REQUIRES: rpc::SignalWatcher::Block() before any thread was started.
Result<std::string> RunForText(const std::function<Result<std::string>(Job& job)>& make);

}  // namespace jarvis::app
