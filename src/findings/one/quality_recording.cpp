#include "findings/one/quality_recording.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/ranks/rank_digest.h"
#include "analysis/ranks/rank_set.h"
#include "base/number_text.h"
#include "base/text.h"
#include "findings/one/cpu_steps.h"
#include "findings/one/equal_calls.h"
#include "findings/one/quality_parts.h"
#include "findings/one/rank_part_text.h"
#include "findings/one/step_base.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "trace/how_to_record.h"
#include "trace/secrets.h"
#include "tree/nest.h"

namespace jarvis::findings {
namespace {

using trace::Oddity;

class RecordingQualities {
 public:
  RecordingQualities(const session::LoadedTrace& trace, std::vector<Quality>* list)
      : trace_(trace), base_(TimeBaseOf(trace)), list_(*list) {}

  void Run() {
    Damage();
    Part();
    CutOff();
    LaunchesWithoutWork();
    HolesInSteps();
    TimeUnit();
    Ranks();
    Coverage();
    Captures();
    DeepNesting();
    Oddities();
    Notes();
    Missing();
    Secrets();
  }

 private:
  Quality& Add(std::string code, Severity severity, std::string text) {
    Quality& added = list_.emplace_back();
    added.code = std::move(code);
    added.severity = severity;
    added.text = std::move(text);
    return added;
  }

  void Damage() {
    if (trace_.trace().damage.empty()) return;
    Quality& q =
        Add("partial", Severity::kHard, "The file is damaged: " + trace_.trace().damage + ".");
    q.remedy = "partial";
    q.consequence = "The time after the damage is unknown.";
    q.record = "stop the profiler before the process ends, and copy the whole file";
  }

  void Part() {
    const auto& window = trace_.trace().window;
    if (!window) return;
    const std::string steps = window->steps.empty() ? "" : ", steps " + window->steps;
    Quality& q =
        Add("part_of_recording", Severity::kNote,
            fmt::format("Only {:.3f} to {:.3f} ms of the recording's {:.3f} ms are read{}.",
                        window->from_ms(), window->to_ms(), window->recording_ms(), steps));
    q.remedy = "partial";
    q.consequence = "All results are for this part only.";
  }

  void RankPart(const session::RankPart& part) {
    Quality& q = Add("rank_of_file", Severity::kNote, RankPartText(part));
    q.count = part.host_left_out + part.gpu_left_out;
    q.consequence = LeftOutText(part);
  }

  void Ranks() {
    if (const auto& part = trace_.rank_part()) RankPart(*part);
    const analysis::MergedRanks merged =
        analysis::FindMergedRanks(trace_.events(), trace_.trace().metadata, trace_.track_names(),
                                  trace_.tree().launch_processes());
    const std::vector<std::int64_t> ranks = merged.Ranks();
    const std::vector<DeviceBusy> devices = Devices();
    if (ranks.size() >= 2) {
      Quality& q = Add("merged_ranks", Severity::kNote,
                       fmt::format("The file holds {} ranks ({}{}): totals add up all their GPUs; "
                                   "load_trace with `rank` reads one of them, "
                                   "collectives compares them.",
                                   ranks.size(), analysis::RankList(ranks),
                                   merged.assumed ? ", numbered in the order of the file" : ""));
      q.value = static_cast<double>(devices.size());
      q.consequence = "Busy and idle time of one GPU cannot be read from the totals.";
      return;
    }
    if (devices.size() > 1) {
      std::string each;
      constexpr std::size_t kTold = 8;
      for (std::size_t i = 0; i < std::min(kTold, devices.size()); ++i) {
        each += fmt::format("{}device {} is busy for {} ms", i == 0 ? "" : ", ",
                            OneLine(devices[i].name), ShortNumber(devices[i].busy_ms));
      }
      if (devices.size() > kTold) each += fmt::format(", and {} more", devices.size() - kTold);
      const auto count = static_cast<double>(devices.size());
      Quality& q = Add("multi_device", Severity::kWarning,
                       fmt::format("GPU work of {} devices is in one file: {}. Busy time is the "
                                   "time in which any of them works; times of ops add up over "
                                   "all of them, so their share of the step can be up to {:.0f}%.",
                                   count, each, 100 * count));
      q.value = count;
      q.threshold = 1;
      q.consequence =
          "Idle time of one device cannot be read from the totals; gpu_timeline shows the busy "
          "time of each.";
    }
    OneRank();
  }

