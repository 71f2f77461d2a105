// Axes: what they span, where their ticks are, what stands at them, and where a value lies.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::output {

struct Limits {
  double low = 0;
  double high = 1;
};

// The span of the finite values it was shown.
class Extent {
 public:
  void Hold(double value);
  void Hold(const std::optional<Limits>& limits);
  const std::optional<Limits>& limits() const { return limits_; }

 private:
  std::optional<Limits> limits_;
};

struct Tick {
  double value = 0;
  std::string text;
};

// At 1, 2 or 5 times a power of ten, at most `most` of them (at least two), all within the limits.
std::vector<Tick> LinearTicks(const Limits& limits, std::size_t most);
// At powers of ten.
std::vector<Tick> DecadeTicks(const Limits& limits);

// Limits with some room around them; never empty.
Limits WithRoom(const Limits& limits, bool from_zero);
// Whole decades around positive values, at most twelve of them.
Limits WholeDecades(const Limits& limits);

// Values to pixels. A logarithmic scale needs positive limits.
class Scale {
 public:
  Scale(const Limits& limits, double from, double to, bool logarithmic = false);
  // Values beyond the limits are put at them.
  double At(double value) const;
  const Limits& limits() const { return limits_; }

 private:
  double Position(double value) const;

  Limits limits_;
  double from_;
  double to_;
  bool logarithmic_;
};

// How names stand along an axis: level, turned or only every so many, so that none meets another.
struct NameLayout {
  double turned = 0;        // degrees
  std::size_t every = 1;    // 1: all
  double height = 0;        // that they need below the axis
  std::size_t longest = 0;  // characters that are shown of a name
};
// Room for turned names: left of the first one's place and below the axis.
struct NameRoom {
  double left = 1000;
  double below = 1000;
};
NameLayout LayOutNames(std::span<const std::string> names, double slot, double size,
                       const NameRoom& room = {});

// At most so many characters, with an ellipsis in the middle.
std::string Shortened(std::string_view text, std::size_t characters);

// A value for a label: as many decimals as its size asks for, no exponent for usual sizes.
std::string ValueText(double value);

}  // namespace jarvis::output
