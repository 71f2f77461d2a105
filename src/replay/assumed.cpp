#include "replay/assumed.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace jarvis::replay {
namespace {

// The recorded sizes of the schema's argument of that name; null: none.
const Json* DimsOf(const OpSchema& schema, const ProfiledCall& call, std::string_view name) {
  for (std::size_t i = 0; i < schema.args.size() && i < call.args.size(); ++i) {
    if (schema.args[i].name == name && !call.args[i].dims.empty()) return &call.args[i].dims;
  }
  return nullptr;
}

// How many dimensions of space a convolution or a pooling has.
std::size_t SpatialRank(const OpSchema& schema, const ProfiledCall& call) {
  for (const char* name : {"weight", "self", "input", "grad_output"}) {
    if (const Json* dims = DimsOf(schema, call, name); dims != nullptr && dims->size() > 2)
      return dims->size() - 2;
  }
  return 1;
}

Json Filled(std::size_t count, const Json& value) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i)
    list.push_back(value);
  return list;
}

// Half of the kernel, so that a convolution keeps the size.
Json SamePadding(const OpSchema& schema, const ProfiledCall& call) {
  const Json* weight = DimsOf(schema, call, "weight");
  if (weight == nullptr || weight->size() < 3) return Filled(SpatialRank(schema, call), 0);
  Json padding = Json::array();
  for (std::size_t i = 2; i < weight->size(); ++i)
    padding.push_back((*weight)[i].get<std::int64_t>() / 2);
  return padding;
}

Json NormalizedShape(const OpSchema& schema, const ProfiledCall& call) {
  if (const Json* weight = DimsOf(schema, call, "weight")) return *weight;
  const Json* input = DimsOf(schema, call, "input");
  return input == nullptr ? Json(nullptr) : Json::array({input->back()});
}

// How often the input of a backward convolution or pooling is as large as its output.
Json StrideBetween(const Json& input, const Json& output) {
  Json stride = Json::array();
  for (std::size_t i = 2; i < input.size() && i < output.size(); ++i) {
    const auto small = std::max<std::int64_t>(output[i].get<std::int64_t>(), 1);
    stride.push_back(std::max<std::int64_t>(input[i].get<std::int64_t>() / small, 1));
  }
  return stride;
}

// The size of what a backward convolution makes: for the input, with stride 1 and as much padding
// as keeps the size; for the weight, a kernel of 1.
Json GradientSize(const OpSchema& schema, const ProfiledCall& call, bool of_input) {
  const Json* grad = DimsOf(schema, call, "grad_output");
  const Json* known = DimsOf(schema, call, of_input ? "weight" : "self");
  if (grad == nullptr || known == nullptr || grad->size() < 3 || known->size() != grad->size())
    return nullptr;
  Json size = Json::array({of_input ? (*grad)[0] : (*grad)[1], (*known)[1]});
  for (std::size_t i = 2; i < grad->size(); ++i)
    size.push_back(of_input ? (*grad)[i] : Json(1));
  return size;
}

Json AssumedList(const OpSchema& schema, const SchemaArg& arg, const ProfiledCall& call) {
  if (arg.type.base == "bool") return Filled(arg.type.list_size.value_or(1), true);
  if (arg.name == "padding" && DimsOf(schema, call, "weight") != nullptr)
    return SamePadding(schema, call);
  if (arg.name == "normalized_shape") return NormalizedShape(schema, call);
  if (IsOneOf(arg.name, {"padding", "output_padding"})) return Filled(SpatialRank(schema, call), 0);
  if (arg.name == "self_size" || arg.name == "weight_size")
    return GradientSize(schema, call, arg.name == "self_size");
  if (arg.name == "stride" && schema.name.ends_with("backward_weight")) {
    const Json* self = DimsOf(schema, call, "self");
    const Json* grad = DimsOf(schema, call, "grad_output");
    if (self != nullptr && grad != nullptr) return StrideBetween(*self, *grad);
  }
  // Pooling halves.
  const bool pool = schema.name.find("pool") != std::string::npos;
  if (IsOneOf(arg.name, {"kernel_size", "stride"}))
    return Filled(SpatialRank(schema, call), pool ? 2 : 1);
  if (arg.name == "dilation") return Filled(SpatialRank(schema, call), 1);
  if (arg.name == "dim") return Json::array({-1});
  return nullptr;
}

}  // namespace

Json AssumedValue(const OpSchema& schema, const SchemaArg& arg, const ProfiledCall& call) {
  if (arg.type.list) return AssumedList(schema, arg, call);
  if (arg.type.base == "bool") return IsOneOf(arg.name, {"training", "train"});
  if (IsOneOf(arg.name, {"eps", "epsilon"})) return 1e-5;
  if (IsOneOf(arg.name, {"momentum", "exponential_average_factor"})) return 0.1;
  if (IsOneOf(arg.name, {"groups", "reduction", "beta", "alpha", "max", "end", "step"})) return 1;
  if (arg.name == "ignore_index") return -100;
  if (arg.name == "dim") {
    return schema.name.find("softmax") == std::string::npos ? Json(0) : Json(-1);
  }
  if (IsOneOf(arg.type.base, {"int", "SymInt", "Scalar", "number"})) return 0;
  if (arg.type.base == "float") return 0.0;
  return nullptr;
}

std::string AssumedType(const SchemaArg& arg) {
  return IsOneOf(arg.name, {"index", "indices", "target", "offsets"}) ? "long int" : "float";
}

}  // namespace jarvis::replay
