// Extensions that are wrong, endless or hostile: each is refused with a message that says where and
// what was expected, or its calls have a reason instead of metrics. Other rows are not touched.
#include "session/extension.h"

#include <ctime>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "perf/model.h"

namespace jarvis::session {
namespace {

using perf::ModelSet;
using perf::OpCall;
using perf::OpWork;

constexpr std::string_view kFile = "mine.json";

std::string Message(std::string_view json) {
  const auto rows = session::ModelsWithExtension(kFile, json, session::Compat::kNone);
  return rows ? "" : rows.error().message;
}

OpCall Call(std::string_view name = "mylib::op") {
  OpCall call;
  call.name = name;
  call.dims = "[[128,512],[512]]";
  call.types = R"(["c10::Half","c10::Half"])";
  call.strides = "[[512,1],[1]]";
  call.text = R"(["",""])";
  return call;
}

// A row that serves mylib::op, with further members.
std::string Row(std::string_view members) {
  return fmt::format(
      R"({{"rows": [{{"model": "mine", "like": "op", "ops": ["mylib::op"], "category": "c", {}}}]}})",
      members);
}

// With this as an expression of a quantity, a parameter or a cost.
std::vector<std::string> Places(std::string_view expression) {
  return {Row(fmt::format(R"("params": ["p"], "p": "{}", "flops": 1, "bytes": 1)", expression)),
          Row(fmt::format(R"("flops": "{}", "bytes": 1)", expression)),
          Row(fmt::format(R"("check": "{}", "flops": 1, "bytes": 1)", expression))};
}

// Evaluates mylib::op twice. Built-in rows must say before and after what they always say.
struct Evaluated {
  OpWork first, second;
};
Evaluated EvaluateTwice(const std::string& json) {
  const auto rows = session::ModelsWithExtension(kFile, json, session::Compat::kNone);
  CAPTURE(json.substr(0, 400));
  REQUIRE_MESSAGE(rows.has_value(), (rows ? "" : rows.error().message));
  ModelSet models(**rows);
  const OpCall call = Call();
  const OpCall builtin = Call("aten::_softmax");
  const perf::ModelRow* mine = models.Find(call.name);
  const perf::ModelRow* softmax = models.Find(builtin.name);
  REQUIRE(mine != nullptr);
  REQUIRE(softmax != nullptr);
  Evaluated done;
  done.first = models.Evaluate(*mine, call);
  done.second = models.Evaluate(*mine, call);
#ifdef __SANITIZE_THREAD__
  // A row that is stopped by its number of steps takes so long here that the time of all rows is
  // up.
  return done;
#endif
  const OpWork other = models.Evaluate(*softmax, builtin);
  CHECK(other.failure == OpWork::Failure::kNone);
  CHECK(other.flops == 5.0 * 128 * 512);
  CHECK(other.bytes == 2.0 * 2 * 128 * 512);
  return done;
}

// Of the program's own time, whatever else the machine does.
struct Timer {
  std::clock_t began = std::clock();
  double Seconds() const { return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC; }
};

}  // namespace

TEST_CASE("what takes too long or too much is stopped") {
  int place = 0;
  const std::string_view endless[] = {
      "(function() while true do end end)()", "(function() goto a ::a:: goto a end)()",
      "(function() local f f = function() return f() end return f() end)()",
      "(function() local f f = function() return 1 + f() end return f() end)()",
      "(function() local s = 'aaaaaaaa' while true do s = s .. s end end)()",
      "(function() local t = {} for i = 1, 1e12 do t[i] = {i} end return 1 end)()",
      "(function() local t = {} for i = 1, 1e12 do t['k' .. i] = i end return 1 end)()",
      "#range(1e15)", "fold(range(9e9), function(a, b) return a + b end, 0)",
      // A step that is busy with a long text, again and again.
      "(function() local s = 'a' for i = 1, 17 do s = s .. s end"
      " while true do local x = contains(s, 'aaaaaaaaaaaaaaaaaaaaab') end end)()",
      "(function() local s = 'a' for i = 1, 17 do s = s .. s end"
      " while true do local x = s .. 'b' == s .. 'c' end end)()"};
  for (const std::string_view expression : endless) {
    // All of them take some time: each is in one place.
    const std::string json = Places(expression)[static_cast<std::size_t>(place++ % 3)];
    {
      const Timer timer;
      const Evaluated done = EvaluateTwice(json);
      for (const OpWork& work : {done.first, done.second}) {
        CHECK(work.failure != OpWork::Failure::kNone);
        CHECK(!work.reason.empty());
      }
      CHECK(timer.Seconds() < 30);  // two evaluations, on a busy machine with sanitizers
    }
  }
}

TEST_CASE("a row that was stopped three times is not asked again") {
  const auto rows = session::ModelsWithExtension(
      kFile, Row(R"~("flops": "(function() while true do end end)()")~"), session::Compat::kNone);
  REQUIRE(rows.has_value());
  ModelSet models(**rows);
  const OpCall call = Call();
  const perf::ModelRow* mine = models.Find(call.name);
  for (int i = 0; i < 3; ++i) {
    CHECK(models.Evaluate(*mine, call).reason == "the model ran for too long");
  }
  const Timer timer;
  for (int i = 0; i < 10000; ++i)
    models.Evaluate(*mine, call);
  CHECK(timer.Seconds() < 1);
  CHECK(models.Evaluate(*mine, call).reason ==
        "the model ran for too long or out of memory in other calls");
}

TEST_CASE("there is no library") {
  for (const std::string_view word :
       {"io",           "os",           "require", "load",   "loadstring",
        "dofile",       "debug",        "string",  "table",  "_G",
        "getmetatable", "setmetatable", "rawset",  "rawget", "collectgarbage",
        "coroutine",    "pcall",        "error",   "print",  "select",
        "next",         "tostring",     "type",    "host",   "words",
        "math",         "utf8"}) {
    for (const std::string& use :
         {fmt::format("{}.x", word), fmt::format("{}('a')", word), fmt::format("_ENV.{}", word)}) {
      const Evaluated done = EvaluateTwice(Row(fmt::format(R"("flops": "{}", "bytes": 1)", use)));
      CHECK(done.first.failure == OpWork::Failure::kBroken);
      CHECK(done.first.reason == fmt::format("no quantity {} in mine", word));
      CHECK(done.first.bytes == 1);
    }
  }
  for (const std::string_view use :
       {"('x'):rep(1e9)", "('x').len", "dims.__index", "null.x", "(nil).x", "_ENV[1]", "_ENV[{}]",
        "dims[{}]", "#5", "{} + 1", "dims .. dims", "el(function() end)"}) {
    const Evaluated done = EvaluateTwice(Row(fmt::format(R"("flops": "{}", "bytes": 1)", use)));
    CHECK(done.first.failure != OpWork::Failure::kNone);
    CHECK(!done.first.reason.empty());
    CHECK(done.first.reason.find("0x") == std::string::npos);
    CHECK(done.first.bytes == 1);
  }
}

TEST_CASE("all rows together have a limit of time") {
  // Slow, and never so slow that it is stopped by itself.
  const auto rows = session::ModelsWithExtension(
      kFile, Row(R"~("flops": "(function() for i = 1, 15000000 do end return 1 end)()")~"),
      session::Compat::kNone);
  REQUIRE(rows.has_value());
  ModelSet models(**rows);
  const OpCall call = Call();
  const perf::ModelRow* mine = models.Find(call.name);
  const Timer timer;
  bool ended = false;
  for (int i = 0; i < 2000 && !ended; ++i)
    ended = models.Evaluate(*mine, call).reason.find("together") != std::string::npos;
  CHECK(ended);
  CHECK(timer.Seconds() < 60);
}

TEST_CASE("what stands for an absent value cannot be changed") {
  const Evaluated done = EvaluateTwice(
      Row(R"~("flops": "(function() local x = dims[0] null.n = 0 return 7 end)()", "bytes": 1)~"));
  CHECK(done.first.reason.find("cannot be changed") != std::string::npos);
  CHECK_FALSE(done.first.flops);
}

TEST_CASE("nothing that a call changes is there in the next") {
  const std::string_view changes[] = {
      "(function() local n = el(dims[0]) dims[0] = 7 dims.n = 0 return n end)()",
      "(function() local n = el(dims[0]) types[0] = 'float' return n end)()",
      "(function() local n = el(dims[0]) dims[0][0] = 3 dims[0].n = 1 return n end)()",
      "(function() local n = el(dims[0]) _ENV = {} return n end)()"};
  for (const std::string_view change : changes) {
    const Evaluated done =
        EvaluateTwice(Row(fmt::format(R"~("flops": "{}", "bytes": "bp(types[0])")~", change)));
    CHECK(done.first.flops == 128 * 512);
    CHECK(done.second.flops == 128 * 512);
    CHECK(done.second.bytes == done.first.bytes);
  }
  for (const std::string_view change :
       {"(function() absent.kept = (absent.kept or 0) + 1 return absent.kept end)()",
        "(function() null.kept = 1 return 1 end)()", "(function() flopz = 1 return 1 end)()",
        "(function() el = 1 return 1 end)()",
        "(function() local n = el(dims[0]) el = nil return n end)()",
        "(function() local n = el(dims[0]) _ENV.el = function() return 7 end return n end)()"}) {
    const Evaluated done =
        EvaluateTwice(Row(fmt::format(R"~("flops": "{}", "bytes": "bp(types[0])")~", change)));
    for (const OpWork& work : {done.first, done.second}) {
      CHECK(work.reason == "a value cannot be changed");
      CHECK(work.bytes == 2);
    }
  }
}

TEST_CASE("parameters that are no values, endless or huge") {
  const std::string_view strange[] = {
      "{}",
      "function() end",
      "iteration",
      "(function() dims.n = 1000000000000 return dims end)()",
      "(function() dims.n = 'x' return dims end)()",
      "(function() dims[0] = dims return dims end)()",
      "fold(range(60), function(a, b) return tuple(a, a) end, tuple())",
      "map(range(100000), function(i) return dims end)",
      "fold(range(16), function(s, i) return s .. s end, 'aaaaaaaa')",
      "'\\\\xff\\\\0'",
      "9223372036854775807 + 1",
      "-9223372036854775807 // -1 * 1e308 * 10",
      "0/0",
      "1//0",
      "1e400"};
  for (const std::string_view expression : strange) {
    const Evaluated done = EvaluateTwice(
        Row(fmt::format(R"("params": ["p"], "p": "{}", "flops": 1, "bytes": 1)", expression)));
    CAPTURE(expression);
    const bool fails = done.first.failure != OpWork::Failure::kNone;
    CHECK(fails == done.first.parameters.empty());
    CHECK(fails == !done.first.flops.has_value());
    for (const perf::Parameter& parameter : done.first.parameters) {
      CHECK(parameter.value.Str().size() < 600'000);
      CHECK(parameter.value.Str().find('\xff') == std::string::npos);
    }
  }
}

TEST_CASE("numbers of work") {
  const std::pair<std::string_view, std::optional<double>> values[] = {
      {"1e400", {}},      {"0/0", {}},
      {"-1", {}},         {"'5'", {}},
      {"true", {}},       {"dims", {}},
      {"null", {}},       {"9223372036854775807 + 1", 9223372036854775808.0},
      {"1//0", {}},       {"fail({})", {}},
      {"fail(null)", {}}, {"fail()", {}},
      {"fail('no')", {}}, {"not_modelled({})", {}}};
  for (const auto& [expression, wanted] : values) {
    CAPTURE(expression);
    const Evaluated done =
        EvaluateTwice(Row(fmt::format(R"("flops": "{}", "bytes": 1)", expression)));
    if (wanted && done.first.flops) CHECK(*done.first.flops == *wanted);
    if (!wanted) CHECK(!done.first.flops.has_value());
    CHECK(done.first.bytes == 1);
    CHECK((done.first.failure == OpWork::Failure::kNone) == done.first.reason.empty());
  }
  CHECK(EvaluateTwice(Row(R"~("flops": "fail('no')")~")).first.reason == "no");
  CHECK(EvaluateTwice(Row(R"~("flops": "fail({})")~")).first.reason == "table");
  CHECK(EvaluateTwice(Row(R"~("flops": "fail()")~")).first.reason == "no reason given");
}

TEST_CASE("a quantity that depends on itself") {
  for (const std::string_view members :
       {R"("flops": "flops")", R"("flops": "a", "a": "b", "b": "c + 1", "c": "a")",
        R"("params": ["a"], "a": "b", "b": "a", "flops": "a")"}) {
    const Evaluated done = EvaluateTwice(Row(members));
    CHECK(done.first.failure == OpWork::Failure::kBroken);
    CHECK(done.first.reason.find("depends on itself") != std::string::npos);
  }
  const Evaluated list = EvaluateTwice(Row(R"("params_list": "'others'", "flops": 1)"));
  CHECK(list.first.reason == "no list of parameters is called others");
}

TEST_CASE("a file that is wrong is refused with the place and what was expected") {
  const std::pair<std::string, std::string_view> wrong[] = {
      {"", "mine.json: expected JSON"},
      {"{", "mine.json: expected JSON"},
      {"[]", "mine.json: expected an object"},
      {"{\"rows\": [{\"model\": \"a\xff\"}]}", "mine.json: expected JSON"},
      {R"({"row": []})", R"(mine.json, "row": expected "about", "rows")"},
      {R"({"rows": {}})", R"(mine.json, "rows": expected a list of rows)"},
      {R"({"rows": [5]})", "mine.json, row 1: expected an object"},
      {R"({"rows": [{}]})", R"(mine.json, row 1: expected one of "model" and "override")"},
      {R"({"rows": [{"model": "a", "override": "b"}]})", "expected one of"},
      {R"({"rows": [{"model": ""}]})", R"(row 1, "model": expected a text)"},
      {R"({"rows": [{"model": 5}]})", R"(row 1, "model": expected a text)"},
      {R"({"rows": [{"model": "op"}]})", R"(row op, "model": expected an id that is not taken)"},
      {R"({"rows": [{"model": "a"}, {"model": "a"}]})", R"(row a, "model": expected an id)"},
      {R"({"rows": [{"override": "nothing"}]})", "expected the id of a row that exists"},
      {R"({"category_only": []})", R"("category_only": expected an object)"},
      {R"({"category_only": {"c": "op"}})", R"("c": expected a list of texts)"},
      {Row(R"("ops": "x")"), R"(row mine, "ops": expected a list of texts)"},
      {Row(R"("prefixes": [5])"), R"(row mine, "prefixes": expected a list of texts)"},
      {Row(R"("like": 5)"), R"(row mine, "like": expected a text)"},
      {Row(R"("note": {})"), R"(row mine, "note": expected a text)"},
      {Row(R"("sheet": [])"), R"(row mine, "sheet": expected a text)"},
      {Row(R"("backward_category": true)"), R"("backward_category": expected a text)"},
      {Row(R"("unit": "tensor")"), R"("unit": expected "matrix", "vector" or "")"},
      {Row(R"("flops": ["1"])"), R"(row mine, "flops": expected an expression)"},
      {Row(R"("flops": "")"), R"(row mine, "flops": expected an expression)"},
      {Row(R"("flops": {})"), R"("flops": expected an expression, a number, true or false)"},
      {Row(R"("flops": 1e400)"), "mine.json: expected JSON"},
      {Row(R"("params": "M")"), R"(row mine, "params": expected a list of texts)"},
      {Row(R"("params": ["a b"])"), R"(row mine, "params": expected a list of names)"},
      {Row(R"("params": ["M"])"), R"(row mine, "M": a parameter without a definition)"},
      {Row(R"("params": ["M=1 +"])"), R"(row mine, "M": )"},
      {Row(R"("end": 1)"), R"(row mine, "end": expected a name)"},
      {Row(R"("a-b": 1)"), R"(row mine, "a-b": expected a name)"},
      {Row(R"("flops": "1 +")"), R"(row mine, "flops": )"},
      {Row(R"("flops": "1 end")"), R"(row mine, "flops": )"},
      {Row(R"("flops": "1; os = 2")"), R"(row mine, "flops": )"},
      {Row("\"flops\": \"" + std::string(5000, '(') + "1" + std::string(5000, ')') + "\""),
       R"(row mine, "flops": )"},
      {Row("\"flops\": \"" + std::string(100'000, ' ') + "1\""),
       R"("flops": expected an expression of at most 65536 bytes)"},
      {Row("\"category\": \"" + std::string(5000, 'c') + "\""),
       R"("category": expected a text of)"},
      {Row("\"" + std::string(5000, 'k') + "\": 1"), "expected a name of letters"},
      {R"({"rows": [{"model": "a", "ops": ["x"]}]})", R"(row a, "category": expected a text)"},
      {R"({"rows": [{"model": "a", "prefixes": ["x"]}]})", R"(row a, "category": expected a text)"},
      {R"({"rows": [{"model": "a", "like": "b"}]})",
       R"(row a, "like": no model or op is called b)"},
      {R"({"rows": [{"model": "a", "like": "a"}]})",
       R"(row a, "like": the row inherits from itself)"},
      {R"({"rows": [{"model": "a", "like": "b"}, {"model": "b", "like": "c"},
                    {"model": "c", "like": "a"}]})",
       R"(row a, "like": the row inherits from itself)"},
      {R"({"rows": [{"model": "a", "like": "b"}, {"model": "b", "like": "b"}]})", "\"like\": "},
      {R"({"rows": [{"override": "op", "like": "softmax"}]})", "\"like\": "},
      {R"({"rows": [{"model": "a", "ops": ["x"], "category": "c"},
                    {"model": "b", "ops": ["x"], "category": "c"}]})",
       R"(row b, "ops": expected each op once in a file; x is in row a too)"},
      {R"({"rows": [{"model": "a", "ops": ["x", "x"], "category": "c"}]})", "each op once"},
      {Row(R"("sheet": "../up")"), R"(row mine, "sheet": expected at most 27 letters)"},
      {Row(R"("sheet": "a/b")"), R"(row mine, "sheet": expected)"},
      {Row(R"("sheet": "GPU_timeline")"), "the report has a table GPU_timeline already"}};
  for (const auto& [json, expected] : wrong) {
    const std::string message = Message(json);
    CAPTURE(json.substr(0, 200));
    CAPTURE(message);
    CHECK(message.starts_with(kFile));
    CHECK(message.find(expected) != std::string::npos);
    CHECK(message.size() < 1000);
  }
}

