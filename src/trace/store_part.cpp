#include "trace/store_part.h"

#include <cstdint>
#include <string_view>

namespace jarvis::trace {
namespace {

// The text in the pool of the copy.
std::string_view Kept(StringPool* strings, std::string_view text) {
  return (*strings)[strings->Intern(text)];
}

// Without what stands on tracks.
EventStore CopyFacts(const EventStore& from) {
  EventStore store;
  // In the order of their ids, so that every id stays what it is.
  for (StringId id = 0; id < from.strings.size(); ++id)
    store.strings.Intern(from.strings[id], from.strings.hash(id));
  for (const std::string_view category : from.categories)
    store.categories.push_back(Kept(&store.strings, category));
  store.oddities = from.oddities;
  store.dialect = from.dialect;
  store.elements = from.elements;
  store.text_bytes = from.text_bytes;
  store.ignored_events = from.ignored_events;
  store.exact_times = from.exact_times;
  store.clipped_from = from.clipped_from;
  return store;
}

void AddTrack(const Track& track, EventStore* store) {
  store->tracks.push_back({Kept(&store->strings, track.pid), Kept(&store->strings, track.tid)});
}

}  // namespace

EventStore CopyOf(const EventStore& from) {
  EventStore store = CopyFacts(from);
  store.events.append(from.events.data(), from.events.size());
  store.args.append(from.args.data(), from.args.size());
  store.flows.append(from.flows.data(), from.flows.size());
  for (const Track& track : from.tracks)
    AddTrack(track, &store);
  store.meta_events = from.meta_events;
  return store;
}

EventStore CopyOf(const EventStore& from, const std::vector<bool>& tracks) {
  EventStore store = CopyFacts(from);
  std::vector<std::uint32_t> now(from.tracks.size());
  for (std::size_t track = 0; track < from.tracks.size(); ++track) {
    now[track] = static_cast<std::uint32_t>(store.tracks.size());
    if (tracks[track]) AddTrack(from.tracks[track], &store);
  }
  for (Event event : from.events) {
    if (!tracks[event.track]) continue;
    event.track = now[event.track];
    if (event.args != kNoArgs) {
      const Args args = from.args[event.args];
      event.args = static_cast<std::uint32_t>(store.args.size());
      store.args.push_back(args);
    }
    store.events.push_back(event);
  }
  for (Flow flow : from.flows) {
    if (!tracks[flow.track]) continue;
    flow.track = now[flow.track];
    store.flows.push_back(flow);
  }
  for (MetaEvent meta : from.meta_events) {
    if (!tracks[meta.track]) continue;
    meta.track = now[meta.track];
    store.meta_events.push_back(meta);
  }
  return store;
}

}  // namespace jarvis::trace
