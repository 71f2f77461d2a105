// What the stats of an event say: the ones that have a place of their own in a trace, and the rest
// by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "trace/event.h"
#include "trace/import/shared/slice_writer.h"
#include "trace/import/xplane/id_table.h"
#include "trace/import/xplane/space.h"

namespace jarvis::trace::xplane {

struct EventFacts {
  std::int64_t correlation = kAbsent, program = kAbsent, step = kAbsent, group = kAbsent;
  std::string_view hlo_op, hlo_module, step_name;
  std::string_view kernel_details, memcpy_details, memset_details, category;
  std::string_view framework_op, source;  // "jit(f)/dot_general", "/app/model.py:41"
  std::optional<double> flops, bytes;
  std::vector<std::pair<std::string_view, Stat>> other;

  void Clear();
};

// Reads the stats of one plane's events. Not thread-safe: one reader a thread.
class FactsReader {
 public:
  explicit FactsReader(const Plane& plane);

  // Those of the event's name, then its own (Event::stats), which win. A stat that cannot be read
  // is left out.
  void Read(const EventName* name, std::string_view own, EventFacts* facts);
  // The other stats as args.
  void AddOther(const EventFacts& facts, ArgText* args) const;
  // What a stat is to its event: nothing is made of it, it tells the event apart from all others,
  // or it says something that others may say too.
  enum class Use : std::uint8_t { kNone, kCorrelation, kShared };
  Use UseOf(std::int64_t id) const {
    const Known* known = Find(id);
    if (known == nullptr || known->key == Key::kDropped) return Use::kNone;
    return known->key == Key::kCorrelation ? Use::kCorrelation : Use::kShared;
  }
  // As a whole number, whatever it is written as; absent: it is none.
  std::optional<std::int64_t> NumberOf(const Stat& stat) const;

 private:
  enum class Key : std::uint8_t {
    kOther,
    kDropped,
    kCorrelation,
    kProgram,
    kStep,
    kGroup,
    kHloOp,
    kHloModule,
    kStepName,
    kKernelDetails,
    kMemcpyDetails,
    kMemsetDetails,
    kCategory,
    kFrameworkOp,
    kSource,
    kFlops,
    kBytes,
  };
  struct Known {
    Key key = Key::kOther;
    std::string_view name;
    bool known = false;
  };
  static Key KeyOf(std::string_view name);
  const Known* Find(std::int64_t id) const {
    const auto place = static_cast<std::uint64_t>(id);
    if (place < near_.size()) return near_[place].known ? &near_[place] : nullptr;
    const auto found = far_.find(id);
    return found == far_.end() ? nullptr : &found->second;
  }
  void Take(const Stat& stat, EventFacts* facts);

  const Plane& plane_;
  std::vector<Known> near_;  // by id; those beyond are in the other
  std::unordered_map<std::int64_t, Known> far_;
};

// Tells events apart whose names and stats differ, but for their correlation and stats of which
// nothing is made: all others say the same, and what is made of them is made once. Not thread-safe.
class EventKinds {
 public:
  // `plain`: of events of these names, the name alone counts; may be null.
  EventKinds(const Plane& plane, bool (*plain)(std::string_view name));

  // The number of the event's kind, counted from 0 in the order of first events. `correlation`: as
  // the event itself says; kAbsent: it does not.
  std::uint32_t Of(const Event& event, std::int64_t* correlation);

 private:
  // An event of a kind: its name, its stats, and where in them its correlation stands, which others
  // of the kind have another of. Those are known by comparing bytes, without reading any stat.
  struct Example {
    std::int64_t name_id = 0;
    std::string_view stats{};
    std::size_t from = 0, to = 0;  // the correlation; nowhere: no stat is one
    std::uint32_t kind = kNoString;

    // `correlation`: of an event that has the same bytes around its own.
    bool Fits(std::int64_t name, std::string_view others, std::int64_t* correlation) const;
  };
  static constexpr std::size_t kExamples = 256;  // a power of two
  static std::size_t PlaceOf(std::int64_t name_id, std::string_view stats);

  // Reads the stats into key_; the correlation if there is one, and the message of its stat.
  void AddStats(std::string_view stats, std::int64_t* correlation);
  void Remember(std::int64_t name_id, std::string_view stats, std::int64_t correlation,
                std::uint32_t kind, Example* example) const;

  const FactsReader facts_;
  IdTable plain_;
  std::vector<Example> examples_;  // by what PlaceOf() makes of them: the last one
  std::string_view correlation_stat_;
  std::size_t correlations_ = 0;  // how many stats of the event are one
  StringPool kinds_;
  std::string key_;
};

}  // namespace jarvis::trace::xplane
