#include "trace/survey.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "trace/repair.h"
#include "trace/step_mark.h"

namespace jarvis::trace {
namespace {

// Adds what a slice says beside its events.
class HeadBuilder {
 public:
  explicit HeadBuilder(DecodedSlice* head) : head_(*head) {}

  void Add(const DecodedSlice& slice) {
    tracks_.clear();
    for (StringId track = 0; track < slice.tracks.size(); ++track)
      tracks_.push_back(TrackOf(slice, track));
    for (const DecodedSlice::LocalMeta& meta : slice.meta_events) {
      const StringId args =
          meta.args == kNoString ? kNoString : head_.raws.Intern(slice.raws[meta.args]);
      head_.meta_events.push_back(
          {tracks_[meta.track], head_.names.Intern(slice.names[meta.name]), args});
    }
    AddUnknownCategories(slice);
    head_.oddities.Merge(slice.oddities);
    head_.dialect.Merge(slice.dialect);
    head_.ignored_events += slice.ignored_events;
  }

 private:
  std::uint32_t TrackOf(const DecodedSlice& slice, StringId track) {
    const StringId id = head_.track_keys.Intern(slice.track_keys[track]);
    if (id == head_.tracks.size()) {
      head_.tracks.push_back({head_.names.Intern(slice.names[slice.tracks[track].pid]),
                              head_.names.Intern(slice.names[slice.tracks[track].tid])});
    }
    return id;
  }

  // These are counted where slices are put together, by how many events a slice has of them.
  void AddUnknownCategories(const DecodedSlice& slice) {
    for (const DecodedSlice::LocalCategory& local : slice.categories) {
      if (local.rule.rule != Rule::kUnknown || local.events == 0) continue;
      head_.oddities.Count(Oddity::kUnknownCategory, local.first_uid, local.events);
    }
  }

  DecodedSlice& head_;
  std::vector<std::uint32_t> tracks_;  // of the slice being added: those of the head
};

class SurveySink : public SliceSink {
 public:
  explicit SurveySink(Survey* survey) : survey_(*survey), head_(&survey->head) {}

  bool Append(const SliceText& text, const DecodedSlice& slice) override {
    head_.Add(slice);
    SliceContents contents;
    contents.first_uid = text.first_uid;
    contents.end_uid = text.first_uid + text.elements;
    for (const Event& event : slice.events) {
      AddTime(event.ts_ns, event.end_ns(), &contents);
      AddLink(event, slice, &contents);
      if (IsMarkKind(event.kind)) AddStep(event, slice.names[event.name]);
    }
    for (const DecodedSlice::BeginEnd& mark : slice.begin_ends)
      AddTime(mark.event.ts_ns, mark.event.ts_ns, &contents);
    survey_.slices.push_back(contents);
    return true;
  }

  bool any() const { return any_; }

  void Finish() {
    const bool zero_counts = at_zero_ && (time_ns_.empty() || !ZeroIsNoTime(time_ns_.least));
    if (zero_counts) {
      time_ns_.Add(0);
      time_ns_.Add(zero_end_ns_);
      for (SliceContents& slice : survey_.slices) {
        if (!slice.at_zero) continue;
        slice.time_ns.Add(0);
        slice.time_ns.Add(zero_end_ns_);
      }
    }
    survey_.begin_ns = time_ns_.least;
    survey_.end_ns = time_ns_.most;
  }

 private:
  static bool IsMarkKind(EventKind kind) {
    // Profilers of old recorded marks as ops.
    return kind == EventKind::kUserAnnotation || kind == EventKind::kCpuOp;
  }

  void AddTime(std::int64_t ts_ns, std::int64_t end_ns, SliceContents* contents) {
    any_ = true;
    if (ts_ns == 0) {
      at_zero_ = contents->at_zero = true;
      zero_end_ns_ = std::max(zero_end_ns_, end_ns);
      return;
    }
    for (const std::int64_t ns : {ts_ns, end_ns}) {
      contents->time_ns.Add(ns);
      time_ns_.Add(ns);
    }
  }

  static void AddLink(const Event& event, const DecodedSlice& slice, SliceContents* contents) {
    const bool launch = IsLaunchCall(event.kind);
    if (event.args == kNoArgs || (!launch && !IsGpuWork(event.kind))) return;
    const std::int64_t id = slice.args[event.args].correlation;
    if (id != kAbsent) (launch ? contents->launches : contents->works).Add(id);
  }

  void AddStep(const Event& event, std::string_view name) {
    const auto number = StepNumberOf(name);
    if (!number) return;
    const auto known = survey_.steps.find(*number);
    if (known != survey_.steps.end()) {
      known->second.begin_ns = std::min(known->second.begin_ns, event.ts_ns);
      known->second.end_ns = std::max(known->second.end_ns, event.end_ns());
    } else if (survey_.steps.size() < limits::kMarkedStepsMax) {
      survey_.steps[*number] = {event.ts_ns, event.end_ns()};
    }
  }

  Survey& survey_;
  HeadBuilder head_;
  Range time_ns_;  // without events at time 0
  std::int64_t zero_end_ns_ = 0;
  bool at_zero_ = false;
  bool any_ = false;
};

}  // namespace

std::size_t Survey::MemoryBytes() const {
  constexpr std::size_t kStepBytes = 64;  // a node of the map
  return points.MemoryBytes() + slices.capacity() * sizeof(SliceContents) + head.names.bytes() +
         head.raws.bytes() + head.track_keys.bytes() + steps.size() * kStepBytes;
}

Result<Survey> SurveyTrace(io::ByteSource& bytes, const ReadOptions& options, Job& job) {
  Survey survey;
  SurveySink sink(&survey);
  SliceReader reader(bytes, options.bytes_max, job);
  reader.NoteIn(&survey.points);
  JV_TRY(RunPipeline(options.threads, &reader, &sink, &job, &bytes));
  JV_ASSIGN(survey.facts, FactsAtEnd(bytes, reader, &survey.head.oddities));
  JV_TRY(CheckHasEvents(sink.any(), reader, survey.head.oddities));
  sink.Finish();
  survey.content_hash = bytes.content_hash();
  return survey;
}

}  // namespace jarvis::trace
