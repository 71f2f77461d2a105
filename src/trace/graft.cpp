#include "trace/graft.h"

#include <algorithm>
#include <string>

#include "trace/json_text.h"
#include "trace/store_part.h"

namespace jarvis::trace {
namespace {

// The text in the pool of the copy.
std::string_view InPool(StringPool* strings, std::string_view text) {
  return (*strings)[strings->Intern(text)];
}

}  // namespace

Graft::Graft(const EventStore& base) : store_(CopyOf(base)) {
  // Elements that are no events, such as names of threads behind all others, have their numbers
  // too.
  next_uid_ = static_cast<std::uint32_t>(base.elements);
  for (const Event& event : base.events) {
    end_ns_ = std::max(end_ns_, event.end_ns());
    next_uid_ = std::max(next_uid_, event.uid + 1);
  }
  for (const Args& args : base.args)
    next_correlation_ = std::max(next_correlation_, args.correlation + 1);
  track_ = static_cast<std::uint32_t>(store_.tracks.size());
  store_.tracks.push_back(
      {InPool(&store_.strings, "graph capture"), InPool(&store_.strings, "graph capture")});
}

std::uint8_t Graft::CategoryOf(std::string_view category) {
  const auto found = std::find(store_.categories.begin(), store_.categories.end(), category);
  const auto at = static_cast<std::uint8_t>(found - store_.categories.begin());
  // There is one number fewer than bytes can hold; what comes after all others is named as the
  // last.
  constexpr std::size_t kCategoriesMax = 255;
  if (found != store_.categories.end()) return at;
  if (store_.categories.size() >= kCategoriesMax) return kCategoriesMax - 1;
  store_.categories.push_back(InPool(&store_.strings, category));
  return at;
}

void Graft::Add(const EventStore& from, EventIndex event, std::int64_t ts_ns, std::int64_t dur_ns,
                std::int64_t correlation) {
  Event added = from[event];
  added.ts_ns = ts_ns;
  added.dur_ns = dur_ns;
  added.name = TextOf(from, added.name);
  added.track = track_;
  added.uid = next_uid_++;
  added.order = 0;
  added.category = CategoryOf(from.categories[from[event].category]);
  added.flags = 0;
  CopyArgs(from, from[event], correlation, &added);
  store_.events.push_back(added);
}

StringId Graft::TextOf(const EventStore& from, StringId id) {
  std::vector<StringId>& known = texts_[&from];
  if (known.empty()) known.assign(from.strings.size(), kNoString);
  if (known[id] == kNoString) known[id] = store_.strings.Intern(from.strings[id]);
  return known[id];
}

std::uint32_t Graft::TrackOf(const Track& track) {
  if (tracks_.empty()) {
    for (std::uint32_t t = 0; t < store_.tracks.size(); ++t) {
      const Track& known = store_.tracks[t];
      tracks_.try_emplace({std::string(known.pid), std::string(known.tid)}, t);
    }
  }
  const auto [found, added] = tracks_.try_emplace({std::string(track.pid), std::string(track.tid)},
                                                  static_cast<std::uint32_t>(store_.tracks.size()));
  if (added) {
    store_.tracks.push_back(
        {InPool(&store_.strings, track.pid), InPool(&store_.strings, track.tid)});
  }
  return found->second;
}

EventIndex Graft::Place(EventIndex base, Event added) {
  const Event& during = store_.events[base];
  added.ts_ns = during.ts_ns;
  added.dur_ns = during.dur_ns;
  added.flags = during.flags & kInexact;
  added.order = 0;
  added.uid = next_uid_++;
  ++store_.elements;
  const auto exact = store_.exact_times.find(during.uid);
  if (exact != store_.exact_times.end()) {
    const EventStore::ExactTime time = exact->second;
    store_.exact_times.emplace(added.uid, time);
  }
  store_.events.push_back(added);
  return static_cast<EventIndex>(store_.events.size() - 1);
}

EventIndex Graft::AddDuring(EventIndex base, const EventStore& from, EventIndex event) {
  Event added = from[event];
  added.name = TextOf(from, added.name);
  added.track = TrackOf(from.tracks[added.track]);
  added.category = CategoryOf(from.categories[added.category]);
  CopyArgs(from, from[event], from.args_of(event).correlation, &added);
  return Place(base, added);
}

EventIndex Graft::AddCallDuring(EventIndex base, std::string_view name) {
  Event added = store_.events[base];
  added.name = store_.strings.Intern(name);
  added.args = kNoArgs;
  return Place(base, added);
}

void Graft::CopyArgs(const EventStore& from, const Event& event, std::int64_t correlation,
                     Event* added) {
  added->args = kNoArgs;
  if (event.args == kNoArgs && correlation == kAbsent) return;
  Args args = event.args == kNoArgs ? Args() : from.args[event.args];
  args.correlation = correlation;
  args.external_id = kAbsent;
  args.sequence = kAbsent;
  for (StringId* id : {&args.dims, &args.strides, &args.types, &args.concrete, &args.other}) {
    if (*id != kNoString) *id = TextOf(from, *id);
  }
  added->args = static_cast<std::uint32_t>(store_.args.size());
  store_.args.push_back(args);
}

void Graft::Link(EventIndex gpu, std::int64_t correlation, std::string_view launch_args) {
  Event& event = store_.events[gpu];
  Args args = event.args == kNoArgs ? Args() : store_.args[event.args];
  args.correlation = correlation;
  args.external_id = kAbsent;
  const std::string_view own = store_.text(args.other);
  std::string text(own);
  for (const char* key : {"grid", "block"}) {
    const std::string_view value = MemberOf(launch_args, key);
    if (value.empty() || !MemberOf(own, key).empty()) continue;
    text.append(1, '"').append(key).append("\": ").append(value).append(", ");
  }
  if (text.size() != own.size()) args.other = store_.strings.Intern(text);
  event.args = static_cast<std::uint32_t>(store_.args.size());
  store_.args.push_back(args);
}

}  // namespace jarvis::trace
