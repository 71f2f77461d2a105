#include "mcp/schema.h"

#include <string>

#include <doctest/doctest.h>

#include "mcp/schema_check.h"

namespace jarvis::mcp {
namespace {

constexpr const char* kSchema = R"({
  "type": "object",
  "properties": {
    "trace_id": {"type": "string", "minLength": 1, "description": "Trace id or path"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 10},
    "percent": {"type": "number", "minimum": 0, "maximum": 100},
    "count": {"type": "integer", "maximum": 5},
    "sort": {"type": "string", "enum": ["gpu_time", "Calls"], "default": "gpu_time"},
    "deep": {"type": "boolean"},
    "ids": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
    "row": {"type": ["string", "integer"]},
    "note": {"type": ["string", "null"]},
    "kind": {"const": "x"},
    "nested": {"type": "object", "properties": {"a": {"type": "integer"}},
               "required": ["a"], "additionalProperties": false}
  },
  "required": ["trace_id"],
  "additionalProperties": false
})";

Json Schema() {
  return *ParseJson(kSchema);
}

TEST_CASE("the schema of these tests is in the subset") {
  CHECK(CheckSchema(Schema()));
}

TEST_CASE("arguments that are accepted, and how they reach the tool") {
  struct Case {
    const char* given;
    const char* normalized;
    std::size_t notes = 0;
  };
  const Case cases[] = {
      {R"({"trace_id":"t"})", R"({"trace_id":"t","limit":10,"sort":"gpu_time"})"},
      {R"({"limit":5,"trace_id":"t"})", R"({"trace_id":"t","limit":5,"sort":"gpu_time"})"},
      {R"({"trace_id":"t","limit":"5"})", R"({"trace_id":"t","limit":5,"sort":"gpu_time"})"},
      {R"({"trace_id":"t","limit":5.0})", R"({"trace_id":"t","limit":5,"sort":"gpu_time"})"},
      {R"({"trace_id":"t","limit":1000})", R"({"trace_id":"t","limit":200,"sort":"gpu_time"})", 1},
      {R"({"trace_id":"t","limit":"1000"})", R"({"trace_id":"t","limit":200,"sort":"gpu_time"})",
       1},
      {R"({"trace_id":"t","limit":1e300})", R"({"trace_id":"t","limit":200,"sort":"gpu_time"})", 1},
      {R"({"trace_id":"t","limit":18446744073709551615})",
       R"({"trace_id":"t","limit":200,"sort":"gpu_time"})", 1},
      {R"({"trace_id":"t","limit":null})", R"({"trace_id":"t","limit":10,"sort":"gpu_time"})"},
      {R"({"trace_id":"t","percent":"1.5"})",
       R"({"trace_id":"t","limit":10,"percent":1.5,"sort":"gpu_time"})"},
      {R"({"trace_id":"t","percent":3})",
       R"({"trace_id":"t","limit":10,"percent":3,"sort":"gpu_time"})"},
      {R"({"trace_id":"t","sort":"GPU_TIME"})", R"({"trace_id":"t","limit":10,"sort":"gpu_time"})"},
      {R"({"trace_id":"t","sort":"calls"})", R"({"trace_id":"t","limit":10,"sort":"Calls"})"},
      {R"({"trace_id":"t","deep":"TRUE"})",
       R"({"trace_id":"t","limit":10,"sort":"gpu_time","deep":true})"},
      {R"({"trace_id":"t","ids":["1",2]})",
       R"({"trace_id":"t","limit":10,"sort":"gpu_time","ids":[1,2]})"},
      {R"({"trace_id":"t","row":"17"})",
       R"({"trace_id":"t","limit":10,"sort":"gpu_time","row":"17"})"},
      {R"({"trace_id":"t","row":17})", R"({"trace_id":"t","limit":10,"sort":"gpu_time","row":17})"},
      {R"({"trace_id":"t","note":null})",
       R"({"trace_id":"t","limit":10,"sort":"gpu_time","note":null})"},
      {R"({"trace_id":"t","nested":{"a":"1"}})",
       R"({"trace_id":"t","limit":10,"sort":"gpu_time","nested":{"a":1}})"},
      {R"({"trace_id":"10"})", R"({"trace_id":"10","limit":10,"sort":"gpu_time"})"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.given);
    const auto normalized = Normalize(Schema(), *ParseJson(c.given));
    REQUIRE(normalized.has_value());
    CHECK(DumpLine(normalized->value) == c.normalized);
    CHECK(normalized->notes.size() == c.notes);
    CHECK(Validate(Schema(), normalized->value));
  }
}

