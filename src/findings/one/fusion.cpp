#include "findings/one/fusion.h"

#include "findings/one/enum_text.h"

namespace jarvis::findings {

std::string_view FusionText(FusionKind kind) {
  return EnumText({"attention", "norm", "activation", "rotary", "epilogue", "optimizer", "chain"},
                  kind);
}
std::string_view DependencyText(Dependency dependency) {
  return EnumText({"proven", "plausible", "unknown"}, dependency);
}

}  // namespace jarvis::findings
