#include "rpc/worker_pool.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>

namespace jarvis::rpc {
namespace {

// Of a machine that is busy with much else, and of sanitizers.
constexpr std::chrono::seconds kPatience{60};

TEST_CASE("every task that is taken runs once") {
  std::atomic<int> ran{0};
  int taken = 0;
  {
    WorkerPool pool(4, 2000);  // one client has three quarters of it
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

TEST_CASE("a task goes to the thread that worked last") {
  WorkerPool pool(3, 10);
  std::atomic<int> here{0};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(pool.Submit([&] {
      ++here;
      while (here.load() < 3)
        std::this_thread::yield();
    }));
  }
  std::set<std::thread::id> threads;
  for (int i = 0; i < 50; ++i) {
    REQUIRE(pool.WaitIdle(std::chrono::seconds(10)));
    REQUIRE(pool.Submit([&] { threads.insert(std::this_thread::get_id()); }));
  }
  REQUIRE(pool.WaitIdle(std::chrono::seconds(10)));
  CHECK(threads.size() == 1);
}

TEST_CASE("idle threads take tasks beyond the queue") {
  WorkerPool pool(2, 1);
  std::atomic<int> ran{0};
  REQUIRE(pool.Submit([&] { ++ran; }));
  REQUIRE(pool.WaitIdle(std::chrono::seconds(10)));
  std::promise<void> open;
  const std::shared_future<void> gate(open.get_future());
  const auto wait = [&] {
    gate.wait();
    ++ran;
  };
  std::atomic<int> taken{0};
  for (int i = 0; i < 10; ++i)
    taken += pool.Submit(wait) ? 1 : 0;
  CHECK(taken.load() >= 2);  // the idle thread's, and one in the queue
  CHECK(taken.load() <= 3);
  open.set_value();
  REQUIRE(pool.WaitIdle(std::chrono::seconds(10)));
  CHECK(ran.load() == 1 + taken.load());
}

TEST_CASE("clients take turns, and none has all of the queue") {
  std::promise<void> open;
  const std::shared_future<void> gate(open.get_future());
  WorkerPool pool(1, 8);
  std::promise<void> first, spare, last_spare;
  const auto hold = [gate](std::promise<void>* here) {
    return [gate, here] {
      here->set_value();
      gate.wait();
    };
  };
  CHECK(pool.Submit(hold(&first), "greedy"));
  first.get_future().wait();
  // The threads beyond the maximum are taken too, by those of whom nothing ran.
  CHECK(pool.Submit(hold(&spare), "second"));
  spare.get_future().wait();
  CHECK(pool.Submit(hold(&last_spare), "another"));
  last_spare.get_future().wait();
  std::atomic<int> ran{0};
  int greedy = 0;
  for (int i = 0; i < 8; ++i)
    greedy += pool.Submit([&] { ++ran; }, "greedy") ? 1 : 0;
  CHECK(greedy == 6);
  CHECK(pool.Submit([&] { ++ran; }, "third"));
  CHECK(pool.Submit([&] { ++ran; }, "third"));
  CHECK_FALSE(pool.Submit([&] { ++ran; }, "fourth"));
  open.set_value();
  CHECK(pool.WaitIdle(kPatience));
  CHECK(ran.load() == 8);
}

TEST_CASE("what waits for an earlier task of its client has a thread once that is done") {
  std::promise<void> open;
  const std::shared_future<void> gate(open.get_future());
  WorkerPool pool(2, 100);
  std::promise<void> greedy, other, step, last;
  std::future<void> go = step.get_future();
  CHECK(pool.Submit([&greedy, gate] { greedy.set_value(), gate.wait(); }, "greedy"));
  greedy.get_future().wait();
  CHECK(pool.Submit([&other, &go] { other.set_value(), go.wait(); }, "other"));
  other.get_future().wait();
  // Both regular threads are taken; whoever ends first takes the older one of these.
  CHECK(pool.Submit([gate] { gate.wait(); }, "greedy"));
  CHECK(pool.Submit([&last] { last.set_value(); }, "other"));
  step.set_value();
  const bool done = last.get_future().wait_for(kPatience) == std::future_status::ready;
  open.set_value();
  CHECK(done);
  CHECK(pool.WaitIdle(kPatience));
}

TEST_CASE("the client that waits longest is next") {
  TurnQueue queue(8);
  for (const char* client : {"greedy", "greedy", "greedy", "third", "third"})
    REQUIRE(queue.Push(client, [] {}));
  std::string order;
  while (!queue.empty()) {
    const TurnQueue::Turn turn = queue.Pop(TurnQueue::Among::kAll);
    order += turn.client->substr(0, 1);
    queue.Finish(*turn.client);
  }
  CHECK(order == "gtgtg");
}

TEST_CASE("many clients of one group have one client's turn beside another group") {
  TurnQueue queue(64);
  for (int i = 0; i < 20; ++i)
    REQUIRE(queue.Push("crowd\n" + std::to_string(i), [] {}));
  REQUIRE(queue.Push("alone\n1", [] {}));
  REQUIRE(queue.Push("alone\n2", [] {}));
  REQUIRE(queue.Push("token", [] {}));
  std::string order;
  while (!queue.empty()) {
    const TurnQueue::Turn turn = queue.Pop(TurnQueue::Among::kAll);
    order += turn.client->substr(0, 1);
    queue.Finish(*turn.client);
  }
  CHECK(order.substr(0, 6) == "catcac");
  CHECK(order.size() == 23);
}

TEST_CASE(
    "within a group clients take turns, and a group has no more than its share of the queue") {
  TurnQueue queue(16);
  int taken = 0;
  for (int i = 0; i < 16; ++i)
    taken += queue.Push(i % 4 == 0 ? "crowd\nb" : "crowd\na", [] {}) ? 1 : 0;
  CHECK(taken == 14);
  CHECK(queue.Push("other", [] {}));
  CHECK(queue.Pop(TurnQueue::Among::kAll).client->back() == 'b');
  CHECK(queue.Pop(TurnQueue::Among::kAll).client->back() == 'r');
  CHECK(queue.Pop(TurnQueue::Among::kAll).client->back() == 'a');
  CHECK(queue.Pop(TurnQueue::Among::kAll).client->back() == 'b');
  CHECK_FALSE(queue.HasTurn(TurnQueue::Among::kIdleGroups));
  CHECK_FALSE(queue.HasTurn(TurnQueue::Among::kIdleClients));
  CHECK(queue.TakeWaiting().size() == 11);
  CHECK(queue.empty());
}

TEST_CASE("many clients of one group leave a thread for another") {
  std::promise<void> open;
  const std::shared_future<void> gate(open.get_future());
  WorkerPool pool(2, 100);
  for (int i = 0; i < 60; ++i)
    CHECK(pool.Submit([gate] { gate.wait(); }, "crowd\n" + std::to_string(i)));
  bool all_done = true;
  for (int i = 0; i < 20 && all_done; ++i) {
    auto done = std::make_shared<std::promise<void>>();
    CHECK(pool.Submit([done] { done->set_value(); }, "other\n1"));
    all_done = done->get_future().wait_for(kPatience) == std::future_status::ready;
  }
  open.set_value();
  CHECK(all_done);
  CHECK(pool.WaitIdle(kPatience));
}

TEST_CASE("a client of whom nothing runs waits for nobody's long tasks") {
  std::promise<void> open;
  const std::shared_future<void> gate(open.get_future());
  WorkerPool pool(2, 100);
  for (int i = 0; i < 12; ++i)
    CHECK(pool.Submit([gate] { gate.wait(); }, "greedy"));
  bool all_done = true;
  for (int i = 0; i < 20 && all_done; ++i) {
    auto done = std::make_shared<std::promise<void>>();
    CHECK(pool.Submit([done] { done->set_value(); }, "other"));
    all_done = done->get_future().wait_for(kPatience) == std::future_status::ready;
  }
  open.set_value();
  CHECK(all_done);
  CHECK(pool.WaitIdle(kPatience));
}

TEST_CASE("a task may submit another") {
  std::promise<void> done;
  WorkerPool pool(1, 10);
  REQUIRE(pool.Submit([&] { CHECK(pool.Submit([&] { done.set_value(); })); }));
  CHECK(done.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready);
}

TEST_CASE("what waits can be dropped while a task of the same client runs") {
  TurnQueue queue(8);
  queue.Start("a");
  REQUIRE(queue.Push("a", [] {}));
  REQUIRE(queue.Push("b", [] {}));
  CHECK(queue.TakeWaiting().size() == 2);
  CHECK(queue.empty());
  CHECK_FALSE(queue.IsAmong("a", TurnQueue::Among::kIdleClients));
  queue.Finish("a");
  CHECK(queue.IsAmong("a", TurnQueue::Among::kIdleClients));
  CHECK_FALSE(queue.Pop(TurnQueue::Among::kAll).task);
}

}  // namespace
}  // namespace jarvis::rpc
