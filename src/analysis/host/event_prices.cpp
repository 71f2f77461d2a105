#include "analysis/host/event_prices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/host/host_walk.h"

namespace jarvis::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::EventStore;

constexpr std::size_t kPriceSamplesMin = 50;
constexpr std::size_t kLaunchesMin = 20;  // a short recording of a small model has no more
constexpr double kToldPart = 0.1;         // of the events, beside such stretches: fewer are no rule
constexpr std::int64_t kPriceStretchMaxNs = 100'000;
constexpr double kLeastShare = 0.05, kLeastPart = 0.5;
constexpr double kMostShare = 0.5, kMostPart = 1;
// Where stretches are longer than any recorder was measured to need, the program works in them.
constexpr double kOpMostNs = 2200, kPythonMostNs = 1200, kCallMostNs = 12'000;
// Of what the usual stretches say: what the cost is (event_prices.h), and of that the least and the
// most.
constexpr double kRecordCosts = 2.1, kCallCosts = 0.1, kLeastCost = 0.5, kMostCost = 1.8;

// What an event's price is told under.
enum class Recorded : std::uint8_t { kOp, kPython, kCall, kNone };
constexpr std::size_t kRecorded = 3;

Recorded RecordedAs(EventKind kind) {
  if (kind == EventKind::kCpuOp) return Recorded::kOp;
  if (kind == EventKind::kPythonFunction) return Recorded::kPython;
  return trace::IsLaunchCall(kind) ? Recorded::kCall : Recorded::kNone;
}

// Lengths of stretches, counted in cells of 1 to 2 % of them: millions are as cheap as hundreds.
class Lengths {
 public:
  void Add(std::int64_t ns) {
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns));
    constexpr int kBits = 7;
    const int shift = std::max(0, static_cast<int>(std::bit_width(length)) - kBits);
    const std::size_t place = static_cast<std::size_t>(shift) * 64 + (length >> shift);
    if (place >= cells_.size()) cells_.resize(place + 1);
    ++cells_[place].count;
    cells_[place].sum += length;
    ++count_;
  }

  std::uint64_t count() const { return count_; }
  bool enough(std::size_t least = kPriceSamplesMin) const { return count_ >= least; }

  void Add(const Lengths& other) {
    if (other.cells_.size() > cells_.size()) cells_.resize(other.cells_.size());
    for (std::size_t i = 0; i < other.cells_.size(); ++i) {
      cells_[i].count += other.cells_[i].count;
      cells_[i].sum += other.cells_[i].sum;
    }
    count_ += other.count_;
  }

  // 0 if they are too few.
  double Quantile(double share, std::size_t least = kPriceSamplesMin) const {
    if (!enough(least)) return 0;
    const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(count_));
    std::uint64_t before = 0;
    for (const Cell& cell : cells_) {
      before += cell.count;
      if (before > rank) return static_cast<double>(cell.sum) / static_cast<double>(cell.count);
    }
    return 0;
  }

 private:
  struct Cell {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
  };
  std::vector<Cell> cells_;
  std::uint64_t count_ = 0;
};

// Where a record was opened or closed.
struct RecordEdge {
  EventIndex event = trace::kNoEvent;
  Recorded of = Recorded::kNone;
  bool begin = false;
  std::int64_t at_ns = 0;
};

// Hands each pair of neighbouring edges of a thread to `visit`. Annotations are the program's own
// marks, which few have many of.
template <typename Visit>
class EdgeWalk {
 public:
  EdgeWalk(const EventStore& events, Visit visit) : events_(events), visit_(std::move(visit)) {}

  void Open(EventIndex e, std::int64_t at_ns) { Edge(e, true, at_ns); }
  void Piece(EventIndex, std::int64_t, std::int64_t) {}
  void Close(EventIndex e, std::int64_t at_ns) { Edge(e, false, at_ns); }

 private:
  void Edge(EventIndex e, bool begin, std::int64_t at_ns) {
    const Recorded of = RecordedAs(events_[e].kind);
    if (of == Recorded::kNone) return;
    const RecordEdge now{e, of, begin, at_ns};
    visit_(last_, now);
    last_ = now;
  }

