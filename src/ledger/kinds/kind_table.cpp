#include "ledger/kinds/kind_table.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include <re2/re2.h>
#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/text.h"
#include "ledger/kinds/kind_files.h"
#include "ledger/kinds/required_literals.h"

namespace jarvis::ledger {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

// The memory for the states of one row; where it does not suffice RE2 goes on without them.
constexpr std::int64_t kStatesMax = std::int64_t{1} << 20;

// Of the largest that a name may give: larger ones are none.
constexpr std::int64_t kSizeMost = std::int64_t{1} << 24;

std::optional<WorkKind> KindOfText(std::string_view text) {
  for (int k = 0; k < kWorkKinds; ++k) {
    if (WorkKindText(static_cast<WorkKind>(k)) == text) return static_cast<WorkKind>(k);
  }
  return std::nullopt;
}

std::string_view TextAt(const object& members, std::string_view key) {
  std::string_view text;
  return members[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// precisions.json: what spellings of a data type in names mean, and how many bytes an element has.
class Precisions {
 public:
  Precisions() {
    simdjson::dom::parser parser;
    for (const EmbeddedFile& file : PrecisionFiles()) {
      element document;
      object members;
      if (ParseDom(&parser, file.text, &document) != simdjson::SUCCESS) continue;
      if (document["precisions"].get(members) != simdjson::SUCCESS) continue;
      for (const auto& [precision, spellings] : members) {
        simdjson::dom::array list;
        if (spellings.get(list) != simdjson::SUCCESS) continue;
        for (const element spelling : list) {
          std::string_view text;
          if (spelling.get(text) == simdjson::SUCCESS) of_.emplace(Keep(text), Keep(precision));
        }
      }
      if (document["bytes"].get(members) != simdjson::SUCCESS) continue;
      for (const auto& [precision, bytes] : members) {
        std::int64_t number = 0;
        if (bytes.get(number) == simdjson::SUCCESS) bytes_.emplace(Keep(precision), number);
      }
    }
  }
  std::string_view Of(std::string_view spelling) const {
    const auto found = of_.find(spelling);
    return found == of_.end() ? std::string_view() : found->second;
  }
  std::int64_t BytesOf(std::string_view precision) const {
    const auto found = bytes_.find(precision);
    return found == bytes_.end() ? 0 : found->second;
  }

 private:
  std::string_view Keep(std::string_view text) { return texts_[texts_.Intern(text)]; }

  StringPool texts_;
  std::unordered_map<std::string_view, std::string_view> of_;
  std::unordered_map<std::string_view, std::int64_t> bytes_;
};

const Precisions& AllPrecisions() {
  static const Precisions precisions;
  return precisions;
}

// What the named groups of a row found.
class Found {
 public:
  Found(const RE2& expression, const std::vector<re2::StringPiece>& texts)
      : groups_(expression.NamedCapturingGroups()), texts_(texts) {}

  // Empty: the row has no such group, or it found nothing.
  std::string_view Text(const char* group) const {
    const auto at = groups_.find(group);
    if (at == groups_.end()) return {};
    const re2::StringPiece& text = texts_[static_cast<std::size_t>(at->second)];
    return text.data() == nullptr ? std::string_view() : std::string_view(text.data(), text.size());
  }
  // 0: likewise, and where a dynamic size stands as 0.
  std::int64_t Size(const char* group) const {
    const std::int64_t size = ParseInt(Text(group)).value_or(0);
    return size > 0 && size <= kSizeMost ? size : 0;
  }

 private:
  const std::map<std::string, int>& groups_;
  const std::vector<re2::StringPiece>& texts_;
};

// `per_thread`: elements of each array that a thread handles at least.
KernelSizes SizesOf(const Found& found, std::string_view precision, std::int64_t per_thread) {
  const std::int64_t bytes = AllPrecisions().BytesOf(precision);
  KernelSizes sizes;
  sizes.group_bytes = found.Size("n") * found.Size("k") * bytes;
  sizes.groups = std::max<std::int64_t>(1, found.Size("groups"));
  per_thread = std::max(per_thread, found.Size("per_thread"));
  sizes.thread_bytes = found.Size("arrays") * per_thread * bytes;
  return sizes;
}

}  // namespace

struct KindTable::Row {
  std::string_view expression;
  KernelKind answer;
  std::vector<std::vector<std::uint32_t>> needed;  // sets of literals, of which one each occurs
  int order = 0;
  mutable std::once_flag compiled;
  mutable std::unique_ptr<const RE2> regex;
  std::int64_t per_thread = 0;

  const RE2& Compiled() const {
    std::call_once(compiled, [&] {
      RE2::Options options(RE2::Latin1);  // any byte is a character
      options.set_log_errors(false);
      options.set_never_capture(expression.find("(?P<") == std::string_view::npos);
      options.set_max_mem(kStatesMax);
      regex = std::make_unique<const RE2>(re2::StringPiece(expression.data(), expression.size()),
                                          options);
    });
    return *regex;
  }

  std::optional<KernelKind> Match(std::string_view text) const {
    const RE2& expr = Compiled();
    if (!expr.ok()) return std::nullopt;
    const re2::StringPiece piece(text.data(), text.size());
    const bool asks = expr.NumberOfCapturingGroups() > 0 && !expr.NamedCapturingGroups().empty();
    std::vector<re2::StringPiece> groups(
        asks ? static_cast<std::size_t>(expr.NumberOfCapturingGroups()) + 1 : 0);
    if (!expr.Match(piece, 0, piece.size(), RE2::UNANCHORED, groups.data(),
                    static_cast<int>(groups.size()))) {
      return std::nullopt;
    }
    KernelKind kind = answer;
    if (!asks) return kind;
    const Found found(expr, groups);
    if (kind.precision.empty()) kind.precision = AllPrecisions().Of(Trim(found.Text("p")));
    kind.sizes = SizesOf(found, kind.precision, per_thread);
    return kind;
  }
};

KindTable::KindTable(std::span<const EmbeddedFile> files, std::string_view member) {
  simdjson::dom::parser parser;
  for (const EmbeddedFile& file : files)
    Read(file, member, &parser);
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const auto& a, const auto& b) { return a->order < b->order; });
  for (std::uint32_t r = 0; r < rows_.size(); ++r) {
    for (const LiteralSet& set :
         RequiredLiterals(texts_[texts_.Intern(LowerAscii(rows_[r]->expression))])) {
      std::vector<std::uint32_t>& numbers = rows_[r]->needed.emplace_back();
      for (const std::string_view literal : set)
        numbers.push_back(literals_.Add(literal));
    }
    if (rows_[r]->needed.empty()) {
      always_.push_back(r);
      continue;
    }
    rows_of_.resize(literals_.size());
    for (const std::uint32_t literal : rows_[r]->needed.front())
      rows_of_[literal].push_back(r);
  }
  rows_of_.resize(literals_.size());
  literals_.Seal();
}

