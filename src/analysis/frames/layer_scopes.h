// Scopes that are named after the layers of a model: "FSDP::pre_forward (blocks.14)". A layer runs
// once in a pass, so that what lies between a layer and its next run is a pass, and what repeats
// from layer to layer is a part of one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frames/frame_facts.h"

namespace jarvis::analysis {

// The number of a layer, if a scope is named after one of several like parts of a model: by a path
// of modules (14 of "encoder.block.14.layer.0"), or by words ("layer 3"). What counts steps or
// requests is none.
std::optional<std::int64_t> LayerNumberOf(std::string_view name);

// "request 17 of 32" -> "request * of *".
std::string WithoutDigits(std::string_view name);

class LayerScopes {
 public:
  // Of the thread's scopes of layers those that reach over most of it. One name alone is no layer
  // among others.
  explicit LayerScopes(const FrameFacts& facts);

  bool empty() const { return scopes_.empty(); }
  // The first layer and the last, in the order of the scopes.
  std::string_view first() const { return facts_.events.name(scopes_.front()); }
  std::string_view last() const { return facts_.events.name(scopes_.back()); }
  bool Has(std::string_view name) const;

  // The recording begins or ends amid a pass, and holds no other.
  bool OfPartOfPass() const;

  // When passes begin: with the layer that comes first by its number, and with the one that was
  // recorded first. Empty: no layer was recorded twice, or they come in no order.
  std::vector<std::int64_t> PassesFromLowest() const;
  std::vector<std::int64_t> PassesFromFirst() const;

  // Whether what begins at these times has mostly layers of its own, as parts of a pass do.
  bool ArePartsOfPass(std::span<const std::int64_t> starts) const;

 private:
  StringId NameOf(EventIndex scope) const { return facts_.events[scope].name; }
  std::int64_t StartOf(EventIndex scope) const { return facts_.events[scope].ts_ns; }
  bool InOrder() const;
  std::vector<std::int64_t> StartsOf(StringId name) const;

  const FrameFacts& facts_;
  std::vector<std::string> kinds_;  // of layers: names without digits, sorted
  std::vector<EventIndex> scopes_;  // of the chosen kind, by start
};

}  // namespace jarvis::analysis
