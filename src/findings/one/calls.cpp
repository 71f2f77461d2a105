#include "findings/one/calls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/attribution/arg_text.h"
#include "analysis/attribution/clock.h"
#include "analysis/attribution/group.h"
#include "analysis/host/recording_checks.h"
#include "analysis/host/runtime_calls.h"
#include "analysis/tables/callers.h"
#include "base/parallel.h"
#include "base/text.h"
#include "findings/one/exclusive.h"
#include "findings/one/library.h"
#include "findings/one/replayed_calls.h"
#include "findings/one/shapes.h"
#include "findings/one/step_base.h"
#include "findings/one/thresholds.h"
#include "session/category_names.h"
#include "session/trace_frames.h"

namespace jarvis::findings {
namespace {

using analysis::WorkCall;
using trace::EventIndex;
using trace::kNoEvent;

double Us(const trace::EventStore& events, EventIndex e) {
  return trace::MicrosOf(events[e].dur_ns);
}

std::optional<double> Share(double part, double whole) {
  if (!(whole > 0)) return std::nullopt;
  return part / whole * 100;
}

bool IsProductLibrary(std::string_view library) {
  return library == "Tensile" || library == "cuBLAS" || library == "cuBLASLt";
}

// A decorator or torch's own code, which nobody edits: what called it is the place.
// A compiler names its files by a hash of what is in them: "cov463...ct3.py(2533): call".
bool IsGeneratedPlace(std::string_view place) {
  constexpr std::size_t kHash = 40;
  const std::string_view path = place.substr(0, place.find(".py("));
  if (place.starts_with("<eval_with_key>")) return true;
  if (path.size() == place.size()) return false;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return path.find("torchinductor") != path.npos ||
         (file.size() >= kHash && std::all_of(file.begin(), file.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
          }));
}

bool IsDecoratorPlace(std::string_view place) {
  if (IsGeneratedPlace(place)) return true;
  return place.starts_with("torch/") || place.starts_with("functools") ||
         place.find("_contextlib.py") != place.npos || place.find("torch_guard.py") != place.npos ||
         place.find(": wrapper_custom") != place.npos || place.find(": decorate_") != place.npos ||
         place.ends_with(": wrapper") || place.find("shape_profiler") != place.npos ||
         place.starts_with("aiter/") || place.ends_with(": __torch_function__") ||
         place.find("vllm/compilation/") != place.npos || place.ends_with(": dispatch_wrapper");
}

// Of each piece of GPU work: whether what follows it on its device had been launched when it ended.
enum class Follower : std::uint8_t { kUnknown, kQueued, kLate };

class Collector {
 public:
  Collector(Calls* calls, std::vector<CategoryAnalysis>* categories)
      : in_(*calls), out_(*categories), events_(calls->trace.events()) {}

  void Run() {
    FindFollowers();
    MapRows();
    Group();
    Sort();
    AddExclusive();
    Describe();
    Total();
  }

 private:
  struct Built {
    std::string category;  // key
    std::string display_name;
    std::vector<std::uint32_t> calls;
    double gpu_us = 0;
  };

  struct Mean {
    double sum = 0;
    double count = 0;
    void Add(double value) {
      sum += value;
      ++count;
    }
    std::optional<double> Get() const {
      return count > 0 ? std::optional(sum / count) : std::nullopt;
    }
  };

  void FindFollowers() {
    const auto& work = in_.trace.attribution().timeline;
    std::vector<EventIndex> order(work.begin(), work.end());
    std::stable_sort(order.begin(), order.end(), [&](EventIndex a, EventIndex b) {
      return events_[a].ts_ns < events_[b].ts_ns;
    });
    follower_.assign(events_.size(), Follower::kUnknown);
    // By device: what started last there.
    std::map<std::string_view, EventIndex> last;
    for (const EventIndex e : order) {
      const auto [before, first] = last.try_emplace(events_.tracks[events_[e].track].pid, e);
      if (!first) {
        const EventIndex launch = in_.trace.tree().parent(e);
        if (launch != kNoEvent && !in_.trace.IsReplayed(e)) {
          const bool late = events_[launch].ts_ns >= events_[before->second].end_ns();
          follower_[before->second] = late ? Follower::kLate : Follower::kQueued;
        }
        before->second = e;
      }
    }
  }

