#include "perf/sandbox.h"

#include <algorithm>
#include <ctime>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/dom_parse.h"
#include "base/text.h"
#include "perf/embedded_file.h"
#include "perf/gemm_kernel_name.h"
#include "perf/iteration_annotation.h"
#include "perf/triton_name.h"
#include "table/py_text.h"

namespace jarvis::perf {
namespace {

// What the calling thread has computed so far.
std::chrono::nanoseconds ThreadTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void* ModelSet::Sandbox::Allocate(void* self, void* block, std::size_t old_size,
                                  std::size_t new_size) {
  auto& used = static_cast<Sandbox*>(self)->used_;
  SmallBlocks& blocks = static_cast<Sandbox*>(self)->blocks_;
  if (block == nullptr) {
    // Then the size says what kind of object it is for.
    if (old_size == LUA_TSTRING && new_size > kTextMax) return nullptr;
    old_size = 0;
  }
  if (new_size == 0) {
    blocks.Resize(block, old_size, 0);
    used -= old_size;
    return nullptr;
  }
  if (new_size > old_size && used + (new_size - old_size) > kMemoryMax) {
    static_cast<Sandbox*>(self)->stopped_ = true;
    return nullptr;
  }
  void* moved = blocks.Resize(block, old_size, new_size);
  if (moved == nullptr) {
    static_cast<Sandbox*>(self)->refused_ = true;
  } else {
    used += new_size - old_size;
  }
  return moved;
}

ModelSet::Sandbox::Sandbox(const ModelRows& rows)
    : rows_(rows),
      defined_(rows.rows().size()),
      plans_(2 * rows.rows().size()),
      stops_(rows.rows().size()) {
  owner_.reset(lua_newstate(&Allocate, this));
  lua_ = owner_.get();
  if (lua_ == nullptr) throw std::bad_alloc();
  *static_cast<Sandbox**>(lua_getextraspace(lua_)) = this;
  auto load = [this] { LoadPrelude(); };
  JV_CHECK(Protected(load));  // built in and tested
  if (rows_.trusted()) lua_gc(lua_, LUA_GCSTOP);
}

void ModelSet::Sandbox::LoadPrelude() {
  const auto load = [this](const EmbeddedFile& file) {
    const std::string name = "=" + std::string(file.name);
    if (luaL_loadbufferx(lua_, file.text.data(), file.text.size(), name.c_str(), "t") != LUA_OK)
      lua_error(lua_);
  };
  const std::span<const EmbeddedFile> files = LuaFiles();
  load(files[1]);
  constexpr luaL_Reg kHost[] = {{"int", &Host<&Int>},
                                {"float", &Host<&Float>},
                                {"ints", &Host<&Ints>},
                                {"bools", &Host<&Bools>},
                                {"lower", &Host<&Lower>},
                                {"contains", &Host<&Contains>},
                                {"starts", &Host<&Starts>},
                                {"after", &Host<&After>},
                                {"between", &Host<&Between>},
                                {"floats", &Host<&Floats>},
                                {"key", &Host<&Key>},
                                {"reason", &Host<&Reason>},
                                {"input", &Host<&Input>},
                                {"extra", &Host<&Extra>},
                                {"is_input", &Host<&IsInput>},
                                {"forward", &Host<&Forward>},
                                {"given", &Host<&Given>},
                                {"sequences", &Host<&Sequences>},
                                {"is_sequence", &Host<&IsSequence>},
                                {"has", &Host<&Has>},
                                {"at", &Host<&At>},
                                {"default", &Host<&Default>},
                                {"non_empty", &Host<&NonEmpty>},
                                {"tuple", &Host<&Tuple>},
                                {"broadcasting", &Host<&Broadcasting>},
                                {"bp", &Host<&Bp>},
                                {"kind_of", &Host<&KindOf>},
                                {"precision_of", &Host<&PrecisionOf>},
                                {"promote", &Host<&Promoted>},
                                {"elements", &Host<&Elements>},
                                {"trusted", &Host<&Trusted>},
                                {"floated", &Host<&Floated>},
                                {"names", &Host<&Names>},
                                {"miss", &Host<&Miss>},
                                {nullptr, nullptr}};
  luaL_newlib(lua_, kHost);
  // The functions of the standard library that the prelude uses; none of them stays reachable.
  luaL_requiref(lua_, "_G", luaopen_base, 1);
  for (const char* name : {"setmetatable", "getmetatable", "error", "pcall", "rawget", "load",
                           "type", "next", "tostring"}) {
    lua_getfield(lua_, 3, name);
  }
  lua_remove(lua_, 3);
  luaL_requiref(lua_, "math", luaopen_math, 0);
  lua_pushnil(lua_);
  lua_setglobal(lua_, "_G");
  lua_newtable(lua_);
  lua_rawseti(lua_, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  load(files[0]);
  lua_call(lua_, 12, 8);
  absent_at_ = lua_topointer(lua_, -1);
  null_at_ = lua_topointer(lua_, -2);
  lua_pop(lua_, 1);  // the words keep it
  for (int* ref : {&null_, &list_, &tuple_, &check_, &quantity_, &evaluate_, &define_}) {
    *ref = luaL_ref(lua_, LUA_REGISTRYINDEX);
  }
}

bool ModelSet::Sandbox::Call(int arguments, int results) {
  // A call leaves some kilobytes behind; collecting them bit by bit would cost more than the call.
  // A user's rows may leave more, so there the collector runs as it likes.
  if (rows_.trusted() && used_ > garbage_from_ + kGarbageMax) {
    lua_gc(lua_, LUA_GCCOLLECT);
    garbage_from_ = used_;
  }
  // Counts the steps of this call alone.
  steps_ = 0;
  stopped_ = false;
  refused_ = false;
  thrown_ = nullptr;
  if (!rows_.trusted()) {
    began_ = ThreadTime();
    lua_sethook(lua_, &Hook, LUA_MASKCOUNT, kStepsBetween);
  }
  const bool good = lua_pcall(lua_, arguments, results, 0) == LUA_OK;
  if (!rows_.trusted()) spent_ += ThreadTime() - began_;
  if (refused_ || thrown_) {
    lua_settop(lua_, 0);
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    throw std::bad_alloc();
  }
  return good;
}

// After the limit each further look raises the error again, so that catching it gains nothing.
void ModelSet::Sandbox::Hook(lua_State* lua, lua_Debug*) {
  Sandbox& self = Self(lua);
  self.steps_ += kStepsBetween;
  const auto time = ThreadTime() - self.began_;
  const bool all = self.spent_ + time >= kTimeAllMax;
  if (self.steps_ <= kStepsMax && time < kTimeMax && !all) return;
  self.stopped_ = true;
  if (all)
    lua_pushliteral(lua, "the extension's models ran for too long together");
  else
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
  if (ParseDom(&parser_, json, &element) != simdjson::SUCCESS) {
    return PushNull();
  }
  PushElement(element, 0);
}

void ModelSet::Sandbox::PushCommonJson(std::string_view json) {
  constexpr std::size_t kTexts = 1000;
  constexpr std::size_t kTextBytes = 1000;
  if (!rows_.trusted() || json.size() > kTextBytes) return PushJson(json);
  if (const auto known = common_.find(json); known != common_.end()) {
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, known->second);
    return;
  }
  PushJson(json);
  if (common_.size() == kTexts) return;
  lua_pushvalue(lua_, -1);
  common_.emplace(json, luaL_ref(lua_, LUA_REGISTRYINDEX));
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
  const auto common = [&](std::string_view text) {
    if (text.empty()) {
      PushNull();
    } else {
      PushCommonJson(text);
    }
    return true;
  };
  if (key == "dims") return json(call.dims);
  if (key == "types") return common(call.types);
  if (key == "strides") return json(call.strides);
  if (key == "text") return common(call.text);
  if (key == "name") return PushText(lua_, call.name), true;
  if (key == "kernels") return PushTexts(call.kernels), true;
  if (key == "iteration") return PushAnnotation(call.annotation), true;
  if (key == "kernel_transpose") return PushTranspose(call), true;
  if (key == "fused_ops") return PushTexts(FusedOpsOf(call.name, false)), true;
  if (key == "fused_ops_known") return PushTexts(FusedOpsOf(call.name, true)), true;
  return false;
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
      if (IsAt(index, null_at_)) return value;
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
  // Writing a plan costs as much as some calls by name.
  constexpr std::uint64_t kCallsBeforePlan = 16;
  Plan& plan =
      plans_[2 * static_cast<std::size_t>(&row - rows_.rows().data()) + (backward ? 1 : 0)];
  if (plan.function != LUA_NOREF && RunPlan(call, &plan, work)) return;
  const bool wants_plan = rows_.trusted() && plan.function == LUA_NOREF && !plan.dropped &&
                          ++plan.calls > kCallsBeforePlan;
  Define(row);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, evaluate_);
  PushText(lua_, row.model);
  lua_pushlightuserdata(lua_, const_cast<OpCall*>(&call));
  lua_pushboolean(lua_, backward ? 1 : 0);
  lua_pushboolean(lua_, wants_plan ? 1 : 0);
  lua_call(lua_, 4, 3);
  KeepPlan(row, &plan);
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

}  // namespace jarvis::perf
