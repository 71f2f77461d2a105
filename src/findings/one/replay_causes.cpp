#include "findings/one/replay_causes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/align/graph_capture.h"
#include "analysis/align/role_rules.h"
#include "analysis/align/roles.h"
#include "analysis/tables/summary.h"
#include "base/median.h"
#include "base/number_text.h"
#include "base/text.h"
#include "findings/one/moe_weights.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/shapes.h"
#include "findings/one/thresholds.h"
#include "ledger/kinds/work_kind.h"
#include "perf/triton_name.h"
#include "trace/json_text.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;

Fact SequenceText(std::string key, std::string value, std::string_view unit = {}) {
  return {std::move(key), std::move(value), unit};
}
Fact SequenceCount(std::string key, std::size_t value) {
  return {std::move(key), static_cast<std::int64_t>(value), {}};
}

// What kernels that split the keys reach of the bandwidth in decoding.
constexpr double kDecodeAttentionShare = 0.7;

// Of the times of attention in like layers of one replay.
constexpr double kUnlikeLayers = 0.3;  // coefficient of variation

// One product writes gate and up, the activation in its epilogue.
bool IsGatedProduct(std::string_view kernel) {
  constexpr std::string_view kGated[] = {"swiglu", "geglu", "silu_and_mul", "act_and_mul", "g1u1"};
  return std::any_of(std::begin(kGated), std::end(kGated),
                     [&](std::string_view part) { return ContainsNoCase(kernel, part); });
}

// The model's call that an operation has its sizes from; null: none.
const analysis::WorkCall* ModelledCall(const Calls& calls, const Operation& operation) {
  if (operation.gpu.empty()) return nullptr;
  const std::uint32_t call = calls.call_of[operation.gpu.front()];
  return call == kNone ? nullptr : &calls.calls[call];
}

// How much the times of calls differ that have the same context, as the layers of a step have:
// coefficient of variation, mean over the steps by their time.
double SpreadOfLayers(const Calls& calls, const Operation& o) {
  std::map<double, std::vector<double>> by_context;
  std::set<std::uint32_t> seen;
  for (const EventIndex gpu : o.gpu) {
    const std::uint32_t i = calls.call_of[gpu];
    if (i == kNone || !seen.insert(i).second || calls.calls[i].work == nullptr) continue;
    const auto context = calls.calls[i].work->NumberOf("g_sk");
    if (context) by_context[*context].push_back(calls.calls[i].kernel_us);
  }
  double spread = 0;
  double time = 0;
  for (const auto& [context, layers] : by_context) {
    const auto count = static_cast<double>(layers.size());
    if (count < limits::kRepeats) continue;
    const double sum = std::accumulate(layers.begin(), layers.end(), 0.0);
    double squares = 0;
    for (const double us : layers)
      squares += (us - sum / count) * (us - sum / count);
    time += sum;
    spread += std::sqrt(squares / (count - 1)) * count;  // of the step's time: deviation / mean
  }
  return time > 0 ? spread / time : 0;
}

// In a step that decodes, all layers have the same sizes: where some take much less time, they
// see a window alone and read less than the model says, so that no rate is known.
bool SeesWindows(const Calls& calls, const Operation& o) {
  const analysis::WorkCall* call = ModelledCall(calls, o);
  if (call == nullptr || call->work == nullptr) return false;
  const auto number = [&](const char* key) { return call->work->NumberOf(key).value_or(0); };
  return number("g_sk") > 0 && number("c_sq") <= 0 && SpreadOfLayers(calls, o) > kUnlikeLayers;
}

// One replayed graph: its GPU work by start with the part of the model that each is.
struct ReplaySequence {
  EventIndex launch = trace::kNoEvent;
  std::vector<EventIndex> gpu;
  std::vector<std::string_view> roles;
};

class ReplayCauses {
 public:
  ReplayCauses(const Calls& calls, const WorkContext& work,
               std::vector<CategoryAnalysis>* categories)
      : calls_(calls),
        events_(calls.recorded.events()),
        work_(work),
        out_(*categories),
        roles_(events_) {
    for (auto& replay : analysis::FindReplayedGraphs(events_, calls.recorded.tree())) {
      ReplaySequence& sequence = sequences_.emplace_back();
      sequence.launch = replay.launch;
      sequence.gpu = std::move(replay.gpu);
      sequence.roles = roles_.Of(sequence.gpu);
    }
  }

