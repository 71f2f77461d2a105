// What an importer makes of a file that exists in memory alone.
#pragma once

#include <string>
#include <string_view>

#include "fuzz/loaded_text.h"
#include "trace/import/shared/importer.h"
#include "tree/build.h"

namespace jarvis::testing {

// Reads the bytes on one thread and on three: the same trace, or the same refusal; every text of it
// can be had, and its calls nest.
inline void ReadTwice(const trace::Importer& importer, std::string_view bytes) {
  Require(importer.sniff(bytes) == importer.sniff(bytes));
  const auto read = [&](int threads) {
    Job job;
    const trace::TraceInput input{FileOf(std::string(bytes)), {}, ""};
    return importer.read(input, {.threads = threads}, job);
  };
  const auto once = read(1);
  const auto again = read(3);
  Require(once.has_value() == again.has_value());
  if (!once) {
    Require(!once.error().message.empty() && once.error().message == again.error().message);
    return;
  }
  const trace::EventStore& events = once->trace.events;
  Require(events.size() == again->trace.events.size());
  Require(once->trace.damage == again->trace.damage);
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    Require(events[e].dur_ns >= 0 && events[e].track < events.tracks.size());
    Require(events.name(e) == again->trace.events.name(e));
    Require(events.text(events.args_of(e).other) ==
            again->trace.events.text(again->trace.events.args_of(e).other));
  }
  Job job;
  Require(tree::BuildTree(events, 1, job).has_value());
}

}  // namespace jarvis::testing