  // Ids under which other tools know ops and kernels.
  void MapRows() {
    const auto& ops = in_.recorded.SummaryBy(analysis::GroupBy::kOp).rows;
    op_row_.assign(in_.recorded.attribution().launchers.size(), nullptr);
    for (const analysis::SummaryRow& row : ops) {
      for (const std::uint32_t launcher : row.launchers)
        op_row_[launcher] = &row;
    }
    launcher_of_.assign(events_.size(), kNone);
    const analysis::Attribution& attribution = in_.recorded.attribution();
    for (std::size_t i = 0; i < attribution.launchers.size(); ++i) {
      for (const EventIndex e : attribution.KernelsOf(attribution.launchers[i]))
        launcher_of_[e] = static_cast<std::uint32_t>(i);
    }
    for (const analysis::SummaryRow& row : in_.recorded.SummaryBy(analysis::GroupBy::kKernel).rows)
      kernel_row_.emplace(row.name, &row);
  }

  void Group() {
    StringPool names;
    analysis::Grouping<7> groups;
    for (std::size_t i = 0; i < in_.calls.size(); ++i) {
      const WorkCall& call = in_.calls[i];
      static const trace::Args kNoArguments;
      const trace::Args& args = call.recorded_arguments ? events_.args_of(call.op) : kNoArguments;
      groups.Add({names.Intern(in_.NameOf(call)), names.Intern(call.category), args.dims,
                  args.types, args.strides, args.concrete, call.backward ? 1U : 0U},
                 i);
    }
    for (const auto& group : groups.groups()) {
      Built built;
      const WorkCall& first = in_.calls[group.rows.front()];
      built.category = session::CategoryKey(first.category);
      built.display_name = first.category.empty() ? "other" : std::string(first.category);
      for (const std::size_t i : group.rows) {
        built.calls.push_back(static_cast<std::uint32_t>(i));
        built.gpu_us += in_.calls[i].kernel_us;
      }
      built_.push_back(std::move(built));
    }
  }

