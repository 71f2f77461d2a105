// Plays a training step on one simulator a rank and writes what the profiler would have written.
// Ranks go through each step together, since a collective ends for all when the last has arrived.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kineto_writer.h"
#include "options.h"
#include "simulator.h"
#include "truth.h"
#include "workload.h"

namespace make_trace {
namespace {

constexpr Ns kLead = 1'870'000;  // from the start of the capture to the first step

struct Rank {
  Rank(const Options& options, int index, std::string file)
      : path(std::move(file)),
        sim(options, index),
        writer(options, index, sim.pid(), path),
        workload(sim),
        begin(sim.now() - kLead) {}

  std::string path;
  Simulator sim;
  KinetoWriter writer;
  Truth truth;
  Workload workload;
  Ns begin;
};

bool EndsWith(const std::string& text, std::string_view ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

// FILE.json[.gz] for one rank; for several, rank<i> beside it.
std::string PathOf(const Options& options, int rank) {
  const bool is_file = EndsWith(options.out, ".json") || EndsWith(options.out, ".json.gz");
  if (options.ranks == 1) {
    if (!is_file) throw std::runtime_error("--out must end in .json or .json.gz for one rank");
    return options.out;
  }
  const std::filesystem::path out(options.out);
  const std::filesystem::path folder = is_file ? out.parent_path() : out;
  if (!folder.empty()) std::filesystem::create_directories(folder);
  const char* ending = !is_file || EndsWith(options.out, ".gz") ? ".json.gz" : ".json";
  return (folder / ("rank" + Number(rank) + ending)).string();
}

std::string TruthPathOf(std::string path) {
  path.resize(path.rfind(".json"));
  return path + ".truth.json";
}

void CompleteCollectives(const Options& options, std::vector<std::unique_ptr<Rank>>& ranks) {
  const std::size_t count = ranks.front()->sim.collectives().size();
  for (std::size_t i = 0; i < count; ++i) {
    const double bytes = ranks.front()->sim.collectives()[i].bytes;
    Ns last = 0;
    std::vector<Ns> starts;
    for (const auto& rank : ranks) {
      starts.push_back(std::max(rank->sim.collectives()[i].arrived, rank->sim.comm_free() + 900));
      last = std::max(last, starts.back());
    }
    // Ranks that are not written are a little late now and then.
    if (options.world > options.ranks) last += ranks.front()->sim.random().Below(26'000);
    const Ns end = last + AllReduceTime(Device(options.platform), bytes, options.world);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      Simulator& sim = ranks[r]->sim;
      sim.CompleteCollective(sim.collectives()[i], starts[r], end + sim.random().Below(700));
    }
  }
}

void WriteTruth(const Options& options, const Rank& rank) {
  const std::string path = TruthPathOf(rank.path);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << rank.truth.Json(options, rank.sim.rank(), rank.writer);
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

void Finish(const Options& options, Rank& rank) {
  rank.sim.Switch(HostThread::kMain);
  rank.sim.step().Clear();
  rank.sim.Synchronize(Call::kDeviceSynchronize);
  rank.writer.WriteStep(rank.sim.step());
  const Ns end = rank.sim.now();
  const std::vector<FrameEvent> frames = rank.sim.CloseOuterFrames();
  const int tids[] = {rank.sim.tid(HostThread::kMain), rank.sim.tid(HostThread::kAutograd)};
  rank.writer.WriteFooter(frames, tids, rank.begin, std::max(end, rank.sim.now()) + 40'000);
  WriteTruth(options, rank);
  std::printf("%s: %lld bytes of JSON\n", rank.path.c_str(),
              static_cast<long long>(rank.writer.bytes()));
}

void Run(const Options& options) {
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int index = 0; index < options.ranks; ++index) {
    ranks.push_back(std::make_unique<Rank>(options, index, PathOf(options, index)));
    ranks.back()->writer.WriteHeader();
  }
  for (int step = 0; step < options.steps || ranks.front()->writer.bytes() < options.target_bytes;
       ++step) {
    for (const auto& rank : ranks)
      rank->workload.BeginStep(step + 10);
    CompleteCollectives(options, ranks);
    for (const auto& rank : ranks) {
      rank->workload.FinishStep();
      rank->writer.WriteStep(rank->sim.step());
      rank->truth.AddStep(rank->sim.step());
    }
  }
  for (const auto& rank : ranks)
    Finish(options, *rank);
}

}  // namespace
}  // namespace make_trace

int main(int argc, char** argv) {
  make_trace::Options options;
  if (const std::string wrong = make_trace::ParseOptions(argc, argv, options); !wrong.empty()) {
    std::fprintf(stderr, "make_trace: %s\n\n%s", wrong.c_str(), make_trace::kUsage);
    return 2;
  }
  try {
    make_trace::Run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_trace: %s\n", error.what());
    return 1;
  }
  return 0;
}
