// What a job is, and what its ranks compute, by the trace of one of them: a digest says neither.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/rank_set.h"
#include "base/job.h"
#include "json/json.h"
#include "session/workspace.h"
#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

struct RankWorkload {
  std::int64_t rank = 0;  // whose trace
  std::string line;       // what it is of; empty: not known
  std::string framework;  // of the line; may be empty
  std::string parallelism;
  bool training = false;
  double computation_ms = 0;
  double products_ms = 0;          // of the base: GEMMs, whatever launches them
  std::vector<std::string> marks;  // names of annotations, each once: what is on already
  double unlinked_ms = 0;          // launched before the recording: of no category
  struct Category {
    std::string name;
    double ms = 0;
    std::optional<double> efficiency;  // percent of the roof
    std::string ops;                   // those with most of its time
  };
  std::vector<Category> categories;  // the longest first
  struct Lever {
    std::string title;
    PathTexts paths;
    double at_most_ms = 0;   // of every rank
    double expected_ms = 0;  // the middle
    PathBounds bounds;       // of each way
    bool of_host = false;    // idle time by what the host does
  };
  // Its largest findings but communication, which the job's ranks tell more of; the most first.
  std::vector<Lever> levers;
};

// Of the rank with most computation, which is loaded as any trace and dropped when memory is short.
// Absent: no rank has a trace of its own, or it cannot be loaded, which `why_not` tells then.
// Errors: kCancelled.
Result<std::optional<RankWorkload>> LookAtOneRank(session::Workspace& workspace,
                                                  const Json& arguments,
                                                  const analysis::RankSet& set, Job& job,
                                                  std::string* why_not);

}  // namespace jarvis::tools
