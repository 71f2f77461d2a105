#include "trace/json_slicer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "base/limits.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace jarvis::trace {
namespace {

constexpr std::size_t kBlock = 64;

bool IsSpace(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// The end of the white space there, sixteen bytes at a time.
std::size_t SpaceEnd(std::string_view text, std::size_t at) {
#if defined(__SSE2__)
  for (; at + 16 <= text.size(); at += 16) {
    __m128i bytes;
    std::memcpy(&bytes, text.data() + at, sizeof(bytes));
    const auto is = [&bytes](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    const __m128i space =
        _mm_or_si128(_mm_or_si128(is(' '), is('\n')), _mm_or_si128(is('\r'), is('\t')));
    if (_mm_movemask_epi8(space) != 0xFFFF) break;
  }
#endif
  while (at < text.size() && IsSpace(text[at]))
    ++at;
  return at;
}

struct BlockMasks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;
};

#if defined(__SSE2__)
BlockMasks Classify(const char* block) {
  BlockMasks masks;
  const auto equal = [](__m128i bytes, char c) {
    return static_cast<std::uint64_t>(
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)))));
  };
  for (unsigned i = 0; i < 4; ++i) {
    __m128i bytes;
    std::memcpy(&bytes, block + 16 * i, sizeof(bytes));
    const unsigned shift = 16 * i;
    masks.quotes |= equal(bytes, '"') << shift;
    masks.backslashes |= equal(bytes, '\\') << shift;
    masks.opens |= equal(bytes, '{') << shift;
    masks.closes |= equal(bytes, '}') << shift;
  }
  return masks;
}
#else
BlockMasks Classify(const char* block) {
  BlockMasks masks;
  for (unsigned i = 0; i < kBlock; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    masks.quotes |= block[i] == '"' ? bit : 0;
    masks.backslashes |= block[i] == '\\' ? bit : 0;
    masks.opens |= block[i] == '{' ? bit : 0;
    masks.closes |= block[i] == '}' ? bit : 0;
  }
  return masks;
}
#endif

// Bit i of the result: the parity of the bits 0..i.
std::uint64_t PrefixXor(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2)
    bits ^= bits << shift;
  return bits;
}

// Characters that a backslash before them makes literal. `escaped`: the first one is, and
// afterwards whether the first of the next block is.
std::uint64_t Escaped(std::uint64_t backslashes, bool* escaped) {
  std::uint64_t result = *escaped ? 1 : 0;
  *escaped = false;
  std::uint64_t left = backslashes & ~result;
  while (left != 0) {
    const int at = std::countr_zero(left);
    if (at == 63) {
      *escaped = true;
      break;
    }
    result |= std::uint64_t{2} << at;
    left &= ~(std::uint64_t{3} << at);
  }
  return result;
}

}  // namespace

void EventScanner::Scan(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && state_ != State::kArrayEnd) {
    switch (state_) {
      case State::kBetween: at = Between(text, at); break;
      case State::kInside: at = Inside(text, at); break;
      case State::kSkipping: at = Skip(text, at); break;
      case State::kArrayEnd: break;
    }
  }
}

void EventScanner::Drop(std::size_t bytes) {
  events_end_ -= std::min(bytes, events_end_);
  array_end_ -= std::min(bytes, array_end_);
  elements_ = 0;
}

std::size_t EventScanner::Between(std::string_view text, std::size_t at) {
  at = SpaceEnd(text, at);
  while (at < text.size() && text[at] == ',')
    at = SpaceEnd(text, at + 1);
  if (at == text.size()) return at;
  depth_ = 0;
  in_string_ = false;
  escaped_ = false;
  if (text[at] == '{') {
    state_ = State::kInside;
  } else if (text[at] == ']') {
    state_ = State::kArrayEnd;
    array_end_ = at;
  } else {
    state_ = State::kSkipping;
  }
  return at;
}

