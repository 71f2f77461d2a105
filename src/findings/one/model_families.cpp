#include "findings/one/model_families.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/dom_parse.h"
#include "base/text.h"

namespace jarvis::findings {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::string_view kSizeKeys[] = {"hidden", "layers",     "heads",   "kv_heads", "head",
                                          "ffn",    "vocabulary", "experts", "top_k"};
constexpr std::size_t kFiguresLeast = 3;  // that agree

std::string TextOf(const element& value) {
  std::string_view text;
  JV_CHECK(value.get(text) == simdjson::SUCCESS && !text.empty());
  return std::string(text);
}
std::int64_t NumberOf(const element& value) {
  std::int64_t number = 0;
  JV_CHECK(value.get(number) == simdjson::SUCCESS && number > 0);
  return number;
}
array ListOf(const element& value) {
  array list;
  JV_CHECK(value.get(list) == simdjson::SUCCESS);
  return list;
}
object ObjectOf(const element& value) {
  object fields;
  JV_CHECK(value.get(fields) == simdjson::SUCCESS);
  return fields;
}
bool TruthOf(const element& value) {
  bool truth = false;
  JV_CHECK(value.get(truth) == simdjson::SUCCESS);
  return truth;
}
std::vector<std::string> TextsOf(const element& value) {
  std::vector<std::string> texts;
  for (const element one : ListOf(value))
    texts.push_back(LowerAscii(TextOf(one)));
  JV_CHECK(!texts.empty());
  return texts;
}

// "256,*,1,1"
Shape ShapeOf(std::string_view text) {
  Shape shape;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view axis = text.substr(0, comma);
    const auto size = axis == "*" ? std::optional<std::int64_t>(-1) : ParseInt(axis);
    JV_CHECK(size.has_value());
    shape.push_back(*size);
    if (comma == std::string_view::npos) return shape;
    text.remove_prefix(comma + 1);
  }
}

ModelSign SignOf(const element& value) {
  using Of = ModelSign::Of;
  ModelSign sign;
  for (const auto& [key, field] : ObjectOf(value)) {
    if (key == "least") {
      sign.least = static_cast<std::uint64_t>(NumberOf(field));
      continue;
    }
    JV_CHECK(sign.any.empty());
    sign.any = TextsOf(field);
    if (key == "shape") {
      sign.of = Of::kShape;
      for (const std::string& text : sign.any)
        sign.shapes.push_back(ShapeOf(text));
      continue;
    }
    JV_CHECK(IsOneOf(key, {"kernel", "op", "note", "frame", "class"}));
    sign.of = key == "kernel"  ? Of::kKernel
              : key == "op"    ? Of::kOp
              : key == "note"  ? Of::kNote
              : key == "frame" ? Of::kFrame
                               : Of::kClass;
  }
  JV_CHECK(!sign.any.empty());
  return sign;
}

PublishedModel ModelOf(const element& value, std::string_view family) {
  PublishedModel model;
  model.family = family;
  bool sourced = false;
  for (const auto& [key, field] : ObjectOf(value)) {
    if (key == "name") {
      model.name = TextOf(field);
    } else if (key == "source") {
      sourced = !TextOf(field).empty();
    } else if (key == "classes") {
      model.classes = TextsOf(field);
    } else if (key == "residual" || key == "plain") {
      (key == "plain" ? model.plain : model.residual) = static_cast<std::uint64_t>(NumberOf(field));
    } else if (key == "requires" || key == "excludes") {
      for (const element one : ListOf(field))
        (key == "requires" ? model.needed : model.excluded).push_back(SignOf(one));
    } else if (key == "image") {
      model.image = TruthOf(field);
    } else if (key == "causal") {
      model.causal = TruthOf(field);
    } else {
      JV_CHECK(key == "sizes");
      for (const auto& [name, size] : ObjectOf(field)) {
        JV_CHECK(std::find(std::begin(kSizeKeys), std::end(kSizeKeys), name) !=
                 std::end(kSizeKeys));
        model.sizes[std::string(name)] = NumberOf(size);
      }
    }
  }
  JV_CHECK(!model.name.empty() && sourced);
  return model;
}

// Parts of a pattern in their order.
bool NameFits(std::string_view name, std::string_view pattern) {
  const std::string lower = LowerAscii(name);
  std::size_t from = 0;
  while (true) {
    const std::size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    const std::size_t at = lower.find(part, from);
    if (at == std::string::npos) return false;
    if (star == std::string_view::npos) return true;
    from = at + part.size();
    pattern.remove_prefix(star + 1);
  }
}

bool ShapeFits(const Shape& shape, const Shape& pattern) {
  return std::equal(
      shape.begin(), shape.end(), pattern.begin(), pattern.end(),
      [](std::int64_t size, std::int64_t wanted) { return wanted < 0 || size == wanted; });
}

// Whether it is there; `seen` gets the first name.
bool Shows(const WorkloadFacts& facts, const ModelSign& sign, std::string* seen) {
  using Of = ModelSign::Of;
  std::uint64_t count = 0;
  std::string first;
  const auto look = [&](std::string_view name, std::uint64_t times) {
    const bool fits = std::any_of(sign.any.begin(), sign.any.end(),
                                  [&](const std::string& part) { return NameFits(name, part); });
    if (!fits) return;
    if (count == 0) first = OneLine(Utf8Prefix(name, 60));
    count += times;
  };
  if (sign.of == Of::kShape) {
    for (const auto& [shape, times] : facts.shapes) {
      for (std::size_t i = 0; i < sign.shapes.size(); ++i) {
        if (!ShapeFits(shape, sign.shapes[i])) continue;
        if (count == 0) first = "a tensor of " + sign.any[i];
        count += times;
      }
    }
  } else if (sign.of == Of::kClass) {
    for (const ModulePlace& place : facts.modules)
      look(place.name, place.calls);
  } else {
    const std::vector<NamedWork>& names = sign.of == Of::kKernel ? facts.kernels
                                          : sign.of == Of::kOp   ? facts.ops
                                          : sign.of == Of::kNote ? facts.annotations
                                                                 : facts.frames;
    for (const NamedWork& one : names)
      look(one.name, one.count);
  }
  if (count < sign.least) return false;
  if (seen != nullptr) *seen += (seen->empty() ? "" : "; ") + first;
  return true;
}