  struct DeviceBusy {
    std::string_view name;  // what its work is filed under
    double busy_ms = 0;
  };

  std::vector<DeviceBusy> Devices() {
    std::map<std::string_view, std::vector<Interval<std::int64_t>>, decltype(&NaturallyBefore)>
        work(&NaturallyBefore);
    std::vector<Interval<std::int64_t>> sums;
    const trace::EventStore& events = trace_.events();
    double sum_ms = 0;
    for (const trace::EventIndex e : trace_.attribution().timeline) {
      work[events.tracks[events[e].track].pid].push_back({events[e].ts_ns, events[e].end_ns()});
      sum_ms += static_cast<double>(events[e].dur_ns) / 1e6;
    }
    std::vector<DeviceBusy> devices;
    double busy_ms = 0;
    for (auto& [name, intervals] : work) {
      devices.push_back({name, static_cast<double>(Length(Union(std::move(intervals)))) / 1e6});
      busy_ms += devices.back().busy_ms;
    }
    Overlap(sum_ms, busy_ms);
    return devices;
  }

  // Kernels that run beside each other on one device: of several streams, or on one stream where a
  // kernel starts before the one before it ends (programmatic dependent launch).
  void Overlap(double sum_ms, double busy_ms) {
    if (busy_ms <= 0 || sum_ms < limits::kOverlapNoted * busy_ms) return;
    Quality& q = Add(
        "overlapping_kernels", Severity::kNote,
        fmt::format("Kernels overlap on the GPU: their durations add up to {} ms within {} ms of "
                    "busy time ({:.0f}%).",
                    ShortNumber(sum_ms), ShortNumber(busy_ms), 100 * sum_ms / busy_ms));
    q.value = 100 * sum_ms / busy_ms;
    q.threshold = 100 * limits::kOverlapNoted;
    q.unit = "%";
    q.consequence =
        "Times and shares of ops add up to more than the step. A kernel that waits for another "
        "one or shares the GPU with it takes longer than alone, so its rate is a lower bound.";
  }

  // Captures of GPU graphs that were named or found and serve no replay.
  void Captures() {
    const session::CaptureUse& use = trace_.capture();
    if (use.replays == 0) {
      if (use.named.empty()) return;
      Quality& q = Add("capture_not_used", Severity::kNote,
                       "No replay of a GPU graph with its kernels is in the trace: the capture " +
                           OneLine(use.named) + " is not used.");
      q.evidence = use.named;
      return;
    }
    if (use.unused.empty() || use.aligned == use.replays) return;
    const session::UnusedCapture& first = use.unused.front();
    std::string text =
        fmt::format("The capture {} is not used: it {}", OneLine(first.path), first.why);
    if (use.unused.size() > 1)
      text += fmt::format(" ({} more are not used)", use.unused.size() - 1);
    Quality& q = Add("capture_not_used", Severity::kWarning, text + ".");
    q.count = use.kernels - use.aligned_kernels;
    q.evidence = first.path;
    SetTime(base_, (use.gpu_us - use.aligned_us) / 1000, 0, &q);
    q.consequence = "Ops, shapes and modules of the kernels that it covers are unknown.";
    q.record = "the capture of the same server and rank, for the batch sizes that are run";
  }

