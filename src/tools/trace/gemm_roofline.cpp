#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"
#include "formats/json_parts.h"
#include "io/output_folder.h"
#include "output/number_format.h"
#include "output/png.h"
#include "output/roofline_chart.h"
#include "perf/roofline.h"
#include "session/loaded_trace.h"
#include "tools/shared/answer_picture.h"
#include "tools/shared/arguments.h"
#include "tools/shared/platform_choice.h"
#include "tools/trace/gemm_question.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using perf::Gemm;
using perf::Platform;
using perf::Roofline;

// Shares of the roof that a kernel may be brought to.
constexpr double kTargets[] = {20, 50, 70, 100};
constexpr std::size_t kItemsMax = 20;

std::string Text(double value) {
  return output::CellText(Cell(value));
}

// A product with everything that is known of it.
struct Judged {
  const GemmItem* item;
  perf::Work work;
  Roofline roof;  // against achievable rates; absent parts without a platform
  Roofline peak;

  // The rate at the roof.
  std::optional<double> roof_tflops() const {
    if (!roof.roof_us) return std::nullopt;
    return *work.flops / *roof.roof_us * 1e-6;
  }
  std::optional<double> tflops() const {
    if (!item->time_us || !(*item->time_us > 0)) return std::nullopt;
    return *work.flops / *item->time_us * 1e-6;
  }
  std::optional<double> tbps() const {
    if (!item->time_us || !(*item->time_us > 0) || !work.bytes) return std::nullopt;
    return *work.bytes / *item->time_us * 1e-6;
  }
  std::optional<double> percent(const Roofline& of) const {
    if (!of.roof_us || !item->time_us) return std::nullopt;
    return Percent(*of.roof_us, *item->time_us);
  }
};

Judged Judge(const GemmItem& item, const std::optional<Platform>& platform) {
  Judged judged{&item,
                item.work == nullptr
                    ? perf::WorkOf(item.gemm)
                    : perf::Work{item.work->flops, item.work->bytes, item.work->spec},
                {},
                {}};
  if (platform) {
    judged.roof = perf::RooflineOf(judged.work, *platform);
    judged.peak = perf::RooflineOf(judged.work, *platform, perf::RoofRule::kPeak);
  } else if (judged.work.bytes) {
    judged.roof.intensity = *judged.work.flops / *judged.work.bytes;
  }
  return judged;
}

void AddTable(const std::vector<Judged>& all, bool platform, Answer* answer) {
  bool measured = false;
  for (const Judged& one : all)
    measured = measured || one.item->time_us.has_value();
  answer->columns = {"gemm", "batch", "m", "n", "k", "dtype", "gflop", "mb", "flop_per_byte"};
  if (platform) {
    answer->columns.insert(answer->columns.end(),
                           {"bound", "roof_us", "peak_roof_us", "roof_tflops"});
  }
  if (measured) answer->columns.insert(answer->columns.end(), {"calls", "us", "tflops", "tb_s"});
  if (measured && platform) {
    answer->columns.insert(answer->columns.end(), {"percent_of_roof", "percent_of_peak_roof"});
  }
  answer->total = all.size();
  for (const Judged& one : all) {
    if (answer->rows.size() == kItemsMax) break;
    const Gemm& gemm = one.item->gemm;
    std::vector<Cell> row = {one.item->name, gemm.batch, gemm.m, gemm.n, gemm.k};
    row.push_back(gemm.in == nullptr ? Cell() : Cell(std::string(gemm.in->name)));
    row.insert(row.end(),
               {*one.work.flops / 1e9, one.work.bytes ? Cell(*one.work.bytes / 1e6) : Cell(),
                CellOf(one.roof.intensity)});
    if (platform) {
      row.push_back(one.roof.bound ? Cell(std::string(perf::BoundText(*one.roof.bound))) : Cell());
      row.insert(row.end(),
                 {CellOf(one.roof.roof_us), CellOf(one.peak.roof_us), CellOf(one.roof_tflops())});
    }
    if (measured) {
      row.push_back(one.item->time_us ? Cell(static_cast<std::int64_t>(one.item->calls)) : Cell());
      row.insert(row.end(), {CellOf(one.item->time_us), CellOf(one.tflops()), CellOf(one.tbps())});
    }
    if (measured && platform) {
      row.insert(row.end(), {CellOf(one.percent(one.roof)), CellOf(one.percent(one.peak))});
    }
    answer->rows.push_back(std::move(row));
  }
}

