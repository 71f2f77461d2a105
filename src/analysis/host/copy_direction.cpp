#include "analysis/host/copy_direction.h"

#include <algorithm>
#include <initializer_list>

#include "base/text.h"

namespace jarvis::analysis {

CopyDirection DirectionOf(std::string_view copy) {
  const auto any = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return ContainsNoCase(copy, part); });
  };
  if (any({"dtoh", "d2h", "device -> host", "devicetohost", "device_to_host", "-> pageable"}))
    return CopyDirection::kToHost;
  if (any({"htod", "h2d", "host -> device", "hosttodevice", "host_to_device"}))
    return CopyDirection::kToDevice;
  if (any({"dtod", "d2d", "device -> device", "devicetodevice", "device_to_device"}))
    return CopyDirection::kOnDevice;
  if (any({"ptop", "p2p", "peer"})) return CopyDirection::kBetweenDevices;
  return CopyDirection::kOther;
}

}  // namespace jarvis::analysis
