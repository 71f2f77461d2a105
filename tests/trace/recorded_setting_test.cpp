// A setting of the recorded process is found by its name, wherever a producer keeps it.
#include "trace/recorded_setting.h"

#include <doctest/doctest.h>

namespace jarvis::trace {
namespace {

std::optional<std::string> SettingOf(std::string json, std::string_view name) {
  return RecordedSetting(ReadMetadata({{"metadata", std::move(json)}}), name);
}

TEST_CASE("a setting stands at any depth of the metadata") {
  const std::string json =
      R"({"runs": [{"env": {"PYTORCH_TUNABLEOP_ENABLED": "1", "PATH": "/"}}]})";
  CHECK(SettingOf(json, "PYTORCH_TUNABLEOP_ENABLED") == "1");
  CHECK_FALSE(SettingOf(json, "PYTORCH_TUNABLEOP_TUNING").has_value());
}

TEST_CASE("what only mentions the name, or is longer than a setting, is none") {
  CHECK_FALSE(SettingOf(R"({"note": "set NAME to 1"})", "NAME").has_value());
  CHECK_FALSE(SettingOf(R"({"NAME": ")" + std::string(65, 'x') + R"("})", "NAME").has_value());
  CHECK_FALSE(SettingOf(R"({"NAME": {"NAME": 1}})", "NAME").has_value());
  CHECK_FALSE(SettingOf(R"({"NAME": "1")", "NAME").has_value());
}

}  // namespace
}  // namespace jarvis::trace
