// Calls that ask their client, in each of the ways in which they may; tasks; news.
#include <chrono>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "conformance/fixtures.h"
#include "mcp/protocol.h"
#include "mcp/request_state.h"
#include "mcp/tasks.h"
#include "mcp_support.h"

namespace jarvis::mcp {
namespace {

using std::chrono::milliseconds;

Catalog Fixtures() {
  Catalog catalog;
  AddConformanceFixtures(catalog);
  return catalog;
}

const Json kAll = {{"elicitation", Json::object()},
                   {"sampling", Json::object()},
                   {"roots", Json::object()},
                   {"extensions", {{kTasksExtension, Json::object()}}}};

struct RoundsFixture {
  Server server{Fixtures(), TestInfo(), {.page_size = 7, .task_patience = milliseconds(20)}};
  MemoryClient client{server};
  int next_id = 1;

  Json One(const Json& message) {
    const std::vector<Json> answers = client.Ask(message);
    REQUIRE(answers.size() == 1);
    return answers.front();
  }
  Json Ask(const std::string& method, Json params, const Json& capabilities = kAll) {
    Json message = Stateless(next_id++, method, std::move(params));
    message["params"]["_meta"][kMetaCapabilities] = capabilities;
    client.Put(message);  // what became a task goes on after its answer
    REQUIRE(client.WaitFor("id", message.at("id")));
    return client.Take().back();
  }
  Json Call(const std::string& tool, Json more = Json::object()) {
    more["name"] = tool;
    return Ask("tools/call", std::move(more));
  }
  Json Task(const std::string& id) { return Ask("tasks/get", {{"taskId", id}}).at("result"); }
  Json WaitForTask(const std::string& id, const std::string& status) {
    for (int i = 0; i < 500; ++i) {
      Json task = Task(id);
      if (task.at("status") == status) return task;
      std::this_thread::sleep_for(milliseconds(10));
    }
    FAIL("the task never became " << status);
    return {};
  }
};

Json Accept(Json content) {
  return {{"action", "accept"}, {"content", std::move(content)}};
}

std::string RoundText(const Json& answer) {
  return answer.at("result").at("content").at(0).at("text").get<std::string>();
}

TEST_CASE_FIXTURE(RoundsFixture, "a newer client sends the call again with the answers") {
  const Json first = Call("test_input_required_result_request_state").at("result");
  CHECK(first.at("resultType") == "input_required");
  CHECK(first.at("inputRequests").at("confirm").at("method") == "elicitation/create");
  const Json state = first.at("requestState");
  const Json answers = {{"confirm", Accept({{"ok", true}})}};
  const Json done = Call("test_input_required_result_request_state",
                         {{"inputResponses", answers}, {"requestState", state}});
  CHECK(RoundText(done) == "state-ok");
  // Not for another call, and not changed.
  const Json elsewhere = Call("test_input_required_result_tampered_state",
                              {{"inputResponses", answers}, {"requestState", state}});
  CHECK(elsewhere.at("error").at("code") == -32602);
  std::string changed = state.get<std::string>();
  changed[3] = changed[3] == 'A' ? 'B' : 'A';
  for (const Json& wrong : {Json(changed), Json("x"), Json("."), Json(""), Json(7)}) {
    const Json refused = Call("test_input_required_result_request_state",
                              {{"inputResponses", answers}, {"requestState", wrong}});
    CHECK(refused.at("error").at("code") == -32602);
  }
  for (const Json& garbage : {Json(1), Json("x"), Json::array(), Json{{"confirm", 3}}}) {
    CHECK(
        Call("test_streaming_elicitation", {{"inputResponses", garbage}}).at("error").at("code") ==
        -32602);
  }
}

TEST_CASE("a state is good for its request and its time") {
  const RequestStates states;
  const auto now = RequestStates::Clock::now();
  const std::string sealed = states.Seal({{"round", 2}}, "binding", now);
  CHECK(states.Open(sealed, "binding", now) == Json{{"round", 2}});
  CHECK_FALSE(states.Open(sealed, "another", now));
  CHECK_FALSE(states.Open(sealed, "binding", now + RequestStates::kLife + std::chrono::seconds(2)));
  CHECK_FALSE(RequestStates().Open(sealed, "binding", now));
}

TEST_CASE_FIXTURE(RoundsFixture, "what the client cannot do is not asked of it") {
  const Json error =
      Ask("tools/call", {{"name", "test_streaming_elicitation"}}, Json::object()).at("error");
  CHECK(error.at("code") == kMissingCapability);
  CHECK(error.at("data").at("requiredCapabilities") == Json{{"elicitation", Json::object()}});
}

TEST_CASE_FIXTURE(RoundsFixture, "an older client is sent requests") {
  One(Request(1, "initialize",
              {{"protocolVersion", "2025-06-18"}, {"capabilities", kAll}, {"clientInfo", {}}}));
  client.Put(Request(2, "tools/call", CallParams("test_input_required_result_multiple_inputs")));
  REQUIRE(client.WaitFor("method", "sampling/createMessage"));
  REQUIRE(client.WaitFor("method", "roots/list"));
  REQUIRE(client.WaitFor("method", "elicitation/create"));
  const std::vector<Json> questions = client.Take();
  REQUIRE(questions.size() == 3);
  for (const Json& question : questions) {
    Json result = Accept({{"name", "Ada"}});
    if (question.at("method") == "roots/list") result = {{"roots", Json::array()}};
    if (question.at("method") == "sampling/createMessage") {
      result = {{"role", "assistant"}, {"content", {{"type", "text"}, {"text", "Hail"}}}};
    }
    client.Put({{"jsonrpc", "2.0"}, {"id", question.at("id")}, {"result", result}});
  }
  client.Put({{"jsonrpc", "2.0"}, {"id", "nobody"}, {"result", Json::object()}});
  REQUIRE(client.WaitFor("id", 2));
  CHECK(RoundText(client.Take().back()) == "Hail for Ada");
}

TEST_CASE_FIXTURE(RoundsFixture,
                  "a call that waits for its client can be cancelled, and ends at the end") {
  One(Request(1, "initialize",
              {{"protocolVersion", "2025-06-18"}, {"capabilities", kAll}, {"clientInfo", {}}}));
  client.Put(Request(2, "tools/call", CallParams("test_elicitation")));
  REQUIRE(client.WaitFor("method", "elicitation/create"));
  const Json question = client.Take().front();
  client.Put(Notification("notifications/cancelled", {{"requestId", 2}}));
  client.Put({{"jsonrpc", "2.0"}, {"id", question.at("id")}, {"result", Accept({})}});
  CHECK(One(Request(2, "ping")).at("result") == Json::object());  // the id is free
  client.Put(Request(3, "tools/call", CallParams("test_elicitation")));
  REQUIRE(client.WaitFor("method", "elicitation/create"));
  client.Take();
  client.connection->StopCalls();
  REQUIRE(client.WaitFor("id", 3));
  CHECK(RoundText(client.Take().back()).starts_with("[cancelled]"));
}

TEST_CASE_FIXTURE(RoundsFixture, "a task tells how it is, what it asks and how it ended") {
  const Json made = Call("multi_input").at("result");
  CHECK(made.at("resultType") == "task");
  const std::string id = made.at("taskId").get<std::string>();
  const Json asking = WaitForTask(id, "input_required");
  CHECK(asking.at("resultType") == "complete");
  CHECK(asking.at("inputRequests").size() == 2);
  CHECK_FALSE(asking.contains("result"));
  const auto update = [&](const Json& answers) {
    return Ask("tasks/update", {{"taskId", id}, {"inputResponses", answers}}).at("result");
  };
  CHECK(update({{"name", Accept({{"name", "Ada"}})}, {"unknown", 1}}).at("resultType") ==
        "complete");
  CHECK(Task(id).at("inputRequests").size() == 1);
  update({{"color", Accept({{"color", "red"}})}});
  const Json done = WaitForTask(id, "completed");
  CHECK(done.at("result").at("content").at(0).at("text") == "Ada likes red");
  CHECK(done.at("result").at("resultType") == "complete");
}

TEST_CASE_FIXTURE(RoundsFixture,
                  "a task is cancelled while it works and while it asks; twice is once") {
  for (const char* tool : {"slow_compute", "confirm_delete"}) {
    Json more = Json::object();
    if (std::string(tool) == "slow_compute") more["arguments"] = {{"seconds", 30}};
    const std::string id = Call(tool, std::move(more)).at("result").at("taskId").get<std::string>();
    if (std::string(tool) == "confirm_delete") WaitForTask(id, "input_required");
    for (int i = 0; i < 2; ++i)
      CHECK(Ask("tasks/cancel", {{"taskId", id}}).contains("result"));
    CHECK_FALSE(WaitForTask(id, "cancelled").contains("result"));
  }
  const std::string failed =
      Call("protocol_error_job").at("result").at("taskId").get<std::string>();
  CHECK(WaitForTask(failed, "failed").at("error").at("code") == -32603);
}

TEST_CASE_FIXTURE(RoundsFixture, "tasks need the extension, and are nobody else's") {
  const Json bare = Ask("tools/call", {{"name", "failing_job"}}, Json::object()).at("error");
  CHECK(bare.at("code") == kMissingCapability);
  CHECK(Ask("tasks/get", {{"taskId", "x"}}, Json::object()).at("error").at("code") ==
        kMissingCapability);
  const std::string id = Call("confirm_delete").at("result").at("taskId").get<std::string>();
  CHECK_FALSE(server.tasks().Describe(id, "somebody"));
  CHECK(server.tasks().Describe(id, ""));
  CHECK_FALSE(server.tasks().Cancel(id, "somebody"));
}

TEST_CASE_FIXTURE(RoundsFixture, "lists come in pages, each entry once") {
  for (const char* list : {"tools", "prompts", "resources"}) {
    CAPTURE(list);
    Json params = Json::object();
    std::set<std::string> seen;
    std::size_t count = 0;
    for (int page = 0; page < 20; ++page) {
      const Json result = Ask(std::string(list) + "/list", params).at("result");
      CHECK(result.at("cacheScope") == "private");  // they change
      for (const Json& entry : result.at(list)) {
        seen.insert(entry.at("name").get<std::string>());
        ++count;
      }
      if (!result.contains("nextCursor")) break;
      params["cursor"] = result.at("nextCursor");
    }
    CHECK(seen.size() == count);
    CHECK(count == (list == std::string("tools")     ? server.catalog().tools.tools().size()
                    : list == std::string("prompts") ? 5U
                                                     : 3U));
    for (const Json& wrong : {Json(""), Json("zzz"), Json(3)}) {
      CHECK(Ask(std::string(list) + "/list", {{"cursor", wrong}}).at("error").at("code") == -32602);
    }
  }
}

TEST_CASE_FIXTURE(RoundsFixture,
                  "resources and prompts say what is wrong in the words of the era") {
  const Json missing = Ask("resources/read", {{"uri", "test://no"}}).at("error");
  CHECK(missing.at("code") == -32602);
  CHECK(missing.at("data").at("uri") == "test://no");
  CHECK(One(Request(50, "resources/read", {{"uri", "test://no"}})).at("error").at("code") ==
        -32002);
  CHECK(Ask("prompts/get", {{"name", "no"}}).at("error").at("code") == -32602);
  const Json lacking =
      Ask("prompts/get", {{"name", "test_prompt_with_arguments"}, {"arguments", {{"arg1", "x"}}}})
          .at("error");
  CHECK(lacking.at("code") == -32602);
  CHECK(lacking.at("message").get<std::string>().find("arg2") != std::string::npos);
  const Json read = Ask("resources/read", {{"uri", "test://static-binary"}}).at("result");
  CHECK(read.at("contents").at(0).at("blob") == "iVBORw0KGgo=");
  CHECK(read.at("ttlMs") > 0);
}

TEST_CASE_FIXTURE(RoundsFixture, "completion tells the values that fit and how many there are") {
  const Json ref = {{"type", "ref/prompt"}, {"name", "test_prompt_with_arguments"}};
  const auto ask = [&](const Json& of, const Json& argument) {
    return Ask("completion/complete", {{"ref", of}, {"argument", argument}});
  };
  const Json fits = ask(ref, {{"name", "arg1"}, {"value", "par"}}).at("result").at("completion");
  CHECK(fits == Json{{"values", {"paris", "park", "party"}}, {"total", 3}, {"hasMore", false}});
  CHECK(ask({{"type", "ref/prompt"}, {"name", "no"}}, {{"name", "a"}, {"value", ""}})
            .at("error")
            .at("code") == -32602);
  CHECK(ask(ref, Json()).at("error").at("code") == -32602);
  CHECK(ask({{"type", "ref/other"}}, {{"name", "a"}, {"value", ""}}).contains("error"));
}

TEST_CASE_FIXTURE(RoundsFixture, "each listener hears what it asked for, under its own id") {
  const auto listen = [&](const Json& id, const Json& wanted) {
    client.Put(Stateless(id, "subscriptions/listen", {{"notifications", wanted}}));
    const std::vector<Json> got = client.Take();
    REQUIRE(got.size() == 1);
    CHECK(got[0].at("params").at("_meta").at(kMetaSubscription) == id);
    return got[0].at("params").at("notifications");
  };
  CHECK(listen("a", {{"toolsListChanged", true}}) == Json{{"toolsListChanged", true}});
  CHECK(listen(7, {{"resourceSubscriptions", {"test://x"}}, {"unknown", true}}) ==
        Json{{"resourceSubscriptions", {"test://x"}}});
  server.Announce({Change::Kind::kTools, {}, {}, {}});
  server.Announce({Change::Kind::kPrompts, {}, {}, {}});
  server.Announce({Change::Kind::kResource, "test://x", {}, {}});
  server.Announce({Change::Kind::kResource, "test://y", {}, {}});
  const std::vector<Json> got = client.Take();
  REQUIRE(got.size() == 2);
  CHECK(got[0].at("method") == "notifications/tools/list_changed");
  CHECK(got[0].at("params").at("_meta").at(kMetaSubscription) == "a");
  CHECK(got[1].at("params").at("uri") == "test://x");
  CHECK(got[1].at("params").at("_meta").at(kMetaSubscription) == 7);
}

TEST_CASE_FIXTURE(RoundsFixture,
                  "an older client hears of lists after the handshake, of what it subscribed to") {
  One(Request(1, "initialize", {{"protocolVersion", "2025-06-18"}}));
  server.Announce({Change::Kind::kTools, {}, {}, {}});
  CHECK(client.Take().empty());  // not before it is ready
  client.Put(Notification("notifications/initialized"));
  One(Request(2, "resources/subscribe", {{"uri", "test://x"}}));
  for (const char* uri : {"test://x", "test://y"})
    server.Announce({Change::Kind::kResource, uri, {}, {}});
  // Many changes at once are told at once and, together, a second later.
  for (int i = 0; i < 50; ++i)
    server.Announce({Change::Kind::kResources, {}, {}, {}});
  CHECK(client.Take().size() == 2);
  REQUIRE(client.WaitFor("method", "notifications/resources/list_changed"));
  CHECK(client.Take().size() == 1);
  One(Request(3, "resources/unsubscribe", {{"uri", "test://x"}}));
  server.Announce({Change::Kind::kResource, "test://x", {}, {}});
  CHECK(client.Take().empty());
}

TEST_CASE_FIXTURE(RoundsFixture, "subscriptions hold no more than names of resources") {
  One(Request(0, "initialize", {{"protocolVersion", "2025-06-18"}}));
  const auto subscribe = [&](int id, const std::string& uri) {
    return One(Request(id, "resources/subscribe", {{"uri", uri}}));
  };
  CHECK(subscribe(1, "test://" + std::string(1'000'000, 'x')).at("error").at("code") == -32602);
  int granted = 0;
  while (granted < 1000 &&
         subscribe(2, "test://" + std::to_string(granted) + std::string(10'000, 'x'))
             .contains("result"))
    ++granted;
  CHECK(granted > 10);
  CHECK(granted < 30);
}

TEST_CASE_FIXTURE(RoundsFixture, "messages are sent from the level on that was asked for") {
  const Json quiet = Stateless(1, "tools/call", CallParams("test_tool_with_logging"));
  CHECK(client.Ask(quiet).size() == 1);
  Json info = Stateless(2, "tools/call", CallParams("test_tool_with_logging"));
  info["params"]["_meta"][kMetaLogLevel] = "info";
  const std::vector<Json> told = client.Ask(info);
  REQUIRE(told.size() == 4);
  CHECK(told[0].at("params").at("data") == "Tool execution started");
  info["params"]["_meta"][kMetaLogLevel] = "warning";
  CHECK(client.Ask(info).size() == 1);
  CHECK(client.Ask(Request(3, "tools/call", CallParams("test_tool_with_logging"))).size() == 1);
  One(Request(4, "logging/setLevel", {{"level", "debug"}}));
  CHECK(client.Ask(Request(5, "tools/call", CallParams("test_tool_with_logging"))).size() == 5);
}

TEST_CASE_FIXTURE(RoundsFixture, "content that a revision does not know becomes text") {
  One(Request(1, "initialize", {{"protocolVersion", "2024-11-05"}}));
  const Json audio = One(Request(2, "tools/call", CallParams("test_audio_content")));
  CHECK(audio.at("result").at("content").at(0).at("type") == "text");
  const Json list = One(Request(3, "tools/list")).at("result").at("tools").at(0);
  CHECK_FALSE(list.contains("annotations"));
}

}  // namespace
}  // namespace jarvis::mcp
