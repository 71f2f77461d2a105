#include "findings/one/product_kernels.h"

#include <cctype>

#include "base/text.h"

namespace jarvis::findings {

int ArchitectureOf(std::string_view kernel) {
  if (kernel.starts_with("nvjet_")) return 90;  // cuBLAS has them for Hopper and newer alone
  for (const std::string_view mark : {"cutlass_", "cutlass3x_sm", "sm"}) {
    for (std::size_t at = kernel.find(mark); at != kernel.npos; at = kernel.find(mark, at + 1)) {
      if (mark == "sm" && at > 0 && std::isalnum(static_cast<unsigned char>(kernel[at - 1])) != 0)
        continue;
      int number = 0;
      std::size_t digit = at + mark.size();
      while (digit < kernel.size() && number < 1000 &&
             std::isdigit(static_cast<unsigned char>(kernel[digit])) != 0) {
        number = 10 * number + (kernel[digit++] - '0');
      }
      if (number >= 50 && number < 200) return number;
    }
  }
  return 0;
}

bool IsFp32ProductKernel(std::string_view kernel) {
  if (ContainsNoCase(kernel, "tf32") || kernel.find("s1688") != kernel.npos ||
      kernel.find("tensorop") != kernel.npos || ContainsNoCase(kernel, "xf32")) {
    return false;
  }
  // Of operands of 16 bits, whatever its family is called.
  for (const std::string_view half :
       {"<__nv_bfloat16", "<__half", "<c10::BFloat16", "<c10::Half", "<bf16", "<half"}) {
    if (kernel.find(half) != kernel.npos) return false;
  }
  if (kernel.starts_with("Cijk_")) {
    return kernel.find("_SB_") != kernel.npos || kernel.find("_S_B_") != kernel.npos ||
           kernel.find("_SS_") != kernel.npos;
  }
  return ContainsNoCase(kernel, "sgemm") || kernel.find("simt") != kernel.npos ||
         kernel.find("ffma") != kernel.npos || kernel.find("gemmSN") != kernel.npos ||
         kernel.find("scudnn") != kernel.npos;
}

bool IsUnalignedKernel(std::string_view kernel, int newest_architecture) {
  for (const std::string_view mark : {"align1", "align2"}) {
    for (std::size_t at = kernel.find(mark); at != kernel.npos; at = kernel.find(mark, at + 1)) {
      const std::size_t end = at + mark.size();
      if (end >= kernel.size() || std::isdigit(static_cast<unsigned char>(kernel[end])) == 0)
        return true;
    }
  }
  constexpr int kAmpere = 80;
  const int own = ArchitectureOf(kernel);
  return own > 0 && own < kAmpere && newest_architecture >= kAmpere;
}

}  // namespace jarvis::findings
