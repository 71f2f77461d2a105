#include "session/workspace.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "session/rank_digests.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"

namespace jarvis::session {
namespace {

using testing::TraceText;
using TracePtr = std::shared_ptr<const session::LoadedTrace>;

class Folder : public testing::TempFolder {
 public:
  // A trace with so many ops.
  std::string Trace(const std::string& name, int ops) const {
    TraceText text;
    for (int i = 0; i < ops; ++i)
      text.OpWithKernel("aten::mm", 100 * i, 50, "gemm", 100 * i + 60, 30, i + 1);
    return Write(name, text.Json());
  }
};

TracePtr Open(session::Workspace& workspace, const std::string& trace) {
  Job job;
  auto opened = workspace.Open(trace, job);
  REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
  return *opened;
}

Error Refused(session::Workspace& workspace, const std::string& trace) {
  Job job;
  const auto opened = workspace.Open(trace, job);
  REQUIRE_FALSE(opened.has_value());
  return opened.error();
}

TEST_CASE("a trace is loaded once, and found by path and by id") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 10);
  session::Workspace workspace;
  const TracePtr first = Open(workspace, path);
  CHECK(first->id().starts_with("t_"));
  CHECK(first->id().size() == 10);
  CHECK(first->path() == path);
  CHECK(first->coverage().all.count == 10);
  CHECK(Open(workspace, path) == first);
  CHECK(Open(workspace, first->id()) == first);
  CHECK(Open(workspace, folder.path() + "/./a.json") == first);
  CHECK(Open(workspace, "file://" + path) == first);
  std::filesystem::create_symlink(path, folder.path() + "/link.json");
  CHECK(Open(workspace, folder.path() + "/link.json") == first);
  CHECK(workspace.Known().size() == 1);
}

TEST_CASE("equal content has an equal id, wherever it lies") {
  const Folder folder;
  session::Workspace workspace;
  const TracePtr a = Open(workspace, folder.Trace("a.json", 10));
  const TracePtr b = Open(workspace, folder.Trace("b.json", 10));
  const TracePtr c = Open(workspace, folder.Trace("c.json", 11));
  CHECK(a->id() == b->id());
  CHECK(a->id() != c->id());
}

TEST_CASE("callers at the same time share one load") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 3000);
  session::Workspace workspace;
  std::vector<TracePtr> opened(8);
  {
    std::vector<std::jthread> callers;
    for (TracePtr& slot : opened) {
      callers.emplace_back([&workspace, &path, &slot] {
        Job job;
        if (auto trace = workspace.Open(path, job)) slot = *trace;
      });
    }
  }
  REQUIRE(opened[0] != nullptr);
  for (const TracePtr& trace : opened)
    CHECK(trace == opened[0]);
}

TEST_CASE("summaries are made once, whoever asks first") {
  const Folder folder;
  session::Workspace workspace;
  const TracePtr trace = Open(workspace, folder.Trace("a.json", 200));
  std::vector<const analysis::Summary*> summaries(6);
  {
    std::vector<std::jthread> callers;
    for (const analysis::Summary*& slot : summaries) {
      callers.emplace_back([&trace, &slot] { slot = &trace->SummaryBy(analysis::GroupBy::kOp); });
    }
  }
  for (const analysis::Summary* summary : summaries)
    CHECK(summary == summaries[0]);
  CHECK(trace->FindRow("op1") == &summaries[0]->rows[0]);
  CHECK(trace->FindRow("k1")->name == "gemm");
  for (const char* none :
       {"op2", "op0", "op-1", "op", "op1x", "op01", "x1", "", "op99999999999999999999"}) {
    CAPTURE(none);
    CHECK(trace->FindRow(none) == nullptr);
  }
}

TEST_CASE("a changed file is read again") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 10);
  session::Workspace workspace;
  const TracePtr before = Open(workspace, path);
  folder.Trace("a.json", 20);
  const TracePtr after = Open(workspace, path);
  CHECK(after->coverage().all.count == 20);
  CHECK(after->id() != before->id());
  CHECK(before->coverage().all.count == 10);  // whoever holds it keeps it
  CHECK(Open(workspace, after->id()) == after);
}

