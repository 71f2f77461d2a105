#include "trace/import/shared/event_writer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::trace {
namespace {

constexpr std::size_t kPieceEvents = std::size_t{1} << 16;

// As torch.profiler writes them.
std::string_view CategoryName(EventKind kind) {
  switch (kind) {
    case EventKind::kCpuOp: return "cpu_op";
    case EventKind::kUserAnnotation: return "user_annotation";
    case EventKind::kRuntime: return "cuda_runtime";
    case EventKind::kDriver: return "cuda_driver";
    case EventKind::kKernel: return "kernel";
    case EventKind::kMemcpy: return "gpu_memcpy";
    case EventKind::kMemset: return "gpu_memset";
    case EventKind::kSync: return "cuda_sync";
    case EventKind::kOverhead: return "overhead";
    default: return "Trace";
  }
}

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::size_t EventWriter::HashTrackKey::operator()(const TrackKey& key) const {
  return (static_cast<std::size_t>(key.owner) << 33 ^ static_cast<std::size_t>(key.lane) << 1 ^
          static_cast<std::size_t>(key.ranges)) *
         0x9E3779B97F4A7C15ull;
}

StringId EventWriter::Name(std::string_view text) {
  if (!IsPlain(text)) {
    bool changed = false;
    clean_ = ValidUtf8(text, &changed);
    if (changed) store_.oddities.Count(Oddity::kBadUtf8, next_uid_);
    text = clean_;
  }
  if (text.size() <= kRecordedNameBytesMax) return Kept(text);
  store_.oddities.Count(Oddity::kLongName, next_uid_);
  return Kept(CutName(text, kRecordedNameBytesMax));
}

// As of StoreBuilder: what a file can make a trace keep is bounded.
StringId EventWriter::Kept(std::string_view text) {
  const std::uint64_t hash = HashText(text);
  if (text.size() > limits::kNameBytesShort && store_.strings.Find(text, hash) == kNoString) {
    text_bytes_ += text.size();
    if (text_bytes_ > limits::kTextBytesFree + next_uid_ * limits::kTextBytesAnEvent) {
      text_bytes_ -= text.size();
      store_.oddities.Count(Oddity::kTextBudget, next_uid_);
      return store_.strings.Intern(CutName(text, limits::kNameBytesShort));
    }
  }
  return store_.strings.Intern(text, hash);
}

std::uint32_t EventWriter::TrackOf(OwnerId owner, std::int64_t lane, bool ranges) {
  const TrackKey key{owner, lane, ranges};
  if (last_track_ < tracks_.size() && tracks_[last_track_] == key) return last_track_;
  const auto [found, added] =
      track_of_.try_emplace(key, static_cast<std::uint32_t>(tracks_.size()));
  if (added) tracks_.push_back(key);
  last_track_ = found->second;
  return last_track_;
}

std::uint8_t EventWriter::CategoryOf(EventKind kind) {
  const auto found = std::find(categories_.begin(), categories_.end(), kind);
  if (found != categories_.end()) return static_cast<std::uint8_t>(found - categories_.begin());
  categories_.push_back(kind);
  return static_cast<std::uint8_t>(categories_.size() - 1);
}

Status EventWriter::Room() const {
  if (next_uid_ < limits::kEventsMax) return {};
  return Fail(ErrorCode::kTooLarge,
              fmt::format("more than {} events in one trace", limits::kEventsMax));
}

void EventWriter::Push(const NewEvent& event, std::uint32_t args) {
  Event made{};
  made.ts_ns = event.ts_ns;
  made.dur_ns = event.dur_ns;
  made.name = event.name;
  made.track = event.track;
  made.uid = static_cast<std::uint32_t>(next_uid_++);
  made.args = args;
  made.kind = event.kind;
  made.category = CategoryOf(event.kind);
  (apart_ ? pieces_.back().events : store_.events).push_back(made);
}

Status EventWriter::Add(const NewEvent& event) {
  JV_TRY(Room());
  if (apart_ && (pieces_.empty() || pieces_.back().events.size() == kPieceEvents))
    pieces_.emplace_back();
  Push(event, kNoArgs);
  return {};
}

Status EventWriter::Add(const NewEvent& event, const Args& args) {
  JV_TRY(Add(event));
  Column<Event>& events = apart_ ? pieces_.back().events : store_.events;
  Column<Args>& all = apart_ ? pieces_.back().args : store_.args;
  events.back().args = static_cast<std::uint32_t>(all.size());
  if (args.external_id != jarvis::trace::kAbsent)
    events.back().order = static_cast<std::uint32_t>(args.external_id);
  all.push_back(args);
  return {};
}

Status EventWriter::Take(EventWriter other) {
  JV_CHECK(!apart_ && other.apart_);
  std::vector<StringId> names;
  for (StringId id = 0; id < other.store_.strings.size(); ++id)
    names.push_back(store_.strings.Intern(other.store_.strings[id], other.store_.strings.hash(id)));
  std::vector<std::uint32_t> tracks;
  for (const TrackKey& key : other.tracks_)
    tracks.push_back(TrackOf(key.owner, key.lane, key.ranges));
  std::vector<std::uint8_t> categories;
  for (const EventKind kind : other.categories_)
    categories.push_back(CategoryOf(kind));
  store_.oddities.Merge(other.store_.oddities);
  for (Piece& piece : other.pieces_) {
    const auto args_before = static_cast<std::uint32_t>(store_.args.size());
    for (Event event : piece.events) {
      JV_TRY(Room());
      event.name = names[event.name];
      event.track = tracks[event.track];
      event.category = categories[event.category];
      event.uid = static_cast<std::uint32_t>(next_uid_++);
      if (event.args != kNoArgs) event.args += args_before;
      store_.events.push_back(event);
    }
    for (Args args : piece.args) {
      for (StringId* id : {&args.dims, &args.strides, &args.types, &args.concrete, &args.other}) {
        if (*id != kNoString) *id = names[*id];
      }
      store_.args.push_back(args);
    }
    piece = Piece();
  }
  return {};
}

std::vector<OwnerId> EventWriter::owner_of_track() const {
  std::vector<OwnerId> owners;
  for (const TrackKey& key : tracks_)
    owners.push_back(key.owner);
  return owners;
}

EventStore EventWriter::Finish(const Owners& owners) {
  // Texts first: views into the pool stay where they are.
  for (const TrackKey& key : tracks_) {
    const std::string& pid = IsGpuOwner(key.owner) ? owners.gpu(key.owner).pid_text
                                                   : owners.processes()[key.owner].pid_text;
    const StringId pid_id = store_.strings.Intern(pid);
    const StringId tid_id =
        store_.strings.Intern(fmt::format("{}{}", key.lane, key.ranges ? " ranges" : ""));
    store_.tracks.push_back({store_.strings[pid_id], store_.strings[tid_id]});
  }
  for (const EventKind kind : categories_)
    store_.categories.push_back(store_.strings[store_.strings.Intern(CategoryName(kind))]);
  store_.events.shrink_to_fit();
  store_.args.shrink_to_fit();
  return std::move(store_);
}

}  // namespace jarvis::trace
