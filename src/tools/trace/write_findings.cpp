// What an agent has to say of findings: better words, which do not apply, which there are beside
// them, which come first, and figures that it works out of the tables. Savings are the server's,
// and follow.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "documents/claims.h"
#include "documents/sentences.h"
#include "findings/one/wall_plan.h"
#include "output/number_format.h"
#include "tools/shared/arguments.h"
#include "tools/shared/chosen_findings.h"
#include "tools/shared/report_files.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kFaultsShown = 6;
constexpr std::size_t kAddedMax = 50;

using Texts = std::map<std::string, std::string>;  // by field

// The fields that were given. What would be structure in a report is refused.
Result<Texts> GivenTexts(const Json& arguments) {
  Texts texts;
  for (const documents::TextField& field : documents::kTextFields) {
    const std::string name(field.name);
    const auto given = TextArgument(arguments, name.c_str());
    if (!given) continue;
    std::string text(Trim(*given));
    const bool structure =
        text.find('\n') != std::string::npos || text.find("<!--") != std::string::npos ||
        text.find("<a ") != std::string::npos || text.starts_with("#") || text.starts_with("|");
    if (text.empty() || structure) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("{}: expected sentences on one line, without headings, tables and "
                              "comments",
                              name),
                  "leave the argument out to keep the text");
    }
    texts[name] = ValidUtf8(text);
  }
  return texts;
}

// Held against the tables of all documents.
std::vector<documents::Fault> FaultsOf(const ReportCase& one, const Texts& texts) {
  const documents::Evidence evidence = EvidenceOf(one);
  std::vector<documents::Fault> faults;
  for (const auto& [name, text] : texts) {
    for (documents::Fault& fault : documents::CheckProse(text, evidence, {{}, name, 0, {}, {}}))
      faults.push_back(std::move(fault));
  }
  return faults;
}

Error Refusal(const std::vector<documents::Fault>& faults) {
  std::string message = "nothing was stored: ";
  for (std::size_t i = 0; i < faults.size() && i < kFaultsShown; ++i) {
    message += fmt::format("{}{}: {}; {}", i == 0 ? "" : ". ", faults[i].file, faults[i].message,
                           faults[i].fix);
  }
  return {ErrorCode::kBadValue, std::move(message),
          "say it with the wording given; figures as the report's tables have them"};
}

// The finding that a call is about.
struct Meant {
  std::string id;
  std::string subject;
  std::string category;                    // empty: of one that was added
  findings::Addition* addition = nullptr;  // null: it is the server's
};

// Of all findings there are, the dismissed ones too.
Result<Meant> FindingOf(const ReportCase& one, const std::string& id,
                        findings::FindingChoices* choices) {
  std::string known;
  for (findings::Addition& other : choices->added) {
    if (other.id == id) return Meant{id, other.subject, {}, &other};
    known += (known.empty() ? "" : ", ") + other.id;
  }
  if (const findings::Finding* finding = one.uncorrected->FindFinding(id))
    return Meant{id, finding->subject, finding->category, nullptr};
  for (const findings::Finding& other : one.uncorrected->findings)
    known += (known.empty() ? "" : ", ") + other.id;
  return Fail(ErrorCode::kBadValue,
              fmt::format("no finding \"{}\"; there are: {}", Utf8Prefix(id, 40),
                          known.empty() ? "none" : known));
}

// One call: what it decides, step by step, and what it says that it did.
class Decision {
 public:
  Decision(session::Workspace& workspace, const Json& arguments, ReportCase* one, Job& job)
      : workspace_(workspace),
        arguments_(arguments),
        one_(*one),
        job_(job),
        question_{{"trace", one->trace->id()}},
        choices_(one->choices) {
    if (!one->platform_wanted.empty()) question_["platform"] = one->platform_wanted;
    if (!one->extension.empty()) question_["extension"] = one->extension;
  }

  Status Take(Texts texts) {
    texts_ = std::move(texts);
    JV_TRY(Derive());
    JV_TRY(FindMeant());
    JV_TRY(Add());
    if (!meant_ && !texts_.empty())
      return Fail(ErrorCode::kBadValue, "words of which finding?", "give finding, too");
    JV_TRY(CheckWords());
    JV_TRY(Dismiss());
    JV_TRY(Order());
    StoreTexts();
    if (done_.empty()) {
      return Fail(ErrorCode::kBadValue, "nothing is given",
                  "give one or more of title, insight, action, identification, reasoning, "
                  "resolution, path_a, path_b; or dismiss, order, add, derive");
    }
    return SetChoices(choices_, &one_, job_);
  }

