// What part of a model a piece of GPU work is: attention, norm, router... By a table of patterns on
// names of kernels, ops and modules (role_rules.h), so that frameworks with other call stacks can
// be compared part by part.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/align/diff.h"
#include "table/table.h"
#include "trace/by_name.h"

namespace jarvis::analysis {

// The names around a GPU event: the ops and annotations that it is below, and the modules;
// innermost first.
struct RoleNames {
  std::string_view kernel;
  std::vector<std::string_view> ops;
  std::vector<std::string_view> modules;
};
std::string_view RoleOf(const RoleNames& names);

// Roles of a trace's GPU work by its names and by what stands beside it on its stream alone: for
// kernels whose ops are not known. `events` must outlive it.
class NamedRoles {
 public:
  explicit NamedRoles(const EventStore& events);
  // By start.
  std::vector<std::string_view> Of(std::span<const EventIndex> gpu);
  // By its name alone.
  std::string_view Of(EventIndex gpu) { return by_name_.Of(gpu); }

 private:
  const EventStore& events_;
  trace::ByName<std::string_view> by_name_;
};

// Columns and rows of the matrix that an op multiplies by, if they are known: they tell the two
// directions of an MLP apart.
using ProductShape = std::function<std::optional<std::pair<double, double>>(EventIndex op)>;

struct RoleTime {
  std::string_view role;
  double us = 0;           // sum of durations
  std::int64_t count = 0;  // GPU events
};
// All GPU work of a side, each event in one role; by the order of the rules.
std::vector<RoleTime> RolesOf(const DiffSide& side, Clock clock, const ProductShape& shape);

// Both sides' roles as a table, by the size of the difference.
Table DiffRoles(const TraceDiff& diff, const ProductShape& first, const ProductShape& second);

}  // namespace jarvis::analysis
