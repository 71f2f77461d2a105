// What runtime and driver calls do, by their names: launching, waiting, allocating, setting up.
#pragma once

#include <cstdint>
#include <string_view>

namespace jarvis::analysis {

// What a call of the CUDA or HIP runtime or driver is there for.
enum class RuntimeKind : std::uint8_t {
  kLaunch,       // of one kernel
  kGraphLaunch,  // of a recorded graph: the calls of its kernels are not in the trace
  kCopy,        // memcpy or memset; whether the host waits is IsSyncCall's and the trace's business
  kDeviceSync,  // waits for all work of the device
  kStreamSync,  // waits for the work of a stream
  kEventSync,   // waits for an event
  kFree,        // gives memory back: waits for the device
  kAllocate,    // takes or registers memory: may wait for the device
  kSetUp,       // loads code, makes streams, asks for attributes
  kEventRecord,  // marks a place in a stream
  kStreamWait,   // a stream is told to wait for an event; the host does not
  kOther,
};
RuntimeKind RuntimeKindOf(std::string_view name);

// The host waits for the GPU: synchronisations, and copies that return when they are done.
bool IsSyncCall(std::string_view name);
// Memory is taken or given back.
bool IsMemoryCall(std::string_view name);
// Code is loaded or a library set up.
bool IsSetUpCall(std::string_view name);
// A recorded graph is replayed: the calls of its kernels are not in the trace.
bool IsGraphLaunch(std::string_view name);

}  // namespace jarvis::analysis
