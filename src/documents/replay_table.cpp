#include "documents/replay_table.h"

#include <fmt/format.h>

#include "documents/markdown_text.h"

namespace jarvis::documents {
namespace {

std::string Micros(double us) {
  return fmt::format("{:.1f} µs", us);
}

std::string PartsOfReplay(const findings::ReplayStructure& replay) {
  MarkdownTable table({"Replayed GPU graph", "Value"});
  table.Row({"Replays", fmt::format("{}", replay.replays)});
  table.Row({"Kernels", fmt::format("{}", replay.kernels)});
  table.Row({"From first to last", Ms(replay.span_ms)});
  table.Row({"Kernels' time", Ms(replay.busy_ms)});
  constexpr double kGapShown = 0.01;  // of the replay
  if (replay.idle_before_ms > kGapShown * replay.span_ms)
    table.Row({"The GPU waits before it", Ms(replay.idle_before_ms)});
  if (replay.idle_ms > kGapShown * replay.span_ms)
    table.Row({"The GPU waits inside it", Ms(replay.idle_ms)});
  if (replay.longest_gap_ms > kGapShown * replay.span_ms &&
      replay.longest_gap_ms > replay.idle_ms / 2) {
    table.Row({"Longest wait inside it", fmt::format("{} after {} kernels; probably the rest was "
                                                     "not submitted yet",
                                                     Ms(replay.longest_gap_ms), replay.gap_after)});
  }
  if (replay.layers > 0) {
    table.Row(
        {"Blocks that repeat (a layer, or several unlike ones)", fmt::format("{}", replay.layers)});
    table.Row({"Kernels of a block", fmt::format("{}", replay.block_kernels)});
    table.Row({"A block", Ms(replay.layer_us / 1000)});
    table.Row({"Around the blocks (embedding, head...)", Ms(replay.around_ms)});
  }
  return table.text() + "\n";
}

}  // namespace

std::string ReplayTable(const findings::Analysis& analysis) {
  if (!analysis.replay) return "";
  const findings::ReplayStructure& replay = *analysis.replay;
  std::string text = PartsOfReplay(replay);
  if (replay.layer.empty()) return text;
  MarkdownTable table({"One block: kernel", "Part", "Calls", "Usual", "Longest", "All blocks"});
  for (const findings::LayerKernel& kernel : replay.layer) {
    table.Row({Code(kernel.name, 60), kernel.part, fmt::format("{}", kernel.of_block),
               Micros(kernel.median_us), Micros(kernel.max_us), Ms(kernel.ms_of_replay)});
  }
  return text + table.text() + "\n";
}

}  // namespace jarvis::documents
