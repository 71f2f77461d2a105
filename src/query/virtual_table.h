// A relation as a virtual table of SQLite.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "query/catalogue.h"

namespace jarvis::query {

// What a virtual table hangs on: a relation of a catalogue, its orders by indexed attributes, and
// the error that kept it from being made, which SQLite cannot carry.
class Source {
 public:
  Source(Catalogue& catalogue, std::size_t place) : catalogue_(catalogue), place_(place) {}

  const RelationInfo& info() const { return Schema()[place_]; }
  // Null: error() says why.
  const Relation* relation();
  const std::optional<Error>& error() const { return error_; }

  // Whether SQLite is being told the columns, for which it asks for the right to create a table.
  bool declaring() const { return declaring_; }
  int Declare(sqlite3* database);

  using Order = std::vector<std::pair<std::int64_t, std::uint32_t>>;  // value, row
  // Rows with a value, by it. REQUIRES: the attribute is indexed, the relation there.
  const Order& By(std::size_t attribute);

 private:
  Catalogue& catalogue_;
  const std::size_t place_;
  const Relation* relation_ = nullptr;
  bool declaring_ = false;
  std::optional<Error> error_;
  std::vector<std::unique_ptr<const Order>> orders_;
};

// Makes the source a table of that name, which needs no CREATE. The source must outlive `database`.
int AddTable(sqlite3* database, const std::string& name, Source* source);

}  // namespace jarvis::query
