// The relations of one trace.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "findings/one/analysis.h"
#include "query/relation.h"
#include "session/loaded_trace.h"

namespace jarvis::query {

// Each relation is made when a question first needs it.
//
// Threads: one at a time.
class Catalogue {
 public:
  using AnalysisMaker = std::function<Result<std::shared_ptr<const findings::Analysis>>(Job& job)>;
  // `analysis` is asked for findings alone. Trace and job must live as long as the catalogue.
  Catalogue(const session::LoadedTrace& trace, AnalysisMaker analysis, Job& job);
  ~Catalogue();

  // Of the relation at that place of Schema(). Errors: kCancelled, what the analysis may answer.
  Result<const Relation*> At(std::size_t place);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
  std::vector<std::unique_ptr<const Relation>> made_;
};

}  // namespace jarvis::query
