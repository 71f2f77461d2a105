#include "session/trace_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/string_pool.h"
#include "session/trace_image.h"
#include "session/workspace.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"

namespace jarvis::session {
namespace {

namespace fs = std::filesystem;
using testing::TraceText;

std::string StepsWithKernels(int ops) {
  TraceText text;
  text.Meta("thread_name", R"("name":"main")");
  text.Annotation("ProfilerStep#1", 0, 100.0 * ops);
  for (int i = 0; i < ops; ++i)
    text.OpWithKernel(i % 3 == 0 ? "aten::mm" : "aten::add", 100 * i, 50, "gemm", 100 * i + 60, 30,
                      i + 1,
                      R"("Input Dims":[[8,4],[4,8]],"Sequence number":)" + std::to_string(i));
  return text.Json();
}

class CachedTraces : public testing::TempFolder {
 public:
  TraceCacheOptions Options() const {
    return {.folder = path() + "/cache",
            .text_bytes_min = 1,
            .settled_after = std::chrono::nanoseconds(0)};
  }
  WorkspaceOptions WithCache() const { return {.cache = Options()}; }
  std::string Trace(const std::string& name, int ops) const {
    return Write(name, StepsWithKernels(ops));
  }
  std::vector<std::string> Kept(std::string_view ending) const {
    std::vector<std::string> kept;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(path() + "/cache", none)) {
      if (entry.path().string().ends_with(ending)) kept.push_back(entry.path().string());
    }
    std::sort(kept.begin(), kept.end());
    return kept;
  }
};

std::shared_ptr<const LoadedTrace> Opened(const WorkspaceOptions& options,
                                          const std::string& path) {
  Workspace workspace(options);
  Job job;
  auto trace = workspace.Open(path, job);
  REQUIRE_MESSAGE(trace.has_value(), (trace ? "" : trace.error().message));
  return *trace;
}

// All that loading makes: the bytes of its image.
std::string BytesOf(const LoadedTrace& trace) {
  std::string bytes;
  const TraceImage image(trace);
  for (const auto piece : image.Pieces())
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return bytes;
}

bool IsSame(const LoadedTrace& a, const LoadedTrace& b) {
  if (a.id() != b.id() || a.path() != b.path() || a.events().size() != b.events().size())
    return false;
  for (trace::EventIndex e = 0; e < a.events().size(); ++e) {
    if (a.events().name(e) != b.events().name(e) || a.events()[e].ts_ns != b.events()[e].ts_ns ||
        a.tree().parent(e) != b.tree().parent(e) ||
        a.events().args_of(e).dims != b.events().args_of(e).dims)
      return false;
  }
  const auto& rows = a.SummaryBy(analysis::GroupBy::kOp).rows;
  const auto& others = b.SummaryBy(analysis::GroupBy::kOp).rows;
  return rows.size() == others.size() &&
         std::equal(rows.begin(), rows.end(), others.begin(), [](const auto& r, const auto& o) {
           return r.name == o.name && r.category == o.category && r.launchers == o.launchers;
         });
}

TEST_CASE("a trace that was read before opens from what was kept") {
  const CachedTraces folder;
  const std::string path = folder.Trace("a.json", 300);
  const auto read = Opened({}, path);
  CHECK(folder.Kept(".trace").empty());
  CHECK(IsSame(*Opened(folder.WithCache(), path), *read));  // reads it and keeps it
  REQUIRE(folder.Kept(".trace").size() == 1);
  CHECK(folder.Kept(".stamp").size() == 1);
  TraceCache cache(folder.Options());
  io::InputFile file = *io::FilePolicy().OpenInput(path);
  const auto kept = cache.Find(file, 1 << 30, ShortId);
  REQUIRE(kept != nullptr);
  CHECK(IsSame(*kept, *read));
  CHECK(kept->steps().size() == 1);
  CHECK(kept->track_names().size() == read->track_names().size());
  CHECK(kept->MemoryBytes() > 0);
  SUBCASE("and is kept as it was") {
    CHECK(BytesOf(*kept).size() == BytesOf(*read).size());
  }
  SUBCASE("but not beyond the limit of its text") {
    CHECK(cache.Find(file, 100, ShortId) == nullptr);
  }
}

TEST_CASE("a copy is known by its content, a changed file is not") {
  const CachedTraces folder;
  const std::string path = folder.Trace("a.json", 50);
  Opened(folder.WithCache(), path);
  const std::string copy = folder.path() + "/copy.json";
  fs::copy_file(path, copy);
  TraceCache cache(folder.Options());
  io::InputFile copied = *io::FilePolicy().OpenInput(copy);
  const auto known = cache.Find(copied, 1 << 30, ShortId);
  REQUIRE(known != nullptr);
  CHECK(known->path() == copy);
  // The same size, another content.
  std::string text = StepsWithKernels(50);
  text.replace(text.find("aten::add"), 9, "aten::sub");
  folder.Write("a.json", text);
  io::InputFile changed = *io::FilePolicy().OpenInput(path);
  CHECK(cache.Find(changed, 1 << 30, ShortId) == nullptr);
  // It stands where it stood: whoever reads it now gets all of it.
  const auto read = LoadTrace(std::move(changed), {}, *std::make_unique<Job>());
  REQUIRE(read.has_value());
  CHECK((*read)->events().strings.Find("aten::sub") != kNoString);
}

TEST_CASE("what is damaged is not used, and read again") {
  const CachedTraces folder;
  const std::string path = folder.Trace("a.json", 40);
  const auto read = Opened(folder.WithCache(), path);
  const std::string entry = folder.Kept(".trace").at(0);
  std::string good;
  {
    std::ifstream in(entry, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto put = [&](const std::string& bytes) {
    std::ofstream(entry, std::ios::binary | std::ios::trunc) << bytes;
  };
  TraceCache cache(folder.Options());
  const auto find = [&] {
    io::InputFile file = *io::FilePolicy().OpenInput(path);
    return cache.Find(file, 1 << 30, ShortId);
  };
  REQUIRE(find() != nullptr);
  for (std::size_t at = 0; at < good.size(); at += 997) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    put(bad);
    CHECK(find() == nullptr);
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{50}, good.size() / 2, good.size() - 1}) {
    put(good.substr(0, size));
    CHECK(find() == nullptr);
  }
  put(good + "x");
  CHECK(find() == nullptr);
  CHECK(IsSame(*Opened(folder.WithCache(), path), *read));
  CHECK(find() != nullptr);  // it was put right
  put(std::string("no trace"));
  const std::string stamp = folder.Kept(".stamp").at(0);
  std::ofstream(stamp, std::ios::binary | std::ios::trunc) << "no stamp";
  CHECK(find() == nullptr);
}

// Whatever is done to a file, what was read from it stays whole and is used on.
TEST_CASE("what is kept may be cut or written over while it is used") {
  const CachedTraces folder;
  const std::string path = folder.Trace("a.json", 300);
  const auto read = Opened(folder.WithCache(), path);
  TraceCache cache(folder.Options());
  io::InputFile file = *io::FilePolicy().OpenInput(path);
  const auto kept = cache.Find(file, 1 << 30, ShortId);
  REQUIRE(kept != nullptr);
  const std::string entry = folder.Kept(".trace").at(0);
  SUBCASE("cut") {
    fs::resize_file(entry, 0);
  }
  SUBCASE("written over") {
    const std::string junk(fs::file_size(entry), '\xff');
    std::fstream(entry, std::ios::binary | std::ios::in | std::ios::out) << junk;
  }
  CHECK(IsSame(*kept, *read));
  CHECK(cache.Find(file, 1 << 30, ShortId) == nullptr);
}

TEST_CASE("what was not written with the folder's key is not believed") {
  const CachedTraces folder;
  const std::string path = folder.Trace("a.json", 40);
  const auto read = Opened(folder.WithCache(), path);
  const std::string entry = folder.Kept(".trace").at(0);
  std::string forged;
  {
    std::ifstream in(entry, std::ios::binary);
    forged.assign(std::istreambuf_iterator<char>(in), {});
  }
  TraceCache cache(folder.Options());
  const auto find = [&] {
    io::InputFile file = *io::FilePolicy().OpenInput(path);
    return cache.Find(file, 1 << 30, ShortId);
  };
  REQUIRE(find() != nullptr);
  SUBCASE("every index another, and the hashes made anew without the key") {
    constexpr std::size_t kHead = 64;
    for (std::size_t at = kHead + 700; at < forged.size(); at += 8)
      forged[at] = static_cast<char>(forged[at] ^ 0x7f);
    const std::uint64_t body = HashText(std::string_view(forged).substr(kHead));
    std::string both(reinterpret_cast<const char*>(&body), sizeof body);
    const std::uint64_t size = forged.size() - kHead;
    both.append(reinterpret_cast<const char*>(&size), sizeof size);
    for (const std::uint64_t hash : {body, HashText(both)}) {
      std::memcpy(forged.data() + 24, &hash, sizeof hash);
      std::ofstream(entry, std::ios::binary | std::ios::trunc) << forged;
      CHECK(find() == nullptr);
    }
  }
  SUBCASE("the same trace, kept in another folder") {
    const CachedTraces other;
    Opened(other.WithCache(), path);
    fs::copy_file(other.Kept(".trace").at(0), entry, fs::copy_options::overwrite_existing);
    CHECK(find() == nullptr);
  }
  SUBCASE("the key lost") {
    fs::remove(folder.path() + "/cache/.jarvis-cache");
    CHECK(find() == nullptr);
  }
  CHECK(IsSame(*Opened(folder.WithCache(), path), *read));  // read again, and kept again
  CHECK(find() != nullptr);
}

TEST_CASE("pipes under the names of what is kept are not waited for") {
  for (const char* ending : {".trace", ".stamp"}) {
    const CachedTraces folder;
    const std::string path = folder.Trace("a.json", 30);
    const auto read = Opened(folder.WithCache(), path);
    const std::string kept = folder.Kept(ending).at(0);
    fs::remove(kept);
    REQUIRE(::mkfifo(kept.c_str(), 0600) == 0);
    CHECK(IsSame(*Opened(folder.WithCache(), path), *read));
    CHECK(fs::is_fifo(kept));
  }
}

TEST_CASE("a folder that holds a user's files is not used, and they stay") {
  const CachedTraces folder;
  const std::string path = folder.Trace("a.json", 300);
  fs::create_directory(folder.path() + "/cache");
  const auto before = std::vector<std::string>{".bashrc", "notes.md", "paper.pdf"};
  for (const std::string& name : before)
    folder.Write("cache/" + name, std::string(5000, 'm'));
  WorkspaceOptions tight = folder.WithCache();
  tight.cache.bytes_max = 4000;
  const auto read = Opened({}, path);
  CHECK(IsSame(*Opened(tight, path), *read));
  CHECK(folder.Kept("").size() == before.size());
  for (const std::string& name : before)
    CHECK(fs::file_size(folder.path() + "/cache/" + name) == 5000);
}

TEST_CASE("the longest unused go first when there is too much") {
  const CachedTraces folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 4; ++i)
    paths.push_back(folder.Trace("t" + std::to_string(i) + ".json", 200 + i));
  Opened(folder.WithCache(), paths[0]);
  const auto one = fs::file_size(folder.Kept(".trace").at(0));
  WorkspaceOptions tight = folder.WithCache();
  tight.cache.bytes_max = one * 5 / 2;
  Opened(tight, paths[1]);
  Opened(tight, paths[0]);  // used again
  Opened(tight, paths[2]);
  TraceCache cache(tight.cache);
  const auto there = [&](const std::string& path) {
    io::InputFile file = *io::FilePolicy().OpenInput(path);
    return cache.Find(file, 1 << 30, ShortId) != nullptr;
  };
  CHECK(there(paths[0]));
  CHECK_FALSE(there(paths[1]));
  CHECK(there(paths[2]));
  SUBCASE("and one that would take more than half of the room is not kept") {
    tight.cache.bytes_max = one;
    Opened(tight, paths[3]);
    TraceCache again(tight.cache);
    CHECK_FALSE(there(paths[3]));
  }
}

