// Calls that run: errors, cancellation, progress, limits.
#include <chrono>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "mcp/call.h"
#include "mcp_support.h"

namespace jarvis::mcp {
namespace {

struct Fixture {
  Gate gate;
  Server server{
      {TestTools(gate)}, TestInfo(), {.quick_threads = 2, .long_threads = 2, .queue_max = 8}};
  MemoryClient client{server};

  Json One(const Json& message) {
    const std::vector<Json> answers = client.Ask(message);
    REQUIRE(answers.size() == 1);
    return answers.front();
  }
  void Cancel(const Json& id) {
    client.Put(Notification("notifications/cancelled", {{"requestId", id}}));
  }
};

std::string Text(const Json& answer) {
  return answer.at("result").at("content").front().at("text").get<std::string>();
}

TEST_CASE_FIXTURE(Fixture, "argument errors and tool errors are results that teach") {
  const Json wrong = One(Request(1, "tools/call", CallParams("echo", {{"limt", 1}})));
  CHECK(wrong.at("result").at("isError") == true);
  CHECK(Text(wrong) ==
        "[unknown_argument] No argument is named \"limt\". Did you mean \"limit\"? Arguments: "
        "text, limit.");
  const Json failed = One(Request(2, "tools/call", CallParams("fail")));
  CHECK(failed.at("result").at("isError") == true);
  CHECK_FALSE(failed.at("result").contains("structuredContent"));
  CHECK(Text(failed) == "[trace_not_found] No file \"x\".\nNext: load_trace {\"path\":\"y\"}");
}

TEST_CASE_FIXTURE(Fixture, "a lowered limit is told in both halves") {
  const Json answer = One(Request(1, "tools/call", CallParams("echo", {{"limit", "1000"}})));
  CHECK(answer.at("result").at("structuredContent").at("limit") == 200);
  CHECK(answer.at("result").at("structuredContent").at("notes").size() == 1);
  CHECK(Text(answer) == "hi\nNote: limit 1000 was lowered to 200, the maximum.");
}

TEST_CASE_FIXTURE(Fixture, "what a tool throws does not get out") {
  const Json bug = One(Request(1, "tools/call", CallParams("throws")));
  CHECK(bug.at("error").at("code") == -32603);
  CHECK(DumpLine(bug).find("secret") == std::string::npos);
  const Json check = One(Request(4, "tools/call", CallParams("breaks")));
  const auto told = check.at("error").at("message").get<std::string>();
  CHECK(told.starts_with("Internal error, incident "));
  CHECK(told.find(": check failed at ") != std::string::npos);
  CHECK(told.ends_with("1 + 1 == 3"));
  const Json memory = One(Request(2, "tools/call", CallParams("no_memory")));
  CHECK(memory.at("result").at("isError") == true);
  CHECK(Text(memory).starts_with("[out_of_memory]"));
  CHECK(One(Request(3, "ping")).contains("result"));
}

TEST_CASE_FIXTURE(Fixture, "a long call delays nothing else") {
  client.Put(Request(1, "tools/call", CallParams("gate")));
  client.Put(Request(2, "tools/call", CallParams("gate")));
  REQUIRE(gate.WaitForCalls(2));
  client.Put(Request(3, "ping"));
  CHECK(client.Take().size() == 1);  // before Put returned
  client.Put(Request(4, "tools/call", CallParams("echo")));
  CHECK(client.WaitFor("id", 4));
  gate.Open();
  CHECK(client.WaitFor("id", 1));
  CHECK(client.WaitFor("id", 2));
}

TEST_CASE_FIXTURE(Fixture,
                  "an id in flight is refused and the first call goes on; 1 is not \"1\"") {
  client.Put(Request(1, "tools/call", CallParams("gate")));
  client.Put(Request("1", "tools/call", CallParams("gate")));
  REQUIRE(gate.WaitForCalls(2));
  client.Put(Request(1, "ping"));
  const std::vector<Json> refused = client.Take();
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].at("error").at("code") == -32600);
  gate.Open();
  CHECK(client.WaitFor("id", 1));
  CHECK(client.WaitFor("id", "1"));
  client.Take();
  CHECK(One(Request(1, "ping")).contains("result"));  // answered ids are free again
}

TEST_CASE_FIXTURE(Fixture, "a cancelled call stops and is not answered") {
  client.Put(Request(1, "tools/call", CallParams("gate")));
  client.Put(Request("1", "tools/call", CallParams("gate")));
  client.Put(Request(3, "tools/call", CallParams("gate")));  // waits: there are two threads
  REQUIRE(gate.WaitForCalls(2));
  Cancel(3);
  Cancel(1);
  Cancel(1);
  Cancel(99);
  client.Put(Request(1, "ping"));  // the id is free at once
  CHECK(client.Take().size() == 1);
  gate.Open();
  CHECK(client.connection->WaitIdle(std::chrono::seconds(20)));
  const std::vector<Json> answers = client.Take();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].at("id") == "1");
}

