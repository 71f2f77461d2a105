#include "trace/import/xplane/signs.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "trace/import/xplane/host_lines.h"
#include "trace/json_text.h"

namespace jarvis::trace::xplane {
namespace {

struct Sign {
  std::string_view part;  // of a name
  std::string_view says;
};
constexpr Sign kFrameworks[] = {
    {"PjitFunction(", "JAX"},         {"jit(", "JAX"},        {"ExecutorState::", "TensorFlow"},
    {"tensorflow::", "TensorFlow"},   {"TFE_", "TensorFlow"}, {"EagerKernelExecute", "TensorFlow"},
    {"gradient_tape/", "TensorFlow"},
};
constexpr std::string_view kJaxProgram = "jit_";
constexpr std::string_view kBackward[] = {"transpose(jvp(", "gradient_tape/"};
// Scopes of optimizers, in lower case and without a number behind them.
constexpr std::string_view kOptimizers[] = {
    "adam", "adamw", "adamweightdecay", "adafactor", "adagrad", "apply_updates", "lamb",
    "lars", "lion",  "momentum",        "nadam",     "rmsprop", "sgd",           "gradientdescent"};
constexpr std::string_view kOptimizerOp = ":ResourceApply";  // TensorFlow: "scope/name:kind"

bool IsOptimizer(std::string_view scope) {
  const std::size_t end = scope.find_last_not_of("_0123456789");
  scope = scope.substr(0, end == scope.npos ? 0 : end + 1);
  return std::ranges::any_of(kOptimizers,
                             [&](std::string_view one) { return EqualsNoCase(scope, one); });
}

std::string Shown(std::string_view text) {
  return Shortened(OneLine(ValidUtf8(text)), 80);
}

void LookForOptimizer(std::string_view name, Signs* signs) {
  if (const std::size_t at = name.find(kOptimizerOp); at != name.npos) {
    signs->optimizer = Shown(name.substr(at + kOptimizerOp.size()));
    return;
  }
  // The last part is the op's own name, and a variable may be an optimizer's anywhere.
  for (std::size_t begin = 0, end = 0; (end = name.find('/', begin)) != name.npos;
       begin = end + 1) {
    const std::string_view scope = name.substr(begin, end - begin);
    if (IsOptimizer(scope)) signs->optimizer = Shown(scope);
  }
}

}  // namespace

void LookAtName(std::string_view name, Signs* signs) {
  if (signs->framework == "XLA") {
    if (name.starts_with(kJaxProgram)) signs->framework = "JAX";
    const auto* sign = std::ranges::find_if(
        kFrameworks, [&](const Sign& one) { return name.find(one.part) != name.npos; });
    if (sign != std::end(kFrameworks)) signs->framework = sign->says;
  }
  if (signs->backward.empty() && std::ranges::any_of(kBackward, [&](std::string_view one) {
        return name.find(one) != name.npos;
      }))
    signs->backward = Shown(name);
  if (signs->optimizer.empty()) LookForOptimizer(name, signs);
}

Signs SignsOf(const Space& space, const OpTable& ops) {
  Signs signs;
  ops.EachScope([&](std::string_view scope) { LookAtName(scope, &signs); });
  for (const Plane* plane : HostPlanes(space)) {
    for (const auto& [id, name] : plane->event_names)
      LookAtName(name.name, &signs);
  }
  return signs;
}

}  // namespace jarvis::trace::xplane
