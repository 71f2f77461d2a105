// The sentences of the product: texts/<file>.json holds them by key, and the build makes a name of
// each (phrases/ids/<file>.h: "replay_error" of trust.json is trust::kReplayError). docs/phrases.md
// describes what a text may hold. Code chooses a phrase and gives its slots; no code reads what
// comes of it.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace jarvis::phrases {

struct Phrase {
  std::string_view file;
  std::string_view key;
};

// What stands for {name}; an empty text: it is not known. A count and a flag can be chosen by:
// {rows|row|rows}, {gpu|GPU|host}.
struct Slot {
  Slot(std::string_view slot, std::string value) : name(slot), text(std::move(value)) {}
  Slot(std::string_view slot, std::string_view value) : name(slot), text(value) {}
  Slot(std::string_view slot, const char* value) : name(slot), text(value) {}
  template <std::integral T>
  Slot(std::string_view slot, T value) : name(slot), text(fmt::format("{}", value)) {}

  std::string_view name;
  std::string text;
};

std::string Say(Phrase phrase, std::initializer_list<Slot> slots = {});

}  // namespace jarvis::phrases
