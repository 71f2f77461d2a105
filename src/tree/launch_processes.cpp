#include "tree/launch_processes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "trace/metadata.h"
#include "trace/rank_label.h"

namespace jarvis::tree {
namespace {

using trace::EventIndex;
using trace::EventStore;

// A process is not the launcher of a place where more of its work than this does not fit: belongs
// to no call of the process, starts before it, or is more than its calls can have launched.
constexpr double kMisfitShare = 0.05;
// More processes, or places, than merged files have: they are told apart by labels alone.
constexpr std::size_t kProcessesMax = 256;
// A longer pid has no label.
constexpr std::size_t kPidBytesMax = 256;

bool HasWord(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c | 32) >= 'a'; });
}

// What is left of a pid without one of its numbers: "[TP01] 1001" and "[TP01] 0" share "[TP01] ".
std::vector<std::string> LabelsOfPid(std::string_view pid) {
  std::vector<std::string> labels;
  if (pid.size() > kPidBytesMax) return labels;
  for (std::size_t at = 0; at < pid.size();) {
    at = pid.find_first_of("0123456789", at);
    if (at == std::string_view::npos) break;
    const std::size_t end = std::min(pid.find_first_not_of("0123456789", at), pid.size());
    std::string rest = std::string(pid.substr(0, at)) + '\0' + std::string(pid.substr(end));
    if (HasWord(rest)) labels.push_back(std::move(rest));
    at = end;
  }
  return labels;
}

class Pairing {
 public:
  Pairing(const EventStore& events, std::vector<std::uint32_t> of_track,
          std::span<const IdentifiedEvent> calls, std::vector<IdentifiedEvent> works)
      : events_(events), calls_(calls), works_(std::move(works)) {
    found_.of_track = std::move(of_track);
    std::uint32_t count = 0;
    for (const std::uint32_t process : found_.of_track)
      count = std::max(count, process + 1);
    found_.launcher.resize(count, kNoProcess);
    pids_.resize(count);
    for (std::size_t track = 0; track < found_.of_track.size(); ++track)
      pids_[found_.of_track[track]] = events_.tracks[track].pid;
    std::sort(works_.begin(), works_.end(), ById);
  }

  LaunchProcesses Run() {
    FindHosts();
    FindPlaces();
    PairByLabel();
    if (hosts_.size() <= kProcessesMax && places_.size() <= kProcessesMax) {
      Compare();
      Exclude();
      PairByOrder();
      Exclude();
    }
    for (const auto& [place, of] : places_)
      found_.launcher[place] = of.launcher;
    return std::move(found_);
  }

 private:
  struct Span {  // of uids
    std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t last = 0;
    void Add(std::uint32_t uid) {
      first = std::min(first, uid);
      last = std::max(last, uid);
    }
  };
  struct Place {
    Span uids;
    std::uint64_t works = 0;              // whose id a call has
    std::vector<std::uint64_t> misfits;   // by place in hosts_
    std::vector<std::uint32_t> possible;  // processes
    std::uint32_t launcher = kNoProcess;
  };

  void FindHosts() {
    std::map<std::uint32_t, Span> hosts;
    for (const IdentifiedEvent& call : calls_)
      hosts[call.process].Add(events_[call.event].uid);
    for (const auto& [process, uids] : hosts) {
      host_index_[process] = hosts_.size();
      hosts_.push_back(process);
      host_uids_.push_back(uids);
    }
  }

  void FindPlaces() {
    for (const IdentifiedEvent& work : works_)
      places_[work.process].uids.Add(events_[work.event].uid);
  }

  void PairByLabel() {
    const std::vector<trace::TrackNames> names = trace::ReadTrackNames(events_);
    std::vector<std::string_view> name_of(pids_.size(), "Unknown");
    for (std::size_t track = 0; track < names.size(); ++track)
      name_of[found_.of_track[track]] = names[track].process_name;
    const auto rank_of = [&](std::uint32_t process) {
      trace::RankLabel label = trace::RankLabelIn(pids_[process]);
      return label.empty() ? trace::RankLabelIn(name_of[process]) : label;
    };
    std::map<std::string, std::vector<std::uint32_t>> by_label;
    std::map<trace::RankLabel, std::vector<std::uint32_t>> by_rank;
    for (const std::uint32_t host : hosts_) {
      for (std::string& label : LabelsOfPid(pids_[host]))
        by_label[std::move(label)].push_back(host);
      if (const auto rank = rank_of(host); !rank.empty()) by_rank[rank].push_back(host);
    }
    const auto only = [](const auto& map, const auto& key) {
      const auto found = map.find(key);
      return found != map.end() && found->second.size() == 1 ? found->second.front() : kNoProcess;
    };
    for (auto& [place, of] : places_) {
      if (const auto rank = rank_of(place); !rank.empty()) of.launcher = only(by_rank, rank);
      for (const std::string& label : LabelsOfPid(pids_[place])) {
        if (of.launcher == kNoProcess) of.launcher = only(by_label, label);
      }
    }
  }

