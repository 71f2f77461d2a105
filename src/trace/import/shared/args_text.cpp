#include "trace/import/shared/args_text.h"

#include <iterator>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::trace {

void ArgsText::Key(std::string_view key) {
  text_.append(1, '"').append(key).append("\": ");
}

void ArgsText::Add(std::string_view key, std::int64_t value) {
  if (value == kNone) return;
  Key(key);
  fmt::format_to(std::back_inserter(text_), "{},", value);
}

void ArgsText::AddUnsigned(std::string_view key, std::uint64_t value) {
  Key(key);
  fmt::format_to(std::back_inserter(text_), "{},", value);
}

void ArgsText::AddList(std::string_view key, std::int64_t x, std::int64_t y, std::int64_t z) {
  if (x == kNone && y == kNone && z == kNone) return;
  Key(key);
  const char* before = "[";
  for (const std::int64_t value : {x, y, z}) {
    text_ += before;
    before = ", ";
    if (value == kNone) {
      text_ += "null";
    } else {
      fmt::format_to(std::back_inserter(text_), "{}", value);
    }
  }
  text_ += "],";
}

void ArgsText::AddNumber(std::string_view key, double value) {
  Key(key);
  const std::size_t before = text_.size();
  fmt::format_to(std::back_inserter(text_), "{}", value);
  if (text_.find_first_of(".en", before) == std::string::npos) text_ += ".0";
  text_ += ',';
}

void ArgsText::AddText(std::string_view key, std::string_view value) {
  Key(key);
  text_.append(1, '"').append(Escape(ValidUtf8(value))).append("\",");
}

void ArgsText::AddBytes(std::int64_t bytes, std::int64_t dur_ns) {
  if (bytes == kNone) return;
  Add("bytes", bytes);
  if (dur_ns > 0)
    AddNumber("memory bandwidth (GB/s)", static_cast<double>(bytes) / static_cast<double>(dur_ns));
}

}  // namespace jarvis::trace
