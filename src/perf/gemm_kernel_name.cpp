#include "perf/gemm_kernel_name.h"

#include "base/text.h"

namespace jarvis::perf {
namespace {

bool Lower(char c) {
  return c >= 'a' && c <= 'z';
}

// Whether `text` has at `at` the letter `tag` and three lower-case letters.
bool Triplet(std::string_view text, std::size_t at, char tag) {
  return at + 4 <= text.size() && text[at] == tag && Lower(text[at + 1]) && Lower(text[at + 2]) &&
         Lower(text[at + 3]);
}

bool HasTriplet(std::string_view name, std::string_view before, char tag) {
  for (std::size_t at = 0; at + before.size() + 4 <= name.size(); ++at) {
    if (name.substr(at, before.size()) == before && Triplet(name, at + before.size(), tag)) {
      return true;
    }
  }
  return false;
}

// MT<m>x<n>x<depth>
void ReadTile(std::string_view name, GemmKernelName* out) {
  for (std::size_t at = name.find("MT"); at != std::string_view::npos;
       at = name.find("MT", at + 1)) {
    std::int64_t parts[3];
    std::size_t p = at + 2;
    int count = 0;
    for (; count < 3; ++count) {
      std::size_t end = p;
      while (end < name.size() && name[end] >= '0' && name[end] <= '9')
        ++end;
      if (end == p || end - p > 9) break;
      parts[count] = *ParseInt(name.substr(p, end - p));
      p = end;
      if (count < 2) {
        if (p >= name.size() || name[p] != 'x') break;
        ++p;
      }
    }
    if (count == 3) {
      out->tile_m = parts[0];
      out->tile_n = parts[1];
      out->depth = parts[2];
      return;
    }
  }
}

}  // namespace

std::optional<GemmKernelName> ParseGemmKernelName(std::string_view name) {
  const bool tensile =
      HasTriplet(name, "", 'C') && HasTriplet(name, "_", 'A') && HasTriplet(name, "_", 'B');
  if (tensile) {
    GemmKernelName out;
    const auto has = [&](std::string_view part) {
      return name.find(part) != std::string_view::npos;
    };
    if (has("_Ailk_")) {
      out.transpose_a = false;
    } else if (has("_Alik_")) {
      out.transpose_a = true;
    }
    if (has("_Bljk_")) {
      out.transpose_b = false;
    } else if (has("_Bjlk_")) {
      out.transpose_b = true;
    }
    ReadTile(name, &out);
    return out;
  }
  if (name.starts_with("nvjet")) {
    GemmKernelName out;
    const std::string_view last = name.substr(name.rfind('_') + 1);
    if (last.size() < 2) {
      out.malformed = true;
      return out;
    }
    out.transpose_a = last[0] == 'T';
    out.transpose_b = last[1] == 'T';
    return out;
  }
  return std::nullopt;
}

}  // namespace jarvis::perf
