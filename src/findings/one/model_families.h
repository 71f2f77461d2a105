// What published models are told by: names of kernels, ops and annotations, shapes of weights, the
// sizes of their configurations, their classes in libraries. One file a family in families/*.json.
// Internal to the layer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"
#include "findings/one/shapes.h"
#include "findings/one/workload_facts.h"

namespace jarvis::findings {

std::span<const EmbeddedFile> FamilyFiles();

// One of several names or shapes that a trace must have, or must not have.
struct ModelSign {
  enum class Of : std::uint8_t { kKernel, kOp, kNote, kFrame, kClass, kShape };
  Of of = Of::kKernel;
  std::vector<std::string> any;  // parts of names in lower case, "*" between parts in their order
  std::vector<Shape> shapes;     // -1: any size
  std::uint64_t least = 1;       // occurrences
};

struct PublishedModel {
  std::string family;  // what all of the file are
  std::string name;
  std::vector<std::string> classes;              // parts of names of module classes, in lower case
  std::optional<std::uint64_t> residual, plain;  // convolutions of a forward pass, of which net
  std::vector<ModelSign> needed, excluded;
  std::map<std::string, std::int64_t> sizes;  // by SizeKeys: its configuration
  bool image = false;                         // its tokens are patches of images
  std::optional<bool> causal;
};

// The published models, read once; a file that is not as it must be is a bug of ours.
const std::vector<PublishedModel>& PublishedModels();

// All: empty where none is known.
std::string_view ResNetOf(std::uint64_t convolutions);  // of a forward pass
std::string_view VggOf(std::uint64_t convolutions);
std::string_view VitOf(std::int64_t hidden, std::int64_t heads);
// What those who publish a model call it, where its class does not say it.
std::string_view PublishedName(std::string_view module_class);

// What a trace tells of sizes; those that it does not tell are absent.
struct ModelSizes {
  std::map<std::string, std::int64_t> known;  // "hidden", "heads", "kv_heads", "head", "ffn", ...
  std::int64_t ranks = 1;                     // heads, FFN and vocabulary may be a part of as many
  bool image = false;
  std::optional<bool> causal = std::nullopt;
};

struct ToldModel {
  std::string name, evidence;
};
// By names and shapes: the row that all is there of; of several the one that asks for most.
std::optional<ToldModel> ModelByNames(const WorkloadFacts& facts);
// By its configuration: at least three figures that do not follow from each other agree and none is
// another. Several models of one family: the family.
std::optional<ToldModel> ModelBySizes(const ModelSizes& sizes);

}  // namespace jarvis::findings
