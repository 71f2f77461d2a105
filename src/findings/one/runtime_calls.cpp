#include "findings/one/runtime_calls.h"

namespace jarvis::findings {
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
         Has(name, "LazyFunction") || Has(name, "InitDevice");
}

bool IsGraphLaunch(std::string_view name) {
  return Has(name, "GraphLaunch");
}

}  // namespace jarvis::findings
