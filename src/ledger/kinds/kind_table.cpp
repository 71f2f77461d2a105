#include "ledger/kinds/kind_table.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <utility>

#include <simdjson.h>

#include "base/dom_parse.h"
#include "base/regex.h"
#include "base/text.h"
#include "ledger/kinds/kind_files.h"
#include "ledger/kinds/required_literals.h"

namespace jarvis::ledger {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

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
  Found(const Regex& expression, const RegexGroups& texts)
      : expression_(expression), texts_(texts) {}

  // Empty: the row has no such group, or it found nothing.
  std::string_view Text(const char* group) const {
    const auto number = expression_.GroupOf(group);
    return number ? texts_[*number] : std::string_view();
  }
  // 0: likewise, and where a dynamic size stands as 0.
  std::int64_t Size(const char* group) const {
    const std::int64_t size = ParseInt(Text(group)).value_or(0);
    return size > 0 && size <= kSizeMost ? size : 0;
  }

 private:
  const Regex& expression_;
  const RegexGroups& texts_;
};

// As demanglers write a flag.
bool IsTrue(std::string_view text) {
  return text == "true" || text.ends_with('1');
}

// `per_thread`: elements of each array that a thread handles at least. `rows_first`: the grid's x
// counts rows.
KernelSizes SizesOf(const Found& found, std::string_view precision, std::int64_t per_thread,
                    bool rows_first) {
  const std::int64_t bytes = AllPrecisions().BytesOf(precision);
  KernelSizes sizes;
  sizes.group_bytes = found.Size("n") * found.Size("k") * bytes;
  sizes.groups = std::max<std::int64_t>(1, found.Size("groups"));
  per_thread = std::max(per_thread, found.Size("per_thread"));
  sizes.thread_bytes = found.Size("arrays") * per_thread * bytes;
  sizes.result = {found.Size("columns"), found.Size("rows"), rows_first,
                  found.Text("operands") == "tn"};
  sizes.attention = {found.Size("head"), found.Size("queries"), IsTrue(found.Text("whole_head")),
                     IsTrue(found.Text("whole_blocks")), IsTrue(found.Text("causal"))};
  return sizes;
}

}  // namespace

struct KindTable::Row {
  std::string_view expression;
  KernelKind answer;
  // Ways to match: sets of literals, of which one each occurs.
  std::vector<std::vector<std::vector<std::uint32_t>>> ways;
  int order = 0;
  mutable std::atomic<const Result<Regex>*> compiled{nullptr};
  std::int64_t per_thread = 0;
  bool rows_first = false;

  ~Row() { delete compiled.load(); }

  // An expression most tables never ask: made when the first text may hold it.
  const Result<Regex>& Compiled() const {
    if (const auto* const made = compiled.load(std::memory_order_acquire)) return *made;
    auto own = std::make_unique<const Result<Regex>>(Regex::Make(expression));
    const Result<Regex>* first = nullptr;
    if (compiled.compare_exchange_strong(first, own.get())) return *own.release();
    return *first;  // of another thread
  }

  // By the literals that occur.
  bool MayMatch(const std::vector<bool>& occurs) const {
    const auto is_met = [&](const std::vector<std::uint32_t>& set) {
      return std::any_of(set.begin(), set.end(), [&](std::uint32_t l) { return occurs[l]; });
    };
    return ways.empty() || std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
             return std::all_of(way.begin(), way.end(), is_met);
           });
  }

  std::optional<KernelKind> Match(std::string_view text) const {
    const Result<Regex>& expr = Compiled();
    if (!expr) return std::nullopt;
    RegexGroups groups;
    if (!expr->Search(text, expr->has_named_groups() ? &groups : nullptr).value_or(false))
      return std::nullopt;
    KernelKind kind = answer;
    if (groups.empty()) return kind;
    const Found found(*expr, groups);
    if (kind.precision.empty()) kind.precision = AllPrecisions().Of(Trim(found.Text("p")));
    kind.sizes = SizesOf(found, kind.precision, per_thread, rows_first);
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
    for (const std::vector<LiteralSet>& sets :
         RequiredLiterals(texts_[texts_.Intern(LowerAscii(rows_[r]->expression))])) {
      auto& way = rows_[r]->ways.emplace_back();
      for (const LiteralSet& set : sets) {
        std::vector<std::uint32_t>& numbers = way.emplace_back();
        for (const std::string_view literal : set)
          numbers.push_back(literals_.Add(literal));
      }
      rows_of_.resize(literals_.size());
      for (const std::uint32_t literal : way.front())
        rows_of_[literal].push_back(r);
    }
    if (rows_[r]->ways.empty()) always_.push_back(r);
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
  row->rows_first = TextAt(members, "grid") == "rows";
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
    if (!row.MayMatch(occurs)) continue;
    if (const auto kind = row.Match(text)) return *kind;
  }
  return {};
}

std::string KindTable::FirstFault() const {
  if (!fault_.empty()) return fault_;
  for (const auto& row : rows_) {
    const Result<Regex>& made = row->Compiled();
    if (!made) return std::string(row->expression) + ": " + made.error().message;
  }
  return {};
}

}  // namespace jarvis::ledger
