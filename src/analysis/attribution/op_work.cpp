#include "analysis/attribution/op_work.h"

#include <algorithm>

#include "base/parallel.h"

namespace jarvis::analysis {
namespace {

void Mix(std::uint64_t* hash, std::uint64_t value) {
  *hash = (*hash ^ value) * 0xFF51AFD7ED558CCDu;
  *hash ^= *hash >> 32;
}

constexpr std::uint64_t kSeed = 0x9E3779B97F4A7C15u;

}  // namespace

std::size_t OpWorks::Hash::operator()(const Key& key) const {
  std::uint64_t hash = kSeed ^ (key.backward ? 1 : 0);
  for (const std::uint64_t part :
       {reinterpret_cast<std::uint64_t>(key.model), std::uint64_t{key.name},
        std::uint64_t{key.dims}, std::uint64_t{key.strides}, std::uint64_t{key.types},
        std::uint64_t{key.concrete}, std::uint64_t{key.other}, std::uint64_t{key.annotation},
        std::uint64_t{key.forward}, reinterpret_cast<std::uint64_t>(key.arguments), key.kernels}) {
    Mix(&hash, part);
  }
  return hash;
}

const perf::ModelRow* OpWorks::ModelOf(StringId name) {
  constexpr int kNotAsked = -2;
  if (model_of_.empty()) model_of_.assign(events_.strings.size(), kNotAsked);
  int& known = model_of_[name];
  if (known == kNotAsked) {
    const perf::OpEntry* entry = set_.rows().Find(events_.strings[name]);
    known = entry == nullptr ? -1 : entry->row;
  }
  return known < 0 ? nullptr : &set_.rows().rows()[static_cast<std::size_t>(known)];
}

bool OpWorks::Modelled(EventIndex op) {
  const perf::ModelRow* model = ModelOfOp(op);
  if (model == nullptr) return false;
  const StringId known_as = events_.KnownAs(op);
  if (model->prefixes.empty() || set_.rows().FindExact(events_.strings[known_as]) != nullptr)
    return true;
  return !WorkOf(*model, op, {}).parameters.empty();
}

const OpWorks::Needs& OpWorks::NeedsOf(const perf::ModelRow& model) {
  const auto [found, added] = needs_.try_emplace(&model);
  if (added) {
    Needs& needs = found->second;
    const auto look = [&](std::string_view text) {
      const auto has = [&](std::string_view word) {
        return text.find(word) != std::string_view::npos;
      };
      needs.kernels = needs.kernels || has("kernel");
      needs.iteration = needs.iteration || has("iteration");
      needs.forward = needs.forward || has("forward");
      needs.extra = needs.extra || has("extra");
    };
    const perf::ModelRows::Flat flat = set_.rows().Flatten(model);
    for (const auto& [key, text] : flat.texts)
      look(text);
    for (const auto& [key, list] : flat.lists) {
      for (const std::string& entry : *list)
        look(entry);
    }
  }
  return found->second;
}

const perf::OpCall* OpWorks::ArgumentsOf(const PseudoOp& op) {
  const auto [found, added] = pseudo_.try_emplace(&op);
  if (added) {
    const trace::Args& args = events_.args_of(op.donor);
    perf::OpCall& call = found->second;
    call.name = op.name;
    call.dims = events_.text(args.dims);
    call.types = events_.text(args.types);
    call.strides = events_.text(args.strides);
    call.text = events_.text(args.concrete);
    for (const auto& [key, value] : op.more)
      call.extra.emplace_back(key, value);
  }
  return &found->second;
}

CallContext OpWorks::Needed(const perf::ModelRow& model, const CallContext& given) {
  const Needs& needs = NeedsOf(model);
  CallContext context = given;
  if (!needs.kernels) context.kernels = {};
  if (!needs.iteration) context.annotation = kNoString;
  if (!needs.forward) context.forward = kNoEvent;
  return context;
}

OpWorks::Key OpWorks::KeyOf(const perf::ModelRow& model, EventIndex op, const CallContext& needed,
                            bool backward) {
  const trace::Args& args = events_.args_of(op);
  Key key = {&model,
             events_[op].name,
             args.dims,
             args.strides,
             args.types,
             args.concrete,
             NeedsOf(model).extra ? args.other : kNoString,
             needed.annotation,
             needed.forward,
             needed.arguments,
             kSeed,
             backward};
  for (const EventIndex kernel : needed.kernels)
    Mix(&key.kernels, events_[kernel].name);
  return key;
}

OpWorks::Prepared OpWorks::Prepare(const perf::ModelRow& model, EventIndex op,
                                   const CallContext& needed) {
  const bool extra = NeedsOf(model).extra;
  const auto call_of = [&](EventIndex e) {
    const trace::Args& recorded = events_.args_of(e);
    perf::OpCall call;
    call.name = events_.name(e);
    call.dims = events_.text(recorded.dims);
    call.types = events_.text(recorded.types);
    call.strides = events_.text(recorded.strides);
    call.text = events_.text(recorded.concrete);
    if (extra) call.more = events_.text(recorded.other);
    return call;
  };
  Prepared out;
  out.call = needed.arguments != nullptr ? *needed.arguments : call_of(op);
  for (const EventIndex kernel : needed.kernels)
    out.call.kernels.push_back(events_.name(kernel));
  out.call.annotation = events_.text(needed.annotation);
  if (needed.forward != kNoEvent) {
    out.has_forward = true;
    out.forward = call_of(needed.forward);
    out.call.forward_model = ModelOfOp(needed.forward);
  }
  return out;
}

perf::OpWork OpWorks::EvaluateWith(perf::ModelSet& set, const perf::ModelRow& model,
                                   Prepared* prepared, bool backward) {
  if (prepared->has_forward) prepared->call.forward = &prepared->forward;
  return set.Evaluate(model, prepared->call, backward);
}

const perf::OpWork& OpWorks::WorkOf(const perf::ModelRow& model, EventIndex op,
                                    const CallContext& given, bool backward) {
  const CallContext needed = Needed(model, given);
  const auto [found, added] = index_.try_emplace(KeyOf(model, op, needed, backward), nullptr);
  if (!added) return *found->second;
  if (Stopped()) {
    found->second = &works_.emplace_back();
    return works_.back();
  }
  Prepared prepared = Prepare(model, op, needed);
  works_.push_back(EvaluateWith(set_, model, &prepared, backward));
  found->second = &works_.back();
  return works_.back();
}

void OpWorks::Evaluate(std::span<const Question> questions) {
  // How often a user's row was stopped decides whether it is asked again, so that those are asked
  // in order, by WorkOf.
  if (!set_.rows().trusted()) return;
  struct Pending {
    const perf::ModelRow* model;
    Prepared prepared;
    bool backward;
    perf::OpWork* work;
  };
  std::vector<Pending> pending;
  for (const Question& question : questions) {
    if (Stopped()) return;
    const CallContext needed = Needed(*question.model, question.context);
    const auto [found, added] =
        index_.try_emplace(KeyOf(*question.model, question.op, needed, question.backward), nullptr);
    if (!added) continue;
    perf::OpWork& work = works_.emplace_back();
    found->second = &work;
    pending.push_back(
        {question.model, Prepare(*question.model, question.op, needed), question.backward, &work});
  }
  // A sandbox costs as much as some dozens of calls, and some megabytes while it is at work.
  constexpr std::size_t kCallsOfASandbox = 128;
  constexpr std::size_t kSandboxesMax = 8;
  const std::size_t cores = static_cast<std::size_t>(DefaultThreads());
  const std::size_t sandboxes =
      std::clamp<std::size_t>(pending.size() / kCallsOfASandbox, 1, std::min(cores, kSandboxesMax));
  std::vector<perf::ModelSet> more;
  for (std::size_t i = 1; i < sandboxes; ++i)
    more.emplace_back(set_.rows());
  // A row is compiled by each sandbox that is asked for it: all of one row go to the same.
  std::stable_sort(pending.begin(), pending.end(),
                   [](const Pending& a, const Pending& b) { return a.model < b.model; });
  ParallelFor(sandboxes, static_cast<int>(sandboxes), [&](std::size_t sandbox) {
    perf::ModelSet& set = sandbox == 0 ? set_ : more[sandbox - 1];
    const std::size_t end = (sandbox + 1) * pending.size() / sandboxes;
    for (std::size_t i = sandbox * pending.size() / sandboxes; i < end && !Stopped(); ++i) {
      Pending& one = pending[i];
      *one.work = EvaluateWith(set, *one.model, &one.prepared, one.backward);
    }
  });
}

}  // namespace jarvis::analysis
