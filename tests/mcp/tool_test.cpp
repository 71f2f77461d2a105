#include "mcp/tool.h"

#include <string>

#include <doctest/doctest.h>

#include "mcp/closest_match.h"
#include "mcp/error_reply.h"
#include "mcp_support.h"

namespace jarvis::mcp {
namespace {

ToolReply Nothing(const Json&, Job&) {
  return {};
}

TEST_CASE("tools keep the order in which they were added") {
  ToolSet tools;
  for (const char* name : {"zeta", "alpha", "middle"}) {
    REQUIRE(tools.Add(DefinitionText(name), ToolCost::kQuick, Nothing));
  }
  CHECK(JoinNames(tools.Names()) == "zeta, alpha, middle");
  REQUIRE(tools.Find("alpha") != nullptr);
  CHECK(tools.Find("alpha")->input_schema().at("type") == "object");
  CHECK(tools.Find("Alpha") == nullptr);
  CHECK_FALSE(tools.Add(DefinitionText("alpha"), ToolCost::kQuick, Nothing).has_value());
}

TEST_CASE("definitions that clients would stumble over are refused") {
  const Json good = *ParseJson(DefinitionText("good"));
  const auto refused = [](const Json& definition) {
    return !ToolSet().Add(DumpLine(definition), ToolCost::kQuick, Nothing).has_value();
  };
  CHECK_FALSE(refused(good));
  CHECK_FALSE(ToolSet().Add("{", ToolCost::kQuick, Nothing).has_value());
  CHECK(refused(Json::array()));
  for (const char* key : {"name", "title", "description", "inputSchema", "annotations"}) {
    CAPTURE(key);
    Json definition = good;
    definition.erase(key);
    CHECK(refused(definition));
    definition[key] = 7;
    CHECK(refused(definition));
  }
  for (const char* hint : {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}) {
    CAPTURE(hint);
    Json definition = good;
    definition["annotations"].erase(hint);
    CHECK(refused(definition));
  }
  for (const std::string& name : {std::string("Big"), std::string("a-b"), std::string(65, 'a')}) {
    CAPTURE(name);
    Json definition = good;
    definition["name"] = name;
    CHECK(refused(definition));
  }
  Json definition = good;
  definition["inputSchema"]["type"] = "array";
  CHECK(refused(definition));
  definition = good;
  definition["outputSchema"]["anyOf"] = Json::array();
  CHECK(refused(definition));
}

TEST_CASE("an error as its caller reads it") {
  struct Case {
    Error error;
    const char* text;
  };
  const Case cases[] = {
      {{ErrorCode::kUnknownRow, "No row \"op17\"", "ops_summary {}"},
       "[unknown_row] No row \"op17\".\nNext: ops_summary {}"},
      {{ErrorCode::kBadValue, "Did you mean x?", ""}, "[bad_value] Did you mean x?"},
      {{ErrorCode::kIo, "Done.", ""}, "[io] Done."},
  };
  for (const Case& c : cases) {
    const ToolReply reply = ErrorReply(c.error);
    CHECK(reply.is_error);
    CHECK(reply.structured.is_null());
    CHECK(reply.text == c.text);
  }
}

TEST_CASE("the name that was meant") {
  const std::vector<std::string> known = {"load_trace", "ops_summary", "trace_id", "limit"};
  struct Case {
    const char* given;
    const char* meant;  // empty: nothing is close
  };
  const Case cases[] = {
      {"lod_trace", "load_trace"},
      {"LOAD-TRACE", "load_trace"},
      {"trace", "trace_id"},
      {"ops", "ops_summary"},
      {"limits", "limit"},
      {"lmiit", "limit"},
      {"zzzzzzzz", ""},
      {"", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.given);
    CHECK(ClosestMatch(c.given, known).value_or("") == c.meant);
  }
  CHECK_FALSE(ClosestMatch(std::string(1 << 20, 'l'), known).has_value());
}

}  // namespace
}  // namespace jarvis::mcp