TEST_CASE("a cancellation at any moment leaves one answer or none, and none after it") {
  Gate gate;
  gate.Open();
  Server server({TestTools(gate)}, TestInfo());
  MemoryClient client(server);
  for (int i = 0; i < 2000; ++i) {
    client.Put(Request(i, "tools/call", CallParams("echo")));
    for (int wait = 0; wait < i % 200; ++wait)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    client.Put(Notification("notifications/cancelled", {{"requestId", i}}));
    const std::size_t before = client.Take().size();
    CHECK(before <= 1);
    client.connection->WaitIdle(std::chrono::seconds(20));
    CHECK(client.Take().empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "progress has the token of the request and rises strictly") {
  for (const Json& token : {Json(0), Json("t")}) {
    Json params = CallParams("gate");
    params["_meta"] = {{"progressToken", token}};
    client.Put(Request(1, "tools/call", params));
    REQUIRE(client.WaitFor("method", "notifications/progress"));
    Cancel(1);
    client.connection->WaitIdle(std::chrono::seconds(20));
    std::uint64_t last = 0;
    for (const Json& message : client.Take()) {
      const Json& progress = message.at("params");
      CHECK(progress.at("progressToken") == token);
      CHECK(progress.at("progress").get<std::uint64_t>() > last);
      CHECK(progress.at("total") == 1000);
      CHECK(progress.at("message") == "waiting");
      last = progress.at("progress").get<std::uint64_t>();
    }
    CHECK(last > 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "without a token there is no progress") {
  client.Put(Request(1, "tools/call", CallParams("gate")));
  REQUIRE(gate.WaitForCalls(1));
  CHECK_FALSE(client.connection->WaitIdle(std::chrono::milliseconds(250)));
  CHECK(client.Take().empty());
  gate.Open();
}

TEST_CASE("phases that count from zero are put one after the other") {
  ProgressScale scale;
  CHECK(scale.Next(10, 100)->done == 10);
  CHECK_FALSE(scale.Next(10, 100).has_value());
  CHECK(scale.Next(100, 100)->total == 100);
  CHECK_FALSE(scale.Next(0, 50).has_value());
  CHECK(scale.Next(5, 50)->done == 105);
  CHECK(scale.Next(6, 50)->total == 150);
  CHECK(scale.Next(7, 0)->total == 0);
}

TEST_CASE_FIXTURE(Fixture, "calls over the queue are told to come again, each once") {
  constexpr int kCalls = 50;
  for (int i = 0; i < kCalls; ++i)
    client.Put(Request(i, "tools/call", CallParams("gate")));
  gate.Open();
  CHECK(client.connection->WaitIdle(std::chrono::seconds(20)));
  std::map<int, int> answers;
  int busy = 0;
  for (const Json& message : client.Take()) {
    ++answers[message.at("id").get<int>()];
    if (message.contains("error")) {
      CHECK(message.at("error").at("code") == -32603);
      ++busy;
    }
  }
  CHECK(answers.size() == kCalls);
  for (const auto& [id, count] : answers)
    CHECK(count == 1);
  CHECK(busy >= kCalls - 8 - 2);
}

TEST_CASE_FIXTURE(Fixture, "a client with many calls makes nobody wait for their end") {
  for (int i = 0; i < 12; ++i)
    client.Put(Request(i, "tools/call", CallParams("gate")));
  REQUIRE(gate.WaitForCalls(2));  // as many as there are workers
  MemoryClient other(server);
  CHECK(Text(other.Ask(Request(1, "tools/call", CallParams("echo"))).front()) == "hi");
  MemoryClient third(server);
  CHECK(Text(third.Ask(Request(1, "tools/call", CallParams("echo"))).front()) == "hi");
  gate.Open();
  CHECK(client.connection->WaitIdle(std::chrono::seconds(20)));
}

TEST_CASE_FIXTURE(Fixture, "at the end calls are stopped and still answered") {
  client.Put(Request(1, "tools/call", CallParams("gate")));
  REQUIRE(gate.WaitForCalls(1));
  client.connection->StopCalls();
  REQUIRE(client.connection->WaitIdle(std::chrono::seconds(20)));
  const std::vector<Json> answers = client.Take();
  REQUIRE(answers.size() == 1);
  CHECK(Text(answers[0]).starts_with("[cancelled]"));
  CHECK(gate.stopped() == 1);
}

TEST_CASE("a client that leaves during a call is sent nothing") {
  Gate gate;
  Server server({TestTools(gate)}, TestInfo());
  {
    MemoryClient client(server);
    client.Put(Request(1, "tools/call", CallParams("gate")));
    REQUIRE(gate.WaitForCalls(1));
  }
  gate.Open();
}

}  // namespace
}  // namespace jarvis::mcp
