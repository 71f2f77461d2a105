// Directories of rocprofv3 files for tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "rocprof/read/capture.h"
#include "support/temp_folder.h"

namespace jarvis::rocprof {

constexpr std::string_view kAgentHeader =
    R"("Node_Id","Logical_Node_Id","Agent_Type","Max_Waves_Per_Simd","Lds_Size_In_Kb","Wave_Front_Size","Num_Xcc","Cu_Count","Num_Shader_Banks","Simd_Per_Cu","Max_Engine_Clk_Fcompute","Max_Waves_Per_Cu","Name","Product_Name")"
    "\n";

// A processor and two GPUs of 4 compute units, 2 XCCs and 1000 MHz.
inline std::string Agents() {
  return std::string(kAgentHeader) +
         "0,0,\"CPU\",0,0,0,1,8,0,0,3000,0,\"a CPU\",\"a CPU\"\n"
         "1,1,\"GPU\",8,64,64,2,4,2,4,1000,32,\"gfx942\",\"AMD Instinct MI300X\"\n"
         "2,2,\"GPU\",8,64,64,2,4,2,4,1000,32,\"gfx942\",\"AMD Instinct MI300X\"\n";
}

class Files {
 public:
  void Write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    folder_.Write(name, text);
  }
  Capture Read(const std::string& name = "") const {
    Job job;
    Result<Capture> capture =
        ReadCapture(io::FilePolicy(), folder_.path() + "/" + name, {.threads = 1}, job);
    REQUIRE(capture);
    return std::move(*capture);
  }
  const std::string& path() const { return folder_.path(); }

 private:
  testing::TempFolder folder_;
};

}  // namespace jarvis::rocprof
