#include "findings/one/quality.h"

#include <set>

#include <fmt/format.h>

#include "analysis/ranks/rank_set.h"

namespace jarvis::findings {
namespace {

using trace::Oddity;

void AddDamage(const session::LoadedTrace& trace, std::vector<QualityItem>* items) {
  if (trace.trace().damage.empty()) return;
  items->push_back(
      {"partial", "The file is damaged: " + trace.trace().damage + ".", 0, {}, {}, "partial"});
}

void AddMergedRanks(const session::LoadedTrace& trace, std::vector<QualityItem>* items) {
  const std::vector<std::int64_t> of_tracks = analysis::MergedRanks(trace.track_names());
  const std::set<std::int64_t> ranks(of_tracks.begin(), of_tracks.end());
  std::vector<std::int64_t> list(ranks.begin(), ranks.end());
  std::erase(list, -1);
  if (list.size() < 2) return;
  items->push_back({"merged_ranks",
                    fmt::format("The file holds {} ranks ({}): totals are of all their GPUs "
                                "together; collectives tells them apart.",
                                list.size(), analysis::RankList(list)),
                    0,
                    {},
                    {},
                    "noted"});
}

void AddCoverage(const session::LoadedTrace& trace, std::vector<QualityItem>* items) {
  const analysis::Coverage& coverage = trace.coverage();
  const auto share = [&](const analysis::Coverage::Part& part) -> std::optional<double> {
    if (coverage.all.time_us <= 0) return std::nullopt;
    return part.time_us / coverage.all.time_us * 100;
  };
  if (coverage.unlinked.count > 0) {
    items->push_back(
        {"unlinked_gpu_work",
         fmt::format("{:.3f} ms of GPU work has no launch call in the trace; it counts in "
                     "every total and is named \"(unlinked)\".",
                     coverage.unlinked.time_us / 1000),
         coverage.unlinked.count,
         share(coverage.unlinked),
         {},
         "noted"});
  }
  const std::uint64_t without_op = coverage.linked.count - coverage.with_op.count;
  if (without_op > 0 && trace.attribution().cpu_ops) {
    const analysis::Coverage::Part part{without_op,
                                        coverage.linked.time_us - coverage.with_op.time_us};
    items->push_back(
        {"gpu_work_without_op",
         "GPU work launched outside of any op (graph replays, raw launches) stands under "
         "its launch call.",
         part.count,
         share(part),
         {},
         "noted"});
  }
  if (trace.tree().linked_by_external_id() > 0) {
    items->push_back(
        {"linked_by_external_id",
         "GPU work whose launch calls are not in the trace was linked to its op by External id.",
         trace.tree().linked_by_external_id(),
         {},
         {},
         "repaired"});
  }
}

void AddOddities(const session::LoadedTrace& trace, std::vector<QualityItem>* items) {
  const trace::Oddities& oddities = trace.events().oddities;
  for (const Oddity oddity : oddities.Seen()) {
    if (oddity == Oddity::kTruncated || oddity == Oddity::kDamagedContainer) continue;
    const trace::OddityInfo& info = trace::Info(oddity);
    items->push_back({std::string(info.name),
                      std::string(info.text),
                      oddities.count(oddity),
                      {},
                      oddities.first(oddity),
                      std::string(trace::RemedyName(info.remedy))});
  }
}

void AddMissing(const session::LoadedTrace& trace, std::vector<QualityItem>* items) {
  const session::Recorded& recorded = trace.recorded();
  const auto add = [&](const char* code, const char* text) {
    items->push_back({code, text, 0, {}, {}, "noted"});
  };
  if (!recorded.gpu_work) {
    add("no_gpu_work",
        "No GPU work in the trace: record with ProfilerActivity.CUDA to see the GPU.");
  }
  if (!recorded.cpu_ops) {
    add("no_cpu_ops",
        "No ops in the trace: record with ProfilerActivity.CPU to see which op ran a kernel.");
  } else if (!recorded.shapes) {
    add("no_shapes", "Ops have no shapes: record with record_shapes=True for efficiency.");
  }
  if (!recorded.python_frames && recorded.cpu_ops) {
    add("no_stacks",
        "No Python frames: record with with_stack=True to find the line that called an op.");
  } else if (!recorded.modules && recorded.cpu_ops) {
    add("no_modules", "No nn.Module frames: record with with_stack=True and with_modules=True.");
  }
}

}  // namespace

std::vector<QualityItem> AssessQuality(const session::LoadedTrace& trace) {
  std::vector<QualityItem> items;
  AddDamage(trace, &items);
  AddMergedRanks(trace, &items);
  AddCoverage(trace, &items);
  AddOddities(trace, &items);
  AddMissing(trace, &items);
  return items;
}

}  // namespace jarvis::findings