  const EventStore& events_;
  Visit visit_;
  RecordEdge last_;
};

template <typename Visit>
void ForEdges(const EventStore& events, const tree::CallTree& tree, const Visit& visit) {
  for (const auto& thread : ThreadsOf(events, tree)) {
    EdgeWalk<Visit> walk(events, visit);
    WalkThread(events, tree, thread, &walk);
  }
}

// What of a stretch is recording, at most or at least, by the edges beside it.
struct EdgePrices {
  std::array<double, kRecorded> opening = {};  // before an event's begin
  std::array<double, kRecorded> closing = {};  // after its end
  double python_leaf = 0;                      // in a frame that calls nothing
  double launch = 0;                           // in a call
};

class EdgeSpacings {
 public:
  explicit EdgeSpacings(const EventStore& events) : events_(events) {}

  void Add(const RecordEdge& left, const RecordEdge& right) {
    if (right.begin) ++events_of_[static_cast<std::size_t>(right.of)];
    if (left.of == Recorded::kNone) return;
    const std::int64_t ns = right.at_ns - left.at_ns;
    if (left.event == right.event) {
      if (left.of == Recorded::kCall) calls_[events_[left.event].name].Add(ns);
      if (left.of == Recorded::kPython) python_leaf_.Add(ns);
    } else if (left.begin == right.begin && left.of == right.of) {
      (left.begin ? nested_begin_ : nested_end_)[static_cast<std::size_t>(left.of)].Add(ns);
    } else if (left.begin && right.begin && left.of == Recorded::kOp) {
      if (right.of == Recorded::kCall) op_to_call_.Add(ns);
    } else if (!left.begin && !right.begin && right.of == Recorded::kOp) {
      if (left.of == Recorded::kCall) call_to_op_.Add(ns);
    } else if (!left.begin && right.begin && left.of == right.of) {
      next_[static_cast<std::size_t>(left.of)].Add(ns);
    }
  }

  // Of launches of kernels, in the names of all runtimes.
  void FindLaunches() {
    for (const auto& [name, lengths] : calls_) {
      if (events_.strings[name].find("LaunchKernel") != std::string_view::npos)
        launches_.Add(lengths);
    }
  }

  EdgePrices Prices(double share, double part) const {
    EdgePrices out = Spacings(share, part);
    const auto hold = [](double most_ns, std::initializer_list<double*> parts) {
      double sum = 0;
      for (const double* one : parts)
        sum += *one;
      if (sum <= most_ns) return;
      for (double* one : parts)
        *one *= most_ns / sum;
    };
    const auto of = [](Recorded recorded) { return static_cast<std::size_t>(recorded); };
    hold(kOpMostNs, {&out.opening[of(Recorded::kOp)], &out.closing[of(Recorded::kOp)]});
    hold(kPythonMostNs, {&out.opening[of(Recorded::kPython)], &out.closing[of(Recorded::kPython)],
                         &out.python_leaf});
    hold(kCallMostNs,
         {&out.opening[of(Recorded::kCall)], &out.closing[of(Recorded::kCall)], &out.launch});
    return out;
  }

  // In a call of this name.
  double InCall(StringId name, double launch, double share, double part) const {
    const auto found = calls_.find(name);
    if (found == calls_.end() || !found->second.enough()) return launch;
    return std::min(launch, part * found->second.Quantile(share));
  }

  std::uint64_t EventsOf(Recorded of) const { return events_of_[static_cast<std::size_t>(of)]; }
  std::uint64_t SamplesOf(Recorded of) const {
    if (of == Recorded::kCall) return launches_.count();
    const auto at = static_cast<std::size_t>(of);
    const std::uint64_t nested = nested_begin_[at].count() + nested_end_[at].count();
    return of == Recorded::kPython ? std::max(nested, next_[at].count()) : nested;
  }
  bool Known(Recorded of) const {
    const auto at = static_cast<std::size_t>(of);
    if (of == Recorded::kCall) return launches_.enough(kLaunchesMin);
    const auto part = kToldPart * static_cast<double>(events_of_[at]);
    const auto tells = [&](const Lengths& lengths) {
      return lengths.enough() && static_cast<double>(lengths.count()) >= part;
    };
    const bool nested = tells(nested_begin_[at]) || tells(nested_end_[at]);
    return nested || (of == Recorded::kPython && tells(next_[at]));
  }