  void Run() {
    if (sequences_.empty()) return;
    FindMedians();
    DownProjections();
    TableCasts();
    DecodeAttention();
    Chains();
  }

 private:
  double Us(EventIndex e) const { return trace::MicrosOf(events_[e].dur_ns); }
  double Usual(EventIndex e) const { return usual_.at(events_[e].name); }
  std::string_view Name(EventIndex e) const { return events_.name(e); }

  Operation* OperationOf(EventIndex gpu) {
    const std::uint32_t call = calls_.call_of[gpu];
    if (call == kNone) return nullptr;
    const Place place = calls_.place_of[call];
    return &out_[place.category].operations[place.operation];
  }

  // One call may be much slower than the others.
  void FindMedians() {
    std::map<StringId, std::vector<double>> times;
    for (const ReplaySequence& sequence : sequences_) {
      for (const EventIndex e : sequence.gpu)
        times[events_[e].name].push_back(Us(e));
    }
    for (auto& [name, us] : times)
      usual_[name] = UpperMedian(std::move(us));
  }

  // ---- gate and up against down

  void DownProjections() {
    struct Pair {
      std::vector<EventIndex> down;
      double up_us = 0, down_us = 0;
    };
    std::map<std::pair<StringId, StringId>, Pair> pairs;
    for (const ReplaySequence& sequence : sequences_) {
      for (std::size_t i = 0; i < sequence.gpu.size(); ++i) {
        if (sequence.roles[i] != "experts" || !IsGatedProduct(Name(sequence.gpu[i]))) continue;
        const std::size_t down = NextExperts(sequence, i);
        if (down == sequence.gpu.size()) continue;
        Pair& pair = pairs[{events_[sequence.gpu[i]].name, events_[sequence.gpu[down]].name}];
        pair.down.push_back(sequence.gpu[down]);
        pair.up_us += Us(sequence.gpu[i]);
        pair.down_us += Us(sequence.gpu[down]);
      }
    }
    for (auto& [names, pair] : pairs) {
      const auto count = static_cast<double>(pair.down.size());
      if (count < limits::kRepeats) continue;
      SlowDown(std::move(pair.down), pair.up_us / count, pair.down_us / count);
    }
  }

  // The product of the experts behind one: what lies between moves rows or quantises them.
  std::size_t NextExperts(const ReplaySequence& sequence, std::size_t at) const {
    constexpr std::size_t kReach = 4;
    for (std::size_t i = at + 1; i < sequence.gpu.size() && i <= at + kReach; ++i) {
      const std::string_view name = Name(sequence.gpu[i]);
      if (IsGatedProduct(name)) break;
      if (sequence.roles[i] != "experts" || Usual(sequence.gpu[i]) < limits::kSmallKernelUs)
        continue;
      return i;
    }
    return sequence.gpu.size();
  }

  void SlowDown(std::vector<EventIndex> down, double up_us, double down_us) {
    constexpr double kClearly = 1.25;
    if (down_us <= kClearly * up_us / 2) return;
    Operation* operation = OperationOf(down.front());
    if (operation == nullptr || (operation->has_model && operation->efficiency.percent)) return;
    const double total_ms = down_us * static_cast<double>(down.size()) / 1000;
    const double most = 1 - up_us / 2 / down_us;
    Cause cause;
    cause.pattern = Pattern::kSlowDownProjection;
    cause.group = std::string(Name(down.front()));
    cause.facts = {SequenceText("kernel", analysis::ShortKernelName(Name(down.front()))),
                   NumberFact("down_ms", total_ms, "ms"),
                   NumberFact("down_us", down_us, "us"),
                   NumberFact("up_us", up_us, "us"),
                   NumberFact("target_us", up_us / 2, "us"),
                   SequenceText("knob", KnobOfDown(calls_, down.front()), "words")};
    cause.a = Target{{0.5 * most, 0.8 * most, most},
                     ThreeDigits(up_us / 2) + " µs per call",
                     "the rate of gate and up in this trace",
                     true};
    AddExpertReads(calls_, down.front(), up_us, down_us, &cause);
    cause.gpu_us = total_ms * 1000;
    cause.gpu = std::move(down);
    operation->cause = std::move(cause);
  }

  // ---- tables that every layer casts

