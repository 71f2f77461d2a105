// The table of importers: who takes what, and what is said where nobody can.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/temp_folder.h"
#include "trace/import/trace_file.h"

namespace jarvis::trace {
namespace {

constexpr const char* kOneEvent =
    R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]})";

Fit FitOf(std::string_view name, std::string_view head) {
  for (const Importer* importer : Importers()) {
    if (importer->name == name) return importer->sniff(head);
  }
  FAIL("no importer " << name);
  return Fit::kNone;
}

TEST_CASE("every importer can read, and is told apart by its name") {
  std::set<std::string_view> names;
  for (const Importer* importer : Importers()) {
    CHECK(names.insert(importer->name).second);
    CHECK(importer->what != "");
    REQUIRE((importer->sniff != nullptr && importer->read != nullptr));
    const bool surveys = importer->survey != nullptr;
    CHECK(surveys == (importer->read_window != nullptr));
    CHECK(importer->sniff("") == Fit::kNone);
  }
}

TEST_CASE("JSON with events is a trace, other JSON is none") {
  CHECK(FitOf("kineto_json", kOneEvent) == Fit::kCertain);
  CHECK(FitOf("kineto_json", R"( [{"ph":"X"}])") == Fit::kCertain);
  CHECK(FitOf("kineto_json", "\xEF\xBB\xBF{\"traceEvents\":[") == Fit::kCertain);
  CHECK(FitOf("kineto_json", R"({"schemaVersion":1,"deviceProperties":[)") == Fit::kPossible);
  CHECK(FitOf("kineto_json", R"([{"name":)") == Fit::kPossible);
  for (const char* head :
       {R"({"schema":"1.1","nodes":[]})", R"({"nbformat":4})", "[[0, 1], [2, 3]]", "traceEvents",
        "ph", "PK\3\4{\"traceEvents\"", "\n\n", "<html>{\"traceEvents\""})
    CHECK_MESSAGE(FitOf("kineto_json", head) == Fit::kNone, head);
}

TEST_CASE("what no importer takes is said to be what it is") {
  const testing::TempFolder folder;
  Job job;
  const std::string path = folder.Write("a.json", "%PDF-1.7 and more");
  const auto file = TraceFile::Open(*io::FilePolicy().OpenInput(path), job);
  REQUIRE(file.has_value());
  const auto read = file->Read({}, job);
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == ErrorCode::kNotATrace);
  CHECK(read.error().message.find("PDF") != std::string::npos);
}

TEST_CASE("a format without a capability says what can be done instead") {
  const testing::TempFolder folder;
  Job job;
  const Importer reads_only = {
      .name = "made_up",
      .what = "traces of a format made up",
      .sniff = [](std::string_view) { return Fit::kCertain; },
      .read = [](const TraceInput&, const ReadOptions&, Job&) -> Result<ImportedTrace> {
        return ImportedTrace{};
      },
  };
  const TraceFile file({*io::FilePolicy().OpenInput(folder.Write("a", kOneEvent)), {}, ""},
                       reads_only);
  CHECK(file.Read({}, job).has_value());
  const auto survey = file.TakeSurvey({}, job);
  REQUIRE_FALSE(survey.has_value());
  CHECK(survey.error().message == "traces of a format made up cannot be read in parts");
  CHECK(survey.error().hint != "");
  const auto elements = file.Elements(1000, job);
  REQUIRE_FALSE(elements.has_value());
  CHECK(elements.error().message.starts_with("traces of a format made up cannot be"));
  CHECK(elements.error().hint != "");
}

}  // namespace
}  // namespace jarvis::trace
