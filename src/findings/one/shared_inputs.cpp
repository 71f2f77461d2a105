#include "findings/one/shared_inputs.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

// Products of one input that follow each other.
struct ProductRun {
  double m = 0, n = 0, k = 0;
  double us = 0;
  std::vector<std::uint32_t> calls = {};

  // A product whose sizes are those of the one before may read its output, if that is square: two
  // layers. Three of them, or one that cannot read the other's output, share an input.
  bool Shares() const { return calls.size() >= 3 || (calls.size() == 2 && n != k); }
};

}  // namespace

std::vector<SharedInput> FindSharedInputs(const Calls& calls,
                                          const std::vector<CategoryAnalysis>& categories) {
  std::map<std::tuple<std::size_t, double, double, double>, SharedInput> found;
  ProductRun run;
  const auto close = [&] {
    if (run.Shares()) {
      SharedInput& shared = found[{run.calls.size(), run.m, run.k, run.n}];
      shared.count = run.calls.size();
      shared.m = run.m;
      shared.k = run.k;
      shared.n = run.n;
      shared.us += run.us;
      shared.groups.push_back(std::move(run.calls));
    }
    run = {};
  };
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    const analysis::WorkCall& call = calls.calls[i];
    const Place place = calls.place_of[i];
    if (place.category == kNone || call.backward || !calls.IsHostCall(call)) {
      close();
      continue;
    }
    const Kind kind = categories[place.category].kind;
    // A gate's activation stands between it and the product beside it.
    if (kind == Kind::kElementwise && run.calls.size() == 1 && run.n != run.k) continue;
    const auto number = [&](const char* key) {
      return kind != Kind::kGemm || call.work == nullptr ? std::nullopt : call.work->NumberOf(key);
    };
    const auto m = number("M"), n = number("N"), k = number("K");
    const bool product = m && n && k && *m > 1 && number("B").value_or(1) == 1;
    if (!product || *m != run.m || *k != run.k || *n != run.n) close();
    if (!product) continue;
    if (run.calls.empty()) run = {*m, *n, *k, 0};
    run.calls.push_back(static_cast<std::uint32_t>(i));
    run.us += call.kernel_us;
  }
  close();
  std::vector<SharedInput> out;
  for (auto& [key, shared] : found) {
    if (100 * shared.us >= limits::kMergeShare * calls.computation_us)
      out.push_back(std::move(shared));
  }
  return out;
}

}  // namespace jarvis::findings
