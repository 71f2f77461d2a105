// What was strange in a trace: a closed list of kinds, each counted, with the first place.
// A strange event is never an error by itself; the counts reach the reader of every answer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace jarvis::trace {

enum class Oddity : std::uint8_t {
  kTruncated,
  kDamagedContainer,
  kMalformedEvent,
  kNotAnObject,
  kBadUtf8,
  kControlCharacter,
  kNoPhase,
  kNoName,
  kNoTimestamp,
  kBadTimestamp,
  kHugeTimestamp,
  kNoDuration,
  kNegativeDuration,
  kZeroTimestamp,
  kFarTimestamp,
  kDuplicate,
  kOverlapOnStream,
  kUnmatchedBegin,
  kUnmatchedEnd,
  kLongArgs,
  kLongName,
  kTextBudget,
  kOversizeEvent,
  kUnknownCategory,
  kTextAfterEnd,
  kLongMetadata,
  kCutByWindow,
  kCount,
};

// What the reader did about it.
enum class Remedy : std::uint8_t { kNoted, kLeftOut, kClipped, kRepaired, kPartial };

struct OddityInfo {
  Oddity oddity;
  std::string_view name;  // stable, part of the product's face
  Remedy remedy;
  std::string_view text;  // a sentence for the user
};

const OddityInfo& Info(Oddity oddity);
std::string_view RemedyName(Remedy remedy);

class Oddities {
 public:
  // `place`: the event's position in traceEvents, or a byte offset for kinds about the text.
  void Count(Oddity oddity, std::uint64_t place, std::uint64_t count = 1) {
    Cell& cell = cells_[static_cast<std::size_t>(oddity)];
    if (cell.count == 0 || place < cell.first) cell.first = place;
    cell.count += count;
  }
  void Merge(const Oddities& other);

  std::uint64_t count(Oddity oddity) const {
    return cells_[static_cast<std::size_t>(oddity)].count;
  }
  std::uint64_t first(Oddity oddity) const {
    return cells_[static_cast<std::size_t>(oddity)].first;
  }
  std::vector<Oddity> Seen() const;

 private:
  struct Cell {
    std::uint64_t count = 0;
    std::uint64_t first = 0;
  };
  std::array<Cell, static_cast<std::size_t>(Oddity::kCount)> cells_{};
};

}  // namespace jarvis::trace
