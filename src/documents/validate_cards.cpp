#include "documents/validate_cards.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/impact_text.h"
#include "documents/prose.h"

namespace jarvis::documents {
namespace {

struct Card {
  std::string_view title;
  int number = 0;
  std::size_t line = 0;
  std::vector<std::string_view> lines;  // with text, the heading first
};

// "### ... Priority 3: title" or "### ... P3: title".
std::vector<Card> CardsOf(const ScannedMarkdown& document, std::string_view word) {
  std::vector<Card> cards;
  for (const Heading& heading : document.headings) {
    const std::size_t at = heading.text.find(word);
    if (heading.level != 3 || at == std::string_view::npos) continue;
    const std::string_view rest = heading.text.substr(at + word.size());
    const std::size_t colon = rest.find(':');
    const auto number = ParseInt(rest.substr(0, colon));
    if (!number || colon == std::string_view::npos) continue;
    Card card{Trim(rest.substr(colon + 1)), static_cast<int>(*number), heading.line, {}};
    for (std::size_t i = heading.line; i < document.lines.size(); ++i) {
      const std::string_view line = Trim(document.lines[i]);
      if (i > heading.line && (line.starts_with("#") || line == "---")) break;
      if (!line.empty()) card.lines.push_back(line);
    }
    cards.push_back(std::move(card));
  }
  return cards;
}

// What stands behind "**Label**"; empty: the label is not there, or nothing is behind it.
std::string_view Labelled(const Card& card, std::string_view label) {
  for (const std::string_view line : card.lines) {
    if (!line.starts_with(label)) continue;
    const std::size_t colon = line.find(':', label.size());
    return colon == std::string_view::npos ? std::string_view() : Trim(line.substr(colon + 1));
  }
  return {};
}

class CardCheck {
 public:
  CardCheck(const DocumentCheck& check, const ScannedMarkdown& document)
      : check_(check), document_(document) {}

  std::vector<Fault> Run() {
    if (check_.kind == DocumentKind::kRough) return {};
    const bool fair = check_.kind == DocumentKind::kFair;
    const std::vector<Card> cards = CardsOf(document_, fair ? "Priority " : " P");
    for (const Card& card : cards)
      CheckCard(card, fair);
    if (fair) {
      Coverage(cards);
      Limits(cards);
    } else {
      Markers(cards);
    }
    return std::move(faults_);
  }

 private:
  void Add(std::string code, std::size_t line, std::string message, std::string fix) {
    faults_.push_back({std::move(code), {}, line, std::move(message), std::move(fix)});
  }

  static bool IsNamed(const Card& card, std::string_view label) {
    return std::any_of(card.lines.begin(), card.lines.end(),
                       [&](const auto& line) { return line.starts_with(label); });
  }

  void CheckCard(const Card& card, bool fair) {
    for (const std::string_view label :
         {std::string_view(fair ? "**Issue**" : "**Insight**"), std::string_view("**Action**"),
          std::string_view("**Path A**"), std::string_view("**Path B**"),
          std::string_view("**Impact**")}) {
      if (!Labelled(card, label).empty()) continue;
      const bool path = label.starts_with("**Path");
      // A path that nothing is known of is left out beside the other.
      const std::string_view other = label == "**Path A**" ? "**Path B**" : "**Path A**";
      if (path && !IsNamed(card, label) && IsNamed(card, other)) continue;
      Add(path ? "paths" : "structure", card.line + 1,
          fmt::format("recommendation {} has no {}", card.number, label),
          path ? "write_findings with path_a and path_b; \"None known\" is an answer"
               : "render_report writes it again");
    }
    if (fair && card.lines.size() > limits::kCardLines) {
      Add("brevity", card.line + 1,
          fmt::format("recommendation {} has {} lines, {} are allowed", card.number,
                      card.lines.size(), limits::kCardLines),
          "move details to reasoning and resolution");
    }
  }

  // Whether a row is about it, by itself ("| 7 |") or with others ("| 5, 7, 8 |").
  bool IsListed(const std::string& number) const {
    for (std::size_t at = check_.text.find("\n| "); at != std::string_view::npos;
         at = check_.text.find("\n| ", at + 1)) {
      const std::string_view row = check_.text.substr(at + 3);
      const std::string_view cell = row.substr(0, row.find_first_not_of("0123456789, "));
      if (fmt::format(", {},", Trim(cell)).find(", " + number + ",") != std::string::npos)
        return true;
    }
    return false;
  }

  // Every finding, in the server's order; those beyond the cards are rows of a table.
  void Coverage(const std::vector<Card>& cards) {
    for (std::size_t i = 0; i < cards.size(); ++i) {
      if (cards[i].number != static_cast<int>(i) + 1) {
        Add("coverage", cards[i].line + 1,
            fmt::format("priority {} stands where {} belongs; the ranking is the server's",
                        cards[i].number, i + 1),
            "render_report writes the ranking again");
        break;
      }
    }
    for (const findings::Finding& finding : check_.analysis->findings) {
      const auto number = finding.global_rank;
      const bool card = std::any_of(cards.begin(), cards.end(),
                                    [&](const Card& one) { return one.number == number; });
      const bool listed = IsListed(fmt::format("{}", number));
      const bool counted =
          number > static_cast<int>(cards.size() + limits::kFurtherFindings) &&
          check_.text.find("more stand in `priority_data.json`") != std::string_view::npos;
      if (!card && !listed && !counted) {
        Add("coverage", 0,
            fmt::format("finding {} ({}: {}) is missing", finding.id, finding.category_name,
                        finding.subject),
            "render_report writes it again");
      }
    }
    for (const Card& card : cards) {
      const auto found = std::find_if(
          check_.analysis->findings.begin(), check_.analysis->findings.end(),
          [&](const findings::Finding& finding) { return finding.global_rank == card.number; });
      if (found == check_.analysis->findings.end()) {
        Add("coverage", card.line + 1,
            fmt::format("recommendation {} is no finding of the analysis", card.number),
            "leave it out; findings are the server's");
        continue;
      }
      const bool named = ContainsNoCase(card.title, LowerAscii(found->category_name)) ||
                         ContainsNoCase(card.title, LowerAscii(found->subject)) ||
                         card.title == DraftText(*check_.analysis, *found).title;
      if (!named) {
        Add("coverage", card.line + 1,
            fmt::format("the title of recommendation {} names neither {} nor {}", card.number,
                        found->category_name, found->subject),
            "write_findings with a title that names the category or the op");
      }
    }
  }

