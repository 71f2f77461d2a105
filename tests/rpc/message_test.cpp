#include "rpc/message.h"

#include <string>

#include <doctest/doctest.h>

namespace jarvis::rpc {
namespace {

TEST_CASE("what a message is") {
  struct Case {
    const char* text;
    MessageKind kind;
    const char* id = "null";
    int code = 0;
  };
  const Case cases[] = {
      {R"({"jsonrpc":"2.0","id":1,"method":"m"})", MessageKind::kRequest, "1"},
      {R"({"jsonrpc":"2.0","id":0,"method":"m","params":{}})", MessageKind::kRequest, "0"},
      {R"({"jsonrpc":"2.0","id":-7,"method":"m"})", MessageKind::kRequest, "-7"},
      {R"({"jsonrpc":"2.0","id":"1","method":"m"})", MessageKind::kRequest, "\"1\""},
      {R"({"jsonrpc":"2.0","id":"","method":"m"})", MessageKind::kRequest, "\"\""},
      {R"({"jsonrpc":"2.0","id":9007199254740993,"method":"m"})", MessageKind::kRequest,
       "9007199254740993"},
      {R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"m"})", MessageKind::kRequest,
       "18446744073709551615"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":null})", MessageKind::kRequest, "1"},
      {R"({"jsonrpc":"2.0","method":"m"})", MessageKind::kNotification},
      {R"({"jsonrpc":"2.0","method":"m","params":[1]})", MessageKind::kNotification},
      {R"({"jsonrpc":"2.0","id":1,"result":{}})", MessageKind::kResponse, "1"},
      {R"({"id":null,"error":{"code":1,"message":""}})", MessageKind::kResponse},
      {R"({"jsonrpc":"2.0","id":null,"method":"m"})", MessageKind::kInvalid, "null", -32600},
      {R"({"jsonrpc":"2.0","id":1.0,"method":"m"})", MessageKind::kInvalid, "null", -32600},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", MessageKind::kInvalid, "null", -32600},
      {R"({"jsonrpc":"2.0","id":true,"method":"m"})", MessageKind::kInvalid, "null", -32600},
      {R"({"jsonrpc":"2.0","id":[1],"method":"m"})", MessageKind::kInvalid, "null", -32600},
      {R"({"jsonrpc":"2.0","id":{},"method":"m"})", MessageKind::kInvalid, "null", -32600},
      {R"({"id":1,"method":"m"})", MessageKind::kInvalid, "1", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"m"})", MessageKind::kInvalid, "1", -32600},
      {R"({"jsonrpc":2.0,"id":1,"method":"m"})", MessageKind::kInvalid, "1", -32600},
      {R"({"jsonrpc":"2.0","id":1})", MessageKind::kInvalid, "1", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", MessageKind::kInvalid, "1", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":[1]})", MessageKind::kInvalid, "1", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":"x"})", MessageKind::kInvalid, "1", -32602},
      {"17", MessageKind::kInvalid, "null", -32600},
      {"null", MessageKind::kInvalid, "null", -32600},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const Message message = Classify(*ParseJson(c.text));
    CHECK(message.kind == c.kind);
    CHECK(DumpLine(message.id) == c.id);
    if (message.kind == MessageKind::kInvalid) CHECK(message.error.code == c.code);
    CHECK(message.params.is_object());
  }
}

TEST_CASE("an id too long to echo is no id") {
  Json json = {{"jsonrpc", "2.0"}, {"id", std::string(kIdBytesMax + 1, 'x')}, {"method", "m"}};
  const Message message = Classify(json);
  CHECK(message.kind == MessageKind::kInvalid);
  CHECK(message.id.is_null());
}

TEST_CASE("ids of different types are different requests") {
  CHECK(IdKey(1) != IdKey("1"));
  CHECK(IdKey(1) == IdKey(1U));
}

TEST_CASE("answers") {
  CHECK(DumpLine(MakeResult("a", {{"x", 1}})) == R"({"jsonrpc":"2.0","id":"a","result":{"x":1}})");
  CHECK(DumpLine(MakeError(3, {-32601, "no", {}})) ==
        R"({"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}})");
  CHECK(DumpLine(MakeError(Json(), {-32700, "no", {{"k", 1}}})) ==
        R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"no","data":{"k":1}}})");
  CHECK(DumpLine(MakeNotification("n", {{"x", 1}})) ==
        R"({"jsonrpc":"2.0","method":"n","params":{"x":1}})");
}

TEST_CASE("the id of a text that is no JSON is found where there is one") {
  CHECK(IdInText(R"({"id":7,"method":"x\ud800"})") == 7);
  CHECK(IdInText(R"({"params":{"id":1,"a":["]"]},"x":"\"id\":3", "id" : "se\"ven" ,})") ==
        "se\"ven");
  CHECK(IdInText(R"({"a":"\ud800","id":-3})") == -3);
  // What was cut short may be a part of anything.
  for (const char* none : {"", "{", "\"", R"({"id":7,"method":"x")", R"([{"id":1}])", R"({"id"})",
                           R"({"id":})", R"({"id":{"id":1}})", R"({"id":1.5})", R"({"id":null})",
                           R"("id":1)", R"({"id":"\ud800"})"}) {
    CAPTURE(none);
    CHECK(IdInText(none).is_null());
  }
  CHECK(IdInText(R"({"id":")" + std::string(10'000, 'x') + "\"}").is_null());
}

}  // namespace
}  // namespace jarvis::rpc
