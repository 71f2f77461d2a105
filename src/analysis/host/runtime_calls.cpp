#include "analysis/host/runtime_calls.h"

namespace jarvis::analysis {
namespace {

bool Has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool IsCopy(std::string_view name) {
  return Has(name, "Memcpy") || Has(name, "memcpy");
}

}  // namespace

bool IsSyncCall(std::string_view name) {
  if (Has(name, "Synchronize")) return true;
  // hipMemcpyWithStream waits; cudaMemcpy and hipMemcpy do for all but copies on the device.
  return IsCopy(name) && !Has(name, "Async") && !Has(name, "Symbol");
}

bool IsMemoryCall(std::string_view name) {
  return Has(name, "Malloc") || Has(name, "MemAlloc") || Has(name, "Free") ||
         Has(name, "HostAlloc") || Has(name, "HostRegister") || Has(name, "HostUnregister") ||
         Has(name, "MemMap") || Has(name, "MemCreate") || Has(name, "MemPool");
}

bool IsSetUpCall(std::string_view name) {
  return Has(name, "ModuleLoad") || Has(name, "LibraryLoad") || Has(name, "LinkCreate") ||
         Has(name, "StreamCreate") || Has(name, "CtxCreate") || Has(name, "FuncGetAttributes") ||
         Has(name, "LazyFunction") || Has(name, "InitDevice") ||
         // Questions about the device: whichever comes first makes the context.
         Has(name, "DeviceGet") || Has(name, "GetDevice") || Has(name, "SetDevice") ||
         Has(name, "PrimaryCtx");
}

bool IsGraphLaunch(std::string_view name) {
  return Has(name, "GraphLaunch");
}

RuntimeKind RuntimeKindOf(std::string_view name) {
  if (IsGraphLaunch(name)) return RuntimeKind::kGraphLaunch;
  if (Has(name, "EventSynchronize")) return RuntimeKind::kEventSync;
  if (Has(name, "StreamSynchronize")) return RuntimeKind::kStreamSync;
  if (Has(name, "Synchronize")) return RuntimeKind::kDeviceSync;
  if (Has(name, "StreamWaitEvent")) return RuntimeKind::kStreamWait;
  if (Has(name, "EventRecord")) return RuntimeKind::kEventRecord;
  if (IsSetUpCall(name)) return RuntimeKind::kSetUp;
  if (IsCopy(name) || Has(name, "Memset") || Has(name, "memset")) return RuntimeKind::kCopy;
  if (IsMemoryCall(name)) {
    // Freeing on a stream (cudaFreeAsync) waits for nobody.
    const bool gives_back = Has(name, "Free") || Has(name, "Unregister");
    if (Has(name, "Async") || Has(name, "MemPool")) return RuntimeKind::kOther;
    return gives_back ? RuntimeKind::kFree : RuntimeKind::kAllocate;
  }
  if (Has(name, "Launch")) return RuntimeKind::kLaunch;
  return RuntimeKind::kOther;
}

}  // namespace jarvis::analysis
