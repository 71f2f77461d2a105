#include "launch/knobs.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/check.h"
#include "base/dom_parse.h"
#include "base/text.h"
#include "launch/embedded.h"

namespace jarvis::launch {
namespace {

using simdjson::dom::element;

constexpr std::size_t kVendors = 2;
constexpr std::array<std::string_view, kVendors> kVendorNames = {"amd", "nvidia"};
constexpr std::size_t kValuesMax = 100;
constexpr std::size_t kValueBytesMax = 4096;
constexpr std::string_view kValue = "{value}";

struct Knob {
  std::string name;
  std::array<std::vector<std::string>, kVendors> env;
  std::vector<std::string> values;
  std::string directory;
  std::string note;
  bool integer = false;
};

struct Knobs {
  std::vector<Knob> knobs;
  std::array<Environment, kVendors> common;
};

std::vector<std::string> Texts(const element& list) {
  std::vector<std::string> texts;
  for (const element item : list.get_array())
    texts.emplace_back(item.get_string().value());
  return texts;
}

Knob ReadKnob(const element& json) {
  Knob knob;
  knob.name = json["name"].get_string().value();
  for (std::size_t v = 0; v < kVendors; ++v)
    knob.env[v] = Texts(json["env"][kVendorNames[v]]);
  knob.values = Texts(json["values"]);
  knob.directory = json["directory"].get_string().value();
  std::string_view note;
  if (json["note"].get(note) == simdjson::SUCCESS) knob.note = note;
  bool integer = false;
  if (json["integer"].get(integer) == simdjson::SUCCESS) knob.integer = integer;
  return knob;
}

// The file is ours: what is wrong in it throws, at the first use in the first test.
Knobs ReadKnobs() {
  simdjson::dom::parser parser;
  const std::string_view text = KnobFiles().front().text;
  element file;
  JV_CHECK(ParseDom(&parser, text, &file) == simdjson::SUCCESS);
  Knobs knobs;
  for (const element json : file["knobs"].get_array())
    knobs.knobs.push_back(ReadKnob(json));
  for (std::size_t v = 0; v < kVendors; ++v) {
    for (const auto member : file["common_env"][kVendorNames[v]].get_object()) {
      knobs.common[v].emplace_back(member.key, member.value.get_string().value());
    }
  }
  return knobs;
}

const Knobs& Builtin() {
  static const Knobs knobs = ReadKnobs();
  return knobs;
}

const Knob* FindKnob(std::string_view name, Vendor vendor) {
  for (const Knob& knob : Builtin().knobs) {
    if (knob.name == name) return &knob;
  }
  // By its variable, if it is the only one: NCCL_ALGO is the knob algo.
  for (const Knob& knob : Builtin().knobs) {
    const std::vector<std::string>& env = knob.env[static_cast<std::size_t>(vendor)];
    if (env.size() == 1 && env.front() == name) return &knob;
  }
  return nullptr;
}

Status CheckValues(const Axis& axis, bool integer) {
  if (axis.values.empty() || axis.values.size() > kValuesMax) {
    return Fail(ErrorCode::kBadValue, fmt::format("the axis {} has {} values; 1 to {} make sense",
                                                  axis.name, axis.values.size(), kValuesMax));
  }
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    const std::string& value = axis.values[i];
    const auto number = ParseInt(value);
    if (integer && (!number || *number < 1 || std::to_string(*number) != value)) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("{}: expected a whole number above 0, received \"{}\"", axis.name,
                              Utf8Prefix(value, 40)));
    }
    if (value.empty() || value.size() > kValueBytesMax || value.find('\0') != std::string::npos) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("{}: a value has 1 to {} bytes and no NUL among them", axis.name,
                              kValueBytesMax));
    }
    if (std::find(axis.values.begin(), axis.values.begin() + static_cast<std::ptrdiff_t>(i),
                  value) != axis.values.begin() + static_cast<std::ptrdiff_t>(i)) {
      return Fail(ErrorCode::kBadValue, fmt::format("{}: the value \"{}\" is given twice",
                                                    axis.name, Utf8Prefix(value, 40)));
    }
  }
  return {};
}