  void OneRank() {
    const trace::Metadata& metadata = trace_.trace().metadata;
    const std::int64_t world = metadata.world_size.value_or(0);
    if (!trace_.timeline()) return;
    // Nobody can stop this one, so that it cannot fail. Without what earlier steps launched.
    const auto frames = session::FramesOf(trace_, Job()).value();
    const double exposed_ms = static_cast<double>(frames->frames.steady.exposed_comm_ns) / 1e6;
    // Some all-reduces go by other names: a little of it says nothing of all of it.
    constexpr double kTold = 0.005;
    const bool told = trace_.timeline()->total_comm > kTold * trace_.timeline()->total;
    const double comm_ms = told ? trace_.timeline()->total_comm / 1000 : 0;
    if (world == 1 || (world == 0 && comm_ms <= 0)) return;
    const std::string who =
        metadata.rank ? fmt::format("rank {}", *metadata.rank) : std::string("one rank");
    const auto& part = trace_.rank_part();
    std::string text = part        ? "This is " + part->Text()
                       : world > 1 ? fmt::format("This is {} of {}", who, world)
                                   : std::string("Collectives ran, so this is one rank of several");
    if (comm_ms > 0) {
      const auto steps = static_cast<double>(StepBaseOf(frames->frames, 1).count);
      text += fmt::format("; exposed communication takes {} ms{}", ShortNumber(exposed_ms / steps),
                          steps > 1 ? PerUnit(frames->frames.base) : "");
    }
    Quality& q = Add("one_rank", comm_ms > 0 ? Severity::kWarning : Severity::kNote, text + ".");
    if (comm_ms > 0) SetTime(base_, exposed_ms, 0, &q);
    const bool in_file = part && part->ranks.size() > 1;
    q.consequence = comm_ms <= 0 ? "Whether other ranks wait for this one is unknown."
                    : in_file ? "How much of it is waiting for the others, and how much transfer, "
                                "is not in this report."
                              : "Waiting for other ranks and slow transfer look the same in one "
                                "rank, so the cause and the bandwidth are unknown.";
    q.record = in_file ? "nothing new: `jarvis collectives` on this same file splits waiting from "
                         "transfer"
                       : "all ranks over the same steps; pass their folder to jarvis collectives";
    if (auto calls = comm_ms > 0 ? EqualCallsText(trace_) : std::nullopt)
      q.consequence = std::move(*calls);
  }

  void Coverage() {
    const analysis::Coverage& coverage = trace_.coverage();
    const auto share = [&](const analysis::Coverage::Part& part) -> std::optional<double> {
      if (coverage.all.time_us <= 0) return std::nullopt;
      return part.time_us / coverage.all.time_us * 100;
    };
    if (trace_.tree().ambiguous() > 0) Ambiguous();
    if (coverage.unlinked.count > trace_.tree().ambiguous()) Unlinked(share(coverage.unlinked));
    const std::uint64_t without_op = coverage.linked.count - coverage.with_op.count;
    if (without_op > 0 && trace_.attribution().cpu_ops) {
      const double us = coverage.linked.time_us - coverage.with_op.time_us;
      Quality& q = Add("gpu_work_without_op", Severity::kNote,
                       "GPU work launched outside of any op (graph replays, raw launches) stands "
                       "under its launch call.");
      q.count = without_op;
      q.gpu_percent = share({without_op, us});
      q.consequence = "Ops, shapes and modules of this work are unknown.";
    }
    if (trace_.tree().linked_by_external_id() > 0) {
      Quality& q = Add("linked_by_external_id", Severity::kNote,
                       "GPU work whose launch calls are not in the trace was linked to its op by "
                       "External id.");
      q.count = trace_.tree().linked_by_external_id();
      q.remedy = "repaired";
      q.consequence = "How far the host runs ahead of the GPU is unknown for it.";
    }
    if (trace_.tree().moved_calls() > 0) {
      Quality& q = Add("launch_beside_op", Severity::kNote,
                       "Launch calls lie a few microseconds outside the op that their External id "
                       "names: their GPU work counts under that op.");
      q.count = trace_.tree().moved_calls();
      q.remedy = "repaired";
      q.consequence = "Times of these calls are off by microseconds against those of their ops.";
    }
  }

  // Ids of several processes, of ranks that a tool merged into one file.
  void Ambiguous() {
    Quality& q = Add("ambiguous_launches", Severity::kWarning,
                     fmt::format("{} pieces of GPU work have correlation ids that several "
                                 "processes of this file use, and nothing says which of them "
                                 "launched the work: it is not linked to any op.",
                                 trace_.tree().ambiguous()));
    q.count = trace_.tree().ambiguous();
    q.consequence =
        "Ops, shapes and callers of this work are unknown. Totals of the GPU and of kernels "
        "include "
        "it.";
    q.record =
        "give the traces of the ranks as they were recorded, or merge them with merge_ranks, "
        "which keeps ids apart";
  }

