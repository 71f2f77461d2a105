#include "findings/two/memory_runs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/attribution/work_calls.h"
#include "analysis/tables/ops_tables.h"
#include "base/text.h"
#include "findings/one/shapes.h"
#include "findings/two/own_work.h"

namespace jarvis::findings {
namespace {

// Kernels this short neither join a run nor end it: counters, flags, offsets.
constexpr double kTinyUs = 5;
// What one kernel that reads and writes rows once reaches of the bandwidth.
constexpr double kOnePassShare = 0.7;
// A run is worth a word from this share of the unit on, and if so much of it would go.
constexpr double kRunShare = 0.02;
constexpr double kGain = 0.4;

struct Member {
  std::int64_t start_ns = 0;
  const analysis::Launcher* launcher = nullptr;
  std::vector<trace::EventIndex> kernels;
  std::string op;
  double us = 0;
  double elements = 0;
  double bytes = 0;    // 0: not known
  bool joins = false;  // memory-bound, its elements known
};

// Sorting and searching need all rows before they give one back.
bool NeedsAllRows(std::string_view op) {
  static constexpr std::string_view kParts[] = {"sort", "topk", "nonzero", "unique", "cumsum"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return ContainsNoCase(op, part); });
}

class RunFinder {
 public:
  RunFinder(const AnalysedSide& primary, const Balance& balance)
      : trace_(primary.side.trace),
        platform_(*primary.side.platform),
        units_(balance.units[0]),
        least_ms_(kRunShare * balance.ms[0]),
        kinds_(*primary.analysis.frames->kinds),
        own_(trace_, primary.analysis.frames->frames) {}

  MemoryRuns Run() {
    for (auto& [stream, members] : Streams())
      Walk(members);
    MemoryRuns out;
    for (auto& [ops, run] : runs_) {
      const bool worth = run.of.ms >= least_ms_ && run.of.left_ms <= (1 - kGain) * run.of.ms;
      if (!worth) continue;
      out.ms += run.of.ms;
      out.left_ms += run.of.left_ms;
      out.gpu.insert(out.gpu.end(), run.gpu.begin(), run.gpu.end());
      out.runs.push_back(std::move(run.of));
    }
    std::sort(out.gpu.begin(), out.gpu.end());
    std::stable_sort(out.runs.begin(), out.runs.end(),
                     [](const MemoryRun& a, const MemoryRun& b) { return a.ms > b.ms; });
    return out;
  }

 private:
  struct Known {
    MemoryRun of;
    std::vector<trace::EventIndex> gpu;
  };

  std::map<std::uint32_t, std::vector<Member>> Streams() const {
    std::map<std::uint32_t, std::vector<Member>> streams;
    const auto& launchers = trace_.attribution().launchers;
    for (std::size_t i = 0; i < launchers.size(); ++i) {
      const auto kernels = trace_.attribution().KernelsOf(launchers[i]);
      if (kernels.empty() || !own_.Has(launchers[i])) continue;
      streams[trace_.events()[kernels.front()].track].push_back(MemberOf(i));
    }
    for (auto& [stream, members] : streams) {
      std::stable_sort(members.begin(), members.end(),
                       [](const Member& a, const Member& b) { return a.start_ns < b.start_ns; });
    }
    return streams;
  }

  Member MemberOf(std::size_t at) const {
    const analysis::Launcher& launcher = trace_.attribution().launchers[at];
    const trace::EventStore& events = trace_.events();
    Member made;
    made.launcher = &launcher;
    for (const auto kernel : trace_.attribution().KernelsOf(launcher))
      made.kernels.push_back(kernel);
    made.start_ns = events[made.kernels.front()].ts_ns;
    made.us = launcher.direct_us;
    if (launcher.op == trace::kNoEvent) return made;
    made.op = analysis::LauncherName(events, trace_.attribution(), launcher);
    const ledger::WorkKind work = kinds_.OfMost(made.kernels);
    const bool bytes = ledger::IsPass(work) || work == ledger::WorkKind::kGather;
    const trace::Args& args = events.args_of(launcher.op);
    if (!bytes || args.dims == kNoString || NeedsAllRows(made.op)) return made;
    for (const Shape& shape : ParseShapes(events.strings[args.dims])) {
      if (!shape.empty()) made.elements = std::max(made.elements, Elements(shape));
    }
    made.joins = made.elements > 1;
    const analysis::LauncherWork& known = trace_.Works()[at];
    if (known.work != nullptr && known.call_us > 0)
      made.bytes = analysis::MetricsOf(known.work, known.call_us, {&platform_}).bytes.value_or(0);
    return made;
  }

  void Walk(const std::vector<Member>& members) {
    std::vector<const Member*> run;
    for (const Member& one : members) {
      const bool goes_on = one.joins && (run.empty() || run.back()->elements == one.elements);
      if (!goes_on && one.us < kTinyUs) continue;
      if (!goes_on) {
        Close(run);
        run.clear();
      }
      if (one.joins) run.push_back(&one);
    }
    Close(run);
  }

  void Close(const std::vector<const Member*>& members) {
    double bytes = 0;
    for (const Member* one : members)
      bytes = std::max(bytes, one->bytes);
    if (members.size() < 2 || !(bytes > 0)) return;
    std::vector<std::string> ops;
    for (const Member* one : members)
      ops.push_back(one->op);
    Known& run = runs_[ops];
    run.of.ops = ops;
    for (const Member* one : members) {
      run.of.ms += one->us / 1000 / units_;
      run.gpu.insert(run.gpu.end(), one->kernels.begin(), one->kernels.end());
    }
    const double gb_per_s = kOnePassShare * *platform_.mem_bw_gbps;
    run.of.left_ms += bytes / gb_per_s / 1e6 / units_;
  }

  const session::LoadedTrace& trace_;
  const perf::Platform& platform_;
  const double units_;
  const double least_ms_;
  const ledger::KindsOfWork& kinds_;
  const OwnWork own_;
  std::map<std::vector<std::string>, Known> runs_;
};

}  // namespace

MemoryRuns FindMemoryRuns(const AnalysedSide& primary, const Balance& balance) {
  const std::optional<perf::Platform>& platform = primary.side.platform;
  if (!platform || !(platform->mem_bw_gbps.value_or(0) > 0)) return {};
  return RunFinder(primary, balance).Run();
}

}  // namespace jarvis::findings
