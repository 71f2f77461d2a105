#include "documents/validate.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "documents/claims.h"
#include "documents/validate_cards.h"
#include "findings/one/thresholds.h"

namespace jarvis::documents {
namespace {

using Headings = std::vector<std::string_view>;

Headings RequiredHeadings(DocumentKind kind) {
  switch (kind) {
    case DocumentKind::kFair:
      return {"Executive Summary", "Recommendations", "Detailed Analysis", "Appendix"};
    case DocumentKind::kRough:
      return {"Analysis Process Summary", "Raw Data Exploration", "Tree Analysis", "TraceLens Gaps",
              "Questions for Further Investigation"};
    case DocumentKind::kAnalysis:
      return {"Executive Summary",
              "Compute Kernel Optimizations",
              "Kernel Fusion Opportunities (Experimental)",
              "System-Level Optimizations",
              "Detailed Analysis",
              "Appendix"};
    case DocumentKind::kFindings: break;
  }
  return {"Recommendations", "Detailed Analysis"};
}

constexpr std::array<std::string_view, 14> kPlaceholders = {"X ms",
                                                            "Y%",
                                                            "Z%",
                                                            "W%",
                                                            "<Brief Title>",
                                                            "<Library>",
                                                            "<platform>",
                                                            "<model>",
                                                            "<Model>",
                                                            "{{",
                                                            "<architecture>",
                                                            "<scale>",
                                                            "<precision>",
                                                            "TO"
                                                            "DO"};

class Validator {
 public:
  explicit Validator(const DocumentCheck& check)
      : check_(check),
        document_(ScanMarkdown(check.text)),
        expected_(ScanMarkdown(check.expected)),
        evidence_(expected_) {}

  std::vector<Fault> Run() {
    Structure();
    Tables();
    Prose();
    Links();
    Brevity();
    for (Fault& fault : CheckCards(check_, document_))
      faults_.push_back(std::move(fault));
    for (Fault& fault : faults_)
      fault.file = check_.file;
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const Fault& a, const Fault& b) { return a.line < b.line; });
    return std::move(faults_);
  }

 private:
  void Add(std::string code, std::size_t line, std::string message, std::string fix) {
    faults_.push_back({std::move(code), {}, line, std::move(message), std::move(fix)});
  }

  void Structure() {
    std::size_t from = 0;
    for (const std::string_view wanted : RequiredHeadings(check_.kind)) {
      const auto found = std::find_if(
          document_.headings.begin() + static_cast<std::ptrdiff_t>(from), document_.headings.end(),
          [&](const Heading& heading) { return heading.level == 2 && heading.text == wanted; });
      if (found == document_.headings.end()) {
        Add("structure", 0, fmt::format("the heading \"## {}\" is missing or out of order", wanted),
            "render_report writes it again");
      } else {
        from = static_cast<std::size_t>(found - document_.headings.begin()) + 1;
      }
    }
    if (check_.text.size() < 100) {
      Add("structure", 0, "the document is shorter than 100 bytes", "render_report");
    }
    for (const ProseLine& line : document_.prose) {
      const std::string prose = ProseOf(line.text);
      for (const std::string_view placeholder : kPlaceholders) {
        const std::size_t at = prose.find(placeholder);
        // "12X ms" is a figure, " X ms" is none.
        if (at == std::string::npos ||
            (at > 0 && prose[at - 1] != ' ' && placeholder[0] != '{' && placeholder[0] != '<'))
          continue;
        Add("placeholder", line.line + 1, fmt::format("a placeholder is left: {}", placeholder),
            "write_findings with the real text");
      }
    }
  }

  // Figures are the server's: every table must be one that it would write now, and each of those
  // must be there.
  void Tables() {
    std::map<std::vector<std::vector<std::string>>, int> wanted;
    const auto key = [](const ScannedTable& table) {
      auto cells = table.rows;
      cells.push_back(table.header);
      return cells;
    };
    for (const ScannedTable& table : expected_.tables)
      ++wanted[key(table)];
    for (const ScannedTable& table : document_.tables) {
      if (--wanted[key(table)] < 0) {
        Add("table", table.line + 1,
            fmt::format("the table \"{}\" is not what the analysis says",
                        table.header.empty() ? "" : table.header[0]),
            "render_report writes it again; only prose can be edited, with write_findings");
      }
      Anomalies(table);
      Ranges(table);
    }
    for (const auto& [cells, missing] : wanted) {
      if (missing <= 0) continue;
      Add("table", 0,
          fmt::format("a table with the columns {} is missing",
                      cells.back().empty() ? "" : fmt::format("{}", fmt::join(cells.back(), ", "))),
          "render_report writes it again");
    }
  }

  void Ranges(const ScannedTable& table) {
    for (const auto& row : table.rows) {
      for (const std::string& cell : row) {
        for (const std::string& range : ReversedRanges(cell)) {
          Add("range", table.line + 1, fmt::format("the range \"{}\" is upside down", range),
              "render_report writes it again");
        }
      }
    }
  }

  void Anomalies(const ScannedTable& table) {
    for (std::size_t column = 0; column < table.header.size(); ++column) {
      if (table.header[column] != "Efficiency") continue;
      for (const auto& row : table.rows) {
        if (column >= row.size()) continue;
        const std::vector<Quantity> values = CellQuantities("Efficiency (%)", row[column]);
        if (values.empty() || values[0].value <= findings::limits::kAtRoof + 0.05) continue;
        const std::string all = LowerAscii(fmt::format("{}", fmt::join(row, " ")));
        if (all.find("anomal") != std::string::npos) continue;
        if (table.header[0] == "Category") continue;  // said at its rows
        Add("anomaly", table.line + 1,
            "an efficiency above 100 % is not marked as an anomaly: " + row[column],
            "render_report");
      }
    }
  }

