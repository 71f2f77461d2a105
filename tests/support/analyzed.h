// An analysis of a trace that a test writes.
#pragma once

#include <memory>
#include <string_view>

#include "findings/one/analysis.h"
#include "support/trace_builder.h"

namespace jarvis::testing {

struct Analyzed {
  std::shared_ptr<const session::LoadedTrace> trace;
  findings::Analysis analysis;

  const findings::Operation& First(std::string_view category) const;
  bool Has(const findings::Operation& operation, findings::Pattern pattern) const;
  // The finding of a category and subject; null: none.
  const findings::Finding* Find(std::string_view category, std::string_view subject) const;
  // The first finding of a rule; null: none.
  const findings::Finding* FindRule(findings::Pattern rule) const;
  const findings::Quality* Quality(std::string_view code) const;
  const findings::GapGroup* Gap(std::string_view name) const;
};

// `platform` empty: none known. `members`: of the trace's object, beside its events.
Analyzed Analyze(const TraceText& text, std::string_view platform = "MI300X",
                 std::string_view members = {});

// "Input Dims" and "Input type" of operands of one type: Shapes("[[4,8],[8,2]]", "c10::BFloat16").
std::string Shapes(std::string_view dims, std::string_view type, int operands = 2);

}  // namespace jarvis::testing
