#include "session/derived_cache.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::session {
namespace {

struct TextKey {
  using Value = std::string;
  std::string name;
  bool operator==(const TextKey&) const = default;
};
struct NumberKey {
  using Value = int;
  std::string name;
  bool operator==(const NumberKey&) const = default;
};
using MadeText = DerivedCache::Made<std::string>;

// The text of that name, made of so many bytes; `made` counts.
std::shared_ptr<const std::string> Ask(DerivedCache& cache, const std::string& name,
                                       std::atomic<int>* made, std::size_t bytes = 10) {
  const Job job;
  auto text = cache.Get(TextKey{name}, job, [&]() -> Result<MadeText> {
    ++*made;
    return MadeText{std::make_shared<const std::string>(name + "!"), bytes};
  });
  REQUIRE(text.has_value());
  return *text;
}

TEST_CASE("a thing is made once however many threads ask") {
  DerivedCache cache;
  std::atomic<int> made = 0;
  std::vector<std::shared_ptr<const std::string>> got(8);
  {
    std::vector<std::jthread> threads;
    for (auto& text : got) {
      threads.emplace_back([&] {
        text = *cache.Get(TextKey{"a"}, Job(), [&]() -> Result<MadeText> {
          ++made;
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          return MadeText{std::make_shared<const std::string>("a!"), 10};
        });
      });
    }
  }
  CHECK(made == 1);
  for (const auto& text : got)
    CHECK(text == got[0]);
  const DerivedCache::Statistics statistics = cache.statistics();
  CHECK(statistics.made == 1);
  CHECK(statistics.found == 7);
  CHECK(statistics.kept == 1);
  CHECK(statistics.bytes == 10);
}

TEST_CASE("things of other keys, and of other kinds of keys, are others") {
  DerivedCache cache;
  std::atomic<int> made = 0;
  CHECK(*Ask(cache, "a", &made) == "a!");
  CHECK(*Ask(cache, "b", &made) == "b!");
  const auto number = cache.Get(NumberKey{"a"}, Job(), [&]() -> Result<DerivedCache::Made<int>> {
    // Making one thing may ask for another.
    return DerivedCache::Made<int>{
        std::make_shared<const int>(static_cast<int>(Ask(cache, "c", &made)->size())), 4};
  });
  REQUIRE(number.has_value());
  CHECK(**number == 2);
  CHECK(made == 3);
  CHECK(cache.MemoryBytes() == 34);
}

TEST_CASE("whoever waits makes it itself when the other fails, and leaves when it is cancelled") {
  DerivedCache cache;
  std::atomic<bool> under_way = false;
  std::atomic<bool> go_on = false;
  std::jthread first([&] {
    const auto failed = cache.Get(TextKey{"a"}, Job(), [&]() -> Result<MadeText> {
      under_way = true;
      while (!go_on)
        std::this_thread::yield();
      return Fail(ErrorCode::kCancelled, "cancelled by the caller");
    });
    CHECK_FALSE(failed.has_value());
  });
  while (!under_way)
    std::this_thread::yield();
  Job stopped;
  stopped.Stop();
  std::atomic<int> made = 0;
  const auto left = cache.Get(TextKey{"a"}, stopped, [&]() -> Result<MadeText> {
    ++made;
    return MadeText{std::make_shared<const std::string>(), 1};
  });
  REQUIRE_FALSE(left.has_value());
  CHECK(left.error().code == ErrorCode::kCancelled);
  CHECK(made == 0);
  std::jthread second([&] { CHECK(*Ask(cache, "a", &made) == "a!"); });
  go_on = true;
  second.join();
  CHECK(made == 1);
}

TEST_CASE("what throws while it is made can be asked for again") {
  DerivedCache cache;
  CHECK_THROWS(static_cast<void>(
      cache.Get(TextKey{"a"}, Job(), []() -> Result<MadeText> { throw std::bad_alloc(); })));
  std::atomic<int> made = 0;
  CHECK(*Ask(cache, "a", &made) == "a!");
}

TEST_CASE("shrinking drops the least recently used of what nobody holds") {
  DerivedCache cache;
  std::atomic<int> made = 0;
  const auto held = Ask(cache, "held", &made, 100);
  static_cast<void>(Ask(cache, "old", &made, 100));
  static_cast<void>(Ask(cache, "new", &made, 100));
  static_cast<void>(Ask(cache, "old", &made, 100));
  CHECK(cache.MemoryBytes() == 300);
  cache.Shrink(250);
  CHECK(cache.MemoryBytes() == 200);
  CHECK(made == 3);
  static_cast<void>(Ask(cache, "old", &made, 100));
  CHECK(made == 3);  // "new" went
  cache.Shrink(0);
  CHECK(cache.statistics().kept == 1);
  CHECK(Ask(cache, "held", &made) == held);
  CHECK(*Ask(cache, "new", &made) == "new!");
  CHECK(made == 4);
}

}  // namespace
}  // namespace jarvis::session
