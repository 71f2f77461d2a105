#include "session/merge_ranks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "session/loaded_trace.h"
#include "session/rank_digests.h"
#include "trace/import/trace_file.h"
#include "trace/json_text.h"
#include "trace/metadata.h"
#include "trace/rank_rewriter.h"

namespace jarvis::session {
namespace {

constexpr const char* kMergedKey = "mergedRanks";

using analysis::RankDigest;

// What a file says of itself, as a digest without collectives.
struct Head {
  RankDigest digest;
  std::string devices;  // raw JSON
  std::string backend;
  bool merged = false;
};

class Merger {
 public:
  Merger(const io::FilePolicy& files, const MergeOptions& options, io::GzipFile& out, Job& job)
      : files_(files), options_(options), out_(out), job_(job) {}

  Result<Merged> Run(const std::vector<std::string>& paths) {
    JV_TRY(ReadHeads(paths));
    std::vector<RankDigest> digests;
    for (const auto& [path, head] : heads_)
      digests.push_back(head.digest);
    analysis::RankSet set = analysis::ResolveRanks(std::move(digests));
    merged_.warnings.insert(merged_.warnings.end(), set.warnings.begin(), set.warnings.end());
    JV_TRY(WriteBegin(set));
    std::int64_t next_pid = 1;
    for (std::size_t i = 0; i < set.ranks.size(); ++i) {
      JV_TRY(WriteRank(set.ranks[i], i, &next_pid));
      JV_TRY(job_.Check());
    }
    JV_TRY(out_.Write("\n]}\n"));
    JV_TRY(out_.Close());
    merged_.file_bytes = out_.bytes();
    return std::move(merged_);
  }

 private:
  std::uint64_t BytesMax() const {
    return options_.trace_bytes_max > 0 ? options_.trace_bytes_max : limits::kTraceBytesMax;
  }

  Result<std::unique_ptr<trace::TraceElements>> ElementsOf(const std::string& path) {
    JV_ASSIGN(io::InputFile file, files_.OpenInput(path));
    JV_ASSIGN(const trace::TraceFile opened, trace::TraceFile::Open(std::move(file), job_));
    return opened.Elements(BytesMax(), job_);
  }

  Result<Head> ReadHead(const std::string& path) {
    JV_ASSIGN(const auto elements, ElementsOf(path));
    trace::SliceText piece;
    std::uint64_t events = 0;
    for (;;) {
      JV_ASSIGN(const bool more, elements->Next(&piece));
      if (!more) break;
      events += piece.elements;
      job_.Report(elements->consumed(), elements->file_size(), "reading " + path);
    }
    if (events == 0) return Fail(ErrorCode::kNotATrace, "no event in it");
    Head head;
    head.digest.source = path;
    head.digest.trace_id = ShortId(elements->content_hash());
    head.digest.named_rank = RankInPath(path);
    head.digest.damage = elements->Damage();
    const trace::Metadata metadata = trace::ReadMetadata(elements->TakeValues());
    head.digest.rank = metadata.rank;
    head.digest.world_size = metadata.world_size;
    head.backend = metadata.backend;
    for (const trace::TopLevelValue& value : metadata.values) {
      if (value.key == "deviceProperties") head.devices = value.json;
      if (value.key == kMergedKey) head.merged = true;
      if (value.key == "baseTimeNanoseconds")
        head.digest.base_ns = trace::IntegerOf(value.json).value_or(0);
    }
    // Raw text is written again only if all of it is JSON.
    if (metadata.devices.empty()) head.devices.clear();
    return head;
  }

  Status ReadHeads(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      Result<Head> head = ReadHead(path);
      JV_TRY(job_.Check());
      if (!head) {
        merged_.warnings.push_back(
            {"TRACE_UNREADABLE", fmt::format("{} gives nothing: {}", path, head.error().message)});
        continue;
      }
      if (head->merged) {
        return Fail(ErrorCode::kBadValue, fmt::format("\"{}\" is a merged trace already", path),
                    "give the traces of the ranks");
      }
      heads_.emplace_back(path, std::move(*head));
    }
    if (!heads_.empty()) return {};
    return Fail(ErrorCode::kNotATrace,
                merged_.warnings.empty() ? "no trace was given" : merged_.warnings.front().text);
  }

