#include "replay/profiled_call.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace jarvis::replay {
namespace {

// Beyond these no operator was called; they keep damaged traces from making absurd packages.
constexpr std::size_t kArgsMax = 512;
constexpr std::size_t kListMax = 4096;
constexpr std::int64_t kSizeMax = std::int64_t{1} << 48;

// What the profiler calls element types, across its releases.
constexpr std::pair<std::string_view, int> kTypes[] = {
    {"float", 4},
    {"double", 8},
    {"c10::Half", 2},
    {"c10::BFloat16", 2},
    {"long int", 8},
    {"long", 8},
    {"long long", 8},
    {"int", 4},
    {"short int", 2},
    {"short", 2},
    {"signed char", 1},
    {"char", 1},
    {"unsigned char", 1},
    {"bool", 1},
    {"unsigned short", 2},
    {"unsigned short int", 2},
    {"unsigned int", 4},
    {"unsigned long", 8},
    {"unsigned long int", 8},
    {"c10::complex<float>", 8},
    {"c10::complex<double>", 16},
    {"c10::complex<c10::Half>", 4},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e5m2fnuz", 1},
    {"c10::Float8_e8m0fnu", 1},
    {"c10::Float4_e2m1fn_x2", 1},
    {"c10::qint8", 1},
    {"c10::quint8", 1},
    {"c10::qint32", 4},
};

// A list of integers, or, `nested` levels deeper, of such lists.
bool IsIntegers(const Json& value, int nested) {
  if (!value.is_array() || value.size() > kListMax) return false;
  return std::all_of(value.begin(), value.end(), [&](const Json& element) {
    if (element.is_number_integer()) {
      const auto size = element.get<std::int64_t>();
      return size <= kSizeMax && size >= -kSizeMax;
    }
    return nested > 0 && IsIntegers(element, nested - 1);
  });
}

Result<Json> ListOf(const trace::EventStore& events, StringId raw, std::string_view what) {
  const Result<Json> list = ParseJson(events.text(raw));
  if (!list || !list->is_array() || list->size() > kArgsMax) {
    return Fail(ErrorCode::kBadValue, std::string(what) + " is damaged in the trace");
  }
  return *list;
}

Status ReadDims(const trace::EventStore& events, const trace::Args& args, ProfiledCall* call) {
  if (args.dims == kNoString) return Fail(ErrorCode::kNoShapes, "no shapes recorded");
  JV_ASSIGN(Json dims, ListOf(events, args.dims, "Input Dims"));
  for (Json& size : dims) {
    if (!IsIntegers(size, 1)) return Fail(ErrorCode::kBadValue, "Input Dims holds no sizes");
    call->args.push_back({std::move(size), "", nullptr, ""});
  }
  return {};
}

// The texts of one list, if it fits the dims.
Status ReadTexts(const trace::EventStore& events, StringId raw, std::string_view what,
                 std::string ProfiledArg::*text, ProfiledCall* call, bool* recorded) {
  if (raw == kNoString) return {};
  JV_ASSIGN(Json texts, ListOf(events, raw, what));
  if (texts.size() != call->args.size()) return {};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    call->args[i].*text = texts[i].is_string() ? texts[i].get<std::string>() : texts[i].dump();
  }
  *recorded = true;
  return {};
}

Status ReadStrides(const trace::EventStore& events, const trace::Args& args, ProfiledCall* call) {
  if (args.strides == kNoString) return {};
  JV_ASSIGN(Json strides, ListOf(events, args.strides, "Input Strides"));
  if (strides.size() != call->args.size()) return {};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (!IsIntegers(strides[i], 1))
      return Fail(ErrorCode::kBadValue, "Input Strides holds no strides");
    call->args[i].strides = std::move(strides[i]);
  }
  call->strides_recorded = true;
  return {};
}

}  // namespace

Result<ProfiledCall> ReadProfiledCall(const trace::EventStore& events, const trace::Args& args) {
  ProfiledCall call;
  JV_TRY(ReadDims(events, args, &call));
  JV_TRY(
      ReadTexts(events, args.types, "Input type", &ProfiledArg::type, &call, &call.types_recorded));
  JV_TRY(ReadTexts(events, args.concrete, "Concrete Inputs", &ProfiledArg::text, &call,
                   &call.values_recorded));
  JV_TRY(ReadStrides(events, args, &call));
  return call;
}

bool IsTensorType(std::string_view type) {
  return ElementBytes(type) > 0;
}

int ElementBytes(std::string_view type) {
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return 0;
}

}  // namespace jarvis::replay
