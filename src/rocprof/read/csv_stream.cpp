#include "rocprof/read/csv_stream.h"

#include <fmt/format.h>

namespace jarvis::rocprof {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

// Fields of a line; a quote that does not end has been ruled out.
void Split(std::string_view line, std::vector<std::string>* fields) {
  std::size_t count = 0;
  const auto next = [&]() -> std::string& {
    if (count == fields->size()) fields->emplace_back();
    std::string& field = (*fields)[count++];
    field.clear();
    return field;
  };
  for (std::size_t at = 0;;) {
    std::string& field = next();
    if (at < line.size() && line[at] == '"') {
      for (++at; at < line.size(); ++at) {
        if (line[at] == '"') {
          if (at + 1 >= line.size() || line[at + 1] != '"') break;
          ++at;
        }
        field.push_back(line[at]);
      }
      if (at < line.size()) ++at;  // the closing quote
    }
    const std::size_t end = std::min(line.find(',', at), line.size());
    field.append(line.substr(at, end - at));
    if (end == line.size()) break;
    at = end + 1;
  }
  fields->resize(count);
}

}  // namespace

Result<bool> CsvStream::Fill() {
  if (ended_) return false;
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t had = buffer_.size();
  buffer_.resize(had + kChunkBytes);
  Result<std::size_t> got = source_.Read({buffer_.data() + had, kChunkBytes});
  buffer_.resize(had + (got ? *got : 0));
  if (!got) return tl::make_unexpected(std::move(got.error()));
  ended_ = *got == 0;
  return !ended_;
}

Result<bool> CsvStream::FindLine(std::string_view* line) {
  bool quoted = false;
  for (std::size_t length = 0;;) {
    for (; at_ + length < buffer_.size(); ++length) {
      const char c = buffer_[at_ + length];
      if (c == '"') quoted = !quoted;
      if (c != '\n' || quoted) continue;
      *line = std::string_view(buffer_).substr(at_, length);
      at_ += length + 1;
      return true;
    }
    if (length > kRowBytesMax) {
      damage_ = fmt::format("row {} is longer than {} bytes: nothing is read from there on",
                            row_ + 1, kRowBytesMax);
      ended_ = true;
      at_ = buffer_.size();
      return false;
    }
    JV_ASSIGN(const bool more, Fill());
    if (more) continue;
    if (length == 0) return false;
    *line = std::string_view(buffer_).substr(at_, length);
    at_ = buffer_.size();
    open_end_ = true;
    if (quoted) damage_ = "the file ends inside a quoted text";
    return !quoted;
  }
}

Result<bool> CsvStream::Next(std::vector<std::string>* fields) {
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  for (;;) {
    std::string_view line;
    JV_ASSIGN(const bool found, FindLine(&line));
    if (!found) {
      if (damage_.empty()) damage_ = source_.damage();
      return false;
    }
    if (++row_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    Split(line, fields);
    return true;
  }
}

}  // namespace jarvis::rocprof
