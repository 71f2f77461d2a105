#include "rpc/signal_watcher.h"

#include <atomic>
#include <chrono>
#include <future>

#include <doctest/doctest.h>
#include <unistd.h>

namespace jarvis::rpc {
namespace {

TEST_CASE("a signal becomes a call, also one that came before") {
  for (const bool early : {false, true}) {
    CAPTURE(early);
    std::promise<int> seen;
    REQUIRE(SignalWatcher::Block().has_value());
    if (early) ::kill(::getpid(), SIGTERM);
    auto watcher = SignalWatcher::Start([&](int signal) { seen.set_value(signal); });
    REQUIRE(watcher.has_value());
    if (!early) ::kill(::getpid(), SIGTERM);
    auto future = seen.get_future();
    REQUIRE(future.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
    CHECK(future.get() == SIGTERM);
  }
}

TEST_CASE("without a signal nothing happens") {
  std::atomic<int> calls{0};
  {
    auto watcher = SignalWatcher::Start([&](int) { ++calls; });
  }
  CHECK(calls.load() == 0);
}

}  // namespace
}  // namespace jarvis::rpc