std::size_t EventScanner::Inside(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    char tail[kBlock];
    const char* block = text.data() + at;
    const std::size_t bytes = std::min(kBlock, text.size() - at);
    if (bytes < kBlock) {
      std::memset(tail, ' ', kBlock);
      std::memcpy(tail, block, bytes);
      block = tail;
    }
    const BlockMasks masks = Classify(block);
    std::uint64_t escaped_chars = escaped_ ? 1 : 0;
    if (masks.backslashes != 0) {
      escaped_chars = Escaped(masks.backslashes, &escaped_);
      // A backslash at the end of a short block escapes the first character to come.
      if (bytes < kBlock) escaped_ = ((escaped_chars >> bytes) & 1) != 0;
    } else {
      escaped_ = false;
    }
    const std::uint64_t quotes = masks.quotes & ~escaped_chars;
    const std::uint64_t inside = PrefixXor(quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
    in_string_ = (inside >> 63) != 0;
    std::size_t next = 0;
    if (Braces(masks.opens & ~inside, masks.closes & ~inside, text, at, &next)) return next;
    at += bytes;
  }
  return at;
}

// Follows the depth through one block's braces. True if scanning must go on elsewhere, at *next.
bool EventScanner::Braces(std::uint64_t opens, std::uint64_t closes, std::string_view text,
                          std::size_t at, std::size_t* next) {
  for (std::uint64_t bits = opens | closes; bits != 0; bits &= bits - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(bits));
    if (((opens >> i) & 1) != 0) {
      ++depth_;
      continue;
    }
    if (--depth_ > 0) continue;
    ElementEnds(at + i + 1);
    // Mostly the next event starts in the same block, after a comma and white space.
    const std::uint64_t later = bits & (bits - 1) & opens;
    const std::size_t start = later == 0 ? 0 : static_cast<std::size_t>(std::countr_zero(later));
    std::size_t gap = i + 1;
    while (gap < start && (IsSpace(text[at + gap]) || text[at + gap] == ','))
      ++gap;
    if (start == 0 || gap != start) {
      *next = at + i + 1;
      return true;
    }
    state_ = State::kInside;
    depth_ = 0;
  }
  return false;
}

// Passes an element that is no object.
std::size_t EventScanner::Skip(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string_) {
      if (!escaped_ && c == '"') in_string_ = false;
      escaped_ = !escaped_ && c == '\\';
      continue;
    }
    if (depth_ == 0 && (c == ',' || c == ']')) {
      ElementEnds(at);
      return at;
    }
    if (c == '"') in_string_ = true;
    if (c == '[' || c == '{') ++depth_;
    if (c == ']' || c == '}') --depth_;
    if (depth_ < 0) depth_ = 0;
  }
  return at;
}

Status JsonSlicer::Feed(std::string_view buffer) {
  slice_ = {};
  std::size_t at = scanned_;
  if (phase_ == Phase::kEvents) {
    Events(buffer, 0, at);
    return {};
  }
  while (at < buffer.size()) {
    if (phase_ == Phase::kValue && !in_string_) {
      const std::size_t end = SpaceEnd(buffer, at);
      value_.append(
          buffer.substr(at, std::min(end - at, limits::kMetadataBytesMax - value_.size())));
      at = end;
    } else if (phase_ != Phase::kKey && phase_ != Phase::kValue) {
      at = SpaceEnd(buffer, at);
    }
    if (at == buffer.size()) break;
    JV_TRY(Outside(buffer, &at));
    if (phase_ == Phase::kEvents) {
      Events(buffer, at, at);
      return {};
    }
  }
  consumed_ = buffer.size();
  position_ += consumed_;
  scanned_ = 0;
  return {};
}

void JsonSlicer::ResumeInEvents(std::uint64_t elements, bool bare_array) {
  phase_ = Phase::kEvents;
  seen_events_ = true;
  bare_array_ = bare_array;
  elements_ = elements;
}

