#include "session/file_ranks.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "session/rank_ledger.h"
#include "session/workspace.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"

namespace jarvis::session {
namespace {

using testing::TraceText;
using TracePtr = std::shared_ptr<const LoadedTrace>;

void OnDevice(int device, double ts, double dur, int correlation, TraceText* text) {
  text->Raw(fmt::format(R"({{"ph":"X","cat":"kernel","name":"gemm{0}","pid":{0},"tid":7,)"
                        R"("ts":{1},"dur":{2},"args":{{"correlation":{3},"device":{0}}}}})",
                        device, ts, dur, correlation));
}

// A process that launches `ops` kernels on a device, with ids of its own.
void Process(int pid, int device, int ops, double kernel_us, TraceText* text) {
  text->Thread(pid, pid);
  for (int i = 0; i < ops; ++i) {
    const int correlation = 1000 * pid + i;
    text->Op("aten::mm", 100 * i, 50).Runtime("cudaLaunchKernel", 100 * i + 5, 5, correlation);
    OnDevice(device, 100 * i + 10, kernel_us, correlation, text);
  }
}

TraceText TwoRanks() {
  TraceText text;
  Process(200, 0, 10, 40, &text);
  Process(201, 1, 12, 60, &text);
  // Launches nothing: of no rank.
  text.Thread(300, 300).Op("aten::stack", 0, 500);
  return text;
}

Result<Opened> TryOpenRank(Workspace& workspace, const std::string& trace,
                           std::optional<std::int64_t> rank) {
  Job job;
  OpenOptions options;
  options.part.rank = rank;
  return workspace.Open(trace, job, options);
}
TracePtr OpenRank(Workspace& workspace, const std::string& trace,
                  std::optional<std::int64_t> rank = {}) {
  auto opened = TryOpenRank(workspace, trace, rank);
  REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
  return opened->trace;
}

TEST_CASE("a rank of a file is a trace as if the file had held it alone") {
  const testing::TempFolder folder;
  const std::string path = folder.Write("two.json", TwoRanks().Json());
  Workspace workspace;
  const TracePtr all = OpenRank(workspace, path);
  const TracePtr one = OpenRank(workspace, path, 1);
  CHECK_FALSE(all->rank_part());
  CHECK(all->coverage().all.count == 22);
  CHECK(RanksOf(*all).ranks == std::vector<std::int64_t>{0, 1});

  REQUIRE(one->rank_part());
  CHECK(one->rank_part()->rank == 1);
  CHECK(one->rank_part()->host_left_out == 21);  // 10 ops, 10 launches, and the helper's op
  CHECK(one->rank_part()->gpu_left_out == 10);
  CHECK(one->coverage().all.count == 12);
  CHECK(one->coverage().linked.count == 12);
  CHECK_FALSE(RanksOf(*one).several());
  CHECK(one->events().tracks.size() == 2);
  CHECK(one->timeline()->busy == doctest::Approx(12 * 60));

  TraceText alone;
  Process(201, 1, 12, 60, &alone);
  const TracePtr same = OpenRank(workspace, folder.Write("one.json", alone.Json()));
  CHECK(one->timeline()->total == same->timeline()->total);
  CHECK(one->events().size() == same->events().size());
}

TEST_CASE("ranks stand beside each other and beside the whole, under ids of their own") {
  const testing::TempFolder folder;
  const std::string path = folder.Write("two.json", TwoRanks().Json());
  Workspace workspace;
  const TracePtr zero = OpenRank(workspace, path, 0);
  const TracePtr one = OpenRank(workspace, path, 1);
  const TracePtr all = OpenRank(workspace, path);
  CHECK(zero->id() != one->id());
  CHECK(zero->id() != all->id());
  CHECK(OpenRank(workspace, path, 0) == zero);
  CHECK(OpenRank(workspace, zero->id()) == zero);
  CHECK(OpenRank(workspace, zero->id(), 1) == one);
  CHECK(OpenRank(workspace, path) == all);
  CHECK(workspace.IsAtHand(one->id()));
}

TEST_CASE("a rank that a file does not have is an error that lists those it has") {
  const testing::TempFolder folder;
  Workspace workspace;
  const auto two = TryOpenRank(workspace, folder.Write("two.json", TwoRanks().Json()), 5);
  REQUIRE_FALSE(two.has_value());
  CHECK(two.error().code == ErrorCode::kBadValue);
  CHECK(two.error().message.find("no rank 5; its ranks: 0-1") != std::string::npos);
  TraceText single;
  Process(200, 0, 10, 40, &single);
  const auto one = TryOpenRank(workspace, folder.Write("one.json", single.Json()), 0);
  REQUIRE_FALSE(one.has_value());
  CHECK(one.error().hint == "leave rank out");
}

TEST_CASE("one process with two GPUs, or two with one, are not ranks that are told apart") {
  const testing::TempFolder folder;
  Workspace workspace;
  TraceText parallel;
  parallel.Thread(200, 200);
  for (int i = 0; i < 10; ++i) {
    parallel.Runtime("cudaLaunchKernel", 100 * i, 5, 2 * i)
        .Runtime("cudaLaunchKernel", 100 * i + 10, 5, 2 * i + 1);
    OnDevice(0, 100 * i + 20, 30, 2 * i, &parallel);
    OnDevice(1, 100 * i + 20, 30, 2 * i + 1, &parallel);
  }
  CHECK_FALSE(
      RanksOf(*OpenRank(workspace, folder.Write("parallel.json", parallel.Json()))).several());
  // Both processes' work is filed under one device.
  TraceText shared;
  Process(200, 0, 10, 20, &shared);
  Process(201, 0, 10, 20, &shared);
  CHECK_FALSE(RanksOf(*OpenRank(workspace, folder.Write("shared.json", shared.Json()))).several());
}

TEST_CASE("a GPU is the only one that was recorded, or the only one with kernels") {
  RankPart part;
  part.rank = 7;
  part.devices = true;
  part.ranks = {{7, 10, 10}};
  CHECK(part.Text() == "GPU 7, the only one with kernels in this file");
  part.gpus_run = 1;
  CHECK(part.Text() == "GPU 7, the only one with kernels in this file");
  part.gpus_run = 8;
  CHECK(part.Text() == "GPU 7, the only one of 8 whose kernels were recorded");
  part.ranks = {{6, 10, 10}, {7, 10, 10}};
  CHECK(part.Text() == "GPU 7 of the GPUs 6 and 7 in this file");
}

TEST_CASE("the rank that bounds works longest without its communication; of equals the lowest") {
  CHECK_FALSE(RankThatBounds({}));
  CHECK(*RankThatBounds({{4, 10, 10}}) == 4);
  CHECK(*RankThatBounds({{0, 100, 60}, {1, 90, 80}}) == 1);
  CHECK(*RankThatBounds({{0, 100, 79.5}, {1, 90, 80}}) == 0);
  CHECK(*RankThatBounds({{3, 0, 0}, {5, 0, 0}}) == 3);
}

}  // namespace
}  // namespace jarvis::session
