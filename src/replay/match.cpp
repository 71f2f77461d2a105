#include "replay/match.h"

#include <utility>

#include <fmt/format.h>

#include "replay/assumed.h"
#include "replay/values.h"

namespace jarvis::replay {
namespace {

// Strides of a tensor in row-major order.
Json ContiguousStrides(const Json& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    // Sizes are checked one by one; the product of a tensor that fits memory cannot overflow.
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(shape[i].get<std::int64_t>(), 1),
                               &step))
      return nullptr;
  }
  return strides;
}

bool IsFlat(const Json& list) {
  return list.empty() || list[0].is_number_integer();
}

class Matcher {
 public:
  Matcher(const OpSchema& schema, const ProfiledCall& call, const MatchHints& hints)
      : schema_(schema), call_(call), hints_(hints) {}

  Result<Match> Run() {
    if (call_.args.size() > schema_.args.size()) return Counts();
    for (std::size_t i = 0; i < schema_.args.size(); ++i) {
      const SchemaArg& arg = schema_.args[i];
      if (i >= call_.args.size()) {  // younger than the trace
        if (!arg.default_text) return Counts();
        match_.args.push_back({&arg, DefaultOf(arg).value_or(nullptr)});
        continue;
      }
      auto value =
          arg.type.IsTensor() ? TensorValue(arg, call_.args[i]) : PlainValue(arg, call_.args[i]);
      if (!value) return tl::make_unexpected(std::move(value.error()));
      match_.args.push_back({&arg, std::move(*value)});
    }
    if (!call_.types_recorded) Warn("the trace has no element types: float32 assumed");
    if (!call_.strides_recorded) Warn("the trace has no strides: contiguous tensors assumed");
    return std::move(match_);
  }

 private:
  tl::unexpected<Error> Counts() const {
    return Fail(ErrorCode::kBadValue, fmt::format("{} arguments recorded, {} in the schema",
                                                  call_.args.size(), schema_.args.size()));
  }
  static tl::unexpected<Error> Unfit(const SchemaArg& arg, const ProfiledArg& given) {
    return Fail(ErrorCode::kBadValue, fmt::format("argument {} is {}, recorded is \"{}\"", arg.name,
                                                  arg.type.text, given.type.substr(0, 40)));
  }
  void Warn(std::string text) { match_.warnings.push_back(std::move(text)); }

  static Json TensorOf(const Json& shape, const std::string& type, const Json& strides) {
    Json tensor = Json::object();
    tensor["shape"] = shape;
    tensor["dtype"] = type;
    tensor["strides"] = strides.is_array() && strides.size() == shape.size() && IsFlat(strides)
                            ? strides
                            : ContiguousStrides(shape);
    tensor["init"] = "normal";
    return tensor;
  }

  Result<Json> TensorValue(const SchemaArg& arg, const ProfiledArg& given) {
    if (arg.type.list) return TensorListValue(arg, given);
    if (IsTensorType(given.type)) {
      if (!IsFlat(given.dims)) return Unfit(arg, given);
      return TensorOf(given.dims, given.type, given.strides);
    }
    if (!given.type.empty() || !given.text.empty()) return Unfit(arg, given);
    if (call_.types_recorded) {
      if (arg.type.optional) return Json(nullptr);
      // An undefined tensor; or a tensor whose type this profiler did not write.
      if (given.dims.empty()) return Json(nullptr);
    }
    if (given.dims.empty() && arg.type.optional) return Json(nullptr);
    if (!IsFlat(given.dims)) return Unfit(arg, given);
    return TensorOf(given.dims, AssumedType(arg), given.strides);
  }