  std::string Done() const { return done_ + AddedText(); }
  // The file that has what was decided.
  std::string File() const {
    return !meant_ || meant_->category.empty() ? "report_options.json"
                                               : meant_->category + "_findings.json";
  }

 private:
  ChosenQuestion Question() const {
    return {workspace_, *one_.trace, *one_.uncorrected, question_};
  }

  Status FindMeant() {
    if (!arguments_.contains("finding")) return {};
    JV_ASSIGN(meant_, FindingOf(one_, arguments_["finding"].get<std::string>(), &choices_));
    return {};
  }

  // Figures by their names; without a question a figure goes.
  Status Derive() {
    if (!arguments_.contains("derive")) return {};
    for (const Json& given : arguments_["derive"]) {
      findings::DerivedFigure figure{
          LineOf(given, "name"), LineOf(given, "unit"), LineOf(given, "sql"), {}};
      if (figure.name.empty()) {
        return Fail(ErrorCode::kBadValue, "derive: expected {name, unit, sql}",
                    "an empty sql takes the figure back");
      }
      std::erase_if(choices_.derived, [&](const auto& old) { return old.name == figure.name; });
      if (figure.sql.empty()) {
        done_ += fmt::format("\"{}\" is gone. ", figure.name);
        continue;
      }
      if (documents::Quantities("1 " + figure.unit).size() != 1) {
        return Fail(ErrorCode::kBadValue,
                    fmt::format("derive: \"{}\" is no unit", Utf8Prefix(figure.unit, 20)),
                    "ms, us, %, x, GB/s, TFLOPS, MB, calls, kernels...");
      }
      JV_TRY(WorkOut(Question(), &figure, job_));
      done_ += fmt::format("\"{}\" is {} {}. ", figure.name, output::Rounded(*figure.value),
                           figure.unit);
      choices_.derived.push_back(std::move(figure));
    }
    return {};
  }

  static std::string LineOf(const Json& object, const char* name) {
    const auto text = object.is_object() ? TextArgument(object, name) : std::nullopt;
    return text ? OneLine(ValidUtf8(Trim(*text))) : std::string();
  }

  // A finding of the caller's own, or another change of one.
  Status Add() {
    if (!arguments_.contains("add")) return {};
    if (meant_ && meant_->addition == nullptr) {
      return Fail(ErrorCode::kBadValue, fmt::format("add: {} is the server's", meant_->id),
                  "dismiss it and add one of your own");
    }
    if (!meant_) JV_TRY(AddNew());
    findings::Addition& addition = *meant_->addition;
    addition.asked = arguments_["add"].empty() ? std::string() : DumpLine(arguments_["add"]);
    return ReadAddedChange(Question(), &addition, job_);
  }

  Status AddNew() {
    const bool way = texts_.contains("path_a") || texts_.contains("path_b");
    if (!texts_.contains("title") || !texts_.contains("insight") || !way) {
      return Fail(ErrorCode::kBadValue, "add: a finding needs title, insight and a way out",
                  "title: what and where; insight: what shows it; path_a or path_b: what to do");
    }
    if (choices_.added.size() == kAddedMax)
      return Fail(ErrorCode::kBadValue, fmt::format("add: {} findings are added", kAddedMax));
    std::int64_t last = 0;
    for (const findings::Addition& one : choices_.added)
      last = std::max(last, ParseInt(std::string_view(one.id).substr(1)).value_or(0));
    findings::Addition& fresh = choices_.added.emplace_back();
    fresh.id = fmt::format("a{}", last + 1);
    fresh.subject = "a finding";
    // Where the saving is told is known before the words are.
    for (const char* path : {"path_a", "path_b"}) {
      if (texts_.contains(path)) fresh.texts[path] = "";
    }
    meant_ = Meant{fresh.id, texts_["title"], {}, &fresh};
    is_new_ = true;
    return {};
  }

  // Words are held against all figures there are, those of the same call among them, but for their
  // own.
  Status CheckWords() {
    if (arguments_.contains("derive") || arguments_.contains("add"))
      JV_TRY(SetChoices(choices_, &one_, job_));
    Texts words = texts_;
    for (const char* name : {"dismiss", "order_because"}) {
      if (const std::string text = LineOf(arguments_, name); !text.empty()) words[name] = text;
    }
    if (words.empty()) return {};
    const auto faults = FaultsOf(one_, words);
    if (!faults.empty()) return tl::make_unexpected(Refusal(faults));
    return {};
  }