  // Each claimed saving fits into the window, and so do the least of all together: upper ends are
  // not reached all at once.
  void Limits(const std::vector<Card>& cards) {
    double sum = 0, largest = 0;
    for (const Card& card : cards) {
      findings::Range ms{0, 0, 0};
      // What stands behind the first part is about what is left.
      const std::string impact(Labelled(card, "**Impact**"));
      const auto& all = check_.analysis->findings;
      const auto found = std::find_if(all.begin(), all.end(), [&](const findings::Finding& one) {
        return one.global_rank == card.number;
      });
      if (found != all.end() && IsBound(*found)) continue;
      const std::size_t end = std::min(impact.find(';'), impact.find("% of "));  // its base
      for (const Quantity& quantity : Quantities(impact.substr(0, end))) {
        if (quantity.kind != QuantityKind::kTime) continue;
        ms.low = ms.high > 0 ? std::min(ms.low, quantity.value) : quantity.value;
        ms.high = std::max(ms.high, quantity.value);
      }
      const bool open = impact.find("up to ") < end || impact.find("at most ") < end;
      sum += open ? 0 : ms.low;
      largest = std::max(largest, ms.high);
    }
    const findings::Analysis& analysis = *check_.analysis;
    double window = std::max(analysis.totals.window_ms, analysis.wall.recorded_ms);
    // GPU time of several streams at a time may be more than the window.
    if (!analysis.wall.known) window = std::max(window, analysis.totals.category_sum_ms);
    constexpr double kSlack = 1.1;  // figures are rounded
    if (std::max(sum, largest) > window * kSlack + 0.01) {
      Add("limits", 0,
          fmt::format("the savings claimed are {:.2f} ms, more than the window of {:.2f} ms",
                      std::max(sum, largest), window),
          "render_report; savings are the server's");
    }
  }

  std::size_t CountMarkers(std::string_view begin) const {
    return static_cast<std::size_t>(
        std::count_if(document_.markers.begin(), document_.markers.end(),
                      [&](std::string_view marker) { return marker.starts_with(begin); }));
  }

  void Markers(const std::vector<Card>& cards) {
    if (CountMarkers("impact-begin") != CountMarkers("impact-end")) {
      Add("marker", 0, "impact-begin and impact-end markers differ in number", "render_report");
    }
    if (CountMarkers("impact-begin kind=p_item") != cards.size()) {
      Add("marker", 0, "not every recommendation has a p_item marker", "render_report");
    }
    if (CountMarkers("reasoning-candidate") != cards.size()) {
      Add("marker", 0, "not every recommendation has its detail block", "render_report");
    }
    if (check_.kind != DocumentKind::kAnalysis) return;
    if (cards.size() != check_.analysis->findings.size()) {
      Add("coverage", 0,
          fmt::format("{} recommendations for {} findings", cards.size(),
                      check_.analysis->findings.size()),
          "render_report");
    }
    if (CountMarkers("top-ops-row") != check_.analysis->priorities.size()) {
      Add("marker", 0, "the rows of Top Operations are not the priorities", "render_report");
    }
    for (const Card& card : cards)
      MarkerOf(card);
  }

  // The figures of a card's marker are those of a finding.
  void MarkerOf(const Card& card) {
    for (const std::string_view line : card.lines) {
      const std::size_t at = line.find("kind=p_item");
      if (at == std::string_view::npos) continue;
      const bool known = std::any_of(
          check_.analysis->findings.begin(), check_.analysis->findings.end(),
          [&](const findings::Finding& finding) { return Matches(finding, line.substr(at)); });
      if (known) return;
      Add("marker", card.line + 1,
          fmt::format("the impact marker of recommendation {} is no finding's", card.number),
          "render_report; impact is the server's");
    }
  }

  static bool Matches(const findings::Finding& finding, std::string_view marker) {
    const auto value = [&](std::string_view name) -> std::optional<double> {
      const std::size_t at = marker.find(name);
      if (at == std::string_view::npos) return std::nullopt;
      const std::string_view rest = marker.substr(at + name.size());
      return ParseDouble(rest.substr(0, rest.find_first_of(" -")));
    };
    if (marker.find("category=" + finding.category + " ") == std::string_view::npos) return false;
    const auto low = value("low=");
    const auto high = value("high=");
    if (!finding.impact_percent) return !low && !high;
    return low && high && std::abs(*low - finding.impact_percent->low) <= 0.0051 &&
           std::abs(*high - finding.impact_percent->high) <= 0.0051;
  }

  const DocumentCheck& check_;
  const ScannedMarkdown& document_;
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> CheckCards(const DocumentCheck& check, const ScannedMarkdown& document) {
  return CardCheck(check, document).Run();
}

}  // namespace jarvis::documents
