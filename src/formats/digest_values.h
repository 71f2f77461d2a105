// Values of a digest, each checked before it is believed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace jarvis::formats {

// Times that sums cannot leave the type with: +-97 years.
inline constexpr std::int64_t kDigestTimeMax = 3'060'000'000'000'000'000;

// The way to a value: "kinds[3].recorded", "calls[12][2]". A digest has thousands of values, so it
// is put in words only where something is wrong. REQUIRES: the name outlives it.
class DigestPlace {
 public:
  DigestPlace(std::string_view name) : name_(name) {}
  DigestPlace(const std::string& name) : name_(name) {}
  DigestPlace(const char* name) : name_(name) {}
  DigestPlace(std::string_view name, std::size_t row) : name_(name), row_(row) {}

  DigestPlace At(std::size_t column) const;
  std::string Text() const;

 private:
  std::string_view name_;
  std::optional<std::size_t> row_;
  std::optional<std::size_t> column_;
};

// The error that says so.
tl::unexpected<Error> WrongDigest(const DigestPlace& where, std::string_view what);

// `value` may be null: there is none, which is wrong as well.
Result<std::int64_t> DigestWhole(const Json* value, const DigestPlace& where, std::int64_t least,
                                 std::int64_t most);
// Nothing where there is none.
Result<std::optional<std::int64_t>> DigestMaybeWhole(const Json* value, const DigestPlace& where,
                                                     std::int64_t least, std::int64_t most);
Result<double> DigestNumber(const Json* value, const DigestPlace& where);
Result<std::string> DigestString(const Json* value, const DigestPlace& where);

}  // namespace jarvis::formats