  // Host events that would stand deeper than the tree goes.
  void DeepNesting() {
    const std::span<const trace::EventIndex> order = trace_.tree().preorder();
    const trace::EventStore& events = trace_.events();
    std::vector<std::size_t> level(order.size(), 1);
    std::uint64_t cut = 0;
    trace::EventIndex last = trace::kNoEvent;  // on the deepest level
    for (std::size_t at = 0; at < order.size(); ++at) {
      const trace::EventIndex up = trace_.tree().parent(order[at]);
      if (up != trace::kNoEvent) level[at] = level[trace_.tree().position(up)] + 1;
      if (level[at] != tree::kLevelsMax) continue;
      const trace::EventIndex e = order[at];
      const bool same_thread = last != trace::kNoEvent && events[last].track == events[e].track;
      if (same_thread && events[e].ts_ns < events[last].end_ns()) ++cut;
      last = e;
    }
    if (cut == 0) return;
    Quality& q = Add("deep_nesting", Severity::kNote,
                     fmt::format("Calls nested deeper than {} levels stand side by side on the "
                                 "last one.",
                                 tree::kLevelsMax));
    q.count = cut;
    q.remedy = "repaired";
    q.consequence = "Callers and self times of these calls are not separated.";
  }

  void Unlinked(std::optional<double> percent) {
    const analysis::Coverage& coverage = trace_.coverage();
    const trace::EventStore& events = trace_.events();
    std::vector<Interval<std::int64_t>> work;
    for (const trace::EventIndex e : trace_.tree().unlinked())
      work.push_back({events[e].ts_ns, events[e].end_ns()});
    const double busy_ms = static_cast<double>(Length(Union(std::move(work)))) / 1e6;
    const bool grave = percent.value_or(0) >= limits::kUnlinkedWarn;
    Quality& q = Add("unlinked_gpu_work", grave ? Severity::kWarning : Severity::kNote,
                     fmt::format("{} GPU events have no launch call in the trace and are named "
                                 "\"(unlinked)\"; they take {} ms of GPU time{}.",
                                 coverage.unlinked.count - trace_.tree().ambiguous(),
                                 ShortNumber(busy_ms), AloneText(busy_ms)));
    q.count = coverage.unlinked.count - trace_.tree().ambiguous();
    q.gpu_percent = percent;
    q.value = percent;
    q.threshold = limits::kUnlinkedWarn;
    q.unit = "%";
    if (!trace_.tree().unlinked().empty()) q.first_uid = events[trace_.tree().unlinked()[0]].uid;
    SetTime(RecordingOf(trace_), busy_ms, 0, &q);
    q.consequence = AtStart() ? "They were launched before the recording started. Whole-recording "
                                "and per-kernel totals "
                                "include them; per-step numbers do not."
                              : "The ops of this work are unknown.";
    q.record = "start recording before the work is launched (warm-up steps), or synchronize first";
  }

  // What of it the base of shares leaves out, where work of the recording runs beside the rest.
  std::string AloneText(double busy_ms) const {
    const auto frames = session::FramesOf(trace_, Job()).value();
    const double alone = static_cast<double>(frames->frames.whole.foreign_ns) / 1e6;
    if (alone <= 0 || alone > 0.95 * busy_ms) return {};
    return fmt::format(" ({} ms with no other work running)", ShortNumber(alone));
  }

  // Nearly all of it was launched before the recording, as steps have it.
  bool AtStart() const {
    const auto unlinked = trace_.tree().unlinked();
    if (unlinked.empty()) return false;
    const auto frames = session::FramesOf(trace_, Job()).value();  // cannot be stopped, nor fail
    std::vector<trace::EventIndex> foreign = frames->frames.foreign;
    std::sort(foreign.begin(), foreign.end());
    const auto inside = static_cast<std::size_t>(
        std::count_if(unlinked.begin(), unlinked.end(), [&](trace::EventIndex e) {
          return std::binary_search(foreign.begin(), foreign.end(), e);
        }));
    return 20 * inside >= 19 * unlinked.size();
  }

  void Oddities() {
    const trace::Oddities& oddities = trace_.events().oddities;
    for (const Oddity oddity : oddities.Seen()) {
      if (oddity == Oddity::kTruncated || oddity == Oddity::kDamagedContainer) continue;
      const trace::OddityInfo& info = trace::Info(oddity);
      const bool noted = info.remedy == trace::Remedy::kNoted;
      Quality& q = Add(std::string(info.name), noted ? Severity::kNote : Severity::kWarning,
                       std::string(info.text));
      q.count = oddities.count(oddity);
      q.first_uid = oddities.first(oddity);
      q.remedy = trace::RemedyName(info.remedy);
    }
  }

  void Lacks(const char* code, Severity severity, const char* text, const char* consequence,
             std::string_view record) {
    Quality& q = Add(code, severity, text);
    q.consequence = consequence;
    q.record = trace::PlainWords(record);
  }

