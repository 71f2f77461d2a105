// What was decided about findings, as the options of an analysis' directory have it: {"dismissed":
// [{"finding", "subject", "reason"}], "order": [ids], "order_because", "added": [{"finding",
// "subject", "texts", "changes"}], "derived": [{"name", "unit", "sql"}]}.
#pragma once

#include "findings/one/choices.h"
#include "json/json.h"

namespace jarvis::formats {

Json ChoicesJson(const findings::FindingChoices& choices);
// What is not of this form is left out; so are additions and figures beyond the first hundred. What
// a trace makes of them (Addition::changes, DerivedFigure::value) is not there yet.
findings::FindingChoices ReadChoices(const Json& json);

}  // namespace jarvis::formats
