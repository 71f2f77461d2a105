// The revisions that start with initialize, and what is common to both eras.
#include <string>

#include <doctest/doctest.h>

#include "mcp_support.h"

namespace jarvis::mcp {
namespace {

Json InitializeParams(const Json& version) {
  return {{"protocolVersion", version},
          {"capabilities", Json::object()},
          {"clientInfo", {{"name", "c"}, {"version", "1"}}}};
}

struct HandshakeFixture {
  Gate gate;
  Server server{{TestTools(gate)}, TestInfo()};
  MemoryClient client{server};

  Json One(const Json& message) {
    const std::vector<Json> answers = client.Ask(message);
    REQUIRE(answers.size() == 1);
    return answers.front();
  }
  void Initialize(const std::string& version) {
    REQUIRE(One(Request(0, "initialize", InitializeParams(version))).contains("result"));
  }
};

TEST_CASE_FIXTURE(HandshakeFixture, "initialize answers with a version that both speak") {
  struct Case {
    Json wanted;
    const char* given;
  };
  const Case cases[] = {{"2025-11-25", "2025-11-25"},
                        {"2025-06-18", "2025-06-18"},
                        {"2025-03-26", "2025-03-26"},
                        {"2024-11-05", "2024-11-05"},
                        {"2026-07-28", "2025-11-25"},
                        {"2099-01-01", "2025-11-25"},
                        {"", "2025-11-25"}};
  for (const Case& c : cases) {
    CAPTURE(c.wanted);
    const Json result = One(Request(1, "initialize", InitializeParams(c.wanted))).at("result");
    CHECK(result.at("protocolVersion") == c.given);
    CHECK(result.at("capabilities") ==
          Json{{"tools", Json::object()}, {"logging", Json::object()}});
    CHECK(result.at("instructions") == "Use echo.");
    CHECK(result.at("serverInfo").contains("title") == (std::string(c.given) >= "2025-06-18"));
    CHECK(DumpLine(result).find("2026") == std::string::npos);
    CHECK_FALSE(result.contains("resultType"));
  }
  for (const Json& wanted : {Json(), Json(7)}) {
    const Json error = One(Request(1, "initialize", {{"protocolVersion", wanted}})).at("error");
    CHECK(error.at("code") == -32602);
    CHECK(error.at("data").at("supported").size() == 4);
  }
}

TEST_CASE_FIXTURE(HandshakeFixture, "without initialize the newest handshake revision is spoken") {
  CHECK(One(Request(1, "tools/list")).at("result").at("tools").front().contains("outputSchema"));
  CHECK(One(Request(2, "ping")).at("result") == Json::object());
}

TEST_CASE_FIXTURE(HandshakeFixture,
                  "older revisions get definitions and results without what they lack") {
  struct Case {
    const char* version;
    bool title;  // and outputSchema, structuredContent
    bool annotations;
  };
  for (const Case& c : {Case{"2025-11-25", true, true}, Case{"2025-06-18", true, true},
                        Case{"2025-03-26", false, true}, Case{"2024-11-05", false, false}}) {
    CAPTURE(c.version);
    Initialize(c.version);
    const Json tool = One(Request(1, "tools/list")).at("result").at("tools").front();
    CHECK(tool.at("name") == "echo");
    CHECK(tool.contains("description"));
    CHECK(tool.contains("inputSchema"));
    CHECK(tool.contains("title") == c.title);
    CHECK(tool.contains("outputSchema") == c.title);
    CHECK(tool.contains("annotations") == c.annotations);
    const Json result = One(Request(2, "tools/call", CallParams("echo"))).at("result");
    CHECK(result.contains("structuredContent") == c.title);
    CHECK(result.at("content").front().at("text") == "hi");
    CHECK_FALSE(result.contains("isError"));
  }
}

TEST_CASE_FIXTURE(HandshakeFixture, "requests that are wrong, and their codes") {
  struct Case {
    const char* line;
    int code;
    Json id;
  };
  const Case cases[] = {
      {"nonsense", -32700, Json()},
      // Half a surrogate pair is no JSON, and whoever sent it waits for an answer all the same.
      {R"({"jsonrpc":"2.0","id":31,"method":"ping","params":{"x":"\ud800"}})", -32700, 31},
      {"\"text\"", -32600, Json()},
      {"[]", -32600, Json()},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600, Json()},
      {R"({"jsonrpc":"1.0","id":5,"method":"ping"})", -32600, 5},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600, Json()},
      {R"({"jsonrpc":"2.0","id":"x","method":"no/such"})", -32601, "x"},
      {R"({"jsonrpc":"2.0","id":5,"method":"resources/list"})", -32601, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"ping","params":[]})", -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"ping","params":{"_meta":7}})", -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"ping","params":{"_meta":{"progressToken":1.5}}})",
       -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"x"}})", -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":""}})", -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"tools/call"})", -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}})", -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":[]}})",
       -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ecko"}})", -32602, 5},
      {R"({"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"loud"}})", -32602,
       5},
      {R"({"jsonrpc":"2.0","id":5,"method":"logging/setLevel"})", -32602, 5},
  };
  for (const Case& c : cases) {
    CAPTURE(c.line);
    const std::vector<Json> answers = client.Ask(std::string(c.line));
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].at("error").at("code") == c.code);
    CHECK(answers[0].at("error").at("message").is_string());
    CHECK(answers[0].value("id", Json()) == c.id);
    CHECK(answers[0].contains("id") == !c.id.is_null());
  }
  CHECK(One(Request(6, "logging/setLevel", {{"level", "debug"}})).at("result") == Json::object());
}