  // What a recorder of its own kind says of its recording.
  void Notes() {
    const auto& recording = trace_.trace().metadata.recording;
    if (!recording) return;
    for (const trace::Recording::Note& note : recording->notes) {
      Quality& q = Add(note.code, Severity::kNote, note.text);
      q.count = note.count;
      q.record = note.record;
    }
  }

  void Missing() {
    const session::Recorded& recorded = trace_.recorded();
    if (!recorded.gpu_work && recorded.cpu_ops && !ShowsGpu(trace_)) {
      Lacks("no_gpu_work", Severity::kNote, "The trace has no GPU work and no sign of a GPU.",
            "All results are for the host only.", "");
    } else if (!recorded.gpu_work) {
      Lacks("no_gpu_work", Severity::kHard, "The trace has no GPU work.",
            "The trace says nothing about the GPU.", how_.gpu_work);
    }
    if (!recorded.cpu_ops) {
      Lacks("no_cpu_ops", Severity::kWarning, "No ops were recorded.",
            "The op of a kernel, its efficiency and possible fusions are unknown.", how_.ops);
    } else if (!recorded.shapes) {
      Lacks("no_shapes", Severity::kWarning, "Ops were recorded without shapes.",
            "Efficiency and savings against the roofline are unknown, and reproducers cannot be "
            "made.",
            how_.shapes);
    }
    if (recorded.cpu_ops && !recorded.python_frames && !recorded.call_stacks) {
      Lacks("no_stacks", Severity::kNote, "No Python stacks were recorded.",
            "The line of code that calls an op, and what Python does between ops, are unknown.",
            how_.stacks);
    } else if (how_.profiler.empty() && recorded.cpu_ops && !recorded.modules &&
               recorded.python_frames) {
      Lacks("no_modules", Severity::kNote, "No nn.Module frames were recorded.",
            "The module of an op is unknown.", how_.modules);
    }
  }

  void CutOff() {
    const auto frames = session::FramesOf(trace_, Job()).value();  // cannot be stopped, nor fail
    const std::uint64_t launches = frames->frames.launches_cut_off;
    if (launches == 0) return;
    Quality& q = Add("cut_off", Severity::kWarning,
                     fmt::format("The recording ends in the middle of the work: its last {} "
                                 "launches have no GPU work in it.",
                                 launches));
    q.count = launches;
    q.consequence =
        "Counts of layers and calls may cover only part of the model, and work still queued at the "
        "end is missing.";
    q.record = "stop after a step and a synchronization, and keep the whole file";
  }

  void LaunchesWithoutWork() {
    const auto made = session::FramesOf(trace_, Job()).value();  // cannot be stopped, nor fail
    const analysis::TimeFrames& frames = made->frames;
    const std::uint64_t launches = frames.launches_without_work;
    // A host that several devices share launches for all of them.
    const auto& part = trace_.rank_part();
    const std::uint64_t of_others = part && part->devices ? part->gpu_left_out : 0;
    if (launches <= of_others) return;
    std::string text = fmt::format("{} launch{} no kernel in the recording.", launches,
                                   launches == 1 ? " has" : "es have");
    std::size_t empty = 0;
    for (const analysis::StepFrame& step : frames.steps)
      empty += step.gpu_events == 0 ? 1 : 0;
    if (empty > 0 && empty < frames.steps.size()) {
      text += fmt::format(" {} of {} steps have no GPU work for that reason.", empty,
                          frames.steps.size());
    }
    if (frames.unrecorded_threads > 0) {
      text += fmt::format(
          " Among them are all {} launches of {} of its threads: probably on another GPU, whose "
          "kernels were not recorded.",
          frames.unrecorded_threads_launches, frames.unrecorded_threads);
    }
    Quality& q = Add("missing_kernels", Severity::kWarning, std::move(text));
    q.count = launches;
    q.first_uid = trace_.events()[frames.first_without_work].uid;
    q.value = 100 * static_cast<double>(launches) / static_cast<double>(frames.kernel_launches);
    q.unit = "%";
    q.consequence =
        "What they launched is missing: the GPU seems idle where it may have been busy.";
    q.record =
        fmt::format("steps after warm-up: {}; or fewer steps", trace::PlainWords(how_.warm_steps));
  }

