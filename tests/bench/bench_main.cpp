// jarvis_bench [--runs N] [--window-mib N] [--no-visit] [--models] FILE...
// How fast each trace could be read at best, as a table and as JSON; with --models what evaluating
// the models of its calls takes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/floor.h"
#include "bench/load.h"
#include "bench/models.h"
#include "bench/recording_floor.h"

namespace jarvis::bench {
namespace {

struct Row {
  const char* name;
  const char* key;
  Pass pass;
};

std::vector<Row> Rows(const Floor& floor, const Load& load) {
  const Pass both = {floor.seconds(), floor.json_bytes};
  std::vector<Row> rows = {
      {floor.gzip ? "inflate, blocks of 1 MiB" : "read, blocks of 1 MiB", "unpack", floor.unpack},
      {"parse, simdjson DOM", "parse", floor.parse},
      {"floor: the two together", "floor", both},
  };
  rows.push_back({"jarvis: bytes to events", "read", load.read});
  rows.push_back({"jarvis: load_trace", "load", load.total});
  rows.push_back({"jarvis: opened as it was kept", "reopen", load.reopened});
  if (floor.visit.seconds > 0)
    rows.push_back({"visit each field, simdjson on demand", "visit", floor.visit});
  return rows;
}

void PrintTable(const std::string& path, const Floor& floor, const Load& load, int runs) {
  std::printf("%s: %lld bytes, %lld of JSON, %lld events, best of %d\n", path.c_str(),
              static_cast<long long>(floor.file_bytes), static_cast<long long>(floor.json_bytes),
              static_cast<long long>(floor.events), runs);
  for (const Row& row : Rows(floor, load))
    std::printf("  %-38s %9.4f s %9.1f MB/s\n", row.name, row.pass.seconds,
                row.pass.megabytes_per_second());
  std::printf(
      "  load_trace is %.2f x the floor, %.0f ns an event; peak memory %.1f MB, %.2f x the JSON\n",
      load.total.seconds / floor.seconds(),
      load.total.seconds * 1e9 / static_cast<double>(load.events),
      static_cast<double>(load.peak_bytes) / 1e6,
      static_cast<double>(load.peak_bytes) / static_cast<double>(floor.json_bytes));
}

void PrintJson(const std::string& path, const Floor& floor, const Load& load, int runs) {
  std::printf(
      "{\"file\": \"%s\", \"gzip\": %s, \"file_bytes\": %lld, \"json_bytes\": %lld, "
      "\"events\": %lld, \"windows\": %lld, \"runs\": %d",
      path.c_str(), floor.gzip ? "true" : "false", static_cast<long long>(floor.file_bytes),
      static_cast<long long>(floor.json_bytes), static_cast<long long>(floor.events),
      static_cast<long long>(floor.windows), runs);
  for (const Row& row : Rows(floor, load))
    std::printf(", \"%s\": {\"seconds\": %.6f, \"mb_per_second\": %.1f}", row.key, row.pass.seconds,
                row.pass.megabytes_per_second());
  std::printf(", \"load_over_floor\": %.3f, \"peak_bytes\": %lld}\n",
              load.total.seconds / floor.seconds(), static_cast<long long>(load.peak_bytes));
}

// A recording that is no JSON, beside a pass over its bytes.
void PrintRecording(const std::string& path, int runs) {
  Load load;
  RecordingPass pass;
  double warm_seconds = 0;
  for (int run = 0; run < runs; ++run) {
    const Load one = MeasureLoad(path, 1);
    if (run == 0 || one.read.seconds < load.read.seconds) load.read = one.read;
    if (run == 0 || one.read_cpu_seconds < load.read_cpu_seconds)
      load.read_cpu_seconds = one.read_cpu_seconds;
    const double again_seconds = WarmReadSeconds(path);
    if (run == 0 || again_seconds < warm_seconds) warm_seconds = again_seconds;
    if (run == 0 || one.total.seconds < load.total.seconds) load.total = one.total;
    load.peak_bytes = std::max(load.peak_bytes, one.peak_bytes);
    load.events = one.events;
    const RecordingPass again = PassOver(path);
    if (run == 0 || again.seconds < pass.seconds) pass = again;
  }
  const auto ns = [&](double seconds) { return seconds * 1e9 / static_cast<double>(load.events); };
  std::printf(
      "{\"file\": \"%s\", \"bytes\": %lld, \"visited\": %lld, \"events\": %lld, \"pass\": %.4f, "
      "\"read\": %.4f, \"read_cpu\": %.4f, \"read_warm\": %.4f, \"load\": %.4f, "
      "\"read_over_pass\": %.2f, \"warm_over_pass\": %.2f, "
      "\"read_ns_an_event\": %.0f, "
      "\"peak_bytes\": %lld}\n",
      path.c_str(), static_cast<long long>(pass.bytes), static_cast<long long>(pass.visited),
      static_cast<long long>(load.events), pass.seconds, load.read.seconds, load.read_cpu_seconds,
      warm_seconds, load.total.seconds, load.read_cpu_seconds / pass.seconds,
      warm_seconds / pass.seconds, ns(load.read_cpu_seconds),
      static_cast<long long>(load.peak_bytes));
}

bool IsRecordingFile(const std::string& path) {
  std::string head(16, '\0');
  std::ifstream(path, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  return IsRecording(head);
}

void Best(const Pass& pass, bool first, Pass* best) {
  if (first || pass.seconds < best->seconds) *best = pass;
}

void Best(const Load& load, bool first, Load* best) {
  const Load before = *best;
  *best = load;
  best->read = before.read;
  best->total = before.total;
  best->reopened = before.reopened;
  best->peak_bytes = std::max(before.peak_bytes, load.peak_bytes);
  Best(load.read, first, &best->read);
  Best(load.total, first, &best->total);
  Best(load.reopened, first, &best->reopened);
}

void Best(const Floor& floor, bool first, Floor* best) {
  const Floor before = *best;
  *best = floor;
  best->unpack = before.unpack;
  best->parse = before.parse;
  best->visit = before.visit;
  Best(floor.unpack, first, &best->unpack);
  Best(floor.parse, first, &best->parse);
  Best(floor.visit, first, &best->visit);
}

void PrintModels(const std::string& path, const ModelTimes& times) {
  const auto us = [&](double seconds) {
    return times.calls == 0 ? 0 : seconds * 1e6 / static_cast<double>(times.calls);
  };
  std::printf(
      "{\"file\": \"%s\", \"calls\": %zu, \"rows\": %zu, \"start_ms\": %.3f, "
      "\"first_us_a_call\": %.2f, \"again_us_a_call\": %.2f}\n",
      path.c_str(), times.calls, times.rows, times.start_seconds * 1e3, us(times.first_seconds),
      us(times.again_seconds));
}

int Run(int argc, char** argv) {
  FloorOptions options;
  bool models = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--no-visit") {
      options.visit = false;
    } else if (name == "--models") {
      models = true;
    } else if (name == "--runs" && i + 1 < argc) {
      options.runs = static_cast<int>(std::strtol(argv[++i], nullptr, 10));
    } else if (name == "--window-mib" && i + 1 < argc) {
      options.window_bytes = std::strtoll(argv[++i], nullptr, 10) << 20;
    } else {
      files.emplace_back(name);
    }
  }
  if (files.empty() || options.runs < 1 || options.window_bytes < 1) {
    std::fputs("jarvis_bench [--runs N] [--window-mib N] [--no-visit] [--models] FILE...\n",
               stderr);
    return 2;
  }
  for (const std::string& file : files) {
    if (models) {
      PrintModels(file, MeasureModels(file, options.runs));
      continue;
    }
    if (IsRecordingFile(file)) {
      PrintRecording(file, options.runs);
      continue;
    }
    // In turn, so that a machine that slows down for a while slows both down. The floor is measured
    // twice each time: its second pass finds its memory warm.
    Load load;
    Floor floor;
    const int runs = options.runs;
    options.runs = 2;
    for (int run = 0; run < runs; ++run) {
      Best(MeasureLoad(file, 1), run == 0, &load);
      Best(MeasureFloor(file, options), run == 0, &floor);
    }
    options.runs = runs;
    PrintTable(file, floor, load, options.runs);
    PrintJson(file, floor, load, options.runs);
  }
  return 0;
}

}  // namespace
}  // namespace jarvis::bench

int main(int argc, char** argv) {
  try {
    return jarvis::bench::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jarvis_bench: %s\n", error.what());
    return 1;
  }
}
