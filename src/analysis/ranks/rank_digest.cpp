#include "analysis/ranks/rank_digest.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/attribution/attribution.h"
#include "analysis/ranks/collective_params.h"
#include "base/interval.h"
#include "base/text.h"
#include "trace/json_text.h"
#include "trace/rank_label.h"
#include "tree/correlation_index.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

// Does the kernel say nothing of its collective?
bool IsSilent(const CollectiveKeys& keys) {
  return keys[kCollective] == Cell() && keys[kIn] == Cell() && keys[kGroup] == Cell();
}

bool IsCommunicationKernel(std::string_view name) {
  return IsCollectiveName(name) || CommFamilyOfKernel(name).has_value();
}

class Digester {
 public:
  Digester(const trace::Trace& trace, const tree::CallTree& tree)
      : trace_(trace), events_(trace.events), tree_(tree) {}

  // `host`: whether a track is of the rank. `launches`: null for a digest without facts.
  RankDigest Run(const std::vector<EventIndex>& gpu, const std::vector<bool>& host,
                 const tree::CorrelationIndex* launches) {
    std::vector<EventIndex> comm;
    for (const EventIndex e : gpu) {
      if (events_[e].kind != EventKind::kKernel) continue;
      if (!IsCommunication(e)) continue;
      AddCall(e);
      comm.push_back(e);
    }
    if (launches != nullptr) AddTimes(gpu, comm, host, *launches);
    FillIn();
    return std::move(digest_);
  }

 private:
  void AddTimes(const std::vector<EventIndex>& gpu, const std::vector<EventIndex>& comm,
                const std::vector<bool>& host, const tree::CorrelationIndex& launches) {
    std::vector<EventIndex> counted;
    for (const EventIndex e : gpu) {
      if ((events_[e].flags & trace::kLeftOut) == 0) counted.push_back(e);
    }
    digest_.timeline = ComputeGpuTimeline(events_, counted, Clock::kNanoseconds);
    Cover(counted);
    digest_.facts = FindRankFacts(events_, counted, comm, host, launches);
    digest_.kernels = FindRankKernels(events_, counted, comm);
  }

  struct Recorded {
    CollectiveKeys keys;
    std::optional<std::int64_t> sequence;
    std::optional<std::int64_t> source;
    std::optional<std::int64_t> target;
  };

  bool IsCommunication(EventIndex e) {
    const auto [found, added] = communication_.try_emplace(events_[e].name, false);
    if (added) {
      found->second = IsCommunicationKernel(events_.name(e));
    }
    return found->second;
  }

  void AddCall(EventIndex e) {
    const trace::Args& args = events_.args_of(e);
    CollectiveCall call;
    call.ts_ns = events_[e].ts_ns;
    call.dur_ns = events_[e].dur_ns;
    call.ts_us = events_.ts_us(e);
    call.dur_us = DurationUs(events_, e, Clock::kDoubleMicros);
    call.linked = args.correlation != trace::kAbsent || args.external_id != trace::kAbsent;
    call.left_out = (events_[e].flags & trace::kLeftOut) != 0;
    call.modern = events_.categories[events_[e].category] == "kernel";
    call.counted = IsCollectiveName(events_.name(e));
    const Recorded& recorded = RecordedBy(e);
    call.sequence = recorded.sequence;
    CollectiveKind kind;
    kind.recorded = recorded.keys;
    kind.recorded[kStream] = args.stream != trace::kAbsent ? Cell(args.stream) : Cell();
    kind.known = kind.recorded;
    kind.kernel = events_.name(e);
    kind.source = recorded.source;
    kind.target = recorded.target;
    if (IsSilent(kind.recorded)) AskTheOp(e, &kind, &call);
    Cell& name = kind.known[kCollective];
    if (name == Cell()) name = CollectiveOfKernel(kind.kernel, true);
    call.kind = KindIndex(std::move(kind));
    digest_.calls.push_back(call);
  }

  void AskTheOp(EventIndex e, CollectiveKind* kind, CollectiveCall* call) {
    kind->known_by = KnownBy::kKernelName;
    const auto params = FindCollectiveParams(events_, tree_, e);
    if (!params) return;
    const Cell stream = kind->known[kStream];
    kind->known = params->keys;
    kind->known[kStream] = stream;
    kind->known_by = KnownBy::kParamComms;
    if (params->sequence) call->sequence = params->sequence;
    kind->source = params->source;
    kind->target = params->target;
    if (kind->known[kGroup] == Cell() && !params->group_handle.empty()) {
      auto& handles = handles_[kind->known[kGroupSize]];
      const auto found = std::find(handles.begin(), handles.end(), params->group_handle);
      kind->local_group = found - handles.begin() + 1;
      if (found == handles.end()) handles.push_back(params->group_handle);
    }
  }

