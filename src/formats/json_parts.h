// Pieces that the files of an analysis share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/analysis.h"
#include "json/json.h"

namespace jarvis::formats {

Json Number(double value);
Json Number(const std::optional<double>& value);  // null: absent
Json TextOrNull(std::string_view text);           // null: empty
Json TextList(const std::vector<std::string>& texts);
Json Beginning(const std::vector<std::string>& texts);  // the first findings::kListedMost of them

// The three numbers of an estimate, under the names that all files use.
void AddImpact(const std::optional<findings::Range>& impact, Json* out);
// What metrics of every category start with.
Json MetricsHead(std::string_view category, bool data);
// The findings of a category that is none of ops, by rank.
Json FindingsOf(const findings::Analysis& analysis, std::string_view category);

}  // namespace jarvis::formats