  void Sort() {
    std::map<std::string, std::vector<std::size_t>> by_key;
    for (std::size_t i = 0; i < built_.size(); ++i)
      by_key[built_[i].category].push_back(i);
    for (auto& [key, members] : by_key) {
      std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
        return built_[a].gpu_us > built_[b].gpu_us;
      });
      CategoryAnalysis category;
      category.key = key;
      category.display_name = built_[members.front()].display_name;
      category.kind = KindOf(key);
      for (const std::size_t i : members)
        category.gpu_us += built_[i].gpu_us;
      out_.push_back(std::move(category));
    }
    std::stable_sort(out_.begin(), out_.end(),
                     [](const auto& a, const auto& b) { return a.gpu_us > b.gpu_us; });
    in_.place_of.assign(in_.calls.size(), {});
    for (std::size_t c = 0; c < out_.size(); ++c) {
      for (const std::size_t i : by_key[out_[c].key]) {
        const auto o = static_cast<std::uint32_t>(out_[c].operations.size());
        out_[c].operations.emplace_back();
        for (const std::uint32_t call : built_[i].calls)
          in_.place_of[call] = {static_cast<std::uint32_t>(c), o};
        in_.of_operation.push_back(std::move(built_[i].calls));
      }
    }
  }

  void AddExclusive() {
    const auto& work = in_.trace.attribution().timeline;
    std::vector<std::uint32_t> first(out_.size() + 1, 0);
    for (std::size_t c = 0; c < out_.size(); ++c)
      first[c + 1] = first[c] + static_cast<std::uint32_t>(out_[c].operations.size());
    std::vector<std::uint32_t> by_operation(work.size(), kNoOwner);
    std::vector<std::uint32_t> by_category(work.size(), kNoOwner);
    for (std::size_t i = 0; i < work.size(); ++i) {
      const std::uint32_t call = in_.call_of[work[i]];
      if (call == kNone) continue;
      by_category[i] = in_.place_of[call].category;
      by_operation[i] = first[by_category[i]] + in_.place_of[call].operation;
    }
    const std::vector<double> alone = ExclusiveUs(events_, work, by_operation, first.back());
    const std::vector<double> category = ExclusiveUs(events_, work, by_category, out_.size());
    for (std::size_t c = 0; c < out_.size(); ++c) {
      out_[c].exclusive_us = category[c];
      for (std::size_t o = 0; o < out_[c].operations.size(); ++o)
        out_[c].operations[o].exclusive_us = alone[first[c] + o];
    }
  }

  void Describe() {
    std::size_t number = 0;
    for (CategoryAnalysis& category : out_) {
      for (std::size_t o = 0; o < category.operations.size(); ++o) {
        Operation& operation = category.operations[o];
        operation.id = fmt::format("{}.{}", category.key, o + 1);
        operation.category = category.key;
        const std::vector<std::uint32_t>& calls = in_.of_operation[number++];
        AddTimes(calls, &operation);
        AddArguments(in_.calls[calls.front()], &operation);
        AddEfficiency(calls, &operation);
        AddKernels(calls, &operation);
        AddCallers(calls, &operation);
        operation.percent_of_category = Share(operation.gpu_us, category.gpu_us);
        operation.percent_of_total = Share(operation.gpu_us, in_.window_us);
        const double computing_us =
            category.kind == Kind::kCommunication ? 0 : operation.gpu_us - CopiedUs(calls);
        operation.percent_of_computation = ShareOfSome(computing_us);
      }
    }
  }

  void AddTimes(const std::vector<std::uint32_t>& calls, Operation* out) {
    double sum = 0;
    double squares = 0;
    double known = 0;
    double late = 0;
    std::size_t kernels = 0;
    for (const std::uint32_t i : calls) {
      const WorkCall& call = in_.calls[i];
      const double us = call.kernel_us;
      out->min_us = out->count == 0 ? us : std::min(out->min_us, us);
      out->max_us = std::max(out->max_us, us);
      ++out->count;
      sum += us;
      // What the host did during a capture is no part of this run.
      if (call.host_us && !in_.trace.OfCapture(call.op)) out->host_us += *call.host_us;
      out->gpu.insert(out->gpu.end(), call.kernels.begin(), call.kernels.end());
      for (const EventIndex e : call.kernels) {
        kernels += events_[e].kind == trace::EventKind::kKernel ? 1U : 0U;
        if (follower_[e] == Follower::kUnknown) continue;
        known += Us(events_, e);
        if (follower_[e] == Follower::kLate) late += Us(events_, e);
      }
      AddSyncs(call, out);
    }
    out->gpu_us = sum;
    out->dispatch_us = std::min(sum, in_.kernel_floor_us * static_cast<double>(kernels));
    out->mean_us = sum / static_cast<double>(out->count);
    for (const std::uint32_t i : calls) {
      const double off = in_.calls[i].kernel_us - out->mean_us;
      squares += off * off;
    }
    if (out->count > 1 && out->mean_us > 0) {
      out->variation = std::sqrt(squares / static_cast<double>(out->count - 1)) / out->mean_us;
    }
    if (known > 0) out->starved_percent = late / known * 100;
  }

  // Synchronising calls below an op, the outermost of nested ones.
  void AddSyncs(const WorkCall& call, Operation* out) const {
    const tree::CallTree& tree = in_.trace.tree();
    if (!in_.IsHostCall(call) || in_.trace.OfCapture(call.op)) return;
    const auto below = tree.Subtree(call.op);
    for (std::size_t i = 0; i < below.size();) {
      const EventIndex e = below[i];
      if (!trace::IsLaunchCall(events_[e].kind) || !analysis::IsSyncCall(events_.name(e))) {
        ++i;
        continue;
      }
      ++out->sync_calls;
      out->sync_us += Us(events_, e);
      i += tree.subtree_end(e) - tree.position(e);
    }
  }

  void AddArguments(const WorkCall& call, Operation* out) const {
    out->name = in_.NameOf(call);
    out->uid = call.uid;
    out->example = call.op;
    out->has_model = call.has_model;
    if (call.work != nullptr) {
      if (call.work->failure == perf::OpWork::Failure::kNone) {
        out->parameters = perf::DictText(call.work->parameters);
      } else {
        out->model_failure = call.work->reason;
      }
    }
    if (!call.recorded_arguments) return;
    const trace::Args& args = events_.args_of(call.op);
    const auto tuple = [&](StringId id) {
      return id == kNoString ? std::string() : analysis::TupleText(events_.text(id));
    };
    out->dims = tuple(args.dims);
    out->types = tuple(args.types);
    out->strides = tuple(args.strides);
    out->concrete = tuple(args.concrete);
    out->args = ArgsText(events_.text(args.dims), events_.text(args.types));
  }

  void AddEfficiency(const std::vector<std::uint32_t>& calls, Operation* out) const {
    Efficiency& e = out->efficiency;
    // Means over calls, as the report's tables have them: one slow call does not hide the others.
    Mean tflops, tb, percent;
    double roof = 0;
    double by_bound[2] = {0, 0};
    for (const std::uint32_t i : calls) {
      const WorkCall& call = in_.calls[i];
      if (LeavesDevice(in_.trace, call.kernels)) continue;  // memory bandwidth is not its limit
      const CallRoof one = RoofOf(call, in_.platform);
      if (!e.flops && one.flops) e.flops = one.flops;
      if (!e.bytes && one.bytes) e.bytes = one.bytes;
      if (e.spec.empty()) e.spec = one.spec;
      if (one.ceiling && !e.peak_tflops) {
        e.peak_tflops = one.ceiling->tflops;
        e.peak_source = perf::SourceText(one.ceiling->source);
      }
      if (call.kernel_us <= 0) continue;
      if (one.flops && *one.flops > 0) tflops.Add(*one.flops / call.kernel_us / 1e6);
      if (one.bytes) tb.Add(*one.bytes / call.kernel_us / 1e6);
      if (!one.roof_us) continue;
      roof += *one.roof_us;
      percent.Add(*one.roof_us / call.kernel_us * 100);
      by_bound[one.bound == perf::Bound::kMemory ? 1 : 0] += call.kernel_us;
    }
    e.tflops_per_s = tflops.Get();
    e.tb_per_s = tb.Get();
    if (e.flops && e.bytes && *e.bytes > 0) e.flops_per_byte = *e.flops / *e.bytes;
    if (in_.platform != nullptr && in_.platform->mem_bw_gbps)
      e.peak_tb_per_s = *in_.platform->mem_bw_gbps / 1000;
    if (roof > 0) {
      e.percent = percent.Get();
      e.roof_us = roof;
      e.bound = by_bound[1] > by_bound[0] ? Bound::kMemory : Bound::kCompute;
      e.source = BoundSource::kRidge;
    } else if (e.flops_per_byte) {
      BoundByIntensity(&e);
    } else {
      e.bound = e.bytes ? Bound::kMemory : Bound::kUnmodeled;
      e.source = e.bytes ? BoundSource::kIntensity : BoundSource::kNone;
    }
    e.band = BandOf(e.percent);
    e.anomaly = e.percent && *e.percent > limits::kAtRoof;
    e.impossible = e.percent && *e.percent > limits::kImpossible;
    e.launch_floor = roof > 0 && roof < limits::kFloorRoofUs * static_cast<double>(out->count) &&
                     out->gpu_us < limits::kFloorKernelUs * static_cast<double>(out->gpu.size());
    if (KindOf(out->category) == Kind::kMoe && e.bytes) e.assumption = "uniform_routing";
  }

  static void BoundByIntensity(Efficiency* e) {
    const double intensity = *e->flops_per_byte;
    const bool matrix = e->spec.starts_with("matrix");
    const double compute = matrix ? limits::kComputeIntensity : limits::kMemoryIntensity;
    const double memory = matrix ? limits::kMemoryIntensity : limits::kElementwiseIntensity;
    e->bound = intensity > compute  ? Bound::kCompute
               : intensity < memory ? Bound::kMemory
                                    : Bound::kUnknown;
    e->source = BoundSource::kIntensity;
  }

  // Copies of any direction are no part of the computing time.
  double CopiedUs(const std::vector<std::uint32_t>& calls) const {
    double us = 0;
    for (const std::uint32_t i : calls) {
      for (const EventIndex e : in_.calls[i].kernels) {
        const trace::EventKind kind = events_[e].kind;
        if (kind == trace::EventKind::kMemcpy || kind == trace::EventKind::kMemset)
          us += Us(events_, e);
      }
    }
    return us;
  }
  std::optional<double> ShareOfSome(double us) const {
    constexpr double kSomeUs = 1e-3;
    return us > kSomeUs ? Share(us, in_.computation_us) : std::nullopt;
  }

  void AddKernels(const std::vector<std::uint32_t>& calls, Operation* out) {
    std::map<std::string_view, KernelShare> by_name;
    std::map<const analysis::SummaryRow*, double> rows;
    for (const std::uint32_t i : calls) {
      for (const EventIndex e : in_.calls[i].kernels) {
        KernelShare& kernel = by_name[events_.name(e)];
        if (kernel.count++ == 0) kernel.stream = events_.args_of(e).stream;
        kernel.total_us += Us(events_, e);
        if (launcher_of_[e] != kNone && op_row_[launcher_of_[e]] != nullptr)
          rows[op_row_[launcher_of_[e]]] += Us(events_, e);
      }
    }
    for (auto& [name, kernel] : by_name) {
      kernel.name = name;
      const auto row = kernel_row_.find(kernel.name);
      if (row != kernel_row_.end()) kernel.row_id = row->second->id;
      out->kernels.push_back(std::move(kernel));
    }
    std::stable_sort(out->kernels.begin(), out->kernels.end(),
                     [](const auto& a, const auto& b) { return a.total_us > b.total_us; });
    double most = -1;
    for (const auto& [row, us] : rows) {
      if (us > most || (us == most && row->id < out->row_id)) {
        most = us;
        out->row_id = row->id;
      }
    }
    std::string_view library = LibraryOfOp(out->name);
    // A namespace may fall back to another's product.
    if (!out->kernels.empty() && IsProductLibrary(LibraryOf(out->kernels.front().name)))
      library = {};
    // A helper's library is not the op's: the kernel must be a large part of it.
    constexpr double kLargePart = 0.3;
    for (const KernelShare& kernel : out->kernels) {
      if (!library.empty() || kernel.total_us < kLargePart * out->gpu_us) break;
      library = LibraryOf(kernel.name);
    }
    out->library = library;
  }

  // Each name is looked at once: operations have few kernels in all.
  std::string_view LibraryOf(const std::string& kernel) {
    const auto [found, added] = libraries_.try_emplace(kernel);
    if (added) found->second = LibraryOfKernel(kernel);
    return found->second;
  }

  void AddCallers(const std::vector<std::uint32_t>& calls, Operation* out) {
    std::map<analysis::ChainTree::Node, double> time;
    for (const std::uint32_t i : calls) {
      if (in_.IsHostCall(in_.calls[i]))
        time[in_.chains->Of(in_.calls[i].op)] += in_.calls[i].kernel_us;
    }
    if (time.empty()) return;
    const auto most = std::max_element(
        time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto frames = in_.chains->Frames(most->first);
    out->module_path = analysis::ModulePath(frames);
    const std::vector<std::string> code = analysis::CodePlaces(frames, 8);
    for (const std::string& place : code) {
      if (place.starts_with("...") || IsDecoratorPlace(place)) continue;
      out->entry_point = place;
      break;
    }
    constexpr std::size_t kChainMax = 24;
    std::vector<std::string> chain;  // innermost first
    for (const analysis::ChainTree::Frame& frame : frames) {
      if (chain.size() == kChainMax) break;
      if (frame.kind == trace::EventKind::kCpuOp || !analysis::ModuleClass(frame.name).empty())
        chain.emplace_back(frame.name);
    }
    out->call_chain.assign(std::make_move_iterator(chain.rbegin()),
                           std::make_move_iterator(chain.rend()));
  }

  void Total() {
    for (CategoryAnalysis& category : out_) {
      for (const Operation& operation : category.operations) {
        if (operation.percent_of_computation) {
          category.percent_of_computation =
              category.percent_of_computation.value_or(0) + *operation.percent_of_computation;
        }
        category.host_us += operation.host_us;
        category.sync_us += operation.sync_us;
        category.sync_calls += operation.sync_calls;
        category.calls += operation.count;
      }
      RateCategory(&category);
      category.percent_of_total = Share(category.gpu_us, in_.window_us);
      category.worth_work =
          Share(category.gpu_us, in_.computation_us).value_or(0) > limits::kCategoryWorthWork;
    }
  }

  Calls& in_;
  std::vector<CategoryAnalysis>& out_;
  const trace::EventStore& events_;
  std::vector<Built> built_;
  std::vector<Follower> follower_;                   // by event
  std::vector<const analysis::SummaryRow*> op_row_;  // by launcher
  std::vector<std::uint32_t> launcher_of_;           // by GPU event
  std::map<std::string, const analysis::SummaryRow*, std::less<>> kernel_row_;
  std::unordered_map<std::string, std::string_view> libraries_;  // by kernel
};

}  // namespace