TEST_CASE("under a memory limit the least recently used goes, and comes back by id") {
  const Folder folder;
  const std::string paths[] = {folder.Trace("a.json", 300), folder.Trace("b.json", 301),
                               folder.Trace("c.json", 302)};
  session::Workspace probe;
  const std::size_t one = Open(probe, paths[0])->MemoryBytes();
  session::Workspace workspace({.memory_bytes_max = 2 * one + one / 2, .threads = 1});
  const TracePtr a = Open(workspace, paths[0]);
  const TracePtr b = Open(workspace, paths[1]);
  CHECK(Open(workspace, paths[0]) == a);  // b is now the oldest
  const TracePtr c = Open(workspace, paths[2]);
  CHECK(Open(workspace, paths[0]) == a);
  CHECK(Open(workspace, paths[2]) == c);
  CHECK(workspace.IsAtHand(paths[0]));
  CHECK(workspace.IsAtHand(a->id()));
  CHECK_FALSE(workspace.IsAtHand(b->id()));
  CHECK_FALSE(workspace.IsAtHand("t_00000000"));
  const TracePtr again = Open(workspace, b->id());
  CHECK(again != b);
  CHECK(again->id() == b->id());
  CHECK(again->coverage().all.count == 301);
  CHECK(workspace.Known().size() == 3);
  // A trace larger than the limit is answered all the same.
  session::Workspace tiny({.memory_bytes_max = 1, .threads = 1});
  CHECK(Open(tiny, paths[0])->coverage().all.count == 300);
}

// ---- parts of recordings

TracePtr OpenPart(session::Workspace& workspace, const std::string& trace,
                  trace::WindowRequest window) {
  Job job;
  session::OpenOptions options;
  options.part.window = std::move(window);
  auto opened = workspace.Open(trace, job, options);
  REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
  return opened->trace;
}

TEST_CASE("parts of one recording are traces beside each other and beside the whole") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 100);  // an op every 0.1 ms
  session::Workspace workspace;
  const TracePtr whole = Open(workspace, path);
  const TracePtr early = OpenPart(workspace, path, {.steps = {}, .from_ms = 1, .to_ms = 2});
  const TracePtr late = OpenPart(workspace, path, {.steps = {}, .from_ms = 8, .to_ms = {}});
  CHECK(early->coverage().all.count == 10);
  CHECK(late->coverage().all.count == 20);
  CHECK(std::set<std::string>{whole->id(), early->id(), late->id()}.size() == 3);
  // Each stays at hand under its id, and the path alone means the whole.
  CHECK(Open(workspace, early->id()) == early);
  CHECK(Open(workspace, late->id()) == late);
  CHECK(Open(workspace, path) == whole);
  CHECK(OpenPart(workspace, whole->id(), {.steps = {}, .from_ms = 1, .to_ms = 2}) == early);
  CHECK(workspace.IsAtHand(early->id()));
  // A part of a part's file is counted from the recording's begin.
  CHECK(OpenPart(workspace, early->id(), {.steps = {}, .from_ms = 8, .to_ms = {}}) == late);
}

TEST_CASE("a part that was dropped is read again, and one of a changed file is stale") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 100);
  session::Workspace workspace({.memory_bytes_max = 1});
  const std::string id = OpenPart(workspace, path, {.steps = {}, .from_ms = 1, .to_ms = 2})->id();
  Open(workspace, path);
  CHECK_FALSE(workspace.IsAtHand(id));
  CHECK(Open(workspace, id)->coverage().all.count == 10);
  folder.Trace("a.json", 50);
  const Error error = Refused(workspace, id);
  CHECK(error.code == ErrorCode::kUnknownTrace);
  CHECK(error.message.find("stale") != std::string::npos);
}

// ---- loads that go on

const session::OpenOptions kAtOnce{
    .capture = std::nullopt, .part = {}, .patience = std::chrono::milliseconds(0)};

// What is asked of the workspace becomes true.
template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_CASE("a caller without patience is told to come again, and the load goes on") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 3000);
  session::Workspace workspace;
  Job job;
  const auto first = workspace.Open(path, job, kAtOnce);
  REQUIRE(first.has_value());
  CHECK(first->trace == nullptr);
  CHECK(first->path == path);
  CHECK(Eventually([&] { return workspace.Loads() == 0; }));
  const auto second = workspace.Open(path, job, kAtOnce);
  REQUIRE(second.has_value());
  REQUIRE(second->trace != nullptr);
  CHECK(second->percent == 100);
  CHECK(Open(workspace, second->trace->id()) == second->trace);
}

TEST_CASE("a load stops when the last who waits has left, unless one was told that it goes on") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 10);
  session::Workspace workspace({.loads_max = 0});  // loads wait for their turn for ever
  std::atomic<int> reports{0};
  const auto progress = [&](std::uint64_t, std::uint64_t, std::string_view what) {
    CHECK(what == "waiting for other loads");
    ++reports;
  };
  Job jobs[] = {Job(progress), Job(progress)};
  std::atomic<int> left{0};
  std::vector<std::jthread> callers;
  for (Job& job : jobs) {
    callers.emplace_back([&] {
      const auto opened = workspace.Open(path, job);
      CHECK_FALSE(opened.has_value());
      CHECK(opened.error().code == ErrorCode::kCancelled);
      ++left;
    });
  }
  CHECK(Eventually([&] { return reports >= 4; }));  // both see how far it is
  CHECK(workspace.Loads() == 1);
  jobs[0].Stop();
  CHECK(Eventually([&] { return left == 1; }));
  CHECK(workspace.Loads() == 1);
  jobs[1].Stop();
  CHECK(Eventually([&] { return left == 2 && workspace.Loads() == 0; }));
  callers.clear();
  // Told: it outlives everybody.
  Job again;
  CHECK(workspace.Open(path, again, kAtOnce)->trace == nullptr);
  again.Stop();
  CHECK_FALSE(workspace.Open(path, again).has_value());
  CHECK(workspace.Loads() == 1);
}

