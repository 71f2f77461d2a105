// A program that does one unit of work after the other, for tests of which units figures are of.
#pragma once

#include <cstdint>
#include <string>

#include "support/trace_builder.h"

namespace jarvis::testing {

// Passes of one module, or marked steps: each calls ops of 20 us, one every 25 us, with a kernel
// each; what follows them belongs to the unit, too.
class LoopScript {
 public:
  struct Unit {
    int ops = 20;
    int reads = 0;           // results that the host reads one by one behind it
    bool optimizer = false;  // behind it
    double pause_us = 0;     // in which nothing is recorded
  };

  LoopScript& Pass(const Unit& unit) {
    const double begin = at_;
    Ops("aten::mm", "gemm", unit.ops);
    text_.Module("Net_0", begin, at_ - begin);
    return Rest(unit);
  }
  LoopScript& Step(const Unit& unit) {
    const double begin = at_;
    Ops("aten::mm", "gemm", unit.ops);
    Rest(unit);
    text_.Annotation("ProfilerStep#" + std::to_string(++steps_), begin, at_ - begin);
    return *this;
  }
  // What follows until `Close` is one call of this function.
  LoopScript& Open() {
    opened_ = at_;
    at_ += 10;
    return *this;
  }
  LoopScript& Close(const std::string& name) {
    text_.Python(name, opened_, at_ - opened_);
    at_ += 5;
    return *this;
  }
  TraceText& text() { return text_; }
  double at() const { return at_; }

 private:
  void Ops(const std::string& op, const std::string& kernel, int count) {
    for (int i = 0; i < count; ++i) {
      text_.OpWithKernel(op, at_, 20, kernel, at_ + 10, 8, ++id_);
      at_ += 25;
    }
  }
  LoopScript& Rest(const Unit& unit) {
    Ops("aten::item", "read", unit.reads);
    if (unit.optimizer) {
      const double begin = at_;
      Ops("aten::_foreach_add_", "update", 10);
      text_.Annotation("Optimizer.step#AdamW.step", begin, at_ - begin);
    }
    at_ += unit.pause_us;
    return *this;
  }

  TraceText text_;
  double at_ = 10;
  double opened_ = 0;
  int steps_ = 0;
  std::int64_t id_ = 0;
};

}  // namespace jarvis::testing
