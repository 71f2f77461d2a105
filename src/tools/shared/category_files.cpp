#include "tools/shared/category_files.h"

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <span>

#include "base/parallel.h"
#include "formats/analysis_json.h"
#include "formats/json_parts.h"
#include "formats/ledger_json.h"
#include "formats/system_json.h"
#include "formats/tree_data.h"
#include "ledger/books/ledger_rows.h"
#include "output/csv_writer.h"
#include "output/number_format.h"
#include "session/category_names.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {
namespace {

using findings::Analysis;
using findings::CategoryAnalysis;
using session::LoadedTrace;

constexpr const char* kManifest = "category_data/category_manifest.json";

Json RatesOf(const perf::Ceilings& rates) {
  Json out = Json::object();
  for (const auto& [spec, rate] : rates)
    out[spec] = formats::Number(rate.tflops);
  return out;
}

Table IdleTable(const findings::IdleAnalysis& idle) {
  Table table{
      "cpu_idle_ops",
      {"start_us", "dur_us", "class", "drained", "prev_op", "prev_kernel", "next_op", "next_kernel",
       "module_path", "dominant", "dominant_us", "thread", "step", "saved_us"},
      {}};
  const auto text = [](const std::string& value) { return value.empty() ? Cell() : Cell(value); };
  for (const findings::Gap& gap : idle.gaps) {
    table.rows.push_back({gap.start_us, gap.dur_us, std::string(findings::GapText(gap.kind)),
                          gap.drained, text(gap.previous_op), gap.previous_kernel,
                          text(gap.next_op), gap.next_kernel, text(gap.module_path),
                          text(gap.dominant), gap.dominant_us, text(gap.thread),
                          gap.step < 0 ? Cell() : Cell(gap.step), gap.saved_us});
  }
  return table;
}

Table CondensedOps(const Analysis& analysis) {
  Table table{"condensed_op_info", {"name", "Input type", "Input Dims"}, {}};
  for (const CategoryAnalysis& category : analysis.categories) {
    for (const findings::Operation& o : category.operations) {
      table.rows.push_back({o.name, o.types.empty() ? Cell() : Cell(o.types),
                            o.dims.empty() ? Cell() : Cell(o.dims)});
    }
  }
  return table;
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  return text;
}

class Writer {
 public:
  Writer(const LoadedTrace& trace, const Analysis& analysis, const CategoryFilesOptions& options,
         std::map<std::string, Table> ops, io::OutputFolder& folder)
      : trace_(trace),
        in_(analysis),
        options_(options),
        folder_(folder),
        tree_data_(trace.WithCapture(), options.rows_max),
        ops_(std::move(ops)) {
    std::filesystem::path relative =
        std::filesystem::path(trace.path()).lexically_relative(folder.path() + "/category_data");
    trace_path_ = relative.empty() ? trace.path() : relative.string();
  }

  Result<std::vector<FileLink>> Run(Job& job) {
    Queue();
    std::vector<std::string> names;
    for (const File& file : files_)
      names.push_back(file.name);
    JV_TRY(folder_.Claim(names, options_.overwrite));
    // The manifest, which is the last, says of all others what was written.
    JV_TRY(WriteAll(std::span(files_).first(files_.size() - 1), job));
    JV_TRY(WriteAll(std::span(files_).last(1), job));
    JV_TRY(folder_.Commit());
    return std::move(written_);
  }

 private:
  struct Content {
    std::function<void(const io::AddText&)> write;  // once
    std::uint64_t rows = 1;
  };
  struct File {
    std::string name;
    std::string role;
    std::function<Content()> make;
  };

  Status WriteAll(std::span<const File> files, Job& job) {
    // A file of a large category takes tens of megabytes while it is made.
    constexpr int kAtATime = 4;
    std::vector<Result<FileLink>> links(files.size());
    ParallelFor(files.size(), kAtATime, [&](std::size_t i) { links[i] = Write(files[i], job); });
    for (Result<FileLink>& link : links) {
      JV_ASSIGN(FileLink written, std::move(link));
      written_.push_back(std::move(written));
    }
    return {};
  }

