#include "tools/shared/platform_choice.h"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "io/text_file.h"
#include "perf/device_match.h"
#include "session/device_units.h"

namespace jarvis::tools {
namespace {

constexpr std::size_t kPlatformBytesMax = std::size_t{1} << 20;
constexpr const char* kHowToGive =
    "pass platform: a name (MI300X, H100...) or a JSON file with name, mem_bw_gbps and "
    "max_achievable_tflops";

// A few of the many; docs/platforms.md has all.
std::string NamesOf() {
  constexpr std::size_t kNamed = 20;
  const std::span<const perf::Platform> all = perf::Platforms();
  std::string names;
  for (std::size_t i = 0; i < kNamed; ++i)
    names += (names.empty() ? "" : ", ") + all[i * all.size() / kNamed].name;
  return names + fmt::format(" and {} more", all.size() - kNamed);
}

Result<PlatformChoice> Named(const io::FilePolicy& files, const std::string& wanted) {
  PlatformChoice choice;
  if (const perf::Platform* known = perf::FindPlatform(wanted)) {
    choice.platform = *known;
    return choice;
  }
  if (wanted.find('/') != std::string::npos || LowerAscii(wanted).ends_with(".json")) {
    JV_ASSIGN(const std::string text, io::ReadTextFile(files, wanted, kPlatformBytesMax));
    JV_ASSIGN(choice.platform, perf::ReadPlatform(text, wanted));
    choice.note = fmt::format("figures of {} are from {}", choice.platform->name, wanted);
    return choice;
  }
  std::vector<std::string_view> names;
  for (const perf::Platform& platform : perf::Platforms())
    names.push_back(platform.name);
  const auto close = Closest(wanted, names);
  return Fail(ErrorCode::kBadValue,
              fmt::format("platform: \"{}\" is not known{}. Known: {}", Utf8Prefix(wanted, 40),
                          close ? fmt::format("; did you mean {}?", *close) : "", NamesOf()),
              kHowToGive);
}

// Of a device whose name tells nothing. All devices of the machine have the same name here.
const perf::Platform* ByProperties(const session::LoadedTrace& trace) {
  const perf::Platform* known = nullptr;
  for (const trace::Device& device : trace.trace().metadata.devices) {
    const perf::Platform* one = perf::MatchProperties(session::PropertiesOf(device));
    if (one == nullptr || (known != nullptr && one != known)) return nullptr;
    known = one;
  }
  return known;
}

}  // namespace

Result<PlatformChoice> ChoosePlatform(const io::FilePolicy& files, const std::string& wanted,
                                      const session::LoadedTrace* trace) {
  if (!wanted.empty()) return Named(files, wanted);
  PlatformChoice choice;
  if (trace == nullptr) {
    choice.note = fmt::format("no roof without a platform: {}", kHowToGive);
    return choice;
  }
  // A machine lists all its devices, of which one was recorded: told apart only if they differ.
  std::set<std::string> names;
  for (const trace::Device& device : trace->trace().metadata.devices)
    names.insert(device.name);
  if (names.size() > 1) {
    choice.note = fmt::format("the machine has different GPUs: {}", kHowToGive);
    return choice;
  }
  const std::string name = names.empty() ? std::string() : *names.begin();
  if (const perf::Platform* known = perf::MatchDevice(name)) {
    choice.platform = *known;
    choice.note = fmt::format("platform {} by the trace's device \"{}\"", known->name, name);
    return choice;
  }
  if (const perf::Platform* known = ByProperties(*trace)) {
    choice.platform = *known;
    choice.note = fmt::format("platform {} by the properties of device \"{}\"", known->name,
                              Utf8Prefix(name, 60));
    return choice;
  }
  const std::string_view refusal = perf::RefusalOf(name);
  const auto of_class = session::ClassMatchOf(*trace);
  if (of_class && refusal.empty()) {
    choice.platform = *of_class->platform;
    choice.note =
        fmt::format("platform {}: the slowest device with the properties of the trace's ({}); {}",
                    of_class->platform->name, of_class->family, kHowToGive);
    return choice;
  }
  if (const auto units = session::UnitsMatchOf(*trace)) {
    choice.platform = *units->platform;
    choice.note = fmt::format(
        "platform {}: the trace does not name its device, whose kernels ran on as many units as "
        "those of {}; {}",
        units->platform->name, units->family, kHowToGive);
    return choice;
  }
  choice.note = name.empty()
                    ? fmt::format("the trace does not name its device: {}", kHowToGive)
                    : fmt::format("no figures for device \"{}\"{}{}: {}", Utf8Prefix(name, 60),
                                  refusal.empty() ? "" : ", ", refusal, kHowToGive);
  return choice;
}

}  // namespace jarvis::tools
