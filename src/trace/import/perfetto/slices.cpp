#include "trace/import/perfetto/slices.h"

#include <algorithm>
#include <unordered_map>

namespace jarvis::trace::perfetto {
namespace {

class Nester {
 public:
  explicit Nester(const Packets& packets) : packets_(packets) {}

  Slices Run() {
    std::unordered_map<std::uint64_t, std::size_t> tracks;
    std::vector<std::vector<std::uint32_t>> by_track;
    place_.resize(packets_.points.size());
    std::uint32_t begins = 0;
    for (std::uint32_t i = 0; i < packets_.points.size(); ++i) {
      const TrackPoint& point = packets_.points[i];
      last_ns_ = std::max(last_ns_, point.when_ns);
      if (point.type == EventType::kInstant) ++out_.instants;
      if (point.type == EventType::kCounter) ++out_.counters;
      if (point.type != EventType::kBegin && point.type != EventType::kEnd) continue;
      if (point.type == EventType::kBegin) place_[i] = begins++;
      const auto [found, added] = tracks.try_emplace(point.track, by_track.size());
      if (added) by_track.emplace_back();
      by_track[found->second].push_back(i);
    }
    out_.slices.resize(begins);
    for (std::vector<std::uint32_t>& points : by_track)
      NestTrack(&points);
    return std::move(out_);
  }

 private:
  const Annotations* AnnotationsOf(const TrackPoint& point) const {
    return point.annotations == kNoArgs ? nullptr : &packets_.annotations[point.annotations];
  }

  void NestTrack(std::vector<std::uint32_t>* points) {
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      return packets_.points[a].when_ns < packets_.points[b].when_ns;
    };
    if (!std::is_sorted(points->begin(), points->end(), earlier))
      std::stable_sort(points->begin(), points->end(), earlier);
    std::vector<std::uint32_t> open;  // begins
    for (const std::uint32_t i : *points) {
      if (packets_.points[i].type == EventType::kBegin) {
        open.push_back(i);
      } else if (open.empty()) {
        ++out_.unmatched;
      } else {
        Close(open.back(), packets_.points[i].when_ns, AnnotationsOf(packets_.points[i]));
        open.pop_back();
      }
    }
    for (const std::uint32_t begin : open)
      Close(begin, last_ns_, nullptr);
    out_.open += open.size();
  }

  void Close(std::uint32_t begin, std::int64_t end_ns, const Annotations* at_end) {
    const TrackPoint& point = packets_.points[begin];
    Slice& slice = out_.slices[place_[begin]];
    slice.begin_ns = point.when_ns;
    slice.end_ns = std::max(end_ns, point.when_ns);
    slice.track = point.track;
    slice.name = point.name;
    slice.category = point.category;
    if (const Annotations* own = AnnotationsOf(point)) slice.annotations = *own;
    if (at_end != nullptr) slice.annotations.Add(*at_end);
    const Annotations& said = slice.annotations;
    if (said.begin_ns != kAbsent && said.end_ns != kAbsent && said.end_ns >= said.begin_ns) {
      slice.begin_ns = said.begin_ns;
      slice.end_ns = said.end_ns;
    }
  }

  const Packets& packets_;
  Slices out_;
  std::vector<std::uint32_t> place_;  // by point: of the slice that begins there
  std::int64_t last_ns_ = 0;
};

}  // namespace

Slices NestSlices(const Packets& packets) {
  return Nester(packets).Run();
}

}  // namespace jarvis::trace::perfetto
