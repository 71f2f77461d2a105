// The work of recorded calls, evaluated once for every distinct call: same op, same arguments, same
// kernels.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/attribution/pseudo_ops.h"
#include "base/job.h"
#include "perf/model.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

using trace::EventIndex;
using trace::EventStore;
using trace::kNoEvent;

// What an evaluation may depend on beside the op's own arguments.
struct CallContext {
  std::span<const EventIndex> kernels;  // of the call, by start
  StringId annotation = kNoString;      // name of the engine step around it
  EventIndex forward = kNoEvent;        // the forward call of a backward call
  // Arguments that stand in for the event's own, of calls that are not in the trace; may be null.
  const perf::OpCall* arguments = nullptr;
};

// Not thread-safe.
class OpWorks {
 public:
  // With a job that is stopped no more calls are evaluated: whoever gives one looks at it before
  // anything that came of the works is used. Null: there is none.
  OpWorks(const EventStore& events, const perf::ModelRows& rows, const Job* job = nullptr)
      : events_(events), set_(rows), job_(job) {}

  // The model of a name; null: none. Asked once a name.
  const perf::ModelRow* ModelOf(StringId name);
  const perf::ModelRow* ModelOf(std::string_view name) const { return set_.Find(name); }
  // The model of an op, by the name that models know it by.
  const perf::ModelRow* ModelOfOp(EventIndex op) { return ModelOf(events_.KnownAs(op)); }
  // Whether the call has a model that can say something: of models that go by a name's beginning,
  // only if its arguments are enough.
  bool Modelled(EventIndex op);

  // What a model's expressions mention beside the arguments.
  struct Needs {
    bool kernels = false;
    bool iteration = false;
    bool forward = false;
    bool extra = false;
  };
  const Needs& NeedsOf(const perf::ModelRow& model);

  // The work of a call of `model`; what the model does not need of the context plays no part.
  // `backward`: of its backward pass. Stays valid.
  const perf::OpWork& WorkOf(const perf::ModelRow& model, EventIndex op, const CallContext& context,
                             bool backward = false);

  // What WorkOf is going to be asked, told before: evaluates the distinct calls that are new,
  // several at a time where they are many. What is known of a call afterwards is the same either
  // way.
  struct Question {
    const perf::ModelRow* model;
    EventIndex op;
    CallContext context;
    bool backward;
  };
  void Evaluate(std::span<const Question> questions);

  // The call of a pseudo-op: its name, its donor's arguments and what it adds. Stays valid.
  const perf::OpCall* ArgumentsOf(const PseudoOp& op);

  const perf::ModelRows& rows() const { return set_.rows(); }
  std::size_t evaluations() const { return works_.size(); }

  // All works that were evaluated, at their places in memory: what points to one of them still
  // does. For whoever keeps them longer than the sandbox that they came from.
  std::deque<perf::OpWork> TakeWorks() && { return std::move(works_); }

 private:
  struct Key {
    const perf::ModelRow* model;
    StringId name, dims, strides, types, concrete, other, annotation;
    EventIndex forward;
    const perf::OpCall* arguments;
    std::uint64_t kernels;  // hash of their names
    bool backward;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  // The arguments of a call, and of its forward call if its model asks for that.
  struct Prepared {
    perf::OpCall call;
    perf::OpCall forward;
    bool has_forward = false;
  };

  // Without the parts of the context that the model does not need.
  CallContext Needed(const perf::ModelRow& model, const CallContext& given);
  Key KeyOf(const perf::ModelRow& model, EventIndex op, const CallContext& needed, bool backward);
  Prepared Prepare(const perf::ModelRow& model, EventIndex op, const CallContext& needed);
  // `prepared` stands where it will be read.
  static perf::OpWork EvaluateWith(perf::ModelSet& set, const perf::ModelRow& model,
                                   Prepared* prepared, bool backward);

  bool Stopped() const { return job_ != nullptr && job_->stopped(); }

  const EventStore& events_;
  perf::ModelSet set_;
  const Job* job_;
  std::unordered_map<const perf::ModelRow*, Needs> needs_;
  std::vector<int> model_of_;  // by name; -2: not asked yet, -1: none, else an index of rows()
  std::unordered_map<Key, const perf::OpWork*, Hash> index_;
  std::deque<perf::OpWork> works_;
  std::unordered_map<const PseudoOp*, perf::OpCall> pseudo_;
};

}  // namespace jarvis::analysis
