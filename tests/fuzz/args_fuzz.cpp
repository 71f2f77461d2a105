// Pieces of text from inside a trace: args, names, numbers.
#include <cstdint>
#include <string>

#include "analysis/attribution/arg_text.h"
#include "analysis/attribution/module_paths.h"
#include "analysis/tables/summary.h"
#include "base/text.h"
#include "fuzz/require.h"
#include "perf/op_category.h"
#include "table/py_text.h"
#include "trace/json_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using jarvis::testing::Require;

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace trace = jarvis::trace;
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(jarvis::analysis::TupleText(text));
  Require(trace::Unescape(trace::Escape(text)) == text);
  Require(trace::Unescape(text).size() <= text.size());
  for (const char* key : {"a", "", "Input Dims"}) {
    Require(trace::MemberOf(text, key).size() <= text.size());
  }
  if (const auto time = trace::TimeOf(text)) {
    Require(time->ns <= 3'000'000'000'000'000'999 && time->ns >= -3'000'000'000'000'000'999);
  }
  static_cast<void>(trace::IntegerOf(text));
  Require(jarvis::analysis::ShortKernelName(text).size() <= 64);
  Require(jarvis::analysis::ModuleClass(text).size() <= text.size());
  Require(!jarvis::perf::CategoryOfOp(jarvis::perf::BuiltinRows(), text, text).empty());
  bool changed = false;
  const std::string valid = jarvis::ValidUtf8(text, &changed);
  Require(changed == (valid != text));
  Require(jarvis::ValidUtf8(valid, &changed) == valid && !changed);
  Require(jarvis::PyString(text).size() >= text.size() + 2);
  return 0;
}
