// category_data/<cat>_tree_data.json: where the operations of a category are called from, and what
// lies below and beside them.
#pragma once

#include "analysis/tables/callers.h"
#include "findings/one/category_analysis.h"
#include "json/json.h"
#include "session/loaded_trace.h"

namespace jarvis::formats {

class TreeData {
 public:
  // `rows_max`: operations of a category, the longest first; those with a large share or with a
  // pattern come whatever their rank, up to ten times as many.
  TreeData(const session::LoadedTrace& trace, std::size_t rows_max);

  // One member per operation, by the uid of its example call.
  Json Of(const findings::CategoryAnalysis& category);
  std::size_t rows() const { return rows_; }  // of the last call

 private:
  Json Node(const findings::Operation& operation);
  Json ParentChain(trace::EventIndex example) const;
  Json Callers(const findings::Operation& operation);
  Json Subtree(trace::EventIndex root) const;
  Json Siblings(trace::EventIndex example, bool before) const;

  const session::LoadedTrace& trace_;
  const std::size_t rows_max_;
  const analysis::SummaryInput input_;
  analysis::ChainTree chains_;
  std::vector<std::uint32_t> launcher_of_;  // by GPU event
  std::size_t rows_ = 0;
};

}  // namespace jarvis::formats
