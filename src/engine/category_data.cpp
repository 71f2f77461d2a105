#include "engine/category_data.h"

#include <algorithm>
#include <map>

#include "engine/category_names.h"

namespace jarvis::engine {

CategoryData CollectCategories(const LoadedTrace& trace) {
  const analysis::TableRules rules;
  const analysis::TableInput input{trace.events(), trace.track_names(), trace.attribution(), rules};
  CategoryData data;
  data.unique = analysis::GroupUniqueArgs(input);
  data.table = analysis::OpsUniqueArgs(input, data.unique);
  std::map<std::string, Category> by_key;
  for (std::size_t r = 0; r < data.unique.size(); ++r) {
    const analysis::UniqueArgsRow& unique = data.unique[r];
    const analysis::Launcher& first = trace.attribution().launchers[unique.launchers[0]];
    Category& category = by_key[CategoryKey(first.category)];
    category.display_name = first.category;
    CategoryRow row{r, unique.direct_us, 0, unique.launchers.size(), first.op};
    for (const std::size_t i : unique.launchers) {
      const trace::EventIndex op = trace.attribution().launchers[i].op;
      if (op != trace::kNoEvent) row.host_us += trace::MicrosOf(trace.events()[op].dur_ns);
    }
    category.gpu_us += row.gpu_us;
    category.host_us += row.host_us;
    if (row.gpu_us > 0 && row.host_us > 5 * row.gpu_us) {
      category.sync_us += row.host_us - row.gpu_us;
      ++category.sync_rows;
    }
    category.rows.push_back(row);
  }
  for (auto& [key, category] : by_key) {
    category.key = key;
    data.categories.push_back(std::move(category));
  }
  std::stable_sort(data.categories.begin(), data.categories.end(),
                   [](const Category& a, const Category& b) { return a.gpu_us > b.gpu_us; });
  return data;
}

}  // namespace jarvis::engine