  Result<FileLink> Write(const File& file, Job& job) {
    JV_TRY(job.Check());
    const Content content = file.make();
    JV_ASSIGN(std::string path, folder_.Write(file.name, content.write));
    return FileLink{std::move(path), file.role, content.rows};
  }

  static Content Text(std::string text, std::uint64_t rows) {
    return {[text = std::move(text)](const io::AddText& add) { add(text); }, rows};
  }
  static Content Text(const Json& json, std::uint64_t rows = 1) {
    return Text(json.dump(1, ' ', Json::BadUtf8::kReplace) + "\n", rows);
  }
  static Content Csv(Table table) {
    const std::uint64_t rows = table.rows.size();
    return {[table = std::move(table)](const io::AddText& add) {
              output::WriteCsv(table, output::CsvFormulas::kQuoted, add);
            },
            rows};
  }

  void Add(std::string name, std::string role, std::function<Content()> make) {
    files_.push_back({std::move(name), std::move(role), std::move(make)});
  }

  void Queue() {
    for (const std::size_t i : options_.chosen)
      QueueCategory(in_.categories[i]);
    const std::string data = "category_data/";
    Add(data + "cpu_idle_ops.csv", "idle gaps, the longest",
        [this] { return Csv(IdleTable(in_.idle)); });
    Add(data + "cpu_idle_metrics.json", "idle findings",
        [this] { return Text(formats::IdleMetricsJson(in_)); });
    Add(data + "idle_gaps.json", "idle time by cause, module and step",
        [this] { return Text(formats::IdleGapsJson(in_.idle), in_.idle.gaps.size()); });
    if (in_.cpu) {
      Add(data + "cpu_steps.json", "where the time of the CPU goes",
          [this] { return Text(formats::CpuStepsJson(in_), in_.cpu->operations.size()); });
    }
    Add(data + "multi_kernel_data.json", "communication and copies", [this] {
      return Text(formats::MultiKernelDataJson(in_.multi_kernel),
                  in_.multi_kernel.copy_sites.size());
    });
    Add(data + "multi_kernel_metrics.json", "communication and copy findings",
        [this] { return Text(formats::MultiKernelMetricsJson(in_)); });
    Add(data + "fusion_candidates.json", "fusion candidates", [this] {
      return Text(formats::FusionCandidatesJson(in_.fusion), in_.fusion.candidates.size());
    });
    Add(data + "kernel_fusion_metrics.json", "fusion findings",
        [this] { return Text(formats::FusionMetricsJson(in_)); });
    Add("metadata/cpu_idle_metadata.json", "idle metadata", [this] { return System("cpu_idle"); });
    Add("metadata/multi_kernel_metadata.json", "communication metadata",
        [this] { return System("multi_kernel"); });
    Add("metadata/model_info.json", "the workload",
        [this] { return Text(formats::WorkloadJson(in_.workload)); });
    Add("metadata/condensed_op_info.csv", "ops with shapes",
        [this] { return Csv(CondensedOps(in_)); });
    Add("metadata/nn_modules.txt", "module classes", [this] {
      return Text(Lines(in_.workload.module_classes), in_.workload.module_classes.size());
    });
    Add("metadata/trace_quality.json", "what limits statements about this trace",
        [this] { return Text(formats::QualityJson(in_), in_.quality.size()); });
    Add("ledger.csv", "the books: wall, GPU and host over the base of time", [this] {
      const analysis::BaseOfTime& base = in_.frames->frames.base;
      return Csv(ledger::LedgerTable(
          ledger::LedgerRows(trace_.events(), base, in_.frames->books, in_.line_bounds),
          base.count));
    });
    Add("ledger_base.json", "the base of time that figures are of",
        [this] { return Text(formats::LedgerBaseJson(*in_.frames)); });
    Add("priority_data.json", "ranking",
        [this] { return Text(formats::PriorityJson(in_), in_.findings.size()); });
    Add("kernel_candidates.json", "kernels by what they could save", [this] {
      const Json candidates = formats::KernelCandidatesJson(in_);
      return Text(candidates, candidates.size());
    });
    Add(kManifest, "manifest", [this] { return Text(Manifest(), options_.chosen.size()); });
  }