TEST_CASE("many rows") {
  std::string json = R"({"rows": [)";
  for (int i = 0; i < 100'000; ++i) {
    json += fmt::format(R"({}{{"model":"r{}","like":"op","flops":{}}})", i == 0 ? "" : ",", i, i);
  }
  json += "]}";
  CHECK(Message(json).empty());
  // A chain of them: refused, and not by walking it once for each row.
  std::string chain = R"({"rows": [{"model":"r0"})";
  for (int i = 1; i < 100'000; ++i)
    chain += fmt::format(R"(,{{"model":"r{}","like":"r{}"}})", i, i - 1);
  chain += "]}";
  CHECK(Message(chain).find("more than 64 rows up") != std::string::npos);
}

TEST_CASE("later files win, and only where they say so") {
  const auto entry_of = [](std::string_view json, std::string_view op) {
    const auto rows = session::ModelsWithExtension(kFile, json, session::Compat::kNone);
    REQUIRE_MESSAGE(rows.has_value(), (rows ? "" : rows.error().message));
    const perf::OpEntry* entry = (*rows)->Find(op);
    if (entry == nullptr) return std::string("none");
    return (entry->row < 0 ? "" : (*rows)->rows()[static_cast<std::size_t>(entry->row)].model) +
           ":" + entry->category;
  };
  // An op moves, and an override of the row it came from does not take it back.
  const std::string_view moved = R"({"rows": [
      {"model": "mine", "like": "softmax", "ops": ["aten::_softmax"], "category": "mine"},
      {"override": "softmax.fwd", "per_element": 6}]})";
  CHECK(entry_of(moved, "aten::_softmax") == "mine:mine");
  CHECK(entry_of(moved, "aten::_log_softmax") == "softmax.fwd:softmax");
  // "ops" of an override are all the ops there are.
  CHECK(entry_of(R"({"rows": [{"override": "softmax.fwd", "ops": ["x"]}]})", "aten::_softmax") ==
        "none");
  // A beginning of a name that a built-in row has too.
  CHECK(entry_of(R"({"rows": [{"model": "mine", "like": "op", "prefixes": ["triton_poi_"],
                     "category": "mine"}]})",
                 "triton_poi_fused_add_0") == "mine:mine");
  // Categories without a model; a model's op keeps its own.
  const std::string_view categories =
      R"({"category_only": {"mine": ["FlashAttnFuncBackward", "mylib::x", "aten::_softmax"]}})";
  CHECK(entry_of(categories, "FlashAttnFuncBackward") == ":mine");
  CHECK(entry_of(categories, "mylib::x") == ":mine");
  CHECK(entry_of(categories, "aten::_softmax") == "softmax.fwd:softmax");
}

}  // namespace jarvis::session
