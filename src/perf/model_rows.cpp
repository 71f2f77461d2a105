#include "perf/model_rows.h"

#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/check.h"
#include "base/dom_parse.h"
#include "base/text.h"
#include "perf/embedded_file.h"

namespace jarvis::perf {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Limits of a file's texts; ours are far below.
constexpr std::size_t kNameMax = 200;  // of a model, a category, a sheet
constexpr std::size_t kOpNameMax = std::size_t{16} << 10;
constexpr std::size_t kExpressionMax = std::size_t{64} << 10;
// A table's name becomes the name of a file, and with "_bwd" that of a sheet of a workbook.
constexpr std::size_t kSheetMax = 27;
constexpr std::size_t kInheritanceMax = 64;  // rows that one inherits through

// Reads one file; knows where it is, for errors.
class FileReader {
 public:
  explicit FileReader(std::string_view file) : file_(file) {}

  void At(std::string row) { row_ = std::move(row); }
  tl::unexpected<Error> Bad(std::string_view key, std::string_view expected) const {
    std::string place = file_;
    if (!row_.empty()) place += fmt::format(", row {}", Utf8Prefix(row_, kNameMax));
    if (!key.empty()) place += fmt::format(", \"{}\"", Utf8Prefix(key, kNameMax));
    return Fail(ErrorCode::kBadValue, fmt::format("{}: expected {}", place, expected));
  }
  Result<std::string> Text(std::string_view key, const element& value) const {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return Bad(key, "a text");
    const std::size_t limit = key == "note"   ? kExpressionMax
                              : key == "like" ? kOpNameMax
                                              : kNameMax;
    if (text.size() > limit) return Bad(key, fmt::format("a text of at most {} bytes", limit));
    return std::string(text);
  }
  Result<std::vector<std::string>> Texts(std::string_view key, const element& value) const {
    array items;
    if (value.get(items) != simdjson::SUCCESS) return Bad(key, "a list of texts");
    std::vector<std::string> out;
    for (const element item : items) {
      std::string_view text;
      if (item.get(text) != simdjson::SUCCESS || text.empty()) return Bad(key, "a list of texts");
      if (text.size() > kOpNameMax) {
        return Bad(key, fmt::format("texts of at most {} bytes", kOpNameMax));
      }
      out.emplace_back(text);
    }
    return out;
  }
  // A quantity: an expression, or a constant written as JSON.
  Result<std::string> Expression(std::string_view key, const element& value) const {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      if (text.empty()) return Bad(key, "an expression");
      if (text.size() > kExpressionMax) {
        return Bad(key, fmt::format("an expression of at most {} bytes", kExpressionMax));
      }
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

// Quantities with a meaning of their own cannot be lists, and the list of parameters nothing else.
bool MustBeExpression(std::string_view key) {
  constexpr std::string_view kKeys[] = {"flops",          "bytes", "precision",  "backward_flops",
                                        "backward_bytes", "check", "params_list"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

// "key", "key?" or "key=expression".
bool IsParameter(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) return equals > 0 && equals + 1 < text.size();
  if (text.ends_with('?')) text.remove_suffix(1);
  return IsName(text);
}

bool IsSheet(std::string_view text) {
  return text.size() <= kSheetMax && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
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

std::string_view ModelRows::CategoryByPart(std::string_view name) const {
  for (const auto& [part, category] : category_parts_) {
    if (ContainsNoCase(name, part)) return category;
  }
  return {};
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
  if (const auto error = ParseDom(&parser, json, &document)) {
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
          const auto [entry, added] = by_op_.try_emplace(op, OpEntry{std::string(category), -1});
          if (!added && entry->second.row < 0) entry->second.category = category;
          category_only_[op] = std::string(category);
        }
      }
      continue;
    }
    if (key == "category_parts") {
      object categories;
      if (value.get(categories) != simdjson::SUCCESS) return in.Bad(key, "an object");
      for (const auto [category, parts] : categories) {
        JV_ASSIGN(const std::vector<std::string> names, in.Texts(category, parts));
        for (const std::string& name : names)
          category_parts_.emplace_back(LowerAscii(name), std::string(category));
      }
      continue;
    }
    if (key == "fixes") continue;  // of a user's file, levers/fixes.h reads it
    if (key != "rows") {
      return in.Bad(key,
                    "\"about\", \"rows\", \"fixes\", \"category_only\" or "
                    "\"category_parts\"");
    }
    array rows;
    if (value.get(rows) != simdjson::SUCCESS) return in.Bad(key, "a list of rows");
    std::size_t number = 0;
    std::unordered_map<std::string, std::string> seen;  // op of this file -> its row
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
          JV_ASSIGN(const std::string id, in.Text(field, content));
          if (id.empty()) return in.Bad(field, "a text that is not empty");
        } else if (field == "ops") {
          JV_ASSIGN(std::vector<std::string> names, in.Texts(field, content));
          for (const std::string& op : names) {
            const auto [other, added] = seen.try_emplace(op, name);
            if (added) continue;
            return in.Bad(field, fmt::format("each op once in a file; {} is in row {} too",
                                             op.substr(0, kNameMax), other->second));
          }
          SetOps(index, std::move(names));
        } else if (field == "prefixes") {
          JV_ASSIGN(std::vector<std::string> names, in.Texts(field, content));
          SetPrefixes(index, std::move(names));
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
        } else if (!IsName(field) || IsKeyword(field) || field.size() > kNameMax) {
          return in.Bad(field, "a name of letters, digits and _ that is no keyword of Lua");
        } else if (content.is_null()) {
          row.texts.erase(key_name);  // an override takes a quantity away: the inherited one holds
          row.lists.erase(key_name);
        } else if (content.is_array()) {
          if (MustBeExpression(field)) return in.Bad(field, "an expression");
          JV_ASSIGN(std::vector<std::string> list, in.Texts(field, content));
          if (!std::all_of(list.begin(), list.end(), IsParameter)) {
            return in.Bad(field, "a list of names, \"name?\" and \"name=expression\"");
          }
          row.lists[key_name] = std::move(list);
        } else {
          if (field == "params") return in.Bad(field, "a list of texts");
          JV_ASSIGN(row.texts[key_name], in.Expression(field, content));
        }
      }
    }
    in.At("");
  }
  return {};
}