void RateCategory(CategoryAnalysis* category) {
  double roof_us = 0;
  double judged_us = 0;
  category->modeled_us = 0;
  for (const Operation& operation : category->operations) {
    const auto& efficiency = operation.efficiency;
    if (!efficiency.roof_us || !efficiency.percent) continue;
    category->modeled_us += operation.gpu_us;
    // At the launch floor a share of the roof says nothing.
    if (*efficiency.roof_us < limits::kFloorRoofUs * static_cast<double>(operation.count)) continue;
    judged_us += operation.gpu_us;
    roof_us += std::min(100.0, *efficiency.percent) / 100 * operation.gpu_us;
  }
  category->efficiency.reset();
  if (judged_us > 0 && 2 * judged_us >= category->gpu_us)
    category->efficiency = roof_us / judged_us * 100;
}

CallRoof RoofOf(const analysis::WorkCall& call, const perf::Platform* platform) {
  CallRoof out;
  if (call.work == nullptr || call.work->failure != perf::OpWork::Failure::kNone) return out;
  out.flops = call.work->flops;
  out.bytes = call.work->bytes;
  out.spec = call.work->spec;
  if (platform == nullptr) return out;
  const perf::Roofline roof = perf::RooflineOf({out.flops, out.bytes, out.spec}, *platform);
  out.roof_us = roof.roof_us;
  out.compute_us = roof.compute_us;
  out.memory_us = roof.memory_us;
  out.bound = roof.bound;
  out.ceiling = roof.ceiling;
  // Where the unit's rate is not known: no roof is below the memory's part, and with so few FLOPs
  // none is far above it.
  if (!out.roof_us && out.memory_us && out.flops && *out.memory_us > 0 &&
      *out.flops < limits::kFewFlops * out.bytes.value_or(0)) {
    out.roof_us = out.memory_us;
    out.bound = perf::Bound::kMemory;
  }
  return out;
}