 private:
  // As the stretches are.
  EdgePrices Spacings(double share, double part) const {
    EdgePrices out;
    const auto price = [&](const Lengths& lengths, std::size_t least = kPriceSamplesMin) {
      return part * lengths.Quantile(share, least);
    };
    for (const Recorded of : {Recorded::kOp, Recorded::kPython}) {
      const auto at = static_cast<std::size_t>(of);
      if (!Known(of)) continue;
      out.opening[at] = price(nested_begin_[at]);
      out.closing[at] = price(nested_end_[at]);
    }
    const auto python = static_cast<std::size_t>(Recorded::kPython);
    // Between two calls of a frame stand the end of one record and the begin of the next.
    if (Known(Recorded::kPython)) {
      const double opening = price(next_[python]) - out.closing[python];
      out.opening[python] = std::max(out.opening[python], opening);
      out.python_leaf = price(python_leaf_);
    }
    if (!launches_.enough(kLaunchesMin)) return out;
    const auto call = static_cast<std::size_t>(Recorded::kCall);
    out.launch = price(launches_, kLaunchesMin);
    out.closing[call] = std::min(out.launch, price(call_to_op_, kLaunchesMin));
    out.opening[call] = std::min(out.launch, price(op_to_call_, kLaunchesMin));
    // Without ops nobody knows how much of it is the program's.
    if (!op_to_call_.enough(kLaunchesMin))
      out.opening[call] = std::min(out.launch / 2, price(next_[call]));
    return out;
  }

  const EventStore& events_;
  std::array<Lengths, kRecorded> nested_begin_;  // begin to begin of its first child of its kind
  std::array<Lengths, kRecorded> nested_end_;
  std::array<Lengths, kRecorded> next_;  // end to begin of neighbours of a kind
  Lengths op_to_call_;
  Lengths call_to_op_;
  Lengths python_leaf_;
  std::unordered_map<StringId, Lengths> calls_;  // by name: within
  Lengths launches_;
  std::array<std::uint64_t, kRecorded> events_of_ = {};
};

class Charger {
 public:
  Charger(const EventStore& events, const tree::CallTree& tree)
      : events_(events), tree_(tree), spacings_(events) {}

  EventPrices Run() {
    ForEdges(events_, tree_,
             [&](const RecordEdge& left, const RecordEdge& right) { spacings_.Add(left, right); });
    spacings_.FindLaunches();
    least_ = spacings_.Prices(kLeastShare, kLeastPart);
    most_ = spacings_.Prices(kMostShare, kMostPart);
    ForEdges(events_, tree_,
             [&](const RecordEdge& left, const RecordEdge& right) { Between(left, right); });
    Flush();
    out_.python = CostOf(Recorded::kPython);
    out_.ops = CostOf(Recorded::kOp);
    out_.runtime = CostOf(Recorded::kCall);
    return std::move(out_);
  }

 private:
  struct Price {
    double least = 0;
    double most = 0;
  };

  std::optional<EventCost> CostOf(Recorded of) const {
    if (!spacings_.Known(of)) return std::nullopt;
    const Price& sum = sums_[static_cast<std::size_t>(of)];
    const auto events = static_cast<double>(spacings_.EventsOf(of));
    return EventCost{spacings_.EventsOf(of), spacings_.SamplesOf(of), sum.least / events / 1000,
                     sum.most / events / 1000};
  }

  void Between(const RecordEdge& left, const RecordEdge& right) {
    if (left.of == Recorded::kNone) {
      Flush();  // another thread
    } else {
      const auto ns = static_cast<double>(std::max<std::int64_t>(0, right.at_ns - left.at_ns));
      if (left.event == right.event)
        Inside(left, right, ns);
      else
        Beside(left, right, ns);
    }
    // A launch is sooner by what was before it, not by its own.
    if (right.begin && right.of == Recorded::kCall) Flush();
  }

