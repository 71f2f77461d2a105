// What stands beside computing: communication, copies, and how much of either computing hides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/copy_direction.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

using analysis::CopyDirection;
using analysis::DirectionOf;
// By its name, too, unless the call that asked for it says otherwise: ROCm names copies from and to
// memory that it has mapped as copies on the device.
CopyDirection DirectionOf(const session::LoadedTrace& trace, trace::EventIndex copy);
// All of it is copies between host and device, or between devices; nothing is none.
bool LeavesDevice(const session::LoadedTrace& trace, std::span<const trace::EventIndex> work);
std::string_view DirectionText(CopyDirection direction);  // "D2H", "H2D", "D2D", "P2P", "other"

struct CopyGroup {
  CopyDirection direction = CopyDirection::kOther;
  std::uint64_t count = 0;
  double total_us = 0;
  double exposed_us = 0;  // nothing else ran
  double max_us = 0;
  std::optional<double> bytes;     // of those that recorded them; absent: none did
  std::optional<double> tb_per_s;  // over the copies with bytes
  std::optional<double> percent_of_total;
  std::uint64_t pageable = 0;  // by the event's name: the host side is not pinned
  double pageable_us = 0;      // of these
  double made_us = 0;          // of uploads of what an op made on the host right before
  double aside_us = 0;         // on streams that compute nothing
  // Most of the time is on streams of their own already.
  bool mostly_aside() const { return 2 * aside_us > total_us; }
  // Most of the time is theirs: pinned memory is a way out.
  bool mostly_pageable() const { return 2 * pageable_us > total_us; }
  bool flagged = false;  // limits::kCopyShare, limits::kCopyCount (D2H and H2D)
  // At most three that take over 90 % of the time, the longest first; empty: more do.
  struct Large {
    double us = 0;
    double bytes = 0;   // 0: not recorded
    bool once = false;  // no other copy of the group has as many bytes
  };
  std::vector<Large> large;
  // What takes the time is copied once: a pinned buffer for it takes about as long to allocate.
  bool happens_once() const {
    return !large.empty() && std::ranges::all_of(large, [](const Large& one) { return one.once; });
  }
};

// Where copies come from: an op at a place in the code.
struct CopySite {
  CopyDirection direction = CopyDirection::kOther;
  std::string op;      // "aten::copy_"; empty: not linked
  std::string row_id;  // of the op in ops_summary; empty: none
  std::string module_path;
  std::vector<std::string> code;  // innermost first
  std::uint64_t count = 0;
  double total_us = 0;
  std::optional<double> bytes;
  bool blocking = false;  // the host waited: a synchronous copy call, .item(), nonzero
  std::uint32_t uid = 0;  // an example
};

// One kind of collective: name, type and size together.
struct CollectiveRow {
  std::string name;  // "allreduce"; from the kernel's name where it was not recorded
  std::string dtype;
  std::optional<double> bytes;  // a call, of the larger side
  std::optional<std::int64_t> group_size;
  std::uint64_t count = 0;
  double total_us = 0;
  double exposed_us = 0;                     // not covered by computation
  std::optional<double> algorithm_gb_per_s;  // bytes / time
  std::optional<double> bus_gb_per_s;        // with the collective's traffic factor
  std::vector<std::string> beneath;  // computation that ran at the same time: the longest names
  std::string op;                    // its op; empty: not linked
  trace::EventIndex example = trace::kNoEvent;
  std::uint32_t uid = 0;
};

// Without work that is in no figure per step (TimeFrames::left_out).
struct MultiKernelAnalysis {
  bool has_gpu_work = false;
  double window_us = 0;  // where steps are left out the time of the others
  double computation_us = 0, comm_us = 0, exposed_comm_us = 0, copy_us = 0, exposed_copy_us = 0;
  std::optional<double> comm_overlap_ratio;  // 1 - exposed/total; absent: none
  std::optional<double> copy_overlap_ratio;
  bool comm_flagged = false;         // exposed above limits::kExposedComm
  bool overlap_flagged = false;      // ratio below limits::kOverlapRatio, with enough communication
  bool nccl = false;                 // collectives of NCCL or RCCL, not only an engine's own
  bool one_rank = true;              // always said: stragglers cannot be told from one rank
  bool ranks_in_file = false;        // its file holds other ranks, too
  std::vector<CopyGroup> copies;     // by direction
  std::vector<CopySite> copy_sites;  // most time first, at most 20
  std::vector<CollectiveRow> collectives;  // most time first, at most 50
  std::uint64_t comm_count = 0;
  std::uint64_t copy_count = 0;
  std::vector<std::string> patterns;  // "high_d2h_memcpy", "nccl_blocking_compute", ...
};
MultiKernelAnalysis AnalyzeMultiKernel(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
