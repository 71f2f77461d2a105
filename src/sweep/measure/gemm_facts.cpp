#include "sweep/measure/gemm_facts.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/attribution/arg_text.h"
#include "analysis/attribution/attribution.h"
#include "analysis/attribution/work_calls.h"
#include "analysis/join/report_compare.h"
#include "compat/sweep_scripts.h"
#include "perf/gemm_decode.h"
#include "trace/json_text.h"

namespace jarvis::sweep {
namespace {

using analysis::EventIndex;
using analysis::WorkCall;
using trace::EventKind;

constexpr std::int64_t kChannelsMax = 128;  // of NCCL and RCCL
constexpr std::int64_t kBlockMax = 1024;    // threads

std::array<std::int64_t, 3> Dim3(std::string_view members, std::string_view key) {
  std::array<std::int64_t, 3> dims = {1, 1, 1};
  const auto elements = trace::ElementsOf(trace::MemberOf(members, key));
  for (std::size_t i = 0; i < std::min<std::size_t>(3, elements.size()); ++i)
    dims[i] = std::max<std::int64_t>(0, trace::IntegerOf(elements[i]).value_or(0));
  if (elements.empty()) dims = {0, 0, 0};
  return dims;
}

std::int64_t Product(const std::array<std::int64_t, 3>& dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) {
    if (dim == 0) return 0;
    if (product > (std::int64_t{1} << 40) / dim) return 0;  // cannot be true
    product *= dim;
  }
  return product;
}

class Finder {
 public:
  Finder(const session::LoadedTrace& trace, bool reference_compat, RankFacts* facts)
      : trace_(trace), events_(trace.events()), compat_(reference_compat), facts_(*facts) {}

