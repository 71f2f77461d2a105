#include "session/annotated_trace.h"

#include <limits>

#include "trace/import/trace_file.h"
#include "trace/rank_rewriter.h"

namespace jarvis::session {

Status WriteAnnotated(const io::FilePolicy& files, const std::string& path,
                      std::uint64_t trace_bytes_max, std::string_view events, io::GzipFile& out,
                      Job& job) {
  JV_ASSIGN(io::InputFile file, files.OpenInput(path));
  JV_ASSIGN(const trace::TraceFile opened, trace::TraceFile::Open(std::move(file), job));
  const std::uint64_t most =
      trace_bytes_max == 0 ? std::numeric_limits<std::uint64_t>::max() : trace_bytes_max;
  JV_ASSIGN(const auto elements, opened.Elements(most, job));
  trace::RankRewriter::Options as_is;
  as_is.as_is = true;
  trace::RankRewriter rewriter(as_is);
  trace::SliceText piece;
  std::string text;
  // An element before the first, so that all others start with a comma.
  JV_TRY(
      out.Write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                R"({"ph":"M","name":"annotated_by","pid":0,"tid":0,"args":{"name":"jarvis"}})"));
  for (;;) {
    JV_ASSIGN(const bool more, elements->Next(&piece));
    if (!more) break;
    text.clear();
    rewriter.Add(piece.text(), &text);
    JV_TRY(out.Write(text));
    job.Report(elements->consumed(), elements->file_size(), "copying");
  }
  JV_TRY(out.Write(events));
  JV_TRY(out.Write("\n]}\n"));
  return out.Close();
}

}  // namespace jarvis::session
