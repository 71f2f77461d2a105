#include "io/file_kind.h"

#include <string>

#include <doctest/doctest.h>

namespace jarvis::io {
namespace {

using namespace std::string_literals;

std::string Kind(const std::string& head) {
  const auto kind = TellFileKind(head);
  if (!kind) return "";
  CHECK_FALSE(kind->next.empty());
  return std::string(kind->what);
}

void Tells(const std::string& head, const std::string& part) {
  const std::string what = Kind(head);
  CHECK_MESSAGE(what.find(part) != std::string::npos, what, " for ", part);
}

TEST_CASE("what a file is, by its content") {
  const std::string page(80, '\0');
  Tells("SQLite format 3\0"s + page, "SQLite");
  Tells("NVIDIA Tegra Profiler Report#", "Nsight Systems report");
  Tells("NVR\0\x01"s, "Nsight Compute");
  Tells("PK\x03\x04........[Content_Types].xml", "Excel");
  Tells("PK\x03\x04........rank0.json", "zip");
  Tells("rank0.json" + std::string(247, '\0') + "ustar", "tar");
  Tells("PERFILE2\x68"s, "perf");
  Tells("\x28\0\0\0\0\0\0\0{\"w\":{\"data_offsets\":[0,1]}}"s, "safetensors");
  Tells("\x18\0\0\0\0\0\0\0\xA3\x7F\x4B\x22\x09\0\0\xC0\x1A\x0D"s + "brain.Event:2", "TensorBoard");
  Tells("\x80\x04\x95...device_traces..segments", "allocator");
  Tells("\x80\x02}nccl_version", "flight recorder");
  Tells("\x0A\x1C\x08\x01\x12\x09/host:CPU\0"s, "XPlane");
  Tells("\x0A\x0B\x50\x01\x58\x01\x9D\0\x39"s, "Perfetto");
  Tells("\x07\x0A\x05\x30.0.4\0"s, "Chakra");
  Tells("version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS");
  Tells("\n <!DOCTYPE HTML><html>", "web page");
  Tells("-----  ----\n Name   Self CPU %   \n-----", "key_averages");
  Tells("\"Kind\",\"Agent_Id\",\"Queue_Id\"\n\"KERNEL\",1,2\n", "rocprofv3");
  Tells("Name,Calls\nkernel,3\n", "CSV");
  Tells(R"({"schema": "1.1.1", "pid": 1, "nodes": []})", "execution trace");
  Tells(R"({"version": "2.4", "pg_config": {}, "entries": []})", "flight recorder");
  Tells("\xEF\xBB\xBF{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"}",
        "speedscope");
  Tells("[[0, 1], [2, 3]]", "memory timeline");
}

TEST_CASE("what may be a trace is none of them") {
  for (const char* head :
       {"", "{", "[", R"({"traceEvents": [], "schema": 1, "nodes": 2})", R"([{"ph":"X"}])",
        R"({"schemaVersion": 1, "deviceProperties": [)", "   \n", "plain words", "one, two"}) {
    CHECK_MESSAGE(Kind(head) == "", head);
  }
}

}  // namespace
}  // namespace jarvis::io
