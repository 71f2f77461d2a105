#include "sweep/measure/measure.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/parallel.h"
#include "compat/sweep_scripts.h"
#include "perf/platform.h"
#include "session/collective_rules.h"
#include "session/loaded_trace.h"
#include "session/report.h"
#include "sweep/measure/gemm_facts.h"
#include "trace/json_text.h"

namespace jarvis::sweep {
namespace {

// One trace, read.
struct Read {
  RankFacts facts;
  std::optional<analysis::RankDigest> digest;
  std::optional<Error> error;
  std::string damage;
};

constexpr std::size_t kVersionsMax = 12;

session::ReportOptions OptionsOf(bool reference_compat) {
  session::ReportOptions options;
  options.kernel_summary = true;
  options.short_kernel_study = true;
  options.short_kernels.threshold_us = 50;  // as the sweep's scripts ask for
  if (reference_compat) {
    options.compat = session::Compat::kTraceLens;
    options.include_unlinked_kernels = true;
  }
  return options;
}

void ReadMachine(const trace::Metadata& metadata, RankFacts* facts) {
  if (!metadata.devices.empty()) {
    facts->device = metadata.devices.front().name;
    facts->compute_units = metadata.devices.front().sm_count.value_or(0);
  }
  for (const trace::TopLevelValue& value : metadata.values) {
    if (facts->versions.size() == kVersionsMax) break;
    if (value.key.ends_with("_version") && value.json.size() < 100)
      facts->versions.emplace_back(value.key, trace::Unquoted(value.json));
    if (value.key != "distributedInfo" || value.json.size() < 2) continue;
    // Without its braces it is a list of members.
    const std::string members = value.json.substr(1, value.json.size() - 2) + ",";
    const std::string_view nccl = trace::MemberOf(members, "nccl_version");
    if (!nccl.empty() && nccl.size() < 100)
      facts->versions.emplace_back("nccl_version", trace::Unquoted(nccl));
  }
}

class Measurer {
 public:
  Measurer(const io::FilePolicy& files, const MeasureOptions& options, SweepFacts* sweep)
      : files_(files), options_(options), sweep_(*sweep) {}

