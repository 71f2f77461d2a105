#include "findings/one/replay_structure.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/align/graph_capture.h"
#include "analysis/align/roles.h"
#include "analysis/frames/repetition.h"
#include "analysis/tables/summary.h"
#include "base/median.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using GpuOrder = std::vector<EventIndex>;

class StructureFinder {
 public:
  StructureFinder(const session::LoadedTrace& trace, const IntervalSet<std::int64_t>& unrecorded)
      : trace_(trace), events_(trace.events()), unrecorded_(unrecorded) {}

  std::optional<ReplayStructure> Run() {
    // Replays of one graph have the same kernels in the same order.
    std::map<std::vector<StringId>, std::vector<GpuOrder>> graphs;
    for (auto& replay : analysis::FindReplayedGraphs(events_, trace_.tree())) {
      std::vector<StringId> names;
      for (const EventIndex e : replay.gpu)
        names.push_back(events_[e].name);
      graphs[std::move(names)].push_back(std::move(replay.gpu));
    }
    const std::vector<GpuOrder>* most = nullptr;
    double most_us = 0;
    for (const auto& [names, replays] : graphs) {
      double us = 0;
      for (const GpuOrder& gpu : replays)
        us += Sum(gpu);
      if (us <= most_us) continue;
      most_us = us;
      most = &replays;
    }
    if (most == nullptr) return std::nullopt;
    Measure(*most);
    MeasureBefore(*most);
    FindLayers(*most);
    return std::move(out_);
  }

 private:
  double Us(EventIndex e) const { return trace::MicrosOf(events_[e].dur_ns); }
  double Sum(std::span<const EventIndex> gpu) const {
    double us = 0;
    for (const EventIndex e : gpu)
      us += Us(e);
    return us;
  }

  void Measure(const std::vector<GpuOrder>& replays) {
    out_.replays = replays.size();
    out_.kernels = replays.front().size();
    const auto each = static_cast<double>(replays.size());
    for (const GpuOrder& gpu : replays) {
      std::int64_t end = events_[gpu.front()].ts_ns;
      const std::int64_t begin = end;
      for (std::size_t i = 0; i < gpu.size(); ++i) {
        const double gap_ms = trace::MicrosOf(events_[gpu[i]].ts_ns - end) / 1000;
        if (gap_ms > 0) out_.idle_ms += gap_ms / each;
        if (gap_ms > out_.longest_gap_ms) {
          out_.longest_gap_ms = gap_ms;
          out_.gap_after = i;
        }
        end = std::max(end, events_[gpu[i]].end_ns());
      }
      out_.span_ms += trace::MicrosOf(end - begin) / 1000 / each;
      out_.busy_ms += Sum(gpu) / 1000 / each;
    }
  }

  void MeasureBefore(const std::vector<GpuOrder>& replays) {
    std::vector<Interval<std::int64_t>> busy = {unrecorded_.begin(), unrecorded_.end()};
    for (const EventIndex e : trace_.attribution().timeline)
      busy.push_back({events_[e].ts_ns, events_[e].end_ns()});
    busy = Union(std::move(busy));
    std::int64_t from = busy.front().start;
    for (const auto& piece : unrecorded_) {
      if (piece.end <= events_[replays.front().front()].ts_ns) from = std::max(from, piece.end);
    }
    for (const GpuOrder& gpu : replays) {
      const std::int64_t begin = events_[gpu.front()].ts_ns;
      if (begin > from) {
        const auto idle = Subtract(IntervalSet<std::int64_t>{{from, begin}}, busy);
        out_.idle_before_ms +=
            trace::MicrosOf(Length(idle)) / 1000 / static_cast<double>(replays.size());
      }
      from = events_[gpu.back()].end_ns();
    }
  }

