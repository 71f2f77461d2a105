// What prelude.lua calls: the arguments of a call, and texts.
#include <cmath>

#include <fmt/format.h>

#include "base/dom_parse.h"
#include "perf/sandbox.h"

namespace jarvis::perf {

// sequences(kind, kind): what tells sequences from other tables.
int ModelSet::Sandbox::Sequences(lua_State* lua) {
  for (int i = 0; i < 2; ++i)
    Self(lua).kinds_[i] = lua_topointer(lua, i + 1);
  return 0;
}

bool ModelSet::Sandbox::IsSequenceAt(int index) {
  if (lua_type(lua_, index) != LUA_TTABLE || lua_getmetatable(lua_, index) == 0) return false;
  const void* const kind = lua_topointer(lua_, -1);
  lua_pop(lua_, 1);
  return kind == kinds_[0] || kind == kinds_[1];
}

int ModelSet::Sandbox::IsSequence(lua_State* lua) {
  lua_pushboolean(lua, Self(lua).IsSequenceAt(1) ? 1 : 0);
  return 1;
}

bool ModelSet::Sandbox::HasInteger(int index, int depth) {
  if (lua_isinteger(lua_, index) != 0) return true;
  const auto length = LengthAt(index);
  if (!length) return false;
  if (depth > kDepthMax) luaL_error(lua_, "arguments are nested too deeply");
  luaL_checkstack(lua_, 4, "arguments are nested too deeply");
  index = lua_absindex(lua_, index);
  bool has = false;
  for (lua_Integer i = 0; i < *length && !has; ++i) {
    lua_rawgeti(lua_, index, i);
    has = HasInteger(-1, depth + 1);
    lua_pop(lua_, 1);
  }
  return has;
}

void ModelSet::Sandbox::MakeFloated(int depth) {
  if (lua_isinteger(lua_, -1) != 0) {
    const auto value = static_cast<lua_Number>(lua_tointeger(lua_, -1));
    lua_pop(lua_, 1);
    return lua_pushnumber(lua_, value);
  }
  const auto size = LengthAt(-1);
  if (!size || !HasInteger(-1, depth)) return;
  luaL_checkstack(lua_, 8, "arguments are nested too deeply");
  const int from = lua_gettop(lua_);
  BeginSequence(static_cast<std::size_t>(*size));
  for (lua_Integer i = 0; i < *size; ++i) {
    lua_rawgeti(lua_, from, i);
    MakeFloated(depth + 1);
    SetItem(i);
  }
  lua_pushinteger(lua_, *size);
  lua_setfield(lua_, -2, "n");
  lua_getmetatable(lua_, from);
  lua_setmetatable(lua_, -2);
  lua_remove(lua_, from);
}

// floated(v): the same with numbers as doubles, deep in sequences too.
int ModelSet::Sandbox::Floated(lua_State* lua) {
  lua_settop(lua, 1);
  Self(lua).MakeFloated(0);
  return 1;
}

// names(expression): what it mentions, in order: whatever looks like a name and is no member.
int ModelSet::Sandbox::Names(lua_State* lua) {
  const std::string_view text = ToText(lua, 1);
  const auto begins = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto goes_on = [&](char c) { return begins(c) || (c >= '0' && c <= '9'); };
  lua_newtable(lua);
  lua_Integer count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at++;
    if (!goes_on(text[start])) continue;
    while (at < text.size() && goes_on(text[at]))
      ++at;
    if (!begins(text[start]) || (start > 0 && text[start - 1] == '.')) continue;
    PushText(lua, text.substr(start, at - start));
    lua_rawseti(lua, -2, ++count);
  }
  lua_pushinteger(lua, count);
  lua_setfield(lua, -2, "n");
  return 1;
}

// miss(): this call is none of the kind that a plan is for.
int ModelSet::Sandbox::Miss(lua_State* lua) {
  return luaL_error(lua, "another kind of call");
}

// trusted(): the rows are ours.
int ModelSet::Sandbox::Trusted(lua_State* lua) {
  lua_pushboolean(lua, Self(lua).rows_.trusted() ? 1 : 0);
  return 1;
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

void ModelSet::Sandbox::PushMember(std::string_view members, std::string_view key) {
  members = Trim(members);
  if (members.ends_with(',')) members.remove_suffix(1);
  const std::string object = fmt::format("{{{}}}", members);
  simdjson::dom::element value;
  if (members.empty() || ParseDom(&parser_, object, &value) != simdjson::SUCCESS ||
      value.at_key(key).get(value) != simdjson::SUCCESS) {
    return PushNull();
  }
  PushElement(value, 0);
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

int ModelSet::Sandbox::Forward(lua_State* lua) {
  const auto* call = static_cast<const OpCall*>(lua_touserdata(lua, 1));
  if (call->forward == nullptr || call->forward_model == nullptr) return lua_pushnil(lua), 1;
  Self(lua).Define(*call->forward_model);
  PushText(lua, call->forward_model->model);
  lua_pushlightuserdata(lua, const_cast<OpCall*>(call->forward));
  return 2;
}

namespace {

// Each pushes what the text says; false, and nothing pushed: it says nothing of the kind.

bool PushInt(lua_State* lua, std::string_view text) {
  const auto value = ParseInt(text);
  if (value) lua_pushinteger(lua, *value);
  return value.has_value();
}

bool PushFloat(lua_State* lua, std::string_view text) {
  const auto value = ParseDouble(text);
  if (value) lua_pushnumber(lua, *value);
  return value.has_value();
}

bool PushBool(lua_State* lua, std::string_view text) {
  if (text != "True" && text != "False") return false;
  lua_pushboolean(lua, text == "True" ? 1 : 0);
  return true;
}

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

int ModelSet::Sandbox::Int(lua_State* lua) {
  if (lua_isinteger(lua, 1)) return lua_settop(lua, 1), 1;
  if (lua_type(lua, 1) != LUA_TSTRING || !PushInt(lua, Trim(ToText(lua, 1)))) lua_pushnil(lua);
  return 1;
}

int ModelSet::Sandbox::Float(lua_State* lua) {
  if (lua_type(lua, 1) == LUA_TNUMBER) return lua_pushnumber(lua, lua_tonumber(lua, 1)), 1;
  if (lua_type(lua, 1) != LUA_TSTRING || !PushFloat(lua, Trim(ToText(lua, 1)))) lua_pushnil(lua);
  return 1;
}

bool ModelSet::Sandbox::PushSequence(lua_State* lua, PushPart push) {
  const auto parts = ListParts(ToText(lua, 1));
  if (!parts) return lua_pushnil(lua), false;
  BeginSequence(parts->size());
  lua_Integer i = 0;
  for (const std::string_view part : *parts) {
    if (!push(lua, part)) return lua_pushnil(lua), false;
    SetItem(i++);
  }
  EndSequence(i);
  return true;
}

int ModelSet::Sandbox::Ints(lua_State* lua) {
  Self(lua).PushSequence(lua, PushInt);
  return 1;
}

int ModelSet::Sandbox::Floats(lua_State* lua) {
  Self(lua).PushSequence(lua, PushFloat);
  return 1;
}

int ModelSet::Sandbox::Bools(lua_State* lua) {
  if (!Self(lua).PushSequence(lua, PushBool)) return 1;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, Self(lua).list_);
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

// A run-time error of Lua without its place: "gemm.mm.M:1: ..." says more than a reader needs.
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

}  // namespace jarvis::perf
