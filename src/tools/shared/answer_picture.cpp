#include "tools/shared/answer_picture.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "output/number_format.h"
#include "output/png.h"
#include "rpc/base64.h"

namespace jarvis::tools {
namespace {

constexpr double kPictureWidth = 1000;
constexpr std::size_t kBarsMax = 40;  // of all series

// The place of a column; the number of columns: there is none.
std::size_t ColumnOf(const Answer& answer, std::string_view name) {
  return static_cast<std::size_t>(std::find(answer.columns.begin(), answer.columns.end(), name) -
                                  answer.columns.begin());
}

std::optional<double> NumberAt(const std::vector<Cell>& row, std::size_t place) {
  if (place >= row.size()) return std::nullopt;
  if (const auto* number = std::get_if<double>(&row[place])) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&row[place]))
    return static_cast<double>(*whole);
  return std::nullopt;
}

std::string NameOf(const std::vector<Cell>& row, const std::vector<std::size_t>& places) {
  std::string name;
  for (const std::size_t place : places) {
    if (place >= row.size() || row[place] == Cell()) continue;
    name += (name.empty() ? "" : " ") + output::CellText(row[place]);
  }
  return name;
}

// What is 0 or not known in every row is not worth a place in each; what then is alone needs no
// name.
void DropEmptySeries(output::BarChart* bars) {
  if (bars->series.size() < 2) return;
  std::erase_if(bars->series, [](const output::ChartSeries& series) {
    return std::all_of(series.y.begin(), series.y.end(),
                       [](const std::optional<double>& y) { return y.value_or(0) == 0; });
  });
  if (bars->series.size() == 1) bars->series.front().label.clear();
}

// The beginning that fits below a title, up to the end of a sentence or of a part of one.
std::string FirstWords(const std::string& text) {
  constexpr std::size_t kTwoLines = 240;  // bytes
  if (text.size() <= kTwoLines) return text;
  const std::size_t end =
      std::max(text.rfind(". ", kTwoLines) + 1, text.rfind("; ", kTwoLines) + 1);
  return end == 0 ? std::string(Utf8Prefix(text, kTwoLines)) : text.substr(0, end - 1) + ".";
}

// The first bars that can be told apart; how many names were left out.
std::size_t Limit(output::BarChart* bars) {
  const std::size_t names_max = kBarsMax / std::max<std::size_t>(bars->series.size(), 1);
  if (bars->groups.size() <= names_max) return 0;
  const std::size_t left_out = bars->groups.size() - names_max;
  bars->groups.resize(names_max);
  for (output::ChartSeries& series : bars->series)
    series.y.resize(names_max);
  return left_out;
}

}  // namespace

bool WantsPicture(const Json& arguments) {
  return arguments.value("image", false);
}

output::BarChart BarsOf(const Answer& answer, const RowBars& rows) {
  std::vector<std::size_t> names;
  for (const std::string_view name : rows.names)
    names.push_back(ColumnOf(answer, name));
  output::BarChart bars{.groups = {}, .series = {}, .horizontal = true};
  for (const std::vector<Cell>& row : answer.rows)
    bars.groups.push_back(NameOf(row, names));
  for (const auto& [column, label] : rows.values) {
    const std::size_t place = ColumnOf(answer, column);
    if (place == answer.columns.size()) continue;
    output::ChartSeries& series = bars.series.emplace_back();
    series.label = label;
    for (const std::vector<Cell>& row : answer.rows)
      series.y.push_back(NumberAt(row, place));
  }
  return bars;
}

std::string DrawBars(BarPicture picture) {
  constexpr double kAround = 130;  // heading, legend and axis
  constexpr double kBar = 22;
  constexpr double kGap = 8;  // between the bars of two names
  constexpr double kLowest = 240;
  constexpr double kHighest = 640;
  DropEmptySeries(&picture.bars);
  picture.subtitle = FirstWords(picture.subtitle);
  if (const std::size_t left_out = Limit(&picture.bars); left_out > 0) {
    picture.subtitle +=
        fmt::format("{}{} more rows are not drawn", picture.subtitle.empty() ? "" : " ", left_out);
  }
  const auto names = static_cast<double>(picture.bars.groups.size());
  const double height =
      kAround + names * (kGap + kBar * static_cast<double>(picture.bars.series.size()));
  output::ChartSheet sheet;
  sheet.width = kPictureWidth;
  sheet.height = std::clamp(height, kLowest, kHighest);
  sheet.charts.push_back({.title = std::move(picture.title),
                          .subtitle = std::move(picture.subtitle),
                          .x = {},
                          .y = {.title = std::move(picture.axis), .from_zero = true},
                          .body = std::move(picture.bars)});
  return output::HasData(sheet) ? output::RenderSheet(sheet) : std::string();
}

Json TakePicture(Answer* answer) {
  if (answer->picture.empty()) {
    answer->notes.emplace_back("no image: the answer has nothing to draw");
    return nullptr;
  }
  const Result<std::string> png = output::RenderPng(answer->picture, 1);
  if (!png) {
    const Error& error = png.error();
    answer->notes.push_back("no image: " + error.message +
                            (error.hint.empty() ? "" : "; " + error.hint));
    return nullptr;
  }
  return {{"type", "image"}, {"data", rpc::EncodeBase64(*png)}, {"mimeType", "image/png"}};
}

}  // namespace jarvis::tools
