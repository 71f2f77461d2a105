#include "trace/import/trace_file.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/archive.h"
#include "io/file_kind.h"
#include "io/plain_source.h"
#include "trace/import/database/sqlite_trace.h"
#include "trace/import/kineto/kineto_json.h"
#include "trace/import/perfetto/perfetto.h"
#include "trace/import/rocm/csv_set.h"
#include "trace/import/rocm/results_json.h"
#include "trace/import/xplane/xplane.h"

namespace jarvis::trace {
namespace {

// All formats, a line each.
constexpr std::array kImporters = {
    &kKinetoJson, &kSqliteTrace, &kRocprofv3Json, &kRocprofv3Csv, &kXplane, &kPerfetto,
};

struct Found {
  const Importer* importer = kImporters.front();
  Fit fit = Fit::kNone;
};

// Who is most certain; of those who are as certain, the first.
Found FindImporter(std::string_view head, bool in_archive = false) {
  Found best;
  for (const Importer* importer : kImporters) {
    // Pages are read at random, which an archive's files cannot be.
    if (in_archive && importer == &kSqliteTrace) continue;
    const Fit fit = importer->sniff(head);
    if (fit > best.fit) best = {importer, fit};
  }
  return best;
}

// Names as an answer shows them.
std::string ListOf(const std::vector<std::string>& names) {
  constexpr std::size_t kShownMax = 12;
  constexpr std::size_t kNameShownMax = 120;
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kShownMax; ++i)
    list +=
        fmt::format("{}\"{}\"", i == 0 ? "" : ", ", Shortened(OneLine(names[i]), kNameShownMax));
  if (names.size() > kShownMax) list += fmt::format(" and {} more", names.size() - kShownMax);
  return list;
}

struct Sniffed {
  struct Member {
    std::string name;
    Found found;
    bool encrypted = false;
  };
  std::vector<Member> members;
  std::string damage;
};

Result<Sniffed> SniffMembers(const io::InputFile& file, const io::FileLook& look, const Job& job) {
  Sniffed sniffed;
  JV_ASSIGN(sniffed.damage,
            io::VisitArchive(
                file, look.layers, &job, kSniffedBytes, [&](const io::ArchiveMember& member) {
                  sniffed.members.push_back(
                      {member.name, FindImporter(member.head, true), member.encrypted});
                }));
  // Where some are traces for certain, what only may be one is something else beside them.
  Fit best = Fit::kNone;
  for (const Sniffed::Member& member : sniffed.members)
    best = std::max(best, member.found.fit);
  for (Sniffed::Member& member : sniffed.members) {
    if (member.found.fit < best) member.found.fit = Fit::kNone;
  }
  return sniffed;
}

// What an archive without a trace in it is: some formats are archives.
Error NoTraceIn(const io::InputFile& file, const io::FileLook& look, const Sniffed& sniffed) {
  constexpr std::size_t kStartBytes = std::size_t{1} << 20;
  const std::string_view what = io::NameOf(look.layers.back().packing);
  if (auto again = io::AnotherOf(file)) {
    std::string start(kStartBytes, '\0');
    start.resize(io::PlainSource(std::move(*again)).Read(start).value_or(0));
    const auto kind = io::TellFileKind(start);
    if (kind && kind->what != what)
      return {ErrorCode::kNotATrace, fmt::format("this is {}", kind->what),
              std::string(kind->next)};
  }
  std::vector<std::string> names;
  bool encrypted = false;
  for (const Sniffed::Member& member : sniffed.members) {
    names.push_back(member.name);
    encrypted = encrypted || member.encrypted;
  }
  std::string message = fmt::format(
      "this is {} {}", what, encrypted ? "whose files are encrypted" : "without a trace in it");
  if (!names.empty()) message += ": " + ListOf(names);
  if (!sniffed.damage.empty()) message += "; it is " + sniffed.damage;
  return {ErrorCode::kNotATrace, std::move(message),
          encrypted ? "unpack it with its password and give the trace (.json or .json.gz) inside"
                    : "give the trace itself (.json or .json.gz) or an archive with one in it"};
}

// What a file of no format that is known is by its name, where only its own program reads it.
std::optional<Error> KnownByName(const io::InputFile& file) {
  constexpr std::string_view kReports[] = {".nsys-rep", ".qdrep", ".qdstrm"};
  if (std::none_of(std::begin(kReports), std::end(kReports),
                   [&](std::string_view one) { return file.path.ends_with(one); }))
    return std::nullopt;
  return Error{
      ErrorCode::kNotATrace, "this is a report of Nsight Systems, which only its own program reads",
      fmt::format("nsys export --type=sqlite --include-blobs=true -o OUT.sqlite \"{}\", then "
                  "give OUT.sqlite",
                  OneLine(file.given))};
}

Error NoSuch(const Importer& importer, std::string_view can, std::string_view instead) {
  return {ErrorCode::kBadValue, fmt::format("{} cannot be {}", importer.what, can),
          std::string(instead)};
}

}  // namespace

