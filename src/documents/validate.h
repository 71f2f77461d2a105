// Is a document of an analysis still what it must be? Its tables are the server's, its prose says
// nothing that no table says, its links lead somewhere, its claims are ones a trace can carry.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/markdown_scan.h"
#include "documents/sentences.h"
#include "findings/one/analysis.h"

namespace jarvis::documents {

enum class DocumentKind { kFair, kRough, kAnalysis, kFindings };

struct Fault {
  std::string code;  // stable: "number", "claim", "structure", "table", "link", "paths",
                     // "brevity", "limits", "coverage", "placeholder", "marker", "anomaly", "range"
  std::string file;  // relative to the output directory
  std::size_t line = 0;  // from 1; 0: the file as a whole
  std::string message;   // what is wrong
  std::string fix;       // what to do
};

// What prose may cite: the figures of the tables of a report, its working notes and files.
class Evidence {
 public:
  explicit Evidence(const ScannedMarkdown& document);
  bool Supports(const Quantity& quantity) const;

 private:
  std::vector<Quantity> figures_;
};

// Claims that a trace does not carry, and figures that stand in no table. `where` fills file and
// line.
std::vector<Fault> CheckProse(std::string_view prose, const Evidence& evidence, const Fault& where);

struct DocumentCheck {
  DocumentKind kind = DocumentKind::kFair;
  std::string file;                    // relative to the output directory
  std::string_view text;               // as it is on the disk
  std::string_view expected;           // as the server would write it now
  const Evidence* evidence = nullptr;  // what prose may cite; null: the tables of `expected`
  const findings::Analysis* analysis = nullptr;
  std::function<bool(const std::string& file)> exists;  // relative to the output directory
};
// In the order of the document. Empty: nothing is wrong.
std::vector<Fault> ValidateDocument(const DocumentCheck& check);

namespace limits {
inline constexpr std::size_t kSummaryLines = 20;     // of the executive summary; the users' rule
inline constexpr std::size_t kCardLines = 10;        // of a recommendation
inline constexpr std::size_t kFurtherFindings = 10;  // rows below the cards; others are counted
}  // namespace limits

}  // namespace jarvis::documents
