#include "formats/finding_choices.h"

#include <string>

#include "base/text.h"

namespace jarvis::formats {
namespace {

std::string MemberText(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Json ChoicesJson(const findings::FindingChoices& choices) {
  Json out = {{"dismissed", Json::array()}, {"order", choices.order}};
  for (const findings::Dismissal& one : choices.dismissed) {
    out["dismissed"].push_back({{"finding", one.finding},
                                {"subject", ValidUtf8(one.subject)},
                                {"reason", ValidUtf8(one.reason)}});
  }
  return out;
}

findings::FindingChoices ReadChoices(const Json& json) {
  findings::FindingChoices choices;
  if (!json.is_object()) return choices;
  const Json dismissed = json.value("dismissed", Json::array());
  for (const Json& one : dismissed) {
    if (!one.is_object() || MemberText(one, "finding").empty()) continue;
    choices.dismissed.push_back(
        {MemberText(one, "finding"), MemberText(one, "subject"), MemberText(one, "reason")});
  }
  const Json order = json.value("order", Json::array());
  for (const Json& id : order) {
    if (id.is_string()) choices.order.push_back(id.get<std::string>());
  }
  return choices;
}

}  // namespace jarvis::formats
