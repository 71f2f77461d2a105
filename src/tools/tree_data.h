// category_data/<cat>_tree_data.json: where the operations of a category are called from, and what
// lies below and beside them.
#pragma once

#include "analysis/callers.h"
#include "engine/loaded_trace.h"
#include "tools/answer.h"
#include "workflow/category_analysis.h"

namespace jarvis::tools {

class TreeData {
 public:
  // `rows_max`: operations of a category, the longest first; those with a large share or with a
  // pattern come whatever their rank, up to ten times as many.
  TreeData(const engine::LoadedTrace& trace, std::size_t rows_max);

  // One member an operation, by the uid of its example call.
  Json Of(const workflow::CategoryAnalysis& category);
  std::size_t rows() const { return rows_; }  // of the last call

 private:
  Json Node(const workflow::Operation& operation);
  Json ParentChain(trace::EventIndex example) const;
  Json Callers(const workflow::Operation& operation);
  Json Subtree(trace::EventIndex root) const;
  Json Siblings(trace::EventIndex example, bool before) const;

  const engine::LoadedTrace& trace_;
  const std::size_t rows_max_;
  const analysis::SummaryInput input_;
  analysis::ChainTree chains_;
  std::vector<std::uint32_t> launcher_of_;  // by GPU event
  std::size_t rows_ = 0;
};

}  // namespace jarvis::tools
