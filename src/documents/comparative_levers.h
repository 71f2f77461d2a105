// What could be done about the target of a comparison, in words that its report and its console
// output share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// What could be done about the target's time, in the order of its report.
struct LeverText {
  std::string title;
  std::string gap;     // against the reference; of the target's own levers: what is wrong
  std::string action;  // what to do
  std::string impact;
  const findings::CompareRow* row = nullptr;  // with the largest gap; null: none
  bool own = false;  // of the target by itself, whatever the reference does
};
// What stands above a group of levers: what they are held against.
std::string_view LeverGroupText(bool own);
std::vector<LeverText> PairLevers(const ComparativeFacts& facts);

}  // namespace jarvis::documents
