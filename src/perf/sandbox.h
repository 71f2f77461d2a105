// Inside of ModelSet: the Lua state that rows run in. For model.cpp only. sandbox.cpp runs rows by
// name, sandbox_plan.cpp those that are asked often in one go; sandbox_host.cpp and
// sandbox_words.cpp have what prelude.lua calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <lua.hpp>
#include <simdjson.h>

#include "base/text.h"
#include "perf/model.h"
#include "perf/small_blocks.h"

namespace jarvis::perf {

// Limits of one sandbox. A model's evaluation takes some hundred steps and some kilobytes; only
// a row that loops, or an argument list of a million items, comes near these.
constexpr std::size_t kMemoryMax = std::size_t{256} << 20;
constexpr std::size_t kGarbageMax = std::size_t{8} << 20;  // between collections, of our own rows
constexpr int kStepsMax = 20'000'000;
// How often the limits are looked at, in steps; between two looks a step may handle a long text.
constexpr int kStepsBetween = 1000;
constexpr std::chrono::seconds kTimeMax{2};
// Of all evaluations of a user's rows together: each may be slow without being stopped.
constexpr std::chrono::seconds kTimeAllMax{10};
// Of one text: few steps can make long ones, and one step can be busy with one for long.
constexpr std::size_t kTextMax = std::size_t{256} << 10;
constexpr std::size_t kPatternMax = 256;  // of what is looked for in a text
constexpr int kDepthMax = 64;             // of nested lists
// A row that was stopped so often is not asked again: every call of it would take as long.
constexpr int kStopsMax = 3;

inline std::string_view ToText(lua_State* lua, int index) {
  std::size_t size = 0;
  const char* text = lua_tolstring(lua, index, &size);
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

inline void PushText(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

// The Lua state with the prelude in it. Lua is built as C++, so its errors unwind as exceptions and
// may pass through the functions below. Lua swallows every exception that reaches it: those of what
// it calls, and std::bad_alloc where memory is refused to it, go on from the function that called
// it.
class ModelSet::Sandbox {
 public:
  explicit Sandbox(const ModelRows& rows);
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
  static int Sequences(lua_State* lua);
  static int IsSequence(lua_State* lua);
  static int Has(lua_State* lua);
  static int At(lua_State* lua);
  static int Default(lua_State* lua);
  static int NonEmpty(lua_State* lua);
  static int Elements(lua_State* lua);
  static int El(lua_State* lua);
  static int Tuple(lua_State* lua);
  static int Broadcasting(lua_State* lua);
  static int Broadcast(lua_State* lua);
  static int Bp(lua_State* lua);
  static int KindOf(lua_State* lua);
  static int PrecisionOf(lua_State* lua);
  static int Promoted(lua_State* lua);
  static int Trusted(lua_State* lua);
  static int Floated(lua_State* lua);
  static int Names(lua_State* lua);
  static int Miss(lua_State* lua);
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

  bool IsSequenceAt(int index);
  // Of a sequence; absent: it is none.
  std::optional<lua_Integer> LengthAt(int index);
  // Pushes the item of a sequence whose index is at `at`; false, and nothing pushed: there are not
  // so many, or it is no sequence.
  bool PushItem(int list, int at);
  // Of a shape, where a dimension of stride 0 counts once if there are strides; absent: not a plain
  // matter.
  std::optional<double> ElementsAt(int index, int strides);
  // Of the number, True or False that the list has as text; empty: none of these.
  std::string_view DtypeOfNumber(int list, lua_Integer i);
  bool IsAt(int index, const void* table) {
    return lua_type(lua_, index) == LUA_TTABLE && lua_topointer(lua_, index) == table;
  }
  bool IsNoneAt(int index) { return IsAt(index, null_at_) || IsAt(index, absent_at_); }
  // Among the members of a sequence, too.
  bool HasInteger(int index, int depth);
  // Replaces the value on top of the stack by the same with numbers as doubles.
  void MakeFloated(int depth);
  void PushNull() { lua_rawgeti(lua_, LUA_REGISTRYINDEX, null_); }
  // A new sequence on the stack; items are set with SetItem, then the length with EndSequence.
  void BeginSequence(std::size_t size) { lua_createtable(lua_, 0, static_cast<int>(size) + 1); }
  void SetItem(lua_Integer i) { lua_rawseti(lua_, -2, i); }
  void EndSequence(lua_Integer size);
  // The list that argument 1 spells, each part through push; false, and nil pushed: not such a
  // list.
  using PushPart = bool (*)(lua_State* lua, std::string_view part);
  bool PushSequence(lua_State* lua, PushPart push);
  void PushTexts(const std::vector<std::string_view>& texts);
  void PushJson(std::string_view json);
  // The same for texts that many calls have in common: of rows that change nothing, read once.
  void PushCommonJson(std::string_view json);
  void PushMember(std::string_view members, std::string_view key);
  void PushElement(simdjson::dom::element element, int depth);
  bool PushInput(const OpCall& call, std::string_view key);
  void PushAnnotation(std::string_view name);
  void PushTranspose(const OpCall& call);
  void Define(const ModelRow& row);
  bool HasQuantity(const ModelRow& row, std::string_view key) const;
  Value ToValue(int index, int depth = 0);
  std::string SequenceText(int index, int depth);
  // Loads the prelude and keeps its functions; raises Lua's errors.
  void LoadPrelude();
  // Calls the function below `arguments` values; false: an error text is on the stack.
  bool Call(int arguments, int results);
  // Runs what Lua calls: an exception is kept for Call, and an error of Lua's unwinds to there.
  template <typename Task>
  static int Kept(lua_State* lua, Task task) {
    try {
      return task();
    } catch (const std::exception&) {  // Lua's own are none
      Self(lua).thrown_ = std::current_exception();
    }
    return luaL_error(lua, "stopped");
  }
  template <lua_CFunction function>
  static int Host(lua_State* lua) {
    return Kept(lua, [lua] { return function(lua); });
  }
  // Calls task() inside Lua's protection: what it does may raise Lua's errors.
  template <typename Task>
  bool Protected(Task& task) {
    lua_settop(lua_, 0);
    lua_pushcfunction(lua_, [](lua_State* lua) {
      void* arg = lua_touserdata(lua, 1);
      lua_settop(lua, 0);
      return Kept(lua, [arg] {
        (*static_cast<Task*>(arg))();
        return 0;
      });
    });
    lua_pushlightuserdata(lua_, &task);
    return Call(1, 0);
  }
  // The error on top of the stack, as text.
  std::string ErrorText() {
    return lua_type(lua_, -1) == LUA_TSTRING ? ValidUtf8(ToText(lua_, -1)) : "out of memory";
  }
  // One flat function of a row (plan.lua), made once the row has been asked often enough.
  struct Plan {
    struct Entry {
      std::string key;
      bool optional = false;  // left out if absent
    };
    int function = LUA_NOREF;
    std::vector<Entry> entries;
    std::uint64_t calls = 0;   // evaluated by name, before there was a function
    std::uint64_t hits = 0;    // of the function
    std::uint64_t misses = 0;  // calls of other kinds
    bool dropped = false;
  };
  void Run(const ModelRow& row, const OpCall& call, bool backward, OpWork* work);
  // Takes the two values on top of the stack: a plan's function, or nil, and its list of
  // parameters.
  void KeepPlan(const ModelRow& row, Plan* plan);
  // False: the call is of another kind, and `work` is as it was.
  bool RunPlan(const OpCall& call, Plan* plan, OpWork* work);
  // A number of work at that place; false: none that a call which went well may have.
  bool AmountAt(int index, std::optional<double>* amount);
  static void Hook(lua_State* lua, lua_Debug*);

  struct Close {
    void operator()(lua_State* lua) const { lua_close(lua); }
  };

  const ModelRows& rows_;
  SmallBlocks blocks_;  // of the Lua state
  std::size_t used_ = 0;
  std::unique_ptr<lua_State, Close> owner_;
  lua_State* lua_ = nullptr;      // owner_'s
  std::size_t garbage_from_ = 0;  // used_ after the last collection
  int define_ = 0, evaluate_ = 0, quantity_ = 0, check_ = 0, tuple_ = 0, list_ = 0, null_ = 0;
  const void* kinds_[2] = {};  // the metatables of sequences
  const void* null_at_ = nullptr;
  const void* absent_at_ = nullptr;
  std::vector<bool> defined_;
  struct HashText {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, int, HashText, std::equal_to<>> common_;  // references, by text
  std::vector<Plan> plans_;          // by row, forward and backward
  std::vector<std::uint8_t> stops_;  // by row: how often a limit ended its evaluation
  bool stopped_ = false;             // in this call
  bool refused_ = false;             // in this call: memory, by the system
  std::exception_ptr thrown_;        // in this call, by what Lua called
  int steps_ = 0;
  // Of the thread's own time, so that a busy machine takes nothing from a row.
  std::chrono::nanoseconds began_{};
  std::chrono::nanoseconds spent_{};  // by a user's rows, before this call
  simdjson::dom::parser parser_;
};

}  // namespace jarvis::perf
