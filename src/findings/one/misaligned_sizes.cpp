#include "findings/one/misaligned_sizes.h"

#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

namespace jarvis::findings {

PaddedSizes MisalignedSizes(double m, double n, double k, double unit) {
  const auto off = [&](double size) { return size > unit && std::fmod(size, unit) != 0; };
  PaddedSizes out;
  const auto add = [&](double size) {
    const char* const comma = out.sizes.empty() ? "" : ", ";
    out.sizes += fmt::format("{}{:.0f}", comma, size);
    out.padded += fmt::format("{}{:.0f}", comma, std::ceil(size / unit) * unit);
  };
  if (off(n)) add(n);
  if (off(k) && k != n) add(k);
  if (out.sizes.empty() && off(m)) add(m);
  return out;
}

}  // namespace jarvis::findings
