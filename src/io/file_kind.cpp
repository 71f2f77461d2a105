#include "io/file_kind.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace jarvis::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kRecord =
    "record the run with torch.profiler and give the file that export_chrome_trace() wrote";
constexpr std::string_view kExport =
    "export it and give that: nsys export --type=sqlite --include-blobs=true -o OUT.sqlite "
    "FILE.nsys-rep";
constexpr std::string_view kUnpack = "unpack it and give the trace (.json or .json.gz) inside";

struct Signature {
  std::size_t at;
  std::string_view magic;                    // stands there; of text in lower case, see `text`
  std::array<std::string_view, 2> contains;  // somewhere in the head; empty: anything
  FileKind kind;
};

// The first that fits. Magic numbers are those of each format's own description.
constexpr Signature kBinary[] = {
    {0, "SQLite format 3\0"sv, {}, {"an SQLite database", kRecord}},
    {0, "NVIDIA Tegra Profiler Report", {}, {"an Nsight Systems report (.nsys-rep)", kExport}},
    {0,
     "NVR\0"sv,
     {},
     {"an Nsight Compute report (.ncu-rep)",
      "kernels' counters are not read from it: "
      "record the run with torch.profiler and give the "
      "file that export_chrome_trace() wrote"}},
    {0,
     "PK\3\4",
     {"[Content_Types].xml"},
     {"an Excel workbook", "give the trace itself; reports in workbooks go to the tool compare"}},
    {0, "PK\3\4", {"data.pkl"}, {"a checkpoint that torch.save() wrote", kRecord}},
    {0, "PK\3\4", {}, {"a zip archive", kUnpack}},
    {0, "7z\xBC\xAF\x27\x1C", {}, {"a 7z archive", kUnpack}},
    {257,
     "ustar",
     {},
     {"a tar archive", "unpack it with `tar -xf` and give the trace (.json or .json.gz) inside"}},
    {0, "Rar!", {}, {"a RAR archive", kUnpack}},
    {0, "PERFILE2", {}, {"a recording of Linux perf", kRecord}},
    {12, "\x09", {"brain.Event:"}, {"a log of TensorBoard (tfevents)", kRecord}},
    {8, "{\"", {"\"data_offsets\""}, {"weights of a model (safetensors)", kRecord}},
    {0, "ARROW1", {}, {"an Arrow table", kRecord}},
    {0, "PAR1", {}, {"a Parquet table", kRecord}},
    {0, "\x89HDF\r\n", {}, {"an HDF5 file", kRecord}},
    {0, "\x93NUMPY", {}, {"a NumPy array", kRecord}},
    {0, "\x89PNG", {}, {"a picture (PNG)", "give the trace itself"}},
    {0, "\xFF\xD8\xFF", {}, {"a picture (JPEG)", "give the trace itself"}},
    {0, "%PDF-", {}, {"a PDF document", "give the trace itself"}},
    {0,
     "\x7F"
     "ELF",
     {},
     {"a program (ELF)", "give the trace itself"}},
};

// Of JSON whose events are not there: members that its format's own writer puts first.
constexpr Signature kJson[] = {
    {0,
     "{",
     {"\"schema\"", "\"nodes\""},
     {"an execution trace of PyTorch (ExecutionTraceObserver), which holds no times",
      "give the profiler's own trace of the same run, which export_chrome_trace() wrote"}},
    {0, "{", {"\"entries\"", "\"pg_config\""}, {"a dump of the NCCL flight recorder", kRecord}},
    {0, "{", {"\"entries\"", "\"pg_id\""}, {"a dump of the NCCL flight recorder", kRecord}},
    {0, "{", {"\"entries\"", "\"nccl_version\""}, {"a dump of the NCCL flight recorder", kRecord}},
    {0,
     "{",
     {"\"device_traces\"", "\"segments\""},
     {"a snapshot of the CUDA allocator's memory",
      "times are in the profiler's trace: give what export_chrome_trace() wrote"}},
    {0, "{", {"speedscope.app"}, {"a speedscope profile", kRecord}},
    {0, "{", {"\"timeDeltas\"", "\"nodes\""}, {"a CPU profile of Chrome or Node.js", kRecord}},
    {0, "{", {"\"nbformat\""}, {"a Jupyter notebook", "give the trace itself"}},
};

constexpr Signature kText[] = {
    {0,
     "version https://git-lfs.github.com/spec/",
     {},
     {"a pointer of Git LFS, not the file itself", "fetch the file with `git lfs pull`"}},
    {0,
     "<!doctype html",
     {},
     {"a web page, such as an error or a login that was saved in place of the file",
      "download the trace again"}},
    {0,
     "<html",
     {},
     {"a web page, such as an error or a login that was saved in place of the file",
      "download the trace again"}},
    {0, "<?xml", {}, {"an XML document", kRecord}},
    {0,
     "",
     {"self cpu %"},
     {"the printed table of key_averages(), which holds no events",
      "give what export_chrome_trace() of the same profiler wrote"}},
};

