#include "perf/model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>
#include <lua.hpp>
#include <simdjson.h>

#include "base/text.h"
#include "perf/embedded_file.h"
#include "perf/gemm_kernel_name.h"
#include "perf/iteration_annotation.h"
#include "perf/triton_name.h"
#include "table/py_text.h"

namespace jarvis::perf {
namespace {

// Limits of one sandbox. A model's evaluation takes some hundred steps and some kilobytes; only
// a row that loops, or an argument list of a million items, comes near these.
constexpr std::size_t kMemoryMax = std::size_t{256} << 20;
constexpr int kStepsMax = 20'000'000;
// How often the limits are looked at, in steps; between two looks a step may handle a long text.
constexpr int kStepsBetween = 1000;
constexpr std::chrono::seconds kTimeMax{2};
// Of one text: few steps can make long ones, and one step can be busy with one for long.
constexpr std::size_t kTextMax = std::size_t{256} << 10;
constexpr std::size_t kPatternMax = 256;  // of what is looked for in a text
constexpr int kDepthMax = 64;             // of nested lists
// A row that was stopped so often is not asked again: every call of it would take as long.
constexpr int kStopsMax = 3;

std::string_view ToText(lua_State* lua, int index) {
  std::size_t size = 0;
  const char* text = lua_tolstring(lua, index, &size);
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

void PushText(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

}  // namespace

const Value* OpWork::Find(std::string_view key) const {
  for (const Parameter& parameter : parameters) {
    if (parameter.key == key) return &parameter.value;
  }
  return nullptr;
}

std::optional<double> OpWork::NumberOf(std::string_view key) const {
  const Value* value = Find(key);
  return value == nullptr ? std::nullopt : value->as_double();
}

// The Lua state with the prelude in it. Lua is built as C++, so its errors unwind as exceptions and
// may pass through the functions below.
class ModelSet::Sandbox {
 public:
  explicit Sandbox(const ModelRows& rows);
  ~Sandbox() { lua_close(lua_); }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  const ModelRows& rows() const { return rows_; }
  OpWork Evaluate(const ModelRow& row, const OpCall& call, bool backward);
  std::vector<Quantity> Quantities(const ModelRow& row, std::span<const GivenQuantity> given,
                                   std::span<const std::string_view> wanted, const OpCall& call);
  Status Check(const ModelRow& row);

 private:
  static void* Allocate(void* self, void* block, std::size_t old_size, std::size_t new_size);
  static Sandbox& Self(lua_State* lua) { return **static_cast<Sandbox**>(lua_getextraspace(lua)); }

  // What prelude.lua calls; each reads its arguments from the stack.
  static int Int(lua_State* lua);
  static int Float(lua_State* lua);
  static int Ints(lua_State* lua);
  static int Floats(lua_State* lua);
  static int Bools(lua_State* lua);
  static int Lower(lua_State* lua);
  static int Contains(lua_State* lua);
  static int Starts(lua_State* lua);
  static int After(lua_State* lua);
  static int Between(lua_State* lua);
  static int Key(lua_State* lua);
  static int Reason(lua_State* lua);
  static int Input(lua_State* lua);
  static int IsInput(lua_State* lua);
  static int Extra(lua_State* lua);
  static int Given(lua_State* lua);
  static int Forward(lua_State* lua);

  void PushNull() { lua_rawgeti(lua_, LUA_REGISTRYINDEX, null_); }
  // A new sequence on the stack; items are set with SetItem, then the length with EndSequence.
  void BeginSequence(std::size_t size) { lua_createtable(lua_, 0, static_cast<int>(size) + 1); }
  void SetItem(lua_Integer i) { lua_rawseti(lua_, -2, i); }
  void EndSequence(lua_Integer size);
  void PushTexts(const std::vector<std::string_view>& texts);
  void PushJson(std::string_view json);
  void PushMember(std::string_view members, std::string_view key);
  void PushElement(simdjson::dom::element element, int depth);
  bool PushInput(const OpCall& call, std::string_view key);
  void PushAnnotation(std::string_view name);
  void PushTranspose(const OpCall& call);
  void Define(const ModelRow& row);
  bool HasQuantity(const ModelRow& row, std::string_view key) const;
  Value ToValue(int index, int depth = 0);
  std::string SequenceText(int index, int depth);
  // Calls the function below `arguments` values; false: an error text is on the stack.
  bool Call(int arguments, int results);
  // Calls task() inside Lua's protection: what it does may raise Lua's errors.
  template <typename Task>
  bool Protected(Task& task) {
    lua_settop(lua_, 0);
    lua_pushcfunction(lua_, [](lua_State* lua) {
      void* arg = lua_touserdata(lua, 1);
      lua_settop(lua, 0);
      (*static_cast<Task*>(arg))();
      return 0;
    });
    lua_pushlightuserdata(lua_, &task);
    return Call(1, 0);
  }
  // The error on top of the stack, as text.
  std::string ErrorText() {
    return lua_type(lua_, -1) == LUA_TSTRING ? ValidUtf8(ToText(lua_, -1)) : "out of memory";
  }
  void Run(const ModelRow& row, const OpCall& call, bool backward, OpWork* work);
  static void Hook(lua_State* lua, lua_Debug*);

  const ModelRows& rows_;
  lua_State* lua_ = nullptr;
  std::size_t used_ = 0;
  int define_ = 0, evaluate_ = 0, quantity_ = 0, check_ = 0, tuple_ = 0, list_ = 0, null_ = 0;
  std::vector<bool> defined_;
  std::vector<std::uint8_t> stops_;  // by row: how often a limit ended its evaluation
  bool stopped_ = false;             // in this call
  int steps_ = 0;
  std::chrono::steady_clock::time_point began_;
  simdjson::dom::parser parser_;
};

void* ModelSet::Sandbox::Allocate(void* self, void* block, std::size_t old_size,
                                  std::size_t new_size) {
  auto& used = static_cast<Sandbox*>(self)->used_;
  if (block == nullptr) {
    // Then the size says what kind of object it is for.
    if (old_size == LUA_TSTRING && new_size > kTextMax) return nullptr;
    old_size = 0;
  }
  if (new_size == 0) {
    std::free(block);
    used -= old_size;
    return nullptr;
  }
  if (new_size > old_size && used + (new_size - old_size) > kMemoryMax) {
    static_cast<Sandbox*>(self)->stopped_ = true;
    return nullptr;
  }
  void* moved = std::realloc(block, new_size);
  if (moved != nullptr) used += new_size - old_size;
  return moved;
}

ModelSet::Sandbox::Sandbox(const ModelRows& rows)
    : rows_(rows), defined_(rows.rows().size()), stops_(rows.rows().size()) {
  lua_ = lua_newstate(&Allocate, this);
  if (lua_ == nullptr) std::abort();  // no memory for an empty state
  *static_cast<Sandbox**>(lua_getextraspace(lua_)) = this;
  const std::string_view prelude = PreludeFiles()[0].text;
  if (luaL_loadbufferx(lua_, prelude.data(), prelude.size(), "=prelude", "t") != LUA_OK) {
    std::abort();  // built in and tested
  }
  constexpr luaL_Reg kHost[] = {{"int", &Int},         {"float", &Float}, {"ints", &Ints},
                                {"bools", &Bools},     {"lower", &Lower}, {"contains", &Contains},
                                {"starts", &Starts},   {"after", &After}, {"between", &Between},
                                {"floats", &Floats},   {"key", &Key},     {"reason", &Reason},
                                {"input", &Input},     {"extra", &Extra}, {"is_input", &IsInput},
                                {"forward", &Forward}, {"given", &Given}, {nullptr, nullptr}};
  luaL_newlib(lua_, kHost);
  // The functions of the standard library that the prelude uses; none of them stays reachable.
  luaL_requiref(lua_, "_G", luaopen_base, 1);
  for (const char* name : {"setmetatable", "getmetatable", "error", "pcall", "rawget", "rawset",
                           "load", "type", "next", "tostring"}) {
    lua_getfield(lua_, 3, name);
  }
  lua_remove(lua_, 3);
  luaL_requiref(lua_, "math", luaopen_math, 0);
  lua_pushnil(lua_);
  lua_setglobal(lua_, "_G");
  lua_newtable(lua_);
  lua_rawseti(lua_, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  if (!Call(12, 7)) std::abort();
  for (int* ref : {&null_, &list_, &tuple_, &check_, &quantity_, &evaluate_, &define_}) {
    *ref = luaL_ref(lua_, LUA_REGISTRYINDEX);
  }
}

bool ModelSet::Sandbox::Call(int arguments, int results) {
  // Counts the steps of this call alone.
  steps_ = 0;
  stopped_ = false;
  if (!rows_.trusted()) {
    began_ = std::chrono::steady_clock::now();
    lua_sethook(lua_, &Hook, LUA_MASKCOUNT, kStepsBetween);
  }
  return lua_pcall(lua_, arguments, results, 0) == LUA_OK;
}

// After the limit each further look raises the error again, so that catching it gains nothing.
void ModelSet::Sandbox::Hook(lua_State* lua, lua_Debug*) {
  Sandbox& self = Self(lua);
  self.steps_ += kStepsBetween;
  if (self.steps_ <= kStepsMax && std::chrono::steady_clock::now() - self.began_ < kTimeMax) return;
  self.stopped_ = true;
  lua_pushliteral(lua, "the model ran for too long");
  lua_error(lua);
}

void ModelSet::Sandbox::EndSequence(lua_Integer size) {
  lua_pushinteger(lua_, size);
  lua_setfield(lua_, -2, "n");
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, tuple_);
  lua_setmetatable(lua_, -2);
}

void ModelSet::Sandbox::PushTexts(const std::vector<std::string_view>& texts) {
  BeginSequence(texts.size());
  lua_Integer i = 0;
  for (const std::string_view text : texts) {
    PushText(lua_, text);
    SetItem(i++);
  }
  EndSequence(i);
}

void ModelSet::Sandbox::PushElement(simdjson::dom::element element, int depth) {
  luaL_checkstack(lua_, 4, "arguments are nested too deeply");
  if (depth > kDepthMax) luaL_error(lua_, "arguments are nested too deeply");
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::ARRAY: {
      BeginSequence(0);
      lua_Integer i = 0;
      for (const simdjson::dom::element item : simdjson::dom::array(element)) {
        PushElement(item, depth + 1);
        SetItem(i++);
      }
      EndSequence(i);
      return;
    }
    case element_type::INT64: return lua_pushinteger(lua_, std::int64_t(element));
    case element_type::UINT64:
      return lua_pushnumber(lua_, static_cast<double>(std::uint64_t(element)));
    case element_type::DOUBLE: return lua_pushnumber(lua_, double(element));
    case element_type::STRING: return PushText(lua_, std::string_view(element));
    case element_type::BOOL: return lua_pushboolean(lua_, bool(element) ? 1 : 0);
    case element_type::NULL_VALUE:
    case element_type::OBJECT: return PushNull();
  }
}

void ModelSet::Sandbox::PushJson(std::string_view json) {
  simdjson::dom::element element;
  if (parser_.parse(json.data(), json.size()).get(element) != simdjson::SUCCESS) {
    return PushNull();
  }
  PushElement(element, 0);
}

void ModelSet::Sandbox::PushAnnotation(std::string_view name) {
  const std::optional<IterationSums> sums = SumsOf(name);
  if (!sums) return PushNull();
  lua_newtable(lua_);
  for (const auto& [key, value] : sums->Fields()) {
    lua_pushinteger(lua_, value);
    lua_setfield(lua_, -2, key);
  }
}

void ModelSet::Sandbox::PushTranspose(const OpCall& call) {
  for (const std::string_view kernel : call.kernels) {
    const std::optional<GemmKernelName> name = ParseGemmKernelName(kernel);
    if (!name) continue;
    if (name->malformed) luaL_error(lua_, "a kernel's name cannot be read");
    BeginSequence(2);
    lua_Integer i = 0;
    for (const std::optional<bool>& flag : {name->transpose_a, name->transpose_b}) {
      if (flag) {
        lua_pushboolean(lua_, *flag ? 1 : 0);
      } else {
        PushNull();
      }
      SetItem(i++);
    }
    return EndSequence(2);
  }
  PushNull();
}

bool ModelSet::Sandbox::PushInput(const OpCall& call, std::string_view key) {
  const auto json = [&](std::string_view text) {
    if (text.empty()) {
      PushNull();
    } else {
      PushJson(text);
    }
    return true;
  };
  if (key == "dims") return json(call.dims);
  if (key == "types") return json(call.types);
  if (key == "strides") return json(call.strides);
  if (key == "text") return json(call.text);
  if (key == "name") return PushText(lua_, call.name), true;
  if (key == "kernels") return PushTexts(call.kernels), true;
  if (key == "iteration") return PushAnnotation(call.annotation), true;
  if (key == "kernel_transpose") return PushTranspose(call), true;
  if (key == "fused_ops") return PushTexts(FusedOpsOf(call.name, false)), true;
  if (key == "fused_ops_known") return PushTexts(FusedOpsOf(call.name, true)), true;
  return false;
}

int ModelSet::Sandbox::Input(lua_State* lua) {
  const auto* call = static_cast<const OpCall*>(lua_touserdata(lua, 1));
  if (!Self(lua).PushInput(*call, ToText(lua, 2))) lua_pushnil(lua);
  return 1;
}

int ModelSet::Sandbox::IsInput(lua_State* lua) {
  static const OpCall none;
  lua_pushboolean(lua, Self(lua).PushInput(none, ToText(lua, 1)) ? 1 : 0);
  return 1;
}

int ModelSet::Sandbox::Extra(lua_State* lua) {
  const auto* call = static_cast<const OpCall*>(lua_touserdata(lua, 1));
  const std::string_view key = ToText(lua, 2);
  Sandbox& self = Self(lua);
  for (const auto& [name, json] : call->extra) {
    if (name == key) return self.PushJson(json), 1;
  }
  self.PushMember(call->more, key);
  return 1;
}

// given(handle, key): the value that stands in for a quantity, or nil.
int ModelSet::Sandbox::Given(lua_State* lua) {
  const auto* given = static_cast<const std::span<const GivenQuantity>*>(lua_touserdata(lua, 1));
  const std::string_view key = ToText(lua, 2);
  for (const auto& [name, json] : *given) {
    if (name == key) return Self(lua).PushJson(json), 1;
  }
  lua_pushnil(lua);
  return 1;
}

void ModelSet::Sandbox::PushMember(std::string_view members, std::string_view key) {
  members = Trim(members);
  if (members.ends_with(',')) members.remove_suffix(1);
  const std::string object = fmt::format("{{{}}}", members);
  simdjson::dom::element value;
  if (members.empty() || parser_.parse(object).at_key(key).get(value) != simdjson::SUCCESS) {
    return PushNull();
  }
  PushElement(value, 0);
}

int ModelSet::Sandbox::Forward(lua_State* lua) {
  const auto* call = static_cast<const OpCall*>(lua_touserdata(lua, 1));
  if (call->forward == nullptr || call->forward_model == nullptr) return lua_pushnil(lua), 1;
  Self(lua).Define(*call->forward_model);
  PushText(lua, call->forward_model->model);
  lua_pushlightuserdata(lua, const_cast<OpCall*>(call->forward));
  return 2;
}

int ModelSet::Sandbox::Int(lua_State* lua) {
  if (lua_isinteger(lua, 1)) return lua_settop(lua, 1), 1;
  const auto value =
      lua_type(lua, 1) == LUA_TSTRING ? ParseInt(Trim(ToText(lua, 1))) : std::nullopt;
  if (value) {
    lua_pushinteger(lua, *value);
  } else {
    lua_pushnil(lua);
  }
  return 1;
}

int ModelSet::Sandbox::Float(lua_State* lua) {
  if (lua_type(lua, 1) == LUA_TNUMBER) return lua_pushnumber(lua, lua_tonumber(lua, 1)), 1;
  const auto value =
      lua_type(lua, 1) == LUA_TSTRING ? ParseDouble(Trim(ToText(lua, 1))) : std::nullopt;
  if (value) {
    lua_pushnumber(lua, *value);
  } else {
    lua_pushnil(lua);
  }
  return 1;
}

namespace {

// The parts of "[a, b]" or "(a, b)"; absent: no such list.
std::optional<std::vector<std::string_view>> ListParts(std::string_view text) {
  text = Trim(text);
  if (text.size() < 2 || (text.front() != '[' && text.front() != '(')) return std::nullopt;
  if (text.back() != (text.front() == '[' ? ']' : ')')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> parts;
  while (!Trim(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.push_back(Trim(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

}  // namespace

int ModelSet::Sandbox::Ints(lua_State* lua) {
  Sandbox& self = Self(lua);
  const auto parts = ListParts(ToText(lua, 1));
  if (!parts) return lua_pushnil(lua), 1;
  self.BeginSequence(parts->size());
  lua_Integer i = 0;
  for (const std::string_view part : *parts) {
    const auto value = ParseInt(part);
    if (!value) return lua_pushnil(lua), 1;
    lua_pushinteger(lua, *value);
    self.SetItem(i++);
  }
  self.EndSequence(i);
  return 1;
}

int ModelSet::Sandbox::Floats(lua_State* lua) {
  Sandbox& self = Self(lua);
  const auto parts = ListParts(ToText(lua, 1));
  if (!parts) return lua_pushnil(lua), 1;
  self.BeginSequence(parts->size());
  lua_Integer i = 0;
  for (const std::string_view part : *parts) {
    const auto value = ParseDouble(part);
    if (!value) return lua_pushnil(lua), 1;
    lua_pushnumber(lua, *value);
    self.SetItem(i++);
  }
  self.EndSequence(i);
  return 1;
}

int ModelSet::Sandbox::Bools(lua_State* lua) {
  Sandbox& self = Self(lua);
  const auto parts = ListParts(ToText(lua, 1));
  if (!parts) return lua_pushnil(lua), 1;
  self.BeginSequence(parts->size());
  lua_Integer i = 0;
  for (const std::string_view part : *parts) {
    if (part != "True" && part != "False") return lua_pushnil(lua), 1;
    lua_pushboolean(lua, part == "True" ? 1 : 0);
    self.SetItem(i++);
  }
  self.EndSequence(i);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, self.list_);
  lua_setmetatable(lua, -2);
  return 1;
}

int ModelSet::Sandbox::Lower(lua_State* lua) {
  PushText(lua, LowerAscii(ToText(lua, 1)));
  return 1;
}

namespace {

// What is looked for in a text.
std::string_view ToPattern(lua_State* lua, int index) {
  const std::string_view text = ToText(lua, index);
  if (text.size() > kPatternMax) luaL_error(lua, "the text to look for is too long");
  return text;
}

}  // namespace

int ModelSet::Sandbox::Contains(lua_State* lua) {
  lua_pushboolean(lua, ToText(lua, 1).find(ToPattern(lua, 2)) != std::string_view::npos ? 1 : 0);
  return 1;
}

int ModelSet::Sandbox::Starts(lua_State* lua) {
  lua_pushboolean(lua, ToText(lua, 1).starts_with(ToText(lua, 2)) ? 1 : 0);
  return 1;
}

// after(text, separator): what follows the last separator, else the whole text.
int ModelSet::Sandbox::After(lua_State* lua) {
  const std::string_view text = ToText(lua, 1);
  const std::string_view separator = ToPattern(lua, 2);
  const std::size_t at = text.rfind(separator);
  PushText(lua, at == std::string_view::npos ? text : text.substr(at + separator.size()));
  return 1;
}

// between(text, marker, stops): what follows the first marker, up to one of the characters of
// `stops`; nil without the marker.
int ModelSet::Sandbox::Between(lua_State* lua) {
  std::string_view text = ToText(lua, 1);
  const std::string_view marker = ToPattern(lua, 2);
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) return lua_pushnil(lua), 1;
  text.remove_prefix(at + marker.size());
  PushText(lua, text.substr(0, text.find_first_of(ToPattern(lua, 3))));
  return 1;
}

// "key", "key?", "key=expression" -> key, optional, expression.
int ModelSet::Sandbox::Key(lua_State* lua) {
  std::string_view text = ToText(lua, 1);
  const std::size_t equals = text.find('=');
  std::string_view key = text.substr(0, equals);
  const bool optional = key.ends_with('?');
  if (optional) key.remove_suffix(1);
  PushText(lua, key);
  lua_pushboolean(lua, optional ? 1 : 0);
  if (equals == std::string_view::npos) {
    lua_pushnil(lua);
  } else {
    PushText(lua, text.substr(equals + 1));
  }
  return 3;
}

// A run-time error of Lua without its place: "gemm.mm.M:1: ..." says more than a reader needs, and
// so does "prelude:20: ...".
int ModelSet::Sandbox::Reason(lua_State* lua) {
  std::string_view text = ToText(lua, 1);
  const std::size_t colon = text.find(": ");
  const std::string_view place = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  const std::size_t line = place.rfind(':');
  if (line != std::string_view::npos && ParseInt(place.substr(line + 1))) {
    text.remove_prefix(colon + 2);
  }
  PushText(lua, text);
  return 1;
}

void ModelSet::Sandbox::Define(const ModelRow& row) {
  const auto index = static_cast<std::size_t>(&row - rows_.rows().data());
  if (defined_[index]) return;
  const ModelRows::Flat flat = rows_.Flatten(row);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, define_);
  PushText(lua_, row.model);
  lua_newtable(lua_);
  for (const auto& [key, text] : flat.texts) {
    PushText(lua_, key);
    PushText(lua_, text);
    lua_rawset(lua_, -3);
  }
  lua_newtable(lua_);
  for (const auto& [key, list] : flat.lists) {
    PushText(lua_, key);
    PushTexts(std::vector<std::string_view>(list->begin(), list->end()));
    lua_rawset(lua_, -3);
  }
  lua_call(lua_, 3, 0);
  defined_[index] = true;
}

std::string ModelSet::Sandbox::SequenceText(int index, int depth) {
  if (depth > kDepthMax) luaL_error(lua_, "a parameter is nested too deeply");
  luaL_checkstack(lua_, 8, "a parameter is nested too deeply");
  index = lua_absindex(lua_, index);
  bool is_list = false;
  if (lua_getmetatable(lua_, index) != 0) {
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, list_);
    is_list = lua_rawequal(lua_, -1, -2) != 0;
    lua_pop(lua_, 2);
  }
  lua_pushliteral(lua_, "n");
  lua_rawget(lua_, index);
  const lua_Integer size = lua_tointeger(lua_, -1);
  lua_pop(lua_, 1);
  std::string out(1, is_list ? '[' : '(');
  for (lua_Integer i = 0; i < size; ++i) {
    if (i > 0) out += ", ";
    lua_rawgeti(lua_, index, i);
    out += ToValue(-1, depth + 1).Repr();
    lua_pop(lua_, 1);
    if (out.size() > kTextMax) luaL_error(lua_, "a parameter is too long");
  }
  if (size == 1 && !is_list) out += ',';
  return out + (is_list ? ']' : ')');
}

Value ModelSet::Sandbox::ToValue(int index, int depth) {
  Value value;
  switch (lua_type(lua_, index)) {
    case LUA_TBOOLEAN:
      value.kind = Value::Kind::kBool;
      value.number = lua_toboolean(lua_, index);
      return value;
    case LUA_TNUMBER:
      if (lua_isinteger(lua_, index) != 0) {
        value.kind = Value::Kind::kInt;
        value.number = lua_tointeger(lua_, index);
      } else {
        value.kind = Value::Kind::kFloat;
        value.real = lua_tonumber(lua_, index);
      }
      return value;
    case LUA_TSTRING:
      value.kind = Value::Kind::kText;
      value.text = ValidUtf8(ToText(lua_, index));
      return value;
    case LUA_TTABLE: {
      lua_rawgeti(lua_, LUA_REGISTRYINDEX, null_);
      const bool null = lua_rawequal(lua_, -1, index < 0 ? index - 1 : index) != 0;
      lua_pop(lua_, 1);
      if (null) return value;
      value.kind = Value::Kind::kSequence;
      value.text = SequenceText(index, depth);
      return value;
    }
    default: return value;
  }
}

namespace {

OpWork::Failure FailureOf(std::string_view kind) {
  return kind == "failed"         ? OpWork::Failure::kFailed
         : kind == "not_modelled" ? OpWork::Failure::kNotModelled
                                  : OpWork::Failure::kBroken;
}

}  // namespace

OpWork ModelSet::Sandbox::Evaluate(const ModelRow& row, const OpCall& call, bool backward) {
  OpWork work;
  const auto broken = [&work](std::string reason) {
    work = {};
    work.failure = OpWork::Failure::kFailed;
    work.stage = "params";
    work.reason = std::move(reason);
  };
  std::uint8_t& stops = stops_[static_cast<std::size_t>(&row - rows_.rows().data())];
  if (stops >= kStopsMax) {
    broken("the model ran for too long or out of memory in other calls");
    return work;
  }
  auto run = [&] { Run(row, call, backward, &work); };
  if (!Protected(run)) broken(ErrorText());
  if (stopped_ && work.failure != OpWork::Failure::kNone) ++stops;
  lua_settop(lua_, 0);
  return work;
}

void ModelSet::Sandbox::Run(const ModelRow& row, const OpCall& call, bool backward, OpWork* work) {
  Define(row);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, evaluate_);
  PushText(lua_, row.model);
  lua_pushlightuserdata(lua_, const_cast<OpCall*>(&call));
  lua_pushboolean(lua_, backward ? 1 : 0);
  lua_call(lua_, 3, 1);
  const auto text = [&](const char* key) {
    lua_getfield(lua_, 1, key);
    std::string out = ValidUtf8(ToText(lua_, -1));
    lua_pop(lua_, 1);
    return out;
  };
  const auto number = [&](const char* key) -> std::optional<double> {
    lua_getfield(lua_, 1, key);
    const bool known = lua_type(lua_, -1) == LUA_TNUMBER;
    const double value = lua_tonumber(lua_, -1);
    lua_pop(lua_, 1);
    return known ? std::optional(value) : std::nullopt;
  };
  work->flops = number("flops");
  work->bytes = number("bytes");
  work->spec = text("spec");
  const std::string kind = text("kind");
  if (!kind.empty()) {
    work->failure = FailureOf(kind);
    work->stage = text("stage");
    work->reason = text("why");
    // The usual cause, in the words of who can mend it.
    if (work->reason.ends_with("that was not recorded")) {
      if (call.dims.empty()) {
        work->reason = "its shapes were not recorded (record_shapes)";
      } else if (call.text.empty()) {
        work->reason = "its arguments beside the tensors were not recorded";
      }
    }
  }
  lua_getfield(lua_, 1, "names");
  lua_getfield(lua_, 1, "params");
  lua_getfield(lua_, 1, "count");
  const lua_Integer count = lua_tointeger(lua_, -1);
  lua_pop(lua_, 1);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(lua_, -2, i);
    std::string key(ToText(lua_, -1));
    lua_pop(lua_, 1);
    lua_rawgeti(lua_, -1, i);
    work->parameters.push_back({std::move(key), ToValue(-1)});
    lua_pop(lua_, 1);
  }
}

bool ModelSet::Sandbox::HasQuantity(const ModelRow& row, std::string_view key) const {
  const ModelRows::Flat flat = rows_.Flatten(row);
  if (flat.texts.contains(key)) return true;
  for (const auto& [name, list] : flat.lists) {
    for (const std::string_view entry : *list) {
      if (entry.substr(0, entry.find_first_of("?=")) == key) return true;
    }
  }
  return false;
}

std::vector<Quantity> ModelSet::Sandbox::Quantities(const ModelRow& row,
                                                    std::span<const GivenQuantity> given,
                                                    std::span<const std::string_view> wanted,
                                                    const OpCall& call) {
  std::string unknown;
  for (const auto& [key, json] : given) {
    if (unknown.empty() && !HasQuantity(row, key)) unknown = key;
  }
  std::vector<Quantity> out(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Quantity& quantity = out[i];
    if (!unknown.empty() || !HasQuantity(row, wanted[i])) {
      quantity.failure = OpWork::Failure::kBroken;
      quantity.reason =
          fmt::format("no quantity {} in {}",
                      unknown.empty() ? wanted[i] : std::string_view(unknown), row.model);
      continue;
    }
    auto run = [&] {
      Define(row);
      lua_rawgeti(lua_, LUA_REGISTRYINDEX, quantity_);
      PushText(lua_, row.model);
      lua_pushlightuserdata(lua_, const_cast<OpCall*>(&call));
      lua_pushlightuserdata(lua_, const_cast<std::span<const GivenQuantity>*>(&given));
      PushText(lua_, wanted[i]);
      lua_call(lua_, 4, 3);
      if (lua_isnil(lua_, 2)) {
        quantity.value = ToValue(1);
      } else {
        quantity.failure = FailureOf(ToText(lua_, 2));
        quantity.reason = ToText(lua_, 3);
      }
    };
    if (!Protected(run)) {
      quantity.failure = OpWork::Failure::kFailed;
      quantity.reason = ErrorText();
    }
  }
  lua_settop(lua_, 0);
  return out;
}

Status ModelSet::Sandbox::Check(const ModelRow& row) {
  std::string key;
  std::string why;
  auto run = [&] {
    Define(row);
    defined_[static_cast<std::size_t>(&row - rows_.rows().data())] = false;  // see check()
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, check_);
    PushText(lua_, row.model);
    lua_newtable(lua_);
    for (const auto& [own, text] : row.texts) {
      PushText(lua_, own);
      lua_pushboolean(lua_, 1);
      lua_rawset(lua_, -3);
    }
    lua_call(lua_, 2, 2);
    key = ToText(lua_, 1);
    why = ValidUtf8(ToText(lua_, 2));
  };
  const bool ran = Protected(run);
  if (!ran) why = ErrorText();
  lua_settop(lua_, 0);
  if (why.empty()) return {};
  return Fail(ErrorCode::kBadValue,
              fmt::format("{}, row {}, \"{}\": {}",
                          row.changed_by.empty() ? row.file : row.changed_by, row.model, key, why),
              "docs/models.md lists what expressions can use");
}

ModelSet::ModelSet(const ModelRows& rows) : sandbox_(std::make_unique<Sandbox>(rows)) {}
ModelSet::~ModelSet() = default;
ModelSet::ModelSet(ModelSet&&) noexcept = default;
ModelSet& ModelSet::operator=(ModelSet&&) noexcept = default;

const ModelRows& ModelSet::rows() const {
  return sandbox_->rows();
}

const ModelRow* ModelSet::Find(std::string_view op) const {
  const OpEntry* entry = rows().Find(op);
  return entry == nullptr || entry->row < 0 ? nullptr
                                            : &rows().rows()[static_cast<std::size_t>(entry->row)];
}

OpWork ModelSet::Evaluate(const ModelRow& row, const OpCall& call, bool backward) {
  return sandbox_->Evaluate(row, call, backward);
}

std::vector<Quantity> ModelSet::Quantities(const ModelRow& row,
                                           std::span<const GivenQuantity> given,
                                           std::span<const std::string_view> wanted,
                                           const OpCall& call) {
  return sandbox_->Quantities(row, given, wanted, call);
}

Status ModelSet::Check(const ModelRow& row) {
  return sandbox_->Check(row);
}

}  // namespace jarvis::perf
