#include "documents/markdown_scan.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace jarvis::documents {
namespace {

std::string SlugOf(std::string_view heading) {
  std::string slug;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      slug += static_cast<char>(std::tolower(byte));
    } else if (c == ' ' || c == '-') {
      slug += '-';
    } else if (c == '_') {
      slug += '_';
    }
  }
  return slug;
}

std::vector<std::string> Cells(std::string_view line) {
  std::vector<std::string> cells;
  line = Trim(line);
  line.remove_prefix(1);
  std::string cell;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += '|';
      ++i;
    } else if (line[i] == '|') {
      cells.emplace_back(Trim(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  // What stands behind the last bar is a comment of the row, not a cell.
  return cells;
}

bool IsRule(const std::vector<std::string>& cells) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return cell.find_first_not_of("-: ") == std::string::npos &&
           cell.find('-') != std::string::npos;
  });
}

void ScanLinks(std::string_view line, std::size_t number, std::vector<Link>* links) {
  for (std::size_t at = line.find("]("); at != std::string_view::npos;
       at = line.find("](", at + 2)) {
    // A link's text is not code.
    const auto ticks =
        std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), '`');
    const std::size_t end = line.find(')', at);
    if (ticks % 2 != 0 || end == std::string_view::npos) continue;
    links->push_back({line.substr(at + 2, end - at - 2), number});
  }
}

void ScanTags(std::string_view line, ScannedMarkdown* out) {
  constexpr std::string_view kId = "<a id=\"";
  if (const std::size_t at = line.find(kId); at != std::string_view::npos) {
    const std::string_view id = line.substr(at + kId.size());
    out->anchors.emplace(id.substr(0, id.find('"')));
  }
  for (std::size_t at = line.find("<!--"); at != std::string_view::npos;
       at = line.find("<!--", at + 4)) {
    const std::size_t end = line.find("-->", at);
    if (end != std::string_view::npos) {
      out->markers.push_back(Trim(line.substr(at + 4, end - at - 4)));
    }
  }
}

}  // namespace

ScannedMarkdown ScanMarkdown(std::string_view text) {
  ScannedMarkdown out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out.lines.push_back(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  bool in_table = false;
  for (std::size_t i = 0; i < out.lines.size(); ++i) {
    const std::string_view line = Trim(out.lines[i]);
    ScanLinks(line, i, &out.links);
    ScanTags(line, &out);
    if (line.starts_with("|")) {
      std::vector<std::string> cells = Cells(line);
      if (!in_table) {
        out.tables.push_back({std::move(cells), {}, i});
        in_table = true;
      } else if (!IsRule(cells)) {
        out.tables.back().rows.push_back(std::move(cells));
      }
      continue;
    }
    in_table = false;
    if (line.empty() || line == "---") continue;
    const std::size_t marks = line.find_first_not_of('#');
    if (marks > 0 && marks != std::string_view::npos && line[marks] == ' ') {
      const std::string_view heading = Trim(line.substr(marks));
      out.headings.push_back({static_cast<int>(marks), heading, i});
      out.anchors.insert(SlugOf(heading));
    }
    out.prose.push_back({line, i});
  }
  return out;
}

}  // namespace jarvis::documents
