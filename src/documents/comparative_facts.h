// What both forms of the comparative report say, before it is put into words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/comparative_report.h"
#include "findings/two/pair.h"

namespace jarvis::documents {

struct ComparativeFacts {
  const ComparativeSide& candidate;
  const ComparativeSide& baseline;
  std::string model;  // the outermost module; "Workload" if there is none
  std::string candidate_device;
  std::string candidate_name;  // its platform, and what tells it from the baseline
  std::string baseline_name;
  findings::ComparedPair pair;
  findings::TraceComparison categories;
  findings::TraceComparison modules;
  // Rows of pair.ops: slower than expected, worth a look; the largest excess first.
  std::vector<const findings::CompareRow*> slower;
  std::vector<const findings::CompareRow*> faster;
  std::vector<std::string> differences;  // of the two workloads: "precision: bf16 and mxfp8"
  // What one side alone tells and the other does as well: "also of the candidate: hidden 256".
  std::string shared;

  const findings::TraceComparison& ops() const { return pair.ops; }
  const findings::Comparability& comparability() const { return pair.comparability; }
};

Result<ComparativeFacts> CollectFacts(const ComparativeSide& candidate,
                                      const ComparativeSide& baseline, Job& job);

// What a unit of the balance is made of: name, milliseconds of the baseline and of the candidate.
struct WindowPart {
  std::string name;
  double baseline_ms = 0;
  double candidate_ms = 0;
};
// The unit itself first; parts that neither has are left out.
std::vector<WindowPart> WindowParts(const ComparativeFacts& facts);

// The kernels that a row's calls launched.
struct RowKernel {
  std::string name;  // short
  double ms = 0;     // a step if rows are
  double count = 0;
};
// The longest first, at most `most`; `rest`: how many other names there are.
std::vector<RowKernel> KernelsOf(const session::LoadedTrace& trace,
                                 const std::vector<std::uint32_t>& launchers, double parts,
                                 std::size_t most, std::size_t* rest);

// The row of ops_summary that the launchers' op is in: "op3"; empty: none.
std::string RowIdOf(const session::LoadedTrace& trace, const std::vector<std::uint32_t>& launchers);
// Its category: of the first call.
std::string_view CategoryOf(const session::LoadedTrace& trace,
                            const std::vector<std::uint32_t>& launchers);

// Text for a cell of a table: one line, no bars, no code marks, tags, links or images, at most
// `bytes`.
std::string Md(std::string_view text, std::size_t bytes = 120);
// The same for what stands in backticks, where nothing but these and bars means anything.
std::string MdCode(std::string_view text, std::size_t bytes = 120);
std::string Ms(const std::optional<double>& value);  // "1.234 ms", "–"
// The same with its sign: "+1.23 ms", "-0.0412 ms".
std::string SignedMs(double ms);
// How far `value` is from `from`: "+12.3 %"; "–" if that is not known.
std::string Delta(const std::optional<double>& value, const std::optional<double>& from);
// "43.6 % more time", "12.0 % less time", "the same time".
std::string ChangeText(double ratio);
// A compared row's name with its shape, for headings.
std::string TitleOf(const findings::CompareRow& row);
// What the devices explain: "34 % less", or "12 to 34 % less" with fixed costs.
std::string ExpectedText(const findings::CompareRow& row);

}  // namespace jarvis::documents
