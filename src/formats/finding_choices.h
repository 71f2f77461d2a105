// Which findings were dismissed and in which order the others are to stand, as the options of an
// analysis' directory have it: {"dismissed": [{"finding", "subject", "reason"}], "order": [ids]}.
#pragma once

#include "findings/one/choices.h"
#include "json/json.h"

namespace jarvis::formats {

Json ChoicesJson(const findings::FindingChoices& choices);
// What is not of this form is left out.
findings::FindingChoices ReadChoices(const Json& json);

}  // namespace jarvis::formats
