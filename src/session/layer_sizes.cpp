#include "session/layer_sizes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace jarvis::session {
namespace {

using ledger::WorkKind;
using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kLayersLeast = 4;  // products behind a norm that agree on the stream's width
constexpr double kAgreeing = 0.5;        // and of all products behind a norm
// Of a product that makes queries, keys and values at once, the queries have a third at least: keys
// and values have as many heads, or fewer.
constexpr double kPartsOfHeads = 3;

// What the kernels between two products do.
struct Between {
  EventIndex norm = kNoEvent;       // the last
  EventIndex attention = kNoEvent;  // the last
  bool activation = false;
  bool multiplies = false;       // a gate, perhaps
  bool after_attention = false;  // something that computes follows it
  bool other = false;            // whatever may change the width
};

// A product of a layer's forward pass, and what was before it.
struct LayerProduct {
  EventIndex event = kNoEvent;
  ResultSizes result;
  std::size_t before = 0;  // in the list; itself: nothing tells
  Between between;
};

bool Names(std::string_view name, std::string_view word) {
  return ContainsNoCase(name, word);
}

// What a name tells of a pass over a tensor.
struct NameSigns {
  bool activation = false;
  bool multiplies = false;  // a gate, perhaps
  bool puts_together = false;
};

NameSigns SignsOf(std::string_view name) {
  constexpr std::string_view kActivations[] = {"gelu", "relu", "silu",    "swish",
                                               "glu",  "tanh", "sigmoid", "act_and_mul"};
  return {std::any_of(std::begin(kActivations), std::end(kActivations),
                      [&](std::string_view word) { return Names(name, word); }),
          Names(name, "mul") || Names(name, "glu") || Names(name, "gate"),
          Names(name, "_cat_") || Names(name, "catarray")};
}

bool Moves(WorkKind kind) {
  return kind == WorkKind::kCast || kind == WorkKind::kLayout || kind == WorkKind::kCopy ||
         kind == WorkKind::kHostCopy || ledger::IsCommunication(kind);
}

void Add(WorkKind kind, EventIndex e, const NameSigns& signs, Between* between) {
  // Tensors put together have another width, or other rows.
  between->other = between->other || signs.puts_together;
  if (Moves(kind)) return;
  if (kind == WorkKind::kAttention) {
    between->attention = e;
    between->after_attention = false;
    return;
  }
  between->after_attention = between->attention != kNoEvent;
  if (kind == WorkKind::kNormalisation) {
    between->norm = e;
  } else if (kind == WorkKind::kElementwise) {
    between->activation = between->activation || signs.activation;
    between->multiplies = between->multiplies || signs.multiplies;
  } else {
    between->other = true;
  }
}

// One stream's kernels, in order.
class LayerReader {
 public:
  LayerReader(const trace::EventStore& events, const ledger::KindsOfWork& kinds, LayersKnown* out)
      : events_(events), kinds_(kinds), out_(*out) {}

  void Run(const std::vector<EventIndex>& kernels) {
    List(kernels);
    FindWidth();
    if (!width_) return;
    for (std::size_t i = 0; i < products_.size(); ++i) {
      if (IsFirst(i)) {
        AddFirst(i);
      } else if (products_[i].before != i && IsFirst(products_[i].before)) {
        AddSecond(i, products_[products_[i].before]);
      }
    }
  }

 private:
  void List(const std::vector<EventIndex>& kernels) {
    Between between;
    bool known = false;  // the last product is listed
    for (const EventIndex e : kernels) {
      const WorkKind kind = kinds_.Of(e).kind;
      if (kind != WorkKind::kProduct) {
        Add(kind, e, Signs(e), &between);
        continue;
      }
      const auto result = ResultOf(events_, kinds_, e);
      const bool layer = result && kinds_.Of(e).sizes.result.of_layer;
      if (layer) {
        const std::size_t at = products_.size();
        products_.push_back({e, *result, known ? at - 1 : at, between});
      }
      known = layer;
      between = {};
    }
  }

  const NameSigns& Signs(EventIndex e) {
    const auto [signs, added] = signs_.try_emplace(events_[e].name);
    if (added) signs->second = SignsOf(events_.name(e));
    return signs->second;
  }

  // Behind a norm of what the product before it was added to.
  bool BehindNorm(std::size_t i) const {
    const LayerProduct& product = products_[i];
    const Between& between = product.between;
    return product.before != i && between.norm != kNoEvent && between.attention == kNoEvent &&
           !between.other && products_[product.before].result.rows.Meets(product.result.rows);
  }

