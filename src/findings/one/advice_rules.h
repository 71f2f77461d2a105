// Which ways out a finding has, by its category, bound, patterns and library, and by what runs it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"
#include "findings/one/needs.h"
#include "findings/one/work_context.h"
#include "perf/platform.h"

namespace jarvis::findings {

// Fills path_a and path_b. A path that no rule assessed stays empty; one in which nothing helps
// holds the reason (see NoWay). `platform` null: none known.
void AddAdvice(Kind kind, std::string_view category, const WorkContext& context,
               const perf::Platform* platform, Finding* finding);

// Launching takes too long; all ways are around the model. `waits`: many launches wait for the GPU,
// so that no graph holds all; `optimizer_told`: another finding is about the optimizer's launches.
std::vector<Remedy> WaysToLaunchFaster(const WorkContext& context, bool waits, bool optimizer_told);

// Both paths of a finding about work that is not one operation's.
struct Ways {
  std::vector<Remedy> a, b;
};
// Collectives that nothing hides.
struct ExposedCollectives {
  std::string_view longest;  // the name of the one that is exposed longest
  bool nccl = false;         // some are of NCCL or RCCL
  bool one_rank = false;     // the trace has one rank of several
  bool fp32 = false;         // the longest sends fp32
  bool mostly_hidden = false;
  bool issued = true;  // by an op that could go on without it: not in a replay, not a server's own
  bool waits = false;  // much of it is waiting for other ranks, by calls that are equal
  bool in_file = false;  // the file of the one rank has the others
  Message message = {};  // of the longest
};
Ways WaysForCommunication(const WorkContext& context, const ExposedCollectives& exposed);

// What the host does while the GPU has nothing to do.
struct HostSectionNames {
  std::vector<std::string> names;  // frames with their files, ops, runtime calls; the longest first
  bool loading = false;            // inside a data loader
  bool unrecorded = false;         // for most of the time no event is recorded
  bool after_copy_back = false;    // it follows a copy to the host
};
// What makes the next batch come earlier, by the loader that the trace has.
Advice LoaderAdvice(const WorkContext& context);
std::vector<Advice> AdviceForHostSection(const WorkContext& context,
                                         const HostSectionNames& section);
// Whether what is called so reads or decodes video or images.
bool IsDecoding(const std::string& name);
// Whether what is called so is a tokenizer that is written in Python.
bool TokenizesInPython(std::string_view frame);
// "`aten::div` and `aten::sub`", "NumPy's `argmax`": what a host section does that torch has on the
// GPU: the longest two, by name.
std::string HostOpsNamed(const std::vector<HostPlace>& places);
// What fits to the ops and calls in which the host waits for the GPU: what is read back before what
// is sent, if more time goes by it, each with the most idle time first; what little of it would go
// by is left out.
std::vector<Remedy> WaysForWaits(const std::vector<HostPlace>& places);
// The kind of waits that such a way ends; absent: it names none.
std::optional<WaitKind> WaitsEndedBy(Advice advice);
// Of a wait in this op, whose copies go to the host or to the device.
WaitKind KindOfWait(const std::string& op, bool to_host, bool to_device);

}  // namespace jarvis::findings
