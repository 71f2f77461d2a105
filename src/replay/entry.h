// One call of a trace as an entry of replay_ir.json.
#pragma once

#include <optional>
#include <string>

#include "perf/platform.h"
#include "replay/profiled_call.h"
#include "replay/selection.h"

namespace jarvis::replay {

struct Entry {
  Json ir;               // of a call that is in the package; null: left out
  bool matched = false;  // false: the replayer looks for the schema
  std::string reason;    // why it is left out
  std::string fix;       // what would mend that
};

struct EntryInput {
  const session::LoadedTrace& trace;
  const std::optional<perf::Platform>& platform;  // whose roof the reference names
};

Entry MakeEntry(const EntryInput& input, const Signature& signature);

// "namespace::name", in letters, digits and underscores: what the replayer agrees to look up.
bool IsOperatorName(std::string_view name);

// The sizes of the tensors of an entry, "[8,16] [16]": what an answer shows of it.
std::string ShapesText(const Json& ir);

}  // namespace jarvis::replay
