// The revision without a handshake, 2026-07-28.
#include <string>

#include <doctest/doctest.h>

#include "mcp/protocol.h"
#include "mcp_support.h"

namespace jarvis::mcp {
namespace {

struct StatelessFixture {
  Gate gate;
  Server server{{TestTools(gate)}, TestInfo()};
  MemoryClient client{server};

  Json One(const Json& message) {
    const std::vector<Json> answers = client.Ask(message);
    REQUIRE(answers.size() == 1);
    return answers.front();
  }
};

void CheckComplete(const Json& result) {
  CHECK(result.at("resultType") == "complete");
  CHECK(result.at("_meta").at(kMetaServerInfo).at("name") == "jarvis");
}

TEST_CASE_FIXTURE(StatelessFixture, "discover says what there is") {
  const Json answer = One(Stateless("probe-1", "server/discover"));
  CHECK(answer.at("id") == "probe-1");
  const Json& result = answer.at("result");
  CheckComplete(result);
  CHECK(result.at("supportedVersions").size() == 5);
  CHECK(result.at("supportedVersions").front() == "2026-07-28");
  CHECK(result.at("capabilities") ==
        Json{{"tools", Json::object()},
             {"logging", Json::object()},
             {"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}});
  CHECK(result.at("ttlMs") == 3600000);
  CHECK(result.at("cacheScope") == "public");
  CHECK(result.at("instructions") == "Use echo.");
}

TEST_CASE_FIXTURE(StatelessFixture, "lists and calls carry the envelope of their results") {
  const Json list = One(Stateless(1, "tools/list")).at("result");
  CheckComplete(list);
  CHECK(list.at("ttlMs") == 3600000);
  CHECK(list.at("tools").size() == 6);
  const Json result = One(Stateless(2, "tools/call", CallParams("echo"))).at("result");
  CheckComplete(result);
  CHECK_FALSE(result.contains("ttlMs"));
  CHECK(result.at("structuredContent") == Json{{"text", "hi"}, {"limit", 10}});
  const Json failed = One(Stateless(3, "tools/call", CallParams("fail"))).at("result");
  CheckComplete(failed);
  CHECK(failed.at("isError") == true);
}

TEST_CASE_FIXTURE(StatelessFixture, "what is wrong with a request, in the order of the checks") {
  struct Case {
    const char* method;
    const char* meta;
    int code;
  };
  const Case cases[] = {
      {"server/discover", "{}", -32602},
      {"subscriptions/listen", "{}", -32602},
      {"tools/list", R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})", -32602},
      {"tools/list",
       R"({"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}})",
       -32602},
      {"tools/list",
       R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]})",
       -32602},
      {"no/such",
       R"({"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}})",
       -32022},
      {"tools/list",
       R"({"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}})",
       -32022},
      {"no/such",
       R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"x"})",
       -32601},
      {"tools/list",
       R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"x"})",
       -32602},
  };
  for (const Case& c : cases) {
    CAPTURE(c.method);
    CAPTURE(c.meta);
    const Json answer = One(Request(9, c.method, {{"_meta", *ParseJson(c.meta)}}));
    CHECK(answer.at("error").at("code") == c.code);
    CHECK(answer.at("id") == 9);
    if (c.code == -32022) CHECK(answer.at("error").at("data").at("supported").size() == 5);
  }
}

TEST_CASE_FIXTURE(StatelessFixture, "methods of the handshake are gone") {
  for (const char* method : {"initialize", "ping", "logging/setLevel", "resources/subscribe"}) {
    CAPTURE(method);
    CHECK(One(Stateless(1, method)).at("error").at("code") == -32601);
  }
}

TEST_CASE_FIXTURE(StatelessFixture, "clients are taken as they are") {
  Json request = Stateless(1, "tools/list");
  request["params"]["_meta"][kMetaCapabilities] = {{"roots", {{"listChanged", true}}}};
  request["params"]["_meta"][kMetaLogLevel] = "debug";
  request["params"]["_meta"]["traceparent"] = 7;
  CHECK(One(request).contains("result"));
}

TEST_CASE_FIXTURE(StatelessFixture, "the eras do not touch each other") {
  const Json handshake = {{"protocolVersion", "2024-11-05"}};
  CHECK(One(Request(1, "initialize", handshake)).at("result").at("protocolVersion") ==
        "2024-11-05");
  CHECK(One(Stateless(2, "tools/list")).at("result").at("tools").front().contains("title"));
  CHECK_FALSE(One(Request(3, "tools/list")).at("result").at("tools").front().contains("title"));
  CHECK(One(Stateless(4, "initialize", handshake)).at("error").at("code") == -32601);
  CHECK_FALSE(One(Request(5, "tools/list")).at("result").contains("resultType"));
}

TEST_CASE_FIXTURE(
    StatelessFixture,
    "a subscription is acknowledged at once and ends with the server or by its client") {
  const Json params = {{"notifications", {{"toolsListChanged", true}}}};
  const Json ack = One(Stateless("listen:0", "subscriptions/listen", params));
  CHECK(ack.at("method") == "notifications/subscriptions/acknowledged");
  CHECK(ack.at("params").at("notifications") == Json::object());
  CHECK(ack.at("params").at("_meta").at(kMetaSubscription) == "listen:0");
  CHECK(One(Stateless(7, "subscriptions/listen", params))
            .at("params")
            .at("_meta")
            .at(kMetaSubscription) == 7);
  CHECK(One(Stateless(7, "tools/list")).at("error").at("code") == -32600);
  CHECK(client.Ask(Notification("notifications/cancelled", {{"requestId", 7}})).empty());
  client.connection->StopCalls();
  const std::vector<Json> ends = client.Take();
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].at("id") == "listen:0");
  CheckComplete(ends[0].at("result"));
  CHECK(One(Stateless(8, "subscriptions/listen")).at("error").at("code") == -32602);
}

}  // namespace
}  // namespace jarvis::mcp
