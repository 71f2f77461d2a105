// Phrases: the shipped files, what stands for slots, and what is refused.
#include "phrases/phrase.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "levers/placeholders.h"
#include "phrases/ids/limits.h"
#include "phrases/ids/trust.h"
#include "phrases/phrase_files.h"
#include "phrases/phrase_texts.h"

namespace jarvis::phrases {
namespace {

std::string Filled(std::string_view text, std::string_view n) {
  return levers::Fill(text, [&](std::string_view key) -> levers::Filling {
    if (key == "n") return {std::string(n), !n.empty()};
    return {"?", false};
  });
}

TEST_CASE("the shipped files are read, and their texts are well formed") {
  const auto made = ReadPhrases(PhraseFiles());
  const std::string why = made ? "" : made.error().message;
  INFO(why);
  REQUIRE(made);
  for (const auto& [file, texts] : *made) {
    for (const auto& [key, text] : texts) {
      CAPTURE(file);
      CAPTURE(key);
      CHECK(levers::IsWellFormed(text));
    }
  }
}

TEST_CASE("slots are filled, and an optional part falls away with what is not known") {
  CHECK(Say(trust::kReplayOff, {{"error", "3%"}}).find("within 3%: smaller") != std::string::npos);
  CHECK(Say(trust::kSavingsNote, {{"error", "1%"}, {"waits", ""}}).ends_with("off by 1%."));
  CHECK(Say(trust::kSavingsNote, {{"error", "1%"}, {"waits", "90%"}})
            .ends_with("off by 1% and explains 90% of the host's waits."));
}

TEST_CASE("a count and a flag choose between words") {
  CHECK(Filled("{n} {n|row|rows}", "1") == "1 row");
  CHECK(Filled("{n} {n|row|rows}", "11") == "11 rows");
  CHECK(Filled("{n|one row|# rows}", "1") == "one row");
  CHECK(Filled("{n|one row|# rows}", "12") == "12 rows");
  CHECK(Filled("row{n||s}", "2") == "rows");
  CHECK(Filled("a[[ {n|row|rows}]]", "") == "a");
  const std::string training = Say(limits::kAccuracy, {{"rank", 2}, {"training", true}});
  CHECK(training.find("accuracy holds. Record next: the loss over") != std::string::npos);
  const std::string other = Say(limits::kAccuracy, {{"rank", 2}, {"training", false}});
  CHECK(other.find("Record next: the outputs of the same") != std::string::npos);
}

TEST_CASE("what is no phrase is refused by file and key") {
  for (const char* text : {R"({"a": 1})", R"({"a": ""})", R"({"a": "{n"})", R"({"a": "[[b"})",
                           R"({"a": "{n|b|c|d}"})", R"({"a": "b", "a": "c"})"}) {
    CAPTURE(text);
    const std::vector<EmbeddedFile> files = {{"ours", text}};
    const auto made = ReadPhrases(files);
    REQUIRE(!made);
    CHECK(made.error().message.starts_with("ours, \"a\": expected"));
  }
}

}  // namespace
}  // namespace jarvis::phrases