  std::size_t KindIndex(CollectiveKind kind) {
    const auto [found, added] = kind_index_.try_emplace(std::move(kind), digest_.kinds.size());
    if (added) digest_.kinds.push_back(found->first);
    return found->second;
  }

  // What the kernel's args say; many kernels share theirs.
  const Recorded& RecordedBy(EventIndex e) {
    const StringId args = events_.args_of(e).other;
    const auto [found, added] = recorded_.try_emplace(args);
    if (added) {
      found->second.keys = RecordedCollective(events_, e);
      const auto number = [&](std::string_view key) {
        return trace::IntegerOf(trace::MemberOf(events_.text(args), key));
      };
      found->second.sequence = number("Seq");
      found->second.source = number("Src Rank");
      found->second.target = number("Dst Rank");
    }
    return found->second;
  }

  // How much of each call the rank computed meanwhile.
  void Cover(const std::vector<EventIndex>& gpu) {
    std::unordered_map<StringId, WorkClass> classes;  // of kernels, by name
    std::vector<EventIndex> computing;
    for (const EventIndex e : gpu) {
      if (events_[e].kind == EventKind::kMemcpy) continue;
      const auto [found, added] = classes.try_emplace(events_[e].name, WorkClass::kComputation);
      if (added) found->second = ClassOf(events_[e].kind, events_.name(e));
      if (found->second == WorkClass::kComputation) computing.push_back(e);
    }
    const auto busy = Union(IntervalsOf<std::int64_t>(events_, computing));
    for (CollectiveCall& call : digest_.calls) {
      const std::int64_t end = call.ts_ns + call.dur_ns;
      auto piece = std::partition_point(busy.begin(), busy.end(),
                                        [&](const auto& b) { return b.end <= call.ts_ns; });
      for (; piece != busy.end() && piece->start < end; ++piece)
        call.covered_ns += std::min(piece->end, end) - std::max(piece->start, call.ts_ns);
    }
  }

  void FillIn() {
    const trace::Metadata& metadata = trace_.metadata;
    digest_.rank = metadata.rank;
    digest_.world_size = metadata.world_size;
    for (const trace::TopLevelValue& value : metadata.values) {
      if (value.key == "deviceProperties") {
        digest_.devices = static_cast<std::int64_t>(metadata.devices.size());
      } else if (value.key == "baseTimeNanoseconds") {
        digest_.base_ns = trace::IntegerOf(value.json).value_or(0);
      }
    }
    if (!metadata.devices.empty()) digest_.device = metadata.devices.front().name;
  }

  const trace::Trace& trace_;
  const EventStore& events_;
  const tree::CallTree& tree_;
  RankDigest digest_;
  std::unordered_map<StringId, bool> communication_;  // by the kernel's name
  std::map<CollectiveKind, std::size_t> kind_index_;
  std::unordered_map<StringId, Recorded> recorded_;   // by the args' text
  std::map<Cell, std::vector<std::string>> handles_;  // of nameless groups, by size
};

// "rank 3: python", "RANK 3 - GPU".
std::optional<std::int64_t> RankOfProcess(std::string_view name) {
  constexpr std::string_view kWord = "rank ";
  if (!EqualsNoCase(name.substr(0, kWord.size()), kWord)) return std::nullopt;
  name.remove_prefix(kWord.size());
  const std::size_t digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
  if (!name.substr(digits).starts_with(": ") && !name.substr(digits).starts_with(" - "))
    return std::nullopt;
  return ParseInt(name.substr(0, digits));
}

// The processes that launched GPU work, as ranks.
class Merged {
 public:
  Merged(const EventStore& events, const trace::Metadata& metadata,
         const std::vector<trace::TrackNames>& names, const tree::LaunchProcesses& processes)
      : events_(events),
        says_rank_(metadata.rank || metadata.world_size),
        names_(names),
        processes_(processes) {}

  MergedRanks Run() {
    if (ByNames() || ByDevices()) return std::move(found_);
    if (!processes_.several()) return {};
    FindHosts();
    found_.mixed = hosts_.size() < 2 && calling_ > 1;
    if (hosts_.size() < 2) return std::move(found_);
    NumberHosts();
    found_.of_track.assign(names_.size(), -1);
    for (std::size_t track = 0; track < names_.size(); ++track) {
      const std::uint32_t process = processes_.of_track[track];
      const std::uint32_t launcher = processes_.launcher[process];
      const auto rank = rank_of_.find(launcher == tree::kNoProcess ? process : launcher);
      if (rank != rank_of_.end()) found_.of_track[track] = rank->second;
    }
    return std::move(found_);
  }

