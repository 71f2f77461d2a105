// The table of patterns that say what part of a model a piece of GPU work is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace jarvis::analysis {

// What a pattern is looked for in.
enum class RoleLevel : std::uint8_t { kKernel, kOp, kModule };

struct RoleRule {
  std::string_view role;
  RoleLevel level;
  std::string_view pattern;  // in lower case; part of a name
  // Only work that multiplies matrices, as the rules of kProductRole say.
  bool products_only = false;
  std::string_view within = {};  // and a module with this in its name is around it; empty: any
};

inline constexpr std::string_view kProductRole = "other matrix products";
inline constexpr std::string_view kOtherRole = "other";

// In order: the first that fits decides.
std::span<const RoleRule> RoleRules();

// A product that no name places is told by the work before and after it on its stream.
struct RoleNeighbour {
  std::string_view role;
  bool after;                  // the neighbour comes after the product
  std::string_view neighbour;  // its role
};
std::span<const RoleNeighbour> RoleNeighbours();

}  // namespace jarvis::analysis