  Result<Json> TensorListValue(const SchemaArg& arg, const ProfiledArg& given) {
    const bool list = given.type == "TensorList" || given.type == "GenericList";
    if (!list && !given.type.empty()) return Unfit(arg, given);
    if (!given.text.empty() && given.text != "[]") return Unfit(arg, given);
    if (given.dims.empty()) return UnknownList(arg);
    if (IsFlat(given.dims)) return Unfit(arg, given);
    const bool strides = given.strides.is_array() && given.strides.size() == given.dims.size();
    Json tensors = Json::array();
    for (std::size_t i = 0; i < given.dims.size(); ++i) {
      if (!IsFlat(given.dims[i])) return Unfit(arg, given);
      tensors.push_back(
          TensorOf(given.dims[i], hints_.list_type, strides ? given.strides[i] : Json(nullptr)));
    }
    if (!hints_.list_type_known) {
      Warn(fmt::format("the element type of the list {} was not recorded: {} assumed", arg.name,
                       hints_.list_type));
    }
    return tensors;
  }

  // The tensors of a list that the profiler left out altogether. Indices can be made up: one for
  // the first dimension.
  Result<Json> UnknownList(const SchemaArg& arg) {
    const bool has_self =
        !call_.args.empty() && !call_.args[0].dims.empty() && IsFlat(call_.args[0].dims);
    if (arg.name != "indices" || !arg.type.optional_elements || !has_self) {
      return Fail(ErrorCode::kNoShapes,
                  fmt::format("the trace does not say which tensors the list {} held", arg.name));
    }
    const Json& self = call_.args[0].dims;
    Json shape = Json::array({self[0]});
    if (schema_.name.find("index_put") != std::string::npos && call_.args.size() > 2 &&
        !call_.args[2].dims.empty()) {
      shape = Json::array({call_.args[2].dims[0]});
    }
    Warn(
        "the trace does not say what the indices were: one index over the first dimension assumed");
    return Json::array({TensorOf(shape, "long int", nullptr)});
  }

  Result<Json> PlainValue(const SchemaArg& arg, const ProfiledArg& given) {
    if (IsTensorType(given.type) || given.type == "TensorList" || !given.dims.empty())
      return Unfit(arg, given);
    if (!call_.values_recorded) return Unrecorded(arg, given);
    if (given.type.empty() && given.text.empty()) return Absent(arg);
    if (!given.type.empty() && given.type != "Scalar" && given.type != "ScalarList")
      return Unfit(arg, given);
    if (!given.type.empty() && (given.type == "ScalarList") != arg.type.list && !arg.type.list_size)
      return Unfit(arg, given);
    if (auto value = ValueOf(arg.type, given.text)) return std::move(*value);
    // The profiler leaves out lists of more than thirty values.
    if (given.text.empty() && arg.type.list) return Unrecorded(arg, given);
    return Unfit(arg, given);
  }

  // None, or something that the profiler never writes: text, a device, a generator.
  Result<Json> Absent(const SchemaArg& arg) {
    if (arg.type.optional) return Json(nullptr);
    if (auto value = DefaultOf(arg)) return std::move(*value);
    if (arg.type.base == "str")
      return Fail(ErrorCode::kBadValue, fmt::format("the text {} was not recorded", arg.name));
    return Assumed(arg);
  }

  Result<Json> Unrecorded(const SchemaArg& arg, const ProfiledArg& given) {
    if (given.type == "ScalarList" && !arg.type.list) return Unfit(arg, given);
    const bool scalar = given.type == "Scalar";
    if (auto value = DefaultOf(arg); value && !(scalar && value->is_null())) {
      if (value->is_null()) return std::move(*value);
      Warn(fmt::format("{} was not recorded: its default {} assumed", arg.name, value->dump()));
      return std::move(*value);
    }
    if (arg.type.optional && !scalar) return Json(nullptr);
    return Assumed(arg);
  }

  Result<Json> Assumed(const SchemaArg& arg) {
    Json value = AssumedValue(schema_, arg, call_);
    if (value.is_null() && !arg.type.optional) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("{} ({}) was not recorded", arg.name, arg.type.text));
    }
    Warn(fmt::format("{} was not recorded: {} assumed", arg.name, value.dump()));
    return value;
  }

  const OpSchema& schema_;
  const ProfiledCall& call_;
  const MatchHints& hints_;
  Match match_;
};

}  // namespace

Result<Match> MatchCall(const OpSchema& schema, const ProfiledCall& call, const MatchHints& hints) {
  return Matcher(schema, call, hints).Run();
}

}  // namespace jarvis::replay
