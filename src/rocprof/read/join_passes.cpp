#include "rocprof/read/join_passes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace jarvis::rocprof {
namespace {

using Key = std::tuple<std::optional<std::int64_t>, std::uint32_t, std::int64_t, std::int64_t>;

Key KeyOf(const Process& process, const Dispatch& dispatch) {
  return {process.RankOf(dispatch), dispatch.kernel, dispatch.grid, dispatch.workgroup};
}

// Adds what `later` counted to `first`.
void Join(Process later, Process* first, Capture* capture) {
  std::map<Key, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < first->dispatches.size(); ++i)
    places[KeyOf(*first, first->dispatches[i])].push_back(i);
  std::map<Key, std::size_t> taken;
  for (Dispatch& dispatch : later.dispatches) {
    const Key key = KeyOf(later, dispatch);
    const auto same = places.find(key);
    const std::size_t occurrence = taken[key]++;
    if (same == places.end() || occurrence >= same->second.size()) {
      ++capture->unjoined;
      const Agent* agent = later.AgentOf(dispatch);
      dispatch.agent = -1;
      for (std::size_t i = 0; agent != nullptr && i < first->agents.size(); ++i) {
        const Agent& one = first->agents[i];
        if (one.gpu == agent->gpu && one.type_index == agent->type_index)
          dispatch.agent = static_cast<std::int32_t>(i);
      }
      first->dispatches.push_back(std::move(dispatch));
      continue;
    }
    ++capture->joined;
    std::vector<CounterValue>& counters = first->dispatches[same->second[occurrence]].counters;
    counters.insert(counters.end(), dispatch.counters.begin(), dispatch.counters.end());
  }
  first->files.insert(first->files.end(), later.files.begin(), later.files.end());
}

}  // namespace

void JoinPasses(Capture* capture) {
  std::map<Config, std::set<std::int32_t>> passes;
  for (const Process& process : capture->processes)
    passes[process.config].insert(process.pass);
  for (const auto& [config, numbers] : passes)
    capture->passes = std::max(capture->passes, static_cast<std::int32_t>(numbers.size()));
  std::vector<Process> all = std::move(capture->processes);
  capture->processes.clear();
  std::map<std::pair<Config, std::optional<std::int64_t>>, std::size_t> first;
  for (Process& process : all) {  // by config, pass, rank
    const auto [at, fresh] =
        first.try_emplace({process.config, process.rank}, capture->processes.size());
    if (fresh) {
      capture->processes.push_back(std::move(process));
      continue;
    }
    Process& into = capture->processes[at->second];
    if (into.pass == process.pass) {
      capture->processes.push_back(std::move(process));
    } else {
      Join(std::move(process), &into, capture);
    }
  }
  std::stable_sort(capture->processes.begin(), capture->processes.end(),
                   [](const Process& a, const Process& b) {
                     return std::tie(a.config, a.rank) < std::tie(b.config, b.rank);
                   });
}

}  // namespace jarvis::rocprof