  void FindLayers(const std::vector<GpuOrder>& replays) {
    const GpuOrder& first = replays.front();
    std::vector<analysis::SequenceItem> items;
    for (const EventIndex e : first)
      items.push_back({events_[e].name, events_[e].ts_ns});
    const auto found = analysis::FindRepetition(items, events_[first.back()].end_ns());
    if (!found || found->starts.size() < kLayersMin || found->end > first.size()) return;
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    for (std::size_t i = 0; i < found->starts.size(); ++i) {
      const bool last = i + 1 == found->starts.size();
      blocks.emplace_back(found->starts[i], last ? found->end : found->starts[i + 1]);
    }
    std::vector<double> us;
    double inside = 0;
    for (const GpuOrder& gpu : replays) {
      for (const auto& [begin, end] : blocks) {
        us.push_back(Sum(std::span(gpu).subspan(begin, end - begin)));
        inside += us.back();
      }
    }
    out_.layers = blocks.size();
    out_.layer_us = UpperMedian(std::move(us));
    out_.around_ms = out_.busy_ms - inside / 1000 / static_cast<double>(replays.size());
    UsualLayer(replays, blocks);
  }

  // Kernel by kernel over all blocks that are like most of them.
  void UsualLayer(const std::vector<GpuOrder>& replays,
                  const std::vector<std::pair<std::size_t, std::size_t>>& blocks) {
    const GpuOrder& first = replays.front();
    std::map<std::vector<StringId>, std::vector<std::size_t>> kinds;
    for (const auto& [begin, end] : blocks) {
      std::vector<StringId> names;
      for (std::size_t i = begin; i < end; ++i)
        names.push_back(events_[first[i]].name);
      kinds[std::move(names)].push_back(begin);
    }
    const auto usual = std::max_element(
        kinds.begin(), kinds.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    // What repeats somewhere in a graph is not what the graph is made of.
    double usual_us = 0;
    for (const std::size_t begin : usual->second)
      usual_us += Sum(std::span(first).subspan(begin, usual->first.size()));
    constexpr double kMostOfIt = 0.5;
    if (usual_us < kMostOfIt * Sum(first)) {
      out_.layers = 0;
      return;
    }
    out_.block_kernels = usual->first.size();
    const std::vector<std::string_view> roles = analysis::NamedRoles(events_).Of(first);
    std::map<std::pair<StringId, std::string_view>, std::size_t> row_of;
    std::vector<std::vector<double>> us;
    for (std::size_t i = 0; i < usual->first.size(); ++i) {
      const StringId name = usual->first[i];
      const std::string_view part = roles[usual->second.front() + i];
      const auto [row, added] = row_of.try_emplace({name, part}, us.size());
      if (added) {
        us.emplace_back();
        out_.layer.push_back({analysis::ShortKernelName(events_.strings[name]), std::string(part)});
      }
      ++out_.layer[row->second].of_block;
      for (const GpuOrder& gpu : replays) {
        for (const std::size_t begin : usual->second)
          us[row->second].push_back(Us(gpu[begin + i]));
      }
    }
    for (std::size_t row = 0; row < us.size(); ++row) {
      LayerKernel& kernel = out_.layer[row];
      for (const double one : us[row])
        kernel.max_us = std::max(kernel.max_us, one);
      kernel.median_us = UpperMedian(std::move(us[row]));
    }
    // A block that differs somewhere has most of these kernels, too.
    for (const auto& [begin, end] : blocks) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto row = row_of.find({events_[first[i]].name, roles[i]});
        if (row == row_of.end()) continue;
        for (const GpuOrder& gpu : replays)
          out_.layer[row->second].ms_of_replay +=
              Us(gpu[i]) / 1000 / static_cast<double>(replays.size());
      }
    }
  }

  static constexpr std::size_t kLayersMin = 4;
  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const IntervalSet<std::int64_t>& unrecorded_;
  ReplayStructure out_;
};

}  // namespace

std::optional<ReplayStructure> FindReplayStructure(const session::LoadedTrace& trace,
                                                   const IntervalSet<std::int64_t>& unrecorded) {
  return StructureFinder(trace, unrecorded).Run();
}

}  // namespace jarvis::findings
