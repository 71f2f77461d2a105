#include "simulator.h"

#include <algorithm>

namespace make_trace {
namespace {

constexpr Ns kStart = 4'100'000'000'000'000;  // 4.1e12 microseconds after boot
constexpr Ns kGapOnStream = 720;              // between two kernels that wait for each other
constexpr Ns kLaunchLatency = 2300;  // from the end of the call to the start on an idle GPU

}  // namespace

Simulator::Simulator(const Options& options, int rank)
    : options_(options),
      device_(Device(options.platform)),
      rank_(rank),
      pid_(4200 + rank),
      random_(options.seed * 1000 + static_cast<std::uint64_t>(rank)),
      now_{kStart + rank * 3100, kStart + rank * 3100},
      allocated_(options.hidden * options.hidden * 12 * options.layers * 2) {
  sequence_ += random_.Below(100);
}

std::string_view Simulator::Keep(std::string name) {
  return *names_.insert(std::move(name)).first;
}

void Simulator::Switch(HostThread thread) {
  const Ns from = now();
  thread_ = thread;
  now_[Index()] = std::max(now_[Index()], from);
}

std::size_t Simulator::BeginOp(std::string_view name, std::initializer_list<Arg> args,
                               bool differentiable) {
  const std::size_t at = step_.text.size();
  AppendInputs(step_.text, {args.begin(), args.size()});
  const std::size_t index = BeginBare(name, {}, false);
  OpEvent& op = step_.ops[index];
  op.inputs = {at, step_.text.size() - at};
  if (differentiable) op.sequence = sequence_;
  return index;
}

std::size_t Simulator::BeginBare(std::string_view name, std::string_view inputs, bool annotation) {
  Spend(annotation ? 900 : 480);
  OpEvent op;
  op.name = name;
  op.ts = now();
  op.external_id = external_id_++;
  op.tid = tid(thread_);
  op.annotation = annotation;
  if (!inputs.empty()) {
    op.inputs = {step_.text.size(), inputs.size()};
    step_.text += inputs;
  }
  step_.ops.push_back(op);
  open_ops_[Index()].push_back(step_.ops.size() - 1);
  open_gpu_counts_[Index()].push_back(step_.gpu.size());
  Spend(620);
  return step_.ops.size() - 1;
}

void Simulator::EndOp(std::size_t index) {
  Spend(310);
  OpEvent& op = step_.ops[index];
  op.dur = now() - op.ts;
  open_ops_[Index()].pop_back();
  const std::size_t first = open_gpu_counts_[Index()].back();
  open_gpu_counts_[Index()].pop_back();
  if (!op.annotation || first == step_.gpu.size()) return;
  Ns begin = 0;
  Ns end = 0;
  for (std::size_t i = first; i < step_.gpu.size(); ++i) {
    const GpuEvent& gpu = step_.gpu[i];
    if (gpu.stream != device_.compute_stream) continue;
    if (end == 0) begin = gpu.ts;
    end = std::max(end, gpu.ts + gpu.dur);
  }
  if (end > 0)
    step_.gpu_annotations.push_back(
        {op.name, device_.compute_stream, begin, end - begin, op.external_id});
}

std::size_t Simulator::BeginFrame(std::string_view name, std::int64_t module_id) {
  Spend(options_.python_frames ? 330 : 150);
  if (!options_.python_frames) return 0;
  auto& open = open_frames_[Index()];
  FrameEvent frame;
  frame.name = name;
  frame.ts = now();
  frame.id = frame_id_++;
  const bool below_outer = thread_ == HostThread::kMain && !outer_frames_.empty();
  frame.parent = !open.empty() ? open.back() : below_outer ? outer_frames_.back().id : kNone;
  frame.module = module_id;
  frame.tid = tid(thread_);
  open.push_back(frame.id);
  step_.frames.push_back(frame);
  Spend(270);
  return step_.frames.size() - 1;
}

void Simulator::EndFrame(std::size_t index) {
  Spend(options_.python_frames ? 240 : 100);
  if (!options_.python_frames) return;
  FrameEvent& frame = step_.frames[index];
  frame.dur = now() - frame.ts;
  open_frames_[Index()].pop_back();
}

void Simulator::OpenOuterFrame(std::string_view name) {
  if (!options_.python_frames) return;
  FrameEvent frame;
  frame.name = name;
  frame.ts = now();
  frame.id = frame_id_++;
  frame.parent = outer_frames_.empty() ? kNone : outer_frames_.back().id;
  frame.tid = tid(thread_);
  outer_frames_.push_back(frame);
  Spend(2200);
}

std::vector<FrameEvent> Simulator::CloseOuterFrames() {
  for (auto frame = outer_frames_.rbegin(); frame != outer_frames_.rend(); ++frame) {
    Spend(1500);
    frame->dur = now() - frame->ts;
  }
  return std::move(outer_frames_);
}

void Simulator::Record(std::string_view node, const Tensor& a, const Tensor& b) {
  OpEvent& op = step_.ops[open_ops_[Index()].back()];
  op.flow = flow_;
  tape_.push_back({node, sequence_, flow_, module, planted, a, b});
  ++flow_;
  ++sequence_;
}

const OpEvent* Simulator::InnermostOp() const {
  const auto& open = open_ops_[Index()];
  for (auto op = open.rbegin(); op != open.rend(); ++op) {
    if (!step_.ops[*op].annotation) return &step_.ops[*op];
  }
  return nullptr;
}

CallEvent& Simulator::AddCall(Call call, Ns dur) {
  Spend(160);
  CallEvent event;
  event.call = call;
  event.ts = now();
  event.dur = dur;
  const OpEvent* op = InnermostOp();
  event.external_id = op == nullptr ? 0 : op->external_id;
  event.correlation = correlation_++;
  event.tid = tid(thread_);
  now_[Index()] += dur;
  step_.calls.push_back(event);
  return step_.calls.back();
}

void Simulator::CallOnly(Call call) {
  AddCall(call, random_.Around(Info(call).host_ns, 200));
}

GpuEvent& Simulator::AddGpu(std::string_view name, GpuKind kind, Call call) {
  CallEvent& host = AddCall(call, random_.Around(Info(call).host_ns, 200));
  host.starts_gpu_work = true;
  host.gpu = step_.gpu.size();
  GpuEvent event;
  event.name = name;
  event.kind = kind;
  event.planted = planted;
  event.backward = backward;
  event.stream = device_.compute_stream;
  event.external_id = host.external_id;
  event.correlation = host.correlation;
  if (const OpEvent* op = InnermostOp(); op != nullptr) event.op = op->name;
  event.module = module;
  step_.gpu.push_back(event);
  return step_.gpu.back();
}

void Simulator::Schedule(GpuEvent& event, Ns dur) {
  event.ts = std::max(now() + random_.Around(kLaunchLatency, 150),
                      compute_free_ + random_.Around(kGapOnStream, 200));
  event.dur = dur;
  compute_free_ = event.ts + event.dur;
}

void Simulator::Launch(Kernel kernel, const Work& work, double efficiency) {
  const KernelInfo& info = Info(kernel);
  const Call call = info.call == LaunchCall::kLibrary  ? Call::kLaunchLibrary
                    : info.call == LaunchCall::kDriver ? Call::kLaunchDriver
                                                       : Call::kLaunch;
  GpuEvent& event = AddGpu(NameOf(info, device_.platform), GpuKind::kKernel, call);
  event.info = &info;
  event.elements = work.elements;
  Schedule(event, random_.Around(RooflineTime(device_, info, work, efficiency), 12));
}

void Simulator::Memcpy(std::string_view name, std::int64_t bytes) {
  GpuEvent& event = AddGpu(name, GpuKind::kMemcpy, Call::kMemcpyAsync);
  event.bytes = bytes;
  Schedule(event, random_.Around(1300 + static_cast<Ns>(static_cast<double>(bytes) /
                                                        device_.host_link_bytes_per_ns),
                                 40));
}

void Simulator::Memset(std::int64_t bytes) {
  GpuEvent& event = AddGpu("Memset (Device)", GpuKind::kMemset, Call::kMemsetAsync);
  event.bytes = bytes;
  Schedule(
      event,
      random_.Around(900 + static_cast<Ns>(static_cast<double>(bytes) / device_.bytes_per_ns), 40));
}

void Simulator::Synchronize(Call call) {
  const Ns wait = std::max<Ns>(0, std::max(compute_free_, comm_free_) - now());
  AddCall(call, wait + random_.Around(Info(call).host_ns, 200));
}

void Simulator::LaunchCollective(double bytes, TextRef args) {
  GpuEvent& event = AddGpu(NameOf(Info(Kernel::kAllReduce), device_.platform), GpuKind::kKernel,
                           Call::kLaunchLibrary);
  event.info = &Info(Kernel::kAllReduce);
  event.stream = device_.comm_stream;
  event.collective = args;
  // The stream waits for the gradients, which the compute stream is still writing.
  const Ns arrived = std::max(now() + kLaunchLatency, compute_free_ + kGapOnStream);
  collectives_.push_back({step_.gpu.size() - 1, arrived, bytes});
}

void Simulator::CompleteCollective(const PendingCollective& pending, Ns start, Ns end) {
  GpuEvent& event = step_.gpu[pending.gpu];
  event.ts = start;
  event.dur = end - start;
  comm_free_ = end;
  step_.gpu_annotations.push_back(
      {"nccl:all_reduce", device_.comm_stream, start, end - start, event.external_id + 1});
}

void Simulator::WaitForComm() {
  CallOnly(Call::kStreamWaitEvent);
  compute_free_ = std::max(compute_free_, comm_free_ + kGapOnStream);
}

void Simulator::Allocate(std::int64_t bytes) {
  allocated_ += bytes;
  const std::int64_t address = 0x7f2400000000 + random_.Below(1 << 20) * 4096;
  step_.memory.push_back({now(), bytes, address, allocated_, tid(thread_)});
  Spend(900);
}

}  // namespace make_trace