std::span<const Importer* const> Importers() {
  return kImporters;
}

Result<TraceFile> TraceFile::Open(io::InputFile file, Job& job) {
  JV_ASSIGN(io::FileLook look, io::LookAt(file, kSniffedBytes));
  const bool archive = look.archive();
  std::string chosen;
  if (archive && file.member.empty()) {
    JV_ASSIGN(Sniffed sniffed, SniffMembers(file, look, job));
    std::vector<std::string> names;
    for (Sniffed::Member& member : sniffed.members) {
      if (member.found.fit != Fit::kNone) names.push_back(member.name);
    }
    if (names.empty()) return tl::make_unexpected(NoTraceIn(file, look, sniffed));
    if (names.size() > 1) {
      return Fail(ErrorCode::kNotATrace,
                  fmt::format("this is {} with {} traces in it: {}",
                              io::NameOf(look.layers.back().packing), names.size(), ListOf(names)),
                  fmt::format("name one: \"{}#{}\"; collectives reads all of them as the ranks of "
                              "one job",
                              file.given, OneLine(names.front())));
    }
    chosen = std::move(names.front());
  }
  TraceFile opened({std::move(file), std::move(look.layers), std::move(chosen)},
                   *kImporters.front());
  opened.head_ = std::move(look.head);
  if (archive || !opened.file().member.empty()) {
    JV_ASSIGN(const auto bytes, opened.input_.Bytes(job));
    JV_ASSIGN(opened.head_, io::HeadOf(*bytes, kSniffedBytes));
  }
  const Found found = FindImporter(opened.head_);
  if (found.fit == Fit::kNone && !opened.head_.empty()) {
    if (auto error = KnownByName(opened.file())) return tl::make_unexpected(std::move(*error));
  }
  opened.importer_ = found.importer;
  return opened;
}

Result<ImportedTrace> TraceFile::Read(const ReadOptions& options, Job& job) const {
  return importer_->read(input_, options, job);
}

Result<Survey> TraceFile::TakeSurvey(const ReadOptions& options, Job& job) const {
  if (importer_->survey == nullptr || importer_->read_window == nullptr) {
    return tl::make_unexpected(NoSuch(*importer_, "read in parts",
                                      "leave steps, from_ms and to_ms out: all of it is read"));
  }
  return importer_->survey(input_, options, job);
}

Result<std::unique_ptr<TraceElements>> TraceFile::Elements(std::uint64_t bytes_max,
                                                           Job& job) const {
  if (importer_->elements == nullptr) {
    return tl::make_unexpected(
        NoSuch(*importer_, "copied, split or merged as JSON",
               "ask the loaded trace instead, or give the JSON that torch.profiler exports"));
  }
  return importer_->elements(input_, bytes_max, job);
}

Result<ArchiveTraces> TracesInArchive(const io::InputFile& file, const Job& job) {
  ArchiveTraces traces;
  if (!file.member.empty()) return traces;
  JV_ASSIGN(const io::FileLook look, io::LookAt(file, 0));
  if (!look.archive()) return traces;
  JV_ASSIGN(Sniffed sniffed, SniffMembers(file, look, job));
  for (Sniffed::Member& member : sniffed.members) {
    const bool is_trace = member.found.fit != Fit::kNone;
    (is_trace ? traces.names : traces.others).push_back(std::move(member.name));
  }
  traces.damage = std::move(sniffed.damage);
  return traces;
}

std::vector<std::string> TraceFileEndings() {
  return {".json",   ".json.gz", ".json.zst",  ".json.xz",      ".json.bz2", ".json.lz4",
          ".sqlite", ".db",      ".xplane.pb", ".xplane.pb.gz", ".pftrace",  ".perfetto-trace"};
}

std::vector<std::string> ArchiveFileEndings() {
  return {".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2"};
}

}  // namespace jarvis::trace
