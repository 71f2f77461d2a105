// The first alternative of a variant that also holds texts: no value.
//
// It stands in for std::monostate. The standard library of GCC 12 takes a variant of trivial types
// and std::string for one that always has a value, and where copying the text of one throws it then
// destroys a value that was never made. A type that is not trivially copyable keeps it from that.
#pragma once

#include <compare>

namespace jarvis {

struct Absent {
  Absent() noexcept {}
  Absent(const Absent&) noexcept {}
  Absent& operator=(const Absent&) noexcept { return *this; }
  friend bool operator==(const Absent&, const Absent&) { return true; }
  friend std::strong_ordering operator<=>(const Absent&, const Absent&) {
    return std::strong_ordering::equal;
  }
};

}  // namespace jarvis