Json SourceOf(const std::optional<perf::Ceiling>& ceiling) {
  return ceiling ? Json(perf::SourceText(ceiling->source)) : Json(nullptr);
}
std::optional<double> RateOf(const std::optional<perf::Ceiling>& ceiling) {
  return ceiling ? std::optional(ceiling->tflops) : std::nullopt;
}

void AddPlatform(const Platform& platform, const Judged& first, Answer* answer) {
  answer->facts["platform"] = {{"name", platform.name},
                               {"spec", std::string(first.work.spec)},
                               {"mem_bw_gbps", formats::Number(platform.mem_bw_gbps)},
                               {"roof_tflops", formats::Number(RateOf(first.roof.ceiling))},
                               {"roof_source", SourceOf(first.roof.ceiling)},
                               {"peak_tflops", formats::Number(RateOf(first.peak.ceiling))},
                               {"peak_source", SourceOf(first.peak.ceiling)}};
  answer->facts["ridge_flop_per_byte"] = {{"roof", formats::Number(first.roof.ridge)},
                                          {"peak", formats::Number(first.peak.ridge)}};
}

// What the forward products (of a row: all its calls) would take if those below a share of their
// roof came up to it.
void AddProjection(const std::vector<Judged>& all, const GemmQuestion& question, Answer* answer) {
  bool any = false;
  bool measured = true;
  for (const Judged& one : all) {
    if (one.item->backward || !one.roof.roof_us) continue;
    any = true;
    measured = measured && one.item->time_us.has_value();
  }
  if (!any) return;
  const bool window = measured && question.row != nullptr && question.trace->timeline();
  Json columns = {"percent_of_roof", "ms"};
  if (measured) columns.push_back("saved_ms");
  if (window) columns.push_back("saved_percent_of_window");
  Json rows = Json::array();
  for (const double target : kTargets) {
    double us = 0;
    double saved_us = 0;
    for (const Judged& one : all) {
      if (one.item->backward || !one.roof.roof_us) continue;
      const auto calls = static_cast<double>(one.item->calls);
      const double goal_us = *one.roof.roof_us * 100 / target;
      const double then_us = measured ? std::min(goal_us, *one.item->time_us) : goal_us;
      us += then_us * calls;
      if (measured) saved_us += (*one.item->time_us - then_us) * calls;
    }
    Json row = {target, output::Rounded(us / 1000)};
    if (measured) row.push_back(output::Rounded(saved_us / 1000));
    if (window)
      row.push_back(formats::Number(Percent(saved_us, question.trace->timeline()->total)));
    rows.push_back(std::move(row));
  }
  answer->facts["projection"] = {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

std::string GemmHeadline(const Judged& first, const GemmQuestion& question,
                         const std::optional<Platform>& platform) {
  const Gemm& gemm = first.item->gemm;
  std::string text;
  if (question.row != nullptr) {
    text = fmt::format("{} {}, {} signature{}; the longest: ", question.row->id, question.row->name,
                       question.items.size(), question.items.size() == 1 ? "" : "s");
  }
  text += fmt::format("M={} N={} K={}", gemm.m, gemm.n, gemm.k);
  if (gemm.batch > 1) text += fmt::format(" x{}", gemm.batch);
  if (gemm.in != nullptr) text += fmt::format(" {}", gemm.in->name);
  if (platform) text += " on " + platform->name;
  text += fmt::format(": {} GFLOP", Text(*first.work.flops / 1e9));
  if (first.work.bytes) text += fmt::format(", {} MB", Text(*first.work.bytes / 1e6));
  if (first.roof.intensity) text += fmt::format(", {} FLOP/B", Text(*first.roof.intensity));
  if (first.roof.ridge) {
    text += fmt::format(" (ridge {} {}", Text(*first.roof.ridge),
                        perf::SourceText(first.roof.ceiling->source));
    // Not where the achievable rate is the peak, rounded.
    if (first.peak.ridge && std::abs(*first.peak.ridge / *first.roof.ridge - 1) > 0.01) {
      text += fmt::format(", {} peak", Text(*first.peak.ridge));
    }
    text += ")";
  }
  if (first.roof.roof_us) {
    const bool compute = first.roof.bound == perf::Bound::kCompute;
    text += fmt::format(": {} by {}, at most {} TFLOP/s, at least {} µs",
                        perf::BoundText(*first.roof.bound),
                        compute ? fmt::format("{} TFLOP/s {}", Text(first.roof.ceiling->tflops),
                                              perf::SourceText(first.roof.ceiling->source))
                                : fmt::format("{} GB/s peak", Text(*platform->mem_bw_gbps)),
                        Text(*first.roof_tflops()), Text(*first.roof.roof_us));
  }
  if (const auto tflops = first.tflops()) {
    text += fmt::format("; measured {} µs = {} TFLOP/s", Text(*first.item->time_us), Text(*tflops));
    const auto percent = first.percent(first.roof);
    if (percent) text += fmt::format(" = {:.1f} % of the roof", *percent);
  }
  return text + ".";
}

void AddNotes(const std::vector<Judged>& all, const GemmQuestion& question,
              const PlatformChoice& choice, Answer* answer) {
  const perf::Precision* out = all[0].item->gemm.out;
  answer->notes.push_back(
      out == nullptr
          ? std::string("the trace does not say of what type the operands are: pass dtype")
          : fmt::format(
                "assumes that each operand is read once and the result written once, as {}: "
                "the least traffic there can be",
                out->name));
  std::string about = choice.note;
  const auto add = [&about](const std::string& text) {
    about += (about.empty() ? "" : "; ") + text;
  };
  if (choice.platform && !all[0].roof.ceiling && all[0].item->gemm.in != nullptr) {
    add(fmt::format("{} has no figure for {}: no roof", choice.platform->name, all[0].work.spec));
  } else if (choice.platform && !choice.platform->confidence.empty()) {
    add(fmt::format("figures of {}: {}{}{}", choice.platform->name, choice.platform->confidence,
                    choice.platform->note.empty() ? "" : "; ", choice.platform->note));
  }
  if (!about.empty()) answer->notes.push_back(std::move(about));
  constexpr double kTooGood = 102;  // clocks and published rates are rounded
  for (const Judged& one : all) {
    if (one.percent(one.peak).value_or(0) <= kTooGood) continue;
    answer->notes.push_back(
        "faster than the peak allows: wrong platform or dtype (fp32 in TF32?), operands in cache, "
        "or data of zeros");
    break;
  }
  if (question.row != nullptr) {
    answer->notes.push_back("saved_percent_of_window holds if nothing else fills the time");
  }
  if (question.other_us > 0) {
    answer->notes.push_back(fmt::format("{} ms of the row have no shapes and are left out",
                                        Text(question.other_us / 1000)));
  }
}

// ---- chart

output::RooflineChart ChartOf(const std::vector<Judged>& all, const Platform& platform) {
  const Judged& first = all[0];
  output::RooflineChart chart;
  chart.title = fmt::format("GEMM on {}, {}", platform.name, first.item->gemm.in->name);
  chart.subtitle = "filled: measured; hollow: at the roof";
  chart.mem_bw_gbps = *platform.mem_bw_gbps;
  const bool two = first.peak.ceiling && first.roof.ceiling &&
                   std::abs(first.peak.ceiling->tflops - first.roof.ceiling->tflops) > 1;
  if (two) {
    chart.roofs.push_back({fmt::format("peak {} TFLOP/s", Text(first.peak.ceiling->tflops)),
                           first.peak.ceiling->tflops, false});
  }
  chart.roofs.push_back({fmt::format("{} {} TFLOP/s", perf::SourceText(first.roof.ceiling->source),
                                     Text(first.roof.ceiling->tflops)),
                         first.roof.ceiling->tflops, true});
  for (const Judged& one : all) {
    if (one.work.spec != first.work.spec || !one.roof.roof_us) continue;
    const Gemm& gemm = one.item->gemm;
    output::ChartPoint point;
    point.label = fmt::format("{} {}x{}x{}", one.item->name, gemm.m, gemm.n, gemm.k);
    point.intensity = one.roof.intensity.value_or(0);
    point.tflops = one.tflops().value_or(*one.roof_tflops());
    if (one.item->time_us) {
      point.weight = *one.item->time_us * static_cast<double>(one.item->calls);
    }
    point.tooltip = fmt::format("{}\n{} FLOP/byte, {} TFLOP/s{}", point.label,
                                Text(point.intensity), Text(point.tflops),
                                one.item->time_us ? fmt::format(", {} µs", Text(*one.item->time_us))
                                                  : std::string(" at the roof"));
    chart.points.push_back(std::move(point));
  }
  return chart;
}

// `given`: where to write it.
Status AddChart(const io::FilePolicy& files, const std::string& given,
                const output::RooflineChart& chart, Job& job, Answer* answer) {
  const bool png = given.ends_with(".png");
  if (!png && !given.ends_with(".svg")) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("chart: expected a path that ends in .svg or .png, received \"{}\"",
                            Utf8Prefix(given, 80)));
  }
  std::string picture = output::RenderRoofline(chart);
  if (png) {
    constexpr double kScale = 2;  // sharp on dense screens
    JV_TRY(job.Check());
    JV_ASSIGN(picture, output::RenderPng(picture, kScale));
  }
  JV_ASSIGN(const std::string place, files.ResolveOutput(given));
  const std::filesystem::path split(place);
  const std::string name = split.filename().string();
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(files, split.parent_path().string(), job));
  Status claimed = folder->Claim({name}, false);
  if (!claimed) {
    claimed.error().hint = "give another path for chart";
    return claimed;
  }
  JV_ASSIGN(std::string path, folder->Write(name, picture));
  JV_TRY(folder->Commit());
  answer->files.push_back({std::move(path), "roofline chart, points",
                           std::min(chart.points.size(), output::kRooflinePointsMax)});
  return {};
}

}  // namespace

