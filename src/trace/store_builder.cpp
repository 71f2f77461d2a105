#include "trace/store_builder.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "trace/json_text.h"

namespace jarvis::trace {
namespace {

// Where a table leads from an id of the slice. Ids are checked here, where the store is built, so
// that whoever reads it later may index without looking.
template <typename Table>
const auto& Led(const Table& table, std::size_t id) {
  JV_CHECK(id < table.size());
  return table[id];
}

}  // namespace

// Before the slice's args are appended: they begin where the store's end.
inline Event StoreBuilder::Mapped(Event event, const DecodedSlice& slice) const {
  event.name = Led(names_, event.name);
  event.track = Led(tracks_, event.track);
  event.category = Led(categories_, event.category);
  if (event.args != kNoArgs) {
    JV_CHECK(event.args < slice.args.size());
    event.args += static_cast<std::uint32_t>(store_.args.size());
  }
  return event;
}

bool StoreBuilder::Append(const DecodedSlice& slice) {
  const std::size_t marks = begin_ends_.size() + slice.begin_ends.size();
  if (store_.events.size() + slice.events.size() + marks > limits::kEventsMax) return false;
  JV_DCHECK(slice.events.empty() || store_.events.empty() ||
            slice.events.front().uid > store_.events.back().uid);
  MapNames(slice);
  MapTracks(slice);
  MapCategories(slice);
  Event* to = store_.events.append_unset(slice.events.size());
  for (const Event& event : slice.events)
    *to++ = Mapped(event, slice);
  for (const DecodedSlice::BeginEnd& mark : slice.begin_ends) {
    Event event = mark.event;
    if (mark.phase == 'B') {
      event = Mapped(event, slice);
    } else {
      event.track = Led(tracks_, event.track);
    }
    begin_ends_.push_back({event, mark.phase});
  }
  AppendArgs(slice);
  for (Flow flow : slice.flows) {
    flow.track = Led(tracks_, flow.track);
    store_.flows.push_back(flow);
  }
  for (const DecodedSlice::LocalMeta& meta : slice.meta_events) {
    store_.meta_events.push_back({Led(tracks_, meta.track), Led(names_, meta.name),
                                  meta.args == kNoString ? kNoString : Led(raws_, meta.args)});
  }
  for (const DecodedSlice::Inexact& time : slice.inexact) {
    store_.exact_times[Led(slice.events, time.event).uid] = {time.ts_us, time.dur_us};
  }
  store_.oddities.Merge(slice.oddities);
  store_.dialect.Merge(slice.dialect);
  store_.ignored_events += slice.ignored_events;
  return true;
}

bool StoreBuilder::Affords(std::string_view text, std::uint64_t hash, std::uint64_t place) {
  if (text.size() <= limits::kNameBytesShort || store_.strings.Find(text, hash) != kNoString)
    return true;
  const std::uint64_t events = store_.events.size() + begin_ends_.size();
  if (text_bytes_ + text.size() > limits::kTextBytesFree + events * limits::kTextBytesAnEvent) {
    store_.oddities.Count(Oddity::kTextBudget, place);
    return false;
  }
  text_bytes_ += text.size();
  return true;
}

StringId StoreBuilder::KeepName(std::string_view text, std::uint64_t hash, std::uint64_t place) {
  return Affords(text, hash, place) ? store_.strings.Intern(text, hash)
                                    : store_.strings.Intern(CutName(text, limits::kNameBytesShort));
}

void StoreBuilder::MapNames(const DecodedSlice& slice) {
  const std::uint64_t place = slice.events.empty() ? store_.elements : slice.events.front().uid;
  names_.resize(slice.names.size());
  for (StringId id = 0; id < names_.size(); ++id) {
    const std::string_view text = slice.names[id];
    if (text.find('\\') == std::string_view::npos) {
      names_[id] = KeepName(text, slice.names.hash(id), place);
    } else {
      const std::string resolved = Unescape(text);
      names_[id] = KeepName(resolved, HashText(resolved), place);
    }
  }
  raws_.resize(slice.raws.size());
  for (StringId id = 0; id < raws_.size(); ++id) {
    const std::string_view text = slice.raws[id];
    const std::uint64_t hash = slice.raws.hash(id);
    raws_[id] = Affords(text, hash, place) ? store_.strings.Intern(text, hash) : kNoString;
  }
}

void StoreBuilder::MapTracks(const DecodedSlice& slice) {
  tracks_.resize(slice.tracks.size());
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const StringId pid = Led(names_, slice.tracks[i].pid);
    const StringId tid = Led(names_, slice.tracks[i].tid);
    scratch_.assign(store_.strings[pid]).append(1, '\0').append(store_.strings[tid]);
    tracks_[i] = track_keys_.Intern(scratch_);
    if (tracks_[i] == track_pids_.size()) {
      track_pids_.push_back(pid);
      track_tids_.push_back(tid);
    }
  }
}

