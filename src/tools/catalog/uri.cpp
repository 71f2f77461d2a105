#include "tools/catalog/uri.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace jarvis::tools {
namespace {

constexpr std::string_view kOurs = "jarvis://";
constexpr std::string_view kFile = "file://";
constexpr std::string_view kCursor = "?cursor=";

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~' || c == '/';
}

// Once; a sign that is still there afterwards is part of the name.
std::optional<std::string> Decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    if (i + 3 > text.size()) return std::nullopt;
    const auto read = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    if (read.ec != std::errc() || read.ptr != text.data() + i + 3 || byte == 0) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

bool HasStrangePart(std::string_view path) {
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..") return true;
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return false;
}

}  // namespace

std::optional<ResourceUri> ParseResourceUri(std::string_view uri) {
  ResourceUri parsed;
  if (const std::size_t at = uri.find('?'); at != std::string_view::npos) {
    const std::string_view query = uri.substr(at);
    if (!query.starts_with(kCursor)) return std::nullopt;
    const std::string_view digits = query.substr(kCursor.size());
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, parsed.cursor);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    uri = uri.substr(0, at);
  }
  if (uri.starts_with(kFile)) {
    auto path = Decoded(uri.substr(kFile.size()));
    if (!path || !path->starts_with('/') || HasStrangePart(std::string_view(*path).substr(1))) {
      return std::nullopt;
    }
    parsed.path = std::move(*path);
    return parsed;
  }
  if (!uri.starts_with(kOurs)) return std::nullopt;
  uri.remove_prefix(kOurs.size());
  if (uri.empty() || HasStrangePart(uri)) return std::nullopt;
  while (!uri.empty()) {
    const std::string_view raw = uri.substr(0, uri.find('/'));
    auto part = Decoded(raw);
    if (!part || part->find('/') != std::string::npos || HasStrangePart(*part)) return std::nullopt;
    parsed.parts.push_back(std::move(*part));
    uri.remove_prefix(std::min(uri.size(), raw.size() + 1));
  }
  return parsed;
}

std::string FileUri(std::string_view path) {
  std::string uri(kFile);
  for (const char c : path) {
    if (IsPlain(c)) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

std::string MimeTypeOf(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTypes = {
      {{".csv", "text/csv"},
       {".json", "application/json"},
       {".md", "text/markdown"},
       {".svg", "image/svg+xml"},
       {".html", "text/html"},
       {".png", "image/png"},
       {".zip", "application/zip"},
       {".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}}};
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return std::string(type);
  }
  return "text/plain";
}

}  // namespace jarvis::tools
