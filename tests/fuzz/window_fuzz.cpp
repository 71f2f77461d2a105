// Any part of any recording: what is read of it is in the whole. The first byte chooses whether the
// rest is text or a recipe, the next two where the part begins and ends.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "fuzz/loaded_text.h"
#include "fuzz/require.h"
#include "fuzz/trace_recipe.h"
#include "trace/survey.h"
#include "trace/window_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

using testing::Require;

// Whether an event of a part is one of the whole, or what is left of one that was cut at an end.
bool IsAmong(const trace::Trace& whole,
             const std::multimap<std::uint32_t, trace::EventIndex>& by_uid,
             const trace::Trace& part, const trace::Event& event) {
  const auto [begin, end] = by_uid.equal_range(event.uid);
  return std::any_of(begin, end, [&](const auto& entry) {
    const trace::Event& there = whole.events[entry.second];
    return part.events.strings[event.name] == whole.events.strings[there.name] &&
           there.ts_ns <= event.ts_ns &&
           event.end_ns() <= there.ts_ns + whole.events.recorded_duration_ns(entry.second);
  });
}

void ReadPart(const std::string& text, const trace::Survey& survey, const trace::Trace& whole,
              const trace::WindowRequest& request) {
  Job job;
  const auto window = trace::ResolveWindow(request, survey);
  if (!window) {
    Require(!window.error().message.empty(), "an error has words");
    return;
  }
  const io::InputFile file = testing::FileOf(text);
  const auto part = trace::ReadWindow(file, survey, *window, {.threads = 1}, job);
  if (!part) {
    Require(!part.error().message.empty(), "an error has words");
    return;
  }
  std::multimap<std::uint32_t, trace::EventIndex> by_uid;
  for (trace::EventIndex e = 0; e < whole.events.size(); ++e)
    by_uid.emplace(whole.events[e].uid, e);
  for (const trace::Event& event : part->events.events)
    Require(IsAmong(whole, by_uid, *part, event), "an event of a part is in the whole");
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jarvis;
  if (size < 3) return 0;
  const std::string text = data[0] % 2 == 0
                               ? std::string(reinterpret_cast<const char*>(data) + 3, size - 3)
                               : testing::DocumentOf(testing::ElementsOf({data + 3, size - 3}));
  Job job;
  const auto bytes = io::OpenBytes(testing::FileOf(text));
  if (!bytes) return 0;
  const auto survey = trace::SurveyTrace(**bytes, {.threads = 1}, job);
  const auto again = io::OpenBytes(testing::FileOf(text));
  const auto whole = trace::ReadTrace(**again, {.threads = 1}, job);
  if (!survey || !whole) {
    Require(survey.has_value() || !survey.error().message.empty(), "an error has words");
    return 0;
  }
  const double ms = static_cast<double>(survey->end_ns - survey->begin_ns) / 1e6;
  ReadPart(text, *survey, *whole,
           {.steps = {}, .from_ms = ms * data[1] / 256, .to_ms = ms * data[2] / 256});
  ReadPart(text, *survey, *whole,
           {.steps = std::to_string(data[1] % 8), .from_ms = {}, .to_ms = {}});
  ReadPart(text, *survey, *whole, {.steps = {}, .from_ms = 0, .to_ms = ms + 1});
  return 0;
}
