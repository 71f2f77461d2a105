#include "base/check.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

#include "base/column.h"
#include "base/parallel.h"

namespace jarvis {
namespace {

// What a failed check says.
std::string Failure(int at) {
  try {
    JV_CHECK(at < 3);
  } catch (const CheckFailure& failure) {
    return failure.what();
  }
  return "";
}

TEST_CASE("a check that holds does nothing, one that fails says where and what") {
  CHECK(Failure(2).empty());
  const std::string text = Failure(3);
  CHECK(text.starts_with("check failed at "));
  CHECK(text.find("check_test.cpp:") != std::string::npos);
  CHECK(text.ends_with(": at < 3"));
}

TEST_CASE("the place is told by its path inside the sources") {
  const auto told = [](const char* file) -> std::string {
    try {
      FailCheck(file, 7, "x");
    } catch (const CheckFailure& failure) {
      return failure.what();
    }
  };
  CHECK(told("/somebody/src/jarvis/src/trace/reader.cpp") ==
        "check failed at trace/reader.cpp:7: x");
  CHECK(told("/somebody/jarvis/tests/reader.cpp") == "check failed at reader.cpp:7: x");
  CHECK(told("reader.cpp") == "check failed at reader.cpp:7: x");
}

TEST_CASE("a check fails in the thread that waits for the work") {
  const auto work = [](std::size_t i) { JV_CHECK(i != 5); };
  CHECK_THROWS_AS(ParallelFor(9, 4, work), CheckFailure);
  Job job;
  const auto piece = [&](std::size_t i, Job&) { work(i); };
  CHECK_THROWS_AS(static_cast<void>(ParallelJob(9, 4, "work", job, piece)), CheckFailure);
}

TEST_CASE(
    "what runs beside a thread's own work is done when both return, and its failure is thrown") {
  const std::thread::id here = std::this_thread::get_id();
  bool own = false, beside = false;
  RunBeside([&] { own = std::this_thread::get_id() == here; }, [&] { beside = true; });
  CHECK(own);
  CHECK(beside);
  CHECK_THROWS_AS(RunBeside([] {}, [] { JV_CHECK(false); }), CheckFailure);
  CHECK_THROWS_AS(RunBeside([] { JV_CHECK(false); }, [] {}), CheckFailure);
}

TEST_CASE("a report of progress that throws ends the work that it was about") {
  Job job([](std::uint64_t, std::uint64_t, std::string_view) { JV_CHECK(false); });
  const auto piece = [](std::size_t, Job& inner) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (!inner.stopped() && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  };
  CHECK_THROWS_AS(static_cast<void>(ParallelJob(2, 1, "work", job, piece)), CheckFailure);
}

#ifndef NDEBUG
TEST_CASE("a column is not read past its end") {
  const Column<int> column(2, 7);
  CHECK(column[1] == 7);
  CHECK_THROWS_AS(static_cast<void>(column[2]), CheckFailure);
}
#endif

}  // namespace
}  // namespace jarvis