  // The rows of the step: what most products multiply at once.
  double RowsOfProducts() const {
    std::map<double, double> time;
    for (const CategoryAnalysis& category : out_) {
      if (category.kind != Kind::kGemm) continue;
      for (const Operation& operation : category.operations) {
        const analysis::WorkCall* call = ModelledCall(calls_, operation);
        const auto rows =
            call == nullptr || call->work == nullptr ? std::nullopt : call->work->NumberOf("M");
        if (rows) time[*rows] += operation.gpu_us;
      }
    }
    const auto most = std::max_element(
        time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == time.end() ? 0 : most->first;
  }

  void TableCasts() {
    const double rows = RowsOfProducts();
    if (rows <= 0) return;
    for (CategoryAnalysis& category : out_) {
      if (category.kind != Kind::kTriton) continue;
      for (Operation& operation : category.operations)
        TableCast(rows, &operation);
    }
  }

  void TableCast(double rows, Operation* o) const {
    const bool replayed = !o->gpu.empty() && calls_.trace.IsReplayed(o->gpu.front());
    if (!replayed || o->cause || o->dims.empty()) return;
    const auto ops = perf::FusedOpsOf(o->name, false);
    if (ops.size() != 1 || ops.front().find("to_copy") == std::string_view::npos) return;
    const auto repeats = static_cast<double>(o->count) / static_cast<double>(sequences_.size());
    if (repeats < limits::kRepeats) return;
    const trace::Args& args = calls_.events().args_of(o->example);
    const std::vector<Shape> shapes = ParseShapes(calls_.events().text(args.dims));
    const std::vector<std::string> types = ParseTypes(calls_.events().text(args.types));
    if (shapes.size() < 2 || types.size() < 2 || shapes[0].empty() || shapes[0] != shapes[1])
      return;
    if (types[0] == types[1]) return;
    std::string text;
    for (const std::int64_t size : shapes[0]) {
      if (static_cast<double>(size) == rows) return;
      text += fmt::format("{}{}", text.empty() ? "(" : ",", size);
    }
    Cause cause;
    cause.pattern = Pattern::kTableCast;
    cause.group = "cast";
    cause.facts = {SequenceText("shape", text + ")"), SequenceText("from", ShortType(types[0])),
                   SequenceText("to", ShortType(types[1])),
                   SequenceCount("calls", static_cast<std::size_t>(std::llround(repeats)))};
    constexpr std::int64_t kPositions = 2048;  // and more, of at most so many elements each
    constexpr std::int64_t kRotated = 256;
    if (shapes[0].size() == 2 && shapes[0][0] >= kPositions && shapes[0][1] <= kRotated) {
      cause.facts.push_back(SequenceText(
          "owner",
          "By its shape it is the rotary embedding's table of cosines and sines [inferred]: that "
          "module owns the buffer",
          "words"));
    }
    const double most = 1 - 1 / repeats;
    cause.a =
        Target{{0.8 * most, 0.95 * most, 1}, "no cast in the step", "calls in this trace", true};
    o->cause = std::move(cause);
  }

  // ---- attention of one new token a request against its cache

  void DecodeAttention() {
    for (CategoryAnalysis& category : out_) {
      if (category.kind != Kind::kSdpa) continue;
      for (Operation& operation : category.operations)
        OneAttention(&operation);
    }
  }

  void OneAttention(Operation* o) const {
    const Efficiency& e = o->efficiency;
    const analysis::WorkCall* call = ModelledCall(calls_, *o);
    if (call == nullptr || call->work == nullptr || o->cause) return;
    if (e.anomaly || !calls_.trace.IsReplayed(o->gpu.front())) return;
    if (!e.tb_per_s || !e.peak_tb_per_s) return;
    const auto number = [&](const char* key) { return call->work->NumberOf(key).value_or(0); };
    const double tokens = number("g_sk");
    if (number("c_sq") > 0 || tokens <= 0 || o->mean_us < 2 * limits::kSmallKernelUs) return;
    const double goal = kDecodeAttentionShare * *e.peak_tb_per_s;
    if (*e.tb_per_s <= 0 || *e.tb_per_s >= limits::kTargetSlack * goal) return;
    const bool empty_splits = HasEmptySplits(*o, tokens, {number("g_sq"), number("H_KV")});
    Cause cause;
    cause.pattern = Pattern::kSlowDecodeAttention;
    cause.group = "decode";
    cause.facts = {SequenceCount("tokens", static_cast<std::size_t>(tokens)),
                   SequenceCount("requests", static_cast<std::size_t>(number("g_sq"))),
                   NumberFact("tb_s_achieved", *e.tb_per_s, "TB/s"),
                   NumberFact("bandwidth_percent", *e.tb_per_s / *e.peak_tb_per_s * 100, "%"),
                   SequenceText("grid", GridText(o->gpu.front()), "words"),
                   SequenceText("backend", BackendOf(*o, empty_splits), "words")};
    // An op that a profiler made stands for the kernel that it wraps.
    if (o->name.find("profiler::") != std::string::npos && !o->kernels.empty()) {
      cause.subject = analysis::ShortKernelName(o->kernels.front().name);
      cause.gpu = o->gpu;
      cause.gpu_us = o->gpu_us;
    }
    // Half of the bytes at the rate of today.
    cause.option = Target{{0.5, 0.5, 0.5}, "", ""};
    const auto saved = [&](double share) {
      return std::max(0.0, 1 - *e.tb_per_s / (share * goal));
    };
    // What splits without keys cost shows nowhere in the trace: perhaps nothing.
    const Range all = {saved(limits::kTargetSlack), saved(0.93), saved(1)};
    cause.b = Target{empty_splits ? Range{0, all.high / 2, all.high} : all,
                     fmt::format("{:.0f}% of the bandwidth", kDecodeAttentionShare * 100),
                     "bandwidth of " + calls_.platform->name};
    o->cause = std::move(cause);
  }

  // A captured grid has splits for the longest context that the server allows; where it has many
  // times what the requests need, the limit is the setting. `others`: requests and heads, which are
  // sizes of the grid beside the splits.
  bool HasEmptySplits(const Operation& o, double tokens, std::array<double, 2> others) const {
    constexpr double kSplit = 256;  // keys of one split, as kernels have them
    constexpr double kOversized = 4;
    Shape grid = GridOf(o.gpu.front());
    for (const double other : others) {
      const auto same = std::ranges::find(grid, static_cast<std::int64_t>(other));
      if (same != grid.end()) grid.erase(same);
    }
    const auto most = std::ranges::max_element(grid);
    const double splits = most == grid.end() ? 0 : static_cast<double>(*most);
    const double context = tokens / std::max(1.0, others[0]);
    return work_.engine == Engine::kSglang && splits * kSplit >= kOversized * context;
  }

  std::string BackendOf(const Operation& o, bool empty_splits) const {
    if (empty_splits) {
      return "Start SGLang with a --context-length near the longest request. The captured grid has "
             "splits of the keys for the longest context that the server allows";
    }
    const bool aiter = o.name.find("aiter") != std::string::npos || o.library == "AITER";
    if (work_.engine == Engine::kVllm && work_.amd && !aiter)
      return "Start vLLM with VLLM_ROCM_USE_AITER=1, and time its attention at these lengths";
    return "Size the key splits for the actual context length. A graph is captured with one grid "
           "for all lengths that the server allows";
  }

  // The recorded grid; empty: not recorded.
  Shape GridOf(EventIndex gpu) const {
    const trace::EventStore& events = calls_.events();
    const std::vector<Shape> shapes = ParseShapes(
        fmt::format("[{}]", trace::MemberOf(events.text(events.args_of(gpu).other), "grid")));
    return shapes.empty() ? Shape{} : shapes.front();
  }

  // " (grid [32,160,8])"; empty: not recorded.
  std::string GridText(EventIndex gpu) const {
    const Shape grid = GridOf(gpu);
    return grid.empty() ? "" : fmt::format(" (grid [{}])", fmt::join(grid, ","));
  }

  // ---- chains of short kernels

  struct Chain {
    std::string what;  // its parts in order, the first ones of a long chain
    std::set<std::string_view> roles;
    std::size_t times = 0;
    std::size_t kernels = 0;
    double us = 0, saved_us = 0;
    double pytorch_us = 0;  // of it kernels of PyTorch's own ops, which a compiler sees
    bool all_short = true;
  };

  // Of a graph that was captured op by op: a compiler makes one kernel of those in a row, however
  // long they are. Copies are told of by what they are for.
  bool IsEagerPointwise(std::string_view kernel) const {
    return !work_.compiled && !work_.IsServer() &&
           kernel.find("elementwise_kernel") != std::string_view::npos &&
           kernel.find("copy") == std::string_view::npos;
  }

  // Whether one kernel could do it together with its neighbours.
  bool IsOfChain(const ReplaySequence& sequence, std::size_t at) {
    const EventIndex e = sequence.gpu[at];
    const bool is_short = Usual(e) < limits::kSmallKernelUs && Us(e) < 2 * limits::kSmallKernelUs;
    if (!is_short && !IsEagerPointwise(Name(e))) return false;
    // What Inductor made is a chain in one kernel already.
    if (Name(e).starts_with("triton_")) return false;
    const std::string_view role = sequence.roles[at];
    if (role == "attention" || role == "communication") return false;
    if (roles_.Of(e) == analysis::kProductRole) return false;
    const Operation* operation = OperationOf(e);
    return operation != nullptr && !operation->cause && !operation->claimed;
  }

  // "elementwise_kernel<CUDAFunctor_add, fp32>": "add", what it does; empty: no such kernel.
  static std::string_view FunctorOf(std::string_view kernel) {
    constexpr std::string_view kMark = "CUDAFunctor_";
    for (const std::string_view end : {"_kernel_cuda", "Functor", "_kernel_impl"}) {
      if (kernel.find("elementwise_kernel") == kernel.npos) return {};
      std::size_t at = kernel.find(kMark);
      if (at != kernel.npos) {
        kernel.remove_prefix(at + kMark.size());
        return kernel.substr(0, kernel.find_first_of("<,> "));
      }
      at = kernel.find(end);
      if (at == kernel.npos) continue;
      const std::string_view name = kernel.substr(0, at);
      return name.substr(name.find_last_of(":<, ") + 1);
    }
    return {};
  }

  static std::string PartText(std::string_view role, std::string_view kernel) {
    if (role != analysis::kOtherRole) return std::string(role);
    if (const std::string_view functor = FunctorOf(kernel); !functor.empty())
      return std::string(functor);
    constexpr std::size_t kNameMax = 40;
    return std::string(Shortened(analysis::ShortKernelName(kernel), kNameMax));
  }

  void Chains() {
    std::map<std::string, Chain> chains;
    for (const ReplaySequence& sequence : sequences_) {
      std::size_t begin = 0;
      for (std::size_t i = 0; i <= sequence.gpu.size(); ++i) {
        const bool goes_on =
            i < sequence.gpu.size() && IsOfChain(sequence, i) &&
            (i == begin || events_[sequence.gpu[i]].track == events_[sequence.gpu[begin]].track);
        if (goes_on) continue;
        if (i - begin >= 2) AddChain(sequence, begin, i, &chains);
        begin = i + 1;
      }
    }
    if (!chain_gpu_.empty()) SetChains(chains);
  }

  void AddChain(const ReplaySequence& sequence, std::size_t begin, std::size_t end,
                std::map<std::string, Chain>* chains) {
    std::string what;  // the whole, which tells chains apart
    std::size_t parts = 0, same = 1;
    double us = 0, longest = 0, pytorch_us = 0;
    Chain made;
    for (std::size_t i = begin; i < end; ++i) {
      const std::string part = PartText(sequence.roles[i], Name(sequence.gpu[i]));
      const bool again =
          i + 1 < end && PartText(sequence.roles[i + 1], Name(sequence.gpu[i + 1])) == part;
      us += Us(sequence.gpu[i]);
      if (IsOfPytorch(Name(sequence.gpu[i]))) pytorch_us += Us(sequence.gpu[i]);
      longest = std::max(longest, Us(sequence.gpu[i]));
      made.all_short = made.all_short && Usual(sequence.gpu[i]) < limits::kSmallKernelUs;
      made.roles.insert(sequence.roles[i]);
      if (again) {
        ++same;
        continue;
      }
      what += fmt::format("{}{}{}", what.empty() ? "" : ", ", part,
                          same > 1 ? fmt::format(" x {}", same) : "");
      same = 1;
      constexpr std::size_t kPartsShown = 6;
      if (++parts == kPartsShown) made.what = what + (i + 1 < end ? "..." : "");
    }
    if (made.what.empty()) made.what = what;
    Chain& chain = chains->try_emplace(what, std::move(made)).first->second;
    ++chain.times;
    chain.kernels += end - begin;
    chain.us += us;
    chain.pytorch_us += pytorch_us;
    chain.saved_us += us - longest;
    for (std::size_t i = begin; i < end; ++i)
      chain_gpu_[OperationOf(sequence.gpu[i])].push_back(sequence.gpu[i]);
  }

  // What is usually one kernel, by the parts of a chain.
  static std::string FusionOf(const std::set<std::string_view>& roles) {
    const auto has = [&](std::string_view role) { return roles.contains(role); };
    if (has("router")) return "top-k, sorting and padding of the routing";
    if (has("rotary embedding") && has("norm"))
      return has("kv cache") ? "QK-norm, rotary embedding and the write to the KV cache"
                             : "QK-norm and rotary embedding";
    if (has("rotary embedding") && has("kv cache"))
      return "rotary embedding and the write to the KV cache";
    if (has("experts") && has("norm"))
      return "the experts' weighted sum, the residual and the norm after it";
    return {};
  }

  static bool IsOfPytorch(std::string_view kernel) {
    return ledger::ClassifyKernelName(kernel).library == "pytorch_native";
  }
  // Where no kernel is known that does it: a compiler, before the graph is captured.
  std::string CompiledBefore(bool pytorch) const {
    if (!pytorch)
      return "Fuse each chain in a kernel of your own; `torch.compile` cannot fuse custom kernels";
    return work_.before_torch2
               ? "Script the module before it is captured (`torch.jit.script`)"
               : "Compile the module before it is captured (`torch.compile`): one kernel per chain";
  }

  void SetChains(const std::map<std::string, Chain>& chains) {
    std::vector<const Chain*> order;
    Chain all;
    for (const auto& [what, chain] : chains) {
      order.push_back(&chain);
      all.kernels += chain.kernels;
      all.us += chain.us;
      all.pytorch_us += chain.pytorch_us;
      all.saved_us += chain.saved_us;
      all.all_short = all.all_short && chain.all_short;
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Chain* a, const Chain* b) { return a->saved_us > b->saved_us; });
    std::string text, fusions;
    constexpr std::size_t kChainsShown = 3;
    for (std::size_t i = 0; i < order.size() && i < kChainsShown; ++i) {
      const Chain& chain = *order[i];
      text += (text.empty() ? "" : "; ") + chain.what;
      const std::string fusion = FusionOf(chain.roles);
      if (!fusion.empty() && fusions.find(fusion) == std::string::npos)
        fusions += fmt::format("{}Fuse {} into one kernel", fusions.empty() ? "" : ". ", fusion);
    }
    if (fusions.empty()) fusions = CompiledBefore(2 * all.pytorch_us >= all.us);
    // A kernel that does the work of several takes longer than the longest of them.
    constexpr double kFused = 0.85;
    const double most = kFused * all.saved_us / all.us;
    for (auto& [operation, gpu] : chain_gpu_) {
      Cause cause;
      cause.pattern = Pattern::kShortKernelChain;
      cause.group = "chains";
      cause.subject = order.front()->what;
      cause.facts = {
          SequenceCount("kernels", all.kernels), SequenceText("chains", text, "words"),
          SequenceCount("times", order.front()->times),
          NumberFact("each_us", order.front()->us / static_cast<double>(order.front()->times),
                     "us"),
          SequenceText("fusions", fusions, "words")};
      if (all.all_short)
        cause.facts.push_back(NumberFact("short_us", limits::kSmallKernelUs, "us"));
      cause.a = Target{
          {most / 2, 0.8 * most, most}, "one kernel per chain", "chains in this trace", true};
      for (const EventIndex e : gpu)
        cause.gpu_us += Us(e);
      cause.gpu = std::move(gpu);
      operation->cause = std::move(cause);
    }
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const WorkContext& work_;
  std::vector<CategoryAnalysis>& out_;
  analysis::NamedRoles roles_;
  std::vector<ReplaySequence> sequences_;
  std::map<StringId, double> usual_;  // median time by kernel
  std::map<Operation*, std::vector<EventIndex>> chain_gpu_;
};

}  // namespace

bool IsLaunchFloor(const Calls& calls, const Operation& operation) {
  constexpr double kFarFromRoof = 50;
  if (operation.gpu.empty() || !calls.trace.IsReplayed(operation.gpu.front())) return false;
  const double us = operation.gpu_us / static_cast<double>(operation.gpu.size());
  return us < limits::kSmallKernelUs && operation.efficiency.percent.value_or(0) < kFarFromRoof;
}

void ForgetWindowRates(const Calls& calls, std::vector<CategoryAnalysis>* categories) {
  for (CategoryAnalysis& category : *categories) {
    if (category.kind != Kind::kSdpa) continue;
    for (Operation& operation : category.operations) {
      if (SeesWindows(calls, operation)) operation.efficiency = {};
    }
    RateCategory(&category);
  }
}

void FindReplayCauses(const Calls& calls, const WorkContext& work,
                      std::vector<CategoryAnalysis>* categories) {
  ReplayCauses(calls, work, categories).Run();
}

}  // namespace jarvis::findings