TEST_CASE("who comes after a load was stopped gets a load of its own") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 2000);
  session::Workspace workspace;
  for (int i = 0; i < 50; ++i) {
    Job job;
    std::jthread stopper([&job] { job.Stop(); });
    const auto opened = workspace.Open(path, job);
    if (opened) break;
    CHECK(opened.error().code == ErrorCode::kCancelled);
  }
  CHECK(Open(workspace, path)->coverage().all.count == 2000);
}

TEST_CASE("a failure reaches those who were told to come again") {
  const Folder folder;
  const std::string path = folder.path() + "/no.json";
  std::ofstream(path) << "<html>";
  session::Workspace workspace;
  Job job;
  CHECK(workspace.Open(path, job, kAtOnce)->trace == nullptr);
  CHECK(Eventually([&] { return workspace.Loads() == 0; }));
  const auto told = workspace.Open(path, job, kAtOnce);
  REQUIRE_FALSE(told.has_value());
  CHECK(told.error().code == ErrorCode::kNotATrace);
  // It has been told: the next one tries again.
  CHECK(workspace.Open(path, job, kAtOnce).has_value());
}

TEST_CASE("callers of every kind at the same time") {
  const Folder folder;
  const std::string paths[] = {folder.Trace("a.json", 400), folder.Trace("b.json", 500),
                               folder.Trace("c.json", 600)};
  session::Workspace workspace({.memory_bytes_max = 1, .threads = 1, .loads_max = 2});
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 12; ++i) {
      callers.emplace_back([&, i] {
        for (int n = 0; n < 12; ++n) {
          const int which = (i + n) % 3;
          Job job;
          if ((i + n) % 5 == 0) job.Stop();
          session::OpenOptions options;
          if (n % 2 == 0) options.patience = std::chrono::milliseconds(n % 4);
          const auto opened = workspace.Open(paths[which], job, options);
          if (!opened && opened.error().code != ErrorCode::kCancelled) ++wrong;
          if (opened && opened->trace != nullptr &&
              opened->trace->coverage().all.count != 400 + 100 * static_cast<unsigned>(which)) {
            ++wrong;
          }
        }
      });
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the id of what a file held before is stale") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 10);
  session::Workspace workspace;
  const std::string before = Open(workspace, path)->id();
  folder.Trace("a.json", 20);
  const Error error = Refused(workspace, before);
  CHECK(error.code == ErrorCode::kUnknownTrace);
  CHECK(error.message.find("stale") != std::string::npos);
  const std::string now = Open(workspace, path)->id();
  CHECK(error.hint == "load_trace {\"trace\":\"" + now + "\"}");
  Job job;
  CHECK(workspace.Open(path, job, session::OpenOptions{})->stale_id == before);
}

TEST_CASE("limits and allowed places") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 100);
  session::Workspace small({.trace_bytes_max = 1000});
  Error error = Refused(small, path);
  CHECK(error.code == ErrorCode::kTooLarge);
  CHECK(error.hint.find("--max-trace-bytes") != std::string::npos);
  std::filesystem::create_directory(folder.path() + "/allowed");
  const auto files = io::FilePolicy::Limit({{folder.path() + "/allowed"}, ""});
  REQUIRE(files.has_value());
  session::Workspace guarded({.files = *files});
  CHECK(Refused(guarded, path).code == ErrorCode::kNotAllowed);
  std::filesystem::rename(path, folder.path() + "/allowed/a.json");
  const std::string id = Open(guarded, "a.json")->id();
  // An id is a name, not a permission: what it names is looked at again.
  std::filesystem::rename(folder.path() + "/allowed/a.json", path);
  std::filesystem::create_symlink(path, folder.path() + "/allowed/a.json");
  CHECK(Refused(guarded, id).code == ErrorCode::kNotAllowed);
}

