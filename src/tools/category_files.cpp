#include "tools/category_files.h"

#include <filesystem>

#include "analysis/arg_text.h"
#include "analysis/callers.h"
#include "engine/report.h"
#include "output/csv_writer.h"
#include "output/number_format.h"
#include "tools/platform_choice.h"
#include "tools/tools.h"

namespace jarvis::tools {
namespace {

using engine::Category;
using engine::CategoryData;
using engine::CategoryRow;
using engine::LoadedTrace;
using trace::EventIndex;
using trace::kNoEvent;

constexpr const char* kManifest = "category_data/category_manifest.json";
constexpr int kSubtreeDepth = 8;
constexpr std::size_t kSubtreeNodes = 60;

Json Number(double value) {
  return output::Rounded(value);
}
Json NumberOrNull(std::optional<double> value) {
  return value ? Number(*value) : Json(nullptr);
}
Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json RatesOf(const perf::Ceilings& rates) {
  Json out = Json::object();
  for (const auto& [spec, rate] : rates)
    out[spec] = Number(rate.tflops);
  return out;
}

class Writer {
 public:
  Writer(const LoadedTrace& trace, const CategoryData& data, io::OutputFolder& folder,
         std::size_t rows_max)
      : trace_(trace),
        data_(data),
        folder_(folder),
        rows_max_(rows_max),
        input_(trace.Input()),
        chains_(trace.events(), trace.tree()) {
    std::filesystem::path relative =
        std::filesystem::path(trace.path()).lexically_relative(folder.path() + "/category_data");
    if (auto choice = ChoosePlatform({}, "", &trace)) platform_ = std::move(choice->platform);
    trace_path_ = relative.empty() ? trace.path() : relative.string();
  }

  Status WriteCategory(const Category& category) {
    Table ops = data_.table;
    ops.name = category.key + "_ops";
    ops.columns.insert(ops.columns.end(), {"enhanced_category", "display_name"});
    ops.rows.clear();
    for (const CategoryRow& row : category.rows) {
      ops.rows.push_back(data_.table.rows[row.row]);
      ops.rows.back().insert(ops.rows.back().end(), {category.key, category.display_name});
    }
    JV_ASSIGN(std::string csv,
              folder_.Write("category_data/" + ops.name + ".csv", output::ToCsv(ops)));
    files_.push_back({std::move(csv), category.key + " operations", ops.rows.size()});
    JV_TRY(WriteJson("category_data/" + category.key + "_tree_data.json", TreeData(category),
                     category.key + " parent chains and subtrees",
                     std::min(rows_max_, category.rows.size())));
    JV_TRY(WriteJson("metadata/" + category.key + "_metadata.json", MetadataOf(category),
                     category.key + " metadata", 1));
    entries_.push_back(ManifestEntry(category));
    return {};
  }

  Status WriteManifest() {
    Json manifest = Head();
    manifest["comparison_scope"] = "standalone";
    manifest["categories"] = entries_;
    manifest["time_metric_note"] =
        "Rank by gpu_kernel_time_ms. cpu_duration_ms is host time; it includes launching and "
        "waiting.";
    const analysis::Coverage& coverage = trace_.coverage();
    manifest["time_accounting"] = {
        {"linked_kernel_ms", Number(coverage.linked.time_us / 1000)},
        {"unlinked_kernel_ms", Number(coverage.unlinked.time_us / 1000)},
        {"unlinked_kernel_count", coverage.unlinked.count},
        {"category_sum_ms", Number(CategorySum() / 1000)},
        {"kernel_union_ms",
         trace_.timeline() ? Number(trace_.timeline()->busy / 1000) : Json(nullptr)}};
    for (const FileLink& file : files_) {
      std::error_code ignored;
      manifest["files"].push_back(
          {{"path", std::filesystem::path(file.path).lexically_relative(folder_.path()).string()},
           {"role", file.what},
           {"bytes", std::filesystem::file_size(file.path, ignored)}});
    }
    return WriteJson(kManifest, manifest, "manifest", entries_.size());
  }

  std::vector<FileLink> TakeFiles() { return std::move(files_); }

