// Words of expressions that are asked so often that they are no Lua: members of sequences, sizes of
// shapes, dtypes. Errors are texts, which the prelude takes for "failed".
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/dtype.h"
#include "perf/sandbox.h"

namespace jarvis::perf {
namespace {

int Fail(lua_State* lua, std::string_view why) {
  PushText(lua, why);
  return lua_error(lua);
}

}  // namespace

std::optional<lua_Integer> ModelSet::Sandbox::LengthAt(int index) {
  if (!IsSequenceAt(index)) return std::nullopt;
  index = lua_absindex(lua_, index);
  lua_pushliteral(lua_, "n");
  lua_rawget(lua_, index);
  const lua_Integer length = lua_tointeger(lua_, -1);
  lua_pop(lua_, 1);
  return length;
}

// has(t, i): a sequence with more items than i.
int ModelSet::Sandbox::Has(lua_State* lua) {
  lua_settop(lua, 2);
  const auto length = Self(lua).LengthAt(1);
  bool has = false;
  if (length) {
    lua_pushinteger(lua, *length);
    has = lua_compare(lua, 2, 3, LUA_OPLT) != 0;
  }
  lua_pushboolean(lua, has ? 1 : 0);
  return 1;
}

bool ModelSet::Sandbox::PushItem(int list, int at) {
  const auto length = LengthAt(list);
  if (!length) return false;
  lua_pushinteger(lua_, *length);
  const bool has = lua_compare(lua_, at, -1, LUA_OPLT) != 0;
  lua_pop(lua_, 1);
  if (!has) return false;
  int whole = 0;
  lua_Integer i = lua_tointegerx(lua_, at, &whole);
  if (whole == 0 || lua_type(lua_, at) != LUA_TNUMBER)
    return Fail(lua_, "an index must be a whole number") != 0;
  if (i < 0) i += *length;
  if (lua_rawgeti(lua_, list, i) == LUA_TNIL) {
    return Fail(lua_, fmt::format("there is no item {} in a list of {}", lua_tointeger(lua_, at),
                                  *length)) != 0;
  }
  return true;
}

// at(t, i, other): t[i], or `other` when there is no such item or it is null.
int ModelSet::Sandbox::At(lua_State* lua) {
  lua_settop(lua, 3);
  Sandbox& self = Self(lua);
  if (self.PushItem(1, 2) && !self.IsNoneAt(-1)) return 1;
  lua_settop(lua, 3);
  return 1;
}

// default(v, other): `other` where v is null, absent or nil.
int ModelSet::Sandbox::Default(lua_State* lua) {
  lua_settop(lua, 2);
  const bool none = lua_isnil(lua, 1) || Self(lua).IsNoneAt(1);
  lua_settop(lua, none ? 2 : 1);
  return 1;
}

// non_empty(t, i): t[i] is a sequence with items.
int ModelSet::Sandbox::NonEmpty(lua_State* lua) {
  lua_settop(lua, 2);
  Sandbox& self = Self(lua);
  const bool items = self.PushItem(1, 2) && self.LengthAt(-1).value_or(0) > 0;
  lua_pushboolean(lua, items ? 1 : 0);
  return 1;
}

// el(shape) or distinct(shape, stride); what the function in upvalue 1 says where that is not a
// plain matter. Upvalue 2: as a double.
int ModelSet::Sandbox::El(lua_State* lua) {
  lua_settop(lua, 2);
  Sandbox& self = Self(lua);
  const bool as_double = lua_toboolean(lua, lua_upvalueindex(2)) != 0;
  if (const auto elements = self.ElementsAt(1, 2)) {
    if (as_double)
      lua_pushnumber(lua, *elements);
    else
      lua_pushinteger(lua, static_cast<lua_Integer>(*elements));
    return 1;
  }
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, 2, 1);
  if (as_double) self.MakeFloated(0);
  return 1;
}

// elements(f, as_double): a function as El is.
int ModelSet::Sandbox::Elements(lua_State* lua) {
  lua_settop(lua, 2);
  lua_pushcclosure(lua, &Host<&El>, 2);
  return 1;
}

// tuple(...): of what is no nil.
int ModelSet::Sandbox::Tuple(lua_State* lua) {
  const int given = lua_gettop(lua);
  luaL_checkstack(lua, 4, "too many items");
  Sandbox& self = Self(lua);
  self.BeginSequence(static_cast<std::size_t>(given));
  lua_Integer size = 0;
  for (int i = 1; i <= given; ++i) {
    if (lua_isnil(lua, i)) continue;
    lua_pushvalue(lua, i);
    self.SetItem(size++);
  }
  self.EndSequence(size);
  return 1;
}

// broadcast(a, b), or what the function in the upvalue says where that is not a plain matter.
int ModelSet::Sandbox::Broadcast(lua_State* lua) {
  lua_settop(lua, 2);
  Sandbox& self = Self(lua);
  const auto a = self.LengthAt(1);
  const auto b = self.LengthAt(2);
  bool plain = a && b;
  const lua_Integer size = plain ? std::max(*a, *b) : 0;
  if (plain) self.BeginSequence(static_cast<std::size_t>(size));
  const auto is_one = [&](int index) { return lua_tonumber(lua, index) == 1; };
  for (lua_Integer i = 0; plain && i < size; ++i) {
    for (const auto& [list, length] : {std::pair(1, *a), std::pair(2, *b)}) {
      if (i < size - length)
        lua_pushinteger(lua, 1);
      else
        plain = lua_rawgeti(lua, list, i - (size - length)) == LUA_TNUMBER && plain;
    }
    plain = plain && (is_one(-1) || is_one(-2) || lua_rawequal(lua, -1, -2) != 0);
    lua_remove(lua, is_one(-2) ? -2 : -1);
    self.SetItem(i);
  }
  if (plain) {
    self.EndSequence(size);
    return 1;
  }
  lua_settop(lua, 2);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, 2, 1);
  return 1;
}