TEST_CASE("what cannot be opened says why, and what to do") {
  const Folder folder;
  session::Workspace workspace;
  Error error = Refused(workspace, folder.path() + "/missing.json");
  CHECK(error.code == ErrorCode::kTraceNotFound);
  CHECK(error.message.find("missing.json") != std::string::npos);
  CHECK(error.hint != "");
  error = Refused(workspace, "t_00000000");
  CHECK(error.code == ErrorCode::kUnknownTrace);
  CHECK(error.message.find("none is loaded") != std::string::npos);
  CHECK(error.hint.find("load_trace") != std::string::npos);
  const TracePtr loaded = Open(workspace, folder.Trace("a.json", 1));
  error = Refused(workspace, "t_00000000");
  CHECK(error.message.find(loaded->id()) != std::string::npos);
  CHECK(error.message.find("a.json") != std::string::npos);
  CHECK(Open(workspace, folder.path())->id() == loaded->id());  // the one trace in it
  folder.Trace("b.json", 1);
  CHECK_FALSE(Refused(workspace, folder.path()).message.empty());
  CHECK_FALSE(Refused(workspace, "").message.empty());
  std::ofstream(folder.path() + "/no.json") << "<html>";
  CHECK(Refused(workspace, folder.path() + "/no.json").code == ErrorCode::kNotATrace);
  std::filesystem::remove(loaded->path());
  CHECK(Refused(workspace, loaded->id()).code == ErrorCode::kTraceNotFound);
}

TEST_CASE("a stopped load leaves room for the next") {
  const Folder folder;
  const std::string path = folder.Trace("a.json", 2000);
  session::Workspace workspace;
  Job stopped;
  stopped.Stop();
  const auto opened = workspace.Open(path, stopped);
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kCancelled);
  CHECK(Open(workspace, path)->coverage().all.count == 2000);
}

// The halves of these contents' hashes that short ids are made of are equal.
std::string OneKernel(int duration) {
  return R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":)" +
         std::to_string(duration) + R"(,"args":{"device":0,"stream":7,"correlation":1}}]})";
}
constexpr int kEqualIds[] = {88291, 90752};

TEST_CASE("two traces whose short ids are equal are two traces") {
  const Folder folder;
  const std::string paths[] = {folder.Write("a.json", OneKernel(kEqualIds[0])),
                               folder.Write("b.json", OneKernel(kEqualIds[1]))};
  session::Workspace workspace;
  const TracePtr first = Open(workspace, paths[0]);
  const TracePtr second = Open(workspace, paths[1]);
  CHECK(first->id().size() == 10);
  CHECK(second->id().starts_with(first->id()));
  CHECK(second->id().size() == 18);
  CHECK(Open(workspace, first->id()) == first);
  CHECK(Open(workspace, second->id()) == second);
  // The longer id is kept, also for a copy.
  CHECK(Open(workspace, folder.Write("copy.json", OneKernel(kEqualIds[1])))->id() == second->id());
}

TEST_CASE("ranks whose short ids are equal are two ranks") {
  const Folder folder;
  const std::vector<std::string> paths = {folder.Write("rank0.json", OneKernel(kEqualIds[0])),
                                          folder.Write("rank1.json", OneKernel(kEqualIds[1])),
                                          folder.Write("rank2.json", OneKernel(kEqualIds[1]))};
  Job job;
  const auto digests = DigestFiles(io::FilePolicy(), paths, {}, job);
  REQUIRE(digests.has_value());
  REQUIRE(digests->digests.size() == 3);
  CHECK(digests->digests[0].trace_id != digests->digests[1].trace_id);
  CHECK(digests->digests[1].trace_id == digests->digests[2].trace_id);
}

TEST_CASE("a file that was changed and given its old size and time is read again") {
  const Folder folder;
  const std::string path = folder.Write("a.json", OneKernel(11111));
  const auto time = std::filesystem::last_write_time(path);
  session::Workspace workspace;
  const TracePtr before = Open(workspace, path);
  folder.Write("a.json", OneKernel(22222));
  std::filesystem::last_write_time(path, time);
  const TracePtr after = Open(workspace, path);
  CHECK(after->id() != before->id());
  // Another file in its place.
  folder.Write("other.json", OneKernel(33333));
  std::filesystem::last_write_time(folder / "other.json", time);
  std::filesystem::rename(folder / "other.json", path);
  CHECK(Open(workspace, path)->id() != after->id());
}

TEST_CASE("an unknown id names a few of the loaded traces") {
  const Folder folder;
  session::Workspace workspace;
  for (int i = 0; i < 20; ++i)
    Open(workspace, folder.Write("trace" + std::to_string(i) + ".json", OneKernel(i + 1)));
  const Error error = Refused(workspace, "t_ffffffff");
  CHECK(error.code == ErrorCode::kUnknownTrace);
  CHECK(error.message.find("and 15 more") != std::string::npos);
  CHECK(error.message.size() < 1500);
}

}  // namespace
}  // namespace jarvis::session