void StoreBuilder::MapCategories(const DecodedSlice& slice) {
  categories_.resize(slice.categories.size());
  for (std::size_t i = 0; i < categories_.size(); ++i) {
    const DecodedSlice::LocalCategory& local = slice.categories[i];
    if (local.rule.rule == Rule::kUnknown && local.events > 0) {
      store_.oddities.Count(Oddity::kUnknownCategory, local.first_uid, local.events);
    }
    const StringId name = Led(names_, local.name);
    auto found = std::find(category_names_.begin(), category_names_.end(), name);
    if (found == category_names_.end()) {
      if (category_names_.size() == 255) {
        categories_[i] = 254;
        continue;
      }
      found = category_names_.insert(category_names_.end(), name);
    }
    categories_[i] = static_cast<std::uint8_t>(found - category_names_.begin());
  }
}

void StoreBuilder::AppendArgs(const DecodedSlice& slice) {
  const auto map = [&](StringId& id) {
    if (id != kNoString) id = Led(raws_, id);
  };
  Args* to = store_.args.append_unset(slice.args.size());
  for (Args args : slice.args) {
    map(args.dims);
    map(args.strides);
    map(args.types);
    map(args.concrete);
    map(args.other);
    map(args.known_as);
    *to++ = args;
  }
}

void StoreBuilder::Finish() {
  if (!begin_ends_.empty()) PairBeginEnds();
  for (std::size_t i = 0; i < track_pids_.size(); ++i) {
    store_.tracks.push_back({store_.strings[track_pids_[i]], store_.strings[track_tids_[i]]});
  }
  for (const StringId name : category_names_)
    store_.categories.push_back(store_.strings[name]);
  store_.events.shrink_to_fit();
  store_.args.shrink_to_fit();
  store_.flows.shrink_to_fit();
}

void StoreBuilder::PairBeginEnds() {
  std::vector<std::vector<BeginEnd*>> by_track(track_pids_.size());
  for (BeginEnd& mark : begin_ends_)
    by_track[mark.event.track].push_back(&mark);
  for (std::vector<BeginEnd*>& marks : by_track) {
    // Files written as things happened pair up in file order, and so do files that put each end
    // right after its begin. Anything else is paired in time order.
    if (PairTrack(marks, false)) continue;
    std::stable_sort(marks.begin(), marks.end(), [](const BeginEnd* a, const BeginEnd* b) {
      return a->event.ts_ns < b->event.ts_ns;
    });
    PairTrack(marks, true);
  }
  std::sort(store_.events.begin(), store_.events.end(),
            [](const Event& a, const Event& b) { return a.uid < b.uid; });
  begin_ends_.clear();
}

// Pairs the marks of one track by a stack. Unless everything pairs up, changes nothing and returns
// false; with `count_oddities` it takes what pairs and counts the rest.
bool StoreBuilder::PairTrack(std::vector<BeginEnd*>& marks, bool count_oddities) {
  std::vector<const BeginEnd*> open;
  std::vector<Event> events;
  for (const BeginEnd* mark : marks) {
    if (mark->phase == 'B') {
      open.push_back(mark);
      continue;
    }
    if (open.empty() || mark->event.ts_ns < open.back()->event.ts_ns) {
      if (!count_oddities) return false;
      store_.oddities.Count(Oddity::kUnmatchedEnd, mark->event.uid);
      continue;
    }
    Event event = open.back()->event;
    event.dur_ns = mark->event.ts_ns - event.ts_ns;
    events.push_back(event);
    open.pop_back();
  }
  if (!open.empty() && !count_oddities) return false;
  for (const BeginEnd* mark : open)
    store_.oddities.Count(Oddity::kUnmatchedBegin, mark->event.uid);
  for (const Event& event : events)
    store_.events.push_back(event);
  return true;
}

}  // namespace jarvis::trace
