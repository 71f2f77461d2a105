// The tables that questions in SQL are put to: their schema, which needs no trace, and their
// contents, which are read from a trace cell by cell and copied nowhere.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/absent.h"

namespace jarvis::query {

// Absent: NULL in SQL. A view lives as long as the catalogue that it came from.
using Value = std::variant<Absent, std::int64_t, double, std::string_view, std::string>;

enum class Type : std::uint8_t { kInteger, kReal, kText };

struct AttributeInfo {
  std::string_view name;
  Type type;
  std::string_view doc;
  // Whether comparisons with it (=, <, BETWEEN) find their rows without reading all: whole numbers
  // alone.
  bool indexed = false;
};

struct RelationInfo {
  std::string_view name;
  std::string_view doc;
  std::span<const AttributeInfo> attributes;
};

// All relations, in the order in which one would explain them.
std::span<const RelationInfo> Schema();
// The same as text: a line each relation and attribute, and questions as examples.
std::string SchemaText();

struct Relation {
  std::size_t rows = 0;
  std::vector<std::function<Value(std::size_t row)>> cells;  // by attribute
};

}  // namespace jarvis::query
