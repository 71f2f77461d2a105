#include "formats/finding_choices.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "documents/prose.h"

namespace jarvis::formats {
namespace {

std::string MemberText(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

constexpr std::size_t kChoicesMax = 100;  // of each kind

Json AdditionJson(const findings::Addition& one) {
  Json texts = Json::object();
  for (const auto& [name, text] : one.texts)
    texts[name] = ValidUtf8(text);
  Json out = {
      {"finding", one.id}, {"subject", ValidUtf8(one.subject)}, {"texts", std::move(texts)}};
  if (Result<Json> changes = ParseJson(one.asked)) out["changes"] = std::move(*changes);
  return out;
}

findings::Addition ReadAddition(const Json& json) {
  findings::Addition one;
  one.id = MemberText(json, "finding");
  one.subject = MemberText(json, "subject");
  const Json texts = json.value("texts", Json::object());
  for (const documents::TextField& field : documents::kTextFields) {
    const std::string name(field.name);
    if (std::string text = MemberText(texts, name.c_str()); !text.empty())
      one.texts[name] = std::move(text);
  }
  const Json changes = json.value("changes", Json::array());
  if (changes.is_array() && !changes.empty()) one.asked = DumpLine(changes);
  return one;
}

void ReadAdded(const Json& list, findings::FindingChoices* choices) {
  for (const Json& json : list) {
    if (!json.is_object() || choices->added.size() == kChoicesMax) continue;
    findings::Addition one = ReadAddition(json);
    const bool twice =
        std::any_of(choices->added.begin(), choices->added.end(),
                    [&](const findings::Addition& other) { return other.id == one.id; });
    if (findings::IsAddedId(one.id) && !twice && !one.subject.empty())
      choices->added.push_back(std::move(one));
  }
}

void ReadDerived(const Json& list, findings::FindingChoices* choices) {
  for (const Json& json : list) {
    if (!json.is_object() || choices->derived.size() == kChoicesMax) continue;
    findings::DerivedFigure one{
        MemberText(json, "name"), MemberText(json, "unit"), MemberText(json, "sql"), {}};
    if (!one.name.empty() && !one.sql.empty()) choices->derived.push_back(std::move(one));
  }
}

}  // namespace

Json ChoicesJson(const findings::FindingChoices& choices) {
  Json out = {{"dismissed", Json::array()}, {"order", choices.order}};
  for (const findings::Dismissal& one : choices.dismissed) {
    out["dismissed"].push_back({{"finding", one.finding},
                                {"subject", ValidUtf8(one.subject)},
                                {"reason", ValidUtf8(one.reason)}});
  }
  if (!choices.order_because.empty()) out["order_because"] = ValidUtf8(choices.order_because);
  for (const findings::Addition& one : choices.added)
    out["added"].push_back(AdditionJson(one));
  for (const findings::DerivedFigure& one : choices.derived) {
    out["derived"].push_back({{"name", ValidUtf8(one.name)},
                              {"unit", ValidUtf8(one.unit)},
                              {"sql", ValidUtf8(one.sql)}});
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
  choices.order_because = MemberText(json, "order_because");
  ReadAdded(json.value("added", Json::array()), &choices);
  ReadDerived(json.value("derived", Json::array()), &choices);
  return choices;
}

}  // namespace jarvis::formats