  // The most frequent width, as exactly as those that have it allow together.
  void FindWidth() {
    std::map<std::pair<double, double>, std::size_t> widths;
    std::size_t all = 0;
    for (std::size_t i = 0; i < products_.size(); ++i) {
      if (!BehindNorm(i)) continue;
      const SizeRange& columns = products_[products_[i].before].result.columns;
      ++widths[{columns.low, columns.high}];
      ++all;
    }
    std::optional<SizeRange> best;
    std::size_t most = 0;
    for (const auto& [width, count] : widths) {
      SizeRange common{width.first, width.second};
      std::size_t agreeing = 0;
      for (const auto& [other, others] : widths) {
        const SizeRange range{other.first, other.second};
        if (!common.Meets(range)) continue;
        common = common.And(range);
        agreeing += others;
      }
      if (agreeing <= most) continue;
      most = agreeing;
      best = common;
    }
    if (most >= kLayersLeast && static_cast<double>(most) >= kAgreeing * static_cast<double>(all))
      width_ = best;
  }

  bool IsFirst(std::size_t i) const {
    return BehindNorm(i) && products_[products_[i].before].result.columns.Meets(*width_);
  }

  void AddFirst(std::size_t i) {
    const LayerProduct& product = products_[i];
    const SizeRange rows = product.result.rows.And(products_[product.before].result.rows);
    out_.products[product.event] = {{rows, product.result.columns}, *width_};
    out_.normalised[product.between.norm] = {rows.low * width_->low, product.event};
  }

  // Of a layer's way back to the stream.
  void AddSecond(std::size_t i, const LayerProduct& first) {
    const LayerProduct& product = products_[i];
    const Between& between = product.between;
    const SizeRange& wide = first.result.columns;
    if (between.norm != kNoEvent || !product.result.rows.Meets(first.result.rows) ||
        !product.result.columns.Meets(*width_)) {
      return;
    }
    const ResultSizes result{product.result.rows.And(first.result.rows),
                             product.result.columns.And(*width_)};
    if (between.attention != kNoEvent) {
      if (!between.after_attention) AddHeads(product, result, wide);
    } else if (between.activation && !between.other) {
      out_.products[product.event] = {result,
                                      {between.multiplies ? wide.low / 2 : wide.low, wide.high}};
    }
  }

  void AddHeads(const LayerProduct& product, const ResultSizes& result, const SizeRange& wide) {
    SizeRange depth{wide.low / kPartsOfHeads, wide.high};
    const EventIndex attention = product.between.attention;
    if (auto sizes = AttentionOf(events_, kinds_, attention)) {
      const SizeRange heads{sizes->heads * sizes->head.low, sizes->heads * sizes->head.high};
      if (!depth.Meets(heads)) return;
      depth = depth.And(heads);
      // Keys and values from the same product as the queries.
      if (wide.low > depth.high) out_.attentions[attention] = {*sizes, result.rows};
    }
    out_.products[product.event] = {result, depth};
  }

  const trace::EventStore& events_;
  const ledger::KindsOfWork& kinds_;
  LayersKnown& out_;
  std::unordered_map<StringId, NameSigns> signs_;
  std::vector<LayerProduct> products_;
  std::optional<SizeRange> width_;
};

template <typename T>
std::optional<T> FoundIn(const std::unordered_map<EventIndex, T>& map, EventIndex kernel) {
  const auto found = map.find(kernel);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

LayerSizes::LayerSizes(const trace::EventStore& events, const ledger::KindsOfWork& kinds) {
  std::map<std::uint32_t, std::vector<EventIndex>> streams;
  for (EventIndex e = 0; e < events.size(); ++e)
    if (trace::IsGpuWork(events[e].kind)) streams[events[e].track].push_back(e);
  for (auto& [track, kernels] : streams) {
    std::stable_sort(kernels.begin(), kernels.end(),
                     [&](EventIndex a, EventIndex b) { return events[a].ts_ns < events[b].ts_ns; });
    LayerReader(events, kinds, &known_).Run(kernels);
  }
}

std::optional<ProductSizes> LayerSizes::Product(EventIndex kernel) const {
  return FoundIn(known_.products, kernel);
}

std::optional<LayerAttention> LayerSizes::Attention(EventIndex kernel) const {
  return FoundIn(known_.attentions, kernel);
}

std::optional<NormalisedSize> LayerSizes::Normalised(EventIndex kernel) const {
  return FoundIn(known_.normalised, kernel);
}

}  // namespace jarvis::session