 private:
  // What every file of an analysis starts with.
  Json Head() const {
    Json head = Json::object();
    head["schema_version"] = 1;
    head["tool_version"] = JARVIS_VERSION;
    head["trace_id"] = trace_.id();
    head["trace_path"] = trace_path_;  // relative to category_data/
    const auto& devices = trace_.trace().metadata.devices;
    head["platform"] = devices.empty() ? Json(nullptr) : TextOrNull(devices[0].name);
    head["gpu_utilization"] = Utilization();
    return head;
  }

  Json Utilization() const {
    const auto& t = trace_.timeline();
    if (!t) return nullptr;
    const auto percent = [&](double us) { return NumberOrNull(Percent(us, t->total)); };
    return {{"total_time_ms", Number(t->total / 1000)},
            {"computation_time_percent", percent(t->computation)},
            {"exposed_comm_time_percent", percent(t->exposed_comm)},
            {"exposed_memcpy_time_percent", percent(t->exposed_memcpy)},
            {"idle_time_percent", percent(t->idle)}};
  }

  double CategorySum() const {
    double sum = 0;
    for (const Category& category : data_.categories)
      sum += category.gpu_us;
    return sum;
  }

  static Json TimeBreakdown(const Category& category) {
    return {{"gpu_kernel_time_ms", Number(category.gpu_us / 1000)},
            {"cpu_duration_ms", Number(category.host_us / 1000)},
            {"sync_time_ms", Number(category.sync_us / 1000)},
            {"sync_ops_count", category.sync_rows},
            {"has_sync_bottleneck", category.has_sync_bottleneck()}};
  }

  Json MetadataOf(const Category& category) const {
    Json metadata = Head();
    metadata["category"] = category.display_name;
    metadata["category_name"] = category.key;
    // Absent, not 0, when the trace's device is not known.
    metadata["peak_hbm_bw_tbs"] = platform_ && platform_->mem_bw_gbps
                                      ? Number(*platform_->mem_bw_gbps / 1000)
                                      : Json(nullptr);
    metadata["memory_gb"] = platform_ ? NumberOrNull(platform_->memory_gb) : Json(nullptr);
    metadata["max_achievable_tflops"] = platform_ ? RatesOf(platform_->maf_tflops) : Json(nullptr);
    metadata["peak_tflops_dense"] = platform_ ? RatesOf(platform_->peak_tflops) : Json(nullptr);
    metadata["trace_loading_policy"] =
        "Do not open the trace; ask the server's tools or read the files beside this one.";
    Json breakdown = TimeBreakdown(category);
    breakdown["note"] = "Host time far above GPU time hints at waiting; it is no proof.";
    metadata["time_breakdown"] = std::move(breakdown);
    return metadata;
  }

  Json ManifestEntry(const Category& category) const {
    Json entry = {{"name", category.key},
                  {"display_name", category.display_name},
                  {"tier", "compute_kernel"},
                  {"ops_count", category.rows.size()},
                  {"csv_file", "category_data/" + category.key + "_ops.csv"},
                  {"metadata_file", "metadata/" + category.key + "_metadata.json"},
                  {"tree_data_file", "category_data/" + category.key + "_tree_data.json"}};
    entry.update(TimeBreakdown(category));
    return entry;
  }

  Json TreeData(const Category& category) {
    Json tree = Json::object();
    for (std::size_t i = 0; i < category.rows.size() && i < rows_max_; ++i) {
      const CategoryRow& row = category.rows[i];
      const std::vector<Cell>& cells = data_.table.rows[row.row];
      const auto& unique = data_.unique[row.row];
      const analysis::Launcher& first = trace_.attribution().launchers[unique.launchers[0]];
      const EventIndex example =
          row.example == kNoEvent ? trace_.attribution().kernels[first.first] : row.example;
      const std::uint32_t uid = trace_.events()[example].uid;
      Json node = Json::object();
      node["name"] = std::get<std::string>(cells[0]);
      node["op_name"] = node["name"];
      node["ex_uid"] = uid;
      node["time_ms"] = Number(row.gpu_us / 1000);
      node["count"] = row.count;
      node["percent_of_category"] = NumberOrNull(Percent(row.gpu_us, category.gpu_us));
      node["input_dims"] = CellText(cells[5]);
      node["input_type"] = CellText(cells[6]);
      node["parent_chain"] = ParentChainOf(row.example);
      node["callers"] = CallersOf(row.row);
      node["subtree"] = row.example == kNoEvent ? Json(nullptr) : SubtreeOf(row.example);
      tree[std::to_string(uid)] = std::move(node);
    }
    return tree;
  }

