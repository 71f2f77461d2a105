#include "trace/import/shared/owners.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include <fmt/format.h>

namespace jarvis::trace {

OwnerId Owners::ProcessOf(std::int64_t key, std::int64_t pid) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] = process_of_.try_emplace(key, processes_.size());
  if (added) {
    ProcessOwner& process = processes_.emplace_back();
    process.key = key;
    process.pid = pid;
    process.apart = key;
  }
  return found->second;
}

OwnerId Owners::GpuOf(OwnerId process, std::int64_t device) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] =
      gpu_of_.try_emplace({process, device}, static_cast<OwnerId>(gpus_.size()) | kGpuOwner);
  if (added) {
    GpuOwner& gpu = gpus_.emplace_back();
    gpu.process = process;
    gpu.device = device;
    gpu.index = device;
  }
  return found->second;
}

std::optional<OwnerId> Owners::KnownGpuOf(OwnerId process, std::int64_t device) {
  const std::lock_guard lock(mutex_);
  const auto found = gpu_of_.find({process, device});
  if (found != gpu_of_.end()) return found->second;
  const auto first = gpu_of_.lower_bound({process, std::numeric_limits<std::int64_t>::min()});
  if (first == gpu_of_.end() || first->first.first != process) return std::nullopt;
  const auto second = std::next(first);
  if (second != gpu_of_.end() && second->first.first == process) return std::nullopt;
  return first->second;
}

void Owners::Settle(bool use_physical) {
  std::vector<ProcessOwner*> order;
  for (ProcessOwner& process : processes_)
    order.push_back(&process);
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->key < b->key; });
  std::map<std::int64_t, int> pids;
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i]->ordinal = static_cast<std::uint32_t>(i);
    ++pids[order[i]->pid];
  }
  std::set<std::string> hosts;
  for (ProcessOwner& process : processes_) {
    process.pid_text = pids[process.pid] > 1 ? fmt::format("{}@{}", process.pid, process.apart)
                                             : fmt::format("{}", process.pid);
    hosts.insert(process.pid_text);
  }
  if (use_physical) {
    std::map<std::int64_t, std::set<std::optional<std::int64_t>>> called;
    for (const GpuOwner& gpu : gpus_)
      called[gpu.device].insert(gpu.physical);
    const bool differ = std::any_of(called.begin(), called.end(),
                                    [](const auto& one) { return one.second.size() > 1; });
    for (GpuOwner& gpu : gpus_)
      gpu.index = differ ? gpu.physical.value_or(gpu.device) : gpu.device;
  }
  std::map<std::int64_t, int> uses;
  for (const GpuOwner& gpu : gpus_)
    ++uses[gpu.index];
  for (GpuOwner& gpu : gpus_) {
    std::string text = fmt::format("{}", gpu.index);
    gpu.pid_text = uses[gpu.index] > 1 || hosts.contains(text)
                       ? fmt::format("{}:{}", text, processes_[gpu.process].pid_text)
                       : text;
  }
}

bool Owners::HasSharedGpu() const {
  std::set<std::int64_t> numbers;
  for (const GpuOwner& gpu : gpus_)
    numbers.insert(gpu.index);
  return numbers.size() < gpus_.size();
}

bool Owners::IsOneGpuEach() const {
  std::set<OwnerId> processes;
  for (const GpuOwner& gpu : gpus_)
    processes.insert(gpu.process);
  return processes.size() > 1 && processes.size() == gpus_.size() && !HasSharedGpu();
}

std::vector<const GpuOwner*> Owners::GpusInOrder() const {
  std::vector<const GpuOwner*> order;
  for (const GpuOwner& gpu : gpus_)
    order.push_back(&gpu);
  std::sort(order.begin(), order.end(), [&](const GpuOwner* a, const GpuOwner* b) {
    return std::pair(a->index, processes_[a->process].key) <
           std::pair(b->index, processes_[b->process].key);
  });
  return order;
}

std::vector<const ProcessOwner*> Owners::ProcessesInOrder() const {
  std::vector<const ProcessOwner*> order(processes_.size());
  for (const ProcessOwner& process : processes_)
    order[process.ordinal] = &process;
  return order;
}

std::string Owners::NameOf(const ProcessOwner& process) const {
  const std::string name = process.name.empty() ? "process" : process.name;
  return process.rank && processes_.size() > 1 ? fmt::format("rank {}: {}", *process.rank, name)
                                               : name;
}

}  // namespace jarvis::trace
