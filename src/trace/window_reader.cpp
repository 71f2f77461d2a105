#include "trace/window_reader.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/repair.h"
#include "trace/store_builder.h"
#include "trace/window_rule.h"

namespace jarvis::trace {
namespace {

// The slices of the file that a pass asks for.
class WantedSlices {
 public:
  WantedSlices(const Survey& survey, const std::function<bool(const SliceContents&)>& wanted)
      : slices_(survey.slices) {
    wanted_.reserve(slices_.size());
    for (const SliceContents& slice : slices_)
      wanted_.push_back(wanted(slice));
  }

  // Whether one of the elements is in such a slice. They are cut like the survey's, mostly.
  bool Any(std::uint64_t first_uid, std::uint64_t end_uid) const {
    for (std::size_t i = FirstEndingAfter(first_uid); i < slices_.size(); ++i) {
      if (slices_[i].first_uid >= end_uid) return false;
      if (wanted_[i]) return true;
    }
    return false;
  }
  // One past the last element before `end_uid` that is in such a slice; 0: none.
  std::uint64_t EndBefore(std::uint64_t first_uid, std::uint64_t end_uid) const {
    std::uint64_t end = 0;
    for (std::size_t i = FirstEndingAfter(first_uid); i < slices_.size(); ++i) {
      if (slices_[i].first_uid >= end_uid) break;
      if (wanted_[i]) end = std::min(slices_[i].end_uid, end_uid);
    }
    return end;
  }

 private:
  std::size_t FirstEndingAfter(std::uint64_t uid) const {
    const auto at =
        std::partition_point(slices_.begin(), slices_.end(),
                             [&](const SliceContents& slice) { return slice.end_uid <= uid; });
    return static_cast<std::size_t>(at - slices_.begin());
  }

  const std::vector<SliceContents>& slices_;
  std::vector<bool> wanted_;
};

// Hands what a pass wants to a function.
class NotingSink : public SliceSink {
 public:
  using Note = std::function<void(const DecodedSlice&)>;
  NotingSink(const WantedSlices& wanted, Note note) : wanted_(wanted), note_(std::move(note)) {}
  bool Wants(const SliceText& text) const override {
    return wanted_.Any(text.first_uid, text.first_uid + text.elements);
  }
  bool Append(const SliceText&, const DecodedSlice& slice) override {
    note_(slice);
    return true;
  }

 private:
  const WantedSlices& wanted_;
  const Note note_;
};

// Keeps what belongs to the window.
class KeepingSink : public SliceSink {
 public:
  KeepingSink(const WantedSlices& wanted, const WindowRule& rule, StoreBuilder* builder)
      : wanted_(wanted), rule_(rule), builder_(*builder) {}
  bool Wants(const SliceText& text) const override {
    return wanted_.Any(text.first_uid, text.first_uid + text.elements);
  }
  void Select(DecodedSlice* slice) const override { rule_.Select(slice); }
  bool Append(const SliceText&, const DecodedSlice& slice) override {
    return builder_.Append(slice);
  }

 private:
  const WantedSlices& wanted_;
  const WindowRule& rule_;
  StoreBuilder& builder_;
};

class WindowReader {
 public:
  WindowReader(const io::InputFile& file, const Survey& survey, const TraceWindow& window,
               const ReadOptions& options, Job& job)
      : file_(file),
        survey_(survey),
        window_(window),
        options_(options),
        job_(job),
        links_(window),
        rule_(window_, links_) {}

  Result<Trace> Read() {
    JV_TRY(FindLinks());
    Trace trace;
    JV_TRY(Keep(&trace.events));
    if (trace.events.events.empty()) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("no event lies between {:.3f} and {:.3f} ms of the recording",
                              window_.from_ms(), window_.to_ms()));
    }
    TakeFacts(survey_.facts, &trace);
    trace.track_names = ReadTrackNames(trace.events);
    rule_.Cut(&trace.events);
    Repair(&trace.events);
    window_.events = trace.events.size();
    trace.window = window_;
    return trace;
  }

 private:
  bool InTime(const SliceContents& slice, const Range& range) const {
    return !slice.time_ns.empty() && slice.time_ns.least < range.most &&
           slice.time_ns.most >= range.least;
  }

  Status FindLinks() {
    Range inside;
    inside.Add(window_.begin_ns);
    inside.Add(window_.end_ns);
    const WantedSlices in_time(survey_,
                               [&](const SliceContents& slice) { return InTime(slice, inside); });
    NotingSink works(in_time, [&](const DecodedSlice& slice) { links_.NoteInside(slice); });
    JV_TRY(Pass(in_time, &works));
    links_.EndInside();
    const WantedSlices linked(
        survey_, [&](const SliceContents& slice) { return links_.AnyOf(slice.launches); });
    NotingSink launches(linked, [&](const DecodedSlice& slice) { links_.NoteLaunches(slice); });
    JV_TRY(Pass(linked, &launches));
    links_.EndLaunches();
    return {};
  }

  Status Keep(EventStore* store) {
    StoreBuilder builder(store);
    // Tracks count as they do in the whole recording, whatever part of it is read.
    builder.Append(survey_.head);
    const bool pairs = survey_.head.dialect.begin_end_pairs;
    const WantedSlices wanted(survey_, [&](const SliceContents& slice) {
      return pairs || InTime(slice, links_.hull()) || links_.AnyOf(slice.works);
    });
    KeepingSink sink(wanted, rule_, &builder);
    JV_TRY(Pass(wanted, &sink));
    builder.Finish();
    if (pairs) rule_.Select(store);
    return {};
  }

  // Reads the wanted slices, from the points before them.
  Status Pass(const WantedSlices& wanted, SliceSink* sink) {
    const std::vector<SlicePoint>& points = survey_.points.all();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::uint64_t next =
          i + 1 < points.size() ? points[i + 1].element : std::numeric_limits<std::uint64_t>::max();
      const std::uint64_t end = wanted.EndBefore(points[i].element, next);
      if (end == 0) continue;
      JV_ASSIGN(io::InputFile file, io::AnotherOf(file_));
      JV_ASSIGN(const auto bytes, points[i].bytes->Open(std::move(file)));
      SliceReader reader(*bytes, options_.bytes_max, job_, points[i], end);
      JV_TRY(RunPipeline(options_.threads, &reader, sink, &job_, bytes.get()));
      window_.text_read += reader.total() - points[i].text;
    }
    return {};
  }

  const io::InputFile& file_;
  const Survey& survey_;
  TraceWindow window_;
  const ReadOptions& options_;
  Job& job_;
  WindowLinks links_;
  WindowRule rule_;
};

}  // namespace

Result<Trace> ReadWindow(const io::InputFile& file, const Survey& survey, const TraceWindow& window,
                         const ReadOptions& options, Job& job) {
  return WindowReader(file, survey, window, options, job).Read();
}

}  // namespace jarvis::trace
