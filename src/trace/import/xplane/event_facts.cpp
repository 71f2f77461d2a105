#include "trace/import/xplane/event_facts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::trace::xplane {

void EventFacts::Clear() {
  auto kept = std::move(other);
  kept.clear();
  *this = {};
  other = std::move(kept);
}

FactsReader::FactsReader(const Plane& plane) : plane_(plane) {
  constexpr std::int64_t kNear = 4096;
  std::int64_t most = -1;
  for (const auto& [id, name] : plane.stat_names) {
    if (id >= 0 && id < kNear) most = std::max(most, id);
  }
  near_.resize(static_cast<std::size_t>(most + 1));
  for (const auto& [id, name] : plane.stat_names) {
    const bool near = id >= 0 && id < kNear;
    (near ? near_[static_cast<std::size_t>(id)] : far_[id]) = {KeyOf(name), name, true};
  }
}

FactsReader::Key FactsReader::KeyOf(std::string_view name) {
  static constexpr std::pair<std::string_view, Key> kKeys[] = {
      {"correlation_id", Key::kCorrelation},
      {"program_id", Key::kProgram},
      {"step_num", Key::kStep},
      {"group_id", Key::kGroup},
      {"hlo_op", Key::kHloOp},
      {"hlo_module", Key::kHloModule},
      {"step_name", Key::kStepName},
      {"kernel_details", Key::kKernelDetails},
      {"memcpy_details", Key::kMemcpyDetails},
      {"memset_details", Key::kMemsetDetails},
      {"hlo_category", Key::kCategory},
      {"tf_op", Key::kFrameworkOp},
      {"source", Key::kSource},
      {"flops", Key::kFlops},
      {"model_flops", Key::kDropped},
      {"bytes_accessed", Key::kBytes},
      // Arrows between threads and marks of roots: no two events have the same.
      {"_p", Key::kDropped},
      {"_pt", Key::kDropped},
      {"_c", Key::kDropped},
      {"_ct", Key::kDropped},
      {"_r", Key::kDropped},
      {"_a", Key::kDropped},
      {"device_offset_ps", Key::kDropped},
      {"device_duration_ps", Key::kDropped},
      {"stream", Key::kDropped},
  };
  const auto* found = std::ranges::find(kKeys, name, &std::pair<std::string_view, Key>::first);
  return found == std::end(kKeys) ? Key::kOther : found->second;
}

