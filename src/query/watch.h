// When a question has to end: SQLite asks between its steps, our functions within theirs.
#pragma once

#include <chrono>

#include "base/job.h"

namespace jarvis::query {

struct Watch {
  const Job* job;
  std::chrono::steady_clock::time_point end;

  bool Over() const { return job->stopped() || std::chrono::steady_clock::now() >= end; }
};

}  // namespace jarvis::query
