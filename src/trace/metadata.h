// What a trace says about the machine and the job, beside its events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/event_store.h"
#include "trace/json_slicer.h"

namespace jarvis::trace {

struct Device {
  std::int64_t id = 0;
  std::string name;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> sm_count;
  std::optional<std::int64_t> warp_size;
  std::optional<std::int64_t> compute_major, compute_minor;  // 9, 0: sm90; of AMD 9, 4: gfx94x
};

// A group of ranks that communicate, as torch.distributed had them.
struct ProcessGroup {
  std::string name, description;
  std::int64_t size = 0;  // ranks
};

// What a recorder of its own kind tells of a recording, which torch.profiler does not.
struct Recording {
  struct Process {
    std::string pid, name;  // name: may be empty
    std::optional<std::int64_t> rank;
    std::vector<std::int64_t> gpus;  // their numbers, of those with work
  };
  struct Seen {  // rows that are no events of a trace
    std::string what;
    std::uint64_t count = 0;
    std::optional<double> ms;
  };
  struct Note {  // what limits trust
    std::string code;
    std::string text;
    std::uint64_t count = 0;  // 0: not about events
    std::string record;       // what to record next time; may be empty
  };
  // What the host ran of the program that has most of the work, whatever was recorded of it.
  struct Runs {
    std::string program;
    std::uint64_t count = 0;         // on the thread that launches most of it; 0: unknown
    std::uint64_t with_kernels = 0;  // of them, those whose GPU work is recorded: the first ones
    std::uint64_t gpus = 0;          // that run it; 0: unknown
  };
  std::vector<Process> processes;
  std::vector<Seen> seen;
  std::vector<Note> notes;
  std::optional<std::int64_t> time_zero_utc_ns;  // since 1970, of time 0
  std::optional<std::int64_t> begin_ns, end_ns;  // of what was recorded, on the events' clock
  std::vector<Seen> start_up;  // of the program before its first GPU work, the longest first
  std::string profiler;        // a name of how_to_record.h
  std::string framework;       // "PyTorch", "JAX", "ggml"; empty: nothing shows it
  // A scope that only a training step has, and one of its optimizer; empty: none is recorded.
  std::string backward_scope, optimizer_scope;
  std::optional<Runs> runs;
};

struct Metadata {
  std::vector<Device> devices;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::string backend;  // of torch.distributed; empty: not initialised
  std::vector<ProcessGroup> groups;
  std::string trace_name;
  bool amd = false;                    // the producer's versions are ROCm's
  bool nvidia = false;                 // ... are CUDA's
  std::optional<Recording> recording;  // absent: torch.profiler's, or another writer of its format
  std::vector<TopLevelValue> values;   // all top-level members, as raw JSON
};

// A recording as the member "recording", from which ReadMetadata reads it.
TopLevelValue ValueOf(const Recording& recording);

Metadata ReadMetadata(std::vector<TopLevelValue> values);

// The names of a thread or stream; "Unknown" where the trace has none.
struct TrackNames {
  std::string process_name;   // "python3"
  std::string process_label;  // "CPU", "GPU 0"
  std::string thread_name;    // "thread 6240 (python3)"
};
std::vector<TrackNames> ReadTrackNames(const EventStore& store);

}  // namespace jarvis::trace
