#include "phrases/phrase.h"

#include <algorithm>

#include "base/check.h"
#include "levers/placeholders.h"
#include "levers/text_member.h"
#include "phrases/phrase_files.h"
#include "phrases/phrase_texts.h"

namespace jarvis::phrases {

Result<PhraseTexts> ReadPhrases(std::span<const EmbeddedFile> files) {
  PhraseTexts texts;
  simdjson::dom::parser parser;
  for (const EmbeddedFile& file : files) {
    const levers::At at{file.name, {}};
    simdjson::dom::object members;
    JV_ASSIGN(members, levers::ObjectIn(at, &parser, file.text));
    auto& of_file = texts[std::string(file.name)];
    for (const auto [key, value] : members) {
      JV_ASSIGN(std::string text, levers::TextIn(at, key, value));
      if (!of_file.emplace(key, std::move(text)).second) return at.Bad(key, "each key once");
    }
  }
  return texts;
}

const PhraseTexts& ShippedPhrases() {
  static const PhraseTexts texts = [] {
    Result<PhraseTexts> made = ReadPhrases(PhraseFiles());
    JV_CHECK(made);  // built in and tested
    return *std::move(made);
  }();
  return texts;
}

std::string Say(Phrase phrase, std::initializer_list<Slot> slots) {
  const auto file = ShippedPhrases().find(phrase.file);
  JV_CHECK(file != ShippedPhrases().end());
  const auto text = file->second.find(phrase.key);
  JV_CHECK(text != file->second.end());
  return levers::Fill(text->second, [&](std::string_view key) -> levers::Filling {
    const Slot* found =
        std::find_if(slots.begin(), slots.end(), [&](const Slot& one) { return one.name == key; });
    if (found == slots.end()) return {"?", false};
    return {found->text, !found->text.empty()};
  });
}

}  // namespace jarvis::phrases