TEST_CASE("arguments that are refused, and what the caller is told") {
  struct Case {
    const char* given;
    ErrorCode code;
    const char* message;
  };
  const Case cases[] = {
      {"{}", ErrorCode::kBadValue,
       "trace_id is missing: expected a string that is not empty (Trace id or path)"},
      {R"({"trace_id":null})", ErrorCode::kBadValue,
       "trace_id is missing: expected a string that is not empty (Trace id or path)"},
      {R"({"trace":"t"})", ErrorCode::kUnknownArgument,
       "No argument is named \"trace\". Did you mean \"trace_id\"? Arguments: trace_id, limit, "
       "percent, count, sort, deep, ids, row, note, kind, nested."},
      {R"({"trace_id":7})", ErrorCode::kBadValue,
       "trace_id: expected a string that is not empty, received 7"},
      {R"({"trace_id":""})", ErrorCode::kBadValue,
       "trace_id: expected a string that is not empty, received \"\""},
      {R"({"trace_id":"t","limit":0})", ErrorCode::kBadValue,
       "limit: expected an integer from 1 to 200, received 0"},
      {R"({"trace_id":"t","limit":"many"})", ErrorCode::kBadValue,
       "limit: expected an integer from 1 to 200, received \"many\""},
      {R"({"trace_id":"t","limit":"0x10"})", ErrorCode::kBadValue,
       "limit: expected an integer from 1 to 200, received \"0x10\""},
      {R"({"trace_id":"t","limit":" 5"})", ErrorCode::kBadValue,
       "limit: expected an integer from 1 to 200, received \" 5\""},
      {R"({"trace_id":"t","limit":1.5})", ErrorCode::kBadValue,
       "limit: expected an integer from 1 to 200, received 1.5"},
      {R"({"trace_id":"t","count":6})", ErrorCode::kBadValue,
       "count: expected an integer of at most 5, received 6"},
      {R"({"trace_id":"t","percent":100.5})", ErrorCode::kBadValue,
       "percent: expected a number from 0 to 100, received 100.5"},
      {R"({"trace_id":"t","percent":"inf"})", ErrorCode::kBadValue,
       "percent: expected a number from 0 to 100, received \"inf\""},
      {R"({"trace_id":"t","sort":"name"})", ErrorCode::kBadValue,
       "sort: expected one of: gpu_time, Calls, received \"name\""},
      {R"({"trace_id":"t","deep":1})", ErrorCode::kBadValue,
       "deep: expected true or false, received 1"},
      {R"({"trace_id":"t","ids":[]})", ErrorCode::kBadValue,
       "ids: expected an array (length from 1 to 3), each element an integer, received []"},
      {R"({"trace_id":"t","ids":[1,"x"]})", ErrorCode::kBadValue,
       "ids[1]: expected an integer, received \"x\""},
      {R"({"trace_id":"t","kind":"y"})", ErrorCode::kBadValue,
       "kind: expected \"x\", received \"y\""},
      {R"({"trace_id":"t","nested":{}})", ErrorCode::kBadValue,
       "nested.a is missing: expected an integer"},
      {R"({"trace_id":"t","nested":{"b":1}})", ErrorCode::kUnknownArgument,
       "No argument is named \"b\". Did you mean \"a\"? Arguments: a."},
      {R"({"trace_id":["0123456789012345678901234567890123456789"]})", ErrorCode::kBadValue,
       "trace_id: expected a string that is not empty, received "
       "[\"01234567890123456789012345678901234567..."},
  };
  for (const Case& c : cases) {
    CAPTURE(c.given);
    const auto normalized = Normalize(Schema(), *ParseJson(c.given));
    REQUIRE_FALSE(normalized.has_value());
    CHECK(normalized.error().code == c.code);
    CHECK(normalized.error().message == c.message);
  }
}