// Scans from `at`; unconsumed events begin at `start`.
void JsonSlicer::Events(std::string_view buffer, std::size_t start, std::size_t at) {
  scanner_.Scan(buffer, at);
  const std::uint64_t found = scanner_.elements();
  const bool ended = scanner_.state() == EventScanner::State::kArrayEnd;
  std::size_t end = std::max(start, found > 0 ? scanner_.events_end() : start);
  if (found > 0) {
    slice_ = {buffer.substr(start, end - start), elements_, found};
  } else if (scanner_.state() == EventScanner::State::kBetween) {
    end = buffer.size();  // nothing but white space and commas
  }
  elements_ += found;
  if (ended) {
    end = scanner_.array_end() + 1;
    phase_ = bare_array_ ? Phase::kDone : Phase::kKeyOrEnd;
  }
  consumed_ = end;
  position_ += end;
  scanned_ = ended ? 0 : buffer.size() - end;
  scanner_.Drop(end);
}

Status JsonSlicer::Outside(std::string_view buffer, std::size_t* at) {
  const char c = buffer[*at];
  ++*at;
  switch (phase_) {
    case Phase::kStart: return StartChar(c);
    case Phase::kKeyOrEnd:
      if (c == '"') {
        key_.clear();
        escaped_ = false;
        phase_ = Phase::kKey;
      } else if (c == '}') {
        phase_ = Phase::kDone;
      } else if (!IsSpace(c) && c != ',') {
        if (!seen_events_) {
          return Fail(ErrorCode::kNotATrace,
                      fmt::format("not valid JSON near byte {}: expected a member name",
                                  position_ + *at - 1));
        }
        text_after_end_ = true;
        phase_ = Phase::kDone;
      }
      return {};
    case Phase::kKey:
      if (c == '"' && !escaped_) {
        phase_ = Phase::kColon;
      } else {
        escaped_ = !escaped_ && c == '\\';
        if (key_.size() < 256) key_ += c;
      }
      return {};
    case Phase::kColon:
      if (c == ':') phase_ = Phase::kValueStart;
      return {};
    case Phase::kValueStart:
      if (IsSpace(c)) return {};
      if (c == '[' && key_ == "traceEvents") {
        seen_events_ = true;
        scanner_ = EventScanner();
        phase_ = Phase::kEvents;
        return {};
      }
      value_.clear();
      depth_ = 0;
      in_string_ = false;
      escaped_ = false;
      phase_ = Phase::kValue;
      ValueChar(c);
      return {};
    case Phase::kValue: ValueChar(c); return {};
    case Phase::kEvents: return {};
    case Phase::kDone: text_after_end_ = text_after_end_ || !IsSpace(c); return {};
  }
  return {};
}

Status JsonSlicer::StartChar(char c) {
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (key_.size() < kByteOrderMark.size() && c == kByteOrderMark[key_.size()]) {
    key_ += c;
    return {};
  }
  if (IsSpace(c)) return {};
  if (c == '{') {
    phase_ = Phase::kKeyOrEnd;
  } else if (c == '[') {
    bare_array_ = true;
    seen_events_ = true;
    scanner_ = EventScanner();
    phase_ = Phase::kEvents;
  } else {
    return Fail(ErrorCode::kNotATrace,
                fmt::format("not JSON: a trace starts with {{ or [, this has byte 0x{:02x} there",
                            static_cast<unsigned char>(c)));
  }
  return {};
}

void JsonSlicer::ValueChar(char c) {
  if (in_string_) {
    if (!escaped_ && c == '"') in_string_ = false;
    escaped_ = !escaped_ && c == '\\';
  } else if (depth_ == 0 && (c == ',' || c == '}')) {
    EndValue(c);
    return;
  } else {
    if (c == '"') in_string_ = true;
    if (c == '[' || c == '{') ++depth_;
    if (c == ']' || c == '}') --depth_;
  }
  if (value_.size() < limits::kMetadataBytesMax) value_ += c;
}

void JsonSlicer::EndValue(char c) {
  // Many short ones cost more than their text.
  const std::size_t bytes = key_.size() + value_.size() + sizeof(TopLevelValue);
  if (bytes > limits::kMetadataBytesAllMax - values_bytes_) {
    ++values_left_out_;
  } else {
    values_bytes_ += bytes;
    values_.push_back({key_, value_});
  }
  phase_ = c == '}' ? Phase::kDone : Phase::kKeyOrEnd;
}

}  // namespace jarvis::trace
