#include "findings/one/growing_rounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/correlation.h"
#include "base/text.h"
#include "findings/one/shapes.h"

namespace jarvis::findings {
namespace {

constexpr std::size_t kFewestRounds = 8, kMostRounds = 512;
constexpr std::size_t kJoinsMax = 256;                        // looked at in one round
constexpr std::int64_t kJoinRowsMax = std::int64_t{1} << 40;  // no tensor has more

// Beyond the first third; 0: they do not grow.
double GrowthOf(const std::vector<double>& lengths) {
  constexpr double kTwice = 2, kCorrelated = 0.6;
  const std::size_t n = lengths.size(), third = n / 3;
  if (n < kFewestRounds || n > kMostRounds) return 0;
  const double all = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const auto part = static_cast<std::ptrdiff_t>(third);
  const double first = std::accumulate(lengths.begin(), lengths.begin() + part, 0.0);
  const double last = std::accumulate(lengths.end() - part, lengths.end(), 0.0);
  if (last < kTwice * first) return 0;
  std::int64_t rising = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = i + 1; k < n; ++k)
      rising += lengths[k] > lengths[i] ? 1 : lengths[k] < lengths[i] ? -1 : 0;
  const double pairs = static_cast<double>(n * (n - 1)) / 2;
  if (static_cast<double>(rising) < kCorrelated * pairs) return 0;
  return std::max(0.0, all - static_cast<double>(n) * first / static_cast<double>(third));
}

struct Join {
  std::int64_t at_ns = 0;
  std::int64_t held = 0, added = 0;  // rows
  trace::EventIndex op = trace::kNoEvent;
};

// The axis of a join is its second argument: ["", "0"].
std::size_t AxisOf(std::string_view concrete, std::size_t axes) {
  const std::vector<std::string> values = ParseTypes(concrete);
  const auto axis = values.size() > 1 ? ParseInt(values[1]) : std::nullopt;
  const auto count = static_cast<std::int64_t>(axes);
  if (!axis || *axis < -count || *axis >= count) return 0;
  return static_cast<std::size_t>(*axis < 0 ? *axis + count : *axis);
}

// Joins of two tensors or more whose sizes are recorded, by time.
std::vector<Join> JoinsOf(const trace::EventStore& events) {
  std::vector<Join> out;
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    if (events[e].kind != trace::EventKind::kCpuOp) continue;
    const std::string_view name = events.name(e);
    if (name != "aten::cat" && name != "aten::concat" && name != "aten::concatenate") continue;
    const trace::Args& args = events.args_of(e);
    if (args.dims == kNoString) continue;
    std::vector<Shape> shapes = ParseShapes(events.text(args.dims));
    std::erase_if(shapes, [](const Shape& shape) { return shape.empty(); });
    if (shapes.size() < 2) continue;
    const std::size_t axis =
        AxisOf(args.concrete == kNoString ? std::string_view() : events.text(args.concrete),
               shapes[0].size());
    Join join{events[e].ts_ns, shapes[0][axis], 0, e};
    for (std::size_t i = 1; i < shapes.size(); ++i)
      join.added +=
          axis < shapes[i].size() ? std::clamp<std::int64_t>(shapes[i][axis], 0, kJoinRowsMax) : 0;
    if (join.held > 0 && join.held <= kJoinRowsMax && join.added > 0) out.push_back(join);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Join& a, const Join& b) { return a.at_ns < b.at_ns; });
  return out;
}

// Of each window between begins of stretches (before the first, ..., behind the last) the join that
// goes on with what the window before has joined: the longest such chain. Absent: none of nearly
// all windows.
std::vector<std::optional<Join>> ChainOf(const std::vector<Join>& joins,
                                         const IntervalSet<std::int64_t>& stretches) {
  struct Link {
    Join join;
    std::size_t length = 1;
    std::int64_t from = 0;  // rows held: the link before joined them
  };
  const std::size_t windows = stretches.size() + 1;
  // By the rows that a link ends with.
  std::vector<std::map<std::int64_t, Link>> links(windows);
  std::size_t next = 0;
  std::pair<std::size_t, std::size_t> best{0, 0};  // length, window
  std::int64_t best_rows = 0;
  for (std::size_t w = 0; w < windows; ++w) {
    for (std::size_t seen = 0; next < joins.size(); ++next) {
      const Join& join = joins[next];
      if (w < stretches.size() && join.at_ns > stretches[w].start) break;
      if (++seen > kJoinsMax) continue;
      Link link{join, 1, join.held};
      if (w > 0) {
        const auto before = links[w - 1].find(join.held);
        if (before != links[w - 1].end()) link.length = before->second.length + 1;
      }
      Link& kept = links[w].try_emplace(join.held + join.added, link).first->second;
      if (link.length > kept.length) kept = link;
      if (link.length > best.first) {
        best = {link.length, w};
        best_rows = join.held + join.added;
      }
    }
  }
  std::vector<std::optional<Join>> chain(windows);
  std::int64_t rows = best_rows;
  for (std::size_t i = 0; i < best.first; ++i) {
    const std::size_t w = best.second - i;
    const Link& link = links[w].at(rows);
    chain[w] = link.join;
    rows = link.from;
  }
  return chain;
}