 private:
  bool ByNames() {
    bool any = false;
    for (const trace::TrackNames& names : names_) {
      const auto rank = RankOfProcess(names.process_name);
      any = any || rank.has_value();
      found_.of_track.push_back(rank.value_or(-1));
    }
    if (!any) found_.of_track.clear();
    return any;
  }

  // Of one process that drives several devices each device that runs kernels is a rank, that of its
  // number: in a recording of a host, and wherever several of them run collectives. Devices that
  // arguments are only copied to are none.
  bool ByDevices() {
    if (processes_.several()) return false;
    std::vector<std::int64_t> device(names_.size(), MergedRanks::kNone);
    std::set<std::int64_t> with_work, with_kernels, with_collectives;
    std::unordered_map<StringId, bool> collective;  // by the kernel's name
    for (const trace::Event& event : events_.events) {
      if (!trace::IsGpuWork(event.kind)) continue;
      std::int64_t& of = device[event.track];
      of = ParseInt(events_.tracks[event.track].pid).value_or(MergedRanks::kNone);
      if (of < 0) continue;
      with_work.insert(of);
      if (event.kind != trace::EventKind::kKernel) continue;
      with_kernels.insert(of);
      const auto [found, added] = collective.try_emplace(event.name, false);
      if (added) found->second = IsCommunicationKernel(events_.text(event.name));
      if (found->second) with_collectives.insert(of);
    }
    const bool of_host = events_.dialect.Name().starts_with("xplane");
    const bool of_collectives = !says_rank_ && with_collectives.size() > 1;
    if (with_work.size() < 2 || (!of_host && !of_collectives)) return false;
    for (std::int64_t& of : device) {
      if (of >= 0 && !with_kernels.empty() && !with_kernels.contains(of))
        of = MergedRanks::kLeftOut;
    }
    GiveThreads(of_host, &device);
    found_.of_track = std::move(device);
    found_.devices = true;
    return true;
  }

  // A thread that launches for one device alone is its rank's, but for those that run the program:
  // their frames are of all devices, and so are marks but in a recording of a host, where each
  // thread has its own.
  void GiveThreads(bool own_marks, std::vector<std::int64_t>* rank_of) const {
    std::unordered_map<std::int64_t, std::int64_t> device_of;  // by correlation
    const auto correlation = [&](const trace::Event& event) {
      return event.args == trace::kNoArgs ? trace::kAbsent : events_.args[event.args].correlation;
    };
    for (const trace::Event& event : events_.events) {
      if (trace::IsGpuWork(event.kind) && correlation(event) != trace::kAbsent)
        device_of.emplace(correlation(event), (*rank_of)[event.track]);
    }
    constexpr std::int64_t kSeveral = -3;
    std::unordered_map<std::uint32_t, std::int64_t> launches_for;  // by thread
    for (const trace::Event& event : events_.events) {
      std::int64_t device = MergedRanks::kNone;
      if (event.kind == trace::EventKind::kPythonFunction ||
          (event.kind == trace::EventKind::kUserAnnotation && !own_marks)) {
        device = kSeveral;
      } else if (trace::IsLaunchCall(event.kind)) {
        const auto found = device_of.find(correlation(event));
        if (found != device_of.end()) device = found->second;
      }
      if (device == MergedRanks::kNone) continue;
      const auto [thread, added] = launches_for.try_emplace(event.track, device);
      if (!added && thread->second != device) thread->second = kSeveral;
    }
    for (const auto& [track, device] : launches_for) {
      if (device >= 0) (*rank_of)[track] = device;
    }
  }

  void FindHosts() {
    std::set<std::uint32_t> calling;
    for (const trace::Event& event : events_.events) {
      const std::uint32_t process = processes_.of_track[event.track];
      if (trace::IsLaunchCall(event.kind)) calling.insert(process);
      if (!trace::IsGpuWork(event.kind)) continue;
      const std::uint32_t launcher = processes_.launcher[process];
      if (launcher == tree::kNoProcess) continue;
      const std::string_view pid = events_.tracks[event.track].pid;
      const auto [host, added] = hosts_.try_emplace(launcher, pid);
      if (!added && NaturallyBefore(pid, host->second)) host->second = pid;
    }
    calling_ = calling.size();
  }

