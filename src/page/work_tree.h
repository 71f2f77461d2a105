// GPU time by module, op and kernel, and the ops as a viewer shows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "findings/one/analysis.h"
#include "page/script_text.h"
#include "page/thin_rows.h"
#include "session/loaded_trace.h"

namespace jarvis::page {

enum class NodeKind : std::uint8_t { kModule, kOp, kKernel, kCategory };

struct WorkNode {
  NodeKind kind = NodeKind::kModule;
  int depth = 0;
  std::int64_t name = 0;     // of ScriptNames
  std::uint32_t op = kNoOp;  // of WorkTree::ops
  double ms = 0;             // GPU time of what the user waits for, all units
  double roofed_ms = 0;      // of it, with a roof
  double roof_ms = 0;        // what that would take at the roof
};

struct WorkTree {
  std::vector<const findings::Operation*> ops;  // the most time first
  std::vector<std::uint32_t> op_of;             // by GPU event: of ops, or kNoOp
  std::vector<std::uint32_t> module_of;         // by GPU event: of ScriptNames, plus one; 0: none
  std::vector<WorkNode> nodes;                  // each before what is in it, the largest first
  double total_ms = 0;
};

// `analysis` must outlive the tree. Errors: kCancelled.
Result<WorkTree> MakeWorkTree(const session::LoadedTrace& trace, const findings::Analysis& analysis,
                              ScriptNames* names, const Job& job);

std::string WorkTreeJson(const WorkTree& tree, ScriptNames* names);
// Ops with their figures as the report tells them.
std::string OpsJson(const WorkTree& tree, const findings::Analysis& analysis);

}  // namespace jarvis::page