// What most models of a width have: heads of 64 or 128, as many of keys and values, an FFN of four
// times the width. It tells none of them from the others.
bool Follows(const PublishedModel& model, std::string_view key, std::int64_t size) {
  const std::int64_t hidden = model.sizes.at("hidden");
  if (key == "heads") return size * 64 == hidden || size * 128 == hidden;
  if (key == "kv_heads") return size == model.sizes.at("heads");
  return key == "head" || (key == "ffn" && size == 4 * hidden);
}

// How many independent figures of it are known and the same; absent: one is another.
std::optional<std::vector<std::string>> Agreeing(const PublishedModel& model,
                                                 const ModelSizes& sizes) {
  if (model.image != sizes.image) return std::nullopt;
  if (model.causal && sizes.causal && *model.causal != *sizes.causal) return std::nullopt;
  std::vector<std::string> agree;
  for (const auto& [key, size] : sizes.known) {
    const auto found = model.sizes.find(key);
    if (found == model.sizes.end()) {
      if (key == "experts") return std::nullopt;  // a model without experts
      continue;
    }
    const std::int64_t whole = found->second;
    const bool cut = IsOneOf(key, {"heads", "kv_heads", "ffn", "vocabulary"});
    const bool part =
        cut && sizes.ranks > 1 && size == std::max<std::int64_t>(1, whole / sizes.ranks);
    if (size != whole && !part) return std::nullopt;
    if (!Follows(model, key, whole)) agree.push_back(fmt::format("{} {}", key, size));
  }
  return agree;
}

std::vector<PublishedModel> ReadFamilies(std::span<const EmbeddedFile> files) {
  std::vector<PublishedModel> models;
  for (const EmbeddedFile& file : files) {
    simdjson::dom::parser parser;
    element document;
    JV_CHECK(ParseDom(&parser, file.text, &document) == simdjson::SUCCESS);
    element family, rows;
    JV_CHECK(document["family"].get(family) == simdjson::SUCCESS &&
             document["models"].get(rows) == simdjson::SUCCESS);
    const std::string name = TextOf(family);
    for (const element row : ListOf(rows))
      models.push_back(ModelOf(row, name));
  }
  return models;
}

}  // namespace

const std::vector<PublishedModel>& PublishedModels() {
  static const std::vector<PublishedModel> models = ReadFamilies(FamilyFiles());
  return models;
}

std::string_view ResNetOf(std::uint64_t convolutions) {
  for (const PublishedModel& model : PublishedModels())
    if (model.residual == convolutions) return model.name;
  return "";
}

std::string_view VggOf(std::uint64_t convolutions) {
  for (const PublishedModel& model : PublishedModels())
    if (model.plain == convolutions) return model.name;
  return "";
}

std::string_view VitOf(std::int64_t hidden, std::int64_t heads) {
  for (const PublishedModel& model : PublishedModels()) {
    if (model.image && !model.sizes.empty() && model.sizes.at("hidden") == hidden &&
        model.sizes.at("heads") == heads)
      return model.name;
  }
  return "";
}

std::string_view PublishedName(std::string_view module_class) {
  const PublishedModel* best = nullptr;
  std::size_t longest = 0;
  for (const PublishedModel& model : PublishedModels()) {
    for (const std::string& part : model.classes) {
      if (part.size() <= longest || !ContainsNoCase(module_class, part)) continue;
      best = &model;
      longest = part.size();
    }
  }
  return best == nullptr ? std::string_view() : std::string_view(best->name);
}

std::optional<ToldModel> ModelByNames(const WorkloadFacts& facts) {
  std::optional<ToldModel> told;
  std::size_t most = 0;
  for (const PublishedModel& model : PublishedModels()) {
    if (model.needed.size() <= most) continue;
    std::string seen;
    const bool all = std::all_of(model.needed.begin(), model.needed.end(),
                                 [&](const auto& sign) { return Shows(facts, sign, &seen); });
    const bool other = std::any_of(model.excluded.begin(), model.excluded.end(),
                                   [&](const auto& sign) { return Shows(facts, sign, nullptr); });
    if (!all || other) continue;
    told = {model.name, std::move(seen)};
    most = model.needed.size();
  }
  return told;
}

std::optional<ToldModel> ModelBySizes(const ModelSizes& sizes) {
  std::vector<const PublishedModel*> fitting;
  std::vector<std::string> figures;
  for (const PublishedModel& model : PublishedModels()) {
    if (model.sizes.empty()) continue;
    const auto agree = Agreeing(model, sizes);
    if (!agree || agree->size() < kFiguresLeast) continue;
    fitting.push_back(&model);
    figures = *agree;
  }
  if (fitting.empty()) return std::nullopt;
  const auto& first = *fitting.front();
  const bool one_family = std::all_of(fitting.begin(), fitting.end(), [&](const auto* model) {
    return model->family == first.family;
  });
  if (!one_family) return std::nullopt;
  std::string evidence = "its published configuration:";
  for (const std::string& figure : figures)
    evidence += " " + figure + (&figure == &figures.back() ? "" : ",");
  return ToldModel{(fitting.size() == 1 ? first.name : first.family) + "-like", evidence};
}

}  // namespace jarvis::findings
