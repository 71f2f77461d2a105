#include "replay/selection.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/tables/ops_tables.h"
#include "base/text.h"

namespace jarvis::replay {
namespace {

using analysis::GroupBy;
using analysis::Launcher;
using analysis::SummaryRow;
using trace::EventIndex;
using trace::kNoEvent;

class Selection {
 public:
  explicit Selection(const session::LoadedTrace& trace) : trace_(trace) {}

  Status AddRow(const std::string& id) {
    const SummaryRow* row = trace_.FindRow(id);
    if (row == nullptr) {
      return Fail(
          ErrorCode::kUnknownRow,
          fmt::format("no row \"{}\" in trace {}: op1..op{} are ops (by rank)", id.substr(0, 40),
                      trace_.id(), trace_.SummaryBy(GroupBy::kOp).rows.size()),
          fmt::format("ops_summary {{\"trace\":\"{}\"}}", trace_.id()));
    }
    AddLaunchers(*row);
    return {};
  }

  Status AddName(const std::string& name) {
    const std::string lower = LowerAscii(name);
    const bool gpu = trace_.recorded().gpu_work;
    bool found = gpu ? AddRowsNamed(lower, true) : AddHostOps(lower, true);
    if (!found) found = gpu ? AddRowsNamed(lower, false) : AddHostOps(lower, false);
    if (found) return {};
    return Fail(ErrorCode::kBadValue,
                fmt::format("no op \"{}\" {} in trace {}", name.substr(0, 60),
                            gpu ? "with GPU work" : "with recorded shapes", trace_.id()),
                fmt::format("ops_summary {{\"trace\":\"{}\"}}", trace_.id()));
  }

  std::vector<Signature> Take() {
    for (Signature& signature : signatures_) {
      for (const double us : signature.call_us)
        signature.total_us += us;
    }
    std::stable_sort(signatures_.begin(), signatures_.end(),
                     [](const auto& a, const auto& b) { return a.total_us > b.total_us; });
    return std::move(signatures_);
  }

 private:
  bool AddRowsNamed(const std::string& lower, bool whole) {
    bool found = false;
    for (const SummaryRow& row : trace_.SummaryBy(GroupBy::kOp).rows) {
      if (whole ? !EqualsNoCase(row.name, lower) : !ContainsNoCase(row.name, lower)) continue;
      AddLaunchers(row);
      found = true;
    }
    return found;
  }

  void AddLaunchers(const SummaryRow& row) {
    for (const std::uint32_t i : row.launchers) {
      if (!seen_.insert(i).second) continue;
      const Launcher& launcher = trace_.attribution().launchers[i];
      Signature& signature = At(
          launcher.op, launcher.op == kNoEvent
                           ? analysis::LauncherName(trace_.events(), trace_.attribution(), launcher)
                           : std::string(trace_.events().name(launcher.op)));
      if (signature.launchers.empty()) signature.row = RowOf(signature.op);
      signature.launchers.push_back(i);
      signature.call_us.push_back(std::max(launcher.subtree_us, launcher.direct_us));
    }
  }

  bool AddHostOps(const std::string& lower, bool whole) {
    bool found = false;
    for (EventIndex e = 0; e < trace_.events().size(); ++e) {
      const trace::Event& event = trace_.events()[e];
      if (event.kind != trace::EventKind::kCpuOp || (event.flags & trace::kLeftOut) != 0) continue;
      if (trace_.events().args_of(e).dims == kNoString) continue;
      const std::string_view name = trace_.events().name(e);
      if (whole ? !EqualsNoCase(name, lower) : !ContainsNoCase(name, lower)) continue;
      found = true;
      if (!hosts_.insert(e).second) continue;
      At(e, std::string(name)).call_us.push_back(trace_.events().dur_us(e));
    }
    return found;
  }

  // Ids of texts are equal where the texts are.
  Signature& At(EventIndex op, const std::string& name) {
    const trace::Args args = op == kNoEvent ? trace::Args() : trace_.events().args_of(op);
    const auto [found, added] = index_.try_emplace(
        {name, {args.dims, args.types, args.strides, args.concrete}}, signatures_.size());
    if (added) signatures_.push_back({"", name, op, {}, {}, 0});
    return signatures_[found->second];
  }

  std::string RowOf(const std::string& op) {
    if (rows_.empty()) {
      for (const SummaryRow& row : trace_.SummaryBy(GroupBy::kOp).rows)
        rows_.emplace(row.name, row.id);
    }
    const auto found = rows_.find(op);
    return found == rows_.end() ? "" : found->second;
  }

  const session::LoadedTrace& trace_;
  std::vector<Signature> signatures_;
  std::map<std::pair<std::string, std::array<StringId, 4>>, std::size_t> index_;
  std::map<std::string, std::string> rows_;  // name -> id
  std::set<std::uint32_t> seen_;
  std::set<EventIndex> hosts_;
};

}  // namespace

Result<std::vector<Signature>> SelectCalls(const session::LoadedTrace& trace,
                                           const Wanted& wanted) {
  Selection selection(trace);
  for (const std::string& row : wanted.rows)
    JV_TRY(selection.AddRow(row));
  for (const std::string& name : wanted.op_names)
    JV_TRY(selection.AddName(name));
  return selection.Take();
}

}  // namespace jarvis::replay