KindTable::~KindTable() = default;

void KindTable::Fault(const EmbeddedFile& file, std::string_view what) {
  if (fault_.empty()) fault_.append(file.name).append(": ").append(what);
}

void KindTable::Read(const EmbeddedFile& file, std::string_view member,
                     simdjson::dom::parser* parser) {
  element document;
  object table;
  simdjson::dom::array rows;
  std::int64_t order = 0;
  if (ParseDom(parser, file.text, &document) != simdjson::SUCCESS ||
      document.get(table) != simdjson::SUCCESS || table["order"].get(order) != simdjson::SUCCESS) {
    return Fault(file, "no JSON with \"order\" and \"rows\"");
  }
  if (table[member].get(rows) != simdjson::SUCCESS) {
    if (member == kRows) Fault(file, "no \"rows\"");
    return;  // most names give no sizes
  }
  for (const element item : rows) {
    object members;
    if (item.get(members) == simdjson::SUCCESS) {
      Add(members, file, static_cast<int>(order), member == kRows);
    } else {
      Fault(file, "a row that is no object");
    }
  }
}

void KindTable::Add(const object& members, const EmbeddedFile& file, int order, bool has_kind) {
  const std::string_view match = TextAt(members, "match");
  const auto kind =
      has_kind ? KindOfText(TextAt(members, "kind")) : std::optional(WorkKind::kUnknown);
  if (!kind || match.empty()) return Fault(file, match.empty() ? "a row without \"match\"" : match);
  const auto keep = [&](std::string_view word) {
    return word.empty() ? std::string_view() : texts_[texts_.Intern(word)];
  };
  bool words = false;
  if (members["words"].get(words) != simdjson::SUCCESS) words = false;
  auto row = std::make_unique<Row>();
  row->expression = keep(match);
  row->order = order;
  row->answer.kind = *kind;
  row->answer.basis = *kind == WorkKind::kUnknown ? KindBasis::kNone
                      : words                     ? KindBasis::kWords
                                                  : KindBasis::kName;
  row->answer.sub = keep(TextAt(members, "sub"));
  row->answer.precision = keep(TextAt(members, "precision"));
  row->answer.library = keep(file.name);
  if (members["per_thread"].get(row->per_thread) != simdjson::SUCCESS) row->per_thread = 0;
  rows_.push_back(std::move(row));
}

KernelKind KindTable::Find(std::string_view text) const {
  std::vector<bool> occurs;
  std::vector<std::uint32_t> found;
  literals_.Find(LowerAscii(text), &occurs, &found);
  std::vector<std::uint32_t> candidates = always_;
  for (const std::uint32_t literal : found)
    candidates.insert(candidates.end(), rows_of_[literal].begin(), rows_of_[literal].end());
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (const std::uint32_t r : candidates) {
    const Row& row = *rows_[r];
    const bool may_match = std::all_of(row.needed.begin(), row.needed.end(), [&](const auto& set) {
      return std::any_of(set.begin(), set.end(), [&](std::uint32_t l) { return occurs[l]; });
    });
    if (!may_match) continue;
    if (const auto kind = row.Match(text)) return *kind;
  }
  return {};
}

std::string KindTable::FirstFault() const {
  if (!fault_.empty()) return fault_;
  for (const auto& row : rows_) {
    if (!row->Compiled().ok()) return std::string(row->expression) + ": " + row->regex->error();
  }
  return {};
}

}  // namespace jarvis::ledger
