#include "perf/model_rows.h"

#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "perf/embedded_file.h"

namespace jarvis::perf {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Reads one file; knows where it is, for errors.
class FileReader {
 public:
  explicit FileReader(std::string_view file) : file_(file) {}

  void At(std::string row) { row_ = std::move(row); }
  tl::unexpected<Error> Bad(std::string_view key, std::string_view expected) const {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{}{}{}{}: expected {}", file_, row_.empty() ? "" : ", row ", row_,
                            key.empty() ? "" : fmt::format(", \"{}\"", key), expected));
  }
  Result<std::string> Text(std::string_view key, const element& value) const {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return Bad(key, "a text");
    return std::string(text);
  }
  Result<std::vector<std::string>> Texts(std::string_view key, const element& value) const {
    array items;
    if (value.get(items) != simdjson::SUCCESS) return Bad(key, "a list of texts");
    std::vector<std::string> out;
    for (const element item : items) {
      std::string_view text;
      if (item.get(text) != simdjson::SUCCESS || text.empty()) return Bad(key, "a list of texts");
      out.emplace_back(text);
    }
    return out;
  }
  // A quantity: an expression, or a constant written as JSON.
  Result<std::string> Expression(std::string_view key, const element& value) const {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      if (text.empty()) return Bad(key, "an expression");
      return std::string(text);
    }
    bool truth = false;
    std::int64_t whole = 0;
    double real = 0;
    if (value.get(truth) == simdjson::SUCCESS) return std::string(truth ? "true" : "false");
    if (value.get(whole) == simdjson::SUCCESS) return fmt::format("{}", whole);
    if (value.get(real) == simdjson::SUCCESS) return fmt::format("{}", real);
    return Bad(key, "an expression, a number, true or false");
  }

 private:
  std::string file_;
  std::string row_;
};

bool IsName(std::string_view key) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !key.empty() && letter(key[0]) && std::all_of(key.begin(), key.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

bool IsKeyword(std::string_view key) {
  constexpr std::string_view kKeywords[] = {
      "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
      "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
      "repeat",   "return", "then", "true", "until",  "while"};
  return std::find(std::begin(kKeywords), std::end(kKeywords), key) != std::end(kKeywords);
}

std::string RowName(const object& row, std::size_t number) {
  for (const char* key : {"model", "override"}) {
    std::string_view name;
    if (row[key].get(name) == simdjson::SUCCESS && !name.empty()) return std::string(name);
  }
  return fmt::format("{}", number);
}

}  // namespace

const ModelRow* ModelRows::FindModel(std::string_view model) const {
  const auto found = by_model_.find(model);
  return found == by_model_.end() ? nullptr : &rows_[static_cast<std::size_t>(found->second)];
}

const OpEntry* ModelRows::FindExact(std::string_view op) const {
  const auto found = by_op_.find(op);
  return found == by_op_.end() ? nullptr : &found->second;
}

const OpEntry* ModelRows::Find(std::string_view op) const {
  if (const OpEntry* exact = FindExact(op)) return exact;
  for (const auto& [prefix, entry] : prefixes_) {
    if (op.starts_with(prefix)) return &entry;
  }
  return nullptr;
}

Status ModelRows::Add(std::string_view file, std::string_view json) {
  FileReader in(file);
  simdjson::dom::parser parser;
  element document;
  if (const auto error = parser.parse(json.data(), json.size()).get(document)) {
    return in.Bad("", fmt::format("JSON ({})", simdjson::error_message(error)));
  }
  object top;
  if (document.get(top) != simdjson::SUCCESS) return in.Bad("", "an object with \"rows\"");
  for (const auto [key, value] : top) {
    if (key == "about") continue;
    if (key == "category_only") {
      object categories;
      if (value.get(categories) != simdjson::SUCCESS) return in.Bad(key, "an object");
      for (const auto [category, names] : categories) {
        JV_ASSIGN(const std::vector<std::string> ops, in.Texts(category, names));
        for (const std::string& op : ops) {
          // A name that has a model keeps it.
          by_op_.try_emplace(op, OpEntry{std::string(category), -1});
          category_only_[op] = std::string(category);
        }
      }
      continue;
    }
    if (key != "rows") return in.Bad(key, "\"about\", \"rows\" or \"category_only\"");
    array rows;
    if (value.get(rows) != simdjson::SUCCESS) return in.Bad(key, "a list of rows");
    std::size_t number = 0;
    for (const element item : rows) {
      ++number;
      object fields;
      in.At(fmt::format("{}", number));
      if (item.get(fields) != simdjson::SUCCESS) return in.Bad("", "an object");
      const std::string name = RowName(fields, number);
      in.At(name);
      bool is_override = false;
      bool is_new = false;
      for (const auto [field, content] : fields) {
        is_override = is_override || field == "override";
        is_new = is_new || field == "model";
      }
      if (is_override == is_new) return in.Bad("", "one of \"model\" and \"override\"");
      const auto known = by_model_.find(name);
      if (is_new && known != by_model_.end()) {
        return in.Bad("model", "an id that is not taken; use \"override\" to change a row");
      }
      if (is_override && known == by_model_.end()) {
        return in.Bad("override", "the id of a row that exists (see docs/ops.md)");
      }
      if (is_new) {
        by_model_[name] = static_cast<int>(rows_.size());
        rows_.emplace_back();
        rows_.back().model = name;
        rows_.back().file = file;
      }
      const int index = by_model_[name];
      ModelRow& row = rows_[static_cast<std::size_t>(index)];
      if (is_override) row.changed_by = file;
      for (const auto [field, content] : fields) {
        const std::string key_name(field);
        if (field == "model" || field == "override") {
          JV_TRY(in.Text(field, content));
        } else if (field == "ops" || field == "prefixes") {
          JV_ASSIGN(std::vector<std::string> names, in.Texts(field, content));
          (field == "ops" ? row.ops : row.prefixes) = std::move(names);
        } else if (field == "like" || field == "category" || field == "backward_category" ||
                   field == "sheet" || field == "note") {
          JV_ASSIGN(std::string text, in.Text(field, content));
          if (field == "like")
            row.like = std::move(text);
          else if (field == "category")
            row.category = std::move(text);
          else if (field == "backward_category")
            row.backward_category = std::move(text);
          else if (field == "sheet")
            row.sheet = std::move(text);
          else
            row.note = std::move(text);
        } else if (field == "unit") {
          // A word, not an expression: the unit of the hardware whose peak counts.
          JV_ASSIGN(const std::string unit, in.Text(field, content));
          if (unit != "matrix" && unit != "vector" && !unit.empty()) {
            return in.Bad(field, "\"matrix\", \"vector\" or \"\"");
          }
          row.texts[key_name] = "\"" + unit + "\"";
        } else if (!IsName(field) || IsKeyword(field)) {
          return in.Bad(field, "a name of letters, digits and _ that is no keyword of Lua");
        } else if (content.is_null()) {
          row.texts.erase(key_name);  // an override takes a quantity away: the inherited one holds
          row.lists.erase(key_name);
        } else if (content.is_array()) {
          JV_ASSIGN(row.lists[key_name], in.Texts(field, content));
        } else {
          JV_ASSIGN(row.texts[key_name], in.Expression(field, content));
        }
      }
      for (const std::string& op : row.ops)
        by_op_[op] = {"", index};
      for (const std::string& prefix : row.prefixes) {
        prefixes_.emplace_back(prefix, OpEntry{"", index});
      }
    }
    in.At("");
  }
  return {};
}