  void QueueCategory(const CategoryAnalysis& category) {
    const std::string base = "category_data/" + category.key;
    Add(base + "_ops.csv", category.key + " operations", [this, &category] {
      // Nobody else asks for it, and it is large: it goes with its file.
      const auto table = ops_.find(category.key);
      return Csv(table == ops_.end() ? Table() : std::move(table->second));
    });
    Add(base + "_metrics.json", category.key + " metrics and findings", [&category] {
      return Text(formats::CategoryMetricsJson(category), category.operations.size());
    });
    Add(base + "_tree_data.json", category.key + " parent chains and subtrees", [this, &category] {
      std::unique_lock lock(tree_data_mutex_);
      const Json tree = tree_data_.Of(category);
      const std::size_t rows = tree_data_.rows();
      lock.unlock();
      return Text(tree, rows);
    });
    Add("metadata/" + category.key + "_metadata.json", category.key + " metadata",
        [this, &category] { return Text(MetadataOf(category)); });
  }

  // What every file of an analysis starts with.
  Json Head() const {
    Json head = {{"schema_version", 1},
                 {"tool_version", JARVIS_VERSION},
                 {"trace_id", trace_.id()},
                 {"trace_path", trace_path_},  // relative to category_data/
                 {"platform", formats::TextOrNull(in_.platform)},
                 {"device", formats::TextOrNull(in_.device)}};
    const findings::Totals& t = in_.totals;
    if (!t.has_gpu_work) {
      head["gpu_utilization"] = nullptr;
      return head;
    }
    head["gpu_utilization"] = {
        {"total_time_ms", formats::Number(t.window_ms)},
        {"computation_time_percent", formats::Number(t.Percent(t.computation_ms))},
        {"exposed_comm_time_percent", formats::Number(t.Percent(t.exposed_comm_ms))},
        {"exposed_memcpy_time_percent", formats::Number(t.Percent(t.exposed_copy_ms))},
        {"idle_time_percent", formats::Number(t.Percent(t.idle_ms))}};
    return head;
  }

  Json Hardware(Json head) const {
    // Absent, not 0, when the platform is not known.
    const perf::Platform* p = options_.platform;
    head["peak_hbm_bw_tbs"] = formats::Number(in_.peak_tb_per_s);
    head["memory_gb"] = p == nullptr ? Json(nullptr) : formats::Number(p->memory_gb);
    head["max_achievable_tflops"] = p == nullptr ? Json(nullptr) : RatesOf(p->maf_tflops);
    head["peak_tflops_dense"] = p == nullptr ? Json(nullptr) : RatesOf(p->peak_tflops);
    head["trace_loading_policy"] =
        "Do not open the trace; ask the server's tools or read the files beside this one.";
    return head;
  }

  Content System(const char* name) const {
    Json metadata = Hardware(Head());
    metadata["category"] = name;
    metadata["category_name"] = name;
    metadata["tier"] = "system";
    return Text(metadata);
  }

  static Json TimeBreakdown(const CategoryAnalysis& category) {
    // The host waited in synchronising calls below the ops: seen, not guessed from durations.
    const double sync_ms = category.sync_us / 1000;
    return {{"gpu_kernel_time_ms", formats::Number(category.gpu_us / 1000)},
            {"cpu_duration_ms", formats::Number(category.host_us / 1000)},
            {"sync_time_ms", formats::Number(sync_ms)},
            {"sync_ops_count", category.sync_calls},
            {"has_sync_bottleneck", category.sync_us > 0.1 * category.gpu_us && sync_ms > 1}};
  }

  Json MetadataOf(const CategoryAnalysis& category) const {
    Json metadata = Hardware(Head());
    metadata["category"] = category.display_name;
    metadata["category_name"] = category.key;
    Json breakdown = TimeBreakdown(category);
    breakdown["note"] = "sync_time is spent in synchronising runtime calls below the ops.";
    metadata["time_breakdown"] = std::move(breakdown);
    return metadata;
  }

  static Json SystemEntry(const char* name, const char* display, std::size_t count,
                          const char* data) {
    const std::string base = std::string("category_data/") + name;
    return {{"name", name},
            {"display_name", display},
            {"tier", "system"},
            {"ops_count", count},
            {"metrics_file", base + "_metrics.json"},
            {"data_file", data}};
  }

