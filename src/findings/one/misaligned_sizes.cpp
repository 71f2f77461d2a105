#include "findings/one/misaligned_sizes.h"

#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

namespace jarvis::findings {

bool IsMisaligned(double size, double unit) {
  return size > unit && std::fmod(size, unit) != 0;
}

PaddedSizes MisalignedSizes(double m, double n, double k, double unit) {
  PaddedSizes out;
  const auto add = [&](double size) {
    const char* const comma = out.sizes.empty() ? "" : ", ";
    out.sizes += fmt::format("{}{:.0f}", comma, size);
    out.padded += fmt::format("{}{:.0f}", comma, std::ceil(size / unit) * unit);
  };
  if (IsMisaligned(n, unit)) add(n);
  if (IsMisaligned(k, unit) && k != n) add(k);
  if (out.sizes.empty() && IsMisaligned(m, unit)) add(m);
  return out;
}

}  // namespace jarvis::findings
