// Flat functions of rows that are asked often: plan.lua writes them, here they are kept and run.
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/sandbox.h"

namespace jarvis::perf {

void ModelSet::Sandbox::KeepPlan(const ModelRow& row, Plan* plan) {
  if (lua_isfunction(lua_, -2)) {
    const ModelRows::Flat flat = rows_.Flatten(row);
    const auto list = flat.lists.find(ToText(lua_, -1));
    plan->entries.clear();
    if (list != flat.lists.end()) {
      for (const std::string_view entry : *list->second) {
        const std::string_view key = entry.substr(0, entry.find('='));
        const bool optional = key.ends_with('?');
        plan->entries.push_back(
            {std::string(key.substr(0, key.size() - (optional ? 1 : 0))), optional});
      }
    }
    lua_pop(lua_, 1);
    plan->function = luaL_ref(lua_, LUA_REGISTRYINDEX);
    return;
  }
  lua_pop(lua_, 2);
}

bool ModelSet::Sandbox::AmountAt(int index, std::optional<double>* amount) {
  amount->reset();
  if (IsAt(index, null_at_)) return true;
  if (lua_type(lua_, index) != LUA_TNUMBER) return false;
  const double value = lua_tonumber(lua_, index);
  if (value < 0) return false;
  if (std::isfinite(value)) *amount = value;
  return true;
}

bool ModelSet::Sandbox::RunPlan(const OpCall& call, Plan* plan, OpWork* work) {
  constexpr int kCosts = 4;  // FLOPs, bytes, unit, precision
  constexpr std::uint64_t kMissesMax = 16;
  constexpr std::uint64_t kHitsAMiss = 4;  // with fewer it costs more than it saves
  const int values = kCosts + static_cast<int>(plan->entries.size());
  luaL_checkstack(lua_, values + 4, "too many parameters");
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, plan->function);
  lua_pushlightuserdata(lua_, const_cast<OpCall*>(&call));
  bool good = lua_pcall(lua_, 1, values, 0) == LUA_OK;
  OpWork made;
  good = good && AmountAt(1, &made.flops) && AmountAt(2, &made.bytes);
  for (int i = kCosts + 1; good && i <= values; ++i) {
    const Plan::Entry& entry = plan->entries[static_cast<std::size_t>(i - kCosts - 1)];
    const bool absent = IsAt(i, absent_at_);
    if (absent && entry.optional) continue;
    const int type = lua_type(lua_, i);
    good = type != LUA_TFUNCTION &&
           (type != LUA_TTABLE || absent || IsAt(i, null_at_) || IsSequenceAt(i));
    if (good) made.parameters.push_back({entry.key, ToValue(i)});
  }
  if (good) {
    const std::string_view unit = IsAt(3, null_at_) ? std::string_view() : ToText(lua_, 3);
    const std::string_view precision = IsAt(4, null_at_) ? std::string_view() : ToText(lua_, 4);
    if (!unit.empty() && !precision.empty())
      made.spec = ValidUtf8(fmt::format("{}_{}", unit, precision));
    *work = std::move(made);
    ++plan->hits;
  } else if (++plan->misses > kMissesMax && plan->hits < kHitsAMiss * plan->misses) {
    // Calls of this row differ too much.
    luaL_unref(lua_, LUA_REGISTRYINDEX, plan->function);
    plan->function = LUA_NOREF;
    plan->dropped = true;
  }
  lua_settop(lua_, 0);
  return good;
}

}  // namespace jarvis::perf
