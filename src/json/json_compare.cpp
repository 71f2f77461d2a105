// Equality and order of JSON values.
#include <array>
#include <compare>
#include <utility>

#include "json/json.h"

namespace jarvis {
namespace {

// Values of different kinds have the order of these.
int RankOf(Json::Kind kind) {
  constexpr std::array<int, 8> kRanks = {0, 1, 2, 2, 2, 5, 4, 3};
  return kRanks[static_cast<std::size_t>(kind)];
}

std::partial_ordering CompareNumbers(const Json& a, const Json& b) {
  if (a.is_number_float() || b.is_number_float()) return a.get<double>() <=> b.get<double>();
  if (a.is_number_unsigned() && b.is_number_unsigned())
    return a.get<std::uint64_t>() <=> b.get<std::uint64_t>();
  if (a.is_number_unsigned()) {
    return std::cmp_less(b.get<std::int64_t>(), a.get<std::uint64_t>())
               ? std::partial_ordering::greater
           : std::cmp_equal(b.get<std::int64_t>(), a.get<std::uint64_t>())
               ? std::partial_ordering::equivalent
               : std::partial_ordering::less;
  }
  if (b.is_number_unsigned()) return 0 <=> CompareNumbers(b, a);
  return a.get<std::int64_t>() <=> b.get<std::int64_t>();
}

// The first difference decides, then the length.
std::partial_ordering CompareLists(const Json& a, const Json& b) {
  auto right = b.begin();
  for (const Json& left : a) {
    if (right == b.end()) break;
    if (const auto order = left <=> *right; order != 0) return order;
    ++right;
  }
  return a.size() <=> b.size();
}

std::partial_ordering CompareObjects(const Json& a, const Json& b) {
  const auto right = b.items();
  const JsonMember* member = right.begin();
  for (const auto& [name, value] : a.items()) {
    if (member == right.end()) break;
    if (const auto order = name <=> member->key; order != 0) return order;
    if (const auto order = value <=> member->value; order != 0) return order;
    ++member;
  }
  return a.size() <=> b.size();
}

bool EqualObjects(const Json& a, const Json& b) {
  const JsonMember* member = b.items().begin();
  for (const auto& [name, value] : a.items()) {
    if (name != member->key || value != member->value) return false;
    ++member;
  }
  return true;
}

bool EqualLists(const Json& a, const Json& b) {
  auto right = b.begin();
  for (const Json& left : a) {
    if (left != *right) return false;
    ++right;
  }
  return true;
}

}  // namespace

bool Json::Equals(const Json& other) const {
  if (is_number() && other.is_number()) return CompareNumbers(*this, other) == 0;
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kBoolean: return held_.boolean == other.held_.boolean;
    case Kind::kString: return *held_.text == *other.held_.text;
    case Kind::kArray: return size() == other.size() && EqualLists(*this, other);
    case Kind::kObject: return size() == other.size() && EqualObjects(*this, other);
    default: return true;
  }
}

bool Json::EqualsText(std::string_view text) const {
  return is_string() && *held_.text == text;
}

std::partial_ordering Json::Compare(const Json& other) const {
  if (is_number() && other.is_number()) return CompareNumbers(*this, other);
  if (kind_ != other.kind_) return RankOf(kind_) <=> RankOf(other.kind_);
  switch (kind_) {
    case Kind::kBoolean: return held_.boolean <=> other.held_.boolean;
    case Kind::kString: return *held_.text <=> *other.held_.text;
    case Kind::kArray: return CompareLists(*this, other);
    case Kind::kObject: return CompareObjects(*this, other);
    default: return std::partial_ordering::equivalent;
  }
}

bool EqualInAnyOrder(const Json& a, const Json& b) {
  if (a.kind() != b.kind()) return a == b;
  if (a.size() != b.size()) return false;
  if (a.is_array()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!EqualInAnyOrder(a[i], b[i])) return false;
    }
    return true;
  }
  if (!a.is_object()) return a == b;
  for (const auto& [name, value] : a.items()) {
    const Json* other = FindMember(b, name);
    if (other == nullptr || !EqualInAnyOrder(value, *other)) return false;
  }
  return true;
}

}  // namespace jarvis
