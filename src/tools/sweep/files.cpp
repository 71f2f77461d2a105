#include "tools/sweep/files.h"

#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "base/parallel.h"
#include "io/output_folder.h"
#include "output/csv_writer.h"
#include "output/png.h"
#include "output/xlsx_writer.h"
#include "sweep/judge/comms.h"
#include "sweep/judge/plot_data.h"
#include "tools/sweep/parts.h"

namespace jarvis::tools {
namespace {

struct StepName {
  std::string_view name;
  SweepStep step;
};
constexpr StepName kSteps[] = {{"report", SweepStep::kReport},
                               {"gemm_variance", SweepStep::kGemmVariance},
                               {"gpu_timeline", SweepStep::kGpuTimeline},
                               {"comms", SweepStep::kComms},
                               {"plots", SweepStep::kPlots}};

// One file that is going to be written.
struct Piece {
  std::string name;
  std::string what;
  std::uint64_t rows = 0;
  std::function<Result<std::string>()> content;
  bool listed = true;  // in the answer; reports, sheets and plots are too many
};

class Writer {
 public:
  Writer(const sweep::SweepFacts& facts, const SweepFileOptions& options)
      : facts_(facts), options_(options) {}

  Status Collect(Job& job) {
    if (Does(SweepStep::kReport)) JV_TRY(Reports(job));
    if (Does(SweepStep::kGemmVariance)) Variance();
    if (Does(SweepStep::kGpuTimeline)) Timeline();
    if (Does(SweepStep::kComms)) Comms();
    if (Does(SweepStep::kPlots)) Plots();
    for (const Table& table : options_.more)
      AddCsv("", table);
    for (const SweepFileOptions::TextFile& text : options_.texts) {
      pieces_.push_back({text.name, text.what, 0,
                         [&text]() -> Result<std::string> { return text.content; }, true});
    }
    if (!facts_.warnings.empty()) AddCsv("", WarningsTable("sweep_warnings", facts_.warnings));
    return {};
  }

  Status Write(io::OutputFolder& folder, Job& job, Answer* answer) {
    std::vector<std::string> names;
    for (const Piece& piece : pieces_)
      names.push_back(piece.name);
    JV_TRY(folder.Claim(names, options_.overwrite));
    std::vector<Result<std::string>> paths(pieces_.size());
    JV_TRY(ParallelJob(pieces_.size(), 0, "writing files", job, [&](std::size_t i, Job&) {
      Result<std::string> content = pieces_[i].content();
      if (!content) {
        paths[i] = tl::make_unexpected(std::move(content.error()));
      } else {
        paths[i] = folder.Write(pieces_[i].name, *content);
      }
    }));
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (!paths[i]) return tl::make_unexpected(std::move(paths[i].error()));
      if (pieces_[i].listed) answer->files.push_back({*paths[i], pieces_[i].what, pieces_[i].rows});
    }
    return folder.Commit();
  }

  const sweep::Reports* reports() const { return reports_ ? &*reports_ : nullptr; }

 private:
  bool Does(SweepStep step) const { return options_.steps.contains(step); }

  const Table* Keep(Table table) {
    kept_.push_back(std::make_unique<Table>(std::move(table)));
    return kept_.back().get();
  }

  void AddCsv(const std::string& folder, Table made, bool carriage_returns = false) {
    if (!options_.tables) return;
    const Table* table = Keep(std::move(made));
    pieces_.push_back({folder + table->name + ".csv", table->name, table->rows.size(),
                       [table, carriage_returns]() -> Result<std::string> {
                         std::string text =
                             output::ToCsv(*table, carriage_returns ? output::CsvFormulas::kAsIs
                                                                    : output::CsvFormulas::kQuoted);
                         if (!carriage_returns) return text;
                         std::string out;
                         for (const char c : text) {
                           if (c == '\n') out += '\r';
                           out += c;
                         }
                         return out;
                       },
                       folder.empty()});
  }

  void AddBook(const std::string& name, std::span<const Table> tables, bool listed) {
    if (!options_.workbooks) return;
    pieces_.push_back({name, "workbook", tables.size(),
                       [tables]() -> Result<std::string> {
                         std::string content;
                         JV_TRY(output::ToXlsx(tables, &content));
                         return content;
                       },
                       listed});
  }

