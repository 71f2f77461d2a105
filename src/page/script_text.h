// Data of a page as JSON text that stands inside a script element: whatever a trace holds, it
// cannot end the element.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "trace/event_store.h"

namespace jarvis::page {

// With its quotes, on one line, at most so many bytes of it (0: all).
std::string ScriptString(std::string_view text, std::size_t bytes_max = 0);

// ",12": the next element of a list that is being written; without the comma at its beginning.
void AppendNumber(std::int64_t value, std::string* list);
// A share or a rate: at most so many digits; null where there is no finite number.
std::string ScriptNumber(double value);

// Names once each. Data says the number that a name has on the page, which it gets when it is first
// shown there: a recording may have far more names than its page.
class ScriptNames {
 public:
  std::int64_t Of(std::string_view name) { return static_cast<std::int64_t>(pool_.Intern(name)); }
  std::int64_t OfEvent(const trace::EventStore& events, trace::EventIndex e);

  std::int64_t Shown(std::int64_t name);
  std::string Json() const;  // a list by the numbers of what is shown

 private:
  StringPool pool_;
  std::unordered_map<StringId, std::int64_t> of_event_names_;
  std::unordered_map<std::int64_t, std::int64_t> shown_as_;
  std::vector<StringId> shown_;
};

}  // namespace jarvis::page