  void NumberHosts() {
    std::vector<std::uint32_t> hosts;
    std::vector<trace::RankLabel> labels;
    for (const auto& [host, place] : hosts_)
      hosts.push_back(host);
    // Of equal ranks the order of the devices, else that of the file.
    std::stable_sort(hosts.begin(), hosts.end(), [&](std::uint32_t a, std::uint32_t b) {
      return NaturallyBefore(hosts_[a], hosts_[b]);
    });
    std::map<std::uint32_t, trace::RankLabel> label_of;
    for (std::size_t track = 0; track < names_.size(); ++track) {
      const std::uint32_t process = processes_.of_track[track];
      if (hosts_.contains(process) && !label_of.contains(process))
        label_of.emplace(process, LabelOf(track));
    }
    for (const std::uint32_t host : hosts)
      labels.push_back(label_of[host]);
    const auto ranks = trace::RanksOfLabels(labels);
    std::set<std::int64_t> distinct;
    for (const auto& rank : ranks)
      distinct.insert(rank.value_or(-1));
    found_.assumed = distinct.size() < hosts.size() || distinct.contains(-1);
    for (std::size_t i = 0; i < hosts.size(); ++i)
      rank_of_[hosts[i]] = found_.assumed ? static_cast<std::int64_t>(i) : *ranks[i];
  }

  trace::RankLabel LabelOf(std::size_t track) const {
    const trace::RankLabel label = trace::RankLabelIn(events_.tracks[track].pid);
    return label.empty() ? trace::RankLabelIn(names_[track].process_name) : label;
  }

  const EventStore& events_;
  const bool says_rank_;  // the process itself: it is one, whatever it drives
  const std::vector<trace::TrackNames>& names_;
  const tree::LaunchProcesses& processes_;
  MergedRanks found_;
  std::map<std::uint32_t, std::string_view> hosts_;  // that launched work, and the first place
  std::map<std::uint32_t, std::int64_t> rank_of_;
  std::size_t calling_ = 0;
};

Result<std::vector<RankDigest>> DigestRanks(const trace::Trace& trace, const tree::CallTree& tree,
                                            const tree::CorrelationIndex* launches, Job& job) {
  const MergedRanks merged =
      FindMergedRanks(trace.events, trace.metadata, trace.track_names, tree.launch_processes());
  const std::vector<std::int64_t>& rank_of = merged.of_track;
  std::map<std::int64_t, std::vector<EventIndex>> gpu;  // by rank
  for (const std::int64_t rank : rank_of)
    gpu[rank];
  if (rank_of.empty()) gpu[-1];
  for (EventIndex e = 0; e < trace.events.size(); ++e) {
    const trace::Event& event = trace.events[e];
    if (trace::IsGpuWork(event.kind)) gpu[rank_of.empty() ? -1 : rank_of[event.track]].push_back(e);
  }
  std::vector<RankDigest> digests;
  for (const auto& [rank, work] : gpu) {
    if (!rank_of.empty() && rank < 0) continue;  // tracks of no rank
    std::vector<bool> host(trace.events.tracks.size(), true);
    // Of one process that drives several devices the host is every rank's.
    const bool one_host = !tree.launch_processes().several();
    for (std::size_t track = 0; track < rank_of.size(); ++track)
      host[track] = rank_of[track] == rank || (one_host && rank_of[track] == MergedRanks::kNone);
    RankDigest digest = Digester(trace, tree).Run(work, host, launches);
    digest.mixed = merged.mixed;
    // What the file says of itself is of one of its ranks. They come in order.
    if (!rank_of.empty()) digest.rank.reset();
    if (!rank_of.empty() && !merged.assumed) digest.rank = rank;
    digests.push_back(std::move(digest));
    JV_TRY(job.Check());
  }
  return digests;
}

}  // namespace

std::vector<std::int64_t> MergedRanks::Ranks() const {
  std::vector<std::int64_t> ranks = of_track;
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::erase_if(ranks, [](std::int64_t rank) { return rank < 0; });
  return ranks;
}

MergedRanks FindMergedRanks(const EventStore& events, const trace::Metadata& metadata,
                            const std::vector<trace::TrackNames>& names,
                            const tree::LaunchProcesses& processes) {
  return Merged(events, metadata, names, processes).Run();
}

Result<std::vector<RankDigest>> DigestTrace(const trace::Trace& trace, const tree::CallTree& tree,
                                            Job& job) {
  const tree::CorrelationIndex launches(trace.events, tree::CorrelationIndex::Key::kCorrelation);
  return DigestRanks(trace, tree, &launches, job);
}

Result<std::vector<RankDigest>> DigestCollectives(const trace::Trace& trace,
                                                  const tree::CallTree& tree, Job& job) {
  return DigestRanks(trace, tree, nullptr, job);
}

}  // namespace jarvis::analysis