struct SizedRounds {
  std::vector<double> ms, held, added;

  struct Fit {
    double explained = 0;                        // of the lengths' variance
    double held = 0, added = 0;                  // standardized coefficients
    double partial_held = 0, partial_added = 0;  // correlations, the other one accounted for
    bool apart = false;                          // the two sizes do not grow alike
  };
  Fit FitOf() const {
    constexpr double kAlike = 0.98;
    const double yh = Correlation(ms, held), ya = Correlation(ms, added);
    const double ha = Correlation(held, added);
    Fit fit;
    fit.apart = ha * ha < kAlike;
    if (!fit.apart) return fit;
    const double rest = 1 - ha * ha;
    fit.held = (yh - ya * ha) / rest;
    fit.added = (ya - yh * ha) / rest;
    fit.explained = yh * fit.held + ya * fit.added;
    const auto partial = [&](double coefficient, double other) {
      const double left = 1 - other * other;
      return left > 0 ? coefficient * std::sqrt(rest) / std::sqrt(left) : 0;
    };
    fit.partial_held = partial(fit.held, ya);
    fit.partial_added = partial(fit.added, yh);
    return fit;
  }

  // Of two rounds, the later of which has more to work on and adds less: it is mostly the shorter.
  bool ShorterWithLessAdded() const {
    std::int64_t shorter = 0;
    for (std::size_t i = 0; i < ms.size(); ++i)
      for (std::size_t k = i + 1; k < ms.size(); ++k)
        if (added[k] < added[i]) shorter += ms[k] < ms[i] ? 1 : -1;
    return shorter > 0;
  }
};

GrowthCause CauseOf(const SizedRounds& rounds, const SizedRounds::Fit& fit) {
  constexpr double kCorrelated = 0.6;
  if (!fit.apart) return GrowthCause::kUnknown;
  if (fit.held > fit.added && fit.partial_held >= kCorrelated && !rounds.ShorterWithLessAdded())
    return GrowthCause::kCollected;
  if (fit.added > fit.held && fit.partial_added >= kCorrelated) return GrowthCause::kNewResults;
  return GrowthCause::kUnknown;
}

}  // namespace

std::optional<GrowingRounds> FindGrowth(const trace::EventStore& events,
                                        const IntervalSet<std::int64_t>& stretches) {
  std::vector<double> lengths;
  for (const Interval<std::int64_t>& one : stretches)
    lengths.push_back(static_cast<double>(one.end - one.start) / 1e6);
  GrowingRounds out;
  out.growth_ms = GrowthOf(lengths);
  if (out.growth_ms <= 0) return std::nullopt;
  const std::vector<std::optional<Join>> chain = ChainOf(JoinsOf(events), stretches);
  // A round's work comes behind its join, or before it.
  double explained = 0;
  for (const std::size_t ahead : {std::size_t{0}, std::size_t{1}}) {
    SizedRounds rounds;
    const Join* last = nullptr;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::optional<Join>& join = chain[i + ahead];
      if (!join) continue;
      rounds.ms.push_back(lengths[i]);
      rounds.held.push_back(static_cast<double>(join->held));
      rounds.added.push_back(static_cast<double>(join->added));
      last = &*join;
    }
    constexpr double kNearlyAll = 0.8;
    if (rounds.ms.size() < kFewestRounds ||
        static_cast<double>(rounds.ms.size()) < kNearlyAll * static_cast<double>(lengths.size()))
      continue;
    const SizedRounds::Fit fit = rounds.FitOf();
    if (fit.explained < explained) continue;
    explained = fit.explained;
    out.cause = CauseOf(rounds, fit);
    out.join = events.name(last->op);
    const auto [fewest, most] = std::ranges::minmax(rounds.added);
    out.fewest_rows = std::llround(fewest);
    out.most_rows = std::llround(most);
  }
  return out;
}

}  // namespace jarvis::findings
