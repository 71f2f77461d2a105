#include "query/virtual_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <type_traits>

namespace jarvis::query {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// What a plan asks of an attribute; which arguments of xFilter there are.
enum PlanBit : int { kEqual = 1, kLower = 2, kUpper = 4, kAttributeShift = 3 };

struct VirtualTable : sqlite3_vtab {
  Source* source = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  const Relation* relation = nullptr;
  const Source::Order* order = nullptr;  // null: all rows as they are
  std::size_t at = 0;
  std::size_t end = 0;

  std::size_t row() const { return order == nullptr ? at : (*order)[at].second; }
};

Source& SourceOf(sqlite3_vtab* table) {
  return *static_cast<VirtualTable*>(table)->source;
}

// Nothing thrown may cross SQLite, which is C; memory is all that can run out here.
template <typename Body>
int Guarded(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

int Failed(sqlite3_vtab* table) {
  const std::optional<Error>& error = SourceOf(table).error();
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("%s", error ? error->message.c_str() : "cannot be read");
  return SQLITE_ERROR;
}

int Connect(sqlite3* database, void* client, int /*argc*/, const char* const* /*argv*/,
            sqlite3_vtab** made, char** /*error*/) {
  return Guarded([&] {
    auto* source = static_cast<Source*>(client);
    const int code = source->Declare(database);
    if (code != SQLITE_OK) return code;
    auto* table = new VirtualTable;
    table->source = source;
    *made = table;
    return SQLITE_OK;
  });
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

// The constraints of a question on one attribute that an order by it can serve.
struct Usable {
  int equal = -1;
  int lower = -1;
  int upper = -1;

  double Share() const {  // of the rows that are probably left
    if (lower >= 0 && upper >= 0) return 0.02;
    return lower >= 0 || upper >= 0 ? 0.3 : 1;
  }
};

int BestIndex(sqlite3_vtab* table, sqlite3_index_info* plan) {
  return Guarded([&] {
    Source& source = SourceOf(table);
    const Relation* relation = source.relation();
    if (relation == nullptr) return Failed(table);
    const auto attributes = source.info().attributes;
    std::vector<Usable> usable(attributes.size());
    for (int i = 0; i < plan->nConstraint; ++i) {
      const auto& one = plan->aConstraint[i];
      if (one.usable == 0 || one.iColumn < 0) continue;
      Usable& of = usable[static_cast<std::size_t>(one.iColumn)];
      if (!attributes[static_cast<std::size_t>(one.iColumn)].indexed) continue;
      switch (one.op) {
        case SQLITE_INDEX_CONSTRAINT_EQ: of.equal = i; break;
        case SQLITE_INDEX_CONSTRAINT_GT:
        case SQLITE_INDEX_CONSTRAINT_GE: of.lower = i; break;
        case SQLITE_INDEX_CONSTRAINT_LT:
        case SQLITE_INDEX_CONSTRAINT_LE: of.upper = i; break;
        default: break;
      }
    }
    const auto rows = static_cast<double>(relation->rows);
    plan->estimatedCost = rows + 1;
    plan->estimatedRows = static_cast<sqlite3_int64>(rows) + 1;
    plan->idxNum = 0;
    std::size_t best = attributes.size();
    double best_rows = rows;
    for (std::size_t i = 0; i < usable.size(); ++i) {
      const double left = usable[i].equal >= 0 ? std::min(rows, 10.0) : rows * usable[i].Share();
      if (left < best_rows) {
        best = i;
        best_rows = left;
      }
    }
    if (best == attributes.size()) return SQLITE_OK;
    plan->estimatedCost = best_rows + std::log2(rows + 2);
    plan->estimatedRows = static_cast<sqlite3_int64>(best_rows) + 1;
    const auto take = [&](int constraint, int next) {
      // SQLite looks at each row again: an argument need not be a whole number.
      plan->aConstraintUsage[constraint].argvIndex = next;
    };
    int bits = 0;
    if (usable[best].equal >= 0) {
      bits = kEqual;
      take(usable[best].equal, 1);
    } else {
      int next = 0;
      if (usable[best].lower >= 0) {
        bits |= kLower;
        take(usable[best].lower, ++next);
      }
      if (usable[best].upper >= 0) {
        bits |= kUpper;
        take(usable[best].upper, ++next);
      }
    }
    plan->idxNum = bits | (static_cast<int>(best) + 1) << kAttributeShift;
    plan->orderByConsumed = static_cast<int>(plan->nOrderBy == 1 &&
                                             plan->aOrderBy[0].iColumn == static_cast<int>(best) &&
                                             plan->aOrderBy[0].desc == 0);
    return SQLITE_OK;
  });
}

int Open(sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** made) {
  return Guarded([&] {
    *made = new Cursor;
    return SQLITE_OK;
  });
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// A bound that leaves out nothing that fits the argument.
std::int64_t LowerBound(sqlite3_value* value) {
  if (sqlite3_value_type(value) == SQLITE_INTEGER) return sqlite3_value_int64(value);
  if (sqlite3_value_type(value) != SQLITE_FLOAT) return kLowest;
  const double bound = std::floor(sqlite3_value_double(value));
  if (!(bound > -9e18)) return kLowest;
  return bound < 9e18 ? static_cast<std::int64_t>(bound) : kHighest;
}

std::int64_t UpperBound(sqlite3_value* value) {
  if (sqlite3_value_type(value) == SQLITE_INTEGER) return sqlite3_value_int64(value);
  if (sqlite3_value_type(value) != SQLITE_FLOAT) return kHighest;
  const double bound = std::ceil(sqlite3_value_double(value));
  if (!(bound < 9e18)) return kHighest;
  return bound > -9e18 ? static_cast<std::int64_t>(bound) : kLowest;
}

int Filter(sqlite3_vtab_cursor* base, int plan, const char* /*name*/, int argc,
           sqlite3_value** argv) {
  return Guarded([&] {
    auto* cursor = static_cast<Cursor*>(base);
    Source& source = SourceOf(base->pVtab);
    cursor->relation = source.relation();
    if (cursor->relation == nullptr) return Failed(base->pVtab);
    cursor->order = nullptr;
    cursor->at = 0;
    cursor->end = cursor->relation->rows;
    if (plan == 0) return SQLITE_OK;
    std::int64_t low = kLowest;
    std::int64_t high = kHighest;
    int next = 0;
    if ((plan & kEqual) != 0 && argc > 0) {
      low = LowerBound(argv[0]);
      high = UpperBound(argv[0]);
    }
    if ((plan & kLower) != 0 && next < argc) low = LowerBound(argv[next++]);
    if ((plan & kUpper) != 0 && next < argc) high = UpperBound(argv[next]);
    const auto attribute = static_cast<std::size_t>(plan >> kAttributeShift) - 1;
    const Source::Order& order = source.By(attribute);
    cursor->order = &order;
    const auto begin =
        std::lower_bound(order.begin(), order.end(), std::pair(low, std::uint32_t{0}));
    const auto end = std::upper_bound(begin, order.end(), std::pair(high, 0xFFFFFFFFu));
    cursor->at = static_cast<std::size_t>(begin - order.begin());
    cursor->end = static_cast<std::size_t>(end - order.begin());
    return SQLITE_OK;
  });
}

int Next(sqlite3_vtab_cursor* cursor) {
  ++static_cast<Cursor*>(cursor)->at;
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* base) {
  const auto* cursor = static_cast<Cursor*>(base);
  return static_cast<int>(cursor->at >= cursor->end);
}

void SetResult(sqlite3_context* context, const Value& value) {
  std::visit(
      [&](const auto& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, Absent>) {
          sqlite3_result_null(context);
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          sqlite3_result_int64(context, one);
        } else if constexpr (std::is_same_v<T, double>) {
          sqlite3_result_double(context, one);
        } else {
          // A view is of a catalogue that outlives the question; a text of its own is copied.
          sqlite3_result_text64(
              context, one.data(), one.size(),
              std::is_same_v<T, std::string_view> ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
        }
      },
      value);
}

int ColumnOf(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  return Guarded([&] {
    const auto* cursor = static_cast<Cursor*>(base);
    SetResult(context, cursor->relation->cells[static_cast<std::size_t>(column)](cursor->row()));
    return SQLITE_OK;
  });
}

int RowId(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(static_cast<Cursor*>(base)->row()) + 1;
  return SQLITE_OK;
}

constexpr sqlite3_module MakeModule() {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xConnect = &Connect;  // without xCreate: a table that needs no CREATE, and allows none
  module.xBestIndex = &BestIndex;
  module.xDisconnect = &Disconnect;
  module.xOpen = &Open;
  module.xClose = &Close;
  module.xFilter = &Filter;
  module.xNext = &Next;
  module.xEof = &Eof;
  module.xColumn = &ColumnOf;
  module.xRowid = &RowId;
  return module;
}
constexpr sqlite3_module kModule = MakeModule();

}  // namespace

const Relation* Source::relation() {
  if (relation_ == nullptr && !error_) {
    auto made = catalogue_.At(place_);
    if (made) {
      relation_ = *made;
    } else {
      error_ = made.error();
    }
  }
  return relation_;
}

int Source::Declare(sqlite3* database) {
  constexpr const char* kTypes[] = {"INTEGER", "REAL", "TEXT"};
  std::string declaration = "CREATE TABLE x(";
  for (const AttributeInfo& one : info().attributes) {
    declaration += declaration.ends_with('(') ? "" : ", ";
    declaration +=
        "\"" + std::string(one.name) + "\" " + kTypes[static_cast<std::size_t>(one.type)];
  }
  declaring_ = true;
  const int code = sqlite3_declare_vtab(database, (declaration + ")").c_str());
  declaring_ = false;
  return code;
}

const Source::Order& Source::By(std::size_t attribute) {
  orders_.resize(info().attributes.size());
  if (orders_[attribute] == nullptr) {
    Order order;
    order.reserve(relation_->rows);
    for (std::size_t row = 0; row < relation_->rows; ++row) {
      const Value value = relation_->cells[attribute](row);
      if (const auto* number = std::get_if<std::int64_t>(&value))
        order.emplace_back(*number, static_cast<std::uint32_t>(row));
    }
    if (!std::is_sorted(order.begin(), order.end())) std::sort(order.begin(), order.end());
    orders_[attribute] = std::make_unique<const Order>(std::move(order));
  }
  return *orders_[attribute];
}

int AddTable(sqlite3* database, const std::string& name, Source* source) {
  return sqlite3_create_module(database, name.c_str(), &kModule, source);
}

}  // namespace jarvis::query
