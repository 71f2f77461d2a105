#include "formats/ledger_json.h"

namespace jarvis::formats {

Json LedgerBaseJson(const session::TraceFrames& frames) {
  const analysis::BaseOfTime& base = frames.frames.base;
  Json steps = Json::array();
  for (const analysis::TimeSpan& unit : base.units)
    steps.push_back(unit.end - unit.start);
  Json kept = Json::array();
  for (const std::size_t i : base.regimes.kept)
    kept.push_back(i);
  return {{"schema_version", 1},
          {"unit", std::string(analysis::TimeUnitText(base.unit))},
          {"group", base.group.size},
          {"group_name", base.group.scope.empty() ? Json(nullptr) : Json(base.group.scope)},
          {"name", base.name.empty() ? Json(nullptr) : Json(base.name)},
          {"count", base.count},
          {"ns", base.ns()},
          {"unit_ns", base.unit_ns()},
          {"gpu_busy_ns", frames.books.gpu.busy_ns},
          {"host_alone_ns", frames.books.host.alone_ns},
          {"recording_ns", base.recording.end - base.recording.start},
          {"one_time_ns", base.one_time_ns},
          {"one_time_in_base", base.one_time_in_base},
          {"warm_estimated", base.warm_estimated},
          {"unrecorded_ns", base.unrecorded_ns},
          {"left_out_ns", base.left_out_ns},
          {"units_ns", std::move(steps)},
          {"kept", std::move(kept)},
          {"cycle", base.regimes.cycle}};
}

}  // namespace jarvis::formats
