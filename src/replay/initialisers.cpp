#include "replay/initialisers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/text.h"

namespace jarvis::replay {
namespace {

bool IsTensor(const Json& value) {
  return value.is_object() && value.contains("shape");
}

class Initialiser {
 public:
  Initialiser(const OpSchema& schema, Match* match) : match_(*match) {
    op_ = std::string_view(schema.name).substr(schema.name.find("::") + 2);
  }

  void Run() {
    for (MatchedArg& arg : match_.args) {
      if (IsTensor(arg.value)) Set(*arg.schema, 0, &arg.value);
      if (!arg.schema->type.IsTensor() || !arg.value.is_array()) continue;
      for (std::size_t i = 0; i < arg.value.size(); ++i) {
        if (IsTensor(arg.value[i])) Set(*arg.schema, i, &arg.value[i]);
      }
    }
  }

 private:
  const Json* ValueOf(std::string_view name) const {
    for (const MatchedArg& arg : match_.args) {
      if (arg.schema->name == name) return &arg.value;
    }
    return nullptr;
  }
  // A size of a named tensor; 1 if there is none. Negative dimensions count from the end.
  std::int64_t SizeOf(std::string_view name, std::int64_t dim) const {
    const Json* value = ValueOf(name);
    if (value == nullptr || !IsTensor(*value)) return 1;
    const Json& shape = value->at("shape");
    const auto rank = static_cast<std::int64_t>(shape.size());
    if (dim < 0) dim += rank;
    if (dim < 0 || dim >= rank) return 1;
    return std::max<std::int64_t>(shape[static_cast<std::size_t>(dim)].get<std::int64_t>(), 1);
  }
  std::int64_t IntOf(std::string_view name, std::int64_t otherwise) const {
    const Json* value = ValueOf(name);
    return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : otherwise;
  }

  // The first tensor of the call is what most indices point into.
  std::string_view First() const {
    for (const MatchedArg& arg : match_.args) {
      if (IsTensor(arg.value)) return arg.schema->name;
    }
    return {};
  }

  // One past the largest value that an index may have; 0: the argument is no index.
  std::int64_t IndexEnd(std::string_view arg, std::size_t position) const {
    const bool embedding = op_.find("embedding") != std::string_view::npos;
    if (embedding && arg == "indices")
      return ValueOf("weight") != nullptr ? SizeOf("weight", 0) : IntOf("num_weights", 1);
    if (arg == "target") {
      const bool rows = ValueOf("self") != nullptr && ValueOf("self")->contains("shape") &&
                        ValueOf("self")->at("shape").size() > 1;
      return SizeOf("self", rows ? 1 : 0);
    }
    if (arg == "index") return SizeOf(First(), IntOf("dim", 0));
    if (arg != "indices") return 0;
    if (op_.find("max_pool") != std::string_view::npos)
      return Product(SizeOf("self", -1), SizeOf("self", -2));
    return SizeOf("self", static_cast<std::int64_t>(position));
  }

  // The sizes of a damaged trace may be anything.
  static std::int64_t Product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                  : product;
  }

  static void SetRandom(Json* tensor, std::int64_t end) {
    (*tensor)["init"] = "randint";
    (*tensor)["low"] = 0;
    (*tensor)["high"] = end;
  }

  void SetInteger(const SchemaArg& arg, std::size_t position, Json* tensor) const {
    if (arg.name == "offsets" && op_.find("embedding") != std::string_view::npos) {
      (*tensor)["init"] = "offsets";
      (*tensor)["high"] = SizeOf("indices", 0);
    } else if (const std::int64_t end = IndexEnd(arg.name, position); end > 0) {
      SetRandom(tensor, end);
    } else if (IsOneOf(op_, {"sort", "argsort", "topk", "unique_dim", "_unique2",
                             "unique_consecutive", "nonzero"})) {
      SetRandom(tensor, op_ == "nonzero" ? 2 : 1 << 20);
    } else {
      // Not 0, by which an integer cannot be divided.
      const bool divisor =
          arg.name == "other" && (op_.starts_with("div") || op_.starts_with("floor_divide") ||
                                  op_.starts_with("remainder") || op_.starts_with("fmod"));
      (*tensor)["init"] = divisor || arg.name == "repeats" ? "ones" : "zeros";
    }
  }

  void SetFloat(const SchemaArg& arg, Json* tensor) const {
    const bool positive =
        IsOneOf(arg.name, {"running_var", "save_var", "save_invstd", "invstd", "rstd"}) ||
        IsOneOf(op_, {"log", "log_", "log2", "log10", "log1p", "sqrt", "sqrt_", "rsqrt", "rsqrt_",
                      "pow", "pow_"});
    (*tensor)["init"] = positive ? "uniform" : "normal";
    // Long sums of products must stay within half precision.
    constexpr std::int64_t kLong = 4096;
    const bool product = IsOneOf(op_, {"mm", "addmm", "bmm", "baddbmm", "matmul", "linear"});
    const std::int64_t inner =
        std::max(SizeOf("self", -1), std::max(SizeOf("mat1", -1), SizeOf("batch1", -1)));
    if (product && inner > kLong) (*tensor)["std"] = 1 / std::sqrt(static_cast<double>(inner));
  }

  void Set(const SchemaArg& arg, std::size_t position, Json* tensor) const {
    const std::string type = tensor->at("dtype").get<std::string>();
    const bool only_written = op_ == "fill_" || op_ == "zero_" ||
                              (op_ == "copy_" && arg.name != "src") || arg.name == "out";
    if (only_written) {
      (*tensor)["init"] = nullptr;
    } else if (type == "bool") {
      const bool chosen = IsOneOf(op_, {"nonzero", "masked_select", "index", "index_put_"});
      (*tensor)["init"] = chosen ? "bernoulli" : "zeros";
    } else if (type.find("Float") != std::string::npos ||
               type.find("complex") != std::string::npos ||
               IsOneOf(type, {"float", "double", "c10::Half", "c10::BFloat16"})) {
      SetFloat(arg, tensor);
    } else {
      SetInteger(arg, position, tensor);
    }
  }

  std::string_view op_;
  Match& match_;
};

}  // namespace

void SetInitialisers(const OpSchema& schema, Match* match) {
  Initialiser(schema, match).Run();
}

}  // namespace jarvis::replay
