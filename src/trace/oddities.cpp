#include "trace/oddities.h"

#include <iterator>

namespace jarvis::trace {
namespace {

constexpr OddityInfo kInfos[] = {
    {Oddity::kTruncated, "truncated", Remedy::kPartial,
     "The file ends inside the list of events; every whole event before the cut was read."},
    {Oddity::kDamagedContainer, "damaged_container", Remedy::kPartial,
     "The compressed stream is damaged; everything before the damage was read."},
    {Oddity::kMalformedEvent, "malformed_event", Remedy::kLeftOut, "The event is not valid JSON."},
    {Oddity::kNotAnObject, "not_an_object", Remedy::kLeftOut,
     "An element of traceEvents is not an object."},
    {Oddity::kBadUtf8, "bad_utf8", Remedy::kRepaired,
     "Invalid UTF-8 inside a string; the bytes were replaced."},
    {Oddity::kControlCharacter, "control_character", Remedy::kRepaired,
     "A raw control character inside a string; it was replaced by a space."},
    {Oddity::kNoPhase, "no_phase", Remedy::kNoted,
     "Event without ph; taken as a complete event if it has ts and dur."},
    {Oddity::kNoName, "no_name", Remedy::kRepaired, "Event without a name; shown as (unnamed)."},
    {Oddity::kNoTimestamp, "no_timestamp", Remedy::kLeftOut, "Event without ts."},
    {Oddity::kBadTimestamp, "bad_timestamp", Remedy::kLeftOut, "ts or dur is not a number."},
    {Oddity::kHugeTimestamp, "timestamp_out_of_range", Remedy::kLeftOut,
     "ts or dur is beyond every date in microseconds, the unit of the format: it seems to be in "
     "nanoseconds."},
    {Oddity::kNoDuration, "no_duration", Remedy::kLeftOut, "Complete event without dur."},
    {Oddity::kNegativeDuration, "negative_duration", Remedy::kLeftOut,
     "The event ends before it starts."},
    {Oddity::kZeroTimestamp, "zero_timestamp", Remedy::kLeftOut,
     "The event stands at time 0 while the trace does not."},
    {Oddity::kFarTimestamp, "far_timestamp", Remedy::kLeftOut,
     "The event stands far from all others, by more than their whole recording many times over: "
     "its clock was not theirs."},
    {Oddity::kDuplicate, "duplicate_event", Remedy::kLeftOut,
     "The same GPU event is in the file more than once; one copy counts."},
    {Oddity::kOverlapOnStream, "overlap_on_stream", Remedy::kClipped,
     "A GPU event runs past whole later ones on its own stream; its end was set to the next "
     "start."},
    {Oddity::kUnmatchedBegin, "unmatched_begin", Remedy::kLeftOut,
     "A begin event without its end."},
    {Oddity::kUnmatchedEnd, "unmatched_end", Remedy::kLeftOut, "An end event without its begin."},
    {Oddity::kLongArgs, "long_args", Remedy::kClipped,
     "Some arguments of events were cut; the analysis uses none of these."},
    {Oddity::kLongName, "long_name", Remedy::kClipped,
     "A name is longer than the limit of 16 KiB; its beginning is kept."},
    {Oddity::kTextBudget, "text_budget", Remedy::kClipped,
     "The trace has more distinct text than is kept: further long names are cut to their first 256 "
     "bytes, further long arguments (shapes, types, values) are left out."},
    {Oddity::kOversizeEvent, "oversize_event", Remedy::kLeftOut,
     "One event is larger than the limit of 64 MiB."},
    {Oddity::kUnknownCategory, "unknown_category", Remedy::kNoted,
     "Events of categories that no rule knows; kept, not analysed."},
    {Oddity::kTextAfterEnd, "text_after_end", Remedy::kPartial,
     "Text follows the end of the trace."},
    {Oddity::kLongMetadata, "long_metadata", Remedy::kLeftOut,
     "The members beside traceEvents are larger than the limit of 32 MiB; the rest is not read."},
    {Oddity::kCutByWindow, "cut_by_window", Remedy::kClipped,
     "The event goes on beyond the part of the recording that was read; only what lies inside "
     "counts."},
};
static_assert(std::size(kInfos) == static_cast<std::size_t>(Oddity::kCount));

}  // namespace

const OddityInfo& Info(Oddity oddity) {
  return kInfos[static_cast<std::size_t>(oddity)];
}

std::string_view RemedyName(Remedy remedy) {
  switch (remedy) {
    case Remedy::kNoted: return "noted";
    case Remedy::kLeftOut: return "left_out";
    case Remedy::kClipped: return "clipped";
    case Remedy::kRepaired: return "repaired";
    case Remedy::kPartial: return "partial";
  }
  return "noted";
}

void Oddities::Merge(const Oddities& other) {
  for (const Oddity oddity : other.Seen())
    Count(oddity, other.first(oddity), other.count(oddity));
}

std::vector<Oddity> Oddities::Seen() const {
  std::vector<Oddity> seen;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].count > 0) seen.push_back(static_cast<Oddity>(i));
  }
  return seen;
}

}  // namespace jarvis::trace
