#include "findings/one/kernel_roles.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "findings/one/grid_blocks.h"
#include "findings/one/kernel_categories.h"
#include "findings/one/thresholds.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using ledger::WorkKind;
using trace::EventIndex;
using Stream = std::vector<EventIndex>;

constexpr std::size_t kBeside = 2;  // so many kernels before or after it on its stream

// Makes the gradients of a scale and of a shift, each as long as there are channels.
bool IsNormBackward(std::string_view name) {
  return name.find("GammaBetaBackward") != name.npos || name.find("GradGammaBeta") != name.npos ||
         CategoryByName(name) == kBatchNormBackward;
}

bool MakesWeightGradient(std::string_view name) {
  return CategoryByName(name) == kConvBackwardWeights;
}

// How many of those asked have it.
struct MakerTally {
  std::size_t all = 0, have = 0;
  bool most() const {
    return static_cast<double>(have) >= limits::kMostOfMakers * static_cast<double>(all);
  }
};

class RoleFinder {
 public:
  RoleFinder(const Calls& calls, const ledger::KindsOfWork& kinds,
             const std::vector<Stream>& streams)
      : events_(calls.events()),
        tree_(calls.trace.tree()),
        kinds_(kinds),
        streams_(streams),
        has_ops_(calls.trace.recorded().cpu_ops),
        adds_(events_, IsSumOfTensors),
        norms_(events_, IsNormBackward),
        weights_(events_, MakesWeightGradient) {
    for (auto* of : {&out_.beside_attention, &out_.helps_convolution, &out_.adds_gradient})
      of->resize(events_.size());
  }

  KernelRoles Run() {
    for (const Stream& work : streams_) {
      BesideAttention(work);
      LibraryHelpers(work);
      if (has_ops_) SumsUnderOps(work);
    }
    Memsets();
    if (!has_ops_) SumsBehindMakers();
    return std::move(out_);
  }

 private:
  WorkKind KindAt(EventIndex e) const { return kinds_.Of(e).kind; }
  bool IsKernel(EventIndex e) const { return events_[e].kind == trace::EventKind::kKernel; }

  void BesideAttention(const Stream& work) {
    for (std::size_t at = 0; at < work.size(); ++at) {
      if (KindAt(work[at]) != WorkKind::kAttention) continue;
      const std::size_t end = std::min(work.size(), at + kBeside);
      for (std::size_t near = at - std::min(at, kBeside + 1); near < end; ++near)
        out_.beside_attention[work[near]] = true;
    }
  }

  void LibraryHelpers(const Stream& work) {
    for (const EventIndex e : work) {
      const ledger::KernelKind& kind = kinds_.Of(e);
      if (ledger::IsLibraryHelper(kind)) out_.helps_convolution[e] = true;
    }
  }

  // A fill that the driver does, before each call of a convolution's kernel.
  void Memsets() {
    std::map<StringId, std::pair<MakerTally, Stream>> before;
    for (const Stream& work : streams_) {
      for (std::size_t at = 0; at < work.size(); ++at) {
        if (KindAt(work[at]) != WorkKind::kConvolution) continue;
        auto& [share, fills] = before[events_[work[at]].name];
        ++share.all;
        if (at == 0 || events_[work[at - 1]].kind != trace::EventKind::kMemset) continue;
        ++share.have;
        fills.push_back(work[at - 1]);
      }
    }
    for (const auto& [name, found] : before) {
      if (found.first.have < limits::kMakersMin || !found.first.most()) continue;
      for (const EventIndex e : found.second)
        out_.helps_convolution[e] = true;
    }
  }

  void SumsUnderOps(const Stream& work) {
    for (const EventIndex e : work) {
      if (!adds_.Of(e)) continue;
      bool accumulates = false;
      for (EventIndex op = tree_.parent(e); op != trace::kNoEvent && !accumulates;
           op = tree_.parent(op))
        accumulates = events_.name(op).find("AccumulateGrad") != std::string_view::npos;
      if (accumulates) out_.adds_gradient[e] = true;
    }
  }

  // Those behind each norm's backward, two for a scale and a shift, prove it: they have the size of
  // parameters, which no sum of activations' gradients has. Then the last sum behind a kernel that
  // makes a weight's gradient is the weight's.
  void SumsBehindMakers() {
    MakerTally norms, weights;
    Stream sums;
    for (const Stream& work : streams_) {
      for (std::size_t at = 0; at < work.size(); ++at) {
        if (!IsKernel(work[at])) continue;
        const bool norm = norms_.Of(work[at]);
        if (!norm && !weights_.Of(work[at])) continue;
        const Stream behind = SumsBehind(work, at, norm);
        MakerTally& share = norm ? norms : weights;
        ++share.all;
        if (behind.size() == (norm ? std::size_t{2} : std::size_t{1})) ++share.have;
        sums.insert(sums.end(), behind.begin(), behind.end());
      }
    }
    if (norms.all < limits::kMakersMin || !norms.most() || !weights.most()) return;
    for (const EventIndex e : sums)
      out_.adds_gradient[e] = true;
  }

  // Behind the kernel at `from` and its casts and layouts: of a norm all sums in a row that a block
  // or few do, of a weight the last one.
  Stream SumsBehind(const Stream& work, std::size_t from, bool norm) {
    constexpr std::int64_t kBlocksOfVector = 8;
    std::size_t at = from + 1;
    while (at < work.size() &&
           (KindAt(work[at]) == WorkKind::kCast || KindAt(work[at]) == WorkKind::kLayout))
      ++at;
    Stream sums;
    for (; at < work.size() && IsKernel(work[at]) && adds_.Of(work[at]); ++at) {
      if (norm && GridBlocksOf(events_, work[at]).value_or(kBlocksOfVector + 1) > kBlocksOfVector)
        break;
      sums.push_back(work[at]);
    }
    if (!norm && !sums.empty()) sums = {sums.back()};
    return sums;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const ledger::KindsOfWork& kinds_;
  const std::vector<Stream>& streams_;
  bool has_ops_;
  trace::ByName<bool> adds_, norms_, weights_;
  KernelRoles out_;
};

}  // namespace

KernelRoles FindKernelRoles(const Calls& calls, const ledger::KindsOfWork& kinds,
                            const std::vector<Stream>& streams) {
  return RoleFinder(calls, kinds, streams).Run();
}

}  // namespace jarvis::findings
