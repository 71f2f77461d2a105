// Our own vectors: calls whose work was derived by hand. models/*.json: each has the op, its
// arguments, what is expected and the derivation. An expected value that is missing is not checked.
#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "json/json.h"
#include "perf/model.h"
#include "perf/sandbox.h"  // for Lua

namespace jarvis::perf {
namespace {

struct Vector {
  explicit Vector(const Json& json) {
    call.name = Keep(json.at("op").get<std::string>());
    const auto raw = [&](const char* key) {
      return json.contains(key) ? Keep(json.at(key).dump()) : std::string_view();
    };
    call.dims = raw("dims");
    call.types = raw("types");
    call.strides = raw("strides");
    call.text = raw("text");
    if (json.contains("annotation"))
      call.annotation = Keep(json.at("annotation").get<std::string>());
    if (json.contains("kernels")) {
      for (const Json& kernel : json.at("kernels"))
        call.kernels.push_back(Keep(kernel.get<std::string>()));
    }
    if (json.contains("extra")) {
      for (const auto& [key, value] : json.at("extra").items()) {
        call.extra.emplace_back(Keep(key), Keep(value.dump()));
      }
    }
  }
  std::string_view Keep(std::string text) { return texts.emplace_back(std::move(text)); }

  OpCall call;
  std::deque<std::string> texts;
};

Vector& VectorOf(const ModelSet& models, const Json& json, std::deque<Vector>& kept) {
  Vector& vector = kept.emplace_back(json);
  if (json.contains("forward")) {
    vector.call.forward = &kept.emplace_back(json.at("forward")).call;
    vector.call.forward_model = models.Find(vector.call.forward->name);
  }
  return vector;
}

void Check(ModelSet& models, const Json& json, std::deque<Vector>& kept) {
  const Vector& vector = VectorOf(models, json, kept);
  const std::string label = json.dump();
  CAPTURE(label);
  REQUIRE(json.at("derivation").get<std::string>().size() > 10);
  const ModelRow* row = models.Find(vector.call.name);
  REQUIRE(row != nullptr);
  const OpWork work = models.Evaluate(*row, vector.call, json.value("backward", false));
  const Json& expect = json.at("expect");
  CAPTURE(work.stage);
  CAPTURE(work.reason);
  const auto number = [&](const char* key, const std::optional<double>& got) {
    if (!expect.contains(key)) return;
    CAPTURE(key);
    if (expect.at(key).is_null()) {
      CHECK(!got);
    } else {
      CHECK(got.has_value());
      if (!got) return;
      const double want = expect.at(key).get<double>();
      CHECK_MESSAGE(std::abs(*got - want) <= 1e-9 * std::abs(want),
                    fmt::format("{} is {}, expected {}", key, *got, want));
    }
  };
  number("flops", work.flops);
  number("bytes", work.bytes);
  if (expect.contains("spec")) CHECK(work.spec == expect.at("spec").get<std::string>());
  if (expect.contains("category")) CHECK(row->category == expect.at("category").get<std::string>());
  CHECK((work.failure != OpWork::Failure::kNone) == expect.value("fails", false));
  if (expect.contains("params")) {
    for (const auto& [key, value] : expect.at("params").items()) {
      CAPTURE(key);
      const Value* got = work.Find(key);
      CHECK(got != nullptr);
      if (got != nullptr) CHECK(got->Str() == value.get<std::string>());
    }
  }
}

// The vectors of each file.
std::vector<Json> Files() {
  std::vector<Json> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(JARVIS_SOURCE_DIR "/tests/perf/models")) {
    std::ifstream file(entry.path());
    files.push_back(Json::parse(std::string(std::istreambuf_iterator<char>(file), {})));
  }
  return files;
}

// All that is known of a call, in words.
std::string TextOf(const OpWork& work) {
  return fmt::format("{} {} {} {} {} {} {}", work.flops.value_or(-1), work.bytes.value_or(-1),
                     work.spec, static_cast<int>(work.failure), work.stage, work.reason,
                     DictText(work.parameters));
}

}  // namespace

