#include "tools/ranks/balance_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "tools/ranks/job_figures.h"
#include "tools/ranks/job_kind.h"
#include "tools/ranks/transfer_paths.h"

namespace jarvis::tools {
namespace {

using analysis::JobLever;
using analysis::LateCause;
using analysis::LateKernel;

// Names come from the trace.
std::string Named(const std::string& kernel) {
  return OneLine(kernel);
}

// Template arguments of an exchange say what it moves, not which it is.
std::string Collective(const LateKernel& kernel) {
  return OneLine(kernel.collective.substr(0, kernel.collective.find('<')));
}

bool OfAllRanks(const JobView& job, const JobLever& lever) {
  return lever.ranks.size() == job.set.ranks.size();
}

const LateKernel* KernelOf(const JobView& job, const JobLever& lever) {
  return lever.kernel ? &job.story.late_kernels[*lever.kernel] : nullptr;
}

// What runs between the two exchanges of an expert-parallel layer is the experts' work.
bool IsExperts(const JobView& job, const LateKernel& kernel) {
  return kernel.between_exchanges && JobKindOf(job) == JobKind::kExperts;
}

// "the rank with the longest one (typically 1.27 times the mean) starts last 52 of 58 times"
std::string EvidenceText(const LateKernel& kernel) {
  return fmt::format(
      "the rank with the longest one (typically {:.2f} times the mean) starts last {} of {} times",
      kernel.ratio, kernel.times, kernel.of);
}

// What a balanced load saves beside the waiting: the exchange's own time, where that follows it.
std::string FollowsText(const JobView& job, const JobLever& lever) {
  const LateKernel* kernel = KernelOf(job, lever);
  if (kernel == nullptr || kernel != LoadOfTransfers(job)) return {};
  return fmt::format(", and at most {} ms more, as `{}` itself takes longer under more load",
                     MsDigits(SpreadTransfer(job, kernel->collective)), Collective(*kernel));
}

std::string Inferred(const JobView& job, const LateKernel& kernel) {
  return IsExperts(job, kernel) ? " [inferred: uneven tokens per expert]" : "";
}

}  // namespace

std::string BalanceText(const JobView& job, const JobLever& lever) {
  const LateKernel* kernel = KernelOf(job, lever);
  if (OfAllRanks(job, lever)) {
    if (kernel == nullptr) {
      return "even out the computing among the ranks: the last to start is another one each time, "
             "with the longest computation before the collective";
    }
    return fmt::format("even out `{}` before `{}` among the ranks{}: {}", Named(kernel->kernel),
                       Collective(*kernel), Inferred(job, *kernel), EvidenceText(*kernel));
  }
  return fmt::format(
      "even out the computing of {} with the others before the collectives they are late at{}",
      RanksText(job, lever.ranks),
      kernel == nullptr ? std::string()
                        : fmt::format(", mostly `{}` before `{}`{}", Named(kernel->kernel),
                                      Collective(*kernel), Inferred(job, *kernel)));
}

bool InfersExperts(const JobView& job) {
  const auto& levers = job.story.levers;
  return std::any_of(levers.begin(), levers.end(), [&](const JobLever& lever) {
    const LateKernel* kernel = KernelOf(job, lever);
    return kernel != nullptr && IsExperts(job, *kernel);
  });
}

std::string BalanceCause(const JobView& job, const JobLever& lever) {
  const LateKernel* kernel = KernelOf(job, lever);
  if (OfAllRanks(job, lever) && kernel != nullptr) {
    return fmt::format(
        "the ranks wait at `{}` for the one with the longest `{}`{}, typically {:.2f} times the "
        "mean, which starts last {} of {} times",
        Collective(*kernel), Named(kernel->kernel), Inferred(job, *kernel), kernel->ratio,
        kernel->times, kernel->of);
  }
  std::int64_t lost = 0;
  for (const std::size_t rank : lever.ranks)
    lost += job.story.ranks[rank].lost_by[static_cast<std::size_t>(LateCause::kCompute)];
  if (OfAllRanks(job, lever)) {
    return fmt::format(
        "no rank stands out: another one is last each time, the one with the longest computation "
        "before the collective, which costs {} ms in all",
        MsText(lost));
  }
  return fmt::format(
      "{} {} more to compute than the other{} before collectives{}, which costs {} ms",
      RanksText(job, lever.ranks), lever.ranks.size() == 1 ? "has" : "have",
      job.set.ranks.size() - lever.ranks.size() == 1 ? "" : "s",
      kernel == nullptr ? std::string()
                        : fmt::format(" (mostly `{}` before `{}`{})", Named(kernel->kernel),
                                      Collective(*kernel), Inferred(job, *kernel)),
      MsText(lost));
}

PathTexts BalancePaths(const JobView& job, const JobLever& lever) {
  const std::string saves = MsText(lever.saved_ns) + " ms";
  const std::string who = RanksText(job, lever.ranks);
  const std::string less = OfAllRanks(job, lever) ? std::string("on each rank") : "on " + who;
  const std::string overlap =
      "overlap the collective with what the early ranks can compute next: less than " + saves;
  switch (JobKindOf(job)) {
    case JobKind::kExperts:
      return {fmt::format("the engine's balancing of experts{}: {}{}",
                          EngineSwitch(job, EngineFeature::kBalanceExperts), saves,
                          FollowsText(job, lever)),
              fmt::format("copies of busy experts, and experts placed anew by their load (as "
                          "DeepSeek's EPLB does): {}{}",
                          saves, FollowsText(job, lever))};
    case JobKind::kEmbeddings:
      return {fmt::format("shard the embedding tables by what they cost {} (the planner with "
                          "measured lookups, busy tables split by rows or columns): {}",
                          less, saves),
              overlap};
    case JobKind::kTensor:
      return {
          fmt::format("equal shards take equally long on equal GPUs: compare clocks, power and "
                      "temperature {} (`nvidia-smi -q -d PERFORMANCE,CLOCK`) and what else runs "
                      "there: {}",
                      less, saves),
          overlap};
    case JobKind::kPipeline:
      return {fmt::format("move layers between stages until each takes as long, first and last "
                          "(embedding, loss) with fewer: {}",
                          saves),
              overlap};
    case JobKind::kData:
      return {
          fmt::format("equal batches {}: the same number of tokens, samples sorted or packed by "
                      "length: {}",
                      less, saves),
          overlap};
    case JobKind::kUnknown: break;
  }
  return {
      fmt::format("{}: {}",
                  OfAllRanks(job, lever) ? std::string("divide the work of each step more evenly")
                                         : fmt::format("give {} less of the work", who),
                  saves),
      overlap};
}

}  // namespace jarvis::tools
