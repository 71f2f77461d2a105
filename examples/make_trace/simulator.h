// One rank: two host threads with clocks, and a GPU with streams. The workload opens and closes
// ops and frames and launches kernels; the simulator decides when each happened and records it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "device_model.h"
#include "options.h"
#include "random.h"
#include "step.h"
#include "tensor.h"

namespace make_trace {

enum class HostThread : std::uint8_t { kMain, kAutograd };

// A differentiable op remembered for the backward pass.
struct TapeNode {
  std::string_view name;  // "MmBackward0"
  std::int64_t sequence = 0;
  std::int64_t flow = 0;
  std::string_view module;
  Planted planted = Planted::kNo;
  Tensor a;
  Tensor b;
};

// A collective that was launched; when it runs is known once all ranks have arrived.
struct PendingCollective {
  std::size_t gpu = 0;
  Ns arrived = 0;
  double bytes = 0;
};

class Simulator {
 public:
  Simulator(const Options& options, int rank);

  const Options& options() const { return options_; }
  const DeviceModel& device() const { return device_; }
  int rank() const { return rank_; }
  int pid() const { return pid_; }
  Step& step() { return step_; }
  Random& random() { return random_; }
  std::vector<TapeNode>& tape() { return tape_; }
  std::vector<PendingCollective>& collectives() { return collectives_; }

  // A name that lives as long as the simulator.
  std::string_view Keep(std::string name);
  int tid(HostThread thread) const { return pid_ + (thread == HostThread::kMain ? 0 : 97); }
  // Work goes on in another thread, not before it reaches the other's clock.
  void Switch(HostThread thread);
  Ns now() const { return now_[Index()]; }
  void Spend(Ns ns) { now_[Index()] += random_.Around(ns, 250); }

  // Opens; the index is for the matching End.
  std::size_t BeginOp(std::string_view name, std::initializer_list<Arg> args, bool differentiable);
  std::size_t BeginBare(std::string_view name, std::string_view inputs, bool annotation);
  void EndOp(std::size_t index);
  std::size_t BeginFrame(std::string_view name, std::int64_t module);
  void EndFrame(std::size_t index);
  // Frames that stay open over all steps.
  void OpenOuterFrame(std::string_view name);
  std::vector<FrameEvent> CloseOuterFrames();

  // The innermost differentiable op made a node; returns after counting its sequence number.
  void Record(std::string_view node, const Tensor& a = {}, const Tensor& b = {});

  // Runtime calls.
  void CallOnly(Call call);
  void Launch(Kernel kernel, const Work& work, double efficiency = kUsualEfficiency);
  void Memcpy(std::string_view name, std::int64_t bytes);
  void Memset(std::int64_t bytes);
  void Synchronize(Call call);
  void LaunchCollective(double bytes, TextRef args);
  void CompleteCollective(const PendingCollective& pending, Ns start, Ns end);
  // The compute stream goes on after the communication stream.
  void WaitForComm();
  void Allocate(std::int64_t bytes);

  Ns comm_free() const { return comm_free_; }
  Ns compute_free() const { return compute_free_; }

  // What the truth file files kernels under.
  std::string_view module;
  Planted planted = Planted::kNo;
  bool backward = false;

 private:
  std::size_t Index() const { return static_cast<std::size_t>(thread_); }
  const OpEvent* InnermostOp() const;
  CallEvent& AddCall(Call call, Ns dur);
  GpuEvent& AddGpu(std::string_view name, GpuKind kind, Call call);
  void Schedule(GpuEvent& event, Ns dur);

  const Options& options_;
  const DeviceModel& device_;
  int rank_;
  int pid_;
  Random random_;
  Step step_;
  HostThread thread_ = HostThread::kMain;
  Ns now_[2];
  std::vector<std::size_t> open_ops_[2];
  std::vector<std::size_t> open_gpu_counts_[2];
  std::vector<std::int64_t> open_frames_[2];
  std::vector<FrameEvent> outer_frames_;
  std::unordered_set<std::string> names_;
  std::vector<TapeNode> tape_;
  std::vector<PendingCollective> collectives_;
  Ns compute_free_ = 0;
  Ns comm_free_ = 0;
  std::int64_t external_id_ = 1;
  std::int64_t correlation_ = 1000;
  std::int64_t sequence_ = 10;
  std::int64_t flow_ = 1;
  std::int64_t frame_id_ = 1;
  std::int64_t allocated_;
};

// Scopes.
class Op {
 public:
  Op(Simulator& sim, std::string_view name, std::initializer_list<Arg> args,
     bool differentiable = false)
      : sim_(sim), index_(sim.BeginOp(name, args, differentiable)) {}
  ~Op() { sim_.EndOp(index_); }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

 private:
  Simulator& sim_;
  std::size_t index_;
};

class Annotation {
 public:
  Annotation(Simulator& sim, std::string_view name)
      : sim_(sim), index_(sim.BeginBare(name, {}, true)) {}
  ~Annotation() { sim_.EndOp(index_); }
  Annotation(const Annotation&) = delete;
  Annotation& operator=(const Annotation&) = delete;

 private:
  Simulator& sim_;
  std::size_t index_;
};

class Frame {
 public:
  Frame(Simulator& sim, std::string_view name, std::int64_t module = kNone)
      : sim_(sim), index_(sim.BeginFrame(name, module)) {}
  ~Frame() { sim_.EndFrame(index_); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  Simulator& sim_;
  std::size_t index_;
};

// nn.Module: <class>_<number> and the frames that call it.
class ModuleScope {
 public:
  ModuleScope(Simulator& sim, std::string_view module_class, std::int64_t number,
              std::string_view forward)
      : sim_(sim),
        outer_(sim.module),
        module_(sim, sim.Keep("nn.Module: " + std::string(module_class) + "_" + Number(number)),
                number),
        call_(sim, "torch/nn/modules/module.py(1773): _call_impl"),
        forward_(sim, forward) {
    sim.module = module_class;
  }
  ~ModuleScope() { sim_.module = outer_; }
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  Simulator& sim_;
  std::string_view outer_;
  Frame module_;
  Frame call_;
  Frame forward_;
};

class PlantedScope {
 public:
  PlantedScope(Simulator& sim, Planted planted) : sim_(sim), outer_(sim.planted) {
    sim.planted = planted;
  }
  ~PlantedScope() { sim_.planted = outer_; }
  PlantedScope(const PlantedScope&) = delete;
  PlantedScope& operator=(const PlantedScope&) = delete;

 private:
  Simulator& sim_;
  Planted outer_;
};

}  // namespace make_trace