  Status Run(Job& job) {
    JV_TRY(Choose());
    std::vector<std::pair<std::size_t, const TraceFile*>> all;  // with its configuration
    for (const std::size_t c : chosen_) {
      for (const TraceFile& file : sweep_.sweep.configs[c].traces) {
        if (Wanted(file)) all.emplace_back(c, &file);
      }
    }
    std::vector<Read> read(all.size());
    const int cores = options_.threads > 0 ? options_.threads : DefaultThreads();
    const int at_once =
        static_cast<int>(std::clamp<std::size_t>(all.size(), 1, static_cast<std::size_t>(cores)));
    threads_ = std::max(1, cores / at_once);
    JV_TRY(ParallelJob(all.size(), at_once, "reading traces", job, [&](std::size_t i, Job& inner) {
      read[i] = ReadOne(*all[i].second, inner);
    }));
    sweep_.configs.resize(sweep_.sweep.configs.size());
    std::size_t good = 0;
    for (std::size_t c = 0; c < sweep_.configs.size(); ++c) {
      std::vector<std::pair<const TraceFile*, Read>> mine;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].first == c) mine.emplace_back(all[i].second, std::move(read[i]));
      }
      JV_TRY(Settle(c, std::move(mine)));
      good += sweep_.configs[c].ranks.size();
    }
    if (good == 0) {
      return Fail(
          ErrorCode::kNotATrace,
          fmt::format(
              "none of the {} traces of {} can be used: {}", all.size(), sweep_.sweep.name,
              sweep_.warnings.empty() ? "no rank was chosen" : sweep_.warnings.back().message),
          "sweep_scan lists what there is");
    }
    return {};
  }

 private:
  Status Choose() {
    const auto& configs = sweep_.sweep.configs;
    for (std::size_t c = 0; c < configs.size(); ++c) {
      if (options_.configs.empty() || std::find(options_.configs.begin(), options_.configs.end(),
                                                configs[c].label) != options_.configs.end()) {
        chosen_.push_back(c);
      }
    }
    for (const std::string& label : options_.configs) {
      if (std::any_of(configs.begin(), configs.end(),
                      [&](const Config& config) { return config.label == label; })) {
        continue;
      }
      std::string known;
      for (std::size_t c = 0; c < std::min<std::size_t>(configs.size(), 16); ++c)
        known += (c == 0 ? "" : ", ") + configs[c].label;
      return Fail(ErrorCode::kBadValue, fmt::format("the sweep has no configuration \"{}\"", label),
                  "there are: " + known);
    }
    return {};
  }

  bool Wanted(const TraceFile& file) const {
    return options_.ranks.empty() || !file.path_rank ||
           std::find(options_.ranks.begin(), options_.ranks.end(), *file.path_rank) !=
               options_.ranks.end();
  }

  Read ReadOne(const TraceFile& file, Job& job) const {
    Read read;
    read.facts.file = file.name;
    if (const Status status = Fill(file, job, &read); !status) read.error = status.error();
    return read;
  }

  Status Fill(const TraceFile& file, Job& job, Read* read) const {
    JV_ASSIGN(io::InputFile input, files_.OpenInput(file.path));
    const std::uint64_t bytes_max =
        options_.trace_bytes_max > 0 ? options_.trace_bytes_max : limits::kTraceBytesMax;
    JV_ASSIGN(
        const auto trace,
        session::LoadTrace(std::move(input), {.threads = threads_, .bytes_max = bytes_max}, job));
    read->damage = trace->trace().damage;
    if (!read->damage.empty()) return {};
    JV_ASSIGN(std::vector<analysis::RankDigest> digests,
              analysis::DigestTrace(trace->trace(), trace->tree(), job));
    if (digests.size() != 1) {
      return Fail(ErrorCode::kBadValue, fmt::format("it holds {} ranks merged", digests.size()));
    }
    read->digest = std::move(digests.front());
    read->digest->source = file.name;
    read->digest->named_rank = file.path_rank;
    RankFacts& facts = read->facts;
    facts.steps = trace->steps().size();
    ReadMachine(trace->trace().metadata, &facts);
    session::ReportOptions options = OptionsOf(options_.reference_compat);
    if (!options_.reference_compat && !facts.device.empty()) {
      if (const perf::Platform* known = perf::MatchDevice(facts.device)) options.platform = *known;
    }
    if (options_.tables && trace->recorded().gpu_work) {
      JV_ASSIGN(facts.tables, session::MakeReport(*trace, options, job));
      if (options_.reference_compat) compat::ShapeAsOf2025(&facts.tables);
    }
    return FindGemms(*trace, options_.reference_compat, job, &facts);
  }

  void Warn(const Config& config, std::optional<std::int64_t> rank, std::string file,
            std::string code, std::string message) {
    sweep_.warnings.push_back(
        {config.label, rank, std::move(file), std::move(code), std::move(message)});
  }

  // The ranks of one configuration: each once, whole ones only.
  Status Settle(std::size_t c, std::vector<std::pair<const TraceFile*, Read>> read) {
    const Config& config = sweep_.sweep.configs[c];
    ConfigFacts& facts = sweep_.configs[c];
    std::vector<analysis::RankDigest> digests;
    std::map<std::string, RankFacts> by_file;
    bool lost = false;
    for (auto& [file, one] : read) {
      if (one.error || !one.damage.empty()) {
        lost = true;
        if (one.error) {
          Warn(config, file->path_rank, file->name, "TRACE_UNREADABLE",
               fmt::format("cannot be read: {}", one.error->message));
        } else {
          Warn(config, file->path_rank, file->name, "TRACE_TRUNCATED",
               fmt::format("is not whole ({}); left out, for a part of a rank would bend the "
                           "means; load_trace reads what there is",
                           one.damage));
        }
        continue;
      }
      if (!one.digest->timeline) {
        lost = true;
        Warn(config, file->path_rank, file->name, "TRACE_EMPTY", "has no GPU work");
        continue;
      }
      digests.push_back(std::move(*one.digest));
      by_file.emplace(file->name, std::move(one.facts));
    }
    if (digests.empty()) return {};
    facts.set = std::make_unique<analysis::RankSet>(analysis::ResolveRanks(std::move(digests)));
    for (const analysis::RankDigest& digest : facts.set->ranks) {
      RankFacts& rank = by_file.at(digest.source);
      rank.rank = *digest.rank;
      facts.ranks.push_back(std::move(rank));
    }
    for (const analysis::RankWarning& warning : facts.set->warnings)
      Warn(config, std::nullopt, "", warning.code, warning.text);
    facts.complete = facts.set->missing.empty() && !lost;
    if (!options_.reference_compat || facts.complete) JV_TRY(AddCollectives(config, &facts));
    CheckWork(config, facts);
    return {};
  }

  Status AddCollectives(const Config& config, ConfigFacts* facts) {
    const analysis::TableRules rules = session::CollectiveRulesFor(
        options_.reference_compat ? session::Compat::kTraceLens : session::Compat::kNone);
    if (!options_.reference_compat) {
      facts->joint =
          std::make_unique<analysis::JointTimeline>(analysis::JoinCollectives(*facts->set));
    }
    JV_ASSIGN(facts->collectives,
              analysis::MakeCollectiveReport(*facts->set, facts->joint.get(), {}, rules));
    facts->with_collectives = !facts->collectives.matching.calls.empty();
    const auto& known = facts->set->warnings;
    for (const analysis::RankWarning& warning : facts->collectives.warnings) {
      if (std::none_of(known.begin(), known.end(),
                       [&](const auto& one) { return one.text == warning.text; })) {
        Warn(config, std::nullopt, "", warning.code, warning.text);
      }
    }
    if (!facts->with_collectives && facts->ranks.size() > 1)
      Warn(config, std::nullopt, "", "NO_COLLECTIVES", "no rank ran a collective");
    return {};
  }

  // Whether the GPUs did what the directory's name says.
  void CheckWork(const Config& config, const ConfigFacts& facts) {
    if (std::all_of(facts.ranks.begin(), facts.ranks.end(),
                    [](const RankFacts& rank) { return rank.gemms.empty(); })) {
      Warn(config, std::nullopt, "", "NO_GEMM", "no rank ran a GEMM");
    }
    // The shapes most of the time of collectives was spent with, over the ranks.
    std::map<LaunchShape, double> launches;
    for (const RankFacts& rank : facts.ranks) {
      for (const auto& [shape, us] : rank.launches)
        launches[shape] += us;
    }
    if (launches.empty()) return;
    std::int64_t channels = 0;
    std::int64_t threads = 0;
    for (const auto& [shape, us] : launches) {
      channels = std::max(channels, shape.channels);
      threads = std::max(threads, shape.threads);
    }
    // Some protocols add a few warps to the block for their own use.
    constexpr std::int64_t kExtraThreads = 160;
    const auto asked_channels = NumberOn(sweep_.sweep, config, "channels");
    const auto asked_threads = NumberOn(sweep_.sweep, config, "threads");
    if (asked_channels && *asked_channels != channels) {
      Warn(config, std::nullopt, "", "CONFIG_MISMATCH",
           fmt::format("{} channels asked for, collectives ran with at most {}", *asked_channels,
                       channels));
    }
    if (asked_threads && (threads < *asked_threads || threads > *asked_threads + kExtraThreads)) {
      Warn(config, std::nullopt, "", "CONFIG_MISMATCH",
           fmt::format("{} threads a block asked for, collectives ran with {}", *asked_threads,
                       threads));
    }
  }

  const io::FilePolicy& files_;
  const MeasureOptions& options_;
  SweepFacts& sweep_;
  std::vector<std::size_t> chosen_;
  int threads_ = 1;  // of one trace
};

}  // namespace