  Status Run(Job& job) {
    ReadTimeline();
    analysis::OpWorks works(events_, perf::BuiltinRows(), &job);
    const std::vector<WorkCall> calls =
        analysis::CollectWorkCalls({events_, trace_.tree(), trace_.attribution(), works});
    JV_TRY(job.Check());
    for (const WorkCall& call : calls) {
      if (IsGemm(call)) AddCall(call);
    }
    for (auto& [key, gemm] : gemms_)
      facts_.gemms.push_back(std::move(gemm));
    std::stable_sort(facts_.gemms.begin(), facts_.gemms.end(),
                     [](const auto& a, const auto& b) { return TotalUs(a) > TotalUs(b); });
    for (GemmKernel& gemm : facts_.gemms) {
      std::stable_sort(gemm.instances.begin(), gemm.instances.end(),
                       [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    }
    MatchRows(calls);
    return job.Check();
  }

 private:
  static double TotalUs(const GemmKernel& gemm) {
    double total = 0;
    for (const GemmInstance& one : gemm.instances)
      total += one.dur_us;
    return total;
  }

  // The sets of time while the GPU communicated and while it computed.
  void ReadTimeline() {
    std::vector<Interval<std::int64_t>> communicating;
    std::vector<Interval<std::int64_t>> computing;
    std::unordered_map<StringId, analysis::WorkClass> classes;
    for (const EventIndex e : trace_.attribution().timeline) {
      const trace::Event& event = events_[e];
      if (event.kind == EventKind::kMemcpy) continue;
      const auto [found, added] = classes.try_emplace(event.name);
      if (added) found->second = analysis::ClassOf(event.kind, events_.name(e));
      if (found->second == analysis::WorkClass::kComputation) {
        computing.push_back({event.ts_ns, event.end_ns()});
      } else if (found->second == analysis::WorkClass::kCommunication) {
        communicating.push_back({event.ts_ns, event.end_ns()});
        AddLaunch(e);
      }
    }
    facts_.computing = Union(std::move(computing));
    facts_.communicating = Union(std::move(communicating));
  }

  // Grids are in blocks, or in threads with some ROCm profilers; some exchange grid and block.
  void AddLaunch(EventIndex e) {
    const std::string_view members = events_.text(events_.args_of(e).other);
    auto grid = Dim3(members, "grid");
    auto block = Dim3(members, "block");
    if (Product(block) > kBlockMax) std::swap(grid, block);
    if (Product(block) <= 0 || Product(grid) <= 0) return;
    LaunchShape shape{grid[0], block[0]};
    if (shape.channels > kChannelsMax && shape.channels % shape.threads == 0)
      shape.channels /= shape.threads;
    facts_.launches[shape] += static_cast<double>(events_[e].dur_ns) / 1000;
  }

  bool IsGemm(const WorkCall& call) const {
    if (call.model != nullptr ? call.model->sheet == "GEMM" : call.category == "GEMM") return true;
    // Work of a replayed graph has no op: its kernels' names tell.
    return call.model == nullptr && !call.recorded_arguments && !call.kernels.empty() &&
           perf::IsGemmKernel(events_.name(call.kernels.front()));
  }

  double Overlap(const trace::Event& event) const {
    const auto& set = facts_.communicating;
    auto piece = std::partition_point(set.begin(), set.end(),
                                      [&](const auto& one) { return one.end <= event.ts_ns; });
    std::int64_t covered = 0;
    for (; piece != set.end() && piece->start < event.end_ns(); ++piece)
      covered += std::min(piece->end, event.end_ns()) - std::max(piece->start, event.ts_ns);
    return event.dur_ns > 0 ? static_cast<double>(covered) / static_cast<double>(event.dur_ns) : 0;
  }

  std::string OpName(const WorkCall& call) const {
    if (!call.recorded_arguments) return {};
    return call.name.empty() ? std::string(events_.name(call.op)) : call.name;
  }

  void AddCall(const WorkCall& call) {
    const std::string op = OpName(call);
    const StringId dims = call.recorded_arguments && call.op != analysis::kNoEvent
                              ? events_.args_of(call.op).dims
                              : kNoString;
    for (const EventIndex e : call.kernels) {
      const trace::Event& event = events_[e];
      if (event.kind != EventKind::kKernel) continue;
      const auto [found, added] =
          gemms_.try_emplace(std::tuple(op, std::string(events_.text(dims)), event.name));
      GemmKernel& gemm = found->second;
      if (added) {
        gemm.op = op;
        if (dims != kNoString) gemm.dims = analysis::ListLiteral(events_.text(dims));
        gemm.kernel = events_.name(e);
        AddShape(e, &gemm);
      }
      gemm.instances.push_back({event.ts_ns, events_.ts_us(e),
                                static_cast<double>(event.dur_ns) / 1000, Overlap(event)});
    }
  }

  // Tensile kernels are launched with a grid in threads, others in blocks.
  void AddShape(EventIndex e, GemmKernel* gemm) const {
    const std::string_view members = events_.text(events_.args_of(e).other);
    auto grid = Dim3(members, "grid");
    auto block = Dim3(members, "block");
    if (Product(block) > kBlockMax) std::swap(grid, block);
    const std::int64_t threads = Product(block);
    const std::int64_t all = Product(grid);
    if (threads <= 0 || all <= 0) return;
    gemm->group_size = threads;
    const bool in_threads = gemm->kernel.find("Cijk_") != std::string::npos && all % threads == 0;
    gemm->work_groups = in_threads ? all / threads : all;
  }

  // The rows of the table GEMM: their calls by the position of the first one in the file.
  void MatchRows(const std::vector<WorkCall>& calls) {
    const Table* table = facts_.Find("GEMM");
    if (table == nullptr) return;
    const std::size_t uid = analysis::ColumnOf(*table, "UID_first");
    if (compat_) {
      const std::size_t details =
          analysis::ColumnOf(*table, "kernel_details__summarize_kernel_stats");
      for (const auto& row : table->rows) {
        GemmRow gemm;
        const auto* text = details < row.size() ? std::get_if<std::string>(&row[details]) : nullptr;
        if (text != nullptr) gemm.kernel = compat::FirstKernelName(*text);
        if (!gemm.kernel.empty()) {
          if (const auto found = compat::ExtremesByNamePrefix(events_, gemm.kernel)) {
            gemm.extremes = {found->min_start_us, found->max_start_us, found->min_us,
                             found->max_us};
          }
        }
        facts_.gemm_rows.push_back(std::move(gemm));
      }
      return;
    }
    // Calls of one row have the same op and parameters.
    std::map<std::vector<std::string>, std::vector<const WorkCall*>> groups;
    std::map<std::int64_t, const std::vector<const WorkCall*>*> by_uid;
    for (const WorkCall& call : calls) {
      if (call.model == nullptr || call.model->sheet != "GEMM" || call.work == nullptr) continue;
      std::vector<std::string> key = {OpName(call)};
      for (const perf::Parameter& parameter : call.work->parameters)
        key.push_back(parameter.key + "=" + parameter.value.Str());
      groups[std::move(key)].push_back(&call);
    }
    for (const auto& [key, group] : groups)
      by_uid[group.front()->uid] = &group;
    for (const auto& row : table->rows) {
      GemmRow gemm;
      const auto* first = uid < row.size() ? std::get_if<std::int64_t>(&row[uid]) : nullptr;
      const auto found = first == nullptr ? by_uid.end() : by_uid.find(*first);
      if (found != by_uid.end()) gemm = RowOf(*found->second);
      facts_.gemm_rows.push_back(std::move(gemm));
    }
  }

  GemmRow RowOf(const std::vector<const WorkCall*>& calls) const {
    GemmRow row;
    std::map<StringId, std::int64_t> kernels;
    for (const WorkCall* call : calls) {
      if (call->kernels.empty()) continue;
      const double start = events_.ts_us(call->kernels.front());
      if (!row.extremes) row.extremes = {start, start, call->kernel_us, call->kernel_us};
      if (call->kernel_us < row.extremes->min_us) {
        row.extremes->min_us = call->kernel_us;
        row.extremes->min_start_us = start;
      }
      if (call->kernel_us > row.extremes->max_us) {
        row.extremes->max_us = call->kernel_us;
        row.extremes->max_start_us = start;
      }
      for (const EventIndex e : call->kernels)
        kernels[events_[e].name] += events_[e].dur_ns;
    }
    const auto most =
        std::max_element(kernels.begin(), kernels.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != kernels.end()) row.kernel = events_.strings[most->first];
    return row;
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const bool compat_;
  RankFacts& facts_;
  std::map<std::tuple<std::string, std::string, StringId>, GemmKernel> gemms_;
};

}  // namespace

Status FindGemms(const session::LoadedTrace& trace, bool reference_compat, Job& job,
                 RankFacts* facts) {
  return Finder(trace, reference_compat, facts).Run(job);
}

}  // namespace jarvis::sweep
