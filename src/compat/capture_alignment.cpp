#include "compat/capture_alignment.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

namespace jarvis::compat {
namespace {

using trace::EventIndex;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Pairing {
 public:
  Pairing(const trace::EventStore& replayed, const analysis::ReplayedGraph& replay,
          const trace::EventStore& captured, const analysis::CapturedGraph& capture)
      : replayed_(replayed), gpu_(replay.gpu), captured_(captured), capture_(capture) {}

  std::vector<CapturedPair> Run(bool several_streams) const {
    if (several_streams) return ByStream();
    if (capture_.launches.size() != gpu_.size()) return WithoutSurplus();
    for (std::size_t i = 0; i < gpu_.size(); ++i) {
      const std::string_view kernel = capture_.kernels[i];
      if (!kernel.empty() && kernel != replayed_.name(gpu_[i])) return ByName();
    }
    std::vector<CapturedPair> pairs;
    for (std::size_t i = 0; i < gpu_.size(); ++i)
      pairs.emplace_back(gpu_[i], capture_.launches[i]);
    return pairs;
  }

 private:
  // What the launch started; of one without a recorded kernel its own name, which no kernel has.
  std::string_view KernelOf(std::size_t launch) const {
    const std::string_view kernel = capture_.kernels[launch];
    return kernel.empty() ? captured_.name(capture_.launches[launch]) : kernel;
  }

  bool Fits(EventIndex gpu, std::size_t launch) const {
    const std::string_view call = captured_.name(capture_.launches[launch]);
    const std::string_view name = replayed_.name(gpu);
    if (Has(call, "Memcpy") && Has(name, "Memcpy")) return true;
    if (Has(call, "Memset") && (Has(name, "Memset") || Has(name, "fillBuffer"))) return true;
    return KernelOf(launch) == name;
  }

  std::vector<CapturedPair> WithoutSurplus() const {
    std::vector<CapturedPair> pairs;
    std::size_t launch = 0;
    for (const EventIndex gpu : gpu_) {
      while (launch < capture_.launches.size() && !Fits(gpu, launch))
        ++launch;
      if (launch == capture_.launches.size()) return {};
      pairs.emplace_back(gpu, capture_.launches[launch++]);
    }
    return pairs;
  }

  // Linked in the order of the capture.
  std::vector<CapturedPair> ByName() const {
    std::map<std::string_view, std::vector<EventIndex>> replayed;
    for (const EventIndex gpu : gpu_)
      replayed[replayed_.name(gpu)].push_back(gpu);
    std::map<std::string_view, std::size_t> taken;
    std::vector<CapturedPair> pairs;
    for (std::size_t launch = 0; launch < capture_.launches.size(); ++launch) {
      const auto found = replayed.find(KernelOf(launch));
      if (found == replayed.end()) return {};
      const std::size_t at = taken[found->first]++;
      if (at >= found->second.size()) return {};
      pairs.emplace_back(found->second[at], capture_.launches[launch]);
    }
    return pairs;
  }

  struct Queue {
    std::vector<std::size_t> places;  // in gpu_
    std::size_t head = 0;
  };

  // In the order in which the streams first run something.
  std::vector<Queue> QueuesByStream() const {
    std::map<std::int64_t, std::size_t> known;
    std::vector<Queue> queues;
    for (std::size_t i = 0; i < gpu_.size(); ++i) {
      const std::int64_t stream = replayed_.args_of(gpu_[i]).stream;
      const auto [found, added] = known.try_emplace(stream, queues.size());
      if (added) queues.emplace_back();
      queues[found->second].places.push_back(i);
    }
    return queues;
  }

  // Launches that fit no stream's next kernel are dropped; of several streams that with the longest
  // run of further launches is meant, of equal ones the first.
  std::vector<CapturedPair> ByStream() const {
    std::vector<Queue> queues = QueuesByStream();
    std::vector<EventIndex> launch_of(gpu_.size(), trace::kNoEvent);
    std::size_t paired = 0;
    std::vector<Queue*> fitting;
    for (std::size_t launch = 0; launch < capture_.launches.size(); ++launch) {
      fitting.clear();
      for (Queue& queue : queues) {
        if (queue.head < queue.places.size() && Fits(gpu_[queue.places[queue.head]], launch)) {
          fitting.push_back(&queue);
        }
      }
      if (fitting.empty()) continue;
      Queue* meant = fitting.size() == 1 ? fitting.front() : LongestRun(fitting, launch);
      launch_of[meant->places[meant->head++]] = capture_.launches[launch];
      ++paired;
    }
    if (paired != gpu_.size()) return {};
    std::vector<CapturedPair> pairs;
    for (std::size_t i = 0; i < gpu_.size(); ++i)
      pairs.emplace_back(gpu_[i], launch_of[i]);
    return pairs;
  }

  Queue* LongestRun(const std::vector<Queue*>& queues, std::size_t launch) const {
    return *std::max_element(queues.begin(), queues.end(), [&](const Queue* a, const Queue* b) {
      return RunOf(*a, launch) < RunOf(*b, launch);
    });
  }

  // How many launches from one on fit what a stream runs next.
  std::size_t RunOf(const Queue& queue, std::size_t launch) const {
    constexpr std::size_t kFarEnough = 4096;  // else alike streams would cost their product
    std::size_t run = 0;
    while (run < kFarEnough && queue.head + run < queue.places.size() &&
           launch + run < capture_.launches.size() &&
           Fits(gpu_[queue.places[queue.head + run]], launch + run)) {
      ++run;
    }
    return run;
  }

  const trace::EventStore& replayed_;
  const std::vector<EventIndex>& gpu_;
  const trace::EventStore& captured_;
  const analysis::CapturedGraph& capture_;
};

}  // namespace

std::vector<CapturedPair> PairLikeTraceLens(const trace::EventStore& replayed,
                                            const analysis::ReplayedGraph& replay,
                                            const trace::EventStore& captured,
                                            const analysis::CapturedGraph& capture) {
  return Pairing(replayed, replay, captured, capture).Run(RunsOnSeveralStreams(replayed, replay));
}

bool RunsOnSeveralStreams(const trace::EventStore& replayed,
                          const analysis::ReplayedGraph& replay) {
  const auto stream = [&](EventIndex gpu) { return replayed.args_of(gpu).stream; };
  return std::any_of(replay.gpu.begin(), replay.gpu.end(),
                     [&](EventIndex gpu) { return stream(gpu) != stream(replay.gpu.front()); });
}

bool NamesItsKernels(const trace::EventStore& captured, const analysis::CapturedGraph& capture) {
  for (std::size_t i = 0; i < capture.launches.size(); ++i) {
    const std::string_view call = captured.name(capture.launches[i]);
    if (Has(call, "Memcpy") || Has(call, "Memset")) continue;
    if (capture.kernels[i].empty()) return false;
  }
  return true;
}

}  // namespace jarvis::compat