  void Prose() {
    for (const ProseLine& line : document_.prose) {
      if (line.text.starts_with("# ")) continue;  // names of a model and a device
      const Evidence& evidence = check_.evidence != nullptr ? *check_.evidence : evidence_;
      for (Fault& fault : CheckProse(line.text, evidence, {{}, {}, line.line + 1, {}, {}}))
        faults_.push_back(std::move(fault));
    }
  }

  void Links() {
    const std::size_t slash = check_.file.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : check_.file.substr(0, slash + 1);
    for (const Link& link : document_.links) {
      const std::string target(link.target);
      if (target.starts_with("http://") || target.starts_with("https://")) continue;
      const bool there = target.starts_with("#") ? document_.anchors.contains(target.substr(1))
                                                 : check_.exists(folder + target);
      if (!there) {
        Add("link", link.line + 1, "a link leads nowhere: " + std::string(Utf8Prefix(target, 120)),
            "render_report with the report that it names");
      }
    }
  }

  void Brevity() {
    if (check_.kind != DocumentKind::kFair && check_.kind != DocumentKind::kAnalysis) return;
    const std::size_t lines = LinesOf("Executive Summary");
    if (lines > limits::kSummaryLines) {
      Add("brevity", 0,
          fmt::format("the executive summary has {} lines, {} are allowed", lines,
                      limits::kSummaryLines),
          "shorten the insight of the first finding with write_findings");
    }
  }

  // Lines with text below a heading of level 2.
  std::size_t LinesOf(std::string_view heading) const {
    std::size_t count = 0;
    bool inside = false;
    for (const std::string_view raw : document_.lines) {
      const std::string_view line = Trim(raw);
      if (line.starts_with("## ")) {
        inside = Trim(line.substr(3)) == heading;
      } else if (inside && !line.empty() && line != "---") {
        ++count;
      }
    }
    return count;
  }

  const DocumentCheck& check_;
  const ScannedMarkdown document_;
  const ScannedMarkdown expected_;
  const Evidence evidence_;
  std::vector<Fault> faults_;
};

}  // namespace

Evidence::Evidence(const ScannedMarkdown& document) {
  for (const ScannedTable& table : document.tables) {
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < row.size() && i < table.header.size(); ++i) {
        for (Quantity& figure : CellQuantities(table.header[i], row[i]))
          figures_.push_back(std::move(figure));
      }
    }
  }
}

bool Evidence::Supports(const Quantity& quantity) const {
  return std::any_of(figures_.begin(), figures_.end(),
                     [&](const Quantity& figure) { return Agree(quantity, figure); });
}

namespace {

// What the prose calculates from figures of the tables, or from what it has calculated before. A
// calculation that comes to something else is a fault.
std::vector<Quantity> DerivedFigures(std::string_view prose, const Evidence& evidence,
                                     const Fault& where, std::vector<Fault>* faults) {
  std::vector<Quantity> derived;
  for (const Calculation& one : Calculations(prose)) {
    if (!one.holds) {
      faults->push_back({"number", where.file, where.line,
                         fmt::format("\"{}\" does not come to that", one.text),
                         "calculate it again"});
      continue;
    }
    const bool known =
        std::all_of(one.operands.begin(), one.operands.end(), [&](const Quantity& operand) {
          const bool before = std::any_of(derived.begin(), derived.end(), [&](const Quantity& d) {
            return d.kind == operand.kind && Agree(operand, d);
          });
          return operand.kind == QuantityKind::kPlain || before || evidence.Supports(operand);
        });
    if (!known) continue;
    derived.push_back(one.result);
    // "3 x" of "3 x 12.5 ms" reads as a ratio by itself; here it is how many there are.
    for (const Quantity& operand : one.operands) {
      if (operand.kind == QuantityKind::kPlain)
        derived.push_back({QuantityKind::kRatio, operand.value, 0, {}});
    }
  }
  return derived;
}

}  // namespace

std::vector<Fault> CheckProse(std::string_view prose, const Evidence& evidence,
                              const Fault& where) {
  std::vector<Fault> faults;
  for (const ClaimFault& claim : CheckClaims(prose)) {
    faults.push_back(
        {"claim", where.file, where.line,
         fmt::format("{}: \"{}\" ({})", claim.rule->what, claim.sentence, claim.rule->why),
         fmt::format("say instead: {}", claim.rule->instead)});
  }
  for (const std::string& range : ReversedRanges(prose)) {
    faults.push_back({"range", where.file, where.line,
                      fmt::format("the range \"{}\" is upside down", range),
                      "the smaller figure first; of a change say \"from ... to\""});
  }
  const std::vector<Quantity> derived = DerivedFigures(prose, evidence, where, &faults);
  for (const Quantity& quantity : Quantities(prose)) {
    const bool known = std::any_of(derived.begin(), derived.end(), [&](const Quantity& one) {
      return one.kind == quantity.kind &&
             (one.text.empty() ? one.value == quantity.value : one.text == quantity.text);
    });
    if (known || evidence.Supports(quantity)) continue;
    faults.push_back({"number", where.file, where.line,
                      fmt::format("no table says {}", quantity.text),
                      "cite a figure of the tables as it is written there, or write out how it "
                      "comes from such: \"3 x 1.5 ms = 4.5 ms\""});
  }
  return faults;
}

std::vector<Fault> ValidateDocument(const DocumentCheck& check) {
  return Validator(check).Run();
}

}  // namespace jarvis::documents