const Table* RankFacts::Find(std::string_view table) const {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& one) { return one.name == table; });
  return found == tables.end() ? nullptr : &*found;
}

bool SweepFacts::complete() const {
  return warnings.empty() && std::all_of(configs.begin(), configs.end(),
                                         [](const auto& config) { return config.complete; });
}

std::optional<double> StepTimeMs(const analysis::RankDigest& rank, const RankFacts& facts) {
  if (!rank.timeline) return std::nullopt;
  return rank.timeline->total / 1000 / static_cast<double>(std::max<std::size_t>(1, facts.steps));
}

std::optional<double> StepTimeMs(const ConfigFacts& config) {
  std::optional<double> longest;
  for (std::size_t r = 0; r < config.ranks.size(); ++r) {
    const auto one = StepTimeMs(config.set->ranks[r], config.ranks[r]);
    if (one) longest = std::max(longest.value_or(0), *one);
  }
  return longest;
}

Result<SweepFacts> MeasureSweep(const io::FilePolicy& files, Sweep sweep,
                                const MeasureOptions& options, Job& job) {
  SweepFacts facts;
  facts.sweep = std::move(sweep);
  facts.warnings = facts.sweep.warnings;
  facts.reference_compat = options.reference_compat;
  JV_TRY(Measurer(files, options, &facts).Run(job));
  return facts;
}

}  // namespace jarvis::sweep