TEST_CASE("an argument of more than 1 MiB is refused") {
  const Json given = {{"trace_id", std::string((1 << 20) + 1, 'x')}};
  const auto normalized = Normalize(Schema(), given);
  REQUIRE_FALSE(normalized.has_value());
  CHECK(normalized.error().message.size() < 150);
}

TEST_CASE("without additionalProperties: false other names pass") {
  const auto normalized = Normalize(*ParseJson(R"({"type":"object"})"), {{"x", 1}});
  REQUIRE(normalized.has_value());
  CHECK(normalized->value == Json{{"x", 1}});
}

TEST_CASE("a tool without arguments says so") {
  const auto normalized =
      Normalize(*ParseJson(R"({"type":"object","additionalProperties":false})"), {{"x", 1}});
  REQUIRE_FALSE(normalized.has_value());
  CHECK(normalized.error().message == "No argument is named \"x\". There are no arguments.");
}

TEST_CASE("validation takes a value as it is") {
  struct Case {
    const char* schema;
    const char* value;
    bool fits;
  };
  const Case cases[] = {
      {"{}", "[1]", true},
      {R"({"type":"integer"})", "1", true},
      {R"({"type":"integer"})", "1.0", true},
      {R"({"type":"integer"})", "\"1\"", false},
      {R"({"type":["number","null"]})", "null", true},
      {R"({"type":"array","items":{"type":"array","items":{"type":["string","number"]}}})",
       R"([["a",1],["b",2]])", true},
      {R"({"type":"array","items":{"type":"array","items":{"type":["string","number"]}}})",
       R"([["a",true]])", false},
      {R"({"type":"object","properties":{"a":{}},"required":["a"]})", "{}", false},
      {R"({"type":"object","properties":{"a":{}},"required":["a"]})", R"({"a":1,"b":2})", true},
      {R"({"type":"object","additionalProperties":{"type":"string"}})", R"({"a":"x"})", true},
      {R"({"type":"object","additionalProperties":{"type":"string"}})", R"({"a":1})", false},
      {R"({"type":"object","additionalProperties":false})", R"({"a":1})", false},
      {R"({"enum":["a",1]})", "1", true},
      {R"({"enum":["a",1]})", "\"A\"", false},
      {R"({"type":"string","maxLength":2})", "\"\u00e9\u00e9\"", true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.schema);
    CAPTURE(c.value);
    const Json schema = *ParseJson(c.schema);
    CHECK(CheckSchema(schema));
    CHECK(Validate(schema, *ParseJson(c.value)).has_value() == c.fits);
  }
}

TEST_CASE("schemas outside the subset are refused") {
  for (const char* text :
       {"7", R"({"type":"text"})", R"({"type":[]})", R"({"oneOf":[]})", R"({"pattern":"x"})",
        R"({"enum":[]})", R"({"properties":{"a":{"format":"uri"}}})", R"({"minLength":-1})",
        R"({"required":["a"]})", R"({"items":[{}]})", R"({"type":"integer","default":"x"})",
        R"({"additionalProperties":{"type":7}})"}) {
    CAPTURE(text);
    CHECK_FALSE(CheckSchema(*ParseJson(text)).has_value());
  }
}

}  // namespace
}  // namespace jarvis::mcp
