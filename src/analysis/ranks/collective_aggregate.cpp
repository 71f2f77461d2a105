#include "analysis/ranks/collective_aggregate.h"

#include <fmt/format.h>

#include "analysis/tables/table_parts.h"

namespace jarvis::analysis {
namespace {

struct Aggregation {
  std::string_view name;
  double Moments::*which;  // null: the standard deviation, which may be absent
};
constexpr Aggregation kAggregations[] = {
    {"mean", &Moments::mean}, {"median", &Moments::median}, {"std", nullptr},
    {"min", &Moments::min},   {"max", &Moments::max},       {"sum", &Moments::sum},
};

const Aggregation* Find(std::string_view name) {
  for (const Aggregation& one : kAggregations) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

Status CheckAggregations(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (Find(name) == nullptr) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("no aggregation \"{}\"; there are mean, median, std, min, max, sum",
                              name.substr(0, 40)));
    }
  }
  return {};
}

void AddAggregateColumns(const std::string& metric, const std::vector<std::string>& names,
                         std::vector<std::string>* columns) {
  for (const std::string& name : names)
    columns->push_back(fmt::format("{}_{}", metric, name));
}

void AddAggregates(const std::vector<std::optional<double>>& values,
                   const std::vector<std::string>& names, std::vector<Cell>* row) {
  const auto moments = MomentsOf(values);
  for (const std::string& name : names) {
    const Aggregation* one = Find(name);
    row->push_back(one->which == nullptr ? StdCell(moments) : MomentCell(moments, one->which));
  }
}

}  // namespace jarvis::analysis