// Names stand in titles, placeholders, and in comments of scripts.
Status CheckName(std::string_view name) {
  const bool plain =
      !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
      });
  if (plain) return {};
  return Fail(ErrorCode::kBadValue,
              fmt::format("\"{}\" is no name of an axis: letters, digits, _ - and . make one",
                          Utf8Prefix(OneLine(name), 60)));
}

Status CheckDirectory(const Axis& axis) {
  const std::string& pattern = axis.directory;
  if (pattern.find(kValue) == std::string::npos || pattern.find('/') != std::string::npos ||
      pattern.find('\0') != std::string::npos || pattern.size() > 200) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("the directory pattern of {} is one name with {{value}} in it, such "
                            "as \"algo_{{value}}\"",
                            axis.name));
  }
  return {};
}

}  // namespace

Result<Vendor> VendorOf(std::string_view name) {
  for (std::size_t v = 0; v < kVendors; ++v) {
    if (EqualsNoCase(name, kVendorNames[v])) return static_cast<Vendor>(v);
  }
  return Fail(ErrorCode::kBadValue,
              fmt::format("vendor: expected amd or nvidia, received \"{}\"", Utf8Prefix(name, 40)));
}

Result<AxisRequest> ParseAxis(std::string_view text) {
  AxisRequest request;
  const std::size_t equals = text.find('=');
  request.name = std::string(Trim(text.substr(0, equals)));
  if (request.name.empty()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("an axis is NAME=VALUE,VALUE; received \"{}\"", Utf8Prefix(text, 60)));
  }
  if (equals == std::string_view::npos) return request;
  std::string_view left = text.substr(equals + 1);
  const char separator = left.find('|') == std::string_view::npos ? ',' : '|';
  while (!left.empty()) {
    const std::string_view value = left.substr(0, left.find(separator));
    left.remove_prefix(std::min(left.size(), value.size() + 1));
    if (!value.empty()) request.values.emplace_back(value);
  }
  return request;
}

Result<Axis> ResolveAxis(const AxisRequest& request, Vendor vendor) {
  const Knob* knob = FindKnob(request.name, vendor);
  Axis axis{request.name, request.env, request.values, request.directory, {}};
  if (knob != nullptr) {
    axis.name = knob->name;
    if (axis.env.empty()) axis.env = knob->env[static_cast<std::size_t>(vendor)];
    if (axis.values.empty()) axis.values = knob->values;
    if (axis.directory.empty()) axis.directory = knob->directory;
    axis.note = knob->note;
  } else if (axis.env.empty()) {
    axis.env = {axis.name};
  }
  if (axis.directory.empty()) axis.directory = LowerAscii(axis.name) + "_{value}";
  JV_TRY(CheckName(axis.name));
  for (const std::string& name : axis.env) {
    if (IsVariableName(name)) continue;
    std::string known;
    for (const std::string& one : KnobNames())
      known += (known.empty() ? "" : ", ") + one;
    return Fail(ErrorCode::kBadValue,
                fmt::format("\"{}\" is no environment variable; an axis is one of {}, or the name "
                            "of a variable",
                            Utf8Prefix(name, 60), known));
  }
  JV_TRY(CheckValues(axis, knob != nullptr && knob->integer));
  JV_TRY(CheckDirectory(axis));
  return axis;
}

const Environment& CommonEnvironment(Vendor vendor) {
  return Builtin().common[static_cast<std::size_t>(vendor)];
}

std::vector<std::string> KnobNames() {
  std::vector<std::string> names;
  for (const Knob& knob : Builtin().knobs)
    names.push_back(knob.name);
  return names;
}

bool IsVariableName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= 200 && letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace jarvis::launch