std::optional<std::int64_t> FactsReader::NumberOf(const Stat& stat) const {
  using Kind = Stat::Kind;
  if (stat.kind == Kind::kUnsigned || stat.kind == Kind::kSigned)
    return static_cast<std::int64_t>(stat.number);
  if (stat.kind == Kind::kDouble) {
    constexpr double kMost = 9e18;
    const double value = std::bit_cast<double>(stat.number);
    if (!(value > -kMost && value < kMost)) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  return ParseInt(plane_.TextOf(stat));
}

void FactsReader::Take(const Stat& stat, EventFacts* facts) {
  const Known* known = Find(stat.id);
  if (known == nullptr) return;
  const Key key = known->key;
  const std::string_view name = known->name;
  const auto number = [&](std::int64_t* to) {
    const auto value = NumberOf(stat);
    if (value) *to = *value;
  };
  const auto real = [&]() -> std::optional<double> {
    if (stat.kind == Stat::Kind::kDouble) return std::bit_cast<double>(stat.number);
    if (stat.kind == Stat::Kind::kUnsigned) return static_cast<double>(stat.number);
    const auto whole = NumberOf(stat);
    return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
  };
  switch (key) {
    case Key::kDropped: break;
    case Key::kCorrelation: number(&facts->correlation); break;
    case Key::kProgram: number(&facts->program); break;
    case Key::kStep: number(&facts->step); break;
    case Key::kGroup: number(&facts->group); break;
    case Key::kHloOp: facts->hlo_op = plane_.TextOf(stat); break;
    case Key::kHloModule: facts->hlo_module = plane_.TextOf(stat); break;
    case Key::kStepName: facts->step_name = plane_.TextOf(stat); break;
    case Key::kKernelDetails: facts->kernel_details = plane_.TextOf(stat); break;
    case Key::kMemcpyDetails: facts->memcpy_details = plane_.TextOf(stat); break;
    case Key::kMemsetDetails: facts->memset_details = plane_.TextOf(stat); break;
    case Key::kCategory: facts->category = plane_.TextOf(stat); break;
    case Key::kFrameworkOp: facts->framework_op = plane_.TextOf(stat); break;
    case Key::kSource: facts->source = plane_.TextOf(stat); break;
    case Key::kFlops: facts->flops = real(); break;
    case Key::kBytes: facts->bytes = real(); break;
    case Key::kOther: {
      if (name.empty() || stat.kind == Stat::Kind::kNone || stat.kind == Stat::Kind::kBytes) break;
      auto& other = facts->other;
      const auto same = std::ranges::find(other, name, &std::pair<std::string_view, Stat>::first);
      constexpr std::size_t kOtherMax = 64;  // looked through one by one, each time
      if (same == other.end()) {
        if (other.size() < kOtherMax) other.emplace_back(name, stat);
      } else {
        same->second = stat;
      }
      break;
    }
  }
}

void FactsReader::Read(const EventName* name, std::string_view own, EventFacts* facts) {
  facts->Clear();
  const auto take = [&](std::string_view message) {
    Stat stat;
    if (ReadStat(message, &stat)) Take(stat, facts);
  };
  if (name != nullptr) {
    for (const std::string_view message : name->stats)
      take(message);
  }
  proto::Cursor cursor(own);
  proto::Field field;
  while (cursor.Next(&field)) {
    if (field.IsBytes(kStatField)) take(field.bytes);
  }
}

void FactsReader::AddOther(const EventFacts& facts, ArgText* args) const {
  // What JAX writes there where it has nothing to say.
  constexpr std::string_view kNoOp = "XlaModule:";
  if (!facts.framework_op.empty() && facts.framework_op != kNoOp)
    args->Text("tf_op", facts.framework_op);
  if (!facts.source.empty()) args->Text("source", facts.source);
  for (const auto& [name, stat] : facts.other) {
    switch (stat.kind) {
      case Stat::Kind::kDouble: args->Number(name, std::bit_cast<double>(stat.number)); break;
      case Stat::Kind::kSigned: args->Number(name, static_cast<std::int64_t>(stat.number)); break;
      case Stat::Kind::kUnsigned: args->Raw(name, fmt::format("{}", stat.number)); break;
      case Stat::Kind::kText:
      case Stat::Kind::kReference: {
        // A framework's annotation repeats further stats behind its names.
        const std::string_view text = plane_.TextOf(stat);
        args->Text(name, name == "annotation" ? text.substr(0, text.find('#')) : text);
        break;
      }
      case Stat::Kind::kNone:
      case Stat::Kind::kBytes: break;
    }
  }
}

EventKinds::EventKinds(const Plane& plane, bool (*plain)(std::string_view name)) : facts_(plane) {
  if (plain == nullptr) return;
  std::vector<std::int64_t> ids;
  for (const auto& [id, name] : plane.event_names) {
    if (plain(name.display.empty() ? name.name : name.display)) ids.push_back(id);
  }
  plain_ = IdTable(std::move(ids));
}

std::uint32_t EventKinds::Of(const Event& event, std::int64_t* correlation) {
  *correlation = kAbsent;
  const std::string_view stats = plain_.Has(event.name_id) ? std::string_view() : event.stats;
  if (examples_.empty()) examples_.resize(kExamples);
  Example& example = examples_[PlaceOf(event.name_id, stats)];
  if (example.Fits(event.name_id, stats, correlation)) return example.kind;
  key_.clear();
  AddStats(stats, correlation);
  key_ += *correlation == kAbsent ? 'a' : 'c';
  char name[sizeof(event.name_id)];
  std::memcpy(name, &event.name_id, sizeof(name));
  key_.append(name, sizeof(name));
  const std::uint32_t kind = kinds_.Intern(key_);
  Remember(event.name_id, stats, *correlation, kind, &example);
  return kind;
}

namespace {

// A few dozen bytes, for which a call would take longer than comparing them.
inline bool SameBytes(const char* a, const char* b, std::size_t size) {
  const auto same = [&](auto word, std::size_t at) {
    auto other = word;
    std::memcpy(&word, a + at, sizeof(word));
    std::memcpy(&other, b + at, sizeof(other));
    return word == other;
  };
  constexpr std::size_t kWord = sizeof(std::uint64_t), kHalf = sizeof(std::uint32_t);
  if (size >= kWord) {
    for (std::size_t at = 0; at < size - kWord; at += kWord)
      if (!same(std::uint64_t{0}, at)) return false;
    return same(std::uint64_t{0}, size - kWord);
  }
  if (size >= kHalf) return same(std::uint32_t{0}, 0) && same(std::uint32_t{0}, size - kHalf);
  return std::equal(a, a + size, b);
}

}  // namespace

bool EventKinds::Example::Fits(std::int64_t name, std::string_view others,
                               std::int64_t* correlation) const {
  if (kind == kNoString || name != name_id || others.size() != stats.size()) return false;
  if (!SameBytes(others.data(), stats.data(), from) ||
      !SameBytes(others.data() + to, stats.data() + to, stats.size() - to))
    return false;
  if (from == to) return true;
  // As many bytes as the other's, and one number: then what follows is told apart as there.
  const char* at = others.data() + from;
  const char* const end = others.data() + to;
  std::uint64_t value = 0;
  if (proto::ReadVarint(&at, end, &value) != nullptr || at != end) return false;
  const auto number = static_cast<std::int64_t>(value);
  if (number == kAbsent) return false;
  *correlation = number;
  return true;
}

// What stands last tells events of a name apart: the instruction and the program.
std::size_t EventKinds::PlaceOf(std::int64_t name_id, std::string_view stats) {
  std::uint64_t last[2] = {};
  const std::size_t taken = std::min(stats.size(), sizeof(last));
  if (taken > 0) std::memcpy(last, stats.data() + (stats.size() - taken), taken);
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = (static_cast<std::uint64_t>(name_id) * kMix) ^ last[0];
  hash = (hash ^ hash >> 32) * kMix ^ last[1];
  hash = (hash ^ hash >> 32) * kMix;
  return static_cast<std::size_t>(hash >> 40) % kExamples;
}

void EventKinds::Remember(std::int64_t name_id, std::string_view stats, std::int64_t correlation,
                          std::uint32_t kind, Example* example) const {
  if (correlations_ == 0) {
    *example = {name_id, stats, stats.size(), stats.size(), kind};
    return;
  }
  // One, written as a number, which ends its stat.
  Stat stat;
  const bool number = correlations_ == 1 && ReadStat(correlation_stat_, &stat) &&
                      (stat.kind == Stat::Kind::kUnsigned || stat.kind == Stat::Kind::kSigned);
  if (!number || correlation == kAbsent) return;
  const auto more = [&](std::size_t at) { return (correlation_stat_[at] & 0x80) != 0; };
  std::size_t begin = correlation_stat_.size() - 1;
  while (begin > 0 && more(begin - 1))
    --begin;
  const char tag = begin == 0 ? '\0' : correlation_stat_[begin - 1];
  constexpr char kUnsignedTag = 0x18, kSignedTag = 0x20;
  if (tag != kUnsignedTag && tag != kSignedTag) return;
  const std::size_t before = static_cast<std::size_t>(correlation_stat_.data() - stats.data());
  *example = {name_id, stats, before + begin, before + correlation_stat_.size(), kind};
}

// Adds the fields that count, those in a row at once: as they stand, each says where it ends.
void EventKinds::AddStats(std::string_view stats, std::int64_t* correlation) {
  using Use = FactsReader::Use;
  correlations_ = 0;
  const char* from = nullptr;
  const auto end_row = [&](const char* end) {
    if (from != nullptr) key_.append(from, end);
    from = nullptr;
  };
  proto::Cursor cursor(stats);
  proto::Field field;
  while (cursor.Next(&field)) {
    std::int64_t id = 0;
    const Use use =
        field.IsBytes(kStatField) && ReadStatId(field.bytes, &id) ? facts_.UseOf(id) : Use::kNone;
    const char* const begin = cursor.rest().data();
    if (use == Use::kShared) {
      from = from == nullptr ? begin : from;
      continue;
    }
    end_row(begin);
    Stat stat;
    if (use == Use::kNone || !ReadStat(field.bytes, &stat)) continue;
    ++correlations_;
    correlation_stat_ = field.bytes;
    if (const auto number = facts_.NumberOf(stat)) *correlation = *number;
  }
  end_row(stats.data() + stats.size());
}

}  // namespace jarvis::trace::xplane
