// How much of the GPU time of real recordings has a kind of work.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "io/byte_source.h"
#include "ledger/kinds/kinds_of_work.h"
#include "trace/reader.h"
#include "tree/build.h"

namespace jarvis::ledger {
namespace {

constexpr double kUnknownMax = 0.02;

// Recordings whose kernels have no names that tell anything, and nothing else that proves a kind.
const std::map<std::string, double> kMoreUnknown = {
    // Kernels that are all called "triton_" and use no shared memory: pointwise, or reductions of
    // short rows.
    {"traces/sam2-graphs-a100/trace.json.gz", 0.11},
    {"traces/pairs/sam2_compile_graphs/after.json.gz", 0.11},
    // The same with signatures that do not mark sizes.
    {"traces/pairs/ao_null_clock/before.json.gz", 0.16},
    {"traces/pairs/ao_null_clock/after.json.gz", 0.16},
    // "my_pybind_kernel", launched outside of all ops.
    {"cases/reported/c5_external_id.json.gz", 0.6},
};

std::vector<std::filesystem::path> Recordings(const std::filesystem::path& data) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const char* folder : {"traces", "cases"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data / folder, error)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file(error) && (name.ends_with(".json") || name.ends_with(".json.gz"))) {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Shares {
  double total = 0;
  double unknown = 0;
  double words = 0;
  double op = 0;
  double shape = 0;
  std::map<std::string, double> unknown_names;
};

Shares SharesOf(const trace::EventStore& events, const KindsOfWork& kinds) {
  Shares shares;
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    const trace::Event& event = events[e];
    if (!trace::IsGpuWork(event.kind) || (event.flags & trace::kLeftOut) != 0) continue;
    const auto ns = static_cast<double>(event.dur_ns);
    const KernelKind& kind = kinds.Of(e);
    CHECK((kind.kind == WorkKind::kUnknown) == (kind.basis == KindBasis::kNone));
    shares.total += ns;
    if (kind.kind == WorkKind::kUnknown) {
      shares.unknown += ns;
      shares.unknown_names[std::string(events.name(e).substr(0, 100))] += ns;
    }
    if (kind.basis == KindBasis::kWords) shares.words += ns;
    if (kind.basis == KindBasis::kOp) shares.op += ns;
    if (kind.basis == KindBasis::kLaunchShape) shares.shape += ns;
  }
  return shares;
}

TEST_CASE("GPU time of real recordings has kinds") {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  if (data == nullptr || !std::filesystem::exists(std::filesystem::path(data) / "traces")) {
    MESSAGE("skipped: JARVIS_TEST_DATA has no traces");
    return;
  }
  int recordings = 0;
  for (const std::filesystem::path& file : Recordings(data)) {
    Job job;
    auto bytes = io::OpenBytes(file.string());
    if (!bytes) continue;
    const auto trace = trace::ReadTrace(**bytes, {}, job);
    if (!trace) continue;  // other files of these folders
    const auto tree = tree::BuildTree(trace->events, 0, job);
    if (!tree) continue;
    const Shares shares = SharesOf(trace->events, KindsOfWork(trace->events, *tree));
    if (shares.total == 0) continue;
    ++recordings;
    const std::string place = std::filesystem::relative(file, data).generic_string();
    CAPTURE(place);
    const double unknown = shares.unknown / shares.total;
    MESSAGE(fmt::format(
        "{}: {:.2f} ms, unknown {:.2f}%, by words {:.2f}%, by op {:.2f}%, by shape {:.2f}%", place,
        shares.total / 1e6, 100 * unknown, 100 * shares.words / shares.total,
        100 * shares.op / shares.total, 100 * shares.shape / shares.total));
    const auto more = kMoreUnknown.find(place);
    const double allowed = more == kMoreUnknown.end() ? kUnknownMax : more->second;
    if (unknown > allowed) {
      for (const auto& [name, ns] : shares.unknown_names)
        MESSAGE(fmt::format("  unknown {:.3f} ms: {}", ns / 1e6, name));
    }
    CHECK(unknown <= allowed);
  }
  CHECK(recordings > 20);
}

}  // namespace
}  // namespace jarvis::ledger