  void Inside(const RecordEdge& left, const RecordEdge& right, double ns) {
    Price price;
    if (left.of == Recorded::kPython) price = {least_.python_leaf, most_.python_leaf};
    if (left.of == Recorded::kCall) {
      const auto [place, added] = in_call_.try_emplace(events_[left.event].name);
      if (added) {
        const StringId name = events_[left.event].name;
        // What the driver takes for a launch by itself is as long as the shortest calls.
        place->second = {0, spacings_.InCall(name, most_.launch, kMostShare, kMostPart)};
      }
      price = place->second;
    }
    price = {std::min(ns, price.least), std::min(ns, price.most)};
    Charge(left, left.at_ns, right.at_ns, price);
  }

  void Beside(const RecordEdge& left, const RecordEdge& right, double ns) {
    const auto before = [&](const EdgePrices& prices) {
      return left.begin ? 0 : prices.closing[static_cast<std::size_t>(left.of)];
    };
    const auto after = [&](const EdgePrices& prices) {
      return right.begin ? prices.opening[static_cast<std::size_t>(right.of)] : 0;
    };
    Price close = {before(least_), before(most_)};
    Price open = {after(least_), after(most_)};
    // Of a short one, both get less.
    const auto fit = [&](double* one, double* other) {
      if (*one + *other <= ns) return;
      const double part = ns / (*one + *other);
      *one *= part;
      *other *= part;
    };
    fit(&close.least, &open.least);
    fit(&close.most, &open.most);
    Charge(left, left.at_ns, left.at_ns + static_cast<std::int64_t>(close.most), close);
    Charge(right, right.at_ns - static_cast<std::int64_t>(open.most), right.at_ns, open);
  }

  void Charge(const RecordEdge& edge, std::int64_t begin, std::int64_t end, Price price) {
    if (price.most <= 0) return;
    const double likely = (edge.of == Recorded::kCall ? kCallCosts : kRecordCosts) * price.most;
    price = {std::min(price.least, kLeastCost * likely), kMostCost * likely};
    if (run_.high_ns > 0 && end - run_.begin_ns > kPriceStretchMaxNs) Flush();
    if (run_.high_ns <= 0) run_ = {events_[edge.event].track, begin, end, 0, 0};
    run_.end_ns = std::max(run_.end_ns, end);
    Price& part = parts_[static_cast<std::size_t>(edge.of)];
    part.least += price.least;
    part.most += price.most;
    run_.low_ns += price.least;
    run_.likely_ns += likely;
    run_.high_ns += price.most;
  }

  void Flush() {
    if (run_.high_ns > 0) {
      // Pieces are cut to whole nanoseconds, prices are not.
      const auto length = static_cast<double>(run_.end_ns - run_.begin_ns);
      const auto fits = [&](double ns) { return ns > length ? length / ns : 1; };
      for (std::size_t of = 0; of < kRecorded; ++of) {
        sums_[of].least += parts_[of].least * fits(run_.low_ns);
        sums_[of].most += parts_[of].most * fits(run_.high_ns);
      }
      for (double* one : {&run_.low_ns, &run_.likely_ns, &run_.high_ns})
        *one = std::min(*one, length);
      if (run_.high_ns > 0) out_.stretches.push_back(run_);
    }
    run_ = {0, 0, 0, 0, 0};
    parts_ = {};
  }

  const EventStore& events_;
  const tree::CallTree& tree_;
  EdgeSpacings spacings_;
  EdgePrices least_;
  EdgePrices most_;
  std::unordered_map<StringId, Price> in_call_;
  std::array<Price, kRecorded> sums_;
  std::array<Price, kRecorded> parts_;  // of the stretch at hand
  HostCost run_{0, 0, 0, 0, 0};
  EventPrices out_;
};

}  // namespace

EventPrices PriceEvents(const EventStore& events, const tree::CallTree& tree) {
  return Charger(events, tree).Run();
}

}  // namespace jarvis::analysis
