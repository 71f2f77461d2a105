#include "perf/platform.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/check.h"
#include "base/dom_parse.h"
#include "base/text.h"
#include "perf/embedded_file.h"

namespace jarvis::perf {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t kNameBytesMax = 200;

// ---- names

// Letters and digits in lower case, cut wherever something else stands.
std::vector<std::string> Words(std::string_view name) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : LowerAscii(name)) {
    const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (part && !inside) words.emplace_back();
    if (part) words.back().push_back(c);
    inside = part;
  }
  return words;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words)
    joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

// Without separators: "MI 300-X" and "mi300x" are one.
std::string Compact(std::string_view name) {
  std::string compact;
  for (const std::string& word : Words(name))
    compact += word;
  return compact;
}

// A device's name without the words that do not tell cards apart. VF: a virtual function that is
// the whole GPU, as cloud machines show it.
std::string Essence(std::string_view device_name) {
  static constexpr std::array<std::string_view, 12> kNeutral = {
      "nvidia", "amd", "instinct", "tesla", "geforce", "quadro",
      "radeon", "tm",  "gpu",      "oam",   "vf",      "accelerator"};
  std::vector<std::string> words = Words(device_name);
  std::erase_if(words, [](const std::string& word) {
    return std::find(kNeutral.begin(), kNeutral.end(), word) != kNeutral.end();
  });
  return Joined(words);
}

bool Names(const std::vector<std::string>& device_names, const std::string& essence) {
  return std::any_of(device_names.begin(), device_names.end(), [&](const std::string& name) {
    return !essence.empty() && Essence(name) == essence;
  });
}

// ---- reading

// Reads members of one object; remembers the first thing that was wrong.
class Reader {
 public:
  Reader(object json, std::string_view filename, std::string_view where)
      : json_(json), filename_(filename), where_(where) {}

  void Text(const char* key, std::string* out) {
    element value;
    if (!Find(key, &value)) return;
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return Wrong(key, "a text");
    *out = Utf8Prefix(text, kNameBytesMax * 5);
  }

  void Texts(const char* key, std::vector<std::string>* out) {
    element value;
    if (!Find(key, &value)) return;
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS) return Wrong(key, "a list of texts");
    for (const element item : list) {
      std::string_view text;
      if (item.get(text) != simdjson::SUCCESS) return Wrong(key, "a list of texts");
      out->emplace_back(text);
    }
  }

  void Positive(const char* key, std::optional<double>* out) {
    element value;
    if (!Find(key, &value)) return;
    double number = 0;
    if (!IsPositive(value, &number)) return Wrong(key, "a number above 0");
    *out = number;
  }

  void Rates(const char* key, Source source, Ceilings* out) {
    element value;
    if (!Find(key, &value)) return;
    object rates;
    if (value.get(rates) != simdjson::SUCCESS) {
      return Wrong(key, "an object such as {\"matrix_bf16\": 708}");
    }
    for (const auto member : rates) {
      double tflops = 0;
      if (!IsPositive(member.value, &tflops)) {
        return Wrong(fmt::format("{}.{}", key, Utf8Prefix(member.key, kNameBytesMax)),
                     "TFLOP/s, a number above 0");
      }
      (*out)[std::string(member.key)] = {tflops, source};
    }
  }

  // Marks the rates that are named in a list of keys.
  void Mark(const char* key, Source source, Ceilings* rates) {
    std::vector<std::string> specs;
    Texts(key, &specs);
    for (const std::string& spec : specs) {
      const auto found = rates->find(spec);
      if (found == rates->end()) return Wrong(key, "names of rates that the platform has");
      found->second.source = source;
    }
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  // A null is as good as nothing.
  bool Find(const char* key, element* value) {
    return json_[key].get(*value) == simdjson::SUCCESS && !value->is_null();
  }
  static bool IsPositive(const element& value, double* out) {
    return value.get(*out) == simdjson::SUCCESS && std::isfinite(*out) && *out > 0;
  }
  void Wrong(std::string_view key, std::string_view expected) {
    if (error_) return;
    error_ = Error{ErrorCode::kBadValue,
                   fmt::format("{}: {}{}: expected {}", filename_, where_, key, expected),
                   "a platform file looks like {\"name\":\"MI300X\",\"mem_bw_gbps\":5300,"
                   "\"max_achievable_tflops\":{\"matrix_bf16\":708}}"};
  }

  object json_;
  std::string_view filename_;
  std::string_view where_;
  std::optional<Error> error_;
};

Result<Platform> PlatformOf(object json, std::string_view filename, std::string_view where) {
  Platform platform;
  Reader reader(json, filename, where);
  reader.Text("name", &platform.name);
  reader.Text("vendor", &platform.vendor);
  reader.Positive("memory_gb", &platform.memory_gb);
  reader.Positive("mem_bw_gbps", &platform.mem_bw_gbps);
  reader.Rates("peak_tflops_dense", Source::kPeak, &platform.peak_tflops);
  reader.Mark("derived", Source::kDerived, &platform.peak_tflops);
  reader.Rates("max_achievable_tflops", Source::kAchievable, &platform.maf_tflops);
  reader.Mark("not_measured", Source::kNotMeasured, &platform.maf_tflops);
  reader.Rates("tracelens_tflops", Source::kAchievable, &platform.tracelens_tflops);
  reader.Text("confidence", &platform.confidence);
  reader.Text("note", &platform.note);
  reader.Texts("device_names", &platform.device_names);
  reader.Texts("aliases", &platform.aliases);
  if (reader.error()) return tl::make_unexpected(*reader.error());
  return platform;
}

