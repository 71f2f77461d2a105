// What a GPU can do: memory, bandwidth, and the rates of its matrix and vector units.
//
// Units: 10^9 bytes, 10^9 bytes/s, 10^12 operations/s (dense: no structured sparsity). A rate is
// named by its spec key, <unit>_<precision>: matrix_bf16, vector_fp32... A figure that is not known
// is absent, never 0. Where each figure comes from stands in platforms.json and in
// docs/platforms.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace jarvis::perf {

// What kind of a figure a rate is; every number that is made from one says so.
enum class Source : std::uint8_t {
  kPeak,         // the vendor's dense peak
  kDerived,      // a peak that was calculated from another figure of the device
  kAchievable,   // MAF: what a well tuned kernel reaches, measured or given by the user
  kNotMeasured,  // listed as achievable, but a peak or a fraction of one
};
// "peak", "derived peak", "achievable", "achievable, not measured".
std::string_view SourceText(Source source);
// kPeak and kDerived.
bool IsPeak(Source source);

struct Ceiling {
  double tflops = 0;
  Source source = Source::kPeak;
  bool operator==(const Ceiling&) const = default;
};
using Ceilings = std::map<std::string, Ceiling, std::less<>>;  // by spec key

struct Platform {
  std::string name;
  std::string vendor;
  std::optional<double> memory_gb;
  std::optional<double> mem_bw_gbps;
  Ceilings peak_tflops;  // kPeak, kDerived
  Ceilings maf_tflops;   // kAchievable, kNotMeasured
  // The achievable rates that TraceLens ships for the device, where they are not maf_tflops. Only
  // for compatible mode; see TraceLensCeilings.
  Ceilings tracelens_tflops;
  std::string confidence;  // recalled, third-party, derived, uncertain; empty: the user's own file
  std::string note;
  std::vector<std::string> device_names;  // what traces call it
  std::vector<std::string> aliases;       // what people call it
  bool operator==(const Platform&) const = default;
};

// The platforms that the program knows, in the order of platforms.json.
std::span<const Platform> Platforms();

// By the name a person gives: "MI300X", "mi 300x", "h100", "H100-SXM". Case, blanks and separators
// do not count. Null: unknown.
const Platform* FindPlatform(std::string_view name);

// By the name a trace gives its device: "AMD Instinct MI300X", "NVIDIA H100 80GB HBM3". The whole
// name must be explained by an entry (words without meaning such as NVIDIA, GPU, OAM apart):
// variants of a card differ by up to a factor of two, so none inherits the figures of another.
// Null: unknown, or refused.
const Platform* MatchDevice(std::string_view device_name);
// Why MatchDevice refuses a name that it knows, as half a sentence; empty otherwise.
std::string_view RefusalOf(std::string_view device_name);

// A user's own device: a JSON object with name, mem_bw_gbps, memory_gb, max_achievable_tflops and,
// beyond the reference's schema, peak_tflops_dense. Every member may be missing and only disables
// what needs it (a missing name becomes the file's); unknown members are ignored. `filename` is
// for messages. Errors: kBadValue with file, member and what was expected.
Result<Platform> ReadPlatform(std::string_view text, std::string_view filename);

// The rate to hold a kernel against: the achievable one if the platform has it, else the peak.
// Absent: the platform has no figure for this spec (or the spec is empty: unknown).
std::optional<Ceiling> CeilingFor(const Platform& platform, std::string_view spec);
std::optional<Ceiling> PeakFor(const Platform& platform, std::string_view spec);

// Both with rates of the same kind, spec by spec: achievable ones where both were measured, else
// the peaks of both. What one device reaches, held against what the other's data sheet promises,
// says nothing about either.
std::pair<Platform, Platform> LikeWithLike(Platform a, Platform b);

// The rates that TraceLens uses for this platform: its own list for the two devices it ships (with
// MI325X bf16 843 where our default is 708), else what the user's file says; never a peak.
const Ceilings& TraceLensCeilings(const Platform& platform);

}  // namespace jarvis::perf