  const Head& HeadOf(const RankDigest& digest) const {
    const auto found = std::find_if(heads_.begin(), heads_.end(),
                                    [&](const auto& head) { return head.first == digest.source; });
    return found->second;
  }

  Status WriteBegin(const analysis::RankSet& set) {
    for (const RankDigest& digest : set.ranks) {
      if (digest.base_ns != 0 && (base_ns_ == 0 || digest.base_ns < base_ns_))
        base_ns_ = digest.base_ns;
    }
    const Head& first = HeadOf(set.ranks.front());
    std::string text = "{\"schemaVersion\":1";
    if (set.world_size) {
      text += fmt::format(R"(,"distributedInfo":{{"backend":"{}","world_size":{}}})",
                          trace::Escape(first.backend), *set.world_size);
    }
    if (base_ns_ != 0) text += fmt::format(R"(,"baseTimeNanoseconds":{})", base_ns_);
    if (!first.devices.empty()) text += ",\"deviceProperties\":" + first.devices;
    text += fmt::format(",\"{}\":[", kMergedKey);
    for (std::size_t i = 0; i < set.ranks.size(); ++i) {
      const std::string& path = set.ranks[i].source;
      text += fmt::format(R"({}{{"rank":{},"file":"{}"}})", i == 0 ? "" : ",", *set.ranks[i].rank,
                          trace::Escape(path.substr(path.rfind('/') + 1)));
    }
    text += R"(],"displayTimeUnit":"ms","traceEvents":[)";
    // An element before the first, so that all others start with a comma.
    text +=
        "\n"
        R"({"ph":"M","name":"merged_by","pid":0,"tid":0,"args":{"name":"jarvis"}})";
    return out_.Write(text);
  }

  Status WriteRank(const RankDigest& digest, std::size_t ordinal, std::int64_t* next_pid) {
    std::int64_t shift = 0;
    if (digest.base_ns == 0 || __builtin_sub_overflow(digest.base_ns, base_ns_, &shift)) shift = 0;
    trace::RankRewriter rewriter({.rank = *digest.rank,
                                  .ordinal = ordinal,
                                  .first_pid = *next_pid,
                                  .shift_ns = shift,
                                  .python_functions = options_.python_functions});
    JV_ASSIGN(const auto elements, ElementsOf(digest.source));
    trace::SliceText piece;
    std::string text;
    for (;;) {
      JV_ASSIGN(const bool more, elements->Next(&piece));
      if (!more) break;
      text.clear();
      rewriter.Add(piece.text(), &text);
      JV_TRY(out_.Write(text));
      job_.Report(elements->consumed(), elements->file_size(), "merging rank");
    }
    text.clear();
    rewriter.AddNames(&text);
    JV_TRY(out_.Write(text));
    *next_pid = rewriter.next_pid();
    if (rewriter.dropped() > 0) {
      merged_.warnings.push_back({"EVENTS_DROPPED", fmt::format("{} events of rank {} are no JSON",
                                                                rewriter.dropped(), *digest.rank)});
    }
    merged_.ranks.push_back({*digest.rank, digest.source, rewriter.events()});
    return {};
  }

  const io::FilePolicy& files_;
  const MergeOptions& options_;
  io::GzipFile& out_;
  Job& job_;
  std::vector<std::pair<std::string, Head>> heads_;  // by path, as given
  std::int64_t base_ns_ = 0;
  Merged merged_;
};

}  // namespace

Result<Merged> MergeRanks(const io::FilePolicy& files, const std::vector<std::string>& paths,
                          const MergeOptions& options, io::GzipFile& out, Job& job) {
  return Merger(files, options, out, job).Run(paths);
}

}  // namespace jarvis::session