  Json CategoryEntries() const {
    Json entries = Json::array();
    entries.push_back(SystemEntry("cpu_idle", "CPU/Idle Analysis", in_.idle.gap_count,
                                  "category_data/idle_gaps.json"));
    entries.back()["priority"] = 0;
    entries.back()["csv_file"] = "category_data/cpu_idle_ops.csv";
    entries.back()["metadata_file"] = "metadata/cpu_idle_metadata.json";
    for (const std::size_t i : options_.chosen) {
      const CategoryAnalysis& category = in_.categories[i];
      const std::string base = "category_data/" + category.key;
      Json entry = {{"name", category.key},
                    {"display_name", category.display_name},
                    {"skill", std::string(findings::KindText(category.kind)) + "-analysis"},
                    {"tier", "compute_kernel"},
                    {"ops_count", category.operations.size()},
                    {"csv_file", base + "_ops.csv"},
                    {"metrics_file", base + "_metrics.json"},
                    {"metadata_file", "metadata/" + category.key + "_metadata.json"},
                    {"tree_data_file", base + "_tree_data.json"},
                    {"percent_of_computation", formats::Number(category.percent_of_computation)},
                    {"findings", category.findings.size()},
                    {"worth_work", category.worth_work}};
      entry.update(TimeBreakdown(category));
      entries.push_back(std::move(entry));
    }
    if (in_.multi_kernel.comm_count + in_.multi_kernel.copy_count > 0) {
      entries.push_back(SystemEntry("multi_kernel", "Multi-Kernel Analysis",
                                    in_.multi_kernel.comm_count + in_.multi_kernel.copy_count,
                                    "category_data/multi_kernel_data.json"));
      entries.back()["metadata_file"] = "metadata/multi_kernel_metadata.json";
    }
    if (!in_.fusion.candidates.empty()) {
      entries.push_back(SystemEntry("kernel_fusion", "Kernel Fusion", in_.fusion.candidates.size(),
                                    "category_data/fusion_candidates.json"));
    }
    return entries;
  }

  Json Manifest() const {
    Json manifest = Head();
    manifest["comparison_scope"] = "standalone";
    manifest["categories"] = CategoryEntries();
    manifest["time_metric_note"] =
        "Rank by gpu_kernel_time_ms. cpu_duration_ms is host time; it includes launching and "
        "waiting.";
    manifest["time_accounting"] = {
        {"linked_kernel_ms", formats::Number(trace_.coverage().linked.time_us / 1000)},
        {"unlinked_kernel_ms", formats::Number(in_.totals.unlinked_ms)},
        {"unlinked_kernel_count", in_.totals.unlinked_count},
        {"category_sum_ms", formats::Number(in_.totals.category_sum_ms)},
        {"kernel_union_ms",
         in_.totals.has_gpu_work ? formats::Number(in_.totals.busy_ms) : Json(nullptr)}};
    manifest["unmodeled_ms"] = formats::Number(in_.totals.unmodeled_ms);
    manifest["trace_quality"] = formats::QualityJson(in_);
    manifest["files"] = Json::array();
    for (const FileLink& file : written_) {
      std::error_code ignored;
      manifest["files"].push_back(
          {{"path", std::filesystem::path(file.path).lexically_relative(folder_.path()).string()},
           {"role", file.what},
           {"bytes", std::filesystem::file_size(file.path, ignored)},
           {"canonical", true}});
    }
    return manifest;
  }

  const LoadedTrace& trace_;
  const Analysis& in_;
  const CategoryFilesOptions& options_;
  io::OutputFolder& folder_;
  std::mutex tree_data_mutex_;  // guards the next, which remembers chains of callers
  formats::TreeData tree_data_;
  std::map<std::string, Table> ops_;
  std::string trace_path_;
  std::vector<File> files_;
  std::vector<FileLink> written_;
};

}  // namespace

Result<std::vector<FileLink>> WriteCategoryFiles(const LoadedTrace& trace, const Analysis& analysis,
                                                 const CategoryFilesOptions& options,
                                                 std::map<std::string, Table> ops,
                                                 io::OutputFolder& folder, Job& job) {
  return Writer(trace, analysis, options, std::move(ops), folder).Run(job);
}

}  // namespace jarvis::tools
