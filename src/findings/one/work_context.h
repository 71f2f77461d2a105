// What advice has to fit to: what runs the model, on what, and what has been done to it already.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "findings/one/engine_switches.h"
#include "perf/platform.h"
#include "session/loaded_trace.h"
#include "trace/how_to_record.h"

namespace jarvis::findings {

struct Workload;

// What runs the model: its settings are the way to graphs and to compiled code.
enum class Engine : std::uint8_t { kNoEngine, kVllm, kSglang, kTensorRt, kDiffusers };

struct WorkContext {
  std::string framework;  // as `elsewhere` of fixes names it; empty: PyTorch's
  const trace::HowToRecord* how = &trace::HowToRecordNext(nullptr);  // never null
  bool training = false;   // backward work or an optimizer
  bool may_train = false;  // neither, and autograd is on: perhaps a training step's forward pass
  bool compiled = false;   // kernels that Inductor generated, or a compiled function
  bool autotuned = false;  // some of these are products: the compiler has timed them (max-autotune)
  bool replays = false;    // graphs of the GPU are launched
  bool optimizer = false;  // an optimizer's step is marked
  bool foreach_optimizer = false;
  std::uint64_t sync_calls = 0;  // of runtime calls below ops that wait for the GPU
  Engine engine = Engine::kNoEngine;
  const EngineSwitches* switches = nullptr;  // of an engine that has them; null: none is known
  int architecture = 0;                      // NVIDIA's compute capability: 90; 0: not known
  std::vector<std::string> model_files;  // that stacks name: "qwen3.py" of ".../models/qwen3.py(7)"
  bool amd = false;       // ROCm: by the platform, else by the names of runtime calls
  bool causal = false;    // attention may be meant to be causal: text, no images
  bool bucketed = false;  // DDP or FSDP: gradients are reduced in buckets beside backward work
  bool transformer_engine = false;
  bool embeddings = false;          // TorchRec: its all_to_all carries embeddings and their indices
  bool pipelined_exchange = false;  // TorchRec's pipeline sends a batch's indices ahead
  bool coded_exchange = false;    // TorchRec's quantized communication: casts before and behind it
  bool own_loader = false;        // a DataLoader without workers: the process that trains loads
  bool worker_loader = false;     // a DataLoader that has workers
  bool pageable_input = false;    // copies to the device are from memory that is not pinned
  std::uint64_t cut_experts = 1;  // ranks over which each expert is cut; 1: they are whole
  std::uint64_t step_tokens =
      0;                   // of a server's step, whose sizes graphs are captured for; 0: unknown
  bool generates = false;  // token by token, in a program of its own and not a server's
  std::uint64_t input_tokens = 0;  // of text that a model reads, a row each; 0: no text, or unknown
  // What the recorded environment says of TunableOp: nothing, that it is on and tunes, or that it
  // is on and only reads what a run before has tuned.
  enum class TunableOp : std::uint8_t { kUnknown, kTunes, kReads } tunable_op = TunableOp::kUnknown;
  bool before_torch2 = false;  // recorded by a PyTorch that has neither torch.compile nor TunableOp

  // An engine that serves has settings of its own for graphs and compiling.
  bool IsServer() const {
    return engine == Engine::kVllm || engine == Engine::kSglang || engine == Engine::kTensorRt;
  }
  bool CanCompile() const { return !compiled && !before_torch2 && !IsServer(); }
};

// Whether a PyTorch before version 2 recorded it, which compiles nothing.
bool IsBeforeTorch2(const trace::EventStore& events);

// Fills what the names of a trace and its workload tell; the rest stays as it is.
void AddSurroundings(const session::LoadedTrace& trace, const perf::Platform* platform,
                     const Workload& workload, WorkContext* context);

}  // namespace jarvis::findings