  // A profiler's schedule that repeats leaves out what lies between its cycles.
  void HolesInSteps() {
    const auto made = session::FramesOf(trace_, Job()).value();  // cannot be stopped, nor fail
    const std::vector<analysis::StepHole>& holes = made->frames.base.holes;
    if (holes.empty()) return;
    constexpr std::size_t kShown = 4;
    std::vector<std::string> shown;
    for (const analysis::StepHole& hole : holes) {
      if (shown.size() == kShown) break;
      const std::string ms =
          ShortNumber(static_cast<double>(hole.span.end - hole.span.start) / 1e6) + " ms";
      if (!hole.first) {
        shown.push_back("nothing for " + ms);
      } else if (*hole.first == *hole.last) {
        shown.push_back(fmt::format("step {} ({})", *hole.first, ms));
      } else {
        shown.push_back(fmt::format("steps {} to {} ({})", *hole.first, *hole.last, ms));
      }
    }
    const std::size_t more = holes.size() - shown.size();
    const bool numbered = std::all_of(holes.begin(), holes.end(),
                                      [](const auto& hole) { return hole.first.has_value(); });
    Quality& q = Add(
        "steps_not_recorded", Severity::kNote,
        fmt::format("{}: {}{}.",
                    numbered ? "Steps were not recorded" : "Between steps nothing was recorded",
                    fmt::join(shown, ", "), more == 0 ? "" : fmt::format(" and {} more", more)));
    q.count = holes.size();
    q.ms = static_cast<double>(made->frames.holes_ns()) / 1e6;
    q.consequence = "That time belongs to no step and is not idle time: what ran in it is unknown.";
    q.record = "steps in a row: " + trace::PlainWords(how_.steps_in_a_row);
  }

  // No launch takes the host a millisecond each time: what is written as microseconds is shorter.
  void TimeUnit() {
    constexpr std::uint64_t kLaunchesLeast = 20;
    constexpr std::int64_t kLeastNs = 1'000'000;
    std::uint64_t launches = 0;
    const trace::EventStore& events = trace_.events();
    for (trace::EventIndex e = 0; e < events.size(); ++e) {
      if (!trace::IsLaunchCall(events[e].kind) || (events[e].flags & trace::kLeftOut) != 0)
        continue;
      if (events.name(e).find("LaunchKernel") == std::string_view::npos) continue;
      if (events[e].dur_ns < kLeastNs) return;
      ++launches;
    }
    if (launches < kLaunchesLeast) return;
    Quality& q = Add(
        "time_unit", Severity::kWarning,
        fmt::format("Each of {} launches takes longer than 1 ms: the file's times seem to be in "
                    "nanoseconds, while the format uses microseconds.",
                    launches));
    q.count = launches;
    q.consequence = "If so, all times are 1000 times too long, and rates as much too low.";
    q.record = "divide ts and dur of every event by 1000";
  }

  // Keys only: a value must never get out of here.
  void Secrets() {
    const trace::Secrets secrets = trace::FindSecrets(trace_.trace().metadata);
    if (!secrets.any()) return;
    constexpr std::size_t kShown = 5;
    constexpr std::size_t kLong = 60;
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < std::min(kShown, secrets.keys.size()); ++i)
      keys.push_back(secrets.keys[i].substr(0, kLong));
    std::string text = "The file's metadata holds ";
    if (secrets.environment > 0) {
      text += fmt::format("a process's whole environment ({} variables)", secrets.environment);
      if (!keys.empty()) text += ", with ";
    }
    if (!keys.empty()) {
      text += fmt::format("what looks like secrets: {}{}", fmt::join(keys, ", "),
                          secrets.keys.size() > kShown ? ", ..." : "");
    }
    const bool grave = !secrets.keys.empty();
    Quality& q = Add("secrets", grave ? Severity::kWarning : Severity::kNote, text + ".");
    q.count = secrets.keys.size();
    q.consequence =
        "No output repeats a value of it; the file itself gives them to whoever gets it.";
    q.record =
        "remove them from the file before it is shared, and replace tokens of files that were";
  }

  const session::LoadedTrace& trace_;
  const trace::HowToRecord& how_ = trace::HowToRecordNext(trace_.trace().metadata);
  const TimeBase base_;
  std::vector<Quality>& list_;
};

}  // namespace

void AddRecordingQualities(const session::LoadedTrace& trace, std::vector<Quality>* list) {
  RecordingQualities(trace, list).Run();
}

}  // namespace jarvis::findings
