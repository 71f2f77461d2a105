#include "bench/models.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/job.h"
#include "perf/model.h"
#include "perf/model_rows.h"
#include "session/loaded_trace.h"

namespace jarvis::bench {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Call {
  const perf::ModelRow* model;
  perf::OpCall arguments;
};

std::vector<Call> DistinctCalls(const trace::EventStore& events, const perf::ModelSet& set) {
  std::vector<Call> calls;
  std::set<std::tuple<StringId, StringId, StringId, StringId, StringId>> seen;
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    if (events[e].kind != trace::EventKind::kCpuOp) continue;
    const trace::Args& args = events.args_of(e);
    if (!seen.insert({events[e].name, args.dims, args.types, args.strides, args.concrete}).second)
      continue;
    const perf::ModelRow* model = set.Find(events.name(e));
    if (model == nullptr) continue;
    Call call{model, {}};
    call.arguments.name = events.name(e);
    call.arguments.dims = events.text(args.dims);
    call.arguments.types = events.text(args.types);
    call.arguments.strides = events.text(args.strides);
    call.arguments.text = events.text(args.concrete);
    calls.push_back(std::move(call));
  }
  return calls;
}

double EvaluateAll(const std::vector<Call>& calls, perf::ModelSet* set) {
  const auto start = std::chrono::steady_clock::now();
  for (const Call& call : calls)
    static_cast<void>(set->Evaluate(*call.model, call.arguments));
  return SecondsSince(start);
}

}  // namespace

ModelTimes MeasureModels(const std::string& path, int runs) {
  Job job;
  const auto loaded = session::LoadTrace(path, 0, job);
  if (!loaded) throw std::runtime_error(loaded.error().message);
  const perf::ModelRows& rows = perf::BuiltinRows();
  const std::vector<Call> calls = DistinctCalls((*loaded)->events(), perf::ModelSet(rows));
  ModelTimes times;
  times.calls = calls.size();
  std::unordered_set<const perf::ModelRow*> models;
  for (const Call& call : calls)
    models.insert(call.model);
  times.rows = models.size();
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    perf::ModelSet set(rows);
    const double started = SecondsSince(start);
    const double first = EvaluateAll(calls, &set);
    const double again = EvaluateAll(calls, &set);
    const auto keep = [&](double seconds, double* best) {
      *best = run == 0 ? seconds : std::min(*best, seconds);
    };
    keep(started, &times.start_seconds);
    keep(first, &times.first_seconds);
    keep(again, &times.again_seconds);
  }
  return times;
}

}  // namespace jarvis::bench