TEST_CASE("nothing is kept where it must not be") {
  const CachedTraces folder;
  const std::string path = folder.Trace("a.json", 30);
  WorkspaceOptions options = folder.WithCache();
  SUBCASE("small traces") {
    options.cache.text_bytes_min = 1 << 20;
  }
  SUBCASE("without a folder") {
    options.cache.folder.clear();
  }
  SUBCASE("reading only") {
    options.cache.writes = false;
  }
  SUBCASE("where others may write") {
    fs::create_directory(folder.path() + "/cache");
    ::chmod((folder.path() + "/cache").c_str(), 0777);
  }
  SUBCASE("through a link") {
    fs::create_directory(folder.path() + "/elsewhere");
    fs::create_symlink(folder.path() + "/elsewhere", folder.path() + "/cache");
  }
  SUBCASE("where a file stands in the way") {
    folder.Write("cache", "a file");
  }
  CHECK(Opened(options, path)->coverage().all.count == 30);
  CHECK(folder.Kept("").empty());
}

TEST_CASE("a file that changed a moment ago is known by its content alone") {
  const CachedTraces folder;
  WorkspaceOptions options = folder.WithCache();
  options.cache.settled_after = std::chrono::hours(1);
  const std::string path = folder.Trace("a.json", 30);
  Opened(options, path);
  CHECK(folder.Kept(".trace").size() == 1);
  CHECK(folder.Kept(".stamp").empty());
  TraceCache cache(options.cache);
  io::InputFile file = *io::FilePolicy().OpenInput(path);
  CHECK(cache.Find(file, 1 << 30, ShortId) != nullptr);
}