  Status Reports(Job& job) {
    JV_ASSIGN(reports_, sweep::MakeReports(facts_, options_.comparisons, job));
    for (const sweep::Book& book : reports_->books)
      AddBook(book.name, book.tables, false);
    for (Table& table : reports_->stacked)
      AddCsv("tables/", std::move(table));
    return {};
  }

  void Variance() {
    bool first = true;
    for (Table& table : sweep::VarianceTables(facts_, options_.top_k)) {
      // The reference writes the first with another library than the rest.
      AddCsv("", std::move(table), first && facts_.reference_compat);
      first = false;
    }
    AddCsv("", sweep::GemmKernelStability(facts_));
    AddCsv("", sweep::GemmKernelRanks(facts_));
    AddCsv("", sweep::GemmKernelConfigs(facts_));
    AddCsv("", sweep::CollectiveGemmOverlap(facts_));
  }

  void Timeline() {
    timelines_.reserve(options_.aggregates.size());  // books refer to its elements
    for (const sweep::Aggregate aggregate : options_.aggregates) {
      const std::string name =
          fmt::format("gpu_timeline_all_configs_{}", sweep::AggregateName(aggregate));
      timelines_.push_back(sweep::TimelineTables(facts_, aggregate));
      AddBook(name + ".xlsx", timelines_.back(), true);
      for (const Table& table : timelines_.back()) {
        Table one = table;
        one.name = name + "__" + table.name;
        AddCsv("tables/", std::move(one));
      }
    }
  }

  void Comms() {
    master_ = {sweep::NcclMaster(facts_)};
    master_.front().name = "NCCL_Data";
    Table csv = master_.front();
    csv.name = "nccl_master_all_configs";
    if (!facts_.reference_compat) {
      master_.push_back(sweep::BestByOperation(facts_));
      master_.push_back(sweep::StragglerTable(facts_));
    }
    AddBook("nccl_master_all_configs.xlsx", master_, true);
    AddCsv("", std::move(csv));
    if (facts_.reference_compat) return;
    for (std::size_t i = 1; i < master_.size(); ++i)
      AddCsv("", master_[i]);
  }

  void Plots() {
    constexpr double kScale = 2;  // sharp on dense screens and on paper
    plots_ = sweep::MakeSweepPlots(sweep::PlotDataOf(facts_));
    for (const sweep::SweepPlot& plot : plots_) {
      const auto svg = [&plot] { return output::RenderSheet(plot.sheet); };
      pieces_.push_back({"plots/" + plot.name + ".svg", "plot", 0,
                         [svg]() -> Result<std::string> { return svg(); }, false});
      if (!options_.png) continue;
      pieces_.push_back({"plots/" + plot.name + ".png", "plot", 0,
                         [svg]() { return output::RenderPng(svg(), kScale); }, false});
    }
  }

  const sweep::SweepFacts& facts_;
  const SweepFileOptions& options_;
  std::vector<Piece> pieces_;
  std::vector<std::unique_ptr<Table>> kept_;
  std::optional<sweep::Reports> reports_;
  std::vector<std::vector<Table>> timelines_;
  std::vector<Table> master_;
  std::vector<sweep::SweepPlot> plots_;
};

}  // namespace

std::optional<SweepStep> SweepStepOf(std::string_view name) {
  for (const StepName& one : kSteps) {
    if (one.name == name) return one.step;
  }
  return std::nullopt;
}

Status WriteSweepFiles(const session::Workspace& workspace, const sweep::SweepFacts& facts,
                       const std::string& directory, const SweepFileOptions& options, Job& job,
                       Answer* answer) {
  Writer writer(facts, options);
  JV_TRY(writer.Collect(job));
  JV_TRY(job.Check());
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
  JV_TRY(writer.Write(*folder, job, answer));
  if (const sweep::Reports* reports = writer.reports()) {
    answer->notes.push_back(fmt::format("reports: {} of ranks, {} of collectives, {} comparisons",
                                        reports->individual, reports->collective,
                                        reports->comparisons));
  }
  return {};
}

}  // namespace jarvis::tools
