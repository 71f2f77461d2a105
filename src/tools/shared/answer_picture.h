// Pictures of answers, for clients that show images and no views of their own: bars drawn from the
// cells of the rows that an answer has, so that picture and text say the same.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/json.h"
#include "output/chart.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

// Whether the caller asked for a picture beside the text.
bool WantsPicture(const Json& arguments);

// The rows of an answer as horizontal bars. Columns that the answer does not have are left out.
struct RowBars {
  std::vector<std::string_view> names;  // columns that name a bar together
  // A bar each of a row: the column, and what the legend calls it; one alone needs no name.
  std::vector<std::pair<std::string_view, std::string_view>> values;
};
output::BarChart BarsOf(const Answer& answer, const RowBars& rows);

// As SVG, about 1,000 pixels wide and as high as its bars need; empty: there is nothing to draw.
// Bars beyond those that can be told apart are left out, and the subtitle says how many.
struct BarPicture {
  std::string title;
  std::string subtitle;
  std::string axis;
  output::BarChart bars;
};
std::string DrawBars(BarPicture picture);

// The answer's picture as a block of content for the reply; null: there is none, and a note of the
// answer says why.
Json TakePicture(Answer* answer);

}  // namespace jarvis::tools
