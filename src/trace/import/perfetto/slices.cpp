#include "trace/import/perfetto/slices.h"

#include <algorithm>

namespace jarvis::trace::perfetto {
namespace {

class Nester {
 public:
  explicit Nester(const Packets& packets) : packets_(packets) {}

  Slices Run() {
    std::vector<std::vector<std::uint32_t>> by_track(packets_.tracks_of_points.size());
    place_.resize(packets_.points.size());
    std::uint32_t begins = 0;
    for (std::uint32_t i = 0; i < packets_.points.size(); ++i) {
      const TrackPoint& point = packets_.points[i];
      last_ns_ = std::max(last_ns_, point.when_ns);
      if (point.type == EventType::kInstant) ++out_.instants;
      if (point.type == EventType::kCounter) ++out_.counters;
      if (point.type != EventType::kBegin && point.type != EventType::kEnd) continue;
      if (point.type == EventType::kBegin) place_[i] = begins++;
      by_track[point.track].push_back(i);
    }
    out_.slices.reserve_whole(begins);
    out_.slices.resize(begins, Slice());
    for (std::vector<std::uint32_t>& points : by_track)
      NestTrack(&points);
    return std::move(out_);
  }

 private:
  const Said* SaidOf(const TrackPoint& point) const {
    return point.said == kNoArgs ? nullptr : &packets_.said[point.said];
  }

  Annotations AllOf(const Said& said) const {
    Annotations all = packets_.kinds[said.kind];
    all.Add({.begin_ns = said.begin_ns, .end_ns = said.end_ns, .correlation = said.correlation});
    return all;
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
        Close(open.back(), packets_.points[i].when_ns, SaidOf(packets_.points[i]));
        open.pop_back();
      }
    }
    for (const std::uint32_t begin : open)
      Close(begin, last_ns_, nullptr);
    out_.open += open.size();
  }

  void Close(std::uint32_t begin, std::int64_t end_ns, const Said* at_end) {
    const TrackPoint& point = packets_.points[begin];
    Slice& slice = out_.slices[place_[begin]];
    slice.begin_ns = point.when_ns;
    slice.end_ns = std::max(end_ns, point.when_ns);
    slice.track = point.track;
    slice.name = point.name;
    slice.category = point.category;
    const Said* own = SaidOf(point);
    if (own == nullptr && at_end == nullptr) return;
    Said said = own == nullptr ? Said() : *own;
    if (at_end != nullptr) {
      Annotations all = own == nullptr ? Annotations() : AllOf(*own);
      all.Add(AllOf(*at_end));
      said.kind = static_cast<std::uint32_t>(packets_.kinds.size() + out_.joined.size());
      out_.joined.push_back(all);
      said = {said.kind, all.begin_ns, all.end_ns, all.correlation};
    } else {
      const Annotations& shared = packets_.kinds[said.kind];
      const auto take = [](std::int64_t from, std::int64_t* to) {
        if (*to == kAbsent) *to = from;
      };
      take(shared.begin_ns, &said.begin_ns);
      take(shared.end_ns, &said.end_ns);
      take(shared.correlation, &said.correlation);
    }
    slice.kind = said.kind;
    slice.correlation = said.correlation;
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

const Annotations& Slices::KindOf(const Slice& slice, const Packets& packets) const {
  static const Annotations kNothing;
  if (slice.kind == kNoArgs) return kNothing;
  const std::size_t known = packets.kinds.size();
  return slice.kind < known ? packets.kinds[slice.kind] : joined[slice.kind - known];
}

Slices NestSlices(const Packets& packets) {
  return Nester(packets).Run();
}

}  // namespace jarvis::trace::perfetto
