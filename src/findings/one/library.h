// Which library a kernel comes from, by its op's and its own name.
#pragma once

#include <string_view>

namespace jarvis::findings {

// "AITER", "Tensile", "cuBLAS", "PyTorch Native"...; empty: not known. By op first, then by kernel.
std::string_view LibraryOfOp(std::string_view op);
std::string_view LibraryOfKernel(std::string_view kernel);

}  // namespace jarvis::findings
