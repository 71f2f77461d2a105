// Which of many literals occur in a text: one look per place of the text.
//
// Threads: const, any number. The literals must outlive it.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jarvis::ledger {

class LiteralIndex {
 public:
  // The literal's number: they count up from 0, equal ones share one. REQUIRES: kLiteralMin bytes
  // or more, and Seal() not yet called.
  std::uint32_t Add(std::string_view literal);
  void Seal();

  std::uint32_t size() const { return static_cast<std::uint32_t>(literals_.size()); }
  // By literal: whether it occurs in the text; `found` lists those that do, each once.
  void Find(std::string_view text, std::vector<bool>* occurs,
            std::vector<std::uint32_t>* found) const;

 private:
  struct Entry {
    std::uint32_t literal;
    std::uint32_t offset;  // of the three bytes that it is found by
  };
  std::vector<std::string_view> literals_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  // until sealed
  std::vector<std::uint32_t> begin_;                             // by hash of three bytes
  std::vector<Entry> entries_;
};

}  // namespace jarvis::ledger