TEST_CASE_FIXTURE(HandshakeFixture, "an unknown tool is answered with the one that was meant") {
  const Json error = One(Request(1, "tools/call", CallParams("ecko"))).at("error");
  CHECK(error.at("message") ==
        "Unknown tool \"ecko\"; did you mean \"echo\"? Tools: echo, fail, throws, breaks, "
        "no_memory, gate");
}

TEST_CASE_FIXTURE(HandshakeFixture, "notifications and responses are never answered") {
  for (const Json& message :
       {Notification("notifications/initialized"), Notification("no/such"), Notification("ping"),
        Notification("notifications/cancelled"), Notification("tools/call", CallParams("echo")),
        Notification("notifications/cancelled", {{"requestId", Json::array()}}),
        Notification("notifications/cancelled", {{"requestId", 99}}),
        Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", 7}},
        Json{{"jsonrpc", "2.0"}, {"id", 4}, {"result", Json::object()}},
        Json{{"jsonrpc", "2.0"}, {"id", 4}, {"error", {{"code", 1}, {"message", "x"}}}}}) {
    CAPTURE(message);
    CHECK(client.Ask(message).empty());
  }
  CHECK(One(Request(1, "ping")).contains("result"));
}

TEST_CASE_FIXTURE(HandshakeFixture, "tools/list is the same bytes every time") {
  const std::string first = DumpLine(One(Request(1, "tools/list")));
  for (int i = 0; i < 20; ++i)
    CHECK(DumpLine(One(Request(1, "tools/list"))) == first);
}

TEST_CASE_FIXTURE(HandshakeFixture, "batches, in the one revision that has them") {
  Initialize("2025-03-26");
  Json batch = {Request(1, "ping"),
                Notification("x"),
                7,
                Request(2, "tools/call", CallParams("echo")),
                Request("2", "no/such"),
                Request(3, "initialize", InitializeParams("2025-11-25"))};
  const std::vector<Json> answers = client.Ask(batch);
  REQUIRE(answers.size() == 1);
  REQUIRE(answers[0].size() == 5);
  CHECK(answers[0][0].at("id") == 1);
  CHECK(answers[0][1].at("error").at("code") == -32600);
  CHECK(answers[0][2].at("result").at("content").size() == 1);
  CHECK(answers[0][3].at("error").at("code") == -32601);
  CHECK(answers[0][4].at("error").at("code") == -32600);

  CHECK(client.Ask(Json{Notification("a"), Notification("b")}).empty());
  CHECK(One(Json::array()).at("error").at("code") == -32600);
  Json many = Json::array();
  for (int i = 0; i < 101; ++i)
    many.push_back(Request(i, "ping"));
  CHECK(One(many).at("error").at("code") == -32600);
  CHECK(One(Json{Request(1, "ping"), Stateless(2, "tools/list")}).at("error").at("code") == -32600);
  // A call that its own batch cancels is not answered.
  const Json cancelled = {Request(1, "tools/call", CallParams("echo")),
                          Notification("notifications/cancelled", {{"requestId", 1}}),
                          Request(2, "ping")};
  const Json left = One(cancelled);
  REQUIRE(left.size() == 1);
  CHECK(left[0].at("id") == 2);

  Initialize("2025-06-18");
  CHECK(One(Json{Request(1, "ping")}).at("error").at("code") == -32600);
}

}  // namespace
}  // namespace jarvis::mcp