Status ModelRows::Finish() {
  for (ModelRow& row : rows_) {
    // The chain upwards; a chain longer than the table goes in a circle.
    std::size_t steps = 0;
    for (const ModelRow* at = &row; at != nullptr; ++steps) {
      if (row.category.empty()) row.category = at->category;
      if (row.backward_category.empty()) row.backward_category = at->backward_category;
      if (row.sheet.empty()) row.sheet = at->sheet;
      if (at->like.empty()) break;
      const ModelRow* next = FindModel(at->like);
      if (next == nullptr) {
        // "like" may also name an op: its model is meant.
        const OpEntry* op = Find(at->like);
        if (op != nullptr && op->row >= 0) next = &rows_[static_cast<std::size_t>(op->row)];
      }
      if (next == nullptr || steps > rows_.size()) {
        return Fail(
            ErrorCode::kBadValue,
            fmt::format("{}, row {}, \"like\": {}", row.file, row.model,
                        next == nullptr ? fmt::format("no model or op is called {}", at->like)
                                        : "the row inherits from itself"));
      }
      at = next;
    }
    if (row.sheet.empty()) row.sheet = row.category;
  }
  for (auto& [op, entry] : by_op_) {
    if (entry.row >= 0) entry.category = rows_[static_cast<std::size_t>(entry.row)].category;
    if (entry.row >= 0 && entry.category.empty()) {
      const ModelRow& row = rows_[static_cast<std::size_t>(entry.row)];
      return Fail(ErrorCode::kBadValue,
                  fmt::format("{}, row {}, \"category\": expected a text, such as \"GEMM\"",
                              row.file, row.model));
    }
  }
  for (auto& [prefix, entry] : prefixes_) {
    entry.category = rows_[static_cast<std::size_t>(entry.row)].category;
  }
  std::stable_sort(prefixes_.begin(), prefixes_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return {};
}

ModelRows::Flat ModelRows::Flatten(const ModelRow& row) const {
  Flat flat;
  for (const ModelRow* at = &row; at != nullptr;) {
    for (const auto& [key, text] : at->texts)
      flat.texts.try_emplace(key, text);
    for (const auto& [key, list] : at->lists)
      flat.lists.try_emplace(key, &list);
    if (at->like.empty()) break;
    const ModelRow* next = FindModel(at->like);
    if (next == nullptr) {
      const OpEntry* op = Find(at->like);
      next = op != nullptr && op->row >= 0 ? &rows_[static_cast<std::size_t>(op->row)] : nullptr;
    }
    at = next;
  }
  return flat;
}

Result<ModelRows> RowsWith(
    bool (*keep)(std::string_view file),
    std::span<const std::pair<std::string_view, std::string_view>> overlays) {
  ModelRows rows;
  for (const EmbeddedFile& file : ModelFiles()) {
    if (keep != nullptr && !keep(file.name)) continue;
    JV_TRY(rows.Add(file.name, file.text));
  }
  for (const auto& [name, text] : overlays) {
    JV_TRY(rows.Add(name, text));
  }
  JV_TRY(rows.Finish());
  return rows;
}

const ModelRows& BuiltinRows() {
  static const ModelRows rows = [] {
    Result<ModelRows> made = RowsWith(nullptr, {});
    // Built in and tested: not to be had at run time.
    if (!made) std::terminate();
    made->Trust();
    return *std::move(made);
  }();
  return rows;
}

}  // namespace jarvis::perf