  Status Dismiss() {
    if (!arguments_.contains("dismiss")) return {};
    if (!meant_) return Fail(ErrorCode::kBadValue, "dismiss: which finding?", "give finding, too");
    const std::string reason = LineOf(arguments_, "dismiss");
    std::erase_if(choices_.dismissed, [&](const auto& old) { return old.finding == meant_->id; });
    if (!reason.empty()) choices_.dismissed.push_back({meant_->id, meant_->subject, reason});
    done_ +=
        fmt::format("{} is {}. ", meant_->id, reason.empty() ? "a finding again" : "dismissed");
    return {};
  }

  Status Order() {
    if (!arguments_.contains("order")) return {};
    choices_.order = arguments_["order"].get<std::vector<std::string>>();
    choices_.order_because =
        choices_.order.empty() ? std::string() : LineOf(arguments_, "order_because");
    for (const std::string& id : choices_.order)
      JV_TRY(FindingOf(one_, id, &choices_));
    done_ += choices_.order.empty()
                 ? "The order is the server's again. "
                 : fmt::format("First come {}. ", fmt::join(choices_.order, ", "));
    return {};
  }

  void StoreTexts() {
    if (!meant_) return;
    std::string names;
    for (const auto& [name, text] : texts_) {
      if (meant_->addition != nullptr) {
        meant_->addition->texts[name] = text;
      } else {
        one_.edits[meant_->id][name] = text;
      }
      names += (names.empty() ? "" : ", ") + name;
    }
    if (is_new_) {
      meant_->addition->subject = meant_->subject;
      done_ += fmt::format("{} is added. ", meant_->id);
    } else if (!names.empty()) {
      done_ += fmt::format("Stored {} of {}. ", names, meant_->id);
    } else if (arguments_.contains("add")) {
      done_ += fmt::format("The change of {} is another. ", meant_->id);
    }
  }

  // What a finding with a change of the caller's saves.
  std::string AddedText() const {
    if (!arguments_.contains("add")) return {};
    const findings::Finding* finding = one_.analysis->FindFinding(meant_->id);
    const findings::WallSaving* saving =
        finding == nullptr ? nullptr : findings::BestWall(*finding);
    if (saving == nullptr) return "Nobody can tell what it saves. ";
    return fmt::format(
        "It is priority {}: alone it saves {} of {} ms ({} to {}), at its place {}. ",
        finding->global_rank, output::Rounded(saving->ms.mid),
        output::Rounded(one_.analysis->wall.wall_ms), output::Rounded(saving->ms.low),
        output::Rounded(saving->ms.high), output::Rounded(saving->after_others_ms));
  }

  session::Workspace& workspace_;
  const Json& arguments_;
  ReportCase& one_;
  Job& job_;
  Json question_;  // the arguments that the analysis was asked with
  findings::FindingChoices choices_;
  std::optional<Meant> meant_;  // absent: the call is about none
  Texts texts_;
  bool is_new_ = false;
  std::string done_;
};

}  // namespace

Result<Answer> WriteFindings(session::Workspace& workspace, const Json& arguments, Job& job,
                             const CallLog& log) {
  JV_ASSIGN(Texts texts, GivenTexts(arguments));
  JV_ASSIGN(ReportCase one, OpenReportCase(workspace, arguments, job));
  Decision decision(workspace, arguments, &one, job);
  JV_TRY(decision.Take(std::move(texts)));
  std::vector<std::string> reports = ReportsThere(one.folder);
  if (reports.empty()) reports = {"fair", "rough", "analysis"};
  JV_ASSIGN(WrittenReports written, WriteReports(workspace, one, reports, log.Of(one.trace->id()),
                                                 MayOverwrite(arguments), job));
  Answer answer;
  answer.trace = one.trace->id();
  answer.summary = fmt::format("{}{} reports are written anew.", decision.Done(), reports.size());
  if (const auto& ms = one.analysis->wall.together_ms; ms && !one.choices.empty()) {
    answer.summary +=
        fmt::format(" Together the findings save {} ms ({} to {}).", output::Rounded(ms->mid),
                    output::Rounded(ms->low), output::Rounded(ms->high));
  }
  const std::string file = "/" + decision.File();
  std::erase_if(written.links, [&](const FileLink& link) { return !link.path.ends_with(file); });
  answer.files = std::move(written.links);
  return answer;
}

}  // namespace jarvis::tools
