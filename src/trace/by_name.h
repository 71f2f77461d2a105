// What the name of an event alone tells, asked once a name: traces have many events of few names.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/event_store.h"

namespace jarvis::trace {

template <typename Answer>
class ByName {
 public:
  ByName(const EventStore& events, std::function<Answer(std::string_view name)> tell)
      : events_(events), tell_(std::move(tell)) {}

  const Answer& Of(EventIndex e) {
    const auto [known, added] = known_.try_emplace(events_[e].name);
    if (added) known->second = tell_(events_.name(e));
    return known->second;
  }

 private:
  const EventStore& events_;
  std::function<Answer(std::string_view name)> tell_;
  std::unordered_map<StringId, Answer> known_;
};

}  // namespace jarvis::trace
