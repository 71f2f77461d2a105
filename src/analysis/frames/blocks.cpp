#include "analysis/frames/blocks.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/attribution/module_paths.h"

namespace jarvis::analysis {
namespace {

constexpr std::size_t kBlocksLeast = 4, kBlocksMost = 200;
constexpr double kBlocksHold = 0.3;  // of the modules' time

}  // namespace

std::vector<TimeSpan> FindBlocks(const FrameFacts& facts) {
  std::map<std::string_view, std::vector<TimeSpan>> classes;
  TimeSpan all{};
  bool any = false;
  for (const EventIndex e : facts.on_thread) {
    if (facts.events[e].kind != trace::EventKind::kPythonFunction) continue;
    const TimeSpan span{facts.events[e].ts_ns, facts.events[e].end_ns()};
    all = any ? TimeSpan{std::min(all.start, span.start), std::max(all.end, span.end)} : span;
    any = true;
    const std::string_view name = ModuleClass(facts.events.name(e));
    if (name.empty()) continue;
    std::vector<TimeSpan>& calls = classes[name];
    if (calls.empty() || span.start >= calls.back().end) calls.push_back(span);
  }
  const std::vector<TimeSpan>* best = nullptr;
  std::int64_t of_best = 0;
  for (const auto& [name, calls] : classes) {
    if (calls.size() < kBlocksLeast || calls.size() > kBlocksMost) continue;
    std::int64_t sum = 0;
    for (const TimeSpan& call : calls)
      sum += call.end - call.start;
    if (static_cast<double>(sum) < kBlocksHold * static_cast<double>(all.end - all.start)) continue;
    // Of those that come as often the outermost.
    if (best != nullptr &&
        (calls.size() > best->size() || (calls.size() == best->size() && sum <= of_best))) {
      continue;
    }
    best = &calls;
    of_best = sum;
  }
  if (best == nullptr) return {};
  // Until the next one begins, if that is soon.
  std::vector<TimeSpan> blocks = *best;
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    const std::int64_t gap = blocks[i + 1].start - blocks[i].end;
    const std::int64_t length = blocks[i].end - blocks[i].start;
    if (gap < length / 5 + 200'000) blocks[i].end = blocks[i + 1].start;
  }
  return blocks;
}

}  // namespace jarvis::analysis