TEST_CASE("only the user may look into what is kept") {
  const CachedTraces folder;
  Opened(folder.WithCache(), folder.Trace("a.json", 30));
  CHECK((fs::status(folder.path() + "/cache").permissions() & fs::perms(0077)) == fs::perms::none);
}

TEST_CASE("several may keep the same trace at the same time") {
  const CachedTraces folder;
  const std::string path = folder.Trace("a.json", 2000);
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&] {
        Workspace workspace(folder.WithCache());
        Job job;
        static_cast<void>(workspace.Open(path, job));
      });
  }
  REQUIRE(folder.Kept(".trace").size() == 1);
  CHECK(folder.Kept("").size() == 3);  // it, its stamp and the marker
  TraceCache cache(folder.Options());
  io::InputFile file = *io::FilePolicy().OpenInput(path);
  CHECK(cache.Find(file, 1 << 30, ShortId) != nullptr);
}

// Every part of real traces comes back: what follows from them is the same.
TEST_CASE("real traces open as they were read") {
  const char* const data = std::getenv("JARVIS_TEST_DATA");
  const fs::path traces = fs::path(data == nullptr ? "../shared" : data) / "traces";
  if (!fs::exists(traces)) {
    MESSAGE("skipped: there is no ", traces.string());
    return;
  }
  std::size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(traces)) {
    if (!entry.path().string().ends_with(".json.gz")) continue;
    CAPTURE(entry.path().string());
    const CachedTraces folder;
    const std::string path = fs::canonical(entry.path()).string();
    const auto read = Opened(folder.WithCache(), path);
    TraceCache cache(folder.Options());
    io::InputFile file = *io::FilePolicy().OpenInput(path);
    const auto kept = cache.Find(file, std::uint64_t{1} << 40, ShortId);
    REQUIRE(kept != nullptr);
    CHECK(IsSame(*kept, *read));
    CHECK(kept->trace().damage == read->trace().damage);
    CHECK(kept->trace().metadata.devices.size() == read->trace().metadata.devices.size());
    CHECK(kept->timeline().has_value() == read->timeline().has_value());
    if (read->timeline()) CHECK(kept->timeline()->busy == read->timeline()->busy);
    ++found;
  }
  CHECK(found > 0);
}

}  // namespace
}  // namespace jarvis::session
