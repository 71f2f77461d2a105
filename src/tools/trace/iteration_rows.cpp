#include "tools/trace/iteration_rows.h"

#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/iteration_text.h"

namespace jarvis::tools {

void AddIterationRows(const session::TraceFrames& frames, const std::string& filter,
                      std::uint64_t limit, Answer* answer) {
  const Table table = analysis::IterationsTable(frames.iterations);
  answer->columns = {"row"};
  answer->columns.insert(answer->columns.end(), table.columns.begin(), table.columns.end());
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (filter.empty() || ContainsNoCase(frames.iterations[i].name, filter)) shown.push_back(i);
  }
  for (std::size_t s = answer->offset; s < shown.size() && s < answer->offset + limit; ++s) {
    std::vector<Cell>& row = answer->rows.emplace_back();
    row.push_back(fmt::format("it{}", shown[s] + 1));
    const std::vector<Cell>& cells = table.rows[shown[s]];
    row.insert(row.end(), cells.begin(), cells.end());
  }
  answer->total = shown.size();
  if (table.rows.empty()) {
    answer->summary = "No iterations: no annotation of an inference server is in the trace.";
    return;
  }
  answer->summary = fmt::format("{} of {} iterations. {}", answer->rows.size(), shown.size(),
                                documents::IterationSentence(frames.iterations));
  answer->notes.push_back(
      "GPU work is what was launched from an iteration's begin to the next one's; period_ms is "
      "from "
      "begin to begin, between_ms what of it the annotation does not cover; of the last nobody "
      "knows them");
}

}  // namespace jarvis::tools
