// News of what the server offers, and those who want to hear it.
//
// Threads: any. A listener is called on the thread that announces.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "json/json.h"

namespace jarvis::mcp {

struct Change {
  enum class Kind { kTools, kPrompts, kResources, kResource, kTask };
  Kind kind = Kind::kResources;
  std::string name;       // the resource's URI or the task's id
  Json task;              // as tasks/get would tell it
  std::string principal;  // whose task it is
};

class ChangeListener {
 public:
  ChangeListener() = default;
  ChangeListener(const ChangeListener&) = delete;
  ChangeListener& operator=(const ChangeListener&) = delete;
  virtual ~ChangeListener() = default;
  virtual void OnChange(const Change& change) = 0;
};

class Changes {
 public:
  // Listens until it is destroyed. Twice is once.
  void Add(const std::shared_ptr<ChangeListener>& listener);
  void Announce(const Change& change);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<ChangeListener>> listeners_;
};

}  // namespace jarvis::mcp
