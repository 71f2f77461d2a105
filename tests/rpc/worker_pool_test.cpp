#include "rpc/worker_pool.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include <doctest/doctest.h>

namespace jarvis::rpc {
namespace {

TEST_CASE("every task that is taken runs once") {
  std::atomic<int> ran{0};
  int taken = 0;
  {
    WorkerPool pool(4, 1000);
    for (int i = 0; i < 1000; ++i)
      taken += pool.Submit([&] { ++ran; }) ? 1 : 0;
    while (ran.load() < taken)
      std::this_thread::yield();
  }
  CHECK(taken == 1000);
  CHECK(ran.load() == 1000);
}

TEST_CASE("a full queue refuses, and an ended pool drops what waits") {
  std::promise<void> open;
  const std::shared_future<void> gate(open.get_future());
  std::promise<void> started;
  std::atomic<int> ran{0};
  {
    WorkerPool pool(1, 2);
    REQUIRE(pool.Submit([&] {
      started.set_value();
      gate.wait();
      ++ran;
    }));
    started.get_future().wait();
    CHECK(pool.Submit([&] { ++ran; }));
    CHECK(pool.Submit([&] { ++ran; }));
    CHECK_FALSE(pool.Submit([&] { ++ran; }));
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      open.set_value();
    });
    opener.detach();
  }
  CHECK(ran.load() == 1);
}

TEST_CASE("tasks run at the same time up to the number of threads") {
  WorkerPool pool(3, 10);
  std::atomic<int> here{0};
  std::promise<void> all;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(pool.Submit([&] {
      if (++here == 3) all.set_value();
      while (here.load() < 3)
        std::this_thread::yield();
    }));
  }
  CHECK(all.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready);
}

TEST_CASE("a task may submit another") {
  std::promise<void> done;
  WorkerPool pool(1, 10);
  REQUIRE(pool.Submit([&] { CHECK(pool.Submit([&] { done.set_value(); })); }));
  CHECK(done.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready);
}

}  // namespace
}  // namespace jarvis::rpc
