// What the forms of rocprofv3's output have in common: calls, ranges, kernels and copies as events,
// and which call launched which work.
//
// A call has an id of its own (stack_id of a database, internal correlation of the other forms) and
// knows the one that it was made in; work knows the innermost call on its thread when it was handed
// over, which is an HSA call where those were recorded, too.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "trace/import/shared/args_text.h"
#include "trace/import/shared/event_writer.h"
#include "trace/import/shared/make_trace.h"
#include "trace/import/shared/owners.h"
#include "trace/import/shared/table_reader.h"

namespace jarvis::trace {

// Kinds of calls by the words that the producers use.
enum class RocmWord : std::uint8_t { kHip, kHsa, kMarker, kRccl, kMpi, kOther };
RocmWord RocmWordOf(std::string_view category);

// A set of ids, most of them close together.
class IdSet {
 public:
  void Insert(std::int64_t id);
  bool Has(std::int64_t id) const;

 private:
  static constexpr std::int64_t kDenseMax = std::int64_t{1} << 30;
  std::vector<bool> dense_;
  std::set<std::int64_t> sparse_;
};

// Calls by their ids.
struct RocmCalls {
  IdSet hip;
  std::unordered_map<std::int64_t, std::int64_t> parent_of;  // of calls below those of HIP
  bool has_hip = false;

  // The HIP call that work was launched in; `own` where none is known.
  std::int64_t LaunchOf(std::int64_t own, std::int64_t parent) const;
};

struct RocmAgent {
  bool gpu = false;
  std::int64_t index = kNoCell;  // among the GPUs
  Device about;
};

struct RocmCall {
  RocmWord word;
  std::string_view name;
  std::int64_t start, end;
  OwnerId process;
  std::int64_t tid;
  std::int64_t correlation;         // kNoCell: none
  std::string_view text;            // of a range; empty: its name
  std::string_view other;           // args, raw
  std::int64_t name_key = kNoCell;  // the same for the same name; kNoCell: not known
};

struct RocmKernel {
  std::string_view name;
  std::int64_t start, end;
  OwnerId process;
  std::int64_t agent;
  std::int64_t lane;
  std::int64_t correlation;
  std::int64_t grid[3];  // work-items
  std::int64_t block[3];
  std::int64_t shared_bytes, scratch, vgpr, agpr, sgpr, queue, graph, node;
  std::int64_t name_key = kNoCell;  // the same for the same name; kNoCell: not known
};

struct RocmCopy {
  std::string_view word;  // "MEMORY_COPY_HOST_TO_DEVICE"
  std::int64_t start, end;
  OwnerId process;
  std::int64_t source, target;  // agents
  std::int64_t lane;
  std::int64_t correlation;
  std::int64_t bytes;
};

// Writes them. Times were checked by whoever calls.
class RocmEvents {
 public:
  RocmEvents(Owners& owners, EventWriter& writer, TableTally& tally)
      : owners_(owners), writer_(writer), tally_(tally) {}

  // Agents of what is written from now on.
  std::unordered_map<std::int64_t, RocmAgent> agents;
  bool by_queue = false;  // lanes of work are queues

  // REQUIRES: HSA calls below HIP calls were left out before.
  Status Add(const RocmCall& call);
  Status Add(const RocmKernel& kernel);
  Status Add(const RocmCopy& copy);

 private:
  // Names by their keys.
  struct Names {
    std::unordered_map<std::int64_t, StringId> by_key;
    std::int64_t last_key = kNoCell;
    StringId last = kNoString;
  };
  StringId NameOf(Names* names, std::int64_t key, std::string_view name);
  OwnerId GpuOf(OwnerId process, std::int64_t agent);
  StringId ArgsOf(const RocmKernel& kernel, std::int64_t device);

  Names call_names_, kernel_names_;
  MadeTexts<15> kernel_args_;
  OwnerId last_process_ = 0;
  std::int64_t last_agent_ = kNoCell;
  OwnerId last_gpu_ = 0;
  Owners& owners_;
  EventWriter& writer_;
  TableTally& tally_;
  ArgsText text_;
};

// Numbers among the variables of an environment, of which nothing else is ever kept.
std::optional<std::int64_t> RankIn(simdjson::dom::element environment);
std::optional<std::int64_t> WorldSizeIn(simdjson::dom::element environment);

// All of it put together. `form`: "rocpd 3.0.3". kNotATrace: there is no event.
Result<Trace> MakeRocmTrace(EventWriter writer, Owners& owners, const TableTally& tally,
                            std::string form, RecordingFacts facts);

}  // namespace jarvis::trace