  static Json CellText(const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    return text == nullptr ? Json(nullptr) : Json(*text);
  }

  // From the op outward to the root.
  Json ParentChainOf(EventIndex example) const {
    Json chain = Json::array();
    for (EventIndex up = example; up != kNoEvent; up = trace_.tree().parent(up)) {
      const std::string_view name = trace_.events().name(up);
      chain.push_back({{"uid", trace_.events()[up].uid},
                       {"name", name},
                       {"kind", analysis::KindText(trace_.events()[up].kind, name)}});
    }
    return chain;
  }

  Json CallersOf(std::size_t unique_row) {
    analysis::SummaryRow row;
    for (const std::size_t i : data_.unique[unique_row].launchers) {
      row.launchers.push_back(static_cast<std::uint32_t>(i));
    }
    Json callers = Json::array();
    int number = 0;
    for (const analysis::Caller& caller :
         analysis::FindCallers(input_, row, analysis::GroupBy::kOp, &chains_)) {
      const std::vector<std::string> code = analysis::CodePlaces(caller.frames, 8);
      callers.push_back({{"chain_id", "c" + std::to_string(++number)},
                         {"module_path", TextOrNull(analysis::ModulePath(caller.frames))},
                         {"entry_point", code.empty() ? Json(nullptr) : Json(code.front())},
                         {"code", code},
                         {"count", caller.count},
                         {"time_ms", Number(caller.gpu_us / 1000)}});
      if (number == 20) break;
    }
    return callers;
  }

  Json SubtreeOf(EventIndex root) const {
    const auto nodes = analysis::PrintableSubtree(input_, root, kSubtreeDepth, kSubtreeNodes);
    // Depth first to nested: the open nodes are a stack.
    std::vector<Json> open;
    const auto close = [&](std::size_t depth) {
      while (open.size() > depth + 1) {
        Json done = std::move(open.back());
        open.pop_back();
        open.back()["children"].push_back(std::move(done));
      }
    };
    for (const analysis::SubtreeNode& node : nodes) {
      if (node.depth > 0) close(static_cast<std::size_t>(node.depth - 1));
      Json json = Json::object();
      if (node.kind == "more") {
        json["truncated"] = true;
      } else {
        json["uid"] = node.uid;
      }
      json["name"] = node.name;
      json["kind"] = node.kind;
      json["dur_us"] = node.host_us > 0 ? Number(node.host_us) : Json(nullptr);
      json["gpu_time_us"] = Number(node.gpu_us);
      json["children"] = Json::array();
      open.push_back(std::move(json));
    }
    close(0);
    return open.empty() ? Json(nullptr) : std::move(open.front());
  }

  Status WriteJson(const std::string& name, const Json& json, const std::string& what,
                   std::uint64_t rows) {
    JV_ASSIGN(std::string path,
              folder_.Write(name, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
    files_.push_back({std::move(path), what, rows});
    return {};
  }

  const LoadedTrace& trace_;
  const CategoryData& data_;
  io::OutputFolder& folder_;
  std::size_t rows_max_;
  analysis::SummaryInput input_;
  analysis::ChainTree chains_;
  std::string trace_path_;
  std::optional<perf::Platform> platform_;  // by the trace's device
  std::vector<FileLink> files_;
  Json entries_ = Json::array();
};

}  // namespace

Result<std::vector<FileLink>> WriteCategoryFiles(const LoadedTrace& trace, const CategoryData& data,
                                                 const std::vector<std::size_t>& chosen,
                                                 io::OutputFolder& folder, std::size_t rows_max,
                                                 bool overwrite, Job& job) {
  std::vector<std::string> names = {kManifest};
  for (const std::size_t i : chosen) {
    const std::string& key = data.categories[i].key;
    names.insert(names.end(),
                 {"category_data/" + key + "_ops.csv", "category_data/" + key + "_tree_data.json",
                  "metadata/" + key + "_metadata.json"});
  }
  JV_TRY(folder.Claim(names, overwrite));
  Writer writer(trace, data, folder, rows_max);
  for (const std::size_t i : chosen) {
    JV_TRY(job.Check());
    JV_TRY(writer.WriteCategory(data.categories[i]));
  }
  JV_TRY(writer.WriteManifest());
  JV_TRY(folder.Commit());
  return writer.TakeFiles();
}

}  // namespace jarvis::tools