// broadcasting(f): a function as Broadcast is.
int ModelSet::Sandbox::Broadcasting(lua_State* lua) {
  lua_settop(lua, 1);
  lua_pushcclosure(lua, &Host<&Broadcast>, 1);
  return 1;
}

std::optional<double> ModelSet::Sandbox::ElementsAt(int index, int strides) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const auto length = LengthAt(index);
  if (!length) return std::nullopt;
  const bool strided = LengthAt(strides) == length;
  double product = 1;
  for (lua_Integer i = 0; i < *length; ++i) {
    if (strided) {
      const bool number = lua_rawgeti(lua_, strides, i) == LUA_TNUMBER;
      const bool expanded = number && lua_tonumber(lua_, -1) == 0;
      lua_pop(lua_, 1);
      if (!number) return std::nullopt;
      if (expanded) {
        // It counts once, unless there is nothing in it.
        lua_rawgeti(lua_, index, i);
        const bool empty = lua_type(lua_, -1) == LUA_TNUMBER && lua_tonumber(lua_, -1) == 0;
        lua_pop(lua_, 1);
        if (!empty) continue;
      }
    }
    const bool number = lua_rawgeti(lua_, index, i) == LUA_TNUMBER;
    const double dimension = lua_tonumber(lua_, -1);
    lua_pop(lua_, 1);
    // Not for what is not a number either.
    if (!number || !(dimension >= 0 && std::floor(dimension) == dimension)) return std::nullopt;
    product *= dimension;
  }
  return product <= kExact ? std::optional(product) : std::nullopt;
}

namespace {

// Null: no text, or no dtype that is known.
const Dtype* DtypeAt(lua_State* lua, int index) {
  return lua_type(lua, index) == LUA_TSTRING ? FindDtype(ToText(lua, index)) : nullptr;
}

}  // namespace

// bp(dtype): bytes an element; null: not known.
int ModelSet::Sandbox::Bp(lua_State* lua) {
  const Dtype* dtype = DtypeAt(lua, 1);
  if (dtype == nullptr || dtype->bytes == 0) return Self(lua).PushNull(), 1;
  lua_pushinteger(lua, dtype->bytes);
  return 1;
}

// kind_of(dtype): 0 bool, 1 integer, 2 float, 3 complex; null: none.
int ModelSet::Sandbox::KindOf(lua_State* lua) {
  const Dtype* dtype = DtypeAt(lua, 1);
  if (dtype == nullptr || !dtype->kind) return Self(lua).PushNull(), 1;
  lua_pushinteger(lua, *dtype->kind);
  return 1;
}

int ModelSet::Sandbox::PrecisionOf(lua_State* lua) {
  const Dtype* dtype = DtypeAt(lua, 1);
  if (dtype == nullptr || dtype->precision.empty()) return Self(lua).PushNull(), 1;
  PushText(lua, dtype->precision);
  return 1;
}

std::string_view ModelSet::Sandbox::DtypeOfNumber(int list, lua_Integer i) {
  const int type = lua_rawgeti(lua_, list, i);
  const std::string_view text = type == LUA_TSTRING ? Trim(ToText(lua_, -1)) : std::string_view();
  const bool whole = lua_isinteger(lua_, -1) != 0 || ParseInt(text);
  const bool number = type == LUA_TNUMBER || ParseDouble(text);
  lua_pop(lua_, 1);
  return text == "True" || text == "False" ? "bool" : whole ? "long int" : number ? "float" : "";
}

// promote(dims, types, text, n): of the first n arguments.
int ModelSet::Sandbox::Promoted(lua_State* lua) {
  lua_settop(lua, 4);
  Sandbox& self = Self(lua);
  const auto types = self.LengthAt(2);
  if (!types) return self.PushNull(), 1;
  const auto shapes = self.LengthAt(1);
  if (!shapes || lua_type(lua, 4) != LUA_TNUMBER)
    return Fail(lua, "the arguments' dtypes were recorded without their shapes");
  const double count =
      std::min({lua_tonumber(lua, 4), static_cast<double>(*types), static_cast<double>(*shapes)});
  const auto texts = self.LengthAt(3);
  std::vector<PromotedArgument> arguments;
  for (lua_Integer i = 0; static_cast<double>(i) < count; ++i) {
    lua_settop(lua, 4);
    // The list holds the text for as long as it is looked at.
    if (lua_rawgeti(lua, 2, i) != LUA_TSTRING || ToText(lua, 5).empty()) continue;
    PromotedArgument argument{ToText(lua, 5)};
    if (EqualsNoCase(argument.dtype, "scalar")) {
      argument.rank = PromotedArgument::kNumber;
      argument.dtype = texts && i < *texts ? self.DtypeOfNumber(3, i) : std::string_view();
      if (argument.dtype.empty()) continue;
    } else {
      lua_rawgeti(lua, 1, i);
      if (self.LengthAt(-1) == 0) argument.rank = PromotedArgument::kZeroDimensional;
    }
    arguments.push_back(argument);
  }
  const std::string_view result = Promote(arguments);
  if (result.empty()) return self.PushNull(), 1;
  PushText(lua, result);
  return 1;
}

}  // namespace jarvis::perf
