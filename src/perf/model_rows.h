// The rows of the performance models: which op names a model serves, its category, and its
// quantities as expressions. Rows come from JSON files: the built-in ones, the overlay of another
// rule set, and a user's extension, all in one form (docs/ops.md describes it).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace jarvis::perf {

struct ModelRow {
  std::string model;                  // its id: "gemm.mm"
  std::string like;                   // the row that it inherits from; empty: none
  std::vector<std::string> ops;       // exact names
  std::vector<std::string> prefixes;  // names that start so, after all exact names
  std::string category;               // like sheet and backward_category: own or inherited
  std::string backward_category;      // of a backward call that this forward model serves
  std::string sheet;                  // family of tables
  std::string note;
  std::string file;                          // where it stands
  std::string changed_by;                    // the last file that overrides something in it
  std::map<std::string, std::string> texts;  // quantity -> expression, without what it inherits
  std::map<std::string, std::vector<std::string>> lists;  // params and its variants, likewise
};

// What an op's name resolves to.
struct OpEntry {
  std::string category;
  int row = -1;  // into ModelRows::rows(); -1: a category and no model
};

class ModelRows {
 public:
  // Adds a file. Later files win: an "override" row changes an earlier one, an op name that is
  // listed again moves. Errors name the file, the row, the key and what was expected; after an
  // error the object is of no use.
  Status Add(std::string_view file, std::string_view json);
  // After the last file. Fails on a "like" that is unknown or comes back to itself, and on a row
  // that serves ops without a category.
  Status Finish();

  // All rows are ours: their evaluation needs no count of its steps, which costs ten times its
  // time.
  void Trust() { trusted_ = true; }
  bool trusted() const { return trusted_; }

  const std::vector<ModelRow>& rows() const { return rows_; }
  const ModelRow* FindModel(std::string_view model) const;
  // A row's quantities together with what it inherits.
  struct Flat {
    std::map<std::string_view, std::string_view> texts;
    std::map<std::string_view, const std::vector<std::string>*> lists;
  };
  Flat Flatten(const ModelRow& row) const;
  // By exact name; null: not listed.
  const OpEntry* FindExact(std::string_view op) const;
  // By exact name, else by the longest prefix.
  const OpEntry* Find(std::string_view op) const;
  const std::map<std::string, std::string, std::less<>>& category_only() const {
    return category_only_;
  }
  // Of a name that is not listed: the category whose parts of names, in lower case, occur in it;
  // the first that does. Empty: none.
  std::string_view CategoryByPart(std::string_view name) const;

 private:
  void SetOps(int index, std::vector<std::string> ops);
  void SetPrefixes(int index, std::vector<std::string> prefixes);
  // The row that a row inherits from: "like" names a model, or an op whose model is meant.
  const ModelRow* ParentOf(const ModelRow& row) const;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  template <typename T>
  using Index = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  bool trusted_ = false;
  std::vector<ModelRow> rows_;
  Index<int> by_model_;
  Index<OpEntry> by_op_;
  std::vector<std::pair<std::string, OpEntry>> prefixes_;  // longest first
  std::map<std::string, std::string, std::less<>> category_only_;
  std::vector<std::pair<std::string, std::string>> category_parts_;  // part, category
};

// The built-in rows, read once. Thread-safe.
const ModelRows& BuiltinRows();

// The built-in rows of the files that `keep` wants (null: all of them), with overlays (name, text)
// over them: another rule set, a user's extension.
Result<ModelRows> RowsWith(bool (*keep)(std::string_view file),
                           std::span<const std::pair<std::string_view, std::string_view>> overlays);

}  // namespace jarvis::perf
