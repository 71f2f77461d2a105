#include "formats/digest_values.h"

#include <cmath>

#include <fmt/format.h>

namespace jarvis::formats {

DigestPlace DigestPlace::At(std::size_t column) const {
  DigestPlace inner = *this;
  inner.column_ = column;
  return inner;
}

std::string DigestPlace::Text() const {
  std::string text(name_);
  for (const auto& at : {row_, column_}) {
    if (at) text += fmt::format("[{}]", *at);
  }
  return text;
}

tl::unexpected<Error> WrongDigest(const DigestPlace& where, std::string_view what) {
  return Fail(ErrorCode::kBadValue, fmt::format("no usable digest: {} {}", where.Text(), what),
              "make it again with jarvis digest");
}

Result<std::int64_t> DigestWhole(const Json* value, const DigestPlace& where, std::int64_t least,
                                 std::int64_t most) {
  if (value == nullptr || !value->is_number_integer() ||
      (value->is_number_unsigned() &&
       value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)))
    return WrongDigest(where, "is no whole number");
  const auto number = value->get<std::int64_t>();
  if (number < least || number > most)
    return WrongDigest(where, fmt::format("is not between {} and {}", least, most));
  return number;
}

Result<std::optional<std::int64_t>> DigestMaybeWhole(const Json* value, const DigestPlace& where,
                                                     std::int64_t least, std::int64_t most) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  JV_ASSIGN(const std::int64_t number, DigestWhole(value, where, least, most));
  return number;
}

Result<double> DigestNumber(const Json* value, const DigestPlace& where) {
  if (value == nullptr || !value->is_number()) return WrongDigest(where, "is no number");
  const auto number = value->get<double>();
  if (!std::isfinite(number) || std::abs(number) > static_cast<double>(kDigestTimeMax))
    return WrongDigest(where, "is out of range");
  return number;
}

Result<std::string> DigestString(const Json* value, const DigestPlace& where) {
  if (value == nullptr || !value->is_string()) return WrongDigest(where, "is no text");
  return value->get<std::string>();
}

}  // namespace jarvis::formats
