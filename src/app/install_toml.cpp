#include "app/install_toml.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/install_edit.h"
#include "app/install_toml_scan.h"

namespace jarvis::app {
namespace {

using Kind = TomlItem::Kind;

std::string TomlText(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string TomlValue(const Json& value) {
  if (value.is_string()) return TomlText(value.get<std::string>());
  if (!value.is_array()) return value.dump();
  std::string list;
  for (const Json& element : value)
    list += (list.empty() ? "" : ", ") + TomlValue(element);
  return "[" + list + "]";
}

class Editor {
 public:
  Editor(std::string_view servers, const std::string& text, std::vector<TomlItem> items)
      : text_(text),
        items_(std::move(items)),
        ours_{std::string(servers), std::string(kServerName)} {}

  // Forms of the same thing that cannot be edited line by line.
  Status CheckForm() const {
    bool in_ours = false;  // the table that the keys belong to
    for (const TomlItem& item : items_) {
      const bool is_key = item.kind == Kind::kKey;
      if (!is_key) in_ours = IsOurs(item);
      const bool is_servers = item.path.size() == 1 && item.path.front() == ours_.front();
      const bool bad_servers = is_servers && item.kind != Kind::kTable;
      const bool bad_ours = IsOurs(item) && (is_key ? !in_ours : item.kind == Kind::kTableArray);
      if (bad_servers || bad_ours) {
        return Fail(ErrorCode::kBadValue,
                    fmt::format("it does not hold {0} as [{0}.NAME] tables", ours_.front()));
      }
    }
    return {};
  }

  // Comments within our tables go with them, those before the next table stay.
  std::string Without() const {
    std::string kept = text_;
    for (std::size_t i = items_.size(); i-- > 0;) {
      if (items_[i].kind == Kind::kKey || !IsOurs(items_[i])) continue;
      std::size_t begin = items_[i].begin;
      // The blank line that set our table apart.
      if (begin >= 2 && text_.compare(begin - 2, 2, "\n\n") == 0) --begin;
      kept.erase(begin, items_[EndOfTable(i) - 1].end - begin);
    }
    return kept;
  }

  std::string With(const Json& entry) const {
    const auto header = std::find_if(items_.begin(), items_.end(), [this](const TomlItem& item) {
      return item.kind == Kind::kTable && item.path == ours_;
    });
    if (header == items_.end()) return Appended(entry);
    const auto first = static_cast<std::size_t>(header - items_.begin());
    std::string edited = text_;
    Json missing = entry;
    for (std::size_t i = EndOfTable(first); --i > first;) {
      const std::string& name = items_[i].path[ours_.size()];
      if (IsPlaceMember(name)) {
        edited.erase(items_[i].begin, items_[i].end - items_[i].begin);
      } else {
        missing.erase(name);
      }
    }
    const bool open_line = text_[header->end - 1] != '\n';  // the last of the file
    return edited.insert(header->end, (open_line ? "\n" : "") + Lines(missing));
  }

 private:
  bool IsOurs(const TomlItem& item) const {
    return item.path.size() >= ours_.size() &&
           std::equal(ours_.begin(), ours_.end(), item.path.begin());
  }
  // After the last key of the table whose header is the item at `header`.
  std::size_t EndOfTable(std::size_t header) const {
    std::size_t end = header + 1;
    while (end < items_.size() && items_[end].kind == Kind::kKey)
      ++end;
    return end;
  }

  std::string Appended(const Json& entry) const {
    std::string edited = text_;
    if (!edited.empty() && edited.back() != '\n') edited += '\n';
    if (!edited.empty()) edited += '\n';
    return edited + fmt::format("[{}.{}]\n", ours_[0], ours_[1]) + Lines(entry);
  }

  static std::string Lines(const Json& entry) {
    std::string lines;
    for (const auto& [name, value] : entry.items())
      lines += fmt::format("{} = {}\n", name, TomlValue(value));
    return lines;
  }

  const std::string& text_;
  const std::vector<TomlItem> items_;
  const std::vector<std::string> ours_;
};

}  // namespace

Result<std::string> EditToml(std::string_view servers, const std::string& text, const Json& entry) {
  JV_ASSIGN(std::vector<TomlItem> items, ScanToml(text));
  const Editor editor(servers, text, std::move(items));
  JV_TRY(editor.CheckForm());
  return entry.is_null() ? editor.Without() : editor.With(entry);
}

}  // namespace jarvis::app
