// docs/rules.md, made from the rows that the program judges by.
#pragma once

#include <string>

namespace jarvis::findings {

std::string RulesPage();

}  // namespace jarvis::findings
