#include "findings/one/pattern.h"

#include <algorithm>
#include <utility>

namespace jarvis::findings {

bool HasAction(std::span<const Remedy> path) {
  return std::any_of(path.begin(), path.end(), [](const Remedy& remedy) {
    return remedy.advice != Advice::kReplay && remedy.advice != Advice::kProfileCounters &&
           remedy.advice != Advice::kFindHostWork && remedy.advice != Advice::kRecordRanks &&
           remedy.advice != Advice::kSplitWaits && remedy.advice != Advice::kNoneKnown;
  });
}

Remedy NoWay(std::string reason) {
  return {Advice::kNoneKnown, {}, {{"reason", std::move(reason), "words"}}};
}

}  // namespace jarvis::findings
