// The improvement chart: the window as one bar, the window after all findings as another, and what
// each finding may save.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "output/svg.h"
#include "workflow/markdown_text.h"
#include "workflow/report_parts.h"

namespace jarvis::workflow {
namespace {

using output::Svg;

constexpr std::array<std::string_view, 8> kColours = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759",
                                                      "#76b7b2", "#edc948", "#b07aa1", "#9c755f"};
constexpr std::string_view kGrey = "#c8c8c8";
constexpr double kWidth = 960;
constexpr double kLeft = 250;  // where bars begin
constexpr double kBar = 26;
constexpr double kRow = 34;
constexpr double kRight = 150;  // for figures behind bars
constexpr std::size_t kFindings = 8;
constexpr double kTop = 52;

struct Segment {
  std::string name;
  double ms = 0;
  std::string_view colour;
};

// Categories by time, what is left of the window in grey. Concurrent work may be more than the
// window; the bar then stands for the sum.
std::vector<Segment> SegmentsOf(const Analysis& analysis) {
  std::vector<Segment> segments;
  double sum = 0;
  for (const CategoryAnalysis& category : analysis.categories) {
    const double ms = category.gpu_us / 1000;
    sum += ms;
    if (segments.size() + 1 < kColours.size()) {
      segments.push_back({category.display_name, ms, kColours[segments.size()]});
    } else if (segments.size() + 1 == kColours.size()) {
      segments.push_back({"further categories", ms, kColours.back()});
    } else {
      segments.back().ms += ms;
    }
  }
  const double rest = analysis.totals.window_ms - sum;
  if (rest > 0) segments.push_back({"not computing", rest, kGrey});
  return segments;
}

std::string Label(std::string_view text) {
  const std::string plain = OneLine(text);
  return plain.size() > 36 ? std::string(Utf8Prefix(plain, 34)) + "..." : plain;
}

class Chart {
 public:
  explicit Chart(const ReportSources& sources)
      : analysis_(sources.analysis),
        segments_(SegmentsOf(analysis_)),
        findings_(std::min(kFindings, Quantified().size())),
        svg_(kWidth, kTop + kRow * (3.5 + static_cast<double>(findings_) + Legend() / 4.0),
             "Where the GPU's time goes, and what could be saved") {}

  std::string Draw() {
    svg_.Words({16, 28},
               Label(ModelName(analysis_)) + " on " + Label(PlatformName(analysis_)) +
                   ": where the time goes, and what could be saved",
               {.size = 15, .bold = true});
    double whole = 0;
    for (const Segment& segment : segments_)
      whole += segment.ms;
    scale_ = whole > 0 ? (kWidth - kLeft - kRight) / whole : 0;
    Today(whole);
    After();
    for (const Finding* finding : Quantified())
      Saving(*finding);
    DrawLegend();
    return svg_.Finish();
  }

 private:
  double Legend() const { return static_cast<double>(segments_.size() + 3); }

  std::vector<const Finding*> Quantified() const {
    std::vector<const Finding*> found;
    for (const Finding& finding : analysis_.findings) {
      if (finding.savings_ms && finding.savings_ms->high > 0 && found.size() < kFindings) {
        found.push_back(&finding);
      }
    }
    return found;
  }

  void Name(std::string_view name) {
    svg_.Words({kLeft - 10, y_ + kBar * 0.7}, Label(name), {.anchor = "end"});
  }

  void Today(double whole) {
    Name("Measured");
    double x = kLeft;
    for (const Segment& segment : segments_) {
      svg_.Rect({x, y_}, segment.ms * scale_, kBar, {.fill = segment.colour},
                segment.name + ": " + Ms(segment.ms));
      x += segment.ms * scale_;
    }
    svg_.Words({x + 8, y_ + kBar * 0.7}, Ms(whole));
    y_ += kRow;
  }

  void After() {
    if (analysis_.combined.savings_ms.high <= 0) return;
    const Range& after = analysis_.combined.new_total_ms;
    Name("If all findings are addressed");
    svg_.Rect({kLeft, y_}, after.low * scale_, kBar, {.fill = "#a0a0a0"});
    const double low = std::min(after.low, after.high);
    const double high = std::max(after.low, after.high);
    svg_.Rect({kLeft + low * scale_, y_}, (high - low) * scale_, kBar,
              {.fill = "#a0a0a0", .opacity = 0.4});
    svg_.Words({kLeft + high * scale_ + 8, y_ + kBar * 0.7}, Digits(low) + " to " + Ms(high));
    y_ += kRow * 1.3;
  }

  void Saving(const Finding& finding) {
    const Range& ms = *finding.savings_ms;
    Name(fmt::format("{}. {}: {}", finding.global_rank, finding.category_name, finding.subject));
    svg_.Rect({kLeft, y_}, ms.low * scale_, kBar * 0.7, {.fill = "#59a14f"},
              "saves " + RangeMs(ms));
    svg_.Rect({kLeft + ms.low * scale_, y_}, (ms.high - ms.low) * scale_, kBar * 0.7,
              {.fill = "#59a14f", .opacity = 0.4});
    svg_.Words({kLeft + ms.high * scale_ + 8, y_ + kBar * 0.55}, "saves " + RangeMs(ms),
               {.size = 11});
    y_ += kRow;
  }

  void DrawLegend() {
    double x = 24;
    y_ += 8;
    for (const Segment& segment : segments_) {
      const std::string text = Label(segment.name) + " " + Ms(segment.ms);
      const double width = 24 + output::WordsWidth(text, 11) + 16;
      if (x + width > kWidth) {
        x = 24;
        y_ += 20;
      }
      svg_.Rect({x, y_}, 12, 12, {.fill = segment.colour});
      svg_.Words({x + 18, y_ + 10}, text, {.size = 11});
      x += width;
    }
  }

  const Analysis& analysis_;
  const std::vector<Segment> segments_;
  const std::size_t findings_;
  Svg svg_;
  double scale_ = 0;  // user units a millisecond
  double y_ = kTop;
};

}  // namespace

std::string RenderChart(const ReportSources& sources) {
  return Chart(sources).Draw();
}

}  // namespace jarvis::workflow
