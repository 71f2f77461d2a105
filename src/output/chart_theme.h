// The colours of all charts. Series have colours that people with colour-blindness tell apart;
// scales of more than eight are in order of lightness.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jarvis::output {

// kPage: for SVG inside an HTML page whose style sheet sets --ink, --faint, --grid and --paper.
enum class ChartTheme { kLight, kDark, kPage };

struct ChartColours {
  std::string_view paper;
  std::string_view ink;
  std::string_view faint;
  std::string_view grid;
};
const ChartColours& ColoursOf(ChartTheme theme);

// Of `count` things that are to be told apart.
std::string SeriesColour(std::size_t index, std::size_t count);

inline constexpr std::string_view kBetterColour = "#2a9d5c";
inline constexpr std::string_view kWorseColour = "#d1495b";

// From pale to dark, for a share from 0 to 1.
std::string SequentialColour(double share);
// From kWorseColour (-1) over pale (0) to kBetterColour (1).
std::string DivergingColour(double share);
// Black or white, whichever is read better on "#rrggbb".
std::string_view InkOn(std::string_view colour);

}  // namespace jarvis::output
