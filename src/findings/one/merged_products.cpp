#include "findings/one/merged_products.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "findings/one/shared_inputs.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::string_view kModulePrefix = "nn.Module: ";

// What one product takes the host: the module that only computes it, else its outermost op; and the
// module that holds that.
struct ProductHost {
  EventIndex frame = kNoEvent;
  EventIndex holder = kNoEvent;  // kNoEvent: no modules are recorded
};

// All groups of one shape, as the change needs them.
struct MergeChange {
  std::vector<EventIndex> gpu;  // of all products
  analysis::RemoveGpu removed;
  analysis::SetGpuTime wider;
  analysis::ScaleHost host;
  double gpu_us = 0, wider_us = 0;
  double host_ms = 0;
  std::size_t groups = 0;
  std::string module;  // that holds the products, its class; empty: not recorded
};

class MergeFinder {
 public:
  MergeFinder(const Calls& calls, const std::vector<CategoryAnalysis>& categories,
              const TimeScope& scope)
      : calls_(calls),
        events_(calls.events()),
        tree_(calls.trace.tree()),
        categories_(categories),
        scope_(scope) {}

  MergeChange ChangeOf(const SharedInput& shared) const {
    MergeChange change;
    const double rate = WiderRate(shared);
    for (const std::vector<std::uint32_t>& group : shared.groups)
      AddGroup(shared, group, rate, &change);
    return change;
  }

 private:
  bool IsModule(EventIndex e) const {
    return events_[e].kind == trace::EventKind::kPythonFunction &&
           events_.name(e).starts_with(kModulePrefix);
  }

  ProductHost HostOf(EventIndex op) const {
    ProductHost host{op, kNoEvent};
    const std::size_t own = tree_.GpuBelow(op).size();
    EventIndex up = tree_.parent(op);
    for (; up != kNoEvent && tree_.GpuBelow(up).size() == own; up = tree_.parent(up)) {
      if (events_[up].kind == trace::EventKind::kCpuOp) host.frame = up;
      if (!IsModule(up)) continue;
      host.frame = up;
      up = tree_.parent(up);
      break;
    }
    while (up != kNoEvent && !IsModule(up))
      up = tree_.parent(up);
    host.holder = up;
    return host;
  }

  // Layers one after the other may have equal sizes, too: queries, keys and values are members of
  // one module that does more with them than to call one after the other.
  bool ShareModule(const std::vector<ProductHost>& hosts) const {
    const EventIndex holder = hosts.front().holder;
    if (holder == kNoEvent) return true;
    if (events_.name(holder).starts_with("nn.Module: Sequential")) return false;
    return std::all_of(hosts.begin(), hosts.end(),
                       [&](const ProductHost& one) { return one.holder == holder; });
  }

  static double FlopsOf(double m, double n, double k) { return 2 * m * n * k; }

  // FLOPs a microsecond that a product of as many rows and at least two thirds of the merged width
  // reaches here; 0: the trace has none.
  double WiderRate(const SharedInput& shared) const {
    constexpr double kWideEnough = 2.0 / 3;
    const double width = static_cast<double>(shared.count) * shared.n;
    double best = 0;
    for (std::size_t i = 0; i < calls_.calls.size(); ++i) {
      const analysis::WorkCall& call = calls_.calls[i];
      const Place place = calls_.place_of[i];
      if (place.category == kNone || categories_[place.category].kind != Kind::kGemm) continue;
      if (call.work == nullptr || call.backward || call.kernel_us <= 0) continue;
      const auto m = call.work->NumberOf("M"), n = call.work->NumberOf("N"),
                 k = call.work->NumberOf("K");
      if (!m || !n || !k || *m != shared.m || *k != shared.k || *n < kWideEnough * width) continue;
      best = std::max(best, FlopsOf(*m, *n, *k) / call.kernel_us);
    }
    return best;
  }

