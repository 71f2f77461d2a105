// The ops of a profile: instructions of compiled programs, found once however many events name
// them.
//
// Threads: any number may ask at once; what they get stays where it is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/event.h"
#include "trace/import/hlo/facts.h"
#include "trace/import/xplane/event_facts.h"
#include "trace/import/xplane/space.h"

namespace jarvis::trace::xplane {

struct Op {
  std::string_view name, module;  // the instruction, as events name it, and its program's name
  std::int64_t program = kAbsent;
  bool known = false;  // its instruction was found, or the event tells of it
  hlo::OpFacts facts;
};

class OpTable {
 public:
  // Reads the programs that the profile holds.
  OpTable(const Space& space, int threads);

  // Of an event's facts; null: it names no instruction.
  const Op* Find(const EventFacts& facts);
  // Of an instruction that is the event's own name, with its line of HLO (a TPU's).
  const Op* FindCounted(const EventName& name, const EventFacts& facts);

  bool any_module() const { return !by_program_.empty() || !by_name_.empty(); }
  const std::vector<std::string>& problems() const { return problems_; }
  // Instructions that were asked for and that no program has.
  std::uint64_t unresolved() const { return unresolved_; }
  // The names of programs with ops, and the scopes that ops were traced in.
  void EachScope(const std::function<void(std::string_view)>& look) const;

 private:
  using Key = std::tuple<std::string_view, std::int64_t, std::string_view>;

  const hlo::Module* ModuleOf(std::string_view name, std::int64_t program) const;
  const Op* Add(const Key& key, const std::function<void(Op*)>& fill);

  std::vector<std::unique_ptr<const hlo::Module>> modules_;
  std::unordered_map<std::int64_t, const hlo::Module*> by_program_;
  std::unordered_map<std::string_view, const hlo::Module*> by_name_;  // null: several
  std::vector<std::string> problems_;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<const Op>> ops_;
  std::uint64_t unresolved_ = 0;
};

// The further args of an op's event: what its program says of it.
void AddOpArgs(const Op& op, ArgText* args);
// The args by which communication is known, as profilers of NCCL write them. `device`: whose group
// is meant, where the program tells several; absent: none is.
void AddExchange(const hlo::Exchange& exchange, std::optional<std::int64_t> device, ArgText* args);

}  // namespace jarvis::trace::xplane
