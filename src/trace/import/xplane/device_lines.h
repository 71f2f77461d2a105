// The lines of a device on which work really ran: a GPU's streams, a TPU's ops. Other lines of a
// device are drawn from these by converters.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_decoder.h"
#include "trace/import/xplane/op_table.h"
#include "trace/import/xplane/space.h"

namespace jarvis::trace::xplane {

// Which device a plane is of; `name` empty: of none that is read.
struct DevicePlane {
  const Plane* plane = nullptr;
  std::string name;  // "0", "0 SparseCore 1": the device's number, as the process of its events
  bool tpu = false, amd = false;
};
// All of the file, by kind and number.
std::vector<DevicePlane> DevicesOf(const Space& space);
// The lines of a device whose events are work.
std::vector<const Line*> WorkLines(const DevicePlane& device);
// The numbers of the steps that a converter drew for a device, by the group of their events.
std::map<std::int64_t, std::int64_t> DrawnSteps(const DevicePlane& device);

// What was left out of a line, and why.
struct LineLosses {
  std::uint64_t totals = 0;  // events without a time of their own
};

// What one line gave.
struct LineEvents {
  DecodedSlice slice;
  LineLosses losses;
  // By event of the slice: the op that it is work of; null: none is named.
  std::vector<const Op*> ops;
  // Of a TPU, likewise: the call that it is a piece of, counted on the line.
  std::vector<std::uint32_t> calls;
  std::set<std::int64_t> groups;  // of its kernels: what converters number as steps
};

// Reads a line of a device; `stream` is where it lies on its device.
LineEvents ReadDeviceLine(const DevicePlane& device, const Line& line, OpTable* ops);

// An event's begin and length in picoseconds; false: they are not to be had, which is counted.
bool TimeOf(const Line& line, const Event& event, Oddities* oddities, std::int64_t* begin_ps);
// What an event is called.
std::string NameOf(const EventName* name, const EventFacts& facts, std::int64_t id);

}  // namespace jarvis::trace::xplane