  // How much of each place's work does not fit each process.
  void Compare() {
    for (auto& [process, place] : places_)
      place.misfits.resize(hosts_.size(), 0);
    std::size_t call = 0;
    for (std::size_t first = 0, end = 0; first < works_.size(); first = end) {
      const std::int64_t id = works_[first].id;
      while (call < calls_.size() && calls_[call].id < id)
        ++call;
      std::size_t calls_end = call;
      while (calls_end < calls_.size() && calls_[calls_end].id == id)
        ++calls_end;
      for (end = first; end < works_.size() && works_[end].id == id;) {
        const std::size_t begin = end;
        while (end < works_.size() && works_[end].id == id &&
               works_[end].process == works_[begin].process)
          ++end;
        if (call < calls_end) CompareId(begin, end, call, calls_end);
      }
      call = calls_end;
    }
    for (auto& [process, place] : places_) {
      if (place.works == 0) continue;
      const auto least =
          static_cast<double>(*std::min_element(place.misfits.begin(), place.misfits.end()));
      const auto works = static_cast<double>(place.works);
      for (std::size_t host = 0; host < hosts_.size(); ++host) {
        const auto misfits = static_cast<double>(place.misfits[host]);
        if (misfits <= kMisfitShare * works && misfits <= 2 * least + 0.01 * works)
          place.possible.push_back(hosts_[host]);
      }
      // A name is believed only where nothing speaks against it.
      if (place.launcher != kNoProcess &&
          2 * place.misfits[host_index_[place.launcher]] > place.works)
        place.launcher = kNoProcess;
    }
  }

  // Works [begin, end) of one id and place against the calls of that id.
  void CompareId(std::size_t begin, std::size_t end, std::size_t call, std::size_t calls_end) {
    Place& place = places_[works_[begin].process];
    const std::uint64_t works = end - begin;
    place.works += works;
    for (std::uint64_t& misfits : place.misfits)
      misfits += works;
    while (call < calls_end) {
      const IdentifiedEvent& first = calls_[call];
      bool graph = false;
      std::uint64_t calls = 0;
      for (; call < calls_end && calls_[call].process == first.process; ++call, ++calls)
        graph = graph || events_.name(calls_[call].event).find("Graph") != std::string_view::npos;
      std::uint64_t fits = static_cast<std::uint64_t>(
          std::count_if(works_.begin() + static_cast<std::ptrdiff_t>(begin),
                        works_.begin() + static_cast<std::ptrdiff_t>(end),
                        [&](const IdentifiedEvent& work) { return work.ts_ns >= first.ts_ns; }));
      // One call launches one piece of work, if it is no graph.
      if (!graph) fits = std::min(fits, calls);
      place.misfits[host_index_[first.process]] -= fits;
    }
  }

  // A place that fits one process is its; a process that fits one free place launched its work. In
  // a file of as many places as processes each process has one.
  void Exclude() {
    std::size_t used = 0;
    std::set<std::uint32_t> placed;  // processes that have a place
    for (const auto& [process, place] : places_) {
      used += place.works > 0 ? 1 : 0;
      placed.insert(place.launcher);
    }
    for (bool changed = true; changed;) {
      changed = false;
      const auto pair = [&](Place* place, std::uint32_t host) {
        place->launcher = host;
        placed.insert(host);
        changed = true;
      };
      for (auto& [process, place] : places_) {
        if (place.launcher != kNoProcess) continue;
        if (used == hosts_.size())
          std::erase_if(place.possible, [&](std::uint32_t host) { return placed.contains(host); });
        if (place.possible.size() == 1) pair(&place, place.possible.front());
      }
      for (const std::uint32_t host : hosts_) {
        if (placed.contains(host)) continue;
        Place* free = nullptr;
        std::size_t choices = 0;
        for (auto& [process, place] : places_) {
          if (place.launcher != kNoProcess) continue;
          if (std::find(place.possible.begin(), place.possible.end(), host) == place.possible.end())
            continue;
          free = &place;
          ++choices;
        }
        if (choices == 1) pair(free, host);
      }
    }
  }

  // In a file that was put together one rank after the other.
  void PairByOrder() {
    std::vector<std::size_t> order(hosts_.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return host_uids_[a].first < host_uids_[b].first;
    });
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      if (host_uids_[order[i]].last >= host_uids_[order[i + 1]].first) return;
    }
    for (auto& [process, place] : places_) {
      if (place.launcher != kNoProcess) continue;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::uint32_t end = i + 1 < order.size() ? host_uids_[order[i + 1]].first
                                                       : std::numeric_limits<std::uint32_t>::max();
        const std::uint32_t host = hosts_[order[i]];
        const bool inside = place.uids.first >= host_uids_[order[i]].first && place.uids.last < end;
        if (inside &&
            std::find(place.possible.begin(), place.possible.end(), host) != place.possible.end())
          place.launcher = host;
      }
    }
  }

  const EventStore& events_;
  std::span<const IdentifiedEvent> calls_;
  std::vector<IdentifiedEvent> works_;
  LaunchProcesses found_;
  std::vector<std::string_view> pids_;  // by process
  std::vector<std::uint32_t> hosts_;    // processes that call
  std::vector<Span> host_uids_;         // as hosts_
  std::unordered_map<std::uint32_t, std::size_t> host_index_;
  std::map<std::uint32_t, Place> places_;  // by process
};

}  // namespace

bool ById(const IdentifiedEvent& a, const IdentifiedEvent& b) {
  return std::tie(a.id, a.process, a.ts_ns) < std::tie(b.id, b.process, b.ts_ns);
}

std::vector<std::uint32_t> ProcessesOfTracks(const EventStore& events) {
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  std::vector<std::uint32_t> of_track;
  for (const trace::Track& track : events.tracks)
    of_track.push_back(
        numbers.try_emplace(track.pid, static_cast<std::uint32_t>(numbers.size())).first->second);
  return of_track;
}

LaunchProcesses FindLaunchProcesses(const EventStore& events, std::vector<std::uint32_t> of_track,
                                    std::span<const IdentifiedEvent> calls,
                                    std::vector<IdentifiedEvent> works) {
  return Pairing(events, std::move(of_track), calls, std::move(works)).Run();
}

}  // namespace jarvis::tree
