#include "perf/value.h"

#include <fmt/format.h>

#include "table/py_text.h"

namespace jarvis::perf {

std::optional<double> Value::as_double() const {
  if (kind == Kind::kInt) return static_cast<double>(number);
  if (kind == Kind::kFloat) return real;
  return std::nullopt;
}

std::string Value::Str() const {
  switch (kind) {
    case Kind::kNull: return "None";
    case Kind::kBool: return number != 0 ? "True" : "False";
    case Kind::kInt: return fmt::format("{}", number);
    case Kind::kFloat: return PyFloat(real);
    case Kind::kText:
    case Kind::kSequence: return text;
  }
  return {};
}

std::string Value::Repr() const {
  return kind == Kind::kText ? PyString(text) : Str();
}

std::string DictText(const std::vector<Parameter>& parameters) {
  std::string out = "{";
  for (const Parameter& parameter : parameters) {
    if (out.size() > 1) out += ", ";
    out.append(PyString(parameter.key)).append(": ").append(parameter.value.Repr());
  }
  return out + "}";
}

}  // namespace jarvis::perf