Result<object> ObjectOf(simdjson::dom::parser* parser, std::string_view text,
                        std::string_view filename) {
  element document;
  object json;
  auto error = ParseDom(parser, text, &document);
  if (error == simdjson::SUCCESS) error = document.get(json);
  if (error == simdjson::INCORRECT_TYPE) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{}: expected one JSON object that describes a platform", filename));
  }
  if (error != simdjson::SUCCESS) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{}: is not JSON: {}", filename, simdjson::error_message(error)));
  }
  return json;
}

// ---- the platforms in the program

struct Refusal {
  std::vector<std::string> device_names;
  std::string why;
};

struct Known {
  std::vector<Platform> platforms;
  std::vector<Refusal> refusals;
};

Result<Known> ReadKnown(std::string_view text) {
  static constexpr std::string_view kFile = "platforms.json";
  simdjson::dom::parser parser;
  JV_ASSIGN(const object json, ObjectOf(&parser, text, kFile));
  simdjson::dom::array platforms;
  simdjson::dom::array refused;
  if (json["platforms"].get(platforms) != simdjson::SUCCESS ||
      json["refused"].get(refused) != simdjson::SUCCESS) {
    return Fail(ErrorCode::kInternal, "platforms.json: expected the lists platforms and refused");
  }
  Known known;
  for (const element item : platforms) {
    object one;
    if (item.get(one) != simdjson::SUCCESS) return Fail(ErrorCode::kInternal, "no object");
    const std::string where = fmt::format("platforms[{}].", known.platforms.size());
    JV_ASSIGN(Platform platform, PlatformOf(one, kFile, where));
    known.platforms.push_back(std::move(platform));
  }
  for (const element item : refused) {
    object one;
    if (item.get(one) != simdjson::SUCCESS) return Fail(ErrorCode::kInternal, "no object");
    Refusal refusal;
    Reader reader(one, kFile, "refused.");
    reader.Texts("device_names", &refusal.device_names);
    reader.Text("why", &refusal.why);
    if (reader.error()) return tl::make_unexpected(*reader.error());
    known.refusals.push_back(std::move(refusal));
  }
  return known;
}

const Known& TheKnown() {
  static const Known known = [] {
    Result<Known> read = ReadKnown(PlatformFiles().front().text);
    JV_CHECK(read);  // built in and tested
    return std::move(*read);
  }();
  return known;
}

std::optional<Ceiling> Find(const Ceilings& ceilings, std::string_view spec) {
  const auto found = ceilings.find(spec);
  if (found == ceilings.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::string_view SourceText(Source source) {
  switch (source) {
    case Source::kPeak: return "peak";
    case Source::kDerived: return "derived peak";
    case Source::kAchievable: return "achievable";
    case Source::kNotMeasured: return "achievable, not measured";
  }
  return {};
}

bool IsPeak(Source source) {
  return source == Source::kPeak || source == Source::kDerived;
}

std::span<const Platform> Platforms() {
  return TheKnown().platforms;
}

const Platform* FindPlatform(std::string_view name) {
  const std::string compact = Compact(name);
  if (compact.empty()) return nullptr;
  const auto same = [&](const std::string& other) { return Compact(other) == compact; };
  for (const Platform& platform : Platforms()) {
    if (same(platform.name)) return &platform;
  }
  for (const Platform& platform : Platforms()) {
    if (std::any_of(platform.aliases.begin(), platform.aliases.end(), same)) return &platform;
  }
  return nullptr;
}

const Platform* MatchDevice(std::string_view device_name) {
  const std::string essence = Essence(device_name);
  for (const Platform& platform : Platforms()) {
    if (Names(platform.device_names, essence)) return &platform;
  }
  return nullptr;
}

std::string_view RefusalOf(std::string_view device_name) {
  const std::string essence = Essence(device_name);
  for (const Refusal& refusal : TheKnown().refusals) {
    if (Names(refusal.device_names, essence)) return refusal.why;
  }
  return {};
}

Result<Platform> ReadPlatform(std::string_view text, std::string_view filename) {
  simdjson::dom::parser parser;
  JV_ASSIGN(const object json, ObjectOf(&parser, text, filename));
  JV_ASSIGN(Platform platform, PlatformOf(json, filename, ""));
  if (platform.name.empty()) {
    const std::size_t slash = filename.find_last_of('/');
    platform.name = filename.substr(slash == std::string_view::npos ? 0 : slash + 1);
  }
  return platform;
}

std::optional<Ceiling> CeilingFor(const Platform& platform, std::string_view spec) {
  const std::optional<Ceiling> achievable = Find(platform.maf_tflops, spec);
  return achievable ? achievable : PeakFor(platform, spec);
}

std::optional<Ceiling> PeakFor(const Platform& platform, std::string_view spec) {
  return Find(platform.peak_tflops, spec);
}

std::pair<Platform, Platform> LikeWithLike(Platform a, Platform b) {
  const auto measured = [](const Platform& platform, const std::string& spec) {
    const std::optional<Ceiling> rate = Find(platform.maf_tflops, spec);
    return rate && rate->source == Source::kAchievable;
  };
  const Platform of_a = a;
  const Platform of_b = b;
  const auto keep = [&](const auto& rate) {
    return measured(of_a, rate.first) && measured(of_b, rate.first);
  };
  std::erase_if(a.maf_tflops, [&](const auto& rate) { return !keep(rate); });
  std::erase_if(b.maf_tflops, [&](const auto& rate) { return !keep(rate); });
  return {std::move(a), std::move(b)};
}

const Ceilings& TraceLensCeilings(const Platform& platform) {
  return platform.tracelens_tflops.empty() ? platform.maf_tflops : platform.tracelens_tflops;
}

}  // namespace jarvis::perf
