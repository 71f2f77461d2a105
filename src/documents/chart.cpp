#include "documents/chart.h"

#include <algorithm>

#include <fmt/format.h>

#include "documents/markdown_text.h"
#include "documents/report_parts.h"
#include "output/chart_frame.h"

namespace jarvis::documents {
namespace {

using output::kBetterColour;

constexpr std::size_t kColours = 8;  // categories apart; the last is all others
constexpr std::string_view kGrey = "#c8c8c8";
constexpr std::string_view kAfter = "#8a8a8a";
constexpr double kWidth = 960;
constexpr double kLeft = 250;  // where bars begin
constexpr double kBar = 26;
constexpr double kRow = 34;
constexpr double kRight = 150;  // for figures behind bars
constexpr std::size_t kFindings = 8;
constexpr double kTop = 52;  // of the heading

struct Segment {
  std::string name;
  double ms = 0;
  std::string colour;
};

// Categories by time, what is left of the window in grey. Concurrent work may be more than the
// window; the bar then stands for the sum.
std::vector<Segment> SegmentsOf(const findings::Analysis& analysis) {
  std::vector<Segment> segments;
  double sum = 0;
  for (const findings::CategoryAnalysis& category : analysis.categories) {
    const double ms = category.gpu_us / 1000;
    sum += ms;
    const std::size_t place = segments.size();
    if (place < kColours) {
      segments.push_back({place + 1 < kColours ? category.display_name : "further categories", ms,
                          output::SeriesColour(place, kColours)});
    } else {
      segments.back().ms += ms;
    }
  }
  const double rest = analysis.totals.window_ms - sum;
  if (rest > 0) segments.push_back({"not computing", rest, std::string(kGrey)});
  return segments;
}

std::string Label(std::string_view text) {
  constexpr std::size_t kLongest = 36;
  return output::Shortened(text, kLongest);
}

class Chart {
 public:
  explicit Chart(const ReportSources& sources)
      : analysis_(sources.analysis),
        segments_(SegmentsOf(analysis_)),
        findings_(std::min(kFindings, Quantified().size())),
        height_(kTop + kRow * (2.6 + static_cast<double>(findings_)) + LegendHeight()),
        svg_(kWidth, height_, "Where the GPU's time goes, and what could be saved"),
        frame_(svg_, output::ChartTheme::kLight, {0, 0, kWidth, height_}) {}

  std::string Draw() {
    frame_.Heading(Label(ModelName(analysis_)) + " on " + Label(PlatformName(analysis_)) +
                       ": where the time goes, and what could be saved",
                   {});
    std::vector<output::LegendEntry> legend;
    for (const Segment& segment : segments_)
      legend.push_back({segment.name + " " + Ms(segment.ms), segment.colour});
    frame_.Legend(legend);
    y_ = frame_.area().top;
    double whole = 0;
    for (const Segment& segment : segments_)
      whole += segment.ms;
    scale_ = whole > 0 ? (kWidth - kLeft - kRight) / whole : 0;
    Today(whole);
    After();
    for (const findings::Finding* finding : Quantified())
      Saving(*finding);
    return svg_.Finish();
  }

 private:
  // Four entries per row fit even where names are long.
  double LegendHeight() const {
    constexpr double kLegendRow = 18;
    return kLegendRow * static_cast<double>((segments_.size() + 3) / 4);
  }

  std::vector<const findings::Finding*> Quantified() const {
    std::vector<const findings::Finding*> found;
    for (const findings::Finding& finding : analysis_.findings) {
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
    const findings::Range& after = analysis_.combined.new_total_ms;
    Name("If all findings are addressed");
    svg_.Rect({kLeft, y_}, after.low * scale_, kBar, {.fill = kAfter});
    const double low = std::min(after.low, after.high);
    const double high = std::max(after.low, after.high);
    svg_.Rect({kLeft + low * scale_, y_}, (high - low) * scale_, kBar,
              {.fill = kAfter, .opacity = 0.4});
    svg_.Words({kLeft + high * scale_ + 8, y_ + kBar * 0.7}, Digits(low) + " to " + Ms(high));
    y_ += kRow * 1.3;
  }

  void Saving(const findings::Finding& finding) {
    const findings::Range& ms = *finding.savings_ms;
    Name(fmt::format("{}. {}: {}", finding.global_rank, finding.category_name, finding.subject));
    svg_.Rect({kLeft, y_}, ms.low * scale_, kBar * 0.7, {.fill = kBetterColour},
              "saves " + RangeMs(ms));
    svg_.Rect({kLeft + ms.low * scale_, y_}, (ms.high - ms.low) * scale_, kBar * 0.7,
              {.fill = kBetterColour, .opacity = 0.4});
    svg_.Words({kLeft + ms.high * scale_ + 8, y_ + kBar * 0.55}, "saves " + RangeMs(ms),
               {.size = 11});
    y_ += kRow;
  }

  const findings::Analysis& analysis_;
  const std::vector<Segment> segments_;
  const std::size_t findings_;
  const double height_;
  output::Svg svg_;
  output::ChartFrame frame_;
  double scale_ = 0;  // user units a millisecond
  double y_ = 0;
};

}  // namespace

std::string RenderChart(const ReportSources& sources) {
  return Chart(sources).Draw();
}

}  // namespace jarvis::documents
