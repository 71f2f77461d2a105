// Calls, ranges and the recorder's own overhead of an export.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/import/nsys/nsys_scope.h"
#include "trace/import/shared/args_text.h"

namespace jarvis::trace {

// The name of a call without the version that the driver's table gives it: cudaLaunchKernel_v7000.
std::string_view CallName(std::string_view recorded);

class NsysHost : public NsysPart {
 public:
  using NsysPart::NsysPart;
  Status Run();

  // Events that were open when the recording ended, by number of the writer.
  const std::vector<std::uint32_t>& open_ranges() const { return open_ranges_; }

 private:
  // A field of a payload: where it lies, and how wide it is.
  struct Field {
    std::string name;
    std::size_t offset;
    std::size_t bytes;
  };

  Status Calls();
  void ReadDomains();
  void ReadSchemas();
  // The numbers of a payload, into text_; the rank that it tells, too.
  void AddPayload(std::string_view bytes, OwnerId process);
  Status Ranges();
  Status Range(io::SqliteRows& row);
  Status Overheads();

  ArgsText text_;
  std::map<std::int64_t, std::string> domains_;
  std::map<std::int64_t, std::vector<Field>> schemas_;
  std::vector<std::uint32_t> open_ranges_;
};

}  // namespace jarvis::trace