Result<Collected> CollectOperations(const session::LoadedTrace& trace,
                                    const perf::Platform* platform,
                                    const std::shared_ptr<const perf::ModelRows>& models,
                                    Job& job) {
  const session::LoadedTrace& joined = trace.WithCapture();
  JV_ASSIGN(std::shared_ptr<const session::TraceWork> work, session::WorkOf(joined, models, job));
  const std::span<const WorkCall> all = work->calls;
  Collected out{{joined,
                 trace,
                 platform,
                 std::move(work),
                 {},
                 all,
                 {},
                 {},
                 {},
                 std::make_unique<analysis::ChainTree>(joined.events(), joined.tree()),
                 0,
                 0,
                 analysis::KernelFloor(joined.events(), joined.attribution().timeline)},
                {}};
  Calls& calls = out.calls;
  if (HasReplays(joined, all)) {
    calls.split = SplitReplays(joined, all);
    calls.calls = calls.split;
  }
  calls.call_of.assign(joined.events().size(), kNone);
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    for (const EventIndex e : calls.calls[i].kernels)
      calls.call_of[e] = static_cast<std::uint32_t>(i);
  }
  if (trace.timeline()) {
    JV_ASSIGN(const auto frames, session::FramesOf(trace, job));
    calls.window_us =
        trace.timeline()->total - UnrecordedInWindowUs(trace, frames->frames.unrecorded);
    calls.computation_us = trace.timeline()->computation;
  }
  Collector(&calls, &out.categories).Run();
  JV_TRY(job.Check());
  return out;
}

}  // namespace jarvis::findings
