#include "rpc/http_message.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace jarvis::rpc {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kChunkLineBytesMax = 1024;

bool IsTokenChar(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kMarks.find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool IsValue(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '\x7F';
  });
}

// METHOD SP /path?query SP HTTP/1.x, with nothing to interpret in it.
bool ReadRequestLine(std::string_view line, HttpRequest& request) {
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  if (first == std::string_view::npos || second == first) return false;
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (!IsToken(method) || target.empty() || target.front() != '/') return false;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  if (std::any_of(target.begin(), target.end(), [](char c) { return c <= 0x20 || c == 0x7F; })) {
    return false;
  }
  request.method = method;
  request.path = target.substr(0, target.find('?'));
  request.minor_version = version.back() - '0';
  return true;
}

bool ReadHeaderLine(std::string_view line, HttpRequest& request) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, colon);  // no blanks: also refuses folded lines
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (!IsToken(name) || !IsValue(value)) return false;
  request.headers.push_back({LowerAscii(name), std::string(value)});
  return true;
}

template <typename Number>
bool ReadNumber(std::string_view text, int base, Number& number) {
  if (text.empty() || text.size() > 15) return false;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, base);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace

const std::string* HttpRequest::Find(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return &header.value;
  }
  return nullptr;
}

std::size_t HttpRequest::Count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(),
                    [&](const HttpHeader& header) { return header.name == name; }));
}

bool HttpRequest::Lists(std::string_view name, std::string_view word) const {
  for (const HttpHeader& header : headers) {
    if (header.name != name) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const std::string_view item = Trimmed(rest.substr(0, rest.find(',')));
      if (LowerAscii(item) == word) return true;
      const std::size_t comma = rest.find(',');
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
  }
  return false;
}

tl::expected<HttpRequest, HttpStatus> ParseHttpHead(std::string_view block,
                                                    const HttpHeadLimits& limits) {
  HttpRequest request;
  std::size_t lines = 0;
  while (true) {
    const std::size_t end = block.find(kLineEnd);
    const std::string_view line = block.substr(0, end);
    if (line.size() > limits.line_bytes || lines > limits.lines) {
      return tl::make_unexpected(lines == 0 ? 414 : 431);
    }
    const bool read = lines == 0 ? ReadRequestLine(line, request) : ReadHeaderLine(line, request);
    if (!read) return tl::make_unexpected(400);
    ++lines;
    if (end == std::string_view::npos) return request;
    block.remove_prefix(end + kLineEnd.size());
  }
}

tl::expected<HttpFraming, HttpStatus> ReadHttpFraming(const HttpRequest& head) {
  const std::size_t lengths = head.Count("content-length");
  const std::size_t codings = head.Count("transfer-encoding");
  if (lengths + codings > 1) return tl::make_unexpected(400);
  HttpFraming framing;
  if (codings == 1) {
    if (head.minor_version == 0) return tl::make_unexpected(400);
    if (LowerAscii(*head.Find("transfer-encoding")) != "chunked") return tl::make_unexpected(501);
    framing.chunked = true;
  } else if (lengths == 1) {
    const std::string& value = *head.Find("content-length");
    if (!ReadNumber(value, 10, framing.length)) return tl::make_unexpected(400);
  } else if (head.method == "POST") {
    return tl::make_unexpected(411);
  }
  return framing;
}

bool WantsClose(const HttpRequest& head) {
  if (head.Lists("connection", "close")) return true;
  return head.minor_version == 0;  // we offer no keep-alive to the old version
}

tl::expected<std::optional<std::string>, HttpStatus> ChunkDecoder::TakeLine(std::string_view input,
                                                                            std::size_t& at) const {
  const std::size_t end = input.find(kLineEnd, at);
  const std::size_t length = (end == std::string_view::npos ? input.size() : end) - at;
  if (length > kChunkLineBytesMax) return tl::make_unexpected(400);
  if (end == std::string_view::npos) return std::optional<std::string>();
  std::optional<std::string> line(std::string(input.substr(at, length)));
  at = end + kLineEnd.size();
  return line;
}

tl::expected<ChunkDecoder::State, HttpStatus> ChunkDecoder::Feed(std::string& input,
                                                                 std::string& body) {
  std::size_t at = 0;
  State state = State::kMore;
  while (state == State::kMore) {
    const std::size_t before = at;
    if (part_ == Part::kData) {
      const std::size_t taken = std::min(chunk_left_, input.size() - at);
      if (taken > left_) return tl::make_unexpected(413);
      body.append(input, at, taken);
      at += taken;
      chunk_left_ -= taken;
      if (chunk_left_ == 0) part_ = Part::kDataEnd;
    } else {
      auto line = TakeLine(input, at);
      if (!line) return tl::make_unexpected(line.error());
      if (!*line) break;
      const std::string& text = **line;
      if (part_ == Part::kDataEnd) {
        if (!text.empty()) return tl::make_unexpected(400);
        part_ = Part::kSize;
      } else if (part_ == Part::kTrailer) {
        if (text.empty()) state = State::kDone;
      } else {
        const std::string_view size = std::string_view(text).substr(0, text.find(';'));
        if (!ReadNumber(size, 16, chunk_left_) || !IsValue(text)) return tl::make_unexpected(400);
        if (chunk_left_ > left_) return tl::make_unexpected(413);
        part_ = chunk_left_ == 0 ? Part::kTrailer : Part::kData;
      }
    }
    if (at - before > left_) return tl::make_unexpected(413);
    left_ -= at - before;
    if (part_ == Part::kData && at == input.size()) break;
  }
  input.erase(0, at);
  return state;
}

}  // namespace jarvis::rpc