void ModelRows::SetOps(int index, std::vector<std::string> ops) {
  ModelRow& row = rows_[static_cast<std::size_t>(index)];
  for (const std::string& op : row.ops) {
    const auto found = by_op_.find(op);
    if (found != by_op_.end() && found->second.row == index) by_op_.erase(found);
  }
  row.ops = std::move(ops);
  for (const std::string& op : row.ops)
    by_op_[op] = {"", index};
}

void ModelRows::SetPrefixes(int index, std::vector<std::string> prefixes) {
  ModelRow& row = rows_[static_cast<std::size_t>(index)];
  std::erase_if(prefixes_, [&](const auto& prefix) { return prefix.second.row == index; });
  row.prefixes = std::move(prefixes);
  for (const std::string& prefix : row.prefixes) {
    // Of equal ones the last that was added is found first.
    prefixes_.emplace(prefixes_.begin(), prefix, OpEntry{"", index});
  }
}

Status ModelRows::Finish() {
  const auto bad = [](const ModelRow& row, std::string_view key, std::string_view what) {
    return Fail(
        ErrorCode::kBadValue,
        fmt::format("{}, row {}, \"{}\": {}", row.changed_by.empty() ? row.file : row.changed_by,
                    row.model, key, what));
  };
  for (ModelRow& row : rows_) {
    std::size_t steps = 0;
    const ModelRow* changed = &row;  // who is to blame for a circle
    for (const ModelRow* at = &row; at != nullptr; ++steps) {
      if (row.category.empty()) row.category = at->category;
      if (row.backward_category.empty()) row.backward_category = at->backward_category;
      if (row.sheet.empty()) row.sheet = at->sheet;
      if (at->like.empty()) break;
      const ModelRow* next = ParentOf(*at);
      if (next == nullptr) return bad(row, "like", "no model or op is called " + at->like);
      if (!at->changed_by.empty()) changed = at;
      if (next == &row) return bad(*changed, "like", "the row inherits from itself");
      if (steps >= kInheritanceMax) {
        return bad(*changed, "like",
                   fmt::format("more than {} rows up, or in a circle", kInheritanceMax));
      }
      at = next;
    }
    if (row.sheet.empty()) row.sheet = row.category;
    if (row.ops.empty() && row.prefixes.empty()) continue;
    if (row.category.empty()) return bad(row, "category", "expected a text, such as \"GEMM\"");
    if (!IsSheet(row.sheet)) {
      return bad(row, "sheet",
                 fmt::format("expected at most {} letters, digits, _ and -, not \"{}\"", kSheetMax,
                             row.sheet));
    }
  }
  for (auto& [op, entry] : by_op_) {
    if (entry.row >= 0) entry.category = rows_[static_cast<std::size_t>(entry.row)].category;
  }
  for (auto& [prefix, entry] : prefixes_) {
    entry.category = rows_[static_cast<std::size_t>(entry.row)].category;
  }
  std::stable_sort(prefixes_.begin(), prefixes_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return {};
}

const ModelRow* ModelRows::ParentOf(const ModelRow& row) const {
  if (row.like.empty()) return nullptr;
  if (const ModelRow* model = FindModel(row.like)) return model;
  const OpEntry* op = Find(row.like);
  return op != nullptr && op->row >= 0 ? &rows_[static_cast<std::size_t>(op->row)] : nullptr;
}

ModelRows::Flat ModelRows::Flatten(const ModelRow& row) const {
  Flat flat;
  for (const ModelRow* at = &row; at != nullptr; at = ParentOf(*at)) {
    for (const auto& [key, text] : at->texts)
      flat.texts.try_emplace(key, text);
    for (const auto& [key, list] : at->lists)
      flat.lists.try_emplace(key, &list);
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
    JV_CHECK(made);  // built in and tested
    made->Trust();
    return *std::move(made);
  }();
  return rows;
}

}  // namespace jarvis::perf
