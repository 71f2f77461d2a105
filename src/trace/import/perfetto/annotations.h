// What the annotations of events say. Most events of a trace say what others said before them, but
// for their times and their correlation: those are read once, and known again by their bytes.
//
// Threads: one reader a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "trace/event.h"
#include "trace/import/perfetto/sequence.h"

namespace jarvis::trace::perfetto {

// What an event's annotations say that has a meaning here; texts are in the trace's pool.
struct Annotations {
  std::int64_t begin_ns = kAbsent, end_ns = kAbsent, correlation = kAbsent, tid = kAbsent;
  std::int64_t stream = kAbsent, queue = kAbsent;
  StringId agent = kNoString, source_agent = kNoString, target_agent = kNoString;
  bool copies = false;       // says how many bytes
  StringId all = kNoString;  // all of them, as Args::other has them

  // Where the later says nothing, what was there stays.
  void Add(const Annotations& later);
};

// Of one event: what others say, too, and what it says for itself.
struct Said {
  std::uint32_t kind = 0;  // a place in AnnotationKinds::TakeKinds()
  std::int64_t begin_ns = kAbsent, end_ns = kAbsent, correlation = kAbsent;
};

class AnnotationKinds {
 public:
  // `texts`: where texts are kept.
  explicit AnnotationKinds(StringPool* texts) : texts_(*texts) {}

  // An event's annotations, one after the other, with the byte that each one's field begins at.
  void Begin(const Sequence& sequence);
  void Take(const Sequence& sequence, const char* field, std::string_view message);
  // `event`: all fields of the event. False: an annotation cannot be read, or is nested too deep.
  bool End(std::string_view event, Sequence* sequence, Said* said);
  static constexpr std::uint32_t kField = 4;

  std::vector<Annotations> TakeKinds() { return std::move(kinds_); }

 private:
  void EndRow();
  // False: they cannot be read.
  bool Make(std::string_view fields, Sequence* sequence);

  StringPool& texts_;
  StringPool keys_;
  bool alone_ = false;  // each event is a kind of its own
  std::uint64_t events_ = 0;
  std::vector<bool> whole_;  // by kind, which is its key's place until then: it can be read
  std::vector<Annotations> kinds_;
  // Of the event at hand: what it has for itself, and the fields of the rest, by which kinds are
  // told apart.
  Said said_;
  std::string key_;
  const char* row_ = nullptr;  // where fields of the rest begin that are in a row
  const char* row_end_ = nullptr;
  bool mixed_ = false;  // something is written otherwise than usual: all have to be read in turn
};

}  // namespace jarvis::trace::perfetto
