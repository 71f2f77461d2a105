// Names of GPU work with their kinds, as people who know the libraries gave them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "json/json.h"
#include "ledger/kinds/work_kind.h"

namespace jarvis::ledger {
namespace {

// Each line is {"name", "kind", "sub", "precision"}, with kinds as ids.
std::filesystem::path KindVectors() {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  if (data == nullptr) return {};
  std::error_code error;
  for (const auto& tool :
       std::filesystem::directory_iterator(std::filesystem::path(data) / "tools", error)) {
    std::filesystem::path file = tool.path() / "kinds-vectors.jsonl";
    if (std::filesystem::exists(file, error)) return file;
  }
  return {};
}

// Where we deviate on purpose: softmax, pooling and copies between host and device are kinds of
// their own, because their bounds are; the vectors file them under the kinds that they resemble.
std::string WantedKind(const std::string& id, const std::string& sub) {
  static const std::map<std::string, std::string> kOwnKinds = {
      {"normalisation/softmax", "softmax"},       {"normalisation/softmax backward", "softmax"},
      {"attention/attention softmax", "softmax"}, {"reduction/pooling", "pooling"},
      {"copy/copy host to device", "host copy"},  {"copy/copy device to host", "host copy"},
  };
  static const std::map<std::string, std::string> kTexts = {
      {"elementwise", "element-wise"},
      {"cast", "cast / quantise"},
      {"layout", "layout / transpose"},
      {"copy", "copy / fill"},
      {"gather", "gather / scatter / sort / embedding"},
      {"comm_transfer", "communication transfer"},
      {"comm_wait", "communication wait"},
  };
  if (const auto own = kOwnKinds.find(id + "/" + sub); own != kOwnKinds.end()) return own->second;
  const auto text = kTexts.find(id);
  return text == kTexts.end() ? id : text->second;
}

// Further names with another answer, each with the reason.
const std::map<std::string, const char*> kOtherAnswers = {
    {"void soft_max_f32<true, 0, 0>(float const*)", "a softmax, filed with the norms of ggml"},
};

TEST_CASE("names have the kinds that experts gave them") {
  const std::filesystem::path file = KindVectors();
  if (file.empty()) {
    MESSAGE("skipped: JARVIS_TEST_DATA has no kinds-vectors.jsonl");
    return;
  }
  std::ifstream lines(file);
  std::string line;
  int names = 0;
  while (std::getline(lines, line)) {
    const auto parsed = ParseJson(line);
    REQUIRE(parsed.has_value());
    const std::string name = parsed->value("name", "");
    CAPTURE(name);
    if (kOtherAnswers.contains(name)) continue;
    const std::string sub = parsed->value("sub", "");
    const KernelKind kind = ClassifyKernelName(name);
    CHECK(WorkKindText(kind.kind) == WantedKind(parsed->value("kind", ""), sub));
    CHECK(kind.sub == sub);
    CHECK(kind.precision == parsed->value("precision", ""));
    ++names;
  }
  CHECK(names > 2000);
}

}  // namespace
}  // namespace jarvis::ledger
