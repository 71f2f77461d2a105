// Grouping of rows by a key of several small numbers, in order of first appearance.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace jarvis::analysis {

template <std::size_t N>
class Grouping {
 public:
  using Key = std::array<std::uint32_t, N>;

  // Adds row `row` to the group of `key`.
  void Add(const Key& key, std::size_t row) {
    const auto [found, added] = index_.try_emplace(key, groups_.size());
    if (added) groups_.push_back({key, {}});
    groups_[found->second].rows.push_back(row);
  }

  struct Group {
    Key key;
    std::vector<std::size_t> rows;
  };
  const std::vector<Group>& groups() const { return groups_; }

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = 0x9E3779B97F4A7C15u;
      for (const std::uint32_t part : key) {
        hash = (hash ^ part) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };
  std::unordered_map<Key, std::size_t, Hash> index_;
  std::vector<Group> groups_;
};

}  // namespace jarvis::analysis
