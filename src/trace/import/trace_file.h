// The one way from a file to a trace, whatever its format: a table of importers, asked by content.
// A new format is a folder here and a line in trace_file.cpp.
//
// Threads: a TraceFile is used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

// All formats. The first takes what none of them does: its reader says what that is instead
// (io::TellFileKind).
std::span<const Importer* const> Importers();

class TraceFile {
 public:
  // Asks all importers. Of an archive with one trace in it that one is meant. Errors: those of
  // io::OpenBytes; kNotATrace, which lists what there is, for an archive with several or none.
  static Result<TraceFile> Open(io::InputFile file, Job& job);
  TraceFile(TraceInput input, const Importer& importer)
      : input_(std::move(input)), importer_(&importer) {}

  const io::InputFile& file() const { return input_.file; }
  const Importer& importer() const { return *importer_; }
  // How its bytes begin, unpacked: at most kSniffedBytes.
  std::string_view head() const { return head_; }

  // All its bytes, unpacked. The job must outlive them.
  Result<std::unique_ptr<io::ByteSource>> Bytes(const Job& job) const { return input_.Bytes(job); }

  Result<ImportedTrace> Read(const ReadOptions& options, Job& job) const;
  // In bounded memory. kBadValue where the format cannot be read in parts or written again.
  Result<Survey> TakeSurvey(const ReadOptions& options, Job& job) const;
  Result<std::unique_ptr<TraceElements>> Elements(std::uint64_t bytes_max, Job& job) const;

 private:
  TraceInput input_;
  std::string head_;
  const Importer* importer_;
};

// What an archive holds. A name opens that trace as "ARCHIVE#NAME".
struct ArchiveTraces {
  std::vector<std::string> names;   // of traces, in the archive's order; empty: it is no archive
  std::vector<std::string> others;  // of files that are no traces
  std::string damage;               // where reading ended early; mostly empty
};
// Errors: those of io::OpenBytes.
Result<ArchiveTraces> TracesInArchive(const io::InputFile& file, const Job& job);

// Endings of the names under which traces lie in folders, and archives of them.
std::vector<std::string> TraceFileEndings();
std::vector<std::string> ArchiveFileEndings();

}  // namespace jarvis::trace