  void AddGroup(const SharedInput& shared, const std::vector<std::uint32_t>& group, double rate,
                MergeChange* out) const {
    std::vector<ProductHost> hosts;
    double us = 0;
    for (const std::uint32_t i : group) {
      const EventIndex op = calls_.calls[i].op;
      if (!scope_.Has(events_[op].ts_ns)) return;
      hosts.push_back(HostOf(op));
      us += calls_.calls[i].kernel_us;
    }
    if (!ShareModule(hosts)) return;
    const double count = static_cast<double>(shared.count);
    const double spared = us - (count - 1) * limits::kLaunchFloorUs;
    const double merged = FlopsOf(shared.m, count * shared.n, shared.k) / std::max(rate, 1e-9);
    const double wider_us = std::clamp(rate > 0 ? merged : spared, us / count, us);
    for (std::size_t i = 0; i < group.size(); ++i)
      AddProduct(calls_.calls[group[i]], hosts[i], i == 0 ? wider_us : 0, out);
    out->gpu_us += us;
    out->wider_us += wider_us;
    ++out->groups;
    if (out->module.empty() && hosts.front().holder != kNoEvent) {
      out->module = events_.name(hosts.front().holder).substr(kModulePrefix.size());
      out->module.resize(std::min(out->module.size(), out->module.rfind('_')));
    }
  }

  // `wider_us` 0: another product of its group does its work.
  void AddProduct(const analysis::WorkCall& call, const ProductHost& host, double wider_us,
                  MergeChange* out) const {
    for (const EventIndex e : call.kernels) {
      out->gpu.push_back(e);
      if (wider_us <= 0) {
        out->removed.events.push_back(e);
        continue;
      }
      out->wider.events.push_back(e);
      out->wider.us.push_back(trace::MicrosOf(events_[e].dur_ns) * wider_us /
                              std::max(call.kernel_us, 1e-9));
    }
    if (wider_us > 0) return;
    const trace::Event& frame = events_[host.frame];
    out->host.stretches.push_back({frame.track, frame.ts_ns, frame.end_ns()});
    out->host_ms += static_cast<double>(frame.dur_ns) / 1e6;
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::vector<CategoryAnalysis>& categories_;
  const TimeScope& scope_;
};

Finding MergedFinding(const Calls& calls, const SharedInput& shared, const StepBase& base,
                      MergeChange change) {
  const double width = static_cast<double>(shared.count) * shared.n;
  std::vector<Fact> facts = {
      StructureCount("groups", change.groups / base.count),
      StructureCount("products", shared.count),
      StructureWords("input", fmt::format("({:.0f},{:.0f})", shared.m, shared.k)),
      StructureWords("layer", fmt::format("`nn.Linear({:.0f}, {:.0f})`", shared.k, width)),
      NumberFact("host_each_ms", base.Each(change.host_ms), "ms")};
  const double part = 1 - change.wider_us / change.gpu_us;
  change.host.factor = 0;
  const std::string subject = change.module.empty() ? "GEMMs" : "linear layers of " + change.module;
  Finding f = StructureFinding(calls, Pattern::kSharedInput, "GEMM", subject, std::move(change.gpu),
                               {part / 2, part, part},
                               {{}, "one GEMM per input", "calls of this trace"}, std::move(facts));
  // The host is spared as much as it took under the profiler.
  f.change_a->exact = {std::move(change.removed), std::move(change.wider), std::move(change.host)};
  return f;
}

}  // namespace

std::vector<Finding> FindMergedProducts(const Calls& calls, const WorkContext& context,
                                        const std::vector<CategoryAnalysis>& categories,
                                        const StepBase& base, const TimeScope& scope) {
  const double busy_ms = static_cast<double>(base.balance.busy_ns()) / 1e6;
  const bool host_bound = base.total_ms > 0 && 2 * busy_ms < base.total_ms;
  // What is compiled is captured or merged by other means; in training the weights are trained as
  // they are stored.
  if (!host_bound || context.training || context.compiled || context.IsServer()) return {};
  const MergeFinder finder(calls, categories, scope);
  std::vector<Finding> out;
  for (const SharedInput& shared : FindSharedInputs(calls, categories)) {
    MergeChange change = finder.ChangeOf(shared);
    if (change.gpu_us <= 0 || base.Percent(change.host_ms) < limits::kHostShareMin) continue;
    out.push_back(MergedFinding(calls, shared, base, std::move(change)));
  }
  return out;
}

}  // namespace jarvis::findings