Result<Answer> GemmRoofline(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const GemmQuestion question, ReadGemmQuestion(workspace, arguments, job));
  JV_ASSIGN(const PlatformChoice choice,
            ChoosePlatform(workspace.files(), TextArgument(arguments, "platform").value_or(""),
                           question.trace.get()));
  std::vector<Judged> all;
  for (const GemmItem& item : question.items)
    all.push_back(Judge(item, choice.platform));
  Answer answer;
  if (question.trace != nullptr) answer.trace = question.trace->id();
  answer.facts = Json::object();
  answer.summary = GemmHeadline(all[0], question, choice.platform);
  if (choice.platform) AddPlatform(*choice.platform, all[0], &answer);
  AddTable(all, choice.platform.has_value(), &answer);
  AddProjection(all, question, &answer);
  AddNotes(all, question, choice, &answer);
  const auto chart = TextArgument(arguments, "chart");
  const bool wanted = WantsPicture(arguments);
  if (!choice.platform || !all[0].roof.roof_us) {
    if (chart || wanted) answer.notes.push_back("no chart: the roof is not known");
  } else {
    if (chart) {
      JV_TRY(AddChart(workspace.files(), *chart, ChartOf(all, *choice.platform), job, &answer));
    }
    if (wanted) answer.picture = output::RenderRoofline(ChartOf(all, *choice.platform));
  }
  if (question.row != nullptr) {
    answer.next = {{"parent_chain",
                    {{"trace", question.trace->id()}, {"row", question.row->id}},
                    "where it is called"}};
  }
  return answer;
}

}  // namespace jarvis::tools
