// Which part of a file is meant, as a caller says it, and which rank of several a trace is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/window.h"

namespace jarvis::session {

struct PartRequest {
  trace::WindowRequest window;
  std::optional<std::int64_t> rank;  // of a file with several; absent: all

  bool whole() const { return window.whole() && !rank; }
  // What this one leaves open, as `other` has it.
  PartRequest Or(const PartRequest& other) const;
  // The same text for the same request; empty for all of the file.
  std::string Text() const;
};

// What the GPUs of a rank do.
struct RankWork {
  std::int64_t rank = 0;
  double busy_ms = 0;
  double own_ms = 0;  // of it, what is not communication alone
};

// A trace that is one rank of a file with several.
struct RankPart {
  std::int64_t rank = 0;
  std::vector<RankWork> ranks;  // of the file, over the same time; this one too
  bool assumed = false;         // ranks are counted in the order of the file
  bool devices = false;         // they are the devices of one process, by their numbers
  // Events of the file that are not in the trace: of other ranks, and of processes that launched no
  // GPU work.
  std::uint64_t host_left_out = 0;
  std::uint64_t gpu_left_out = 0;
  bool gpu_shared = false;  // another process has work on a GPU of the same number
  // All ranks of the file upload buffers of the same sizes in the same order, and none runs a
  // collective: what each of them holds is the same, as far as sizes tell.
  bool equal_uploads = false;
  std::uint64_t gpus_run = 0;  // that run the program, recorded or not; 0: unknown

  const RankWork& own() const;
  // "rank 0 of 2 in this file", "GPU 4 of the GPUs 4 and 6 in this file".
  std::string Text() const;
};

}  // namespace jarvis::session
