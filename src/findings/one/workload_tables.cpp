#include "findings/one/workload_tables.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.h"

namespace jarvis::findings {
namespace {

constexpr std::int64_t kTablesLeast = 4;          // tokens, places and types are three
constexpr std::int64_t kTableRowsLeast = 10'000;  // codebooks and tables of places have fewer
constexpr std::int64_t kColumnsMost = 256;  // of a table; words have more where there are many

// The samples of a lookup in a large and narrow table; absent: it is another op.
std::optional<std::int64_t> SamplesLookedUp(const ShapedOperation& one) {
  if (one.operation == nullptr || one.operation->name != "aten::embedding") return std::nullopt;
  if (one.shapes.size() < 2 || one.shapes[0].size() != 2 || one.shapes[1].empty())
    return std::nullopt;
  const Shape& table = one.shapes[0];
  const Shape& index = one.shapes[1];
  if (table[0] < kTableRowsLeast || table[1] > kColumnsMost || index[0] < 2) return std::nullopt;
  return index[0];
}

}  // namespace

std::optional<CategoryTables> FindCategoryTables(const WorkloadFacts& facts,
                                                 const WorkloadSizes& sizes) {
  std::map<std::int64_t, std::uint64_t> lookups;  // by samples
  for (const ShapedOperation& one : facts.operations) {
    if (const auto samples = SamplesLookedUp(one)) lookups[*samples] += one.operation->count;
  }
  CategoryTables out;
  for (const auto& [samples, count] : lookups) {
    // A dense layer runs at least once where the tables are looked up once, in every pass and in
    // every part of one.
    std::uint64_t passes = 0;
    std::size_t layers = 0;
    for (const GemmSizes& gemm : sizes.gemms) {
      if (gemm.m != samples) continue;
      ++layers;
      passes = passes == 0 ? gemm.calls : std::min(passes, gemm.calls);
    }
    if (layers < 2 || passes == 0) continue;
    const auto tables = static_cast<std::int64_t>(count / passes);
    if (tables >= kTablesLeast && tables > out.tables) out = {samples, tables};
  }
  if (out.tables == 0) return std::nullopt;
  return out;
}

}  // namespace jarvis::findings
