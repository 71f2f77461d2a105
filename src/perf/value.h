// A parameter of a performance model: what an expression gave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::perf {

struct Value {
  enum class Kind : std::uint8_t { kNull, kBool, kInt, kFloat, kText, kSequence };
  Kind kind = Kind::kNull;
  std::int64_t number = 0;  // kInt, kBool
  double real = 0;          // kFloat
  std::string text;         // kText: the text; kSequence: as Python prints it

  bool is_number() const { return kind == Kind::kInt || kind == Kind::kFloat; }
  std::optional<double> as_double() const;
  // As Python's str() and repr() print it: "1024", "4096.0", "True", "None", "(1, 2)"; a text with
  // and without quotes.
  std::string Str() const;
  std::string Repr() const;
};

struct Parameter {
  std::string key;
  Value value;
};

// {'M': 16, 'dtype': 'c10::Half'}: a dictionary literal, in order.
std::string DictText(const std::vector<Parameter>& parameters);

}  // namespace jarvis::perf
