#include "trace/import/xplane/event_facts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

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

void FactsReader::Read(const EventName* name, const std::vector<std::string_view>& own,
                       EventFacts* facts) {
  facts->Clear();
  const auto take = [&](std::string_view message) {
    Stat stat;
    if (ReadStat(message, &stat)) Take(stat, facts);
  };
  if (name != nullptr) {
    for (const std::string_view message : name->stats)
      take(message);
  }
  for (const std::string_view message : own)
    take(message);
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
  for (const auto& [id, name] : plane.event_names) {
    if (plain(name.display.empty() ? name.name : name.display)) plain_.insert(id);
  }
}

std::uint32_t EventKinds::Of(std::int64_t name_id, const std::vector<std::string_view>& stats,
                             std::int64_t* correlation) {
  *correlation = kAbsent;
  const auto add = [&](std::uint64_t number) {
    char bytes[sizeof(number)];
    std::memcpy(bytes, &number, sizeof(number));
    key_.append(bytes, sizeof(bytes));
  };
  key_.clear();
  add(static_cast<std::uint64_t>(name_id));
  if (!plain_.empty() && plain_.contains(name_id)) return kinds_.Intern(key_);
  for (const std::string_view message : stats) {
    Stat stat;
    if (!ReadStat(message, &stat) || facts_.Drops(stat.id)) continue;
    if (facts_.IsCorrelation(stat.id)) {
      if (const auto number = facts_.NumberOf(stat)) *correlation = *number;
      continue;
    }
    add(message.size());
    key_ += message;
  }
  key_ += *correlation == kAbsent ? 'a' : 'c';
  return kinds_.Intern(key_);
}

}  // namespace jarvis::trace::xplane