TEST_CASE("the models give the work derived by hand") {
  ModelSet models(BuiltinRows());
  const std::vector<Json> files = Files();
  for (const Json& vectors : files) {
    std::deque<Vector> kept;
    for (const Json& vector : vectors)
      Check(models, vector, kept);
  }
  CHECK(!files.empty());
}

TEST_CASE("rows that are asked often say the same, of calls of all kinds in turn") {
  constexpr int kOften = 40;
  ModelSet often(BuiltinRows());
  std::size_t asked = 0;
  for (const Json& vectors : Files()) {
    for (const Json& json : vectors) {
      std::deque<Vector> kept;
      const OpCall& call = VectorOf(often, json, kept).call;
      const ModelRow* row = often.Find(call.name);
      REQUIRE(row != nullptr);
      const bool backward = json.value("backward", false);
      const std::string once = TextOf(ModelSet(BuiltinRows()).Evaluate(*row, call, backward));
      CAPTURE(call.name);
      for (int i = 0; i < kOften; ++i)
        REQUIRE(TextOf(often.Evaluate(*row, call, backward)) == once);
      ++asked;
    }
  }
  CHECK(asked > 100);
  // Once more, when each row has its function and was asked other calls since.
  for (const Json& vectors : Files()) {
    std::deque<Vector> kept;
    for (const Json& vector : vectors)
      Check(often, vector, kept);
  }
}

// For work on models: JARVIS_CALLS names a file of calls, one a line in the form of a vector; what
// the models say about each is printed as a line of JSON (see coverage.py).
TEST_CASE("calls from a file") {
  const char* path = std::getenv("JARVIS_CALLS");
  if (path == nullptr) return;
  ModelSet models(BuiltinRows());
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const Vector vector(Json::parse(line));
    Json result = {{"op", vector.call.name}};
    if (const ModelRow* row = models.Find(vector.call.name)) {
      const OpWork work = models.Evaluate(*row, vector.call);
      const auto number = [](const std::optional<double>& value) {
        return value ? Json(*value) : Json();
      };
      result["model"] = row->model;
      result["flops"] = number(work.flops);
      result["bytes"] = number(work.bytes);
      result["spec"] = work.spec;
      if (work.failure != OpWork::Failure::kNone) {
        const bool declined = work.failure == OpWork::Failure::kNotModelled;
        result[declined ? "declined" : "failed"] = work.stage + ": " + work.reason;
      }
    }
    fmt::print("{}\n", result.dump());
  }
}

TEST_CASE(
    "a built-in quantity that begins as a function is one, so that it may stay between calls") {
  lua_State* lua = luaL_newstate();
  std::size_t functions = 0;
  for (const perf::ModelRow& row : perf::BuiltinRows().rows()) {
    for (const auto& [key, text] : row.texts) {
      constexpr std::string_view kBegin = "function(";
      if (!std::string_view(text).starts_with(kBegin)) continue;
      CAPTURE(row.model + "." + key);
      // As a statement it can have nothing behind its end.
      const std::string statement = "local function f(" + text.substr(kBegin.size());
      CHECK(luaL_loadstring(lua, statement.c_str()) == LUA_OK);
      lua_settop(lua, 0);
      ++functions;
    }
  }
  CHECK(functions > 50);
  CHECK(luaL_loadstring(lua, "local function f() end and 3") != LUA_OK);
  lua_close(lua);
}

TEST_CASE("every op name is listed once") {
  std::set<std::string> seen;
  for (const ModelRow& row : BuiltinRows().rows()) {
    for (const std::string& op : row.ops) {
      CAPTURE(op);
      CHECK(seen.insert(op).second);
    }
  }
}

}  // namespace jarvis::perf