bool Fits(const Signature& row, std::string_view head) {
  return head.size() >= row.at && head.substr(row.at).starts_with(row.magic) &&
         std::all_of(row.contains.begin(), row.contains.end(), [&](std::string_view part) {
           return head.find(part) != std::string_view::npos;
         });
}

template <std::size_t kRows>
std::optional<FileKind> FirstOf(const Signature (&rows)[kRows], std::string_view head) {
  const auto row = std::find_if(std::begin(rows), std::end(rows),
                                [&](const Signature& one) { return Fits(one, head); });
  if (row == std::end(rows)) return std::nullopt;
  return row->kind;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Messages of protocol buffers have no magic number: field 1 with a length, and what stands in it.
std::optional<FileKind> TellProtobuf(std::string_view head) {
  constexpr std::size_t kNamesWithin = 4096;
  constexpr char kFieldOne = '\x0A';
  const std::size_t field = head.substr(0, 4).find(kFieldOne);
  if (field == std::string_view::npos) return std::nullopt;
  // Chakra: a message's length, then its version "0.0.4".
  const std::string_view inside = head.substr(std::min(head.size(), field + 2));
  if (inside.size() > 2 && IsDigit(inside[0]) && inside[1] == '.' && IsDigit(inside[2])) {
    return FileKind{"an execution trace of Chakra, which holds no GPU timeline", kRecord};
  }
  if (field != 0) return std::nullopt;
  const std::string_view start = head.substr(0, kNamesWithin);
  for (const std::string_view plane : {"/host:"sv, "/device:"sv, "Task Environment"sv}) {
    if (start.find(plane) != std::string_view::npos)
      return FileKind{"an XPlane profile of JAX or TensorFlow (.xplane.pb)",
                      "give the trace.json.gz that lies beside it"};
  }
  return FileKind{"a Perfetto trace in binary form (.pftrace)",
                  "give the JSON that the profiler exported; Perfetto's traceconv json makes it of "
                  "this file too"};
}

std::optional<FileKind> TellPickle(std::string_view head) {
  if (head.size() < 2 || head[0] != '\x80' || head[1] < 2 || head[1] > 5) return std::nullopt;
  if (head.find("device_traces") != std::string_view::npos ||
      head.find("segments") != std::string_view::npos) {
    return FileKind{"a snapshot of the CUDA allocator's memory (pickle)",
                    "times are in the profiler's trace: give what export_chrome_trace() wrote"};
  }
  if (head.find("nccl") != std::string_view::npos)
    return FileKind{"a dump of the NCCL flight recorder (pickle)", kRecord};
  return FileKind{"a Python pickle", kRecord};
}

// Lists of numbers and nothing else, so far.
std::optional<FileKind> TellNumbers(std::string_view text) {
  constexpr std::string_view kOfNumbers = "[]+-.,eE0123456789 \t\r\n";
  const std::string_view inner = text.substr(0, text.find_first_of("0123456789"));
  if (inner.size() == text.size() || std::count(inner.begin(), inner.end(), '[') != 2 ||
      text.find_first_not_of(kOfNumbers) != std::string_view::npos)
    return std::nullopt;
  return FileKind{"a memory timeline (export_memory_timeline) or another list of numbers",
                  "times are in the profiler's trace: give what export_chrome_trace() wrote"};
}

// Whether a person can read it.
bool IsText(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
  });
}

// The first two lines have the same number of columns, and more than one.
std::optional<FileKind> TellTable(std::string_view text) {
  const auto line = [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    return one;
  };
  const std::string_view names = line();
  const auto commas = std::count(names.begin(), names.end(), ',');
  const std::string_view row = line();
  if (commas == 0 || std::count(row.begin(), row.end(), ',') < commas) return std::nullopt;
  if (names.find("Agent_Id") != std::string_view::npos ||
      names.find("Dispatch_Id") != std::string_view::npos ||
      names.find("TotalDurationNs") != std::string_view::npos) {
    return FileKind{
        "a CSV file of rocprofv3",
        "counters are read by the tool rocprof_counters; the timeline is in kernel_trace.csv and "
        "hip_api_trace.csv of the same run"};
  }
  return FileKind{"a CSV table",
                  "give the trace itself; folders of report tables go to the tool compare"};
}

}  // namespace

std::optional<FileKind> TellFileKind(std::string_view head) {
  if (auto kind = FirstOf(kBinary, head)) return kind;
  if (auto kind = TellPickle(head)) return kind;
  if (!IsText(head)) return TellProtobuf(head);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  if (head.starts_with('{') || head.starts_with('[')) {
    // A trace without events is a trace.
    if (head.find("\"traceEvents\"") != std::string_view::npos) return std::nullopt;
    if (auto kind = TellNumbers(head)) return kind;
    return FirstOf(kJson, head);
  }
  constexpr std::size_t kTextLooked = 4096;
  const std::string lower = LowerAscii(head.substr(0, kTextLooked));
  if (auto kind = FirstOf(kText, lower)) return kind;
  return TellTable(head);
}

}  // namespace jarvis::io
