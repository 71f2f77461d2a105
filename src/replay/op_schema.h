// Operator schemas as text, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) ->
// Tensor", taken apart: names, types and defaults of the arguments.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jarvis::replay {

struct ArgType {
  std::string text;                      // as written: "Tensor(a!)[]?"
  std::string base;                      // "Tensor", "SymInt", "Scalar", "str"...
  bool list = false;                     // "int[2]", "Tensor?[]"
  bool optional = false;                 // a "?" after all of it
  bool optional_elements = false;        // "Tensor?[]"
  std::optional<std::size_t> list_size;  // "int[2]": 2
  bool IsTensor() const { return base == "Tensor"; }
};

struct SchemaArg {
  std::string name;
  ArgType type;
  std::optional<std::string> default_text;  // as written, quotes included
  bool keyword_only = false;
};

struct OpSchema {
  std::string text;      // the whole
  std::string name;      // "aten::add"
  std::string overload;  // "Tensor"; empty: the default one
  std::vector<SchemaArg> args;
};

// Errors (kBadValue) say at which character the text is no schema.
Result<OpSchema> ParseSchema(std::string_view text);

}  // namespace jarvis::replay
