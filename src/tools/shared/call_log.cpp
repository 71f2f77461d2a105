#include "tools/shared/call_log.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kTextMax = 600;  // of arguments and of an answer

// What was asked, without where it goes.
Json Essential(const Json& arguments, const Json& schema) {
  static const std::set<std::string_view> kPlaces = {"trace", "output_dir", "output_xlsx", "chart",
                                                     "overwrite"};
  Json essential = Json::object();
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, value] : arguments.items()) {
    if (kPlaces.contains(name)) continue;
    const auto property = properties.find(name);
    const bool usual = property != properties.end() && property->contains("default") &&
                       (*property)["default"] == value;
    if (!usual) essential[name] = value;
  }
  return essential;
}

}  // namespace

void CallLog::Note(const std::string& trace, const std::string& tool, const Json& arguments,
                   const Json& schema, const Result<Answer>& answer, std::size_t bytes) {
  documents::CallRecord record;
  record.tool = tool;
  record.arguments = Utf8Prefix(DumpLine(Essential(arguments, schema)), kTextMax);
  record.answer = Utf8Prefix(OneLine(answer ? answer->summary : answer.error().message), kTextMax);
  record.rows = answer ? answer->rows.size() : 0;
  record.bytes = bytes;
  record.failed = !answer;
  const std::lock_guard lock(mutex_);
  if (!calls_.contains(trace) && calls_.size() >= kTracesMax) return;
  std::vector<documents::CallRecord>& calls = calls_[trace];
  if (calls.size() < kCallsMax) calls.push_back(std::move(record));
}

std::vector<documents::CallRecord> CallLog::Of(const std::string& trace) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(trace);
  return found == calls_.end() ? std::vector<documents::CallRecord>() : found->second;
}

std::string LogText(const std::vector<documents::CallRecord>& calls) {
  std::string text;
  int number = 0;
  for (const documents::CallRecord& call : calls) {
    text += DumpLine({{"n", ++number},
                      {"tool", call.tool},
                      {"arguments", call.arguments},
                      {"answer", call.answer},
                      {"rows", call.rows},
                      {"bytes", call.bytes},
                      {"failed", call.failed}}) +
            "\n";
  }
  return text;
}

std::vector<documents::CallRecord> ReadLog(const std::string& text) {
  std::vector<documents::CallRecord> calls;
  for (std::string_view rest = text; !rest.empty() && calls.size() < CallLog::kCallsMax;) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const Result<Json> json = ParseJson(line);
    if (!json || !json->is_object()) continue;
    const auto words = [&](const char* name) {
      const auto found = json->find(name);
      return found != json->end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const auto number = [&](const char* name) -> std::uint64_t {
      const auto found = json->find(name);
      return found != json->end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
    };
    const Json failed = json->value("failed", Json(false));
    calls.push_back({words("tool"), words("arguments"), words("answer"), number("rows"),
                     number("bytes"), failed.is_boolean() && failed.get<bool>()});
  }
  return calls;
}

}  // namespace jarvis::tools
